"""A second work tree begins as the one that is indexed: with the contents that are the same, and no others."""

from __future__ import annotations

import os
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import apsw
from gits import commit, git
from indexes import write

from findling import Engine
from findling.engine.indexer import Indexer
from findling.store.local import checksums

ROTATED = "tr a-mn-zA-MN-Z n-za-mN-ZA-M"
"""A filter that keeps the length."""

FILES = {
    "a.py": "def first():\n    return 1\n",
    "b/c.py": "class Second:\n    pass\n",
    "b/d/e.md": "# Third\n\nSome words.\n",
    "f.txt": "fourth\n",
}


def repository(root: Path, *, attributes: str = "", filters: bool = False) -> Path:
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    if filters:
        git(root, "config", "filter.rot13.smudge", ROTATED)
        git(root, "config", "filter.rot13.clean", ROTATED)
    for path, text in FILES.items():
        write(root, path, text)
    if attributes:
        write(root, ".gitattributes", attributes)
    commit(root, "one")
    return root


def tree_of(repo: Path) -> Path:
    tree = repo.parent / "tree"
    git(repo, "worktree", "add", "-q", "--detach", str(tree))
    return tree


def indexed(root: Path, store: Path) -> dict[str, bytes]:
    """path -> the SHA-256 of what is indexed."""
    sql = (
        "SELECT e.path, b.hash FROM manifests m JOIN manifest_files f USING (manifest_id) "
        "JOIN entries e USING (entry_id) JOIN blobs b USING (blob_id) WHERE m.root=? AND m.ref='live'"
    )
    with closing(apsw.Connection(os.fspath(store / "index.db"), vfs=checksums.way())) as db:
        return dict(db.execute(sql, (str(root),)))


def test_what_is_indexed_of_a_second_work_tree_is_what_is_on_disk(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", filters=True, attributes="f.txt filter=rot13\nb/*.py text eol=crlf\n")
    more = {f"more/{name}.py": f"def {name}():\n    return '{name}'\n" for name in ("changed", "restored", "hidden")}
    for path, text in more.items():
        write(repo, path, text)
    commit(repo, "more")
    with Engine.open(root=repo) as engine:
        engine.at("HEAD~0").index(embed=False)  # git's own contents, which are others than those on disk
    tree = repo.parent / "tree"
    git(repo, "worktree", "add", "-q", "--detach", str(tree))
    (tree / "a.py").write_bytes(FILES["a.py"].replace("first", "other").encode())
    for name in ("changed", "restored", "hidden"):
        file = tree / f"more/{name}.py"
        before = file.stat()
        if name == "hidden":
            git(tree, "update-index", "--assume-unchanged", f"more/{name}.py")
        file.write_text(file.read_text().replace(name, name[::-1]))
        if name == "restored":
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    Indexer(tree, repo / ".findling", workers=1).sync()
    on_disk = {path: sha256((tree / path).read_bytes()).digest() for path in (*FILES, *more)}
    found = indexed(tree, repo / ".findling")
    assert {path: found.get(path) for path in on_disk} == on_disk


def test_no_filter_runs(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", attributes="* filter=evil\n")
    with Engine.open(root=repo) as engine:
        engine.index(embed=False)
    tree = tree_of(repo)
    marker, program = tmp_path / "ran", tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch '{marker}'\ncat\n")
    program.chmod(0o755)
    for name in ("clean", "smudge", "process"):
        git(repo, "config", f"filter.evil.{name}", str(program))
    os.utime(tree / "a.py", (1, 1))  # so that git would have to compare contents
    Indexer(tree, repo / ".findling", workers=1).sync()
    assert set(indexed(tree, repo / ".findling")) >= set(FILES)
    assert not marker.exists()


def test_nothing_is_parsed_of_a_work_tree_that_was_made_again_at_the_same_place(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    with Engine.open(root=repo) as engine:
        engine.index(embed=False)
    tree = tree_of(repo)
    first = Indexer(tree, repo / ".findling", workers=1).sync()
    assert (first.files, first.changed, first.chunks) == (len(FILES), 0, 0)
    git(repo, "worktree", "remove", "--force", str(tree))
    write(repo, "a.py", "def fifth():\n    return 5\n")
    commit(repo, "two")
    assert tree_of(repo) == tree
    again = Indexer(tree, repo / ".findling", workers=1).sync()
    assert again.symbols == 1
    on_disk = {path: sha256((tree / path).read_bytes()).digest() for path in FILES}
    assert indexed(tree, repo / ".findling") == on_disk

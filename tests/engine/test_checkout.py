"""A second work tree's files that are taken over unread: those with the contents that were indexed, and no others."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import apsw
import pytest
from gits import commit, git
from indexes import write

from findling import Engine
from findling.engine.indexer import Indexer
from findling.model.types import FileState, SkippedFile
from findling.outbound.files import Files, stamp_of
from findling.sources import checkout
from findling.sources.checkout import Checkout
from findling.sources.contents import read_file
from findling.store import checksums

SECOND = 1_000_000_000
ROTATED = "tr a-mn-zA-MN-Z n-za-mN-ZA-M"
"""A filter that keeps the length."""

FILES = {
    "a.py": "def first():\n    return 1\n",
    "b/c.py": "class Second:\n    pass\n",
    "b/d/e.md": "# Third\n\nSome words.\n",
    "f.txt": "fourth\n",
}


def repository(root: Path, *options: str, attributes: str = "", filters: bool = False) -> Path:
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main", *options)
    if filters:
        git(root, "config", "filter.rot13.smudge", ROTATED)
        git(root, "config", "filter.rot13.clean", ROTATED)
    for path, text in FILES.items():
        write(root, path, text)
    if attributes:
        write(root, ".gitattributes", attributes)
    commit(root, "one")
    return root


def settle(tree: Path) -> None:
    """As if everything was checked out a while ago, the attributes before all else."""
    for number, name in enumerate(sorted(git(tree, "ls-files").split("\n"))):
        if (tree / name).is_file() and not name.endswith(".gitattributes"):
            then = (tree / name).stat().st_mtime_ns + 2 * SECOND + number  # git compares whole seconds
            os.utime(tree / name, ns=(then, then))
    git(tree, "update-index", "-q", "--refresh")
    age_index(tree, 9)


def age_index(tree: Path, seconds: int) -> None:
    """Let git's index be so many seconds younger than the newest file."""
    index = Path(git(tree, "rev-parse", "--path-format=absolute", "--git-path", "index"))
    newest = max(path.lstat().st_mtime_ns for path in tree.rglob("*") if path.is_file())
    os.utime(index, ns=(newest + seconds * SECOND, newest + seconds * SECOND))


def tree_of(repo: Path, *options: str) -> Path:
    tree = repo.parent / "tree"
    git(repo, "worktree", "add", "-q", "--detach", *options, str(tree))
    if not options:
        settle(tree)
    return tree


def vouched(tree: Path) -> set[str]:
    names = git(tree, "ls-files").split("\n")
    with Checkout(tree) as seen:
        return {path for path in seen.vouch(names) if not path.endswith(".gitattributes")}


ALL = set(FILES)


# --- what is vouched for ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["sha1", "sha256", "version 4", "split", "packed refs", "below"])
def test_what_was_checked_out_and_not_touched_since(form: str, tmp_path: Path) -> None:
    try:
        repo = repository(tmp_path / "repo", *(["--object-format=sha256"] if form == "sha256" else []))
    except subprocess.CalledProcessError:
        pytest.skip("this git knows no sha256")
    tree = tree_of(repo)
    if form == "version 4":
        git(tree, "update-index", "--index-version", "4")
    elif form == "split":
        git(tree, "update-index", "--split-index")
    elif form == "packed refs":
        git(tree, "pack-refs", "--all")
    age_index(tree, 9)
    if form == "below":
        assert vouched(tree / "b") == {"c.py", "d/e.md"}
        return
    assert vouched(tree) == ALL
    with Checkout(tree) as seen:
        ids = {path: value.hex() for path, value in seen.git_ids().items()}
        assert ids == {path: git(tree, "rev-parse", f"HEAD:{path}") for path in FILES}
        assert seen.vouch(["a.py", "no such file"]) == {"a.py": (len(FILES["a.py"]), stamp_of((tree / "a.py").stat()))}
    (tree / "b/c.py").write_text(FILES["b/c.py"].upper())
    assert vouched(tree) == ALL - {"b/c.py"}


def test_attributes_that_convert_line_ends_only_are_no_doubt_because_the_length_tells(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", attributes="*.py text eol=crlf\n*.md text\n*.txt -text\n")
    tree = tree_of(repo)
    with Checkout(tree) as seen:
        found = seen.vouch(FILES)
    assert set(found) == ALL
    assert found["a.py"][0] == len(FILES["a.py"]) + FILES["a.py"].count("\n")


def test_a_work_tree_that_moved_on_without_a_change_of_attributes(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    tree = tree_of(repo)
    write(tree, "new.py", "added = 1\n")
    commit(tree, "two")
    settle(tree)
    assert vouched(tree) == {*ALL, "new.py"}


# --- what is not --------------------------------------------------------------------------------------------------


def same_length_and_time(tree: Path) -> None:
    before = (tree / "a.py").stat()
    (tree / "a.py").write_text(FILES["a.py"].replace("first", "other"))
    os.utime(tree / "a.py", ns=(before.st_atime_ns, before.st_mtime_ns))


def replaced_by_a_copy(tree: Path) -> None:
    (tree / "copy").write_bytes((tree / "a.py").read_bytes())
    (tree / "copy").replace(tree / "a.py")


def replaced_by_a_link(tree: Path) -> None:
    (tree / "a.py").rename(tree / "elsewhere")
    (tree / "a.py").symlink_to("elsewhere")


def assumed_unchanged(tree: Path) -> None:
    git(tree, "update-index", "--assume-unchanged", "a.py")
    age_index(tree, 9)


def skipped(tree: Path) -> None:
    git(tree, "update-index", "--skip-worktree", "a.py")
    age_index(tree, 9)


def only_intended(tree: Path) -> None:
    git(tree, "rm", "-q", "--cached", "a.py")
    git(tree, "add", "--intent-to-add", "a.py")
    age_index(tree, 9)


def in_conflict(tree: Path) -> None:
    blob = git(tree, "rev-parse", "HEAD:a.py")
    rows = "".join(f"100644 {blob} {stage}\ta.py\n" for stage in (1, 2, 3))
    subprocess.run(
        ["git", "update-index", "--index-info"], cwd=tree, input=f"0 {'0' * 40}\ta.py\n{rows}", text=True, check=True
    )
    age_index(tree, 9)


def younger_than_the_index(tree: Path) -> None:
    later = (tree / "a.py").stat().st_mtime_ns + 100 * SECOND
    os.utime(tree / "a.py", ns=(later, later))
    git(tree, "update-index", "-q", "--refresh")
    age_index(tree, 0)


@pytest.mark.parametrize(
    "change",
    [
        same_length_and_time,
        replaced_by_a_copy,
        replaced_by_a_link,
        assumed_unchanged,
        skipped,
        only_intended,
        in_conflict,
        younger_than_the_index,
    ],
)
def test_one_file_is_not_as_it_was(change: Callable[[Path], None], tmp_path: Path) -> None:
    tree = tree_of(repository(tmp_path / "repo"))
    change(tree)
    assert vouched(tree) == ALL - {"a.py"}


def test_a_folder_that_has_lost_a_name_may_have_lost_attributes(tmp_path: Path) -> None:
    tree = tree_of(repository(tmp_path / "repo"))
    write(tree, "b/d/new.txt", "what comes explains that the folder changed\n")
    assert vouched(tree) == ALL
    (tree / "b/c.py").unlink()
    assert vouched(tree) == {"a.py", "f.txt"}


def test_attributes_that_nobody_tracked_were_taken_away(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", filters=True)
    tree = tree_of(repo)
    before = (tree / "b/c.py").read_text()
    write(tree, "b/.gitattributes", "*.py filter=rot13\n")
    (tree / "b/c.py").unlink()
    git(tree, "checkout", "-q", "--", "b/c.py")
    (tree / "b/.gitattributes").unlink()
    age_index(tree, 9)
    after = (tree / "b/c.py").read_text()
    assert after != before and len(after) == len(before)
    assert vouched(tree) == {"a.py", "f.txt"}


def test_a_file_in_the_last_step_of_the_clock_before_the_index_was_written(tmp_path: Path) -> None:
    tree = tree_of(repository(tmp_path / "repo"))
    newest = max(tree.glob("*.*"), key=lambda path: path.lstat().st_mtime_ns)
    age_index(tree, 0)
    assert newest.name not in vouched(tree)
    # A file system without parts of a second has steps of two.
    for name in FILES:
        whole = (tree / name).stat().st_mtime_ns // SECOND * SECOND + 2 * SECOND
        os.utime(tree / name, ns=(whole, whole))
    git(tree, "update-index", "-q", "--refresh")
    age_index(tree, 1)
    assert vouched(tree) == set()
    age_index(tree, 3)
    assert vouched(tree) == ALL


def test_a_sparse_checkout(tmp_path: Path) -> None:
    tree = tree_of(repository(tmp_path / "repo"), "--no-checkout")
    git(tree, "sparse-checkout", "set", "--no-cone", "/*", "!/b/")
    git(tree, "checkout", "-q")
    settle(tree)
    assert not (tree / "b").exists()
    assert vouched(tree) == {"a.py", "f.txt"}


@pytest.mark.parametrize("attribute", ["filter=rot13", "ident", "working-tree-encoding=ISO-8859-1", "filter=nobody"])
def test_an_attribute_that_may_keep_the_length(attribute: str, tmp_path: Path) -> None:
    tree = tree_of(repository(tmp_path / "repo", attributes=f"*.txt {attribute}\n", filters=True))
    assert vouched(tree) == ALL - {"f.txt"}


def edited(tree: Path) -> None:
    write(tree, ".gitattributes", "# nothing\n")


def deleted(tree: Path) -> None:
    (tree / ".gitattributes").unlink()


def taken_out_of_the_index(tree: Path) -> None:
    git(tree, "rm", "-q", "--cached", ".gitattributes")
    (tree / ".gitattributes").unlink()


def removed_by_a_commit(tree: Path) -> None:
    git(tree, "rm", "-q", ".gitattributes")
    git(tree, "commit", "-q", "-m", "without")


def removed_by_a_checkout(tree: Path) -> None:
    removed_by_a_commit(tree)
    git(tree, "checkout", "-q", "HEAD~1")
    git(tree, "checkout", "-q", "HEAD@{1}")


def switched_off_nearer(tree: Path) -> None:
    write(tree, "b/.gitattributes", "* -filter\n")
    write(tree, ".git-not/.gitattributes", "")


def switched_off_elsewhere(tree: Path) -> None:
    common = Path(git(tree, "rev-parse", "--path-format=absolute", "--git-common-dir"))
    write(common, "info/attributes", "* -filter\n")


@pytest.mark.parametrize(
    "change",
    [
        edited,
        deleted,
        taken_out_of_the_index,
        removed_by_a_commit,
        removed_by_a_checkout,
        switched_off_nearer,
        switched_off_elsewhere,
    ],
)
def test_attributes_are_others_than_when_the_file_was_written(change: Callable[[Path], None], tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", attributes="b/*.py filter=rot13\n", filters=True)
    tree = repo.parent / "tree"
    git(repo, "worktree", "add", "-q", "--detach", str(tree))
    kept = git(tree, "cat-file", "-p", "HEAD:b/c.py") + "\n"
    assert kept != (tree / "b/c.py").read_text() and len(kept) == len((tree / "b/c.py").read_text())
    change(tree)
    age_index(tree, 9)
    assert "b/c.py" not in vouched(tree)


@pytest.mark.parametrize("taken_away", [True, False])
def test_attributes_outside_the_tree_were_taken_away(taken_away: bool, tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", filters=True)
    tree = repo.parent / "tree"
    write(repo, ".git/info/attributes", "b/*.py filter=rot13\n")
    git(repo, "worktree", "add", "-q", "--detach", str(tree))
    if taken_away:
        (repo / ".git/info/attributes").unlink()
    age_index(tree, 9)
    assert "b/c.py" not in vouched(tree)


@pytest.mark.parametrize("doubt", ["no log", "cut log", "many commits", "no index", "no git"])
def test_nothing_is_vouched_for_where_the_past_is_unknown(
    doubt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = tree_of(repository(tmp_path / "repo"))
    assert vouched(tree) == ALL
    own = Path(git(tree, "rev-parse", "--absolute-git-dir"))
    if doubt == "no log":
        (own / "logs/HEAD").unlink()
    elif doubt == "cut log":
        lines = (own / "logs/HEAD").read_text().split("\n")
        (own / "logs/HEAD").write_text("\n".join(lines).replace("0" * 40, "1" * 40, 1))
    elif doubt == "many commits":
        monkeypatch.setattr(checkout, "_MOST_COMMITS", 0)
    names = [*FILES]
    if doubt == "no index":
        (own / "index").unlink()
    elif doubt == "no git":
        monkeypatch.setattr("findling.outbound.git._find_program", lambda _: None)
    with Checkout(tree) as seen:
        assert seen.vouch(names) == {}


def test_an_index_that_git_writes_meanwhile_is_not_believed(tmp_path: Path) -> None:
    tree = tree_of(repository(tmp_path / "repo"))
    with Checkout(tree) as seen:
        assert set(seen.vouch(FILES)) == ALL
        age_index(tree, 10)
        assert seen.vouch(FILES) == {}


def test_a_listing_in_another_form_says_nothing() -> None:
    row = (
        b"100644 " + b"a" * 40 + b" 0\tx.py\0  ctime: 5:6\n  mtime: 7:8\n  dev: 1\tino: 2\n"
        b"  uid: 0\tgid: 0\n  size: 3\tflags: 0\n"
    )
    assert checkout._staged(row)["x.py"] == (b"\xaa" * 20, 3, 7 * SECOND + 8, 5 * SECOND + 6, 2, True)
    for old, new in ((b"ctime", b"changed"), (b" 0\tx", b" 1\tx"), (b"100644", b"120000"), (b"flags", b"bits")):
        assert checkout._staged(row.replace(old, new)) == {}
    assert not checkout._staged(row.replace(b"flags: 0", b"flags: 8000"))["x.py"].plain


# --- what becomes of it -------------------------------------------------------------------------------------------


def indexed(root: Path, store: Path) -> dict[str, bytes]:
    """path -> the SHA-256 of what is indexed."""
    sql = (
        "SELECT e.path, b.hash FROM manifests m JOIN manifest_files f USING (manifest_id) "
        "JOIN entries e USING (entry_id) JOIN blobs b USING (blob_id) WHERE m.root=? AND m.ref='live'"
    )
    with closing(apsw.Connection(os.fspath(store / "index.db"), vfs=checksums.way())) as db:
        return dict(db.execute(sql, (str(root),)))


def test_what_is_indexed_of_a_second_work_tree_is_what_is_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    settle(tree)
    for name in ("changed", "restored", "hidden"):
        file = tree / f"more/{name}.py"
        before = file.stat()
        if name == "hidden":
            git(tree, "update-index", "--assume-unchanged", f"more/{name}.py")
        file.write_text(file.read_text().replace(name, name[::-1]))
        if name == "restored":
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    age_index(tree, 9)
    read: list[str] = []

    def recorded(files: Path | Files, path: str, max_bytes: int) -> tuple[FileState, bytes] | SkippedFile:
        read.append(path)
        return read_file(files, path, max_bytes)

    monkeypatch.setattr("findling.engine.adoption.read_file", recorded)
    Indexer(tree, repo / ".findling", workers=1).sync()
    assert "b/d/e.md" not in read  # of the others there is some doubt
    assert {"f.txt", "more/changed.py", "more/restored.py", "more/hidden.py"} <= set(read)
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
    assert set(indexed(tree, repo / ".findling")) >= ALL
    assert not marker.exists()


def test_a_work_tree_that_was_made_again_at_the_same_place_is_taken_over_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = repository(tmp_path / "repo")
    with Engine.open(root=repo) as engine:
        engine.index(embed=False)
    monkeypatch.setattr("findling.engine.adoption._SAMPLE", len(ALL))
    tree = tree_of(repo)
    Indexer(tree, repo / ".findling", workers=1).sync()
    git(repo, "worktree", "remove", "--force", str(tree))
    write(repo, "a.py", "def fifth():\n    return 5\n")
    commit(repo, "two")
    assert tree_of(repo) == tree
    read: list[str] = []

    def recorded(files: Path | Files, path: str, max_bytes: int) -> tuple[FileState, bytes] | SkippedFile:
        read.append(path)
        return read_file(files, path, max_bytes)

    monkeypatch.setattr("findling.engine.adoption.read_file", recorded)
    monkeypatch.setattr("findling.engine.indexer.read_file", recorded)
    Indexer(tree, repo / ".findling", workers=1).sync()
    assert set(read) == {"a.py"}
    on_disk = {path: sha256((tree / path).read_bytes()).digest() for path in FILES}
    assert {path: found for path, found in indexed(tree, repo / ".findling").items() if path in ALL} == on_disk

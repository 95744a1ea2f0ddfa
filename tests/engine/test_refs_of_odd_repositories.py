"""Refs where repositories are not the usual ones: answered rightly, or refused in words."""

from __future__ import annotations

import difflib
import os
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest
from gits import OLD, commit, git, repository
from indexes import rows, write

from findling import Engine
from findling.contracts import Workspace, call
from findling.model import errors


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "repo")


def found(engine: Engine, pattern: str, ref: str | None = None) -> dict[str, int]:
    return {file.path: file.occurrences for file in engine.grep(pattern, ref=ref).files}


def test_a_repository_with_sha256(tmp_path: Path) -> None:
    try:
        repo = repository(tmp_path / "repo", "--object-format=sha256")
    except subprocess.CalledProcessError:
        pytest.skip("this git knows no sha256")
    with Engine.open(root=repo) as engine:
        engine.index()
        assert engine.at("v1").index().changed == 0
        assert found(engine, "only_in_feature", "feature") == {"src/retry.py": 1}


def test_a_bare_repository(repo: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(repo), str(bare))
    with Engine.open(root=bare) as engine:
        assert found(engine, "LruCache", "feature") == {"src/lru.py": 1}
        assert found(engine, "LruCache", "v1") == {"src/cache.py": 1}
        with pytest.raises(errors.RefNotIndexed):
            engine.search("x", ref="nothing", wait_s=None)
        assert any("bare" in note for note in engine.search("LruCache").notes)
        assert not any("bare" in note for note in engine.search("LruCache", ref="v1").notes)


def test_what_git_keeps_in_a_bare_repository_is_nobodys_file(repo: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(repo), str(bare))
    git(bare, "config", "remote.origin.url", "https://user:s3cretpw@example.org/x.git")
    with Workspace(root=bare) as workspace:
        assert workspace.engine.index().files == 0
        assert not workspace.engine.grep("s3cretpw").files
        answer = call("get_file", {"path": "config"}, workspace)
        assert answer.is_error and "s3cretpw" not in str(answer)


def test_a_work_tree_of_a_bare_repository(repo: Path, tmp_path: Path) -> None:
    bare, tree = tmp_path / "bare.git", tmp_path / "tree"
    git(tmp_path, "clone", "-q", "--bare", str(repo), str(bare))
    git(bare, "worktree", "add", "-q", str(tree), "main")
    with Engine.open(root=tree) as engine:
        assert found(engine, "LruCache") == {"src/cache.py": 1}
        assert found(engine, "LruCache", "feature") == {"src/lru.py": 1}
        engine.at("feature").index()
    git(bare, "worktree", "add", "-q", str(tmp_path / "other"), "feature")
    with Engine.open(root=tmp_path / "other") as other, Engine.open(root=bare) as itself:
        assert other.store_dir == itself.store_dir == bare / ".findling"
        assert found(other, "LruCache") == {"src/lru.py": 1}
        assert itself.at("feature").index().changed == 0, "indexed when the other work tree was asked"
        git(bare, "fsck", "--strict")


def test_a_shallow_clone(repo: Path, tmp_path: Path) -> None:
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth=1", "--branch=feature", f"file://{repo}", str(shallow))
    with Engine.open(root=shallow) as engine:
        assert found(engine, "only_in_feature", "HEAD") == {"src/retry.py": 1}
        with pytest.raises(errors.RefNotIndexed, match="This clone is shallow"):
            engine.search("x", ref="HEAD~1", wait_s=None)


def test_a_partial_clone_fetches_nothing_and_names_what_it_lacks(repo: Path, tmp_path: Path) -> None:
    git(repo, "config", "uploadpack.allowFilter", "true")
    partial = tmp_path / "partial"
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{repo}", str(partial))
    before = git(partial, "count-objects", "-v")
    with Engine.open(root=partial) as engine:
        # The checkout fetched what main needs; of feature the two contents that differ are missing.
        result = engine.grep("class", ref="origin/feature")
        assert {file.path for file in result.files} == {"src/lru.py"}
        assert [(file.path, file.reason) for file in result.skipped] == [("src/retry.py", "unreadable")]
        engine.at("origin/feature").index()
        assert engine.status(ref="origin/feature").coverage.skipped == {"unreadable": 1}
        assert [file.path for file in engine.grep("class", ref="origin/feature").skipped] == ["src/retry.py"]
        searched = engine.search("class", ref="origin/feature", mode="keyword")
        named = engine.symbols("only_in_feature", ref="origin/feature", references=True)
        for answer in (searched, named):
            assert any(note.startswith("1 file could not be read and was not searched") for note in answer.notes)
            assert (answer.completeness, answer.coverage.skipped) == ("partial", {"unreadable": 1})
            assert not answer.coverage.unfinished
        assert "partial" in engine.status(ref="origin/feature").skipped[0].detail
    assert git(partial, "count-objects", "-v") == before


def test_a_damaged_object_is_named_though_its_text_was_indexed_from_the_folder(repo: Path) -> None:
    with Engine.open(root=repo) as engine:
        engine.index(embed=False)
        engine.at("HEAD~0").index(embed=False)
        content = git(repo, "rev-parse", "HEAD:src/cache.py")
        damaged = repo / ".git" / "objects" / content[:2] / content[2:]
        damaged.chmod(0o644)
        damaged.write_bytes(b"damaged")
        result = engine.grep("LruCache", ref="HEAD~0")
        assert not result.files
        assert [(file.path, file.reason) for file in result.skipped] == [("src/cache.py", "unreadable")]
        named = engine.symbols("LruCache", ref="HEAD~0", references=True)
        assert (named.completeness, named.coverage.skipped) == ("partial", {"unreadable": 1})
        assert [found.path for found in named.definitions] == ["src/cache.py"], "the index has its names"


@pytest.mark.parametrize("promised", [True, False])
def test_what_a_partial_clone_lacked_is_taken_in_once_it_is_there(promised: bool, repo: Path, tmp_path: Path) -> None:
    git(repo, "config", "uploadpack.allowFilter", "true")
    partial = tmp_path / "partial"
    git(tmp_path, "clone", "-q", "--filter=blob:none", "--no-checkout", f"file://{repo}", str(partial))
    if not promised:  # then git says that it is missing, and does not end over it
        for name in ("remote.origin.promisor", "remote.origin.partialclonefilter", "extensions.partialClone"):
            subprocess.run(["git", "config", "--unset-all", name], cwd=partial, check=False)
    content = git(repo, "rev-parse", "feature:src/retry.py")
    with Engine.open(root=partial) as engine:
        result = engine.grep("only_in_feature", ref="origin/feature")
        assert not result.files
        assert ("src/retry.py", "unreadable") in [(file.path, file.reason) for file in result.skipped]
        text = subprocess.run(["git", "cat-file", "blob", content], cwd=repo, check=True, capture_output=True).stdout
        came = subprocess.run(
            ["git", "hash-object", "-w", "--stdin"], cwd=partial, input=text, check=True, capture_output=True
        )
        assert came.stdout.decode().strip() == content
        assert found(engine, "only_in_feature", "origin/feature") == {"src/retry.py": 1}


def test_a_bare_repository_in_the_work_tree_of_another(repo: Path, tmp_path: Path) -> None:
    outer = repository(tmp_path / "outer")
    git(outer, "checkout", "-q", "-b", "work")
    bare = outer / "in" / "bare.git"
    git(outer, "clone", "-q", "--bare", str(repo), str(bare))
    git(bare, "branch", "work", "feature")
    with Engine.open(root=bare) as engine:
        assert found(engine, "LruCache", "feature") == {"src/lru.py": 1}
        assert found(engine, "LruCache", "work") == {"src/lru.py": 1}, "what the outer one has checked out is no matter"


def test_a_replaced_object_changes_no_commit(repo: Path) -> None:
    git(repo, "replace", git(repo, "rev-parse", "v1"), git(repo, "rev-parse", "feature"))
    with Engine.open(root=repo) as engine:
        assert found(engine, "LruCache", git(repo, "rev-parse", "v1")) == {"src/cache.py": 1}


def test_one_of_many_names_is_suggested_and_few_are_compared(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []

    def counted(asked: str, names: list[str], most: int) -> list[str]:
        compared.append(len(names))
        return real(asked, names, most)

    real = difflib.get_close_matches
    monkeypatch.setattr(difflib, "get_close_matches", counted)
    commit_id = git(repo, "rev-parse", "v1")
    refs = "".join(f"{commit_id} refs/tags/team-{number % 7}/release-{number}\n" for number in range(1, 3000))
    (repo / ".git" / "packed-refs").write_text("# pack-refs with: peeled fully-peeled sorted\n" + refs)
    with Engine.open(root=repo) as engine, pytest.raises(errors.RefNotIndexed, match="mean team-3/release-1501"):
        engine.at("taem-3/relaese-1501")
    assert compared == [500]


def test_what_is_no_commit_is_not_suggested_for_itself(repo: Path) -> None:
    git(repo, "tag", "contents", git(repo, "rev-parse", "v1:src/retry.py"))
    with Engine.open(root=repo) as engine, pytest.raises(errors.RefNotIndexed, match="not name a commit") as raised:
        engine.at("contents")
    assert "Did you mean" not in str(raised.value)


def test_submodules_are_named_and_searched_by_themselves(repo: Path, tmp_path: Path) -> None:
    outer = repository(tmp_path / "outer")
    git(outer, "submodule", "--quiet", "add", str(repo), "vendor/inner")
    commit_id = commit(outer)
    write(outer, "later.py", "later = 1\n")
    commit(outer)
    with Engine.open(root=outer) as engine:
        assert not found(engine, "LruCache", commit_id).keys() - {"src/cache.py"}
        assert ("vendor/inner", "nested_repository") in [
            (file.path, file.reason) for file in engine.grep("LruCache", ref=commit_id).skipped
        ]
        engine.at(commit_id).index()
        skipped = {file.path: file.reason for file in engine.status(ref=commit_id).skipped}
        assert skipped["vendor/inner"] == "nested_repository"
        named = engine.symbols("LruCache", ref=commit_id)
        assert (named.completeness, named.coverage.skipped) == ("complete", {"nested_repository": 1})
    with Engine.open(outer / "src", root=outer) as narrowed:
        assert narrowed.symbols("LruCache", ref=commit_id).coverage.skipped == {}
    with Engine.open(root=outer / "vendor" / "inner") as engine:
        assert found(engine, "LruCache", "origin/feature") == {"src/lru.py": 1}


def test_a_folder_inside_a_repository(repo: Path) -> None:
    with Engine.open(root=repo / "src") as engine:
        engine.index()
        assert engine.at("v1").index().changed == 0
        assert found(engine, "class", "feature") == {"lru.py": 1, "retry.py": 1}
        assert (
            engine.search("only_in_feature", ref="feature", wait_s=None)
            .hits[0]
            .snippet.startswith("def only_in_feature")
        )


def test_the_commits_own_rules_decide(repo: Path) -> None:
    git(repo, "checkout", "-q", "feature")
    write(repo, ".findlingignore", "docs/\n")
    write(repo, ".env", "TOKEN=hunter2hunter2\n")
    write(repo, "big.txt", "x" * 2_000_000)
    (repo / "link.md").symlink_to("docs/guide.md")
    commit(repo)
    git(repo, "checkout", "-q", "main")
    write(repo, ".findlingignore", "src/\n")
    with Engine.open(root=repo) as engine:
        assert set(found(engine, "backoff", "feature")) == {"src/retry.py"}
        assert set(found(engine, "backoff")) == {"docs/guide.md"}
        scanned = engine.grep("backoff", ref="feature")
        engine.at("feature").index()
        reasons = {file.path: file.reason for file in engine.status(ref="feature").skipped}
        assert reasons == {file.path: file.reason for file in scanned.skipped}
        assert reasons["docs/guide.md"] == "ignored"
        assert reasons["link.md"] == "symlink_inside"
        assert reasons["big.txt"] == "too_large"
        assert reasons[".env"] == "secret"


def test_line_ends_that_git_converts_are_not_mistaken_for_the_objects(repo: Path, tmp_path: Path) -> None:
    write(repo, ".gitattributes", "*.py text eol=crlf\n*.sh filter=upper\n")
    write(repo, "run.sh", "echo hello\n")
    commit(repo)
    with Engine.open(root=repo) as engine:
        engine.index()
        engine.at("HEAD").index()
    beside = tmp_path / "beside"
    git(repo, "config", "filter.upper.smudge", "tr a-z A-Z")
    git(repo, "worktree", "add", "-q", str(beside), "main~0")
    assert b"\r\n" in (beside / "src/retry.py").read_bytes()
    with Engine.open(root=beside) as engine:
        engine.index()
        assert indexed_hash(engine, beside, "src/retry.py") == sha256((beside / "src/retry.py").read_bytes()).digest()
        assert found(engine, "ECHO HELLO") == {"run.sh": 1}
        assert found(engine, "echo hello", "HEAD") == {"run.sh": 1}
        by_git = git(repo, "rev-parse", "main")
        assert indexed_hash(engine, repo, "src/retry.py", by_git) == sha256(OLD["src/retry.py"].encode()).digest()


def indexed_hash(engine: Engine, root: Path, path: str, ref: str = "live") -> bytes:
    return bytes(
        rows(
            engine,
            "SELECT b.hash FROM manifests m JOIN manifest_files f USING (manifest_id) JOIN entries e USING (entry_id) "
            "JOIN blobs b USING (blob_id) WHERE m.root=? AND m.ref=? AND e.path=?",
            *(str(root), ref, path),
        )[0][0]
    )


def test_flags_that_hide_changes_from_git(repo: Path, tmp_path: Path) -> None:
    with Engine.open(root=repo) as engine:
        engine.index()
    beside = tmp_path / "beside"
    git(repo, "worktree", "add", "-q", str(beside), "v1")
    git(beside, "update-index", "--assume-unchanged", "src/cache.py")
    same_length = OLD["src/cache.py"].replace("LruCache", "NewCache")
    write(beside, "src/cache.py", same_length)
    with Engine.open(root=beside) as engine:
        assert found(engine, "NewCache|LruCache") == {"src/cache.py": 1}
        assert found(engine, "NewCache") == {"src/cache.py": 1}


def test_names_that_are_hard_to_ask_for(repo: Path) -> None:
    for name in ("with space.py", "ümlaut.py", "quote\"'.py", "-dash.py", "line\nbreak.py", "colon:x.py"):
        write(repo, name, "hard_to_ask_for = 1\n")
    commit(repo)
    with Engine.open(root=repo) as engine:
        engine.search("x", ref="HEAD", wait_s=None)
        assert set(found(engine, "hard_to_ask_for", "HEAD")) >= {
            "with space.py", "ümlaut.py", "quote\"'.py", "-dash.py", "colon:x.py"
        }  # fmt: skip
        odd = [file.path for file in engine.grep("hard_to_ask_for", ref="HEAD").skipped]
        assert "line\nbreak.py" in odd


def test_nothing_that_a_repository_configures_is_run(repo: Path, tmp_path: Path) -> None:
    marker, program = tmp_path / "run", tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch '{marker}'\ncat\n")
    program.chmod(0o755)
    write(repo, ".gitattributes", "*.py filter=evil diff=evil\n")
    commit(repo)
    names = ("filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "core.fsmonitor", "core.sshCommand")
    for name in (*names, "core.pager", "core.askPass", "diff.evil.textconv", "diff.evil.command", "diff.external"):
        git(repo, "config", name, str(program))
    git(repo, "config", "credential.helper", f"!{program}")
    os.utime(repo / "src/retry.py", (1, 1))  # so that git would have to compare contents
    with Engine.open(root=repo) as engine:
        assert engine.grep("only_in_feature", ref="feature").files
        assert engine.grep("RetryPolicy").files
        write(repo, "src/retry.py", "def edited():\n    pass\n")
        assert engine.grep("edited").files
        engine.why("src/retry.py")
        engine.index(force=True)
    assert not marker.exists()

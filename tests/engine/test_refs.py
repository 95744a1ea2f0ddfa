"""Searching branches, tags and commits: their objects are read, nothing is checked out, and nothing is done twice."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from gits import NEW_RETRY, OLD, commit, git, repository
from indexes import contents, integrity, manifest_row, of_yesterday, places, rows, term_counts, write

from findling import Engine
from findling.engine import indexer
from findling.model import errors
from findling.reading import pool


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "repo")


@pytest.fixture
def prepared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths whose contents were handed to a parser."""
    paths: list[str] = []
    submit = pool.WorkerPool.submit

    def counting(self: pool.WorkerPool, batch: list[pool.Task]) -> None:
        paths.extend(task.path for task in batch)
        submit(self, batch)

    monkeypatch.setattr(pool.WorkerPool, "submit", counting)
    return paths


def found(engine: Engine, pattern: str, ref: str | None = None) -> dict[str, int]:
    return {file.path: file.occurrences for file in engine.grep(pattern, ref=ref).files}


def test_every_question_takes_a_ref(repo: Path) -> None:
    with Engine.open(root=repo) as engine:
        engine.index()
        assert found(engine, "only_in_feature|LruCache", "feature") == {"src/lru.py": 1, "src/retry.py": 1}
        assert found(engine, "only_in_feature|LruCache") == {"src/cache.py": 1}
        hit = engine.search("only_in_feature", ref="feature", wait_s=None).hits[0]
        assert (hit.path, hit.snippet) == ("src/retry.py", "def only_in_feature():\n    pass")
        assert [hit.path for hit in engine.symbols("only_in_feature", ref="feature", wait_s=None).definitions] == [
            "src/retry.py"
        ]
        assert not engine.symbols("only_in_feature", wait_s=None).definitions
        uses = engine.symbols("LruCache", references=True, ref="feature", wait_s=None)
        assert [hit.path for hit in uses.definitions] == ["src/lru.py"]
        assert "src/lru.py" in {hit.path for hit in engine.similar("src/retry.py", ref="feature", wait_s=None).hits}
        status = engine.status(ref="feature")
        assert (status.freshness, status.coverage.files, status.coverage.missing_vectors) == ("fresh", 4, 0)
        assert git(repo, "status", "--porcelain") == ""


def test_a_ref_that_was_opened_moves_on_when_it_is_named(repo: Path) -> None:
    with Engine.open(root=repo, ref="feature") as engine:
        assert found(engine, "only_in_feature") == {"src/retry.py": 1}
        git(repo, "checkout", "-q", "feature")
        write(repo, "moved.py", "def after_move():\n    pass\n")
        commit(repo)
        git(repo, "checkout", "-q", "main")
        assert found(engine, "after_move", "feature") == {"moved.py": 1}
        assert found(engine, "after_move") == {}, "without a name it is the commit that was opened"


def test_a_part_that_is_not_on_disk_is_searched_at_a_ref(repo: Path) -> None:
    with Engine.open(repo / "src" / "lru.py", root=repo, ref="feature") as engine:
        assert (engine.scope, found(engine, "class")) == ("src/lru.py", {"src/lru.py": 1})
    shutil.rmtree(repo / "docs")
    with Engine.open(repo / "docs" / "guide.md", ref="v1") as engine:
        assert (engine.root, engine.scope) == (repo, "docs/guide.md")
    with pytest.raises(errors.RootError, match="no file or folder"):
        Engine.open(repo / "docs")
    with pytest.raises(errors.RootError, match="does not lie in"):
        Engine.open(repo / "docs", root=repo / "src", ref="v1")
    with pytest.raises(errors.RootError, match="no file or folder"):
        Engine.open(repo.parent / "nowhere", ref="v1")


def test_what_is_asked_of_a_commit_s_files_is_not_answered_from_disk(repo: Path) -> None:
    write(repo, "only_on_disk.md", "# New\n")
    write(repo, "new/folder.py", "")
    (repo / "src" / "cache.py").unlink()
    with Engine.open(root=repo) as engine:
        at = engine.at("v1")
        assert (at.why("src/cache.py").reason, at.why("src/cache.py").indexed) == ("not_indexed_yet", False)
        at.index()
        known = at.why(str(repo / "src" / "cache.py"))
        assert (known.path, known.indexed, known.reason, known.language) == ("src/cache.py", True, "", "python")
        assert (at.why("src").kind, at.why("src").files) == ("folder", 2)
        for path in ("only_on_disk.md", "new", "src/lru.py"):
            assert (at.why(path).indexed, at.why(path).reason) == (False, "not_found")
        assert at.why("..").reason == "outside_root"
        assert at.changed(["src/cache.py", "only_on_disk.md"]) == ([], {"only_on_disk.md"})
    write(repo, "ignored/x.py", "")
    write(repo, ".gitignore", "ignored/\n")
    with Engine.open(repo / "ignored", root=repo) as engine:
        assert engine.at("v1").search("cache").notes == ("No indexed file lies in ignored.",)


@pytest.mark.parametrize("ref", ["feature", "v1", "refs/heads/feature", "feature~1"])
def test_a_ref_answers_like_its_checkout(ref: str, repo: Path, tmp_path: Path) -> None:
    beside = tmp_path / "beside" / repo.name
    git(repo, "worktree", "add", "-q", "--detach", str(beside), ref)
    (beside / ".git").unlink()
    with Engine.open(root=repo) as engine, Engine.open(root=beside) as scratch:
        scratch.index()
        engine.index()
        for query in ("RetryPolicy", "retried with a backoff", "evict"):
            for mode in ("auto", "keyword", "symbol", "semantic"):
                mine, theirs = (
                    engine.search(query, mode=mode, ref=ref, wait_s=None),
                    scratch.search(query, mode=mode, wait_s=None),
                )
                assert mine.freshness == theirs.freshness == "fresh"
                assert places(mine) == places(theirs), (query, mode)
                assert [hit.snippet for hit in mine.hits] == [hit.snippet for hit in theirs.hits]
        assert engine.grep("re", ref=ref).files == scratch.grep("re").files
        assert engine.symbols("R", ref=ref, wait_s=None).definitions == scratch.symbols("R", wait_s=None).definitions


def test_only_new_contents_are_parsed(repo: Path, prepared: list[str]) -> None:
    with Engine.open(root=repo) as engine:
        engine.index()
        prepared.clear()
        assert engine.at("v1").index().changed == 0
        assert prepared == []
        assert engine.at("feature").index().complete
        assert sorted(prepared) == ["src/lru.py", "src/retry.py"]
        prepared.clear()
        git(repo, "checkout", "-q", "feature")
        assert engine.search("only_in_feature", wait_s=None).hits[0].path == "src/retry.py"
        assert prepared == []
        assert engine.status().coverage.missing_vectors == 0


def test_a_second_work_tree_begins_as_the_first(repo: Path, tmp_path: Path, prepared: list[str]) -> None:
    with Engine.open(root=repo) as engine:
        engine.index()
    beside = tmp_path / "beside"
    git(repo, "worktree", "add", "-q", str(beside), "feature")
    write(beside, "src/retry.py", "edited = 'before it was ever indexed'\n")
    write(beside, "untracked.py", "def untracked():\n    pass\n")
    of_yesterday(*(beside / path for path in ("src/retry.py", "src/lru.py", "untracked.py")))
    prepared.clear()
    with Engine.open(root=beside) as engine:
        assert engine.store_dir == repo / ".findling"
        assert engine.search("untracked", wait_s=None).hits[0].path == "untracked.py"
        assert sorted(prepared) == ["src/lru.py", "src/retry.py", "untracked.py"]
        assert found(engine, "before it was ever|LruCache") == {"src/lru.py": 1, "src/retry.py": 1}
        engine.sync()
        assert engine.status().freshness == "fresh"
        assert integrity(engine) == "ok"
    scratch = tmp_path / "scratch" / "beside"
    shutil.copytree(beside, scratch, ignore=shutil.ignore_patterns(".git"))
    with Engine.open(root=beside) as engine, Engine.open(root=scratch) as other:
        other.index()
        assert without_git(contents(engine)) == without_git(contents(other))
    git(repo, "worktree", "remove", "--force", str(beside))
    with Engine.open(root=repo) as engine, Engine.open(root=scratch) as other:
        engine.index(embed=False)
        shutil.rmtree(scratch / "src")
        shutil.copytree(repo / "src", scratch / "src")
        (scratch / "untracked.py").unlink()
        other.index()
        assert without_git(contents(engine)) == without_git(contents(other))
        assert not rows(engine, "SELECT 1 FROM manifests WHERE root=?", str(beside))


def without_git(found: dict[str, object]) -> dict[str, object]:
    """Without git's names of the contents, which a folder outside of git has none of."""
    files = {path: {**facts, "blob": facts["blob"][:-1]} for path, facts in found["files"].items()}  # type: ignore[attr-defined]
    return {**found, "files": files}


def test_counts_of_terms_are_shared_and_exact(repo: Path) -> None:
    with Engine.open(root=repo) as engine:
        engine.index()
        for ref in ("v1", "feature"):
            engine.at(ref).index()
        ids = {ref: rows(engine, "SELECT manifest_id FROM manifests WHERE ref=?", ref)[0][0]
               for ref in ("live", git(repo, "rev-parse", "feature"))}  # fmt: skip
        before = {ref: term_counts(engine, number) for ref, number in ids.items()}
        write(repo, "src/cache.py", "def something_else_altogether():\n    pass\n")
        engine.sync()
        (repo / "src/cache.py").write_text(OLD["src/cache.py"])
        engine.sync()
        assert {ref: term_counts(engine, number) for ref, number in ids.items()} == before
        assert manifest_row(engine)["files"] == len(OLD)


def test_a_folder_that_was_empty_for_a_while_begins_anew(repo: Path, tmp_path: Path) -> None:
    with Engine.open(root=repo) as engine:
        engine.index()
        for ref in ("v1", "feature"):
            engine.at(ref).index()
        feature = rows(engine, "SELECT manifest_id FROM manifests WHERE ref=?", git(repo, "rev-parse", "feature"))[0][0]
        before = term_counts(engine, feature)
        write(repo, "src/cache.py", "def edited_after_the_counts_were_shared():\n    pass\n")
        engine.sync()
        for name in ("src", "docs", "empty.txt"):
            os.rename(repo / name, tmp_path / name)
        engine.sync()
        assert not contents(engine)["files"]
        git(repo, "checkout", "-q", "-f", "main")
        engine.sync()
        assert term_counts(engine, feature) == before
        scratch = tmp_path / "scratch" / repo.name
        shutil.copytree(repo, scratch, ignore=shutil.ignore_patterns(".findling"))
        with Engine.open(root=scratch) as other:
            other.index()
            assert contents(engine) == contents(other)


def test_a_named_new_file_changes_nothing_else(repo: Path, tmp_path: Path) -> None:
    with Engine.open(root=repo) as engine:
        engine.index()
        engine.at("v1").index()
        write(repo, "src/named.py", "def named_by_an_editor():\n    pass\n")
        engine.sync(["src/named.py"])
        scratch = tmp_path / "scratch" / repo.name
        shutil.copytree(repo, scratch, ignore=shutil.ignore_patterns(".findling"))
        with Engine.open(root=scratch) as other:
            other.index()
            assert contents(engine) == contents(other)


def test_other_refs_do_not_crowd_out_what_is_searched(tmp_path: Path) -> None:
    root = repository(tmp_path / "repo")
    with Engine.open(root=root) as engine:
        for version in range(6):
            for number in range(60):
                text = f"def waits_before_retrying_{number}():\n    return backoff({version}, {number})\n"
                write(root, f"m{number}.py", text)
            commit(root)
            engine.at("HEAD").index()
        engine.index()
        with Engine.open(root=shutil.copytree(root, tmp_path / "scratch" / "repo", ignore=ignored)) as scratch:
            scratch.index()
            for mode in ("semantic", "keyword"):
                mine = engine.search("waits before retrying", mode=mode, limit=50, wait_s=None)
                theirs = scratch.search("waits before retrying", mode=mode, limit=50, wait_s=None)
                assert len(mine.hits) == len(theirs.hits) > 20, mode


ignored = shutil.ignore_patterns(".findling")


def test_a_branch_that_moved_is_another_commit(repo: Path) -> None:
    with Engine.open(root=repo) as engine:
        assert not found(engine, "moved_on", "feature")
        git(repo, "checkout", "-q", "feature")
        write(repo, "src/lru.py", "def moved_on():\n    pass\n")
        commit(repo)
        git(repo, "checkout", "-q", "main")
        assert found(engine, "moved_on", "feature") == {"src/lru.py": 1}
        assert engine.search("moved_on", ref="feature", wait_s=None).freshness == "fresh"


def test_what_is_checked_out_is_the_folder(repo: Path) -> None:
    write(repo, "src/uncommitted.py", "uncommitted = 1\n")
    with Engine.open(root=repo) as engine:
        for ref in (None, "live", "main"):
            assert found(engine, "uncommitted", ref) == {"src/uncommitted.py": 1}, ref
        assert not found(engine, "uncommitted", git(repo, "rev-parse", "main"))
        git(repo, "checkout", "-q", "--detach", "v1")
        assert found(engine, "uncommitted", git(repo, "rev-parse", "HEAD")[:7]) == {"src/uncommitted.py": 1}


def test_refs_that_are_not_there(repo: Path, tmp_path: Path) -> None:
    with Engine.open(root=repo) as engine:
        engine.at("feature").index()
        commit_id = git(repo, "rev-parse", "feature")
        git(repo, "branch", "-q", "-D", "feature")
        with pytest.raises(errors.RefNotIndexed, match="no branch, tag or commit 'feature'"):
            engine.search("x", ref="feature", wait_s=None)
        assert found(engine, "only_in_feature", commit_id) == {"src/retry.py": 1}
        with pytest.raises(errors.RefNotIndexed, match="Did you mean v1"):
            engine.search("x", ref="v11", wait_s=None)
        for odd in ("--help", "", "a\nb", "x" * 400):
            with pytest.raises((errors.InvalidInput, errors.RefNotIndexed)):
                engine.search("x", ref=odd, wait_s=None)
        with pytest.raises(errors.RefNotIndexed):
            engine.search("x", ref="main:src", wait_s=None)
    plain = tmp_path / "plain"
    write(plain, "a.py", "a = 1\n")
    with Engine.open(root=plain) as engine, pytest.raises(errors.RefNotIndexed, match="not in a git repository"):
        engine.search("x", ref="main", wait_s=None)


def test_a_question_may_be_forbidden_to_index(repo: Path) -> None:
    write(repo, "findling.toml", "[semantic]\nauto_index = false\n")
    with Engine.open(root=repo) as engine:
        with pytest.raises(errors.RefNotIndexed, match="is not indexed"):
            engine.search("x", ref="feature", wait_s=None)
        engine.at("feature").index()
        assert engine.search("only_in_feature", ref="feature", wait_s=None).freshness == "fresh"


def test_without_time_a_ref_says_that_it_is_unfinished(repo: Path) -> None:
    with Engine.open(root=repo) as engine:
        engine.index()
        first = engine.search("only_in_feature", ref="feature", wait_s=0)
        assert (first.freshness, first.hits) == ("stale", ())
        assert "feature" in first.stale_reason
        assert engine.search("only_in_feature", ref="feature", wait_s=None).freshness == "fresh"


def test_old_refs_are_dropped(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexer, "_KEPT_REFS", 3)
    with Engine.open(root=repo) as engine:
        engine.index()
        for number in range(6):
            write(repo, "src/number.py", f"NUMBER = {number}\n")
            commit(repo)
            assert engine.search(f"NUMBER = {number}", ref="HEAD", wait_s=None).hits
            assert found(engine, f"NUMBER = {number}", "HEAD") == {"src/number.py": 1}
        assert rows(engine, "SELECT count(*) FROM manifests WHERE ref<>'live'") == [(3,)]
        for table in ("manifest_files", "skipped_files"):
            assert not rows(
                engine, f"SELECT 1 FROM {table} WHERE manifest_id NOT IN (SELECT manifest_id FROM manifests)"
            )
        known = {number for row in rows(engine, "SELECT manifest_id, counts FROM manifests") for number in row}
        counted = {number for (number,) in rows(engine, "SELECT counted_under FROM term_counts")}
        assert counted and counted <= known
        assert found(engine, "NUMBER = 0", "HEAD~5") == {"src/number.py": 1}
        assert integrity(engine) == "ok"


def test_a_ref_of_a_store_that_is_built_anew(repo: Path) -> None:
    with Engine.open(root=repo) as engine:
        assert engine.search("only_in_feature", ref="feature", wait_s=None).hits
        engine.index(force=True)
        assert engine.search("only_in_feature", ref="feature", wait_s=None).freshness == "fresh"
        engine.at("feature").index(force=True)
        assert found(engine, "only_in_feature", "feature") == {"src/retry.py": 1}
        shutil.rmtree(engine.store_dir)
        assert (
            engine.search("only_in_feature", ref="feature", wait_s=None).hits[0].snippet
            == NEW_RETRY.partition("\n\n\n")[2].strip()
        )


def test_from_a_ref_the_folder_can_be_asked_for(repo: Path) -> None:
    with Engine.open(root=repo, ref="feature") as engine:
        assert found(engine, "only_in_feature|LruCache") == {"src/lru.py": 1, "src/retry.py": 1}
        for folder in ("live", "main"):
            assert engine.at(folder).ref is None
            assert found(engine, "only_in_feature|LruCache", folder) == {"src/cache.py": 1}
        assert engine.at(None) is engine.at("feature") is engine
        assert engine.at("v1").at("live").ref is None


def test_a_name_of_a_branch_and_of_a_tag_is_told_of(repo: Path) -> None:
    git(repo, "branch", "both", "feature")
    git(repo, "tag", "both", "main")
    with Engine.open(root=repo) as engine:
        engine.index()
        for ref, paths in (("both", ["src/cache.py"]), ("heads/both", ["src/lru.py"]), ("tags/both", ["src/cache.py"])):
            found = engine.search("LruCache", mode="symbol", ref=ref, wait_s=None)
            assert [hit.path for hit in found.hits] == paths
            assert ["more than one ref" in note for note in found.notes] == ([True] if ref == "both" else []), ref

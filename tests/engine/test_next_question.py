"""What becomes of files is seen by the next question, at little cost: with the system's events, and without."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from gits import commit, git
from indexes import make, rows, write

from findling import Engine
from findling.engine import freshness
from findling.outbound import git as outbound_git
from findling.store.local.lock import WriterLock


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make(tmp_path / "root")
    write(root, ".gitignore", "*.log\nbuild/\n")
    git(root, "init", "-q", "-b", "main")
    commit(root)
    git(root, "checkout", "-q", "-b", "other")
    write(root, "src/only_there.py", "def marker_of_the_branch():\n    pass\n")
    commit(root)
    git(root, "checkout", "-q", "main")
    return root


@pytest.fixture(params=[False, True], ids=["looking", "listening"])
def engine(root: Path, request: pytest.FixtureRequest) -> Iterator[Engine]:
    with Engine.open(root=root) as engine:
        if request.param:
            engine.listen()
        engine.index(embed=False)
        while engine._store.unchanged is None:  # until what was written last is old enough to be vouched for
            ask(engine)
        yield engine
        assert engine._store.listens == request.param


def ask(engine: Engine, pattern: str = "marker_of_") -> set[str]:
    found = engine.search(pattern, mode="exact", limit=500, wait_s=60.0)
    assert found.freshness == "fresh", found.stale_reason
    return {hit.path for hit in found.hits}


def ends_up(engine: Engine, pattern: str, *paths: str) -> None:
    """The next question finds it there, and so do the ones after it."""
    assert [ask(engine, pattern) for _ in range(3)] == [set(paths)] * 3


def save(root: Path, path: str, text: str) -> None:
    """As editors do."""
    write(root, "src/.saving", text)
    os.replace(root / "src/.saving", root / path)


MARKER = "def marker_of_this():\n    pass\n"

CHANGES: Mapping[str, tuple[Callable[[Path], object], str, tuple[str, ...]]] = {
    "edited": (lambda root: write(root, "src/cache.py", MARKER), "marker_of_", ("src/cache.py",)),
    "saved": (lambda root: save(root, "src/cache.py", MARKER), "marker_of_", ("src/cache.py",)),
    "new": (lambda root: write(root, "src/new.py", MARKER), "marker_of_", ("src/new.py",)),
    "in new folders": (lambda root: write(root, "one/two/new.py", MARKER), "marker_of_", ("one/two/new.py",)),
    "deleted": (lambda root: (root / "src/cache.py").unlink(), "LruCache", ()),
    "renamed": (lambda root: os.rename(root / "src/cache.py", root / "src/lru.py"), "LruCache", ("src/lru.py",)),
    "folder renamed": (lambda root: os.rename(root / "src", root / "lib"), "LruCache", ("lib/cache.py",)),
    "folder deleted": (lambda root: shutil.rmtree(root / "src"), "LruCache", ()),
    "own rule": (lambda root: write(root, ".findlingignore", "cache.py\n"), "LruCache", ()),
    "ignored": (lambda root: write(root, "src/new.log", MARKER), "marker_of_", ()),
    "branch": (lambda root: git(root, "checkout", "-q", "other"), "marker_of_", ("src/only_there.py",)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_next_question_sees(change: str, root: Path, engine: Engine) -> None:
    act, pattern, paths = CHANGES[change]
    act(root)
    ends_up(engine, pattern, *paths)


def test_the_next_question_sees_a_changed_rule(root: Path, engine: Engine) -> None:
    write(root, "src/new.py", MARKER)
    ends_up(engine, "marker_of_", "src/new.py")
    write(root, ".gitignore", "new.py\n")
    ends_up(engine, "marker_of_")
    write(root, ".gitignore", "*.log\n")
    ends_up(engine, "marker_of_", "src/new.py")
    write(root, "src/.gitignore", "new.py\n")
    ends_up(engine, "marker_of_")


def test_the_next_question_sees_a_second_edit_of_the_same_file(root: Path, engine: Engine) -> None:
    for name in ("first", "other", "third"):
        write(root, "src/cache.py", f"def {name}_name():\n    pass\n")
        ends_up(engine, "_name", "src/cache.py")
        ends_up(engine, f"{name}_name", "src/cache.py")


def test_a_known_folder_is_looked_at_without_git_and_without_listing(
    root: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Engine.open(root=root) as fresh:  # as a new process
        fresh.refresh(embed=False)

        def never(*_: object, **__: object) -> None:
            raise AssertionError("nothing has changed")

        monkeypatch.setattr(outbound_git.subprocess, "Popen", never)
        monkeypatch.setattr(os, "scandir", never)
        for asked in (fresh, engine):
            assert asked.refresh(embed=False) == ("fresh", "")


def test_more_events_than_the_system_keeps_cost_a_look_at_everything(root: Path, engine: Engine) -> None:
    if not engine._store.listens:
        pytest.skip("nothing is listened to")
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    with (root / "src/new.log").open("wb", 0) as one, (root / "src/other.log").open("wb", 0) as other:
        for _ in range(most // 2 + 1):  # by turns: equal events in a row are kept once
            one.write(b"x")
            other.write(b"x")
    write(root, "src/cache.py", MARKER)
    ends_up(engine, "marker_of_", "src/cache.py")


def test_where_nothing_can_be_heard_any_more_everything_is_looked_at(root: Path) -> None:
    with Engine.open(root=root) as engine:
        engine.listen()
        engine.index(embed=False)
        while engine._store._events is None:
            ask(engine)
        no_queue = engine._store._events._queue = os.open(root, os.O_RDONLY)
        write(root, "src/cache.py", MARKER)
        ends_up(engine, "marker_of_", "src/cache.py")
        assert not engine._store.listens
        os.close(no_queue)


def test_what_is_known_of_folders_may_be_lost_or_damaged(root: Path, tmp_path: Path) -> None:
    from findling.store.local.writer import IndexWriter

    with Engine.open(root=root) as engine:
        engine.index(embed=False)
        assert [key for (key,) in rows(engine, "SELECT key FROM meta WHERE key LIKE 'tree:%'")] == ["tree:1"]
        for statement in ("UPDATE meta SET value=x'c1' WHERE key='tree:1'", "DELETE FROM meta WHERE key='tree:1'"):
            writer = IndexWriter(engine.store_dir)
            writer._db.execute(statement)
            writer.close()
            write(root, "src/new.py", f"def marker_of_{len(statement)}():\n    pass\n")
            assert ask(engine, f"marker_of_{len(statement)}") == {"src/new.py"}


def test_what_is_known_of_the_folders_of_a_work_tree_goes_with_it(root: Path, tmp_path: Path) -> None:
    git(root, "worktree", "add", "-q", str(tmp_path / "linked"), "other")
    with Engine.open(root=root) as engine:
        engine.index(embed=False)
        with Engine.open(root=tmp_path / "linked") as linked:
            linked.index(embed=False)
        keys = "SELECT count(*) FROM meta WHERE key LIKE 'tree:%'"
        assert rows(engine, keys) == [(2,)]
        shutil.rmtree(tmp_path / "linked")
        subprocess.run(["git", "worktree", "prune"], cwd=root, check=True)
        engine.index(embed=False)
        assert rows(engine, keys) == [(1,)]


def test_an_answer_is_not_called_fresh_by_an_earlier_look(tmp_path: Path) -> None:
    for number in range(1_100):
        write(tmp_path, f"part{number % 11}/module{number}.py", f"def work_{number}():\n    return {number}\n")
    with Engine.open(root=tmp_path) as engine:
        engine.index(embed=False)
        while engine._store.unchanged is None:
            engine.refresh(embed=False)
        for number in range(5):
            write(tmp_path, f"part{number}/module{number}.py", MARKER)
            assert len(ask(engine)) == number + 1


def test_what_cannot_be_taken_in_while_others_write_is_gone_through(engine: Engine, root: Path) -> None:
    others = WriterLock(engine.store_dir, wait_s=0)
    write(root, "src/cache.py", MARKER)
    write(root, "src/new.py", "def marker_of_another():\n    pass\n")
    found = engine.search("marker_of_this marker_of_another")
    assert {hit.path for hit in found.hits[:2]} == {"src/cache.py", "src/new.py"}
    assert (found.freshness, found.completeness) == ("syncing", "partial")
    assert not any(hit.stale for hit in found.hits)
    assert [hit.path for hit in engine.symbols("marker_of_this").definitions] == ["src/cache.py"]
    assert not engine.symbols("LruCache").definitions, "what the index has of a file that changed is not shown"
    others.release()
    ends_up(engine, "marker_of_this", "src/cache.py")
    assert engine.search("marker_of_this").completeness == "complete"


def test_what_there_is_no_time_to_take_in_is_gone_through(
    engine: Engine, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freshness, "SYNC_S", 0.0)
    monkeypatch.setattr("findling.engine.indexer._LEAST_S", 0.0)
    monkeypatch.setattr("findling.engine.indexer._FIRST_BATCH_S", 0.0)
    for number in range(freshness.SYNC_FILES + 10):
        write(root, f"more/part{number}.py", f"def more_{number}():\n    pass\n")
    write(root, "src/cache.py", MARKER)
    found = engine.search("marker_of_this")
    assert found.hits[0].path == "src/cache.py"
    assert (found.freshness, found.completeness) == ("stale", "partial")

"""A watched folder: saved files are found without a question having looked; others cost nothing."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from gits import commit, git, repository
from indexes import contents, make, write

from findling import Engine
from findling.engine import watching
from findling.engine.watching import Watcher
from findling.search.exact import GrepRequest, grep
from findling.sources import watching as listening
from findling.store.local.layout import WATCHER
from findling.store.local.lock import WriterLock

PATIENCE_S = 20.0
"""What a busy machine may take; how quick it is, `benchmarks/servers.py` measures."""


def has_all_vectors(root: Path) -> bool:
    with Engine.open(root=root) as engine:
        coverage = engine.status().coverage
        return coverage.embedded_chunks == coverage.chunks > 0


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "TURN_MS", 200)
    monkeypatch.setattr(watching, "PAUSE", 0)
    monkeypatch.setattr(watching, "STANDBY_S", 0.05)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = make(tmp_path / "project")
    git(made, "init", "-q", "-b", "main")
    write(made, ".gitignore", "*.log\nbuild/\n")
    commit(made)
    with Engine.open(root=made) as engine:
        engine.index()
    return made


@pytest.fixture
def watcher(root: Path) -> Iterator[Watcher]:
    made = Watcher(lambda: Engine.open(root=root))
    made.start()
    try:
        until(lambda: made.watch.state == "watching" and made.taken_in > 0)
        yield made
    finally:
        made.stop()


def holds(root: Path, pattern: str) -> set[str]:
    """Where the index, asked as it is, has a text."""
    with Engine.open(root=root) as engine, engine._store.reader.snapshot():
        files = engine._store.indexed_files(engine._store.reader, "")
        return {file.path for file in grep(files, GrepRequest(pattern)).files}


def embedded(root: Path) -> bool:
    with Engine.open(root=root) as engine:
        return engine.status().coverage.missing_vectors == 0


def assert_as_from_scratch(root: Path, beside: Path) -> None:
    copy = beside / root.name
    shutil.copytree(root, copy, symlinks=True, ignore=shutil.ignore_patterns(".findling"))
    with Engine.open(root=root) as engine, Engine.open(root=copy) as scratch:
        scratch.index()
        assert contents(engine) == contents(scratch)


def test_what_is_saved_is_taken_in(root: Path, watcher: Watcher, tmp_path: Path) -> None:
    """D13, S1-23: code and documents, and their vectors."""
    write(root, "src/saved.py", "def saved_just_now():\n    pass\n")
    write(root, "docs/saved.md", "# saved_just_now\n")
    until(lambda: holds(root, "saved_just_now") == {"src/saved.py", "docs/saved.md"})
    beside = root / "src/.saved.py.swp"
    beside.write_text("def saved_once_more():\n    pass\n")
    os.replace(beside, root / "src/saved.py")
    until(lambda: holds(root, "saved_once_more") == {"src/saved.py"})
    os.rename(root / "src/saved.py", root / "src/Saved.py")
    until(lambda: holds(root, "saved_once_more") == {"src/Saved.py"})
    (root / "src/Saved.py").unlink()
    write(root, "deep/er/and/deeper/new.py", "def in_new_folders():\n    pass\n")
    until(lambda: holds(root, "saved_once_more|in_new_folders") == {"deep/er/and/deeper/new.py"})
    write(root, "deep/er/and/deeper/second.py", "def heard_in_a_new_folder():\n    pass\n")
    until(lambda: holds(root, "heard_in_a_new_folder") == {"deep/er/and/deeper/second.py"})
    shutil.rmtree(root / "deep")
    until(lambda: not holds(root, "in_new_folders"))
    write(root, "deep/er/again.py", "def made_anew():\n    pass\n")
    until(lambda: holds(root, "made_anew") == {"deep/er/again.py"})
    write(root, "deep/er/again.py", "def made_anew_and_edited():\n    pass\n")
    until(lambda: holds(root, "made_anew_and_edited") == {"deep/er/again.py"})
    write(root, ".gitignore", "*.log\nbuild/\nsrc/\n")
    write(root, ".ignore", "src/\n")
    until(lambda: not holds(root, "RetryPolicy") & {"src/retry.py"})
    until(lambda: embedded(root))
    watcher.stop()
    assert_as_from_scratch(root, tmp_path / "again")


def test_a_burst_is_heard_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """D13: debounced."""
    monkeypatch.setattr(listening, "STEP_MS", 400)
    stop = threading.Event()
    heard = listening.changes(tmp_path, {""}, stop)
    next(heard)
    writer = threading.Thread(
        target=lambda: [(write(tmp_path, f"m{number}.py", "x\n"), time.sleep(0.05)) for number in range(10)]
    )
    writer.start()
    sets: list[set[str]] = []
    while len(set().union(*sets)) < 10:
        sets += filter(None, (next(heard),))
    stop.set()
    writer.join()
    assert len(sets) <= 3


def test_what_changes_while_the_watcher_rests_is_taken_in_as_one(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """D13."""
    hour, heard_all = 3600.0, threading.Event()

    def changes(_: Path, __: set[str], stop: threading.Event) -> Iterator[set[str]]:
        yield set()
        made._free_at = time.monotonic() + hour
        for number in range(50):
            yield {f"many/m{number}.py"}
        assert made.taken_in == 1
        made._free_at = 0.0
        heard_all.set()
        while not stop.wait(0.02):
            yield set()

    monkeypatch.setattr(listening, "changes", changes)
    made = Watcher(lambda: Engine.open(root=root))
    made.start()
    try:
        until(lambda: heard_all.is_set() and made.taken_in == 2)
    finally:
        made.stop()
    assert made.taken_in == 2


def test_after_a_burst_the_index_is_as_from_scratch(root: Path, watcher: Watcher, tmp_path: Path) -> None:
    for number in range(600):
        write(root, f"many/f{number % 20}/m{number}.py", f"class Burst{number}:\n    pass\n")
    until(lambda: len(holds(root, "class Burst")) == 600)
    until(lambda: embedded(root))
    watcher.stop()
    assert_as_from_scratch(root, tmp_path / "again")


def test_a_branch_switch_is_taken_in(tmp_path: Path) -> None:
    root = repository(tmp_path / "project")
    with Engine.open(root=root) as engine:
        engine.index()
    watcher = Watcher(lambda: Engine.open(root=root))
    watcher.start()
    try:
        until(lambda: watcher.watch.state == "watching")
        for branch, path in (("feature", "src/lru.py"), ("main", "src/cache.py"), ("feature", "src/lru.py")):
            git(root, "checkout", "-q", branch)
            until(lambda path=path: holds(root, "LruCache") == {path})  # type: ignore[misc]
    finally:
        watcher.stop()


def test_what_is_not_wanted_costs_nothing(root: Path, watcher: Watcher) -> None:
    before = watcher.taken_in
    for number in range(5):
        write(root, "src/server.log", f"line {number}\n" * 100)
        write(root, f"build/out{number}.py", "def built():\n    pass\n")
        write(root, "src/.retry.py.swp", f"swap {number}")
        time.sleep(0.15)
        (root / "src/.retry.py.swp").unlink()
    write(root, "src/wanted.py", "def wanted_after_all():\n    pass\n")
    until(lambda: holds(root, "wanted_after_all") == {"src/wanted.py"})
    # One for the file that is wanted, and one at most for the folder that appeared.
    assert watcher.taken_in - before <= 3
    assert not holds(root, "def built")


def test_installed_packages_and_ignored_folders_are_not_listened_to(root: Path) -> None:
    for folder in ("node_modules/left-pad", "build/x", "src/new/empty", ".git/refs/x"):
        (root / folder).mkdir(parents=True)
    with Engine.open(root=root) as engine:
        engine.refresh(wait_s=None)
        files, folders = engine.listed()
    assert "src/retry.py" in files
    assert folders == {"", "docs", "src", "src/new", "src/new/empty", "tests"}


def test_an_empty_folder_made_before_it_listens_is_listened_to(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listened: list[set[str]] = []

    def changes(root: Path, folders: set[str], stop: threading.Event) -> Iterator[set[str]]:
        listened.append(set(folders))
        (root / "src" / "made" / "below").mkdir(parents=True, exist_ok=True)
        (root / "build").mkdir(exist_ok=True)
        yield set()
        stop.wait()

    monkeypatch.setattr(listening, "changes", changes)
    watcher = Watcher(lambda: Engine.open(root=root))
    watcher.start()
    try:
        until(lambda: len(listened) > 1)
    finally:
        watcher.stop()
    assert listened[1] - listened[0] == {"src/made", "src/made/below"}


def test_where_the_system_does_not_tell_it_looks_by_itself(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def limited(*_: object) -> Iterator[set[str]]:
        raise listening.CannotWatch("OS file watch limit reached.")
        yield set()

    monkeypatch.setattr(listening, "changes", limited)
    monkeypatch.setattr(watching, "POLL_LEAST_S", 0.05)
    monkeypatch.setattr(watching, "POLL_PAUSE", 1)  # on a busy machine a look may take a second
    watcher = Watcher(lambda: Engine.open(root=root))
    watcher.start()
    try:
        until(lambda: watcher.watch.state == "polling")
        assert watcher.watch.detail == "OS file watch limit reached."
        write(root, "src/polled.py", "def found_by_polling():\n    pass\n")
        until(lambda: holds(root, "found_by_polling") == {"src/polled.py"})
    finally:
        watcher.stop()


def test_a_limit_of_the_system_is_what_cannot_watch_means(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import watchfiles

    def exhausted(*_: object, ignore_permission_denied: bool, **__: object) -> Iterator[set[object]]:
        if not ignore_permission_denied:  # else the library passes over this as well
            raise OSError(28, "OS file watch limit reached. about [...]")
        yield set()

    monkeypatch.setattr(watchfiles, "watch", exhausted)
    with pytest.raises(listening.CannotWatch, match="limit reached"):
        next(iter(listening.changes(root, {""}, threading.Event())))


def test_folders_that_may_not_be_read_are_not_listened_to(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    allowed, stop = os.access, threading.Event()
    monkeypatch.setattr(os, "access", lambda path, how: not str(path).endswith("/docs") and allowed(path, how))
    heard = listening.changes(root, {"", "src", "docs"}, stop)
    next(heard)
    write(root, "docs/unheard.md", "x")
    write(root, "src/heard.py", "x")
    found: set[str] = set()
    while "src/heard.py" not in found:
        found.update(next(heard))
    stop.set()
    assert "docs/unheard.md" not in found


def test_one_watches_and_the_next_takes_over(root: Path, watcher: Watcher) -> None:
    second = Watcher(lambda: Engine.open(root=root))
    second.start()
    try:
        until(lambda: second.watch.state == "standby")
        watcher.stop()
        until(lambda: second.watch.state == "watching")
        write(root, "src/second.py", "def heard_by_the_second():\n    pass\n")
        until(lambda: holds(root, "heard_by_the_second") == {"src/second.py"})
    finally:
        second.stop()
    WriterLock(root / ".findling", wait_s=0.0, name=WATCHER).release()


def test_folders_that_another_process_indexes_meanwhile_are_listened_to(root: Path) -> None:
    shutil.rmtree(root / ".findling")
    with Engine.open(root=root) as engine:
        engine.sync(["src/retry.py"])
        assert engine.coverage().unfinished
    watcher = Watcher(lambda: Engine.open(root=root))
    watcher._take_in = lambda: (set(), set())  # type: ignore[method-assign] - the other process has the index
    watcher.start()
    try:
        until(lambda: watcher.watch.state == "watching")
        before = watcher.watch.detail
        with Engine.open(root=root) as engine:
            engine.index(embed=False)
            folders = len({folder for folder in engine.listed()[1] if (root / folder).is_dir()})
        until(lambda: watcher.watch.detail == f"{folders} folders" != before)
    finally:
        watcher.stop()


def test_an_index_that_comes_to_be_or_is_deleted(tmp_path: Path) -> None:
    root = make(tmp_path / "project")
    watcher = Watcher(lambda: Engine.open(root=root))
    watcher.start()
    try:
        until(lambda: watcher.watch.state == "waiting")
        assert not (root / ".findling").exists()
        for turn in range(2):
            with Engine.open(root=root) as engine:
                engine.index()
            until(lambda: watcher.watch.state == "watching" and (root / ".findling" / WATCHER).exists())
            write(root, "src/heard.py", "def heard_again():\n    pass\n")
            until(lambda: holds(root, "heard_again") == {"src/heard.py"})
            until(lambda: has_all_vectors(root))  # a run that still writes would begin it anew
            os.rename(root / ".findling", tmp_path / f"deleted{turn}")
            (root / "src/heard.py").unlink()
            until(lambda: watcher.watch.state == "waiting")
    finally:
        watcher.stop()

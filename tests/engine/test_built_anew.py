"""An index that is built anew is built beside the old one, which answers until the other is whole."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from indexes import SMALL, integrity, make, places, write

from findling import Engine
from findling.model import errors
from findling.model.types import Progress
from findling.store.local import soundness


def names(store: Path) -> set[str]:
    return {path.name for path in store.iterdir() if not path.name.endswith(("-wal", "-shm", ".lock"))}


def test_the_old_index_answers_until_the_new_one_is_whole(tmp_path: Path) -> None:
    root = make(tmp_path / "p", SMALL)
    with Engine.open(root=root) as engine, Engine.open(root=root) as reader:
        engine.index()
        before = places(reader.search("RetryPolicy"))
        stood = names(engine.store_dir)
        meanwhile: list[object] = []

        def look(progress: Progress) -> None:
            if not meanwhile:
                found = reader.search("RetryPolicy")
                meanwhile.extend((places(found), found.freshness, found.completeness))

        report = engine.index(force=True, progress=look)
        assert meanwhile == [before, "fresh", "complete"]
        assert (report.store, report.changed) == (str(engine.store_dir), len(SMALL))
        assert names(engine.store_dir) == stood
        assert places(reader.search("RetryPolicy")) == places(engine.search("RetryPolicy")) == before
        assert integrity(engine) == "ok"


def test_whoever_is_interrupted_still_has_the_old_one(tmp_path: Path) -> None:
    root = make(tmp_path / "p", SMALL)
    with Engine.open(root=root) as engine:
        engine.index()
        identity, stood = (engine.store_dir / "index.db").stat().st_ino, names(engine.store_dir)

        def stop(progress: Progress) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            engine.index(force=True, progress=stop)
        assert (engine.store_dir / "index.db").stat().st_ino == identity
        assert names(engine.store_dir) == stood
        assert engine.search("RetryPolicy", wait_s=0.0).hits


def test_what_a_killed_process_left_goes_and_what_is_being_built_stays(tmp_path: Path) -> None:
    root = make(tmp_path / "p", SMALL)
    with Engine.open(root=root) as engine:
        engine.index()
        left = engine.store_dir / "findling-anew-of-somebody"
        left.mkdir()
        (left / "index.db").write_bytes(b"half")
        with soundness.beside(engine.store_dir, wait_s=0.0) as folder:
            write(root, "src/more.py", "def more(): ...\n")
            engine.sync()
            assert folder.is_dir()
            assert not left.exists()
        assert not folder.exists()


def test_another_writer_is_waited_for_and_then_the_index_is_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make(tmp_path / "p", SMALL)
    monkeypatch.setattr("findling.engine.runs.WRITER_WAIT_S", 0.2)
    with Engine.open(root=root) as engine:
        engine.index()
        held, done = threading.Event(), threading.Event()

        def hold() -> None:
            lock = soundness.WriterLock(engine.store_dir, wait_s=1.0)
            held.set()
            done.wait()
            lock.release()

        other = threading.Thread(target=hold)
        other.start()
        assert held.wait(10)
        try:
            with pytest.raises(errors.IndexBusy):
                engine.index(force=True)
        finally:
            done.set()
            other.join()
        assert engine.search("RetryPolicy", wait_s=0.0).hits
        assert not list(engine.store_dir.glob("findling-anew-*"))


def test_questions_of_others_are_answered_while_it_is_built_over_and_over(tmp_path: Path) -> None:
    root = make(tmp_path / "p", SMALL)
    with Engine.open(root=root) as engine:
        engine.index()
        over, seen = threading.Event(), []

        def ask(wait_s: float | None) -> None:
            while not over.is_set():
                try:
                    with Engine.open(root=root) as other:
                        for _ in range(3):
                            found = other.search("RetryPolicy", wait_s=wait_s)
                            seen.append((bool(found.hits), found.notes))
                except Exception as error:
                    seen.append((False, (repr(error),)))

        others = [threading.Thread(target=ask, args=(wait_s,)) for wait_s in (0.0, 1.5)]
        for other in others:
            other.start()
        try:
            reports = [engine.index(force=True, embed=False) for _ in range(6)]
        finally:
            over.set()
            for other in others:
                other.join()
    assert [report.files for report in reports] == [len(SMALL)] * 6
    assert set(seen) == {(True, ())}

"""An index that is built anew is built beside the old one, which answers until the other is whole."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from indexes import SMALL, integrity, make, places, write

from findling import Engine, errors
from findling.store import rebuilding
from findling.types import Progress


def names(store: Path) -> set[str]:
    return {path.name for path in store.iterdir() if not path.name.endswith(("-wal", "-shm"))}


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
        left = engine.store_dir / "anew-of-somebody"
        left.mkdir()
        (left / "index.db").write_bytes(b"half")
        with rebuilding.beside(engine.store_dir) as folder:
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
            lock = rebuilding.WriterLock(engine.store_dir, wait_s=1.0)
            held.set()
            done.wait()
            lock.release()

        other = threading.Thread(target=hold)
        other.start()
        held.wait()
        try:
            with pytest.raises(errors.IndexBusy):
                engine.index(force=True)
        finally:
            done.set()
            other.join()
        assert engine.search("RetryPolicy", wait_s=0.0).hits
        assert not list(engine.store_dir.glob("anew-*"))

"""What is looked at again before a question, and what that may cost; what cannot be looked at at all."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from indexes import make, write

from findling import Engine
from findling.engine import freshness, indexer
from findling.model import errors
from findling.model.types import SkippedFile
from findling.outbound.files import Files, stamp_of
from findling.reading import pool
from findling.reading.pool import Answer
from findling.store.local.lock import WriterLock


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path / "root")


def test_a_file_that_failed_is_looked_at_when_it_is_changed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(root, {"odd.py": "def first():\n    pass\n"})
    add = indexer._Run._write

    def failing(self: indexer._Run, content: indexer._Content, answer: Answer) -> None:
        died = content.file.path == "odd.py"
        add(self, content, SkippedFile("odd.py", "failed", "its worker process died") if died else answer)

    with Engine.open(root=root) as engine:
        with monkeypatch.context() as patch:
            patch.setattr(indexer._Run, "_write", failing)
            assert [file.path for file in engine.index().failed] == ["odd.py"]
        assert not engine.symbols("first", wait_s=0).definitions
        write(root, "odd.py", "def edited_since():\n    pass\n")
        assert [file.path for file in engine.grep("edited_since").files] == ["odd.py"]


def test_a_file_that_is_written_all_the_time_keeps_no_other_from_its_vectors(root: Path) -> None:
    with Engine.open(root=root) as engine:
        engine.index(embed=False)
        write(root, "log.txt", "The first line.\n")
        found = engine.search("how an old entry is thrown away", mode="semantic", wait_s=60.0)
        assert found.coverage.embedded_chunks == found.coverage.chunks
        assert "src/cache.py" in [hit.path for hit in found.hits]


def test_a_question_waits_a_moment_for_another_writer(root: Path) -> None:
    with Engine.open(root=root) as engine:
        engine.index()
        write(root, "new.py", "def newcomer():\n    pass\n")
        begun = threading.Event()

        def hold() -> None:
            writer = WriterLock(engine.store_dir, wait_s=0)
            begun.set()
            time.sleep(0.1)
            writer.release()

        other = threading.Thread(target=hold)
        other.start()
        begun.wait()
        found = engine.search("newcomer", mode="keyword", wait_s=60.0)
        other.join()
    assert (found.freshness, [hit.path for hit in found.hits][:1]) == ("fresh", ["new.py"])


def test_how_long_a_question_waits_for_a_writer() -> None:
    far = time.monotonic() + 60
    assert freshness.writer_wait_s(far, freshness.BUSY_WAIT_S) == freshness.BUSY_WAIT_S
    assert freshness.writer_wait_s(time.monotonic() - 1, freshness.BUSY_WAIT_S) == 0
    assert freshness.writer_wait_s(None, freshness.BUSY_WAIT_S) == freshness.WRITER_WAIT_S


def test_the_first_batch_is_waited_for(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that starts slowly costs one question time, and not every question its newest files."""
    start = pool.Worker.start

    def slow(self: pool.Worker) -> object:
        time.sleep(0.2)
        return start(self)

    with Engine.open(root=root) as engine:
        engine.index()
        write(root, "new.py", "def newcomer():\n    pass\n")
        monkeypatch.setattr(indexer, "_FIRST_BATCH_S", 60.0)
        monkeypatch.setattr(pool.Worker, "start", slow)
        report = indexer.Indexer(root, engine.store_dir).sync(paths=["new.py"], deadline=time.monotonic())
        assert (report.changed, report.complete) == (1, True)


def test_what_cannot_be_read_is_not_tried_at_every_question(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, broken = indexer.read_file, {"src/cache.py"}
    tries: list[str] = []

    def failing(files: Files, path: str, most: int) -> object:
        if path in broken:
            tries.append(path)
            return SkippedFile(path, "unreadable", "Input/output error")
        return read(files, path, most)

    monkeypatch.setattr(indexer, "read_file", failing)
    with Engine.open(root=root) as engine:
        engine.index(embed=False)
        for _ in range(4):
            assert engine.search("evict", mode="keyword").coverage.skipped == {"unreadable": 1}
        assert tries == ["src/cache.py"] * 2, "when all was indexed, and once more"
        broken.clear()
        monkeypatch.setattr(freshness, "UNREAD_PAUSE_S", 0.0)
        engine._store.unread_until.clear()
        assert engine.search("evict", mode="keyword").hits[0].path == "src/cache.py"


def test_only_runs_are_followed_by_another_look(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Engine.open(root=root) as engine:
        engine.index()
        look, clock = freshness._look, [0.0]
        looks: list[int] = []

        class Time:
            @staticmethod
            def monotonic() -> float:
                return clock[0]

        def slow(*arguments: object) -> object:
            looks.append(1)
            clock[0] += 2 * freshness.LONG_RUN_S
            return look(*arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(freshness, "time", Time)
        monkeypatch.setattr(freshness, "_look", slow)
        assert engine.symbols("first").freshness == "fresh"
        assert len(looks) == 1


@pytest.mark.parametrize("path", ["bad\udcff.py", "x" * 300, "a/" * 3_000, "a\0b"])
def test_what_cannot_be_a_path_is_refused(path: str, root: Path) -> None:
    with Engine.open(root=root) as engine:
        engine.index()
        with pytest.raises(errors.InvalidInput):
            engine.sync([path])
        with pytest.raises(errors.FindlingError):
            engine.similar(path)


def test_what_others_put_beside_the_index_stays(root: Path) -> None:
    with Engine.open(root=root) as engine:
        engine.index()
        write(engine.store_dir, "notes/mine.txt", "mine")
        write(engine.store_dir, "todo.txt", "mine")
        engine.index(force=True)
        assert (engine.store_dir / "notes/mine.txt").exists()
        assert (engine.store_dir / "todo.txt").exists()


def test_a_document_of_too_many_passages_is_named(tmp_path: Path) -> None:
    """S1-48."""
    parts = "".join(f"# Part {number}\n\nIt says {number}.\n\n" for number in range(510))
    root = make(tmp_path / "root", {"long.md": parts, "short.md": "# Short\n", "data.csv": "1,2\n" * 50_000})
    with Engine.open(root=root) as engine:
        notes = engine.index(embed=False).notes
        assert [note.partition(":")[0] for note in notes] == ["long.md"]
        assert "500 passages" in notes[0]
        assert engine.index(embed=False).notes == ()


def test_no_step_of_one_time_of_a_file_makes_up_for_a_step_of_the_other() -> None:
    def at(mtime_ns: int, ctime_ns: int) -> int:
        return stamp_of(SimpleNamespace(st_mtime_ns=mtime_ns, st_ctime_ns=ctime_ns))  # type: ignore[arg-type]

    now = time.time_ns()
    stamps = {at(now + step * one, now + step * other) for step in range(1_000) for one in (-1, 1) for other in (-1, 1)}
    assert len(stamps) == 1 + 999 * 4
    assert min(stamps) >= 0


def test_a_content_that_changed_behind_the_same_size_and_time_is_found(root: Path) -> None:
    write(root, "kept.py", "def first_name():\n    pass\n")
    file, beside = root / "kept.py", root / "beside.py"
    with Engine.open(root=root) as engine:
        engine.index()
        before = file.stat()
        file.write_text(file.read_text().replace("first", "other"))
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        found = engine.search("other_name", mode="keyword")
        assert (found.freshness, [hit.path for hit in found.hits][:1]) == ("fresh", ["kept.py"])
        before = file.stat()
        beside.write_text(file.read_text().replace("other", "third"))
        os.utime(beside, ns=(before.st_atime_ns, before.st_mtime_ns))
        beside.replace(file)
        assert engine.search("third_name", mode="keyword").hits[0].path == "kept.py"


def test_other_rights_cost_a_look_at_the_content_and_nothing_else(root: Path) -> None:
    with Engine.open(root=root) as engine:
        engine.index()
        for file in root.glob("src/*"):
            file.chmod(0o600)
        report = engine.sync()
        assert (report.chunks, report.embedded, report.removed) == (0, 0, 0)
        assert engine.sync().bytes_read == 0

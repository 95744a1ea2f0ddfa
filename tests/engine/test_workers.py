"""A worker that hangs or dies costs one file; nothing of ours is left behind, however a run ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from indexes import SMALL, make, write

from findling import Engine
from findling.engine import indexer
from findling.engine.indexer import Indexer
from findling.faces.cli.main import main
from findling.model.reading import Reading
from findling.model.types import FileState, Progress, SkippedFile
from findling.reading import pool as pool_module
from findling.reading import worker_process
from findling.reading.pool import Task, WorkerPool
from findling.store.local.reader import IndexReader
from findling.store.local.writer import IndexWriter

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks at /proc"),
    pytest.mark.usefixtures("workers_start_anew"),
]

CODE = b"def answer():\n    return 42\n"


def children() -> set[int]:
    """Processes that this one started and that have not ended."""
    found = set()
    for entry in os.listdir("/proc"):
        try:
            stat = Path("/proc", entry, "stat").read_text() if entry.isdigit() else ""
        except OSError:
            continue
        fields = stat.rpartition(")")[2].split()
        if fields and int(fields[1]) == os.getpid() and fields[0] != "Z":
            found.add(int(entry))
    return found


def descriptors() -> set[str]:
    found = set()
    for number in os.listdir("/proc/self/fd"):
        try:
            found.add(os.readlink(f"/proc/self/fd/{number}"))
        except OSError:
            continue
    return found


def await_that(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.005)


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    processes, threads = children(), threading.active_count()
    yield
    await_that(lambda: children() <= processes)
    await_that(lambda: threading.active_count() <= threads)


def answers_of(pool: WorkerPool) -> dict[int, Reading | SkippedFile]:
    found: dict[int, Reading | SkippedFile] = {}
    while pool.in_flight:
        found.update(pool.collect() or ())
    return found


def tasks(count: int) -> list[Task]:
    return [Task(number, f"f{number}.py", CODE + b"# %d\n" % number) for number in range(count)]


def test_a_killed_worker_is_replaced_and_no_file_is_lost() -> None:
    before = children()
    with WorkerPool(1) as pool:
        pool.warm_up()
        (worker,) = children() - before
        os.kill(worker, signal.SIGKILL)
        pool.submit(tasks(5))
        answers = answers_of(pool)
        assert worker not in children()
    assert sorted(answers) == list(range(5))
    assert all(isinstance(answer, Reading) for answer in answers.values())


def test_a_worker_that_was_given_much_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "_REPLACED_AFTER_BYTES", 2 * len(CODE))
    before = children()
    with WorkerPool(1) as pool:
        pool.warm_up()
        (first,) = children() - before
        for number in range(3):
            pool.submit([Task(number, f"f{number}.py", CODE)])
        assert sorted(answers_of(pool)) == [0, 1, 2]
        (second,) = children() - before
        assert second != first


def test_a_command_that_names_a_file_leaves_no_worker_behind(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "def named():\n    return 1\n")
    named = str(tmp_path / "a.py")
    for _ in range(2):  # the second time nothing has changed, and nobody needs the worker
        assert main(["sync", "--root", str(tmp_path), named]) == 0
    with Engine.open(root=tmp_path) as engine:
        assert engine.symbols("named").definitions
    assert main(["sync", "--root", str(tmp_path / "nowhere"), named]) == 2


def test_a_stopped_worker_overruns_its_time_and_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "_BATCH_S", 0.3)
    monkeypatch.setattr(pool_module, "_WALL_FACTOR", 1)
    before = children()
    with WorkerPool(1) as pool:
        pool.warm_up()
        (worker,) = children() - before
        os.kill(worker, signal.SIGSTOP)
        pool.submit(tasks(3))
        answers = answers_of(pool)
    assert all(isinstance(answer, Reading) for answer in answers.values())
    assert len(answers) == 3


def test_a_worker_that_gets_no_processor_for_long_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "_BATCH_S", 1.0)
    monkeypatch.setattr(pool_module, "_WALL_FACTOR", 1000)
    before = children()
    with WorkerPool(1) as pool:
        pool.warm_up()
        (worker,) = children() - before
        os.kill(worker, signal.SIGSTOP)
        pool.submit([Task(1, "f.py", CODE)])
        threading.Timer(1.2, os.kill, (worker, signal.SIGCONT)).start()
        assert isinstance(answers_of(pool)[1], Reading)
        assert children() - before == {worker}


def test_a_worker_that_uses_up_its_processor_time_is_ended() -> None:
    program = "from findling.reading.worker import limit_time; limit_time(0.1)\nwhile True: pass"
    ended = subprocess.run([sys.executable, "-c", program], timeout=120, check=False)
    assert ended.returncode == -signal.SIGXCPU


class Assassin(threading.Thread):
    """Kills or stops every worker soon after it starts, as a file that no grammar survives would."""

    def __init__(self, known: set[int], number: signal.Signals) -> None:
        super().__init__(daemon=True)
        self.known = known
        self.number = number
        self.ended = threading.Event()

    def run(self) -> None:
        while not self.ended.is_set():
            for child in children() - self.known:
                try:
                    # Not before it runs a program of its own: until then its parent waits for it within the fork.
                    if b"findling.reading.worker" in Path("/proc", str(child), "cmdline").read_bytes():
                        os.kill(child, self.number)
                except OSError:
                    continue
            time.sleep(0.005)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_file_whose_worker_always_ends_is_reported(monkeypatch: pytest.MonkeyPatch, number: signal.Signals) -> None:
    monkeypatch.setattr(pool_module, "_BATCH_S", 0.2)
    monkeypatch.setattr(pool_module, "_FILE_S", 0.2)
    monkeypatch.setattr(pool_module, "_WALL_FACTOR", 1)
    assassin = Assassin(children(), number)
    with WorkerPool(1) as pool:
        assassin.start()
        pool.submit(tasks(2))
        answers = answers_of(pool)
        assassin.ended.set()
        assassin.join()
        assert {type(answer) for answer in answers.values()} == {SkippedFile}
        assert {answer.reason for answer in answers.values() if isinstance(answer, SkippedFile)} == {"failed"}
        monkeypatch.undo()
        pool.submit([Task(7, "later.py", CODE)])
        assert isinstance(answers_of(pool)[7], Reading)


def test_an_answer_cut_off_in_the_middle_counts_as_a_death(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # A program in the worker's place that ends after half an answer, the first time it is started.
    flag = tmp_path / "started"
    fake = tmp_path / "half_an_answer.py"
    fake.write_text(
        "import sys, os, pickle, struct, pathlib\n"
        f"flag = pathlib.Path({str(flag)!r})\n"
        "if flag.exists():\n"
        f"    os.execv({sys.executable!r}, [{sys.executable!r}, '-c', {worker_process.PROGRAM!r}])\n"
        "flag.touch()\n"
        "sys.stdin.buffer.read(4)\n"
        "body = pickle.dumps(['x' * 1000])\n"
        "sys.stdout.buffer.write(struct.pack('<I', len(body)) + body[: len(body) // 2])\n"
        "sys.stdout.buffer.flush()\n"
    )
    started = subprocess.Popen

    def popen(command: list[str], **options: object) -> subprocess.Popen[bytes]:
        return started([command[0], str(fake)], **options)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(subprocess, "Popen", popen)
    with WorkerPool(1) as pool:
        pool.submit(tasks(2))
        answers = answers_of(pool)
    assert flag.exists()
    assert [type(answers[key]) for key in (0, 1)] == [Reading, Reading]


def test_a_worker_that_cannot_be_started_is_reported_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def popen(*_: object, **__: object) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(subprocess, "Popen", popen)
    with WorkerPool(1) as pool:
        pool.submit(tasks(1))
        assert isinstance(answers_of(pool)[0], SkippedFile)


def test_leaving_early_ends_workers_that_are_busy() -> None:
    with WorkerPool(2) as pool:
        for number in range(6):
            pool.submit([Task(number, "long.py", CODE * 20_000)])
    assert pool.in_flight == 6


def test_an_interrupted_run_leaves_no_process_and_gives_the_writer_role_back(tmp_path: Path) -> None:
    root = make(tmp_path / "p")
    store = tmp_path / "store"
    store.mkdir()

    def interrupt(progress: Progress) -> None:
        if progress.stage == "indexing":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Indexer(root, store, on_progress=interrupt, workers=2).sync()
    assert standing(root, store) == (False, len(SMALL)), "what was done is kept"
    report = Indexer(root, store, workers=1).sync()
    assert report.complete
    assert report.files == len(SMALL)


def standing(root: Path, store: Path) -> tuple[bool, int]:
    """Whether all of ``root`` is in the index, and how many files are."""
    reader = IndexReader(store, str(root))
    with reader.snapshot():
        manifest = reader.manifest
    reader.close()
    return (False, 0) if manifest is None else (manifest.complete, manifest.files)


def test_a_run_that_is_interrupted_while_it_writes_a_file_leaves_none_by_halves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make(tmp_path / "p")
    store = tmp_path / "store"
    store.mkdir()
    link = IndexWriter.link

    def interrupted(self: IndexWriter, manifest: int, file: FileState, *rest: Any) -> None:
        if file.path == "src/retry.py":
            raise KeyboardInterrupt
        link(self, manifest, file, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(IndexWriter, "link", interrupted)
        with pytest.raises(KeyboardInterrupt):
            Indexer(root, store, workers=1).sync()
    assert standing(root, store)[1] == 0
    assert Indexer(root, store, workers=1).sync().files == len(SMALL)


def test_a_long_run_is_committed_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make(tmp_path / "p", {f"m{number}.py": f"def f{number}():\n    pass\n" for number in range(6)})
    store = tmp_path / "store"
    store.mkdir()
    monkeypatch.setattr(indexer, "_TASK_FILES", 2)
    monkeypatch.setattr(indexer, "_FIRST_COMMIT_S", 0.0)
    monkeypatch.setattr(indexer, "_COMMIT_S", 0.0)
    seen: list[tuple[bool, int]] = []

    def look(progress: Progress) -> None:
        if progress.stage == "indexing":
            seen.append(standing(root, store))

    Indexer(root, store, on_progress=look, workers=1).sync()
    assert seen == [(False, 0), (False, 2), (False, 4)]
    assert standing(root, store) == (True, 6)


def test_a_closed_engine_holds_nothing_open(tmp_path: Path) -> None:
    root = make(tmp_path / "p")
    before = descriptors()
    engine = Engine.open(root=root)
    for number in range(3):
        write(root, "new.py", f"def added_{number}(): pass\n")
        assert engine.search(f"added_{number}", mode="symbol").hits
        assert engine.grep(f"added_{number}").total_lines == 1
    engine.close()
    left = [name for name in descriptors() - before if str(tmp_path) in name]
    assert left == []

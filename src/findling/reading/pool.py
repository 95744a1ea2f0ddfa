"""Worker processes: a hanging or crashing parser costs one file, never the run.

Work goes in as batches of files and comes back in any order.
A batch whose worker dies or overruns its time is tried again file by file; the file that does it again is prepared
without its syntax tree, and if even that fails it is reported.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from findling.model.format_names import format_of
from findling.model.reading import Embedded, Reading
from findling.model.types import SkippedFile
from findling.reading.worker_process import COMMENTS, DOCUMENTED, VECTORS, Child

if TYPE_CHECKING:
    from findling.reading.limits import ChunkLimits
    from findling.reading.syntax_docs import Documented

_BATCH_S = 20.0
"""Processor time for a batch of about a megabyte. The parser itself gives up on a file after one second."""

_FILE_S = 6.0
"""Processor time for a single file on the second try."""

_CONVERT_S = 40.0
"""Processor time for a converted document. The converter itself gives up after fifteen seconds of processor time."""

_WALL_FACTOR = 1 if sys.platform == "win32" else 10
"""A worker is ended after so many times its time by the clock: it may hang without using the processor. Where the
system limits processor time, a machine with much else to do must not cost a file."""

_REPLACED_AFTER_BYTES = 18_000_000
"""Source text after which a worker is replaced by a new one: py-tree-sitter (0.26.1) never frees the text that a parser
has read, which came to half a gigabyte a worker on a large corpus. A new one is ready in a quarter of a second."""

_MAX_WORKERS = 8
"""More feed the one writer faster than it writes."""

Answer = Reading | Embedded | SkippedFile


class Task(Struct, frozen=True):
    """A file to prepare: ``key`` comes back with the answer."""

    key: int
    path: str
    data: bytes


class Worker(Child):
    """A worker process that reads files. ``asked``: see `worker_process`. ``answered_bytes``: how much it has read so
    far."""

    def __init__(self, asked: str = "") -> None:
        super().__init__()
        self.answered_bytes = 0
        self._asked = asked
        self._given = 0

    def ask(self, files: Sequence[tuple[str, bytes, bool]], time_s: float) -> list[Answer | str] | None:
        """The answers, or None when the process could not be started or died. It is ended when it needs more than
        ``time_s`` of processor time."""
        answers = self.exchange((self._asked, files, time_s), time_s * _WALL_FACTOR)
        given = sum(len(data) for _, data, _ in files)
        self._given += given
        self.answered_bytes += given if answers is not None else 0
        if self._given >= _REPLACED_AFTER_BYTES:
            self.stop()
        return cast("list[Answer | str] | None", answers)

    def ask_one(self, path: str, data: bytes, time_s: float) -> object | None:
        """The answer on one file, or None."""
        answers = self.ask([(path, data, True)], time_s)
        return None if answers is None or isinstance(answers[0], str) else answers[0]

    def stop(self) -> None:
        super().stop()
        self._given = 0


def start_ahead(limits: ChunkLimits | None = None, *, vectors: bool = False) -> Worker:
    """A worker for a pool with the same ``limits`` and ``vectors``, started now, so that it imports while its parent
    does. A context."""
    worker = Worker(_asked(limits, vectors))
    with suppress(OSError):  # who needs a worker later reports that there is none
        worker.start()
    return worker


def _asked(limits: ChunkLimits | None, vectors: bool) -> str:
    return (VECTORS if vectors else "") + (limits.id if limits is not None else "")


class WorkerPool:
    """``size`` workers behind two queues. A context; leaving it kills the workers.

    ``limits``: how files are cut. ``vectors``: make the bundled model's vectors, too. ``ahead``: a worker that was
    started before.
    """

    def __init__(
        self,
        size: int | None = None,
        *,
        limits: ChunkLimits | None = None,
        vectors: bool = False,
        ahead: Worker | None = None,
    ) -> None:
        self.size = size or max(1, min(os.cpu_count() or 1, _MAX_WORKERS))
        self._tasks: queue.SimpleQueue[list[Task] | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[list[tuple[int, Answer]]] = queue.SimpleQueue()
        self._pages = limits is not None and limits.pages
        first = [ahead] if ahead is not None else []
        self._workers = [*first, *(Worker(_asked(limits, vectors)) for _ in range(self.size - len(first)))]
        self._threads: list[threading.Thread] = []
        self._closed = False
        self.in_flight = 0

    def warm_up(self, count: int | None = None) -> None:
        """Start workers before there is work, so that they import while files are listed."""
        with suppress(OSError):  # `collect` reports the files that needed a worker
            for worker in self._workers[:count]:
                worker.start()

    def keep(self, count: int) -> None:
        """Use at most ``count`` workers. Before anything is submitted."""
        self.size = min(self.size, count)

    def submit(self, batch: list[Task]) -> None:
        if len(self._threads) < self.size:
            worker = self._workers[len(self._threads)]
            thread = threading.Thread(target=self._serve, args=(worker,), daemon=True)
            self._threads.append(thread)
            thread.start()
        self.in_flight += 1
        self._tasks.put(batch)

    def collect(self, timeout_s: float | None = None) -> list[tuple[int, Answer]] | None:
        """The answers of one batch, or None when none came within the time."""
        try:
            answers = self._answers.get(timeout=timeout_s)
        except queue.Empty:
            return None
        self.in_flight -= 1
        return answers

    def close(self) -> None:
        self._closed = True
        for _ in self._threads:
            self._tasks.put(None)
        for worker in self._workers:
            worker.end()  # threads that wait for an answer get none
        for thread in self._threads:
            thread.join()
        for worker in self._workers:
            worker.stop()

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _serve(self, worker: Worker) -> None:
        while (batch := self._tasks.get()) is not None and not self._closed:
            try:
                answers = self._prepare(worker, batch)
            except Exception as error:  # noqa: BLE001 - whoever collects waits for an answer to each batch
                problem = f"{type(error).__name__}: {error}"
                answers = [(task.key, SkippedFile(task.path, "failed", problem)) for task in batch]
            self._answers.put(answers)

    def _prepare(self, worker: Worker, batch: list[Task]) -> list[tuple[int, Answer]]:
        converted = sum(bool(format_of(task.path, pages=self._pages)) for task in batch)
        time_s = _BATCH_S + (_CONVERT_S if converted else 0.0)
        answers = worker.ask([(task.path, task.data, True) for task in batch], time_s)
        if answers is not None:
            return [(task.key, _settle(task, answer)) for task, answer in zip(batch, answers, strict=True)]
        found: list[tuple[int, Answer]] = []
        for task in batch:
            if self._closed:
                break
            found.append((task.key, self._prepare_alone(worker, task)))
        return found

    def _prepare_alone(self, worker: Worker, task: Task) -> Answer:
        if format_of(task.path, pages=self._pages):
            answers = worker.ask([(task.path, task.data, False)], _CONVERT_S)
            if answers is not None:
                return _settle(task, answers[0])
            # Not `failed`: the next run would try it again, and lose as much time.
            return SkippedFile(task.path, "broken_document", "its reader crashed, or took too much time or memory")
        for with_syntax in (True, False):
            answers = worker.ask([(task.path, task.data, with_syntax)], _FILE_S)
            if answers is not None:
                return _settle(task, answers[0])
        return SkippedFile(task.path, "failed", "its worker process died or ran out of time twice")


class CommentFinder(Worker):
    """Finds the comments of source files in a worker process. A context."""

    def __init__(self) -> None:
        super().__init__(COMMENTS)

    def spans(self, path: str, text_utf8: bytes) -> list[tuple[int, int]] | None:
        """As `syntax_docs.comment_spans`; None also when the process had to be ended."""
        return cast("list[tuple[int, int]] | None", self.ask_one(path, text_utf8, _FILE_S))


class DocFinder(Worker):
    """Finds documented definitions in a worker process. A context."""

    def __init__(self) -> None:
        super().__init__(DOCUMENTED)

    def documented(self, path: str, text_utf8: bytes) -> list[Documented] | None:
        """As `syntax_docs.documented`; None also when the process had to be ended."""
        return cast("list[Documented] | None", self.ask_one(path, text_utf8, _BATCH_S))


def _settle(task: Task, answer: Answer | str) -> Answer:
    if isinstance(answer, str):
        return SkippedFile(task.path, "failed", answer)
    return answer

"""The recipe of indexing: what changed -> read -> known content? -> prepare in workers -> write in batches.

`Indexer.sync` brings the manifest of a folder up to date; `embedding_pass.embed` fills in vectors behind it. Both can
be stopped by a deadline or a kill at any moment and go on from there at the next call.
"""

from __future__ import annotations

import hashlib
import posixpath
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from findling import tokenizer
from findling.ingest import discovery
from findling.ingest.pool import Answer, Task, WorkerPool
from findling.ingest.prepare import Prepared
from findling.ingest.reading import read_file
from findling.store.schema import FAILED, UNREAD
from findling.store.writer import IndexWriter
from findling.types import FileState, IndexReport, Progress, SkippedFile

_TASK_BYTES = 256_000
"""Source text per message to a worker: large enough that the pipe's cost vanishes, small enough to share evenly."""

_TASK_FILES = 64

_COMMIT_BYTES = 48_000_000
"""Source text per transaction. Each commit costs about 0.2 s and a segment of the text index; a kill loses one."""

_COMMIT_FILES = 4000

_QUEUED_PER_WORKER = 2
"""Batches waiting for each worker: enough never to idle, few enough to stop quickly and to bound memory."""

_STOP_MARGIN_S = 0.25
"""Kept free before a deadline for committing what was done."""

_LARGE_RUN = 400
"""From this many files on the text index gets its large buffer and is merged afterwards."""

Order = Callable[[list[discovery.Found]], list[discovery.Found]]


@dataclass(slots=True)
class _Run:
    """Counters of one run."""

    started: float = field(default_factory=time.monotonic)
    files: int = 0
    changed: int = 0
    seen: int = 0
    removed: int = 0
    chunks: int = 0
    symbols: int = 0
    bytes_read: int = 0
    batch_bytes: int = 0
    batch_files: int = 0
    skipped: list[SkippedFile] = field(default_factory=list)
    failed: list[SkippedFile] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Indexer:
    """Indexes one folder into one store. ``on_progress`` is called from the calling thread."""

    def __init__(
        self,
        root: Path,
        store: Path,
        *,
        options: discovery.DiscoveryOptions | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        workers: int | None = None,
    ) -> None:
        self._root = root
        self._store = store
        self._options = options or discovery.DiscoveryOptions()
        self._progress = on_progress or (lambda _: None)
        self._workers = workers

    def sync(
        self,
        *,
        paths: Sequence[str] | None = None,
        force: bool = False,
        deadline: float | None = None,
        order: Order | None = None,
        wait_s: float = 0.0,
        unlisted: Sequence[SkippedFile] | None = None,
    ) -> IndexReport:
        """Index what is new or changed and forget what is gone.

        ``paths`` names the files to look at (relative to the root) instead of the whole folder. ``force`` reads
        every file again. ``deadline`` (monotonic seconds) ends the run early with what is done; then the report's
        ``complete`` is False. ``order`` decides which files come first. ``wait_s`` is how long to wait for another
        writer (`IndexBusy` after that). ``unlisted``: what a listing of everything left out, if ``paths`` are from one.
        """
        run = _Run()
        with WorkerPool(self._workers) as pool:
            pool.warm_up(None if paths is None else min(1, len(paths)))
            writer = IndexWriter(self._store, large=paths is None, wait_s=wait_s)
            try:
                manifest = writer.manifest(str(self._root))
                was_complete, was_pending = writer.state(manifest)
                known = writer.known_files(manifest, None if paths is None else [posixpath.normpath(p) for p in paths])
                found, gone, skipped, notes = self._changes(known, paths, force)
                run.notes.extend(notes)
                run.skipped.extend(skipped)
                run.removed = writer.remove(manifest, gone) if gone else 0
                unlisted = skipped if paths is None else unlisted
                if unlisted is not None:
                    writer.replace_unlisted(manifest, unlisted)
                if order is not None:
                    found = order(found)
                left = self._index(writer, manifest, pool, found, run, deadline)
                if found or gone or paths is None:
                    whole = paths is None or was_complete  # named files say nothing about the others
                    writer.finish(manifest, complete=whole and not left, pending=left if whole else was_pending)
                if paths is None:
                    writer.forget_missing_roots()
                writer.commit()
                run.files = writer.file_count(manifest)
                writer.flush_trigrams(_MIN_SEGMENT)
                if paths is None and len(found) >= _LARGE_RUN and not left:
                    writer.settle()
                if run.changed or run.removed:
                    writer.collect_garbage()
            finally:
                writer.close()
        return self._report(run, left)

    def _changes(
        self, known: dict[str, tuple[int, int]], paths: Sequence[str] | None, force: bool
    ) -> tuple[list[discovery.Found], list[str], list[SkippedFile], tuple[str, ...]]:
        """What to index, what is gone, what is left out and why, and what there is to say about the listing."""
        self._progress(Progress("listing", 0, 0))
        if paths is not None:
            looked = discovery.look_at(self._root, paths, {} if force else known, self._options)
            return looked.found, looked.gone, looked.skipped, ()
        if force or not known:
            listing = discovery.discover(self._root, self._options)
            names = {path for path, _, _ in listing.files}
            return listing.files, [path for path in known if path not in names], listing.skipped, listing.notes
        changes = discovery.check(self._root, known, self._options, None)
        return [*changes.added, *changes.changed], changes.removed, changes.skipped, changes.notes

    def _index(
        self,
        writer: IndexWriter,
        manifest: int,
        pool: WorkerPool,
        found: list[discovery.Found],
        run: _Run,
        deadline: float | None,
    ) -> int:
        """Index ``found``; the number of files left over when the deadline came."""
        stop_at = None if deadline is None else deadline - _STOP_MARGIN_S
        states: dict[int, tuple[FileState, bytes]] = {}
        batches = self._tasks(writer, manifest, found, states, run)
        exhausted = False
        while True:
            late = stop_at is not None and time.monotonic() >= stop_at
            while not exhausted and not late and pool.in_flight < pool.size * _QUEUED_PER_WORKER:
                batch = next(batches, None)
                if batch is None:
                    exhausted = True
                elif batch:
                    pool.submit(batch)
                late = stop_at is not None and time.monotonic() >= stop_at
            if late or (exhausted and not pool.in_flight):
                break
            timeout = None if stop_at is None else max(0.0, stop_at - time.monotonic())
            answers = pool.collect(timeout)
            if answers is None:
                continue
            for key, answer in answers:
                file, digest = states.pop(key)
                self._write(writer, manifest, file, digest, answer, run)
            self._progress(Progress("indexing", run.changed, len(found), run.bytes_read))
            self._commit_if_full(writer, run)
        return len(found) - run.seen

    def _commit_if_full(self, writer: IndexWriter, run: _Run) -> None:
        if run.batch_bytes >= _COMMIT_BYTES or run.batch_files >= _COMMIT_FILES or writer.batch_is_full:
            writer.commit()
            writer.flush_trigrams(_FULL_SEGMENT)
            run.batch_bytes = run.batch_files = 0

    def _tasks(
        self,
        writer: IndexWriter,
        manifest: int,
        found: Iterable[discovery.Found],
        states: dict[int, tuple[FileState, bytes]],
        run: _Run,
    ) -> Iterator[list[Task]]:
        """Read files; yield those whose content is new in batches, link the rest."""
        batch: list[Task] = []
        size = 0
        for key, (path, _, _) in enumerate(found):
            read = read_file(self._root, path, self._options.max_bytes)
            if isinstance(read, SkippedFile):
                run.seen += 1
                if read.reason == "not_found":
                    run.removed += writer.remove(manifest, [path])
                    continue
                run.failed.append(read)
                writer.skip(manifest, FileState(path, 0, UNREAD), read.reason, read.detail)
                continue
            file, data = read
            run.bytes_read += len(data)
            digest = hashlib.sha256(data).digest()
            entry = writer.entry_of(path, digest)
            if entry is not None:
                writer.link(manifest, file, entry)
                run.changed += 1
                run.seen += 1
                run.batch_files += 1
                if run.seen % _TASK_FILES == 0:
                    yield []  # the caller looks at the clock
                continue
            states[key] = (file, digest)
            batch.append(Task(key, path, data))
            size += len(data)
            if size >= _TASK_BYTES or len(batch) >= _TASK_FILES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _write(
        self, writer: IndexWriter, manifest: int, file: FileState, digest: bytes, answer: Answer, run: _Run
    ) -> None:
        run.changed += 1
        run.seen += 1
        run.batch_files += 1
        run.batch_bytes += file.size
        if isinstance(answer, Prepared):
            writer.add(manifest, file, digest, answer)
            run.chunks += len(answer.chunks)
            run.symbols += len(answer.symbols)
            return
        if answer.reason == "failed":  # perhaps the machine's fault and not the file's: the next full run tries again
            file = FileState(file.path, file.size, FAILED)
        writer.skip(manifest, file, answer.reason, answer.detail)
        (run.failed if answer.reason == "failed" else run.skipped).append(answer)

    def _report(self, run: _Run, left: int) -> IndexReport:
        return IndexReport(
            root=str(self._root),
            store=str(self._store),
            files=run.files,
            changed=run.changed,
            removed=run.removed,
            chunks=run.chunks,
            symbols=run.symbols,
            embedded=0,
            bytes_read=run.bytes_read,
            skipped=tuple(run.skipped),
            failed=tuple(run.failed),
            complete=not left,
            took_ms=(time.monotonic() - run.started) * 1000,
            notes=tuple(run.notes),
        )


def by_query(text: str) -> Order:
    """Files whose path has words of a question first, then the newest: what a first answer most likely needs."""
    asked = set(tokenizer.terms(text))

    def order(found: list[discovery.Found]) -> list[discovery.Found]:
        def key(file: discovery.Found) -> tuple[int, int]:
            return -len(asked.intersection(tokenizer.terms(file[0]))), -file[2]

        return sorted(found, key=key)

    return order


_MIN_SEGMENT = 256
"""At the end of a run this many uncovered files are worth a segment; fewer are simply read by each exact search."""

_FULL_SEGMENT = 4096

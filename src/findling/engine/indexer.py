"""The recipe of indexing: what changed -> read -> known content? -> prepare in workers -> write in batches.

`Indexer.sync` brings the manifest of a folder up to date; `embedding_pass.embed` fills in vectors behind it. Both can
be stopped by a deadline or a kill at any moment and go on from there at the next call.
"""

from __future__ import annotations

import hashlib
import posixpath
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field

from findling.config import roots
from findling.engine.embedded_readings import EmbeddedReadings
from findling.model.marks import PAGES
from findling.model.plurals import count
from findling.model.reading import Embedded
from findling.model.text_encodings import CONVERTED
from findling.model.types import FileState, IndexReport, OnProgress, Progress, SkippedFile, TreeState
from findling.outbound.files import Files, RootFiles
from findling.reading.limits import ChunkLimits
from findling.reading.pool import Answer, Task, Worker, WorkerPool
from findling.reading.spans import MAX_CHUNKS, MAX_PLACED_CHUNKS, too_many
from findling.sources import discovery
from findling.sources.git_objects import ObjectFormat, RefFiles, content_id, list_tree, object_format, staged
from findling.sources.looking import Changes, read_file
from findling.sources.named_paths import look_at
from findling.sources.selection import DiscoveryOptions, Found
from findling.sources.tracked import TrackedListing
from findling.store.local.schema import FAILED, UNREAD
from findling.store.local.writer import IndexWriter

if TYPE_CHECKING:
    from findling.embedding import Fingerprint

_TASK_BYTES = 256_000
"""Source text per message to a worker: large enough that the pipe's cost vanishes, small enough to share evenly."""

_TASK_FILES = 64

_WORKER_BYTES = 500_000
"""Source text for which another worker is worth its start: in the time that starting takes about as much is read."""

_COMMIT_BYTES = 48_000_000
"""Source text per transaction. Each commit costs about 0.2 s and a segment of the text index; a kill loses one."""

_COMMIT_FILES = 4000

_FIRST_COMMIT_S, _COMMIT_S = 3.0, 10.0
"""Seconds from one commit to the next, whatever little there is by then: so much is lost with a process that is killed,
and so long other processes wait for something to answer from."""

_HURRIED_FILES = 8
"""Files in a batch where there is a deadline: what a worker has begun when it comes is lost."""

_QUEUED_PER_WORKER = 2
"""Batches waiting for each worker: enough never to idle, few enough to stop quickly and to bound memory."""

_LEAST_S = 1.0
"""Half as long as the listing took, but not longer, files are taken in even if it took all the time there was: else a
question about a very large folder on a slow machine would never get on, however often it is asked."""

_FIRST_BATCH_S = 2.0
"""The first batch is waited for at most so long after the deadline: where starting a worker takes longer than a
question has, none would ever get on."""

_STOP_MARGIN_S = 0.25
"""Kept free before a deadline for committing what was done."""

_PATIENCE_S = 0.5
"""How long workers are waited for before looking whether the run was interrupted."""

_MEANWHILE_S = 0.5
"""With less time before a deadline nothing else is done while workers are busy: their answers would be lost."""

_LARGE_RUN = 400
"""From this many files on the text index gets its large buffer and, after a whole run, is merged."""

_GROWN_SHOWN = 3
"""Documents that are named because they reached the greatest number of chunks."""

_KEPT_REFS = 8
"""Refs that are kept indexed, the newest: what an older one shares with these costs nothing to index again."""


class _Content(NamedTuple):
    """A file that is being prepared: its state, its SHA-256, and what git calls it."""

    file: FileState
    digest: bytes
    git_id: bytes | None


class Indexer(Struct):
    """Indexes one folder into one store, at each call of `sync` anew. ``on_progress`` is called from the calling
    thread.

    ``limits``: how files are cut; the same for all of a store's life. ``manifest_key``: root and
    ref of the manifest; a commit is indexed as it is in git, whatever is on disk. ``meanwhile`` is called once if
    contents are new, while workers are busy with the first. ``ahead``: a worker that was started before
    (`pool.start_ahead`), for one run. ``vectors``: the bundled model's fingerprint, where new contents are to get its
    vectors at once.
    """

    root: Path
    store: Path
    options: DiscoveryOptions = DiscoveryOptions()
    on_progress: OnProgress = lambda _: None
    workers: int | None = None
    limits: ChunkLimits = ChunkLimits()
    manifest_key: tuple[str, str] | None = None
    meanwhile: Callable[[], None] | None = None
    ahead: Worker | None = None
    vectors: Fingerprint | None = None

    def sync(
        self,
        *,
        paths: Sequence[str] | None = None,
        deadline: float | None = None,
        wait_s: float = 0.0,
        unlisted: Sequence[SkippedFile] | None = None,
        tree: TreeState | None = None,
    ) -> IndexReport:
        """Index what is new or changed and forget what is gone.

        ``paths`` names the files to look at (relative to the root) instead of the whole folder. ``deadline``
        (monotonic seconds) ends the run early with what is done; then the report's ``complete`` is False. ``wait_s`` is
        how long to wait for another writer (`IndexBusy` after that).
        ``unlisted`` and ``tree``: what a listing of everything left out, and what it depended on, if ``paths`` are from
        one.
        """
        started = time.monotonic()
        vectors = self.vectors is not None
        with WorkerPool(self.workers, limits=self.limits, vectors=vectors, ahead=self.ahead) as pool:
            if paths is not None:
                pool.warm_up(min(1, len(paths)))
            with closing(IndexWriter(self.store, wait_s=wait_s)) as writer:
                writer.note_chunking(self.limits.id)
                root, ref = self.manifest_key or (str(self.root), roots.LIVE)
                run = _Run(
                    self,
                    pool,
                    writer,
                    writer.manifest(root, ref),
                    None if ref == roots.LIVE else ref,
                    deadline,
                    started,
                    files=RootFiles(self.root),
                )
                try:
                    return run.report(run.take_in(paths, unlisted, tree))
                finally:
                    run.files.close()


class _Run(Struct):
    """One run of an `Indexer` (``of``): what it works with, and what it has done so far. ``files`` is where it reads,
    ``git_ids`` what git calls their contents, as far as that is known."""

    of: Indexer
    pool: WorkerPool
    writer: IndexWriter
    manifest: int
    commit: str | None
    deadline: float | None
    started: float
    files: Files
    git_ids: Mapping[str, bytes] = {}
    git_format: ObjectFormat | None = None
    vectors: EmbeddedReadings | None = None
    found: list[Found] = []
    """What is to be indexed."""
    waiting: dict[int, _Content] = {}
    """Those that workers have, by their place in ``found``."""

    changed: int = 0
    refused: int = 0
    """Of the changed files those that are left out because of what is in them."""
    seen: int = 0
    removed: int = 0
    chunks: int = 0
    symbols: int = 0
    bytes_read: int = 0
    batch_bytes: int = 0
    batch_files: int = 0
    interrupted: bool = False
    """Whether the run is to end (Ctrl-C) when no file is half written."""
    midway: bool = False
    """Whether rows of a file are being written."""

    commit_at: float = field(default_factory=lambda: time.monotonic() + _FIRST_COMMIT_S)
    skipped: list[SkippedFile] = []
    failed: list[SkippedFile] = []
    notes: list[str] = []
    grown: list[tuple[str, int]] = []
    """Documents with as many chunks as there may be, and how many that is."""
    pages: int = 0

    def take_in(
        self, paths: Sequence[str] | None, unlisted: Sequence[SkippedFile] | None, tree: TreeState | None
    ) -> int:
        """As `Indexer.sync`; the number of files left over when the deadline came."""
        writer, pool, manifest, deadline = self.writer, self.pool, self.manifest, self.deadline
        with ExitStack() as begun:
            # Not before the writer role is taken: another writer may know of files that git has not seen by then.
            listing = discovery.begin(self.of.root, self.of.options) if paths is None and not self.commit else None
            if listing is not None:
                begun.enter_context(listing)
            if self.of.vectors is not None:
                self.vectors = EmbeddedReadings(writer, self.of.vectors)
            was_complete, was_pending = writer.state(manifest)
            known = writer.known_files(manifest, None if paths is None else [posixpath.normpath(p) for p in paths])
            if self.commit is None:
                self.git_format = object_format(self.of.root)
            begins = paths is None and not known
            adopts = begins and self.git_format is not None and writer.has_others(manifest)
            if begins and not adopts:
                pool.warm_up(1)
            self.of.on_progress(Progress("listing", 0, 0))
            if self.commit is not None:
                gone, skipped = self._list_commit(self.commit)
            else:
                changes = self._changes(known, paths, listing)
                self.found, gone, skipped = changes.files, changes.removed, changes.skipped or []
                self.notes += changes.notes
                tree = changes.tree if paths is None else tree
                if self.found and adopts:
                    pool.warm_up(1)  # some are not taken over, such as those whose contents are left out
                    self.found = self._adopt(None if deadline is None else deadline - _STOP_MARGIN_S)
        self.skipped += skipped
        self.removed = writer.remove(manifest, gone) if gone else 0
        unlisted = skipped if paths is None else unlisted
        if unlisted is not None:
            writer.replace_unlisted(manifest, unlisted)
        self.found.sort(key=lambda file: file[0].endswith(_PAGES_LIKE))
        pool.keep(1 + sum(size for _, size, _ in self.found) // _WORKER_BYTES)
        writer.large = len(self.found) >= _LARGE_RUN
        whole = paths is None or was_complete  # named files say nothing about the others
        try:
            with self._interrupts_noted():
                left = self._index(begins=whole and not was_complete)
        except KeyboardInterrupt:
            if not self.midway:  # else what was done since the last commit is left: a file is whole or absent
                pending = len(self.found) - self.seen
                writer.finish(manifest, complete=False, pending=pending if whole else was_pending)
                writer.commit()
            raise
        if self.found or gone or paths is None:
            writer.finish(manifest, complete=whole and not left, pending=left if whole else was_pending)
        # Nobody waits for an answer then: what was only theirs is deleted, and that may take a moment.
        roots_gone = writer.forget_missing_roots() if paths is None and deadline is None else 0
        if self.commit is not None:
            writer.note_wanted(manifest, self.of.options.id)
            writer.forget_refs(_KEPT_REFS, keep=manifest)
        writer.commit()
        if tree is not None and not left:
            writer.note_tree(manifest, tree)
        if paths is None and len(self.found) >= _LARGE_RUN and not left:
            writer.settle()
        if (self.changed or self.removed or roots_gone) and not left:  # what is left may find its vectors here
            writer.collect_garbage(everything=roots_gone > 0)
        return left

    @contextmanager
    def _interrupts_noted(self) -> Iterator[None]:
        """Ctrl-C is noted, for the run to end where no file is half written; a second one ends it at once. Where
        somebody else handles it, or in another thread than the main one, nothing is done."""
        handled = signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        if handled or threading.current_thread() is not threading.main_thread():
            yield
            return

        def note(*_: object) -> None:
            if self.interrupted:
                raise KeyboardInterrupt
            self.interrupted = True

        signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _stop_if_interrupted(self) -> None:
        """To be called where no file is half written. Raises `KeyboardInterrupt`."""
        if self.interrupted:
            self.midway = False
            raise KeyboardInterrupt

    # --- what is to be indexed ------------------------------------------------------------------------------

    def _list_commit(self, commit: str) -> tuple[list[str], list[SkippedFile]]:
        """Find what of a commit's files is to be indexed; what is gone, and what is left out. A new manifest begins as
        the most similar one there is."""
        tree = list_tree(self.of.root, commit, self.of.options)
        self.files, self.git_ids = RefFiles(self.of.root, commit, tree.git_ids), tree.git_ids
        standing = self.writer.standing(self.manifest)
        if not standing and (nearest := self.writer.nearest(self.manifest, tree.git_ids)) is not None:
            other, files = nearest
            same = {path: 0 for path, file in files.items() if tree.git_ids.get(path) == file.git_id}
            self.writer.begin_from(self.manifest, other, files, same)
            standing = {path: files[path] for path in same}
        self.found = [
            file for file in tree.files if file[0] not in standing or standing[file[0]].git_id != tree.git_ids[file[0]]
        ]
        return [path for path in standing if path not in tree.git_ids], tree.skipped

    def _adopt(self, stop_at: float | None) -> list[Found]:
        """Let the manifest of a work tree, still empty, begin as the most similar one there is, as far as their files
        are the same; which of ``found`` are left to index. What was not read by ``stop_at`` (monotonic seconds) is
        left."""
        git_ids = staged(self.of.root)
        nearest = self.writer.nearest(self.manifest, git_ids) if git_ids else None
        if nearest is None or self.git_format is None:
            return self.found
        other, files = nearest
        same: dict[str, int] = {}
        left: list[Found] = []
        for one in self.found:
            path, size, _ = one
            file = files.get(path)
            alike = file is not None and file.git_id == git_ids.get(path, b"") and file.size == size
            if file is not None and alike and (stop_at is None or time.monotonic() < stop_at):
                read = read_file(self.files, path, self.of.options.limit(path))
                if not isinstance(read, SkippedFile) and content_id(read[1], self.git_format) == file.git_id:
                    same[path] = read[0].stamp
                    continue
            left.append(one)
        self.writer.begin_from(self.manifest, other, files, same)
        return left

    def _changes(
        self, known: dict[str, tuple[int, int]], paths: Sequence[str] | None, begun: TrackedListing | None
    ) -> Changes:
        """What differs on disk from what is known."""
        root, options = self.of.root, self.of.options
        if paths is not None:
            return look_at(root, paths, known, options)
        # what has changed is most likely to be prepared, and a worker imports what it needs while the rest is compared
        return discovery.check(root, known, options, None, begun=begun, on_change=partial(self.pool.warm_up, 1))

    # --- indexing it ----------------------------------------------------------------------------------------

    def _index(self, *, begins: bool) -> int:
        """Index what was found; the number of files left over when the deadline came.

        ``begins``: the manifest has never been complete; how many files it lacks is noted on the way.
        """
        now, pool, meanwhile = time.monotonic(), self.pool, self.of.meanwhile
        least_s = min(_LEAST_S, (now - self.started) / 2)
        stop_at = None if self.deadline is None else max(self.deadline - _STOP_MARGIN_S, now + least_s)
        if begins and stop_at is not None:  # other questions that came meanwhile have nothing else to answer from
            self.commit_at = min(self.commit_at, now + (stop_at - now) / 2)
        batches = self._tasks(_TASK_FILES if stop_at is None else min(_TASK_FILES, _HURRIED_FILES))
        exhausted = False
        answered = late = False  # the first batch is begun in any case
        while True:
            while not exhausted and not late and pool.in_flight < pool.size * _QUEUED_PER_WORKER:
                self.midway = True
                batch = next(batches, None)
                self.midway = False
                if batch is None:
                    exhausted = True
                elif batch:
                    pool.submit(batch)
                    if meanwhile is not None and (stop_at is None or time.monotonic() < stop_at - _MEANWHILE_S):
                        meanwhile()
                        meanwhile = None
                late = stop_at is not None and time.monotonic() >= stop_at
            if exhausted and not pool.in_flight:
                break
            end_at = stop_at
            if stop_at is not None and pool.in_flight and not answered:
                end_at = stop_at + _FIRST_BATCH_S
            if end_at is not None and time.monotonic() >= end_at:
                break
            patience_s = _PATIENCE_S if end_at is None else max(0.0, min(_PATIENCE_S, end_at - time.monotonic()))
            answers = pool.collect(patience_s)
            self._stop_if_interrupted()
            late = stop_at is not None and time.monotonic() >= stop_at
            if answers is None:
                continue
            answered = True
            self.midway = True
            for key, answer in answers:
                self._write(self.waiting.pop(key), answer)
                self._stop_if_interrupted()
            if self.vectors is not None:
                self.vectors.put()
            self.midway = False
            self.of.on_progress(Progress("indexing", self.changed, len(self.found)))
            if self._is_due:
                if begins:
                    self.writer.finish(self.manifest, complete=False, pending=len(self.found) - self.seen)
                self.writer.commit()
                self.batch_bytes = self.batch_files = 0
                self.commit_at = time.monotonic() + _COMMIT_S
        self._stop_if_interrupted()
        return len(self.found) - self.seen

    @property
    def _is_due(self) -> bool:
        """Whether it is time for a commit."""
        full = self.batch_bytes >= _COMMIT_BYTES or self.batch_files >= _COMMIT_FILES or self.writer.batch_is_full
        return full or (self.batch_files > 0 and time.monotonic() >= self.commit_at)

    def _tasks(self, most: int) -> Iterator[list[Task]]:
        """Read files; yield those whose content is new in batches of at most ``most``, link the rest."""
        writer, manifest = self.writer, self.manifest
        batch: list[Task] = []
        size = 0
        for key, (path, size_listed, _) in enumerate(self.found):
            self._stop_if_interrupted()
            git_id = self.git_ids.get(path)
            file = FileState(path, size_listed, 0)
            entry = writer.entry_by_git(path, git_id) if git_id is not None and size_listed else None
            if entry is None:
                read = read_file(self.files, path, self.of.options.limit(path))
                if isinstance(read, SkippedFile):
                    self.seen += 1
                    if read.reason == "not_found":
                        self.removed += writer.remove(manifest, [path])
                        continue
                    self.failed.append(read)
                    writer.skip(manifest, FileState(path, 0, UNREAD), read.reason, read.detail)
                    continue
                file, data = read
                self.bytes_read += len(data)
                digest = hashlib.sha256(data).digest()
                if self.git_format is not None:
                    git_id = content_id(data, self.git_format)
                entry = writer.entry_of(path, digest)
                if entry is None:
                    self.waiting[key] = _Content(file, digest, git_id)
                    batch.append(Task(key, path, data))
                    size += len(data)
                    if size >= _TASK_BYTES or len(batch) >= most:
                        yield batch
                        batch, size = [], 0
                    continue
                if git_id is not None:
                    writer.note_git_id(entry, git_id)
            writer.link(manifest, file, entry)
            self._count(0)
            if self.seen % _TASK_FILES == 0:
                yield []  # the caller looks at the clock
        if batch:
            yield batch

    def _count(self, size: int) -> None:
        """Count a file of whose content ``size`` bytes are new."""
        self.changed += 1
        self.seen += 1
        self.batch_files += 1
        self.batch_bytes += size

    def _write(self, content: _Content, answer: Answer) -> None:
        file = content.file
        self._count(file.size)
        if not isinstance(answer, SkippedFile):
            reading = answer.reading if isinstance(answer, Embedded) else answer
            entry_id = self.writer.add(self.manifest, file, content.digest, reading, content.git_id)
            if isinstance(answer, Embedded) and self.vectors is not None:
                self.vectors.add(entry_id, file.path, answer)
            self.chunks += len(reading.chunks)
            self.symbols += len(reading.symbols)
            most = MAX_PLACED_CHUNKS if reading.encoding == CONVERTED else MAX_CHUNKS
            self.pages += reading.generated and reading.language == PAGES
            if reading.kind == "docs" and too_many(reading.chunks, most):
                self.grown.append((file.path, most))
            return
        self.refused += 1
        if answer.reason == "failed":  # perhaps the machine's fault and not the file's: the next full run tries again
            file = FileState(file.path, file.size, FAILED - file.stamp)
        self.writer.skip(self.manifest, file, answer.reason, answer.detail)
        (self.failed if answer.reason == "failed" else self.skipped).append(answer)

    def report(self, left: int) -> IndexReport:
        """What was done, with so many files left over. Before the writer is closed."""
        return IndexReport(
            root=str(self.of.root),
            store=str(self.of.store),
            files=self.writer.file_count(self.manifest),
            changed=self.changed - self.refused,
            removed=self.removed,
            chunks=self.chunks,
            symbols=self.symbols,
            embedded=self.vectors.chunks if self.vectors is not None else 0,
            bytes_read=self.bytes_read,
            skipped=tuple(self.skipped),
            failed=tuple(self.failed),
            complete=not left,
            took_ms=(time.monotonic() - self.started) * 1000,
            notes=(*self.notes, *_said_of_grown(self.grown), *_said_of_pages(self.pages)),
        )


def _said_of_grown(grown: Sequence[tuple[str, int]]) -> Iterator[str]:
    """A sentence for each of the first, and one for the rest."""
    for path, most in grown[:_GROWN_SHOWN]:
        yield f"{path}: split into {most:,} passages (the limit per file), so they may be longer than others."
    if len(grown) > _GROWN_SHOWN:
        yield f"The same applies to {count(len(grown) - _GROWN_SHOWN, 'more document')}."


_PAGES_LIKE = (".html", ".htm")
"""What is often made of sources, and then comes last."""


def _said_of_pages(pages: int) -> Iterator[str]:
    if pages:
        what = count(pages, "page") + " of generated documentation"
        yield f"{what}: only the first passages are indexed; exact searches read all of the text."

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
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
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
from findling.model.types import FileState, IndexReport, Progress, SkippedFile, TreeState
from findling.outbound.files import Files, RootFiles
from findling.reading.pool import Answer, Task, Worker, WorkerPool
from findling.reading.spans import MAX_CHUNKS, MAX_PLACED_CHUNKS, too_many
from findling.sources import discovery
from findling.sources.git_objects import ObjectFormat, RefFiles, content_id, list_tree, object_format, staged
from findling.sources.looking import read_file
from findling.sources.named_paths import look_at
from findling.sources.selection import DiscoveryOptions, Found
from findling.sources.tracked import TrackedListing
from findling.store.local.schema import FAILED, UNREAD
from findling.store.local.writer import IndexWriter

if TYPE_CHECKING:
    from findling.embedding import Fingerprint
    from findling.reading.limits import ChunkLimits

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


class _Run(Struct):
    """Counters of one run."""

    started: float = field(default_factory=time.monotonic)
    files: int = 0
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

    def take_in(self, size: int) -> None:
        """Count a file of whose content ``size`` bytes are new."""
        self.changed += 1
        self.seen += 1
        self.batch_files += 1
        self.batch_bytes += size

    def stop_if_interrupted(self) -> None:
        """To be called where no file is half written. Raises `KeyboardInterrupt`."""
        if self.interrupted:
            self.midway = False
            raise KeyboardInterrupt


@contextmanager
def _interrupts_noted(run: _Run) -> Iterator[None]:
    """Ctrl-C is noted, for the run to end where no file is half written; a second one ends it at once. Where somebody
    else handles it, or in another thread than the main one, nothing is done."""
    handled = signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    if handled or threading.current_thread() is not threading.main_thread():
        yield
        return

    def note(*_: object) -> None:
        if run.interrupted:
            raise KeyboardInterrupt
        run.interrupted = True

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class Indexer:
    """Indexes one folder into one store. ``on_progress`` is called from the calling thread.

    ``limits``: how files are cut, None for the default; the same for all of a store's life. ``manifest_key``: root and
    ref of the manifest; a commit is indexed as it is in git, whatever is on disk. ``meanwhile`` is called once if
    contents are new, while workers are busy with the first. ``ahead``: a worker that was started before
    (`pool.start_ahead`), for one run. ``vectors``: the bundled model's fingerprint, where new contents are to get its
    vectors at once.
    """

    def __init__(
        self,
        root: Path,
        store: Path,
        *,
        options: DiscoveryOptions | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        workers: int | None = None,
        limits: ChunkLimits | None = None,
        manifest_key: tuple[str, str] | None = None,
        meanwhile: Callable[[], None] | None = None,
        ahead: Worker | None = None,
        vectors: Fingerprint | None = None,
    ) -> None:
        self._root = root
        self._fingerprint = vectors
        self._vectors: EmbeddedReadings | None = None
        self._key = manifest_key or (str(root), roots.LIVE)
        self._commit = None if self._key[1] == roots.LIVE else self._key[1]
        self._meanwhile = meanwhile
        self._ahead = ahead
        self._files: Files = RootFiles(root)
        self._git_ids: dict[str, bytes] = {}
        self._format: ObjectFormat | None = None
        self._store = store
        self._options = options or DiscoveryOptions()
        self._progress = on_progress or (lambda _: None)
        self._workers = workers
        self._limits = limits

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
        run = _Run()
        with (
            WorkerPool(
                self._workers, limits=self._limits, vectors=self._fingerprint is not None, ahead=self._ahead
            ) as pool,
            ExitStack() as begun,
        ):
            if paths is not None:
                pool.warm_up(min(1, len(paths)))
            writer = IndexWriter(self._store, wait_s=wait_s)
            try:
                # Not before the writer role is taken: another writer may know of files that git has not seen by then.
                listing = discovery.begin(self._root, self._options) if paths is None and not self._commit else None
                if listing is not None:
                    begun.enter_context(listing)
                writer.note_chunking(self._limits.id if self._limits else "")
                manifest = writer.manifest(*self._key)
                if self._fingerprint is not None:
                    self._vectors = EmbeddedReadings(writer, self._fingerprint)
                was_complete, was_pending = writer.state(manifest)
                known = writer.known_files(manifest, None if paths is None else [posixpath.normpath(p) for p in paths])
                if self._commit is None:
                    self._format = object_format(self._root)
                begins = paths is None and not known
                adopts = begins and self._format is not None and writer.has_others(manifest)
                if begins and not adopts:
                    pool.warm_up(1)
                if self._commit is not None:
                    found, gone, skipped, notes = self._of_commit(writer, manifest, self._commit)
                else:
                    found, gone, skipped, notes, listed = self._changes(known, paths, listing, pool)
                    tree = listed if paths is None else tree
                    if found and adopts:
                        pool.warm_up(1)  # some are not taken over, such as those whose contents are left out
                        found = self._adopt(
                            writer, manifest, found, None if deadline is None else deadline - _STOP_MARGIN_S
                        )
                run.notes.extend(notes)
                run.skipped.extend(skipped)
                run.removed = writer.remove(manifest, gone) if gone else 0
                unlisted = skipped if paths is None else unlisted
                if unlisted is not None:
                    writer.replace_unlisted(manifest, unlisted)
                found.sort(key=lambda file: file[0].endswith(_PAGES_LIKE))
                pool.keep(1 + sum(size for _, size, _ in found) // _WORKER_BYTES)
                writer.large = len(found) >= _LARGE_RUN
                whole = paths is None or was_complete  # named files say nothing about the others
                try:
                    with _interrupts_noted(run):
                        left = self._index(
                            writer, manifest, pool, found, run, deadline, begins=whole and not was_complete
                        )
                except KeyboardInterrupt:
                    if not run.midway:  # else what was done since the last commit is left: a file is whole or absent
                        pending = len(found) - run.seen
                        writer.finish(manifest, complete=False, pending=pending if whole else was_pending)
                        writer.commit()
                    raise
                if found or gone or paths is None:
                    writer.finish(manifest, complete=whole and not left, pending=left if whole else was_pending)
                # Nobody waits for an answer then: what was only theirs is deleted, and that may take a moment.
                roots_gone = writer.forget_missing_roots() if paths is None and deadline is None else 0
                if self._commit is not None:
                    writer.note_wanted(manifest, self._options.id)
                    writer.forget_refs(_KEPT_REFS, keep=manifest)
                writer.commit()
                if tree is not None and not left:
                    writer.note_tree(manifest, tree)
                run.files = writer.file_count(manifest)
                if paths is None and len(found) >= _LARGE_RUN and not left:
                    writer.settle()
                if (run.changed or run.removed or roots_gone) and not left:  # what is left may find its vectors here
                    writer.collect_garbage(everything=roots_gone > 0)
            finally:
                self._files.close()
                writer.close()
        return self._report(run, left)

    def _of_commit(
        self, writer: IndexWriter, manifest: int, commit: str
    ) -> tuple[list[Found], list[str], list[SkippedFile], tuple[str, ...]]:
        """As `_changes`, of a commit's files. A new manifest begins as the most similar one there is."""
        self._progress(Progress("listing", 0, 0))
        tree = list_tree(self._root, commit, self._options)
        self._files = RefFiles(self._root, commit, tree.git_ids)
        self._git_ids = tree.git_ids
        standing = writer.standing(manifest)
        if not standing and (nearest := writer.nearest(manifest, tree.git_ids)) is not None:
            other, files = nearest
            same = {path: 0 for path, file in files.items() if tree.git_ids.get(path) == file.git_id}
            writer.begin_from(manifest, other, files, same)
            standing = {path: files[path] for path in same}
        found = [
            file for file in tree.files if file[0] not in standing or standing[file[0]].git_id != tree.git_ids[file[0]]
        ]
        return found, [path for path in standing if path not in tree.git_ids], tree.skipped, ()

    def _adopt(self, writer: IndexWriter, manifest: int, found: list[Found], stop_at: float | None) -> list[Found]:
        """Let the manifest of a work tree, still empty, begin as the most similar one there is, as far as their files
        are the same; which of ``found`` are left to index. What was not read by ``stop_at`` (monotonic seconds) is
        left."""
        git_ids = staged(self._root)
        nearest = writer.nearest(manifest, git_ids) if git_ids else None
        if nearest is None or self._format is None:
            return found
        other, files = nearest
        same: dict[str, int] = {}
        left: list[Found] = []
        for one in found:
            path, size, _ = one
            file = files.get(path)
            alike = file is not None and file.git_id == git_ids.get(path, b"") and file.size == size
            if file is not None and alike and (stop_at is None or time.monotonic() < stop_at):
                read = read_file(self._files, path, self._options.limit(path))
                if not isinstance(read, SkippedFile) and content_id(read[1], self._format) == file.git_id:
                    same[path] = read[0].stamp
                    continue
            left.append(one)
        writer.begin_from(manifest, other, files, same)
        return left

    def _changes(
        self,
        known: dict[str, tuple[int, int]],
        paths: Sequence[str] | None,
        begun: TrackedListing | None,
        pool: WorkerPool,
    ) -> tuple[list[Found], list[str], list[SkippedFile], tuple[str, ...], TreeState | None]:
        """What to index, what is gone, what is left out and why, what there is to say about the listing, and what it
        depended on."""
        self._progress(Progress("listing", 0, 0))
        if paths is not None:
            looked = look_at(self._root, paths, known, self._options)
            return looked.found, looked.gone, looked.skipped, (), None
        if not known:
            listing = discovery.discover(self._root, self._options, begun=begun)
            return listing.files, [], listing.skipped, listing.notes, listing.tree
        # what has changed is most likely to be prepared, and a worker imports what it needs while the rest is compared
        changes = discovery.check(
            self._root, known, self._options, None, begun=begun, on_change=partial(pool.warm_up, 1)
        )
        skipped = changes.skipped or []  # of a whole listing it is never None
        return [*changes.added, *changes.changed], changes.removed, skipped, changes.notes, changes.tree

    def _index(
        self,
        writer: IndexWriter,
        manifest: int,
        pool: WorkerPool,
        found: list[Found],
        run: _Run,
        deadline: float | None,
        *,
        begins: bool,
    ) -> int:
        """Index ``found``; the number of files left over when the deadline came.

        ``begins``: the manifest has never been complete; how many files it lacks is noted on the way.
        """
        now = time.monotonic()
        least_s = min(_LEAST_S, (now - run.started) / 2)
        stop_at = None if deadline is None else max(deadline - _STOP_MARGIN_S, now + least_s)
        if begins and stop_at is not None:  # other questions that came meanwhile have nothing else to answer from
            run.commit_at = min(run.commit_at, now + (stop_at - now) / 2)
        states: dict[int, _Content] = {}
        most = _TASK_FILES if stop_at is None else min(_TASK_FILES, _HURRIED_FILES)
        batches = self._tasks(writer, manifest, found, states, run, most)
        exhausted = False
        answered = late = False  # the first batch is begun in any case
        while True:
            while not exhausted and not late and pool.in_flight < pool.size * _QUEUED_PER_WORKER:
                run.midway = True
                batch = next(batches, None)
                run.midway = False
                if batch is None:
                    exhausted = True
                elif batch:
                    pool.submit(batch)
                    if self._meanwhile is not None and (stop_at is None or time.monotonic() < stop_at - _MEANWHILE_S):
                        self._meanwhile()
                        self._meanwhile = None
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
            run.stop_if_interrupted()
            late = stop_at is not None and time.monotonic() >= stop_at
            if answers is None:
                continue
            answered = True
            run.midway = True
            for key, answer in answers:
                self._write(writer, manifest, states.pop(key), answer, run)
                run.stop_if_interrupted()
            if self._vectors is not None:
                self._vectors.put()
            run.midway = False
            self._progress(Progress("indexing", run.changed, len(found)))
            if self._is_due(writer, run):
                if begins:
                    writer.finish(manifest, complete=False, pending=len(found) - run.seen)
                writer.commit()
                run.batch_bytes = run.batch_files = 0
                run.commit_at = time.monotonic() + _COMMIT_S
        run.stop_if_interrupted()
        return len(found) - run.seen

    @staticmethod
    def _is_due(writer: IndexWriter, run: _Run) -> bool:
        """Whether it is time for a commit."""
        full = run.batch_bytes >= _COMMIT_BYTES or run.batch_files >= _COMMIT_FILES or writer.batch_is_full
        return full or (run.batch_files > 0 and time.monotonic() >= run.commit_at)

    def _tasks(
        self,
        writer: IndexWriter,
        manifest: int,
        found: Iterable[Found],
        states: dict[int, _Content],
        run: _Run,
        most: int,
    ) -> Iterator[list[Task]]:
        """Read files; yield those whose content is new in batches of at most ``most``, link the rest."""
        batch: list[Task] = []
        size = 0
        for key, (path, size_listed, _) in enumerate(found):
            run.stop_if_interrupted()
            git_id = self._git_ids.get(path)
            entry = writer.entry_by_git(path, git_id) if git_id is not None and size_listed else None
            if entry is not None:
                writer.link(manifest, FileState(path, size_listed, 0), entry)
                run.take_in(0)
                if run.seen % _TASK_FILES == 0:
                    yield []  # the caller looks at the clock
                continue
            read = read_file(self._files, path, self._options.limit(path))
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
            if self._format is not None:
                git_id = content_id(data, self._format)
            entry = writer.entry_of(path, digest)
            if entry is not None:
                writer.link(manifest, file, entry)
                if git_id is not None:
                    writer.note_git_id(entry, git_id)
                run.take_in(0)
                if run.seen % _TASK_FILES == 0:
                    yield []  # the caller looks at the clock
                continue
            states[key] = _Content(file, digest, git_id)
            batch.append(Task(key, path, data))
            size += len(data)
            if size >= _TASK_BYTES or len(batch) >= most:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _write(self, writer: IndexWriter, manifest: int, content: _Content, answer: Answer, run: _Run) -> None:
        file = content.file
        run.take_in(file.size)
        if not isinstance(answer, SkippedFile):
            reading = answer.reading if isinstance(answer, Embedded) else answer
            entry_id = writer.add(manifest, file, content.digest, reading, content.git_id)
            if isinstance(answer, Embedded) and self._vectors is not None:
                self._vectors.add(entry_id, file.path, answer)
            run.chunks += len(reading.chunks)
            run.symbols += len(reading.symbols)
            most = MAX_PLACED_CHUNKS if reading.encoding == CONVERTED else MAX_CHUNKS
            run.pages += reading.generated and reading.language == PAGES
            if reading.kind == "docs" and too_many(reading.chunks, most):
                run.grown.append((file.path, most))
            return
        run.refused += 1
        if answer.reason == "failed":  # perhaps the machine's fault and not the file's: the next full run tries again
            file = FileState(file.path, file.size, FAILED - file.stamp)
        writer.skip(manifest, file, answer.reason, answer.detail)
        (run.failed if answer.reason == "failed" else run.skipped).append(answer)

    def _report(self, run: _Run, left: int) -> IndexReport:
        return IndexReport(
            root=str(self._root),
            store=str(self._store),
            files=run.files,
            changed=run.changed - run.refused,
            removed=run.removed,
            chunks=run.chunks,
            symbols=run.symbols,
            embedded=self._vectors.chunks if self._vectors is not None else 0,
            bytes_read=run.bytes_read,
            skipped=tuple(run.skipped),
            failed=tuple(run.failed),
            complete=not left,
            took_ms=(time.monotonic() - run.started) * 1000,
            notes=(*run.notes, *_said_of_grown(run.grown), *_said_of_pages(run.pages)),
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

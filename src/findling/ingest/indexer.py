"""The recipe of indexing: what changed -> read -> known content? -> prepare in workers -> write in batches.

`Indexer.sync` brings the manifest of a folder up to date; `embedding_pass.embed` fills in vectors behind it. Both can
be stopped by a deadline or a kill at any moment and go on from there at the next call.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from findling import tokenizer
from findling.files import Files, RootFiles
from findling.ingest import discovery
from findling.ingest.chunks import ChunkLimits
from findling.ingest.git_objects import ObjectFormat, RefFiles, content_id, list_tree, object_format, staged_ids
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

_HURRIED_FILES = 8
"""Files in a batch where there is a deadline: what a worker has begun when it comes is lost."""

_QUEUED_PER_WORKER = 2
"""Batches waiting for each worker: enough never to idle, few enough to stop quickly and to bound memory."""

_LEAST_S = 1.0
"""Half as long as the listing took, but not longer, files are taken in even if it took all the time there was: else a
question about a very large folder on a slow machine would never get on, however often it is asked."""

_STOP_MARGIN_S = 0.25
"""Kept free before a deadline for committing what was done."""

_LARGE_RUN = 400
"""From this many files on the text index gets its large buffer and is merged afterwards."""

_KEPT_REFS = 8
"""Refs that are kept indexed, the newest: what an older one shares with these costs nothing to index again."""

Order = Callable[[list[discovery.Found]], list[discovery.Found]]


class Commit(NamedTuple):
    """What is indexed instead of the folder: a commit's id, and the root that its manifest stands under (one for all
    work trees of a repository)."""

    commit_id: str
    owner: str


class _Content(NamedTuple):
    """A file that is being prepared: its state, its SHA-256, and what git calls it."""

    file: FileState
    digest: bytes
    git_id: bytes | None


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
    """Indexes one folder into one store. ``on_progress`` is called from the calling thread.

    ``limits``: how files are cut; the same for all of a store's life. ``commit``: index that and not what is on disk.
    """

    def __init__(
        self,
        root: Path,
        store: Path,
        *,
        options: discovery.DiscoveryOptions | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        workers: int | None = None,
        limits: ChunkLimits | None = None,
        commit: Commit | None = None,
    ) -> None:
        self._root = root
        self._commit = commit
        self._files: Path | Files = root
        self._git_ids: dict[str, bytes] = {}
        self._format: ObjectFormat | None = None
        self._store = store
        self._options = options or discovery.DiscoveryOptions()
        self._progress = on_progress or (lambda _: None)
        self._workers = workers
        self._limits = limits or ChunkLimits()

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
        with WorkerPool(self._workers, limits=self._limits) as pool:
            if paths is not None:
                pool.warm_up(min(1, len(paths)))
            writer = IndexWriter(self._store, large=paths is None, wait_s=wait_s)
            try:
                writer.note_chunking(self._limits.id)
                if self._commit is None:
                    manifest = writer.manifest(str(self._root))
                else:
                    manifest = writer.manifest(self._commit.owner, self._commit.commit_id)
                was_complete, was_pending = writer.state(manifest)
                known = writer.known_files(manifest, None if paths is None else [posixpath.normpath(p) for p in paths])
                if paths is None and not known:  # else most likely nothing has changed: workers wait for a change
                    pool.warm_up()
                if self._commit is not None:
                    found, gone, skipped, notes = self._of_commit(writer, manifest, self._commit)
                else:
                    found, gone, skipped, notes = self._changes(known, paths, force)
                    if found:
                        self._format = object_format(self._root)
                    if found and paths is None and not known and not force and self._format is not None:
                        found = self._adopt(writer, manifest, found, deadline)
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
                if self._commit is not None:
                    writer.note_wanted(manifest, wanted_id(self._options))
                    writer.forget_refs(_KEPT_REFS, keep=manifest)
                writer.commit()
                run.files = writer.file_count(manifest)
                writer.flush_trigrams(_MIN_SEGMENT)
                if paths is None and len(found) >= _LARGE_RUN and not left:
                    writer.settle()
                if run.changed or run.removed:
                    writer.collect_garbage()
            finally:
                if not isinstance(self._files, Path):
                    self._files.close()
                writer.close()
        return self._report(run, left)

    def _of_commit(
        self, writer: IndexWriter, manifest: int, commit: Commit
    ) -> tuple[list[discovery.Found], list[str], list[SkippedFile], tuple[str, ...]]:
        """As `_changes`, of a commit's files. A new manifest begins as the most similar one there is."""
        self._progress(Progress("listing", 0, 0))
        tree = list_tree(self._root, commit.commit_id, self._options)
        self._files = RefFiles(self._root, commit.commit_id, tree.git_ids)
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

    def _adopt(
        self, writer: IndexWriter, manifest: int, found: list[discovery.Found], deadline: float | None
    ) -> list[discovery.Found]:
        """Let the manifest of a work tree begin as that of another one, as far as their files are the same; what is
        left to index. git says which may be; each is read, as it may have been changed since it was checked out."""
        if self._format is None or not writer.has_others(manifest):
            return found
        git_ids = staged_ids(self._root)
        nearest = writer.nearest(manifest, git_ids) if git_ids else None
        if nearest is None:
            return found
        other, files = nearest
        same: dict[str, int] = {}
        left: list[discovery.Found] = []
        with RootFiles(self._root) as own:
            for path, size, mtime_ns in found:
                file = files.get(path)
                late = deadline is not None and time.monotonic() >= deadline - _STOP_MARGIN_S
                if not late and file is not None and file.git_id == git_ids.get(path, b"") and file.size == size:
                    read = read_file(own, path, self._options.limit(path))
                    if not isinstance(read, SkippedFile) and content_id(read[1], self._format) == file.git_id:
                        same[path] = read[0].mtime_ns
                        continue
                left.append((path, size, mtime_ns))
        writer.begin_from(manifest, other, files, same)
        return left

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
        now = time.monotonic()
        least_s = min(_LEAST_S, (now - run.started) / 2)
        stop_at = None if deadline is None else max(deadline - _STOP_MARGIN_S, now + least_s)
        states: dict[int, _Content] = {}
        most = _TASK_FILES if stop_at is None else min(_TASK_FILES, _HURRIED_FILES)
        batches = self._tasks(writer, manifest, found, states, run, most)
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
                self._write(writer, manifest, states.pop(key), answer, run)
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
        states: dict[int, _Content],
        run: _Run,
        most: int,
    ) -> Iterator[list[Task]]:
        """Read files; yield those whose content is new in batches of at most ``most``, link the rest."""
        batch: list[Task] = []
        size = 0
        for key, (path, size_listed, _) in enumerate(found):
            git_id = self._git_ids.get(path)
            entry = writer.entry_by_git(path, git_id) if git_id is not None and size_listed else None
            if entry is not None:
                writer.link(manifest, FileState(path, size_listed, 0), entry)
                run.changed += 1
                run.seen += 1
                run.batch_files += 1
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
                run.changed += 1
                run.seen += 1
                run.batch_files += 1
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
        run.changed += 1
        run.seen += 1
        run.batch_files += 1
        run.batch_bytes += file.size
        if isinstance(answer, Prepared):
            writer.add(manifest, file, content.digest, answer, content.git_id)
            run.chunks += len(answer.chunks)
            run.symbols += answer.symbol_count
            return
        if answer.reason == "failed":  # perhaps the machine's fault and not the file's: the next full run tries again
            file = FileState(file.path, file.size, FAILED - file.mtime_ns)
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


def wanted_id(options: discovery.DiscoveryOptions) -> str:
    """Tells one word on files from another."""
    return hashlib.sha256(repr(options).encode("utf-8", "surrogatepass")).hexdigest()[:16]


_BEGINNING = 3
"""Letters of a word that no ending touches (`tokenizer.stem`)."""


def by_query(text: str) -> Order:
    """Files whose path has words of a question first, then the newest: what a first answer most likely needs."""
    asked = set(tokenizer.terms(text))
    asked = {term for term in asked if len(term) >= _BEGINNING} or asked  # "do" and "is" say nothing
    # A term begins as its word does, so most paths need not be taken apart.
    may_have = re.compile("|".join(sorted(re.escape(term[:_BEGINNING]) for term in asked)), re.IGNORECASE).search

    def order(found: list[discovery.Found]) -> list[discovery.Found]:
        def key(file: discovery.Found) -> tuple[int, int]:
            if file[0].isascii() and not may_have(file[0]):
                return 0, -file[2]
            return -len(asked.intersection(tokenizer.terms(file[0]))), -file[2]

        return sorted(found, key=key)

    return order


_MIN_SEGMENT = 256
"""At the end of a run this many uncovered files are worth a segment; fewer are simply read by each exact search."""

_FULL_SEGMENT = 4096

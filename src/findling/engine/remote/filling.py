"""Brings a view of a shared store up to date with a folder: what changed -> read -> known content? -> prepare in
workers -> vectors -> publish. All of it is seen at once, or nothing.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from findling import sources
from findling.embedding import BUNDLED, coding_of, takes_documents
from findling.engine.embedded_readings import model_number
from findling.model import errors, vector_codes
from findling.model.format_names import format_of, outlined_as
from findling.model.languages import language_of
from findling.model.marks import secret_in
from findling.model.reading import Embedded, Reading, read_by
from findling.model.text_encodings import CONVERTED
from findling.model.types import FileState, IndexReport, OnProgress, Progress, SkippedFile
from findling.outbound.files import Files, RootFiles
from findling.reading.decoding import HEAD_BYTES, Decoded, decode
from findling.reading.embedded import embedded_texts
from findling.reading.limits import ChunkLimits
from findling.reading.pool import Answer, Task, WorkerPool
from findling.sources import discovery
from findling.sources.looking import Changes, read_file
from findling.sources.selection import DiscoveryOptions, Found
from findling.store import parts
from findling.store.postgresql.reader import is_storable

if TYPE_CHECKING:
    from findling.embedding import Embedder
    from findling.store.postgresql.writer import ViewWriter

_TASK_BYTES, _TASK_FILES = 256_000, 64
"""A batch for a worker."""

_WORKER_BYTES = 1_000_000
"""Source text for which another worker is worth its start."""

_QUEUED = 2
"""Batches that wait for each worker."""

_EMBEDDED_FILES = 100
"""Files whose missing vectors are made together."""

UNLISTED, UNREAD = -1, -2
"""In place of a file's stamp: listing leaves it out; it could not be read, so the next run tries again."""


def recipe_of(limits: ChunkLimits | None) -> str:
    """How files are cut, read and masked, as a view remembers it."""
    return f"{limits.id if limits else ''}/{read_by()}"


class _Run(Struct):
    changed: int = 0
    refused: int = 0
    """Of the changed files those that are left out because of what is in them."""
    removed: int = 0
    chunks: int = 0
    symbols: int = 0
    embedded: int = 0
    copied: int = 0
    bytes_read: int = 0
    skipped: list[SkippedFile] = []
    failed: list[SkippedFile] = []
    notes: list[str] = []


def fill(
    root: Path,
    writer: ViewWriter,
    options: DiscoveryOptions,
    *,
    limits: ChunkLimits | None = None,
    embedder: Embedder | None = None,
    on_progress: OnProgress = lambda _: None,
    store: str = "",
    copies: bool = False,
    commit: str = "",
    embed_anew: Callable[[str], bool] = lambda _: False,
    on_embedded: Callable[[str], None] = lambda _: None,
) -> IndexReport:
    """Publish what a folder holds by now, or a ``commit`` of it, with an ``embedder``'s vectors. ``copies``: contents
    that a collection of the store has are not read again. A user's own files always are: how long it takes must not
    tell what others have. ``embed_anew``: whether the file at a path gets new vectors though it has some.
    ``on_embedded`` is told the path of each file that got vectors."""
    started = time.monotonic()
    run = _Run()
    on_progress(Progress("listing", 0, 0))
    states = writer.states()
    changes = _in_commit(root, commit, options, states) if commit else discovery.check(root, states, options)
    run.removed = writer.remove(changes.removed)
    listed_out = {file.path: file for file in changes.skipped or ()}
    states = writer.states()  # without what was removed, files left out among it
    for path, left_out in listed_out.items():
        if states.get(path) != (0, UNLISTED):
            writer.skip(path, 0, UNLISTED, left_out.reason, left_out.detail)
    if changes.skipped is not None:  # else the same are left out as before
        writer.remove([path for path, (_, stamp) in states.items() if stamp == UNLISTED and path not in listed_out])
    run.skipped += listed_out.values()
    found = [*changes.added, *changes.changed]
    bundled = embedder is not None and embedder.fingerprint.provider == BUNDLED
    model = model_number(writer, embedder.fingerprint) if embedder is not None else None
    pool = WorkerPool(limits=limits, vectors=bundled) if found else None
    with pool or nullcontext():
        if pool is not None:
            pool.keep(1 + sum(size for _, size, _ in found) // _WORKER_BYTES)
            files = sources.RefFiles(root, commit) if commit else RootFiles(root)
            for file, digest, data, answer in _prepared(files, writer, pool, found, options, run, copies=copies):
                on_progress(Progress("indexing", run.changed, len(found)))
                if _put(writer, file, digest, data, answer, run, model, embedder):
                    on_embedded(file.path)
    if embedder is not None and model is not None:
        writer.drop_vectors(model, embed_anew)
        try:
            _embed_lacking(writer, model, embedder, run, on_progress, on_embedded)
        except errors.EmbedderUnavailable as error:
            if copies or writer.dropped_vectors:  # a worker's job is tried again; no vectors must be lost
                raise
            run.notes.append(str(error))  # all else is worth publishing; the next run goes on
    writer.publish()
    if run.copied:
        run.notes.append(f"{run.copied} files are copied from other collections.")
    return IndexReport(
        root=str(root),
        store=store,
        files=writer.files,
        changed=run.changed - run.refused,
        removed=run.removed,
        chunks=run.chunks,
        symbols=run.symbols,
        embedded=run.embedded,
        bytes_read=run.bytes_read,
        skipped=tuple(run.skipped),
        failed=tuple(run.failed),
        complete=True,
        took_ms=(time.monotonic() - started) * 1000,
        notes=(*changes.notes, *run.notes),
    )


def _in_commit(root: Path, commit: str, options: DiscoveryOptions, known: Mapping[str, tuple[int, int]]) -> Changes:
    """How a commit's files differ from those that are known. A file's stamp is the beginning of git's id of it."""
    tree = sources.list_tree(root, commit, options)
    files = {path: (size, int.from_bytes(tree.git_ids[path][:7], "big")) for path, size, _ in tree.files}
    differing = [(path, *state) for path, state in files.items() if known.get(path) != state]
    left_out = {file.path for file in tree.skipped}
    gone = [path for path in known if path not in files and path not in left_out]
    return Changes([], differing, gone, True, tree.skipped, "git")


def _prepared(
    files: Files,
    writer: ViewWriter,
    pool: WorkerPool,
    found: Sequence[Found],
    options: DiscoveryOptions,
    run: _Run,
    *,
    copies: bool,
) -> Iterator[tuple[FileState, bytes, bytes, Answer]]:
    """Each file that is new or changed: its state, the SHA-256 of its bytes, the bytes, and what is known of it."""
    waiting: dict[int, tuple[FileState, bytes, bytes]] = {}

    def answered() -> Iterator[tuple[FileState, bytes, bytes, Answer]]:
        for key, answer in pool.collect() or ():
            yield (*waiting.pop(key), answer)

    def submit() -> None:
        if copies:
            copied = _copied(writer, [waiting[task.key] for task in batch], run)
            for task in [task for task in batch if task.path in copied]:
                batch.remove(task)
                del waiting[task.key]
        if batch:
            pool.submit(list(batch))
            batch.clear()

    batch: list[Task] = []
    with files:
        for key, (path, _, listed) in enumerate(found):
            read = read_file(files, path, options.limit(path))
            if isinstance(read, SkippedFile):
                if read.reason == "not_found":
                    run.removed += writer.remove([path])
                    continue
                writer.skip(path, 0, UNREAD, read.reason, read.detail)
                run.failed.append(read)
                continue
            file, data = read
            if not isinstance(files, RootFiles):
                file = replace(file, stamp=listed)
            run.bytes_read += len(data)
            digest = hashlib.sha256(data).digest()
            known = writer.known(path)
            if known is not None and known.hash == digest:
                writer.touch(path, file.size, file.stamp)
                continue
            if not is_storable(path):
                run.skipped.append(SkippedFile(path, "unreadable", "its name is not UTF-8"))
                continue
            waiting[key] = (file, digest, data)
            batch.append(Task(key, path, data))
            if len(batch) >= _TASK_FILES or sum(len(task.data) for task in batch) >= _TASK_BYTES:
                submit()
                while pool.in_flight >= pool.size * _QUEUED:
                    yield from answered()
    submit()
    while pool.in_flight:
        yield from answered()


def _copied(writer: ViewWriter, files: Sequence[tuple[FileState, bytes, bytes]], run: _Run) -> set[str]:
    """The paths of those files whose contents a collection has, which stand here by now, too."""
    asked = []
    for file, digest, data in files:
        if not secret_in(data, file.path):  # whether a file is left out may depend on its path, a reading does not
            language = language_of(file.path, b"" if format_of(file.path) else data[:HEAD_BYTES])
            asked.append((file.path, file.size, file.stamp, digest, language.id))
    copied = writer.copied(asked)
    run.changed += len(copied)
    run.copied += len(copied)
    return copied


def _put(
    writer: ViewWriter,
    file: FileState,
    digest: bytes,
    data: bytes,
    answer: Answer,
    run: _Run,
    model: int | None,
    embedder: Embedder | None,
) -> bool:
    """Note a file; whether it got vectors."""
    run.changed += 1
    if isinstance(answer, SkippedFile):
        run.refused += 1
        writer.skip(
            file.path, file.size, UNREAD if answer.reason == "failed" else file.stamp, answer.reason, answer.detail
        )
        (run.failed if answer.reason == "failed" else run.skipped).append(answer)
        return False
    reading = answer.reading if isinstance(answer, Embedded) else answer
    entry = writer.put(file.path, file.size, file.stamp, digest, reading, _text(reading, data))
    embedded = isinstance(answer, Embedded) and bool(reading.chunks)
    if isinstance(answer, Embedded) and embedded and model is not None and embedder is not None:
        writer.put_vectors(model, entry, answer.data, embedder.fingerprint.dimensions, coding_of(embedder.fingerprint))
        run.embedded += len(reading.chunks)
    run.chunks += len(reading.chunks)
    run.symbols += len(reading.symbols)
    return embedded


def _text(reading: Reading, data: bytes) -> bytes:
    """A content's text as the store keeps it."""
    if reading.text is not None:
        return reading.text
    decoded = decode(data)
    return decoded.text.encode("utf-8", "surrogatepass") if isinstance(decoded, Decoded) else b""


def _embed_lacking(
    writer: ViewWriter,
    model: int,
    embedder: Embedder,
    run: _Run,
    on_progress: OnProgress,
    on_embedded: Callable[[str], None],
) -> None:
    """Make the vectors that are missing, of whatever run."""
    fingerprint = embedder.fingerprint
    coding = coding_of(fingerprint)
    lacking = writer.lacking(model, docs=takes_documents(fingerprint))
    for start in range(0, len(lacking), _EMBEDDED_FILES):
        on_progress(Progress("embedding", start, len(lacking)))
        texts: dict[int, list[str]] = {}
        paths: list[str] = []
        for entry, path, language, encoding, symbols, chunks, text in writer.read(
            lacking[start : start + _EMBEDDED_FILES]
        ):
            paths.append(path)
            texts[entry] = embedded_texts(
                path,
                outlined_as(language, converted=encoding == CONVERTED),
                parts.symbols(symbols),
                parts.chunks(chunks),
                text,
            )
        every = [text for of_file in texts.values() for text in of_file]
        codes = vector_codes.encode(embedder.embed_batch(every).rows, coding)
        at = 0
        for entry, of_file in texts.items():
            data = codes[at : at + len(of_file)].tobytes()
            writer.put_vectors(model, entry, data, fingerprint.dimensions, coding)
            at += len(of_file)
            run.embedded += len(of_file)
        for path in paths:
            on_embedded(path)

"""The text index: BM25 over chunks and files, derived from the tables. The only module that imports tantivy.

It *proposes* candidates; their order in an answer is decided by `findling.search.ranking`. A document is a chunk
(``body`` and ``context``: its breadcrumb and the names it defines) or a file (``path``). Documents carry a unit id
(`schema.CHUNK_BITS`). Nothing is stored in it but that id; text comes from the files themselves.
"""

from __future__ import annotations

import errno
import json
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import tantivy

from findling import errors
from findling.store import layout
from findling.store.schema import IndexDamaged, full

FORMAT = "2"
"""Written beside the index, with the identity of the tables it belongs to; anything else there means: build anew."""

_HEAP_BYTES = 64_000_000
"""Memory of the writer before it writes a segment; more makes fewer segments, this keeps a run under its budget."""

_SMALL_HEAP_BYTES = 16_000_000
"""For a run of a few files: allocating less is faster."""

_TOKENIZER = "terms"
_FORMAT_FILE = "format"
_META = "meta.json"
_DELETIONS = ".del"
"""The library's: the file that lists the segments in use, and the ending of what says which documents are deleted."""

_STATE_BYTES = 4_000_000
"""No list of segments comes near this; what is longer is not ours."""

_PIECE_BYTES = 1 << 20
"""Read at a time for a checksum."""

_TRIES = 3
"""Merging takes longer than looking, so that a second look nearly always finds a listing as it is."""


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("unit", stored=False, indexed=False, fast=True)
    builder.add_unsigned_field("entry", stored=False, indexed=True, fast=False)
    for field in ("body", "context", "path"):
        builder.add_text_field(field, stored=False, tokenizer_name=_TOKENIZER, index_option="freq")
    return builder.build()


def _open(directory: Path) -> tantivy.Index:
    index = tantivy.Index.open(str(directory))
    analyzer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer(_TOKENIZER, analyzer)
    return index


def usable(directory: Path, identity: bytes) -> bool:
    """Whether a text index of this format, made for the tables with this identity, stands there whole.

    The library checks nothing of this, and data that it cannot make sense of may end the process. Raises
    `IndexUnavailable` where that cannot be looked at now.
    """
    try:
        if layout.not_a_folder(directory) or layout.holds_other_than_files(directory):
            return False
        for _ in range(_TRIES):
            marker = _read_small(directory / _FORMAT_FILE)
            state = _read_small(directory / _META)
            if marker.split("\n", 1)[0] != _mark(identity):
                return False
            segments = _segments(state)
            if all(_unchanged(directory, file) for file in _written_down(marker) if _segment(file.name) in segments):
                return True
            if _read_small(directory / _META) == state:
                return False
            # segments were merged by a writer between the looks: look again
        return False
    except OSError as error:
        if error.errno in _OF_WHAT_IS_THERE:
            return False
        raise _unavailable(directory, error.errno) from error
    except (ValueError, KeyError, TypeError, AttributeError):
        return False


class _File(NamedTuple):
    """A file of a segment as it was written; none of them ever changes."""

    name: str
    size: int
    mtime_ns: int
    checksum: int


def _unchanged(directory: Path, file: _File) -> bool:
    try:
        status = (directory / file.name).lstat()
    except FileNotFoundError:
        return file.name.endswith(_DELETIONS)  # those are replaced as more is deleted
    if status.st_size != file.size:
        return False
    # another time alone may come of copying the folder
    return status.st_mtime_ns == file.mtime_ns or _checksum(directory / file.name) == file.checksum


def _write_down(directory: Path, identity: bytes) -> None:
    """Note what the segments' files are like now, so that one that was cut or overwritten is noticed."""
    segments = _segments(_read_small(directory / _META))
    try:
        known = {file.name: file for file in _written_down(_read_small(directory / _FORMAT_FILE))}
    except (FileNotFoundError, ValueError):
        known = {}
    lines = [_mark(identity)]
    with os.scandir(directory) as entries:
        for entry in entries:
            if _segment(entry.name) not in segments:
                continue
            with suppress(FileNotFoundError):  # merged away meanwhile
                status = entry.stat(follow_symlinks=False)
                was = known.get(entry.name)
                if was is None or was[1:3] != (status.st_size, status.st_mtime_ns):
                    was = _File(entry.name, status.st_size, status.st_mtime_ns, _checksum(directory / entry.name))
                lines.append(" ".join(map(str, was)))
    partial = directory / f"{_FORMAT_FILE}.part"
    partial.unlink(missing_ok=True)
    with partial.open("x", encoding="utf-8") as file:
        file.write("\n".join(lines))
    partial.replace(directory / _FORMAT_FILE)


def _written_down(marker: str) -> Iterator[_File]:
    for line in marker.split("\n")[1:]:
        name, size, mtime_ns, checksum = line.split(" ")
        yield _File(name, int(size), int(mtime_ns), int(checksum))


def _segments(state: str) -> frozenset[str]:
    """The segments in use, as the names of their files begin."""
    return frozenset(segment["segment_id"].replace("-", "") for segment in json.loads(state)["segments"])


def _segment(name: str) -> str:
    return name.split(".", 1)[0]


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            checksum = zlib.crc32(piece, checksum)
    return checksum


def _read_small(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_STATE_BYTES).decode()


def _mark(identity: bytes) -> str:
    return f"{FORMAT} {identity.hex()}"


def create(directory: Path, identity: bytes) -> None:
    """Make an empty text index in place of whatever is there, so that readers find one from the first moment."""
    with _typed(directory, identity):
        remove(directory)
        directory.mkdir(parents=True, exist_ok=True)
        tantivy.Index(_schema(), path=str(directory), reuse=False)
        _write_down(directory, identity)


def remove(directory: Path) -> None:
    """Delete the text index; it is derived, so nothing is lost."""
    layout.discard(directory)


@contextmanager
def _typed(directory: Path, identity: bytes | None = None) -> Iterator[None]:
    """Failures of the library leave as findling's own; so does its panicking over data that it cannot make sense of.

    ``identity``: of the tables, where the files may be looked at to tell what has failed.
    """
    try:
        yield
    except (ValueError, OSError, OverflowError) as error:
        raise _map_error(error, directory, identity) from error
    except BaseException as error:
        if type(error).__name__ != _PANIC:
            raise
        raise IndexDamaged(f"The text index at {directory} is damaged.") from error


_PANIC = "PanicException"
"""The class has no module to import it from, and is no `Exception`."""


class FulltextWriter:
    """Adds and deletes documents; nothing is visible before `commit`. One writer per directory at a time.

    ``large`` says that many files are coming.
    """

    def __init__(self, directory: Path, identity: bytes, *, large: bool) -> None:
        with _typed(directory, identity):
            for left in directory.glob(".tmp*"):  # of a writer that was killed; there is no other one now
                left.unlink(missing_ok=True)
            self._index = _open(directory)
            self._writer = self._index.writer(heap_size=_HEAP_BYTES if large else _SMALL_HEAP_BYTES, num_threads=1)
        self._identity = identity
        self._directory = directory

    def add(self, entry_id: int, chunks: Iterable[tuple[int, str, str]], file_unit: int, path: str) -> None:
        """The documents of an entry: ``chunks`` as (unit id, body, context), and the file by its path's terms."""
        add, new = self._writer.add_document, tantivy.Document
        with _typed(self._directory, self._identity), self._cause():
            for unit_id, body, context in chunks:
                document = new()
                document.add_unsigned("unit", unit_id)
                document.add_unsigned("entry", entry_id)
                document.add_text("body", body)
                if context:
                    document.add_text("context", context)
                add(document)
            document = new()
            document.add_unsigned("unit", file_unit)
            document.add_unsigned("entry", entry_id)
            document.add_text("path", path)
            add(document)

    def delete(self, entry_ids: Iterable[int]) -> None:
        # by query: deletion by term takes a Python int for a signed number and then finds nothing
        doomed = list(entry_ids)
        if doomed:
            with _typed(self._directory, self._identity), self._cause():
                wanted = tantivy.Query.term_set_query(self._index.schema, "entry", doomed)
                self._writer.delete_documents_by_query(wanted)

    @contextmanager
    def _cause(self) -> Iterator[None]:
        """A thread behind it may not have been able to write a segment; what it met only a commit tells, and fails."""
        try:
            yield
        except ValueError as error:
            if any(sign in str(error) for sign in _DIED_SIGNS):
                self._writer.commit()
            raise

    def commit(self) -> None:
        """Make everything visible and durable. Raises `StorageFull` or `IndexUnavailable`."""
        with _typed(self._directory, self._identity):
            self._writer.commit()
            _write_down(self._directory, self._identity)

    def close(self, *, merge: bool = False) -> None:
        """``merge``: wait for the merging of segments that goes on in the background, then drop unused files."""
        try:
            if merge:
                with _typed(self._directory, self._identity):
                    self._writer.garbage_collect_files()
                    self._writer.wait_merging_threads()
                    _write_down(self._directory, self._identity)
        finally:
            del self._writer


def _map_error(error: Exception, directory: Path, identity: bytes | None) -> errors.FindlingError:
    text = str(error)
    if any(sign in text for sign in _FULL_SIGNS):
        return full(directory.parent)
    if isinstance(error, PermissionError) or "PermissionDenied" in text:
        return errors.IndexUnavailable(
            f"The text index at {directory} cannot be used: {text}", remedy="Check the folder's permissions."
        )
    failed = _SYSTEM_ERROR.search(text)
    if failed and int(failed[1]) not in _OF_WHAT_IS_THERE:
        return _unavailable(directory, int(failed[1]))
    if any(sign in text for sign in _DIED_SIGNS) and identity is not None and usable(directory, identity):
        return _unavailable(directory, None)
    return IndexDamaged(f"The text index at {directory} cannot be used: {text}")


_SYSTEM_ERROR = re.compile(r"\bOs \{ code: (\d+)")

_OF_WHAT_IS_THERE = frozenset((errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP))
"""Failures of the system that come of the files themselves; any other (a disk that does not answer, too many open
files) says nothing of the index."""


def _unavailable(directory: Path, number: int | None) -> errors.IndexUnavailable:
    why = os.strerror(number) if number is not None else "writing failed"
    return errors.IndexUnavailable(
        f"The text index at {directory} cannot be used: {why}.",
        remedy="Nothing is lost; try again, and check the disk if that does not help.",
    )


_DIED_SIGNS = ("was killed", "in a thread", "updater killed", "thread panicked")
"""A thread of the library's met an error, and another one says no more than that."""

_FULL_SIGNS = ("No space left", "StorageFull", "QuotaExceeded", "Disk quota", "FileTooLarge", "File too large")


class FulltextReader:
    """Ranks documents by weighted BM25 as of when it was opened. Safe to use while a writer commits."""

    def __init__(self, directory: Path) -> None:
        with _typed(directory):
            self._index = _open(directory)
            self._index.config_reader("manual")
            self._schema = self._index.schema
            self._searcher = self._index.searcher()
        self._directory = directory

    def reload(self) -> None:
        with _typed(self._directory):
            self._index.reload()
            self._searcher = self._index.searcher()

    @property
    def documents(self) -> int:
        return int(self._searcher.num_docs)

    def search(
        self,
        weighted_terms: Sequence[tuple[str, float]],
        fields: Sequence[tuple[str, float]],
        limit: int,
        entries: Sequence[int] | None = None,
    ) -> list[tuple[int, float]]:
        """The best ``limit`` units as (unit id, BM25 sum), best first, ties by unit id.

        ``weighted_terms`` are (term, weight); ``fields`` (field, weight); ``entries`` restricts to those entries.
        """
        if not weighted_terms or limit <= 0:
            return []
        with _typed(self._directory):
            query = tantivy.Query
            clauses: list[tuple[tantivy.Occur, tantivy.Query]] = []
            for term, term_weight in weighted_terms:
                for field, field_weight in fields:
                    clause = query.term_query(self._schema, field, term, "freq")
                    clauses.append((tantivy.Occur.Should, query.boost_query(clause, term_weight * field_weight)))
            wanted = query.boolean_query(clauses)
            if entries is not None:
                allowed = query.term_set_query(self._schema, "entry", list(entries))
                wanted = query.boolean_query(
                    [(tantivy.Occur.Must, wanted), (tantivy.Occur.Must, query.boost_query(allowed, 0.0))]
                )
            found: Any = self._searcher.search(wanted, limit, count=False).hits
            units = self._searcher.fast_field_values("unit", [address for _, address in found]) if found else []
        ranked = [(int(unit), float(score)) for unit, (score, _) in zip(units, found, strict=True) if unit is not None]
        ranked.sort(key=lambda pair: (-pair[1], pair[0]))
        return ranked

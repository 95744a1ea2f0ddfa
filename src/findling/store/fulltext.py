"""The text index: BM25 over chunks and files, derived from the tables. The only module that imports tantivy.

It *proposes* candidates; their order in an answer is decided by `findling.search.ranking`. A document is a chunk
(``body`` and ``context``: its breadcrumb and the names it defines) or a file (``path`` and ``names``). Documents
carry a unit id (`schema.CHUNK_BITS`). Nothing is stored in it but that id; text comes from the files themselves.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import tantivy

from findling import errors
from findling.store.schema import IndexDamaged, full

FORMAT = "1"
"""Written beside the index, with the identity of the tables it belongs to; anything else there means: build anew."""

_HEAP_BYTES = 64_000_000
"""Memory of the writer before it writes a segment; more makes fewer segments, this keeps a run under its budget."""

_SMALL_HEAP_BYTES = 16_000_000
"""For a run of a few files: allocating less is faster."""

_TOKENIZER = "terms"
_FORMAT_FILE = "format"


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("unit", stored=False, indexed=False, fast=True)
    builder.add_unsigned_field("entry", stored=False, indexed=True, fast=False)
    for field in ("body", "context", "path", "names"):
        builder.add_text_field(field, stored=False, tokenizer_name=_TOKENIZER, index_option="freq")
    return builder.build()


def _open(directory: Path) -> tantivy.Index:
    index = tantivy.Index.open(str(directory))
    analyzer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer(_TOKENIZER, analyzer)
    return index


def usable(directory: Path, identity: bytes) -> bool:
    """Whether a text index of this format, made for the tables with this identity, stands there."""
    marker = directory / _FORMAT_FILE
    try:
        return marker.read_text() == _mark(identity) and tantivy.Index.exists(str(directory))
    except (OSError, ValueError):
        return False


def _mark(identity: bytes) -> str:
    return f"{FORMAT} {identity.hex()}"


def create(directory: Path, identity: bytes) -> None:
    """Make an empty text index in place of whatever is there, so that readers find one from the first moment."""
    remove(directory)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        tantivy.Index(_schema(), path=str(directory), reuse=False)
        (directory / _FORMAT_FILE).write_text(_mark(identity))
    except (ValueError, OSError) as error:
        raise _map_error(error, directory) from error


def remove(directory: Path) -> None:
    """Delete the text index; it is derived, so nothing is lost."""
    shutil.rmtree(directory, ignore_errors=True)


class FulltextWriter:
    """Adds and deletes documents; nothing is visible before `commit`. One writer per directory at a time.

    ``large`` says that many files are coming.
    """

    def __init__(self, directory: Path, *, large: bool) -> None:
        try:
            self._index = _open(directory)
            self._writer = self._index.writer(heap_size=_HEAP_BYTES if large else _SMALL_HEAP_BYTES, num_threads=1)
        except (ValueError, OSError) as error:
            raise _map_error(error, directory) from error
        self._directory = directory
        self._add = self._writer.add_document

    def add_chunk(self, entry_id: int, unit_id: int, body: str, context: str) -> None:
        document = tantivy.Document()
        document.add_unsigned("unit", unit_id)
        document.add_unsigned("entry", entry_id)
        document.add_text("body", body)
        if context:
            document.add_text("context", context)
        self._put(document)

    def add_file(self, entry_id: int, unit_id: int, path: str, names: str) -> None:
        document = tantivy.Document()
        document.add_unsigned("unit", unit_id)
        document.add_unsigned("entry", entry_id)
        document.add_text("path", path)
        if names:
            document.add_text("names", names)
        self._put(document)

    def _put(self, document: tantivy.Document) -> None:
        try:
            self._add(document)
        except (ValueError, OSError) as error:  # a thread behind it could not write a segment
            raise _map_error(error, self._directory) from error

    def delete(self, entry_ids: Iterable[int]) -> None:
        # by query: deletion by term takes a Python int for a signed number and then finds nothing
        doomed = list(entry_ids)
        if doomed:
            self._writer.delete_documents_by_query(tantivy.Query.term_set_query(self._index.schema, "entry", doomed))

    def commit(self) -> None:
        """Make everything visible and durable. Raises `StorageFull` or `IndexUnavailable`."""
        try:
            self._writer.commit()
        except (ValueError, OSError) as error:
            raise _map_error(error, self._directory) from error

    def close(self, *, merge: bool = False) -> None:
        """``merge``: wait for the merging of segments that goes on in the background, then drop unused files."""
        try:
            if merge:
                self._writer.garbage_collect_files()
                self._writer.wait_merging_threads()
        except (ValueError, OSError) as error:
            raise _map_error(error, self._directory) from error
        finally:
            del self._writer, self._add


def _map_error(error: Exception, directory: Path) -> errors.FindlingError:
    text = str(error)
    if any(sign in text for sign in _FULL_SIGNS):
        return full(directory.parent)
    if isinstance(error, PermissionError) or "PermissionDenied" in text:
        return errors.IndexUnavailable(
            f"The text index at {directory} cannot be used: {text}", remedy="Check the folder's permissions."
        )
    return IndexDamaged(f"The text index at {directory} cannot be used: {text}")


_FULL_SIGNS = ("No space left", "StorageFull", "QuotaExceeded", "Disk quota", "FileTooLarge", "File too large")


class FulltextReader:
    """Ranks documents by weighted BM25 as of when it was opened. Safe to use while a writer commits."""

    def __init__(self, directory: Path) -> None:
        try:
            self._index = _open(directory)
            self._index.config_reader("manual")
            self._schema = self._index.schema
            self._searcher = self._index.searcher()
        except (ValueError, OSError) as error:
            raise _map_error(error, directory) from error
        self._directory = directory

    def reload(self) -> None:
        try:
            self._index.reload()
            self._searcher = self._index.searcher()
        except (ValueError, OSError) as error:
            raise _map_error(error, self._directory) from error

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
        try:
            found: Any = self._searcher.search(wanted, limit, count=False).hits
            units = self._searcher.fast_field_values("unit", [address for _, address in found]) if found else []
        except (ValueError, OSError) as error:
            raise _map_error(error, self._directory) from error
        ranked = [(int(unit), float(score)) for unit, (score, _) in zip(units, found, strict=True) if unit is not None]
        ranked.sort(key=lambda pair: (-pair[1], pair[0]))
        return ranked

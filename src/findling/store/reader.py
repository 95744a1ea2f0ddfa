"""Reading the index: what is in a content (chunks, symbols, terms, text) beside the files and vectors of a manifest.

Everything belongs to one committed generation (`snapshots`).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Container, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from findling.config.roots import LIVE
from findling.store import chunk_rows, count_rows, growth, section_rows, symbol_rows, term_rows
from findling.store.few_terms import FewTerms
from findling.store.rows import ChunkRow, chunk_row
from findling.store.snapshots import batches
from findling.store.symbol_rows import DefinedNames
from findling.store.symbol_rows import SymbolRow as SymbolRow
from findling.store.vector_reader import VectorReader

_CONTENTS = 2_000
"""Contents whose rows are kept between queries, from one generation to the next too: about 7 kB each."""

_CHUNK_LISTS = 500
"""Contents whose chunks are, about 8 kB each: only what is shown needs them."""

_DERIVED = 10_000
"""The same of `IndexReader.derived`, about 0.3 kB each."""

_AT_ONCE = 100
"""Contents whose definitions are looked through together."""


class OnlyThese(NamedTuple):
    """Which definitions count: those in some contents, those of a kind; None for any."""

    blobs: Container[int] | None = None
    kind: str | None = None


_ANY = OnlyThese()

_SHA256 = 32
"""Bytes of one."""


class IndexReader(VectorReader):
    """Reads one root's manifest in one store. Not to be shared between threads."""

    def __init__(self, directory: Path, root: str, ref: str = LIVE) -> None:
        super().__init__(directory, root, ref)
        self._terms: dict[int, Sequence[int]] = {}
        self._names: dict[int, DefinedNames] = {}
        self._chunks: dict[int, list[ChunkRow]] = {}
        self._counts: dict[int, int] = {}
        self._uncovered: list[int] | None = None
        self._uncovered_by: frozenset[int] | None = None
        self._only_ours: bool | None = None
        self._few_definers: dict[str, list[int]] | None = None
        self._few_terms: FewTerms | None = None
        self._grown: bool | None = None
        self.derived: dict[int, array[int]] = {}
        """Numbers that others work out from a content's definitions."""

    @property
    def _of_contents(self) -> tuple[dict[int, Any], ...]:
        return self._terms, self._names, self._chunks

    @property
    def _remembers_much(self) -> bool:
        much = any(len(cache) > _CONTENTS for cache in self._of_contents)
        return super()._remembers_much or much or len(self.derived) > _DERIVED

    def _forget(self) -> None:
        super()._forget()
        for cache in self._of_contents:  # what is in a content is the same in every generation
            if len(cache) > _CONTENTS:
                cache.clear()
        if len(self.derived) > _DERIVED:
            self.derived.clear()
        self._counts.clear()
        self._only_ours = self._uncovered = self._few_definers = self._few_terms = self._grown = None

    def uncovered_blobs(self) -> list[int]:
        """Contents that the exact-text index says nothing about, ascending."""
        if self._uncovered is None or self._uncovered_by is not self.trigrams.covered:
            everything = [row[0] for row in self._db.execute("SELECT blob_id FROM blobs")]
            self._uncovered = self.trigrams.uncovered(everything)
            self._uncovered_by = self.trigrams.covered
        return self._uncovered

    def terms(self, blob_ids: Iterable[int]) -> dict[int, Sequence[int]]:
        """Term rows (`term_rows`) by blob."""
        return self._remember(
            self._terms,
            blob_ids,
            lambda ids: (
                (blob_id, term_rows.unpack(data))
                for blob_id, data in self._db.execute(f"SELECT blob_id, terms FROM contents WHERE blob_id IN ({ids})")
            ),
        )

    def taken_apart(self, blob_id: int) -> tuple[int, int, str]:
        """How many chunks and symbols a content has, and what kept the others from being found (`Prepared.problem`)."""
        sql = "SELECT chunks, symbols, problem FROM blobs WHERE blob_id=?"
        ((chunks, symbols, problem),) = self._db.execute(sql, (blob_id,))
        return int(chunks), int(symbols), str(problem)

    def doc_text(self, blob_id: int) -> bytes | None:
        """The text of a document, UTF-8; None of what is no document, or has none."""
        row: Any = self._db.execute("SELECT texts, sections FROM contents WHERE blob_id=?", (blob_id,)).fetchone()
        if row is None or not isinstance(row[0], bytes):
            return None
        starts = [chunk.start_byte for chunk in self.chunks(blob_id)]
        return section_rows.joined(row[0], section_rows.unpack(row[1]), starts)

    def chunks(self, blob_id: int) -> list[ChunkRow]:
        """A content's chunks in order."""
        known = self._chunks.get(blob_id)
        if known is None:
            if len(self._chunks) >= _CHUNK_LISTS:
                self._chunks.clear()
            row: Any = self._db.execute(
                "SELECT lines, places, sections FROM contents WHERE blob_id=?", (blob_id,)
            ).fetchone()
            lines, places, sections = row or (b"", b"", None)
            found = chunk_rows.unpack(lines, places) if places else []
            if sections is None:
                known = [chunk_row(place) for place in found]
            else:
                headings = section_rows.unpack(sections).headings
                known = [chunk_row(place, of) for place, of in zip(found, headings, strict=True)]
            self._chunks[blob_id] = known
        return known

    def chunk_places(self, blob_id: int) -> list[tuple[int, int, bytes]]:
        """(first line, last line, SHA-256 of the own text) of a blob's chunks, in order."""
        hashes = self._value("SELECT hashes FROM contents WHERE blob_id=?", blob_id) or b""
        own = [hashes[at : at + _SHA256] for at in range(0, len(hashes), _SHA256)]
        return [
            (chunk.start_line, chunk.end_line, content_hash)
            for chunk, content_hash in zip(self.chunks(blob_id), own, strict=True)
        ]

    def symbols(self, blob_id: int) -> symbol_rows.SymbolRows:
        """A content's definitions in order."""
        data = self._value("SELECT symbols FROM contents WHERE blob_id=?", blob_id)
        return symbol_rows.unpack(blob_id, data or b"")

    def defined_names(self, blob_ids: Iterable[int]) -> dict[int, DefinedNames]:
        """Names and kinds of contents' definitions; much less to take apart than `symbols`. Without any: absent."""
        return self._remember(
            self._names,
            blob_ids,
            lambda ids: ((blob_id, symbol_rows.named(data)) for blob_id, data in self._definition_rows(ids)),
        )

    def _definition_rows(self, ids: str) -> Iterable[tuple[int, bytes]]:
        return self._db.execute(f"SELECT blob_id, symbols FROM contents WHERE blob_id IN ({ids}) AND symbols<>x''")

    def named(self, squashed: Iterable[str], limit: int, only: OnlyThese = _ANY) -> list[SymbolRow]:
        """Definitions whose squashed name is one of these, in the manifest's contents; at most about ``limit``."""
        wanted = list(dict.fromkeys(squashed))
        marks = ",".join("?" * len(wanted))
        fits = set(wanted).__contains__
        return self._defined(f"d.squashed IN ({marks})", wanted, fits, limit, only) if wanted else []

    def named_like(self, squashed: str, *, prefix: bool, limit: int, only: OnlyThese = _ANY) -> list[SymbolRow]:
        """Definitions whose squashed name begins with (``prefix``) or contains a text; at most about ``limit``."""
        if prefix:
            bounds = (squashed, squashed + "\U0010ffff")
            return self._defined(
                "d.squashed >= ? AND d.squashed < ?", bounds, lambda name: name.startswith(squashed), limit, only
            )
        return self._defined("instr(d.squashed, ?) > 0", (squashed,), lambda name: squashed in name, limit, only)

    def _defined(
        self, condition: str, values: Sequence[str], fits: Callable[[str], bool], limit: int, only: OnlyThese
    ) -> list[SymbolRow]:
        blobs: list[int]
        if self._keeps_apart:
            most = f"LIMIT {limit:d}" if only == _ANY else ""
            sql = f"SELECT DISTINCT d.blob_id FROM definitions d WHERE {condition} {self._ours} {most}"
            blobs = [row[0] for row in self._db.execute(sql, values)]
        else:
            definers = self._definers_of_few()
            blobs = list(dict.fromkeys(blob_id for name in filter(fits, definers) for blob_id in definers[name]))
            if only == _ANY:
                del blobs[limit:]
        if only.blobs is not None:
            blobs = [blob_id for blob_id in blobs if blob_id in only.blobs]
        found: list[SymbolRow] = []
        for start in range(0, len(blobs), _AT_ONCE):
            ids = ",".join([f"{blob_id:d}" for blob_id in blobs[start : start + _AT_ONCE]])
            for blob_id, data in self._definition_rows(ids):
                found += symbol_rows.fitting(blob_id, data, fits, only.kind)
                if len(found) >= limit:
                    return found
        return found

    @property
    def _ours(self) -> str:
        """The condition that a name ``d`` belongs to the manifest; nothing where the store holds nothing else."""
        if self._only_ours is None:
            self._only_ours = self.crowding == 1
        if self._only_ours:
            return ""
        return (
            # CROSS: from the content's few entries; left alone, SQLite goes through the whole manifest each time.
            "AND EXISTS (SELECT 1 FROM entries e CROSS JOIN manifest_files m USING (entry_id) "
            f"WHERE e.blob_id = d.blob_id AND m.manifest_id = {self._manifest_id:d})"
        )

    def term_counts(self, keys: Iterable[int]) -> dict[int, int]:
        """Files of the manifest that have a term, by term key; 0 for none."""
        keys = list(keys)
        found = {key: 0 for key in keys if key not in self._counts}
        wanted: dict[int, list[int]] = {}
        if found and not self._keeps_apart:
            found.update(self._counts_of_few(found))
        elif found:
            for key in found:
                wanted.setdefault(count_rows.bucket(key), []).append(key)
        shared = self.manifest.counts if self.manifest else 0
        under = {self._manifest_id, shared}
        for ids in batches(count_rows.row_id(number, bucket) for number in under for bucket in wanted):
            sql = f"SELECT row_id & {count_rows.BUCKETS - 1:d}, counts FROM term_counts WHERE row_id IN ({ids})"
            for bucket, row in self._db.execute(sql):
                for key, files in zip(wanted[bucket], count_rows.lookup(row, wanted[bucket]), strict=True):
                    found[key] += files
        self._counts.update(found)
        return {key: self._counts[key] for key in keys}

    # --- what is not kept apart of few files (`growth`) -----------------------------------------------------------

    @property
    def _keeps_apart(self) -> bool:
        """Whether definitions and counts of terms have tables."""
        if self._grown is None:
            self._grown = growth.has_grown(self._db)
        return self._grown

    def _definers_of_few(self) -> dict[str, list[int]]:
        """The manifest's contents that define a name, ascending, by squashed name in order."""
        if self._few_definers is None:
            names = self.defined_names(sorted({file.blob_id for file in self.listing()}))
            found: dict[str, list[int]] = {}
            for blob_id, defined in names.items():
                for name in set(defined.squashed):
                    found.setdefault(name, []).append(blob_id)
            self._few_definers = dict(sorted(found.items()))
        return self._few_definers

    def _counts_of_few(self, keys: Collection[int]) -> dict[int, int]:
        """Files of the manifest that have a term, by term key."""
        if self._few_terms is None:
            listing = self.listing()
            rows = self.terms({file.blob_id for file in listing})
            self._few_terms = FewTerms([rows[file.blob_id] for file in listing])
        return self._few_terms.counts(keys)

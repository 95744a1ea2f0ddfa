"""Reading the index: what is in a content (chunks, symbols, terms, text) beside the files and vectors of a manifest.

Everything belongs to one committed generation (`snapshots`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from findling.store import schema, symbol_rows, term_rows
from findling.store.rows import ChunkRow, chunk_row
from findling.store.snapshots import batches
from findling.store.symbol_rows import SymbolRow as SymbolRow
from findling.store.vector_reader import VectorReader


class IndexReader(VectorReader):
    """Reads one root's manifest in one store. Not to be shared between threads."""

    def __init__(self, directory: Path, root: str, ref: str = "live") -> None:
        super().__init__(directory, root, ref)
        self._terms: dict[int, Sequence[int]] = {}
        self._symbols: dict[int, list[SymbolRow]] = {}
        self._defined_names: dict[int, list[tuple[str, str]]] = {}
        self._chunks: dict[int, list[ChunkRow]] = {}
        self._counts: dict[int, int] = {}
        self._definers: dict[str, int] = {}
        self._uncovered: list[int] | None = None
        self._uncovered_by: frozenset[int] | None = None
        self._only_ours: bool | None = None
        self.derived: dict[tuple[str, int], frozenset[int]] = {}
        """What others work out from a content's rows and want remembered as long as these."""

    def _forget(self) -> None:
        super()._forget()
        for cache in (
            self._terms,
            self._symbols,
            self._defined_names,
            self._chunks,
            self._counts,
            self._definers,
            self.derived,
        ):
            cache.clear()
        self._only_ours = self._uncovered = None

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
                for blob_id, data in self._db.execute(f"SELECT blob_id, data FROM terms WHERE blob_id IN ({ids})")
            ),
        )

    def doc_text(self, blob_id: int) -> bytes | None:
        """The text of a document, UTF-8; None of what is no document."""
        found = self._value("SELECT text FROM doc_texts WHERE blob_id=?", blob_id)
        return found if isinstance(found, bytes) else None

    def chunks(self, blob_id: int) -> list[ChunkRow]:
        """A content's chunks in order."""
        known = self._chunks.get(blob_id)
        if known is None:
            low, high = blob_id << schema.CHUNK_BITS, (blob_id + 1 << schema.CHUNK_BITS) - 1
            known = self._chunks[blob_id] = [
                chunk_row(row)
                for row in self._db.execute(
                    "SELECT start_line, end_line, start_byte, end_byte, kind, symbol, breadcrumb FROM chunks "
                    "WHERE chunk_id BETWEEN ? AND ? ORDER BY chunk_id",
                    (low, high),
                )
            ]
        return known

    def chunk_places(self, blob_id: int) -> list[tuple[int, int, bytes]]:
        """(first line, last line, SHA-256 of the own text) of a blob's chunks, in order."""
        first = blob_id << schema.CHUNK_BITS
        return list(
            self._db.execute(
                "SELECT start_line, end_line, content_hash FROM chunks "
                "WHERE chunk_id BETWEEN ? AND ? ORDER BY chunk_id",
                (first, first + schema.FILE_UNIT),
            )
        )

    def symbols(self, blob_id: int) -> list[SymbolRow]:
        """A content's definitions in order."""
        known = self._symbols.get(blob_id)
        if known is None:
            data = self._value("SELECT data FROM symbols WHERE blob_id=?", blob_id)
            known = self._symbols[blob_id] = symbol_rows.unpack(blob_id, data or b"")
        return known

    def defined_names(self, blob_id: int) -> list[tuple[str, str]]:
        """Name and kind of a content's definitions in order; much less to read than `symbols`."""
        known = self._defined_names.get(blob_id)
        if known is None:
            data = self._value("SELECT data FROM symbols WHERE blob_id=?", blob_id)
            known = self._defined_names[blob_id] = symbol_rows.named(data or b"")
        return known

    def named(self, squashed: Iterable[str], limit: int) -> list[SymbolRow]:
        """Definitions whose squashed name is one of these, in the manifest's contents; at most about ``limit``."""
        wanted = list(dict.fromkeys(squashed))
        marks = ",".join("?" * len(wanted))
        return self._defined(f"d.squashed IN ({marks})", wanted, set(wanted).__contains__, limit) if wanted else []

    def named_like(self, squashed: str, *, prefix: bool, limit: int) -> list[SymbolRow]:
        """Definitions whose squashed name begins with (``prefix``) or contains a text; at most about ``limit``."""
        if prefix:
            bounds = (squashed, squashed + "\U0010ffff")
            return self._defined(
                "d.squashed >= ? AND d.squashed < ?", bounds, lambda name: name.startswith(squashed), limit
            )
        return self._defined("instr(d.squashed, ?) > 0", (squashed,), lambda name: squashed in name, limit)

    def _defined(
        self, condition: str, values: Sequence[str], fits: Callable[[str], bool], limit: int
    ) -> list[SymbolRow]:
        sql = f"SELECT DISTINCT d.blob_id FROM definitions d WHERE {condition} {self._ours} LIMIT {limit:d}"
        found: list[SymbolRow] = []
        blobs: list[Any] = self._db.execute(sql, values).fetchall()
        for (blob_id,) in blobs:
            found += [symbol for symbol in self.symbols(blob_id) if fits(symbol.squashed)]
            if len(found) >= limit:
                break
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

    def definition_counts(self, names: Collection[str], most: int) -> dict[str, int]:
        """Number of the manifest's contents that define a name, by squashed name; counted up to ``most``."""
        missing = [name for name in names if name not in self._definers]
        if missing:
            sql = (
                "SELECT wanted.key, (SELECT count(*) FROM (SELECT 1 FROM definitions d "
                f"WHERE d.squashed = wanted.value {self._ours} LIMIT {most:d})) FROM json_each(?) wanted"
            )
            for place, count in self._db.execute(sql, (json.dumps(missing),)):
                self._definers[missing[place]] = count
        return {name: self._definers[name] for name in names}

    def term_counts(self, keys: Iterable[int]) -> dict[int, int]:
        """Files of the manifest that have a term, by term key; 0 for none."""
        keys = list(keys)
        missing = [key for key in keys if key not in self._counts]
        for ids in batches(missing):
            sql = (
                "SELECT term, sum(files) FROM term_counts "
                f"WHERE manifest_id IN (?, ?) AND term IN ({ids}) GROUP BY term"
            )
            shared = self.manifest.counts if self.manifest else 0
            self._counts.update(self._db.execute(sql, (self._manifest_id, shared)))
        return {key: self._counts.setdefault(key, 0) for key in keys}

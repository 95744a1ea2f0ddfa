"""Reading the index: what is in a content (chunks, symbols, terms, text) beside the files and vectors of a manifest,
and what the derived indexes propose of it.

Everything belongs to one committed generation (`snapshots`).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from findling.config.roots import LIVE
from findling.model import term_rows
from findling.model.reading import ChunkRow, Use
from findling.model.rows import DefinedNames, SymbolRow, squashed
from findling.store import parts
from findling.store.manifest_reader import batches
from findling.store.proposals import proposed
from findling.store.protocols import ANY, Frequencies, OnlyThese
from findling.store.vector_reader import VectorReader

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from findling.model.trigram_plan import TrigramPlan
    from findling.store.dense import DenseIndex

_CONTENTS = 2_000
"""Contents whose rows are kept between queries, from one generation to the next too: about 7 kB each."""

_CHUNK_LISTS = 500
"""Contents whose chunks are, about 8 kB each: only what is shown needs them."""

_SYMBOL_LISTS = 100
"""Contents whose definitions are, about 30 kB each: only what is shown needs these, too."""

_USE_LISTS = 200
"""Contents whose uses of names are, about 40 kB each: only questions about callers need them."""

_DERIVED = 10_000
"""The same of `IndexReader.derived`, about 0.3 kB each."""

_FEW = 3_000
"""Up to so many entries the text index is asked for them by id; a longer list costs more than it saves."""

_MOST_SPREAD = 20
"""Times as many proposals as are wanted that are taken at first where what is searched is few of what there is."""

_AT_ONCE = 100
"""Contents whose definitions are looked through together."""


class IndexReader(VectorReader):
    """Reads one root's manifest in one store. Not to be shared between threads."""

    def __init__(self, directory: Path, root: str, ref: str = LIVE) -> None:
        super().__init__(directory, root, ref)
        self._terms: dict[int, Sequence[int]] = {}
        self._names: dict[int, DefinedNames] = {}
        self._chunks: dict[int, list[ChunkRow]] = {}
        self._symbols: dict[int, list[SymbolRow]] = {}
        self._uses: dict[int, list[Use]] = {}
        self._counts: dict[int, int] = {}
        self._uncovered: list[int] | None = None
        self._uncovered_by: frozenset[int] | None = None
        self._only_ours: bool | None = None
        self._dense: dict[int, tuple[DenseIndex, int]] = {}
        """By model its sign bits, and the generation that they are of."""
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
        self._only_ours = self._uncovered = None

    # --- proposals of the derived indexes -------------------------------------------------------------------

    def frequencies(self, wanted: Iterable[tuple[str, str]]) -> Frequencies:
        """See `Proposals.frequencies`: earlier versions of files and other manifests do not count."""
        units = self.manifest.files + self.manifest.chunks if self.manifest else 0
        return self.fulltext.frequencies(wanted, units, self.others)

    def lexical(
        self, weights: Mapping[tuple[str, str], float], limit: int, allowed: Set[int] | None = None
    ) -> list[tuple[int, float]]:
        """See `Proposals.lexical`. Few entries are asked for by id, and so compete among themselves only."""
        entries = sorted(allowed) if allowed is not None and len(allowed) <= _FEW else None

        def find(wanted: int) -> list[tuple[int, float]]:
            return self.fulltext.search(weights, wanted, entries)

        share = 1 if entries is not None else self._share(allowed)
        return proposed(find, partial(self._searched, allowed), limit, share)

    def nearest(
        self, query: NDArray[np.float32], model_id: int, limit: int, allowed: Set[int] | None = None
    ) -> list[tuple[int, int]]:
        """See `Proposals.nearest`."""
        return self._bits(model_id).nearest(query, limit, partial(self._searched, allowed), self._share(allowed))

    def _searched(self, allowed: Set[int] | None, entry_ids: Set[int]) -> Set[int]:
        return self.own(entry_ids) if allowed is None else allowed & entry_ids

    def _share(self, allowed: Set[int] | None) -> int:
        """One in how many proposals is likely to be searched, up to a bound."""
        files = self.manifest.files if self.manifest else 0
        share = 1.0 if allowed is None else max(1, files) / max(1, len(allowed))
        return min(_MOST_SPREAD, max(1, round(share * self.crowding)))

    def _bits(self, model_id: int) -> DenseIndex:
        """The sign bits of a model's vectors, as of this generation."""
        known = self._dense.get(model_id)
        if known is None:
            from findling.store.dense import DenseIndex

            found = self.model(model_id)
            index = DenseIndex(self, model_id, found[1] if found else 0)
        else:
            index, generation = known
            if generation != self.generation:
                index.refresh()
        self._dense[model_id] = index, self.generation
        return index

    def containing(self, plan: TrigramPlan) -> Collection[int]:
        """Contents that can hold what a plan asks for, of those that the exact-text index knows."""
        return self.trigrams.candidates(plan)

    @property
    def covered(self) -> int:
        """How many contents the exact-text index knows."""
        return len(self.trigrams.covered)

    def uncovered_blobs(self) -> list[int]:
        """Contents that the exact-text index says nothing about, ascending."""
        if self._uncovered is None or self._uncovered_by is not self.trigrams.covered:
            everything = [row[0] for row in self._db.execute("SELECT blob_id FROM blobs")]
            self._uncovered = self.trigrams.uncovered(everything)
            self._uncovered_by = self.trigrams.covered
        return self._uncovered

    # --- contents -------------------------------------------------------------------------------------------

    def terms(self, blob_ids: Iterable[int]) -> dict[int, Sequence[int]]:
        """Term rows (`term_rows`) by blob."""
        return self._remember(
            self._terms,
            blob_ids,
            lambda ids: (
                (blob_id, term_rows.unpack(data))
                for blob_id, data in self._db.execute(f"SELECT blob_id, terms FROM readings WHERE blob_id IN ({ids})")
            ),
        )

    def taken_apart(self, blob_id: int) -> tuple[int, int, str]:
        """How many chunks and symbols a content has, and what kept the others from being found (`Reading.problem`)."""
        sql = "SELECT chunks, symbols, problem FROM blobs WHERE blob_id=?"
        ((chunks, symbols, problem),) = self._db.execute(sql, (blob_id,))
        return int(chunks), int(symbols), str(problem)

    def doc_text(self, blob_id: int) -> bytes | None:
        """The text of a converted document, UTF-8; None of others, whose text is their file's."""
        text = self._value("SELECT text FROM readings WHERE blob_id=?", blob_id)
        if text is not None and not isinstance(text, bytes):
            raise TypeError("a document's text is no text")
        return text

    def chunks(self, blob_id: int) -> list[ChunkRow]:
        """A content's chunks in order."""
        known = self._chunks.get(blob_id)
        if known is None:
            if len(self._chunks) >= _CHUNK_LISTS:
                self._chunks.clear()
            known = self._chunks[blob_id] = parts.chunks(self._part("chunks", blob_id))
        return known

    def symbols(self, blob_id: int) -> list[SymbolRow]:
        """A content's definitions in order."""
        known = self._symbols.get(blob_id)
        if known is None:
            if len(self._symbols) >= _SYMBOL_LISTS:
                self._symbols.clear()
            found = parts.symbols(self._part("symbols", blob_id))
            known = [SymbolRow(blob_id, position, *symbol) for position, symbol in enumerate(found)]
            self._symbols[blob_id] = known
        return known

    def uses(self, blob_id: int) -> list[Use]:
        """Where names are used in a content, in order."""
        known = self._uses.get(blob_id)
        if known is None:
            if len(self._uses) >= _USE_LISTS:
                self._uses.clear()
            known = self._uses[blob_id] = parts.uses(self._part("uses", blob_id))
        return known

    def _part(self, name: str, blob_id: int) -> bytes:
        """What is packed of a content; nothing, packed, of one that is gone."""
        return self._value(f"SELECT {name} FROM readings WHERE blob_id=?", blob_id) or parts.NOTHING

    def defined_names(self, blob_ids: Iterable[int]) -> dict[int, DefinedNames]:
        """Names and kinds of contents' definitions, in less room than `symbols`. Without any: absent."""
        return self._remember(
            self._names,
            blob_ids,
            lambda ids: (
                (blob_id, DefinedNames.of(parts.symbols(data)))
                for blob_id, data in self._packed_symbols(ids)
                if data != parts.NOTHING
            ),
        )

    def _packed_symbols(self, ids: str) -> Iterable[tuple[int, bytes]]:
        return self._db.execute(f"SELECT blob_id, symbols FROM readings WHERE blob_id IN ({ids})")

    def named(self, squashed: Iterable[str], limit: int, only: OnlyThese = ANY) -> list[SymbolRow]:
        """Definitions whose squashed name is one of these, in the manifest's contents; at most about ``limit``."""
        wanted = list(dict.fromkeys(squashed))
        marks = ",".join("?" * len(wanted))
        fits = set(wanted).__contains__
        return self._defined(f"d.squashed IN ({marks})", wanted, fits, limit, only) if wanted else []

    def names(self) -> Collection[str]:
        """The squashed names that the manifest's contents define, each once."""
        return [
            row[0] for row in self._db.execute(f"SELECT DISTINCT d.squashed FROM definitions d WHERE 1 {self._ours}")
        ]

    def named_like(self, squashed: str, *, prefix: bool, limit: int, only: OnlyThese = ANY) -> list[SymbolRow]:
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
        most = f"LIMIT {limit:d}" if only == ANY else ""
        sql = f"SELECT DISTINCT d.blob_id FROM definitions d WHERE {condition} {self._ours} {most}"
        blobs: list[int] = [row[0] for row in self._db.execute(sql, values)]
        if only.blobs is not None:
            blobs = [blob_id for blob_id in blobs if blob_id in only.blobs]
        found: list[SymbolRow] = []
        for start in range(0, len(blobs), _AT_ONCE):
            ids = ",".join([f"{blob_id:d}" for blob_id in blobs[start : start + _AT_ONCE]])
            for blob_id, data in self._packed_symbols(ids):
                found += [
                    SymbolRow(blob_id, position, *symbol)
                    for position, symbol in enumerate(parts.symbols(data))
                    if only.kind in (None, symbol.kind) and fits(squashed(symbol.name))
                ]
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
        under = f"{self._manifest_id:d}, {self.manifest.counts if self.manifest else 0:d}"
        for ids in batches(found):
            found.update(
                self._db.execute(
                    "SELECT term, sum(files) FROM term_counts "
                    f"WHERE counted_under IN ({under}) AND term IN ({ids}) GROUP BY term"
                )
            )
        self._counts.update(found)
        return {key: self._counts[key] for key in keys}

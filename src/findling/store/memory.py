"""An index in this process's memory: plain dictionaries over readings, with nothing on disk and nothing to build.

It answers as the index on disk does, in the same order. Statistics are counted of what is held, or given as
`Statistics` where what is held is only the part of a folder that was read.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from findling.model import term_rows, tokenizer
from findling.model.reading import ChunkRow, Reading, Use
from findling.model.rows import DefinedNames, FileRow, ManifestRow, SymbolRow, squashed, symbol_rows
from findling.model.text_encodings import UTF8
from findling.store.lengths import MEANS, filled_up, part
from findling.store.protocols import (
    ANY,
    CHUNK_BITS,
    FILE_UNIT,
    Frequencies,
    Index,
    OnlyThese,
    VectorRows,
    proposed,
    rounded,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from findling.model.trigram_plan import TrigramPlan

_Number = TypeVar("_Number", int, float)


class Statistics(Struct, frozen=True):
    """What is known of all files where only some of them are held: how many there are, how many have a term (by key),
    and how many terms they have, in their texts and in the names that they define."""

    files: int
    files_with: Mapping[int, int]
    body_terms: int
    name_terms: int


class _Content(Struct):
    blob_id: int
    hash: bytes
    reading: Reading
    symbols: list[SymbolRow]
    terms: Sequence[int]
    names: DefinedNames
    squashed: list[str]
    size: int


class _Field:
    """The terms of one field in each unit, counted when a question asks for them: of a few thousand texts that are read
    for one question it has ten or twenty terms."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}
        self._counted: dict[str, dict[int, tuple[int, int]]] = {}

    def add(self, unit: int, terms: str) -> None:
        """``terms``: separated by one blank each."""
        self._texts[unit] = f" {terms} "
        self._counted.clear()

    def remove(self, unit: int) -> None:
        del self._texts[unit]
        self._counted.clear()

    def units(self, term: str) -> Mapping[int, tuple[int, int]]:
        """How often a term stands in each unit that has it, and how many terms that has."""
        found = self._counted.get(term)
        if found is None:
            whole = f" {term} "
            holding = ((unit, text.split()) for unit, text in self._texts.items() if whole in text)
            found = {unit: (terms.count(term), filled_up(len(terms))) for unit, terms in holding}
            self._counted[term] = found
        return found

    def scores(self, term: str, weight: float, mean: int) -> Iterator[tuple[int, float]]:
        """Each unit that has a term, and its BM25. ``weight``: the term's, with its idf; ``mean``: how many terms
        of this field a unit has."""
        for unit, (times, length) in self.units(term).items():
            yield unit, weight * part(times, length, mean)


class MemoryIndex:
    """Implements `protocols.Index`. For one thread. ``statistics``: of more files than are held; what they do not tell
    is counted of those."""

    def __init__(self) -> None:
        self.derived: dict[int, array[int]] = {}
        self.statistics: Statistics | None = None
        self._generation = 0
        self._contents: dict[int, _Content] = {}
        self._ids: dict[tuple[bytes, str], int] = {}
        self._files: dict[int, FileRow] = {}
        self._at: dict[str, int] = {}
        self._of_content: dict[int, set[int]] = {}
        self._counts: Counter[int] = Counter()
        self._fields = {"body": _Field(), "context": _Field(), "path": _Field()}
        self._units = 0
        self._vectors: dict[int, dict[int, NDArray[np.int8]]] = {}
        self._listing: list[FileRow] | None = None
        self._next_entry = self._next_content = 1

    # --- writing --------------------------------------------------------------------------------------------

    def put(self, content_hash: bytes, reading: Reading) -> int:
        """The id of a content, which is held from now on. Again for the same content changes nothing."""
        key = (content_hash, reading.language)
        known = self._ids.get(key)
        if known is not None:
            return known
        blob_id = self._ids[key] = self._next_content
        self._next_content += 1
        names = [squashed(symbol.name) for symbol in reading.symbols]
        self._contents[blob_id] = _Content(
            blob_id,
            content_hash,
            reading,
            symbol_rows(blob_id, reading.symbols),
            term_rows.unpack(reading.terms),
            DefinedNames.of(reading.symbols),
            names,
            sum(chunk.end_byte - chunk.start_byte for chunk in reading.chunks) if reading.body_terms else 0,
        )
        return blob_id

    def publish(self, add: Mapping[str, int], remove: Iterable[str] = ()) -> int:
        """Let contents stand at paths (``add``: path -> id), in place of what stood there, and nothing at those of
        ``remove``; the number of the generation that has all of it."""
        for path in {*remove, *add} & self._at.keys():
            self._take_away(path)
        for path, blob_id in add.items():
            self._stand(path, self._contents[blob_id])
        held = set(self._of_content)
        self._ids = {key: blob_id for key, blob_id in self._ids.items() if blob_id in held}
        self._contents = {blob_id: each for blob_id, each in self._contents.items() if blob_id in held}
        self._listing = None
        self._generation += 1
        return self._generation

    def put_vectors(self, model_id: int, entry_id: int, rows: NDArray[np.int8]) -> None:
        """The vectors of an entry's chunks (m, d), in their order; zeros where a chunk has none."""
        self._vectors.setdefault(model_id, {})[entry_id] = rows

    def _stand(self, path: str, content: _Content) -> None:
        reading = content.reading
        entry_id = self._next_entry
        self._next_entry += 1
        other = None if reading.encoding == UTF8 else reading.encoding
        self._files[entry_id] = FileRow(
            entry_id,
            content.blob_id,
            path,
            reading.language,
            reading.kind,
            content.size,
            reading.lines,
            reading.generated,
            reading.body_terms,
            reading.name_terms,
            other,
        )
        self._at[path] = entry_id
        self._of_content.setdefault(content.blob_id, set()).add(entry_id)
        self._counts.update(term_rows.keys(content.terms))
        base = entry_id << CHUNK_BITS
        for ordinal, (body, context) in enumerate(reading.documents):
            self._fields["body"].add(base | ordinal, body)
            self._fields["context"].add(base | ordinal, context)
        self._fields["path"].add(base | FILE_UNIT, " ".join(tokenizer.path_terms(path)))
        self._units += len(reading.documents) + 1

    def _take_away(self, path: str) -> None:
        entry_id = self._at.pop(path)
        file = self._files.pop(entry_id)
        reading = self._contents[file.blob_id].reading
        standing = self._of_content[file.blob_id]
        standing.remove(entry_id)
        if not standing:
            del self._of_content[file.blob_id]
            self.derived.pop(file.blob_id, None)
        self._counts.subtract(term_rows.keys(self._contents[file.blob_id].terms))
        base = entry_id << CHUNK_BITS
        for ordinal in range(len(reading.documents)):
            self._fields["body"].remove(base | ordinal)
            self._fields["context"].remove(base | ordinal)
        self._fields["path"].remove(base | FILE_UNIT)
        self._units -= len(reading.documents) + 1
        for of_model in self._vectors.values():
            of_model.pop(entry_id, None)

    def ahead(self, *asks: Callable[[Index], object]) -> None:
        """Nothing to do: all of it is in this process."""

    def bring(self, *asks: Callable[[Index], object]) -> None:
        """As `ahead`."""

    # --- what stands where ----------------------------------------------------------------------------------

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """One thread writes and reads, so what is read between two writes is one generation."""
        yield

    @property
    def manifest(self) -> ManifestRow | None:
        if not self._generation:
            return None
        known, files = self.statistics, self._files.values()
        return ManifestRow(
            manifest_id=1,
            complete=True,
            pending=0,
            synced_at="",
            files=known.files if known else len(files),
            chunks=sum(len(self._contents[file.blob_id].reading.chunks) for file in files),
            body_terms=known.body_terms if known else sum(file.body_terms for file in files),
            name_terms=known.name_terms if known else sum(file.name_terms for file in files),
            counts=0,
            wanted="",
        )

    def files(self, entry_ids: Iterable[int]) -> dict[int, FileRow]:
        return {entry_id: self._files[entry_id] for entry_id in entry_ids if entry_id in self._files}

    def file_at(self, path: str) -> FileRow | None:
        entry_id = self._at.get(path)
        return None if entry_id is None else self._files[entry_id]

    def files_of_blobs(self, blob_ids: Iterable[int]) -> list[FileRow]:
        found = [self._files[entry] for blob_id in set(blob_ids) for entry in self._of_content.get(blob_id, ())]
        return sorted(found, key=lambda file: file.path)

    def all_files(self, *, prefix: str = "") -> Iterator[FileRow]:
        listing = self.listing()
        if not prefix:
            return iter(listing)
        first = bisect_left(listing, f"{prefix}/", key=lambda file: file.path)
        return iter(listing[first : bisect_right(listing, f"{prefix}/\U0010ffff", key=lambda file: file.path)])

    def listing(self) -> list[FileRow]:
        if self._listing is None:
            self._listing = sorted(self._files.values(), key=lambda file: file.path)
        return self._listing

    def paths_ending(self, tail: str) -> list[str]:
        return sorted(path for path in self._at if path.endswith(tail))

    # --- what is in it --------------------------------------------------------------------------------------

    def terms(self, blob_ids: Iterable[int]) -> dict[int, Sequence[int]]:
        return {blob_id: self._contents[blob_id].terms for blob_id in blob_ids if blob_id in self._contents}

    def chunks(self, blob_id: int) -> list[ChunkRow]:
        content = self._contents.get(blob_id)
        return content.reading.chunks if content else []

    def symbols(self, blob_id: int) -> list[SymbolRow]:
        content = self._contents.get(blob_id)
        return content.symbols if content else []

    def uses(self, blob_id: int) -> list[Use]:
        content = self._contents.get(blob_id)
        return content.reading.uses if content else []

    def mentioning(self, blob_ids: Iterable[int], name: str) -> set[int]:
        return {
            blob_id
            for blob_id in blob_ids
            if any(
                text == name or f".{name}" in text or f"/{name}" in text
                for use in self.uses(blob_id)
                for text in (use.name, use.receiver, use.value)
            )
        }

    def defined_names(self, blob_ids: Iterable[int]) -> dict[int, DefinedNames]:
        wanted = [self._contents[blob_id] for blob_id in blob_ids if blob_id in self._contents]
        return {content.blob_id: content.names for content in wanted if content.symbols}

    def doc_text(self, blob_id: int) -> bytes | None:
        content = self._contents.get(blob_id)
        return content.reading.text if content else None

    def vectors(self, entry_ids: Iterable[int], model_id: int) -> VectorRows | None:
        known = self._vectors.get(model_id, {})
        found = {entry_id: known[entry_id] for entry_id in entry_ids if entry_id in known and len(known[entry_id])}
        if not found:
            return None
        import numpy as np

        offsets = np.cumsum([0, *map(len, found.values())])
        return VectorRows(list(found), offsets, np.concatenate(list(found.values())))

    # --- proposals ------------------------------------------------------------------------------------------

    def term_counts(self, keys: Iterable[int]) -> dict[int, int]:
        known = self.statistics.files_with if self.statistics else {}
        return {key: max(known.get(key, 0), self._counts[key]) for key in keys}

    def frequencies(self, wanted: Iterable[tuple[str, str]]) -> Frequencies:
        counts = {(field, term): len(self._fields[field].units(term)) for field, term in wanted}
        return Frequencies(self._units, {key: count for key, count in counts.items() if count})

    def lexical(
        self, weights: Mapping[tuple[str, str], float], limit: int, allowed: Set[int] | None = None
    ) -> list[tuple[int, float]]:
        scores: dict[int, float] = {}
        for (name, term), weight in weights.items():
            for unit, score in self._fields[name].scores(term, weight, MEANS[name]):
                scores[unit] = scores.get(unit, 0.0) + score
        ordered = sorted(rounded(scores.items()), key=lambda pair: (-pair[1], pair[0]))
        return self._proposed(ordered, limit, allowed)

    def nearest(
        self, query: NDArray[np.float32], model_id: int, limit: int, allowed: Set[int] | None = None
    ) -> list[tuple[int, int]]:
        import numpy as np

        from findling.store import hamming

        known = {entry: rows for entry, rows in self._vectors.get(model_id, {}).items() if len(rows)}
        if not known:
            return []
        bits = np.packbits(np.concatenate(list(known.values())) >= 0, axis=1)
        units = [entry << CHUNK_BITS | place for entry, rows in known.items() for place in range(len(rows))]
        distances = hamming.hamming(bits, np.packbits(query >= 0)).tolist()
        ordered = sorted(zip(units, distances, strict=True), key=lambda pair: (pair[1], pair[0]))
        return self._proposed(ordered, limit, allowed)

    def _proposed(
        self, ordered: list[tuple[int, _Number]], limit: int, allowed: Set[int] | None
    ) -> list[tuple[int, _Number]]:
        own = self._files.keys() if allowed is None else allowed
        return proposed(lambda wanted: ordered[:wanted], lambda entries: own & entries, limit, 1)

    def names(self) -> Collection[str]:
        return {name for content in self._contents.values() for name in content.squashed}

    def named(self, squashed: Iterable[str], limit: int, only: OnlyThese = ANY) -> list[SymbolRow]:
        wanted = set(squashed)
        return self._defined(wanted.__contains__, limit, only, wanted)

    def named_like(self, squashed: str, *, prefix: bool, limit: int, only: OnlyThese = ANY) -> list[SymbolRow]:
        if prefix:
            return self._defined(lambda name: name.startswith(squashed), limit, only)
        return self._defined(lambda name: squashed in name, limit, only)

    def _defined(
        self, fits: Callable[[str], bool], limit: int, only: OnlyThese, among: Set[str] | None = None
    ) -> list[SymbolRow]:
        """The symbols whose name ``fits``; ``among``: all names that do, where they are known."""
        found: list[SymbolRow] = []
        for content in sorted(self._contents.values(), key=lambda content: content.hash):
            if only.blobs is not None and content.blob_id not in only.blobs:
                continue
            if among is not None and among.isdisjoint(content.squashed):  # as most are, and this takes no time
                continue
            found += [
                symbol
                for symbol, name in zip(content.symbols, content.squashed, strict=True)
                if only.kind in (None, symbol.kind) and fits(name)
            ]
            if len(found) >= limit:
                break
        return found

    # --- patterns -------------------------------------------------------------------------------------------

    def containing(self, plan: TrigramPlan) -> Collection[int]:
        holding = (
            blob_id for blob_id, content in self._contents.items() if plan.holds(_Codes(content.reading.trigrams))
        )
        return [entry_id for blob_id in holding for entry_id in self._of_content.get(blob_id, ())]


class _Codes:
    """The trigrams of one file, as `Reading` has them."""

    def __init__(self, packed: bytes) -> None:
        self._sorted = memoryview(packed).cast("I")

    def __contains__(self, code: Any) -> bool:
        place = bisect_left(self._sorted, code)
        return place < len(self._sorted) and bool(self._sorted[place] == code)

"""Several indexes searched as one: statistics are added up, proposals merged, and each file keeps its own place.

Whoever asks sees one index (`protocols.Index`) whose ids tell which part they are of. A path of a part may get a name
in front of it. A file that a later part has as well is that one's.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, contextmanager
from functools import partial
from heapq import merge
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from findling.model.reading import ChunkRow, Use
from findling.model.rows import DefinedNames, FileRow, ManifestRow, SymbolRow
from findling.store.protocols import ANY, CHUNK_BITS, FILE_UNIT, Frequencies, Index, OnlyThese, VectorRows, proposed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from findling.model.trigram_plan import TrigramPlan

_DERIVED = 20_000
"""Contents whose `JoinedIndex.derived` is kept, about 0.3 kB each."""

_Number = TypeVar("_Number", int, float)
_Value = TypeVar("_Value")


class Part(Struct, frozen=True):
    """An index among others. ``name`` stands before its paths ('' for nothing). ``model_id``: its own number of the
    model that all are asked by, None where it has no vectors of it."""

    index: Index
    name: str = ""
    model_id: int | None = None

    def path(self, path: str) -> str:
        return f"{self.name}/{path}" if self.name else path

    def inner(self, path: str) -> str | None:
        """A path as the part has it; None for what does not lie in it."""
        if not self.name:
            return path
        return path.removeprefix(f"{self.name}/") if path.startswith(f"{self.name}/") else None


class _Own(Struct, frozen=True):
    """The ids of one part, as the part numbers them, that are in a set of joined ids."""

    ids: Container[int]
    outer: Callable[[int], int]

    def __contains__(self, own: object) -> bool:
        return isinstance(own, int) and self.outer(own) in self.ids


class JoinedIndex:
    """Implements `protocols.Index`. For one thread."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = list(parts)
        self.derived: dict[int, array[int]] = {}
        self._hidden: list[frozenset[int]] = [frozenset()] * len(self._parts)
        self._begun: list[int] = []
        """The parts that anything was ever put into; the others may lack what proposals are made of."""

    def ahead(self, *asks: Callable[[Index], object]) -> None:
        """Nothing to do: each question goes to the parts as it comes."""

    def bring(self, *asks: Callable[[Index], object]) -> None:
        """As `ahead`."""

    # --- numbers --------------------------------------------------------------------------------------------

    def outer(self, part: int, own: int) -> int:
        """The joined id of an entry or a content, from the part's own id."""
        return own * len(self._parts) + part

    def _apart(self, ids: Iterable[int]) -> dict[int, list[int]]:
        """The ids by part, as each has them."""
        found: dict[int, list[int]] = {}
        for outer in ids:
            part, own = self.part_of(outer)
            found.setdefault(part, []).append(own)
        return found

    def _row(self, part: int, file: FileRow) -> FileRow:
        return file._replace(
            entry_id=self.outer(part, file.entry_id),
            blob_id=self.outer(part, file.blob_id),
            path=self._parts[part].path(file.path),
            collection=self._parts[part].name or file.collection,
        )

    def part_of(self, outer: int) -> tuple[int, int]:
        """Which part an entry or a content is of, and its id there."""
        own, part = divmod(outer, len(self._parts))
        return part, own

    def own(self, file: FileRow) -> tuple[int, FileRow]:
        """Which part a file is of, and the file as that part has it."""
        part, entry = self.part_of(file.entry_id)
        _, blob = self.part_of(file.blob_id)
        return part, file._replace(entry_id=entry, blob_id=blob, path=file.own_path, collection="")

    def use_models(self, model_ids: Sequence[int | None]) -> None:
        """From now on each part's vectors are of this model, by its own number (`Part.model_id`)."""
        self._parts = [replace(part, model_id=own) for part, own in zip(self._parts, model_ids, strict=True)]

    def _shown(self, part: int, files: Iterable[FileRow]) -> Iterator[FileRow]:
        hidden = self._hidden[part]
        return (self._row(part, file) for file in files if file.entry_id not in hidden)

    # --- what stands where ----------------------------------------------------------------------------------

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        if len(self.derived) > _DERIVED:
            self.derived.clear()
        with ExitStack() as entered:
            for part in self._parts:
                entered.enter_context(part.index.snapshot())
            self._begun = [at for at, part in enumerate(self._parts) if part.index.manifest is not None]
            self._hide()
            yield

    def _hide(self) -> None:
        """Hide the files of a part whose paths a later part has as well."""
        taken: set[str] = set()
        for at in reversed(range(len(self._parts))):
            part = self._parts[at]
            inner = [own for path in taken if (own := part.inner(path)) is not None]
            same = (part.index.file_at(path) for path in inner)
            self._hidden[at] = frozenset(file.entry_id for file in same if file is not None)
            if at and not part.name:
                taken.update(file.path for file in part.index.listing())

    @property
    def manifest(self) -> ManifestRow | None:
        """The totals of all parts, and the oldest of their states."""
        known = [found for part in self._parts if (found := part.index.manifest) is not None]
        if not known:
            return None
        first = min(known, key=lambda each: each.synced_at)
        return first._replace(
            complete=len(known) == len(self._parts) and all(each.complete for each in known),
            pending=sum(each.pending for each in known),
            files=sum(each.files for each in known),
            chunks=sum(each.chunks for each in known),
            body_terms=sum(each.body_terms for each in known),
            name_terms=sum(each.name_terms for each in known),
        )

    def files(self, entry_ids: Iterable[int]) -> dict[int, FileRow]:
        wanted = list(entry_ids)
        found: dict[int, FileRow] = {}
        for part, own in self._apart(wanted).items():
            for row in self._shown(part, self._parts[part].index.files(own).values()):
                found[row.entry_id] = row
        return {entry: found[entry] for entry in wanted if entry in found}

    def file_at(self, path: str) -> FileRow | None:
        for part, each in enumerate(self._parts):
            own = each.inner(path)
            file = each.index.file_at(own) if own is not None else None
            if file is not None and file.entry_id not in self._hidden[part]:
                return self._row(part, file)
        return None

    def files_of_blobs(self, blob_ids: Iterable[int]) -> list[FileRow]:
        found: list[FileRow] = []
        for part, own in self._apart(blob_ids).items():
            found += self._shown(part, self._parts[part].index.files_of_blobs(own))
        return sorted(found, key=lambda file: file.path)

    def all_files(self, *, prefix: str = "") -> Iterator[FileRow]:
        return merge(*self._listings(prefix), key=lambda file: file.path)

    def _listings(self, prefix: str) -> Iterator[Iterator[FileRow]]:
        for part, each in enumerate(self._parts):
            if not prefix or prefix == each.name:
                yield self._shown(part, each.index.all_files())
            elif (own := each.inner(prefix)) is not None:
                yield self._shown(part, each.index.all_files(prefix=own))

    def listing(self) -> list[FileRow]:
        return list(self.all_files())

    def paths_ending(self, tail: str) -> list[str]:
        return sorted(part.path(path) for part in self._parts for path in part.index.paths_ending(tail))

    # --- what is in it --------------------------------------------------------------------------------------

    def terms(self, blob_ids: Iterable[int]) -> dict[int, Sequence[int]]:
        return self._of_contents(blob_ids, lambda index, own: index.terms(own))

    def defined_names(self, blob_ids: Iterable[int]) -> dict[int, DefinedNames]:
        return self._of_contents(blob_ids, lambda index, own: index.defined_names(own))

    def _of_contents(
        self, blob_ids: Iterable[int], ask: Callable[[Index, list[int]], Mapping[int, _Value]]
    ) -> dict[int, _Value]:
        return {
            self.outer(part, blob_id): value
            for part, own in self._apart(blob_ids).items()
            for blob_id, value in ask(self._parts[part].index, own).items()
        }

    def chunks(self, blob_id: int) -> list[ChunkRow]:
        part, own = self.part_of(blob_id)
        return self._parts[part].index.chunks(own)

    def symbols(self, blob_id: int) -> list[SymbolRow]:
        part, own = self.part_of(blob_id)
        return [symbol._replace(blob_id=blob_id) for symbol in self._parts[part].index.symbols(own)]

    def uses(self, blob_id: int) -> Sequence[Use]:
        part, own = self.part_of(blob_id)
        return self._parts[part].index.uses(own)

    def mentioning(self, blob_ids: Iterable[int], name: str) -> set[int]:
        return {
            self.outer(part, own)
            for part, ids in self._apart(blob_ids).items()
            for own in self._parts[part].index.mentioning(ids, name)
        }

    def doc_text(self, blob_id: int) -> bytes | None:
        part, own = self.part_of(blob_id)
        return self._parts[part].index.doc_text(own)

    def vectors(self, entry_ids: Iterable[int], model_id: int) -> VectorRows | None:
        """``model_id`` is not looked at: each part has its own (`Part.model_id`)."""
        found: list[tuple[int, VectorRows]] = []
        for part, own in self._apart(entry_ids).items():
            of_model = self._parts[part].model_id
            rows = None if of_model is None else self._parts[part].index.vectors(own, of_model)
            if rows is not None:
                found.append((part, rows))
        if not found:
            return None
        import numpy as np

        counts = np.concatenate([np.diff(rows.offsets) for _, rows in found])
        entries = [self.outer(part, entry) for part, rows in found for entry in rows.entries]
        return VectorRows(
            entries, np.concatenate([[0], np.cumsum(counts)]), np.concatenate([rows.rows for _, rows in found])
        )

    # --- proposals ------------------------------------------------------------------------------------------

    def _filled(self) -> list[Part]:
        return [self._parts[at] for at in self._begun]

    def term_counts(self, keys: Iterable[int]) -> dict[int, int]:
        wanted = list(keys)
        found = Counter(dict.fromkeys(wanted, 0))
        for part in self._filled():
            found.update(part.index.term_counts(wanted))
        return dict(found)

    def frequencies(self, wanted: Iterable[tuple[str, str]]) -> Frequencies:
        asked = list(wanted)
        every = [part.index.frequencies(asked) for part in self._filled()]
        holding: Counter[tuple[str, str]] = Counter()
        for each in every:
            holding.update(each.holding)
        return Frequencies(sum(each.units for each in every), holding)

    def lexical(
        self, weights: Mapping[tuple[str, str], float], limit: int, allowed: Set[int] | None = None
    ) -> list[tuple[int, float]]:
        return self._proposed(lambda part, count, own: part.index.lexical(weights, count, own), limit, allowed, -1)

    def nearest(
        self, query: NDArray[np.float32], model_id: int, limit: int, allowed: Set[int] | None = None
    ) -> list[tuple[int, int]]:
        def ask(part: Part, count: int, own: Set[int] | None) -> list[tuple[int, int]]:
            return [] if part.model_id is None else part.index.nearest(query, part.model_id, count, own)

        return self._proposed(ask, limit, allowed, 1)

    def _proposed(
        self,
        ask: Callable[[Part, int, Set[int] | None], list[tuple[int, _Number]]],
        limit: int,
        allowed: Set[int] | None,
        sign: int,
    ) -> list[tuple[int, _Number]]:
        """The best of all parts, ``sign`` times their number ascending. One more than asked for tells who is as good as
        the last."""
        own = None if allowed is None else self._apart(allowed)
        found: list[tuple[int, _Number]] = []
        for at, part in zip(self._begun, self._filled(), strict=True):
            among = None if own is None else frozenset(own.get(at, ()))
            if among is not None and not among:
                continue
            for unit, number in ask(part, limit + 1, among):
                entry = unit >> CHUNK_BITS
                if entry not in self._hidden[at]:
                    found.append((self.outer(at, entry) << CHUNK_BITS | unit & FILE_UNIT, number))
        found.sort(key=lambda each: (sign * each[1], each[0]))
        return proposed(lambda count: found[:count], lambda entries: entries, limit, 1)

    def names(self) -> Collection[str]:
        return {name for part in self._parts for name in part.index.names()}

    def named(self, squashed: Iterable[str], limit: int, only: OnlyThese = ANY) -> list[SymbolRow]:
        wanted = list(squashed)
        return self._definitions(lambda index, own: index.named(wanted, limit, own), only)

    def named_like(self, squashed: str, *, prefix: bool, limit: int, only: OnlyThese = ANY) -> list[SymbolRow]:
        return self._definitions(
            lambda index, own: index.named_like(squashed, prefix=prefix, limit=limit, only=own), only
        )

    def _definitions(self, ask: Callable[[Index, OnlyThese], list[SymbolRow]], only: OnlyThese) -> list[SymbolRow]:
        found: list[SymbolRow] = []
        for at, part in zip(self._begun, self._filled(), strict=True):
            blobs = None if only.blobs is None else _Own(only.blobs, partial(self.outer, at))
            found += [
                symbol._replace(blob_id=self.outer(at, symbol.blob_id))
                for symbol in ask(part.index, OnlyThese(blobs, only.kind))
            ]
        return found

    # --- patterns -------------------------------------------------------------------------------------------

    def containing(self, plan: TrigramPlan) -> Collection[int]:
        return [
            self.outer(at, own)
            for at in self._begun
            for own in self._parts[at].index.containing(plan)
            if own not in self._hidden[at]
        ]

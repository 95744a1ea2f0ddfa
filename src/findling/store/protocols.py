"""The seam: what a search asks of an index, wherever it is kept. The only module of this room that `search` sees.

An implementation is one folder or file: `reader` (SQLite, tantivy and files beside them) and `memory`. All answer the
same questions alike, in the same order; one suite holds them to it.

An *entry* is a content at a path, a *content* (``blob_id``) what stands there, whatever its path. A *unit* is a chunk
of an entry, or the entry as a whole: ``entry_id << CHUNK_BITS | ordinal``, with `FILE_UNIT` for the whole. Ids are
whole numbers that mean something to the index that gave them, and to nobody else. Everything is asked within a
`Manifests.snapshot`.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from findling.model.reading import ChunkRow, Use
    from findling.model.rows import DefinedNames, FileRow, ManifestRow, ModelRow, SymbolRow
    from findling.model.trigram_plan import TrigramPlan
    from findling.model.types import TreeState


CHUNK_BITS = 12
"""4,095 chunks are far above the cap of a file."""

FILE_UNIT = (1 << CHUNK_BITS) - 1


class OnlyThese(NamedTuple):
    """Which definitions count: only in these contents, only of this kind; None for any."""

    blobs: Container[int] | None = None
    kind: str | None = None


ANY = OnlyThese()


class VectorRows(NamedTuple):
    """Vectors of the chunks of some entries, in int8 steps of one length: ``rows`` (m, d). Those of ``entries[i]`` are
    rows ``offsets[i]`` to ``offsets[i + 1]``, in chunk order; a row of zeros is a chunk without a vector."""

    entries: Sequence[int]
    offsets: NDArray[np.int64]
    rows: NDArray[np.int8]


class Frequencies(NamedTuple):
    """How many ``units`` there are, chunks and files, and how many of them hold a term in a field."""

    units: int
    holding: Mapping[tuple[str, str], int]


class Manifests(Protocol):
    """What stands where."""

    def snapshot(self) -> AbstractContextManager[None]:
        """Everything asked inside is answered from one generation."""

    @property
    def manifest(self) -> ManifestRow | None:
        """The totals; None where nothing was ever indexed."""

    def files(self, entry_ids: Iterable[int]) -> dict[int, FileRow]:
        """Those of the entries that are searched."""

    def file_at(self, path: str) -> FileRow | None: ...

    def files_of_blobs(self, blob_ids: Iterable[int]) -> list[FileRow]:
        """The files with these contents, by path."""

    def all_files(self, *, prefix: str = "") -> Iterator[FileRow]:
        """Every file by path, or those in the folder ``prefix``."""

    def listing(self) -> list[FileRow]:
        """Every file by path, remembered: for questions that may touch any of them."""

    def paths_ending(self, tail: str) -> list[str]:
        """Every known path that ends with ``tail``, in order, of files without a reading too."""


class Records(Protocol):
    """What is known of contents, and the vectors of entries. Ids that are gone are left out of answers."""

    derived: dict[int, array[int]]
    """By content, numbers that ranking works out from its definitions. They are kept as long as the definitions are."""

    def terms(self, blob_ids: Iterable[int]) -> dict[int, Sequence[int]]:
        """Term rows (`model.term_rows`) by content."""

    def chunks(self, blob_id: int) -> list[ChunkRow]: ...

    def symbols(self, blob_id: int) -> list[SymbolRow]: ...

    def uses(self, blob_id: int) -> Sequence[Use]:
        """Where names are used in a content, in order."""

    def mentioning(self, blob_ids: Iterable[int], name: str) -> Set[int]:
        """Which of some contents may use a name, by itself or as a receiver. No reading is unpacked to tell, so there
        may be contents among them that do not."""

    def defined_names(self, blob_ids: Iterable[int]) -> dict[int, DefinedNames]:
        """Names and kinds of definitions; contents without any are absent."""

    def doc_text(self, blob_id: int) -> bytes | None:
        """The text of a content in UTF-8, where the index keeps it: for converted documents, and for everything where
        the files are elsewhere. None for others."""

    def vectors(self, entry_ids: Iterable[int], model_id: int) -> VectorRows | None:
        """The vectors of these entries; those without are left out. None where no entry has any."""


class Proposals(Protocol):
    """Which of the files that are searched may answer, and the statistics of all that are.

    ``allowed``: only these entries, None for all. Lists are best first. Where what was cut off is as good as the
    last ones of a list, these are left out too, unless all are equal: ids would decide which of them stay.
    """

    def term_counts(self, keys: Iterable[int]) -> dict[int, int]:
        """How many files have each term, by term key."""

    def frequencies(self, wanted: Iterable[tuple[str, str]]) -> Frequencies:
        """How many units have terms, by (field, term); one that none has is absent."""

    def lexical(
        self, weights: Mapping[tuple[str, str], float], limit: int, allowed: Set[int] | None = None
    ) -> list[tuple[int, float]]:
        """At most ``limit`` (unit, BM25). ``weights``: by (field, term), with the term's idf: the index adds none. The
        fields are ``body`` and ``context`` of chunks, ``path`` of files."""

    def nearest(
        self, query: NDArray[np.float32], model_id: int, limit: int, allowed: Set[int] | None = None
    ) -> list[tuple[int, int]]:
        """At most ``limit`` (unit, sign bits of its vector that differ from the query's)."""

    def names(self) -> Collection[str]:
        """The squashed names of all definitions, without repetitions."""

    def named(self, squashed: Iterable[str], limit: int, only: OnlyThese = ANY) -> list[SymbolRow]:
        """Definitions whose squashed name is one of these, at most about ``limit``: of more, those of the contents
        whose hashes come first, as ids tell how the index came about."""

    def named_like(self, squashed: str, *, prefix: bool, limit: int, only: OnlyThese = ANY) -> list[SymbolRow]:
        """The same whose name begins with (``prefix``) or contains a text."""


class Patterns(Protocol):
    """What tells which files can contain a text, without reading them."""

    def containing(self, plan: TrigramPlan) -> Collection[int]:
        """The entries, among the files that are searched, whose content can match the plan."""


class Index(Manifests, Records, Proposals, Patterns, Protocol):
    """All of it. Not to be shared between threads."""

    def ahead(self, *asks: Callable[[Index], object]) -> None:
        """Say what will be asked next, each as a function that asks it: a store far away brings all of it in one round
        trip, together with what is really asked first. What such a function is given means nothing."""

    def bring(self, *asks: Callable[[Index], object]) -> None:
        """Let a store far away bring all that some functions ask, and all that they ask by what was brought: one round
        trip for each step that they all take together. Each function may be begun several times, and must change
        nothing. Afterwards what they do is done without a trip."""


# --- what is known of an index beside what a search asks -------------------------------------------------------------


class Models(Protocol):
    """The models whose vectors an index has."""

    def get(self, model_id: int) -> ModelRow | None: ...

    def id_of(self, fingerprint: str) -> int | None: ...

    def latest(self, *, docs: bool = True) -> int | None:
        """The model that made vectors last, or with ``docs`` False the last one that made any of code."""

    def every(self, name: str | None = None) -> Sequence[ModelRow]:
        """The models with vectors, the newest last; with a ``name`` those with this name or fingerprint."""

    def latest_of_documents(self) -> int | None:
        """Of the models that are to make vectors of documents, the one that was used last."""

    def live_vectors(self, model_id: int) -> Iterator[tuple[int, int, int, bytes]]:
        """(a number of its own, entry id, seconds since 1970, packed vectors) of each file, by path."""

    def embedded_chunks(self, model_id: int | None) -> int:
        """How many chunks have a vector of the model."""

    def count_unembedded(self, model_id: int) -> int:
        """How many files lack vectors that they should have."""

    def stored(self, entry_ids: Iterable[int], model_id: int) -> Mapping[int, bytes]:
        """Packed vectors (`vector_codes`), one after the other in chunk order; entries without are absent."""


class Listed(Protocol):
    """What the last run found in the folder."""

    @property
    def any_unread(self) -> bool:
        """Whether a file could not be read, and may be readable by now."""

    def known_files(self) -> dict[str, tuple[int, int]]:
        """path -> (size, stamp) of every file that is listed."""

    def state_of(self, path: str) -> tuple[int, int] | None:
        """The same of one file."""

    def tree(self) -> TreeState | None:
        """What the listing depended on; None where that is not known."""

    def skipped(self) -> list[tuple[str, str, str]]:
        """(path, reason, detail) of every file that was left out."""

    def skipped_counts(self) -> dict[str, int]: ...

    def totals(self) -> dict[str, int]:
        """Sums over all files for a status report."""

    def languages(self) -> dict[str, int]:
        """Files per language."""


class KeptIndex(Index, Protocol):
    """An index that outlasts a question, on disk or in PostgreSQL."""

    @property
    def models(self) -> Models: ...

    @property
    def listed(self) -> Listed: ...

    def latest_fingerprint(self) -> str | None:
        """Of the model that made vectors last."""

    def taken_apart(self, blob_id: int) -> tuple[int, int, str]:
        """How many chunks and symbols a content has, and what kept the others from being found (`Reading.problem`)."""


# --- an engine beside a store -------------------------------------------------------------------------------------


class Ask(NamedTuple):
    """What an engine beside a store looks for: the best ``limit`` rows of a kind in some views, by weights of (field,
    term) or by bits."""

    kind: str
    query: bytes | Mapping[tuple[int, str], float]
    views: Sequence[int]
    limit: int


class Engine(Protocol):
    """Proposes rows for a store, which is the truth and has the last word. ``store`` names the store: several may share
    an engine. Every method raises `IndexUnavailable` where it does not answer."""

    url: str

    def find(self, store: str, asks: Sequence[Ask]) -> list[list[tuple[int, float]]]:
        """The best rows of each question: (unit, score) by weights, which may be too high but not too low, and (unit,
        bits that differ) by bits."""

    def make(self, store: str, kinds: Mapping[str, int]) -> bool:
        """Make room for kinds, each with its number of bits, 0 for weights. Whether any had none."""

    def put(self, store: str, kind: str, view: int, rows: Iterable[Row]) -> None:
        """Write rows of a view; what is there under their units is replaced."""

    def delete(self, store: str, kind: str, items: Sequence[int]) -> None: ...

    def check(self) -> None: ...

    def close(self) -> None: ...


Row = tuple[int, int, bytes | Mapping[tuple[int, str], float]]
"""A unit, the item that it goes with, and its bits or weights."""


# --- proposals ----------------------------------------------------------------------------------------------------
# Proposals that belong to what is searched. Pure.
#
# The derived indexes hold more than one question is about: earlier versions of files, other branches, other work trees.
# Of a file that was deleted a minute ago all passages may come first; cut before it is looked whose they are, a list of
# the nearest would hold nothing else.

Own = Callable[[Set[int]], Set[int]]
"""Those of some entries that are searched."""

_MORE = (1, 4, 16, 64)
"""How many times as many are asked for, one after the other, while too few belong to the files that are searched. What
comes after the last is too far off to matter."""

_Number = TypeVar("_Number", int, float)


def proposed(
    find: Callable[[int], Sequence[tuple[int, _Number]]], own: Own, count: int, share: int
) -> list[tuple[int, _Number]]:
    """The first ``count`` of the (unit id, number) that ``find`` gives in order, of what is searched alone, each unit
    once; without the last ones where others are as good (they would be chosen by their ids, which tell how the index
    came about), unless all are.

    ``find`` is asked for so many, and for more while it has more and too few are ours, up to a bound; ``share``: one in
    how many of them is likely to be.
    """
    if count <= 0:
        return []
    first = count * share + 1
    for more in _MORE:
        wanted = first * more
        found = find(wanted)
        ours = own({unit >> CHUNK_BITS for unit, _ in found})
        kept: dict[int, _Number] = {}
        for unit, number in found:
            if unit >> CHUNK_BITS in ours:
                kept.setdefault(unit, number)
        if len(kept) > count or len(found) < wanted:
            break
    return _first(list(kept.items()), count)


_DECIMALS = 2
"""Of a score. A store that adds in another order, or with fewer bits, gets other decimals after these; where they would
round to another number, it has to add up exactly (`is_settled`)."""


def rounded(scores: Iterable[tuple[int, float]]) -> list[tuple[int, float]]:
    """Units and scores that are the same wherever they were worked out."""
    return [(unit, round(score, _DECIMALS)) for unit, score in scores]


def is_settled(score: float, error: float) -> bool:
    """Whether a score that may be off by ``error`` has one rounded value, whatever the exact one is."""
    return round(score - error, _DECIMALS) == round(score + error, _DECIMALS)


def _first(ordered: list[tuple[int, _Number]], count: int) -> list[tuple[int, _Number]]:
    if len(ordered) <= count:
        return ordered
    left_out = ordered[count][1]
    return [each for each in ordered[:count] if each[1] != left_out] or ordered[:count]

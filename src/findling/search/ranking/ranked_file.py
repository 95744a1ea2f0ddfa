"""A candidate of a query: the evidence for the file and for the places in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from findling.model.rows import FileRow
from findling.model.types import Reason
from findling.search.ranking import formula
from findling.search.symbol import Definition

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class FileCosines(NamedTuple):
    """One file's cosines with the query by chunk: the chunk's ``own``, and that of the ``window`` around it."""

    own: NDArray[np.float32]
    window: NDArray[np.float32]


NAMES_SAID = 3
"""The most definitions that an explanation names."""

TEXT_IN_CHUNK = 1.3
COSINE_IN_CHUNK = 0.8
COSINE_IN_SECTION = 1.5
DEFINITION_IN_CHUNK = 1.5
EXACT_IN_CHUNK = 3.0
PHRASE_IN_CHUNK = 1.0
SAID_IN_CHUNK = 2.0
NAME_IN_CHUNK = 0.5
TESTS_IN_CHUNK = 3.0
NEAREST_CHUNKS = 8
"""How the place inside a file is chosen: its text, its cosine, whether the definition asked for stands in it, whether
it has the query's words together; how near to the query the name of the definition is that it is a part of; and whether
it is among the tests of the file itself, which speaks against it unless tests are asked for."""


class RankedFile(Struct):
    """A candidate with its signals and its rank value; `chunk_values` orders the places inside it.

    Of the query: ``held`` is the share of each term that it holds, ``rare_coverage`` that of all, rare terms above all.
    ``texts`` are BM25 shares by chunk ordinal. ``cosines`` are of all chunks, ``best_cosine`` is the best of them and
    ``highest`` the best of any file; ``window_cosine`` is what the signal of that name is made from. ``phrase``: the
    share of the query's neighbouring words that stand together in one of its places, where these were read. ``names``:
    how near names that it defines are to the query, where that was looked at. ``found_there``: what parts of a pasted
    text found, by their signal. ``asked_line``: where it defines the name that is all that was asked. ``translations``
    and ``copies``: the paths of files that stand under it.
    """

    file: FileRow
    values: dict[str, float] = {}
    rank_value: float = 0.0
    rare_coverage: float = 0.0
    held: Sequence[float] = ()
    texts: dict[int, float] = {}
    cosines: FileCosines | None = None
    highest: float = 0.0
    best_cosine: float = 0.0
    window_cosine: float = 0.0
    phrase: float = 0.0
    definitions: list[Definition] = []
    exact_line: int = 0
    first_line: int = 0
    asked_line: int = 0
    names: Mapping[str, float] = {}
    found_there: Mapping[str, str] = {}
    translations: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    use: frozenset[str] = frozenset()

    def chunk_values(self) -> dict[int, float]:
        """By ordinal, the value of a chunk from its text and its cosine; only of chunks that may be worth showing."""
        values = {ordinal: TEXT_IN_CHUNK * share for ordinal, share in self.texts.items()}
        if self.cosines is not None and self.highest > 0:
            own = self.cosines.own
            weight = COSINE_IN_SECTION if self.file.kind == "docs" else COSINE_IN_CHUNK
            nearest = own.argsort()[-NEAREST_CHUNKS:].tolist()
            for ordinal in {*values, *nearest}:
                share = max(0.0, float(own[ordinal])) / self.highest if ordinal < len(own) else 0.0
                values[ordinal] = values.get(ordinal, 0.0) + weight * share
        return values

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The shares of the rank value, largest first; they add up to it."""
        return formula.reasons(self.values, self.use, self._found())

    def _found(self) -> dict[str, str]:
        """What the signals for definitions and quotations found, in words."""
        found = {name: f": {what}" for name, what in self.found_there.items() if what}
        found |= {"exact": f", first on line {self.first_line}"} if self.first_line else {}
        if self.exact_line:
            found["message"] = f", on line {self.exact_line}"
        for signals_of, alike in ((("definition", "asked", "named"), False), (("alike",), True)):
            same = [definition.symbol.name for definition in self.definitions if definition.alike == alike]
            different = list(dict.fromkeys(same))
            if different:
                said = ", ".join(different[:NAMES_SAID]) + (", ..." if len(different) > NAMES_SAID else "")
                found.update(dict.fromkeys(signals_of, said))
        return found


def put_in_order(ranked: list[RankedFile], changed: Iterable[RankedFile]) -> None:
    """Sum the signals of ``changed`` anew and put all in order, best first, ties by path."""
    for item in changed:
        item.rank_value = formula.rank_value(item.values, item.use)
    ranked.sort(key=lambda item: (-item.rank_value, item.file.path))


def divide_by_best(ranked: Sequence[RankedFile], signal: str) -> None:
    """Each value as a share of the best file's."""
    best = max((item.values[signal] for item in ranked), default=0.0)
    if best > 0:
        for item in ranked:
            item.values[signal] /= best

"""What the order of text says when meaning may be asked too: each file's ranks, and how sure text is of the query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from findling.model.types import Intent
from findling.search import lexical, places
from findling.search.analysis import STOP_WORDS, QueryTerms
from findling.search.ranking import RankedFile, formula
from findling.store.protocols import Index

LOOKED_AT = 5
"""Files whose places tell how sure text is: what is called as the query is comes first."""


class TextOrder(NamedTuple):
    """Files as text alone ranks them. ``ranks``: path -> its place, from 1, in the lists symbol, keyword and file;
    ``rank_parts``: path -> what these come to."""

    ranked: list[RankedFile]
    ranks: Mapping[str, Mapping[str, int]]
    rank_parts: Mapping[str, float]
    confidence: float


def text_order(
    reader: Index, terms: QueryTerms, intent: Intent, ranked: list[RankedFile], by_text: Set[int]
) -> TextOrder:
    """Of files in their order; ``by_text``: the entries that words or a quotation found."""
    lists = {
        "symbol": _paths_by(ranked, "definition", "named"),
        "keyword": [item.file.path for item in ranked if item.file.entry_id in by_text],
        "file": _paths_by(ranked, "stem", "path"),
    }
    ranks: dict[str, dict[str, int]] = {}
    for name, paths in lists.items():
        for at, path in enumerate(paths, 1):
            ranks.setdefault(path, {})[name] = at
    parts = lexical.rank_parts(intent, lists)
    sure = [_confidence(reader, terms, item, parts) for item in ranked[:LOOKED_AT]]
    return TextOrder(ranked, ranks, parts, max(sure, default=0.0))


def _confidence(reader: Index, terms: QueryTerms, item: RankedFile, parts: Mapping[str, float]) -> float:
    """How far a file, and what its best place is called, are what the query asks for."""
    place, path = places.choose(reader, terms, item), item.file.path
    found = lexical.evidence(
        terms.text,
        rank=parts.get(path, 0.0),
        name=place.name,
        qualified_name=place.qualified_name,
        path=path,
        text="",
        ignore=STOP_WORDS,
    )
    return found.confidence


def _paths_by(ranked: Sequence[RankedFile], *signals: str) -> list[str]:
    """The paths of the files for which some signals speak, by the sum of these."""
    sums = {
        item.file.path: sum(formula.SIGNALS[name].weight * item.values.get(name, 0.0) for name in signals)
        for item in ranked
    }
    return sorted((path for path, value in sums.items() if value > 0), key=lambda path: (-sums[path], path))

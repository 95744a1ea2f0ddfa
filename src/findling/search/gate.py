"""Whether a question is asked by meaning, and how much that weighs: what a query's gate says of one intent. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from findling.model.types import Gate, Intent, Query, Skip
from findling.search import lexical, places
from findling.search.analysis import QueryTerms
from findling.search.intent import classify
from findling.search.query import WITHOUT_VECTORS
from findling.search.ranking import formula
from findling.search.ranking.ranked_file import RankedFile
from findling.search.vocabulary import STOP_WORDS
from findling.store.protocols import Index

FADE_FROM = 0.55
"""Confidence of text up to which meaning weighs as much as it may; from here to the gate's ``sure`` it fades."""

EVEN = 0.5
"""The ratio at which text and vectors weigh what they do in the engine's own sum."""


def skipped(gate: Gate, intent: Intent, text_confidence: float) -> Skip | None:
    """Why meaning is not asked, None when it is; the first reason that holds."""
    cap = gate.caps.get(intent)
    if cap is None:
        return "intent"
    if cap == 0:
        return "ratio"
    if gate.closed:
        return "closed"
    return "sure" if text_confidence >= gate.sure else None


def ratio(gate: Gate, intent: Intent, text_confidence: float) -> float:
    """What meaning weighs when text is so sure: all that it may up to `FADE_FROM`, nothing from ``gate.sure`` on."""
    cap = gate.caps.get(intent, 0.0)
    if text_confidence >= gate.sure:
        return 0.0
    if gate.sure <= FADE_FROM:
        return cap
    return cap * min(1.0, max(0.0, (gate.sure - text_confidence) / (gate.sure - FADE_FROM)))


def needs_vectors(query: Query) -> bool:
    """Whether a query may be asked by meaning, as far as can be told before anything is searched."""
    if query.mode in WITHOUT_VECTORS:
        return False
    return query.gate is None or skipped(query.gate, classify(query.text).intent, 0.0) is None


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

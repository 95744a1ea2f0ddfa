"""A finished search to a `SearchResult`: what it is worth, what was cut, how fresh it is."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence, Set
from dataclasses import replace

from findling.model.types import Completeness, Confidence, Coverage, Freshness, Hit, Query, SearchResult, Span
from findling.search.query import WITHOUT_VECTORS
from findling.search.ranking import RankedFile
from findling.search.searcher import Found
from findling.search.snippet import Level, Place, pack


def make_result(
    query: Query,
    found: Found,
    confidence: float,
    coverage: Coverage,
    freshness: Freshness,
    stale_reason: str,
    notes: Sequence[str],
    started: float,
    changed_since: Set[str],
) -> SearchResult:
    """``changed_since``: paths whose content on disk is no longer what was searched."""
    hits, cut = _fit(found.hits, query.max_tokens)
    said = [*notes, *([cut] if cut else ())]
    if changed_since := changed_since & {hit.path for hit in hits}:  # more files are read than are shown
        hits = [replace(hit, stale=hit.path in changed_since) for hit in hits]
        freshness, stale_reason = "stale", stale_reason or "files in the answer changed while it was made"
    completeness: Completeness = "complete"
    lacks_vectors = query.mode not in WITHOUT_VECTORS and coverage.missing_vectors > 0
    if coverage.unfinished or lacks_vectors or coverage.unread:
        completeness = "partial"
    elif cut:
        completeness = "truncated"
    return SearchResult(
        query=query.text,
        hits=tuple(hits),
        total=found.total,
        intent=found.intent.intent,
        mode=query.mode,
        confidence=confidence,
        freshness=freshness,
        completeness=completeness,
        coverage=coverage,
        took_ms=(time.monotonic() - started) * 1000,
        notes=tuple(said),
        stale_reason=stale_reason,
        absent=found.absent,
        groups=found.groups if {hit.group for hit in hits} >= set(found.groups) else (),
    )


def _fit(hits: Sequence[Hit], max_tokens: int | None) -> tuple[list[Hit], str]:
    """The hits within a token budget, and what was cut."""
    if max_tokens is None:
        return list(hits), ""
    packed = pack(
        [
            Place(" ".join((_place(hit), hit.qualified_name, *map(_place, hit.others))), hit.snippet, hit.body)
            for hit in hits
        ],
        max_tokens,
    )
    return at_levels(hits, packed.levels), packed.note


def _place(where: Hit | Span) -> str:
    lines = f"{where.start_line}-{where.end_line}"
    return f"{where.path}:{lines}" if isinstance(where, Hit) else f"{lines} {where.symbol}"


def at_levels(hits: Sequence[Hit], levels: Sequence[Level]) -> list[Hit]:
    """As much of each hit as its level says."""
    return [at_level(hit, level) for hit, level in zip(hits, levels, strict=True) if level != "omitted"]


def at_level(hit: Hit, level: Level) -> Hit:
    """A place, a place with a snippet, or all of it."""
    if level == "place":
        return replace(hit, snippet="", matches=(), body="")
    return replace(hit, body="") if level == "snippet" else hit


BIAS = -2.4
COVERAGE = 2.5
MEAN_COVERAGE = 2.0
COSINE = 3.0
DEFINITION = 2.0
"""Round, and set so that one in twelve right answers is below one half."""

CERTAIN = ("definition", "asked_path", "exact", "message")
"""Signals of what was asked for by name or to the letter: a definition, a file, a quotation; a message by its share."""

FIRST = 3
"""Files whose nearest passage, mean coverage and definitions count."""

TYPICAL_COSINE = 0.54
"""Of a right answer's best passage; stands in where there are no vectors."""


def judge(ranked: Sequence[RankedFile]) -> Confidence:
    """How sure it is that the first places answer the question; 0 without places."""
    if not ranked:
        return Confidence()
    first = ranked[:FIRST]
    cosines = [item.best_cosine for item in first if item.cosines is not None]
    named = max(max(item.values.get(name, 0.0) for name in CERTAIN) for item in first)
    held = sum(item.rare_coverage for item in first) / len(first)
    value = BIAS + COVERAGE * first[0].rare_coverage + MEAN_COVERAGE * held
    value += COSINE * max(cosines, default=TYPICAL_COSINE) + DEFINITION * named
    share = 1.0 / (1.0 + math.exp(-value))
    return Confidence(share, first[0].rare_coverage, held, max(cosines, default=None), named)

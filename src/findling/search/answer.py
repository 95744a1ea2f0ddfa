"""A finished search to a `SearchResult`: what it is worth, what was cut, how fresh it is."""

from __future__ import annotations

import time
from collections.abc import Sequence, Set
from dataclasses import replace

from findling.search.confidence import confidence
from findling.search.searcher import Found
from findling.search.snippet import Place, pack
from findling.types import Completeness, Coverage, Freshness, Hit, Query, SearchResult

_WITH_VECTORS = frozenset(("auto", "hybrid", "semantic"))


def make_result(
    query: Query,
    found: Found,
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
    if changed_since:
        hits = [replace(hit, stale=hit.path in changed_since) for hit in hits]
        freshness, stale_reason = "stale", stale_reason or "files in the answer changed while it was made"
    completeness: Completeness = "complete"
    lacks_vectors = query.mode in _WITH_VECTORS and coverage.missing_vectors > 0
    if coverage.pending_files or lacks_vectors or not coverage.complete:
        completeness = "partial"
    elif cut:
        completeness = "truncated"
    return SearchResult(
        query=query.text,
        hits=tuple(hits),
        total=found.total,
        intent=found.intent.intent,
        mode=query.mode,
        confidence=confidence(found.ranked),
        freshness=freshness,
        completeness=completeness,
        coverage=coverage,
        took_ms=(time.monotonic() - started) * 1000,
        notes=tuple(said),
        stale_reason=stale_reason,
    )


def _fit(hits: Sequence[Hit], max_tokens: int | None) -> tuple[list[Hit], str]:
    """The hits within a token budget, and what was cut."""
    if max_tokens is None:
        return list(hits), ""
    packed = pack(
        [
            Place(f"{hit.path}:{hit.start_line}-{hit.end_line} {hit.qualified_name}", hit.snippet, hit.body)
            for hit in hits
        ],
        max_tokens,
    )
    kept = []
    for hit, level in zip(hits, packed.levels, strict=True):
        if level == "omitted":
            continue
        if level == "place":
            hit = replace(hit, snippet="", matches=(), body="")
        elif level == "snippet":
            hit = replace(hit, body="")
        kept.append(hit)
    return kept, packed.note

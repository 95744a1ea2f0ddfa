"""What an answer of the docs and repo families says of the index that it was made from: nothing where all files are in
it as they are now, else how fresh it is, that the answer is partial, and how much was not searched.

The names are those of the code family's metadata, which always has them. Must not know any tool.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from findling.tools.model import Call
from findling.types import Freshness, SearchResult

FRESHNESS, COMPLETENESS, NOT_SEARCHED = "freshness_status", "result_completeness", "not_searched"

State = Mapping[str, Any]
"""Some of these fields; empty where there is nothing to say."""

_WORST_FIRST: tuple[Freshness, ...] = ("stale", "syncing")


def state(freshness: Freshness, *, partial: bool, **not_searched: int) -> dict[str, Any]:
    """The fields. ``not_searched``: how many of what; those of which there are none are left out."""
    fields: dict[str, Any] = {}
    if freshness != "fresh":
        fields[FRESHNESS] = freshness
    if partial:
        fields[COMPLETENESS] = "partial"
    if left := {what: count for what, count in not_searched.items() if count}:
        fields[NOT_SEARCHED] = left
    return fields


def of_search(call: Call, ref: str, seen: SearchResult, *, by_meaning: bool) -> dict[str, Any]:
    """Of an answer that is as whole as the engine's to the same question. What is left goes on in the background."""
    found = state(
        seen.freshness,
        partial=seen.completeness == "partial" or seen.freshness == "syncing",
        pending_files=seen.coverage.pending_files,
        chunks_without_vector=seen.coverage.missing_vectors if by_meaning else 0,
    )
    if found:
        call.workspace.finish_in_background(ref)
    return found


def of_text(call: Call, ref: str, freshness: Freshness) -> dict[str, Any]:
    """Of an answer from text and names, at this freshness. What is left goes on in the background."""
    if freshness == "fresh":
        return {}
    counts = call.workspace.view(lambda view: view.counts())
    call.workspace.finish_in_background(ref)
    partial = counts is None or not counts.complete or freshness == "syncing"
    return state(freshness, partial=partial, pending_files=counts.pending if counts else 0)


def joined(states: Iterable[State]) -> dict[str, Any]:
    """Of several roots' answers together: never better than the worst of them."""
    found = list(states)
    left: Counter[str] = Counter()
    for each in found:
        left.update(each.get(NOT_SEARCHED, {}))
    said = {each.get(FRESHNESS, "fresh") for each in found}
    freshness: Freshness = next((value for value in _WORST_FIRST if value in said), "fresh")
    return state(freshness, partial=any(each.get(COMPLETENESS) == "partial" for each in found), **left)

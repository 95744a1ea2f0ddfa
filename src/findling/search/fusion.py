"""Several ranked lists to one. Pure: knows neither backends nor files, only names, ranks, scores and line ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from findling.model.types import Channel

RRF_K = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke, Büttcher 2009): how little a rank at the top counts more."""


class Fused(NamedTuple):
    """An item of a fused list; ``sources`` are the lists that have it, in the order they were given."""

    id: str
    score: float
    sources: tuple[str, ...]


def reciprocal_rank_fusion(
    lists: Mapping[str, Sequence[str]], weights: Mapping[str, float] | None = None, *, k: int = RRF_K
) -> list[Fused]:
    """Σ weight / (k + rank) over the lists, rank from 1; best first, ties by id.

    A list without a weight has 1; one whose weight is 0 has no say, so what only it has is left out.
    """
    scores: dict[str, float] = {}
    sources: dict[str, list[str]] = {}
    for name, ids in lists.items():
        weight = 1.0 if weights is None else weights.get(name, 1.0)
        if weight <= 0:
            continue
        for rank, id in enumerate(dict.fromkeys(ids), 1):
            scores[id] = scores.get(id, 0.0) + weight / (k + rank)
            sources.setdefault(id, []).append(name)
    return sorted(
        (Fused(id, score, tuple(sources[id])) for id, score in scores.items()), key=lambda item: (-item.score, item.id)
    )


class Scored(NamedTuple):
    """A place that a backend found. ``score`` is the backend's own, any scale from 0 up; lines are inclusive."""

    path: str
    line_start: int
    line_end: int
    score: float


class Merged(NamedTuple):
    """A place of the fused list; ``score`` in [0, 1]; ``sources`` are the backends that found it."""

    path: str
    line_start: int
    line_end: int
    score: float
    sources: tuple[Channel, ...]


@dataclass(slots=True)
class _Kept:
    place: Scored
    shares: dict[Channel, float]
    """Backend -> its best normalised score for this place."""


def fuse_weighted(lists: Mapping[Channel, Sequence[Scored]], weights: Mapping[Channel, float]) -> list[Merged]:
    """Weighted mean of the backends' scores, each divided by the backend's best; best first, ties by path and line.

    ``lists`` has every backend that could run, one that found nothing included: its weight counts in the mean, and a
    place that it lacks has 0 there. A place merges into a better one when their lines overlap in the same file; it
    is compared with that place's own lines, so that no chain of neighbours grows together.
    """
    running = {name: weights[name] for name in lists if weights.get(name, 0.0) > 0}
    total = sum(running.values())
    if total <= 0:
        return []
    found = [
        (share * running[name] / total, name, share, place)
        for name in running
        for place, share in _normalised(lists[name])
    ]
    found.sort(key=lambda item: (-item[0], item[3].path, item[3].line_start, item[3].line_end))
    kept: dict[str, list[_Kept]] = {}
    for _, name, share, place in found:
        same = next((known for known in kept.get(place.path, ()) if _overlap(known.place, place)), None)
        if same is None:
            kept.setdefault(place.path, []).append(_Kept(place, {name: share}))
        else:
            same.shares[name] = max(share, same.shares.get(name, 0.0))
    merged = [
        Merged(
            known.place.path,
            known.place.line_start,
            known.place.line_end,
            sum(running[name] * share for name, share in known.shares.items()) / total,
            tuple(name for name in lists if name in known.shares),
        )
        for places in kept.values()
        for known in places
    ]
    return sorted(merged, key=lambda place: (-place.score, place.path, place.line_start))


def as_they_are(lists: Mapping[Channel, Sequence[Scored]]) -> list[Merged]:
    """The places of lists with their own scores, nothing merged."""
    return [
        Merged(place.path, place.line_start, place.line_end, place.score, (name,))
        for name, places in lists.items()
        for place in places
    ]


def _normalised(places: Sequence[Scored]) -> list[tuple[Scored, float]]:
    best = max((place.score for place in places), default=0.0)
    if best <= 0:
        return [(place, 0.0) for place in places]
    return [(place, max(0.0, place.score) / best) for place in places]


def _overlap(one: Scored, other: Scored) -> bool:
    return one.line_start <= other.line_end and other.line_start <= one.line_end

"""Each channel's own list of places with its own scores, and their weighted mean as one list.

Works on rows of the index and on vectors; reads no files. Within the reader's snapshot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from findling.model import tokenizer
from findling.model.rows import SymbolRow
from findling.model.types import Channel
from findling.search import places
from findling.search.analysis import QueryTerms
from findling.search.ranking.ranked_file import RankedFile
from findling.search.readings import Reading
from findling.search.scope import Scope
from findling.store.protocols import Index, OnlyThese

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from findling.search.semantic import SemanticChannel


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
    kept: dict[str, list[tuple[Scored, dict[Channel, float]]]] = {}  # with each backend's best share of the place
    for _, name, share, place in found:
        for known, shares in kept.setdefault(place.path, []):
            if known.line_start <= place.line_end and place.line_start <= known.line_end:
                shares[name] = max(share, shares.get(name, 0.0))
                break
        else:
            kept[place.path].append((place, {name: share}))
    merged = [
        Merged(
            *known[:3],
            sum(running[name] * share for name, share in shares.items()) / total,
            tuple(name for name in lists if name in shares),
        )
        for places in kept.values()
        for known, shares in places
    ]
    return sorted(merged, key=lambda place: (-place.score, place.path, place.line_start))


def as_they_are(lists: Mapping[Channel, Sequence[Scored]]) -> list[Merged]:
    """The places of lists with their own scores, nothing merged."""
    return [Merged(*place, (name,)) for name, places in lists.items() for place in places]


def _normalised(places: Sequence[Scored]) -> list[tuple[Scored, float]]:
    best = max((place.score for place in places), default=0.0)
    return [(place, max(0.0, place.score) / best if best > 0 else 0.0) for place in places]


FAN_OUT, FAN_OUT_LEAST = 3, 50
"""Places that each channel gives, per place of the answer: merging needs more than are shown."""

MAX_NAMES = 24
"""Words of one query that are looked up as names; a longer text is prose."""

_MAX_DEFINITIONS = 2_000
"""Definitions of these that are looked at."""

EXACT, PREFIX, PART = 1.0, 0.8, 0.5
"""What a definition's name is worth: the one that was asked for, one that begins with it, one that holds it."""

NEAR_FACTOR, NEAR_LEAST = 8, 600
"""Chunks that get exact cosines, per place asked for, and the least: bits alone miss some of the nearest. 600 hold 99
of 100 of the true ten among 5,000 chunks."""

_CONTAINERS = frozenset(("class", "struct", "enum", "trait", "interface", "module"))
"""Their place is the head: all of a class would swallow every other hit in it."""


def fan_out(limit: int) -> int:
    """How many places each channel gives for an answer of so many."""
    return max(FAN_OUT_LEAST, FAN_OUT * limit)


def of_text(
    reader: Index,
    terms: QueryTerms,
    ranked: Sequence[RankedFile],
    readings: Mapping[int, Mapping[int, Reading]],
) -> list[Scored]:
    """The best place of each file, by the file's rank value. ``readings``: entry -> what was read of its chunks."""
    found = []
    for item in ranked:
        place = places.choose(reader, terms, item, readings.get(item.file.entry_id, {}))
        found.append(Scored(item.file.path, place.start_line, place.end_line, max(0.0, item.rank_value)))
    return found


def of_names(reader: Index, terms: QueryTerms, scope: Scope, most: int) -> list[Scored]:
    """Definitions of the names in a query. Words that are no name by their form count only when one is called so."""
    names = [name.squashed for name in terms.names][:MAX_NAMES]
    words = [tokenizer.squash(word) for word in (*terms.words, *terms.compounds)]
    asked = [key for key in dict.fromkeys((*names, *words)) if key][:MAX_NAMES]
    only = OnlyThese(scope.blobs)
    best: dict[tuple[int, int], tuple[SymbolRow, float]] = {}

    def note(symbols: Iterable[SymbolRow], score: float) -> None:
        for found in symbols:
            best.setdefault((found.blob_id, found.position), (found, score))

    note(reader.named(asked, _MAX_DEFINITIONS, only), EXACT)
    for name in names:
        note(reader.named_like(name, prefix=True, limit=_MAX_DEFINITIONS, only=only), PREFIX)
        note(reader.named_like(name, prefix=False, limit=_MAX_DEFINITIONS, only=only), PART)
    strongest = sorted(best.values(), key=lambda each: -each[1])
    files: dict[int, list[str]] = {}
    for file in reader.files_of_blobs({found.blob_id for found, _ in strongest}):
        if scope.allowed is None or file.entry_id in scope.allowed:
            files.setdefault(file.blob_id, []).append(file.path)
    listed = [
        Scored(path, found.start_line, _end(found), score)
        for found, score in strongest
        for path in files.get(found.blob_id, ())
    ]
    return sorted(listed, key=lambda place: (-place.score, place.path, place.line_start))[:most]


def _end(found: SymbolRow) -> int:
    return max(found.start_line, found.name_line) if found.kind in _CONTAINERS else found.end_line


def of_vectors(
    reader: Index, channel: SemanticChannel, vector: NDArray[np.float32], scope: Scope, most: int
) -> list[Scored]:
    """The ``most`` chunks nearest to a vector, by their cosines."""
    if not vector.any():
        return []
    chunks: Mapping[int, Sequence[int] | None]
    if scope.few is not None:
        chunks = dict.fromkeys(sorted(scope.few))
    else:
        count = max(NEAR_LEAST, NEAR_FACTOR * most)
        chunks = channel.propose_chunks(vector, count, scope.allowed)
    files = reader.files(chunks)
    found = []
    for cosine, entry, place in channel.nearest(vector, {entry: chunks[entry] for entry in files}, most):
        rows = reader.chunks(files[entry].blob_id)
        if place < len(rows):
            found.append(Scored(files[entry].path, rows[place].start_line, rows[place].end_line, cosine))
    return sorted(found, key=lambda near: (-near.score, near.path, near.line_start))[:most]

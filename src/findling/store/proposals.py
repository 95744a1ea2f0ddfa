"""Proposals that belong to what is searched. Pure.

The derived indexes hold more than one question is about: earlier versions of files, other branches, other work trees.
Of a file that was deleted a minute ago all passages may come first; cut before it is looked whose they are, a list of
the nearest would hold nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from typing import TypeVar

from findling.store.protocols import CHUNK_BITS

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
"""Of a score. What is behind depends on the order in which the parts of a sum were added up, and on how 24 bits of a
weight were rounded, which another index does otherwise: with four decimals one answer in a hundred was another one."""


def rounded(scores: Iterable[tuple[int, float]]) -> list[tuple[int, float]]:
    """Units and scores that are the same wherever they were worked out."""
    return [(unit, round(score, _DECIMALS)) for unit, score in scores]


def _first(ordered: list[tuple[int, _Number]], count: int) -> list[tuple[int, _Number]]:
    if len(ordered) <= count:
        return ordered
    left_out = ordered[count][1]
    return [each for each in ordered[:count] if each[1] != left_out] or ordered[:count]

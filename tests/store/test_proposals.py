"""Proposals are of what is searched, as many as are wanted, whatever else lies between."""

from __future__ import annotations

from collections.abc import Set

from hypothesis import given
from hypothesis import strategies as st

from findling.store.protocols import CHUNK_BITS, proposed

lists = st.lists(st.tuples(st.integers(1, 12), st.integers(0, 4), st.integers(0, 5)), max_size=60)


@given(lists, st.sets(st.integers(1, 12)), st.integers(1, 8), st.integers(1, 4))
def test_the_best_of_ours_are_proposed(
    units: list[tuple[int, int, int]], ours: set[int], count: int, share: int
) -> None:
    ordered = sorted((number, entry << CHUNK_BITS | place) for entry, place, number in units)
    asked: list[int] = []

    def find(wanted: int) -> list[tuple[int, int]]:
        asked.append(wanted)
        return [(unit, number) for number, unit in ordered[:wanted]]

    def own(entries: Set[int]) -> Set[int]:
        return entries & ours

    found = proposed(find, own, count, share)
    best: dict[int, int] = {}
    for number, unit in ordered:
        if unit >> CHUNK_BITS in ours:
            best.setdefault(unit, number)
    numbers = list(best.values())
    assert len(found) == len(dict(found)) <= count
    assert all(best[unit] == number for unit, number in found)
    if len(best) <= count:
        assert dict(found) == best
    elif numbers[0] != numbers[count]:
        assert dict(found) == {unit: number for unit, number in best.items() if number < numbers[count]}
    else:
        assert len(found) == count
    assert asked[0] == count * share + 1

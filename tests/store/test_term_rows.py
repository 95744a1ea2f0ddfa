"""A file's terms in four bytes each: what goes in comes out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.model.term_rows import IN_NAMES, IN_TOP_NAMES, LEVELS, keys, lookup, pack, unpack

KEYS = st.integers(0, (1 << 24) - 1)
COUNTS = st.dictionaries(KEYS, st.one_of(st.integers(1, 100), st.integers(1, 10**9)), max_size=40)
FLAGS = st.dictionaries(KEYS, st.sampled_from([IN_NAMES, IN_TOP_NAMES, IN_NAMES | IN_TOP_NAMES]), max_size=20)


def level(count: int) -> int:
    return max(step for step in LEVELS if step <= count)


@given(COUNTS, FLAGS, st.lists(KEYS, max_size=10))
def test_what_is_packed_is_looked_up(counts: dict[int, int], flags: dict[int, int], others: list[int]) -> None:
    row = unpack(pack(counts, flags))
    assert keys(row) == sorted({*counts, *flags})
    asked = [*counts, *flags, *others]
    assert lookup(row, asked) == [(level(counts.get(key, 0)), flags.get(key, 0)) for key in asked]


def test_a_row_that_was_cut_is_refused() -> None:
    with pytest.raises(TypeError):
        unpack(pack({100: 1, 2_000_000: 2, 3_000_000: 3}, {})[:-1])


@pytest.mark.parametrize(
    ("count", "stored"), [(0, 0), (1, 1), (7, 6), (8, 8), (79, 50), (80, 80), (81, 80), (10**9, 80)]
)
def test_counts_are_stored_as_the_level_they_reach(count: int, stored: int) -> None:
    assert lookup(unpack(pack({5: count}, {})), [5]) == [(stored, 0)]


def test_a_higher_count_is_never_stored_lower() -> None:
    stored = [lookup(unpack(pack({5: count}, {})), [5])[0][0] for count in range(200)]
    assert stored == sorted(stored)
    assert all(low <= count for count, low in enumerate(stored))


def test_flags_alone_count_nothing() -> None:
    assert lookup(unpack(pack({}, {9: IN_TOP_NAMES})), [9]) == [(0, IN_TOP_NAMES)]


def test_absent_keys_and_the_ends_of_the_range() -> None:
    top = (1 << 24) - 1
    row = unpack(pack({0: 1, 100: 2, top: 3}, {}))
    assert lookup(row, [0, 1, 99, 100, 101, top - 1, top]) == [(1, 0), (0, 0), (0, 0), (2, 0), (0, 0), (0, 0), (3, 0)]
    assert lookup(unpack(b""), [0, 1, top]) == [(0, 0)] * 3
    assert keys(unpack(b"")) == []

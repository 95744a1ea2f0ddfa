"""Where chunks lie, and how many files have a term: packed rows come back as they went in, cut ones are refused."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.store import chunk_rows, count_rows
from findling.store.deflated import deflate, inflate

LINES = st.one_of(st.integers(1, 400), st.integers(60_000, 20_000_000))
PLACES = st.lists(
    st.tuples(
        LINES, LINES, st.integers(0, 1 << 30), st.integers(0, 1 << 30), st.integers(0, 255), st.integers(-1, 20_000)
    ),
    max_size=20,
)
TERMS = st.one_of(st.integers(0, 500), st.integers(0, (1 << 24) - 1))
CHANGES = st.lists(st.dictionaries(TERMS, st.integers(-200_000, 200_000), max_size=12), max_size=6)


@given(PLACES)
def test_places_come_back(places: list[chunk_rows.Place]) -> None:
    assert chunk_rows.unpack(*chunk_rows.pack(places)) == places


def test_a_chunk_takes_a_few_bytes() -> None:
    places = [(20 * i + 1, 20 * i + 19, 700 * i, 700 * i + 640 + i % 50, i % 3, i) for i in range(100)]
    assert sum(map(len, chunk_rows.pack(places))) < 8 * len(places)


def test_rows_of_chunks_that_were_cut_are_refused() -> None:
    lines, places = chunk_rows.pack([(1, 2, 0, 10, 0, -1), (4, 70_000, 12, 99, 1, 0)])
    for cut_lines, cut_places in ((lines[:-1], places), (lines[:8], places[:-1]), (b"", places), (lines, deflate(b""))):
        with pytest.raises(ValueError, match="cut short"):
            chunk_rows.unpack(cut_lines, cut_places)


@given(CHANGES)
def test_counts_add_up(changes: list[dict[int, int]]) -> None:
    rows: dict[int, bytes] = {}
    wanted: Counter[int] = Counter()
    for change in changes:
        for bucket in {count_rows.bucket(term) for term in change}:
            own = {term: files for term, files in change.items() if count_rows.bucket(term) == bucket}
            rows[bucket] = count_rows.changed(rows.get(bucket, b""), own)
        wanted.update(change)
    found = {term: files for bucket, row in rows.items() for term, files in count_rows.counted(bucket, row)}
    assert found == {term: files for term, files in wanted.items() if files}
    for bucket, row in rows.items():
        asked = [term for term in wanted if count_rows.bucket(term) == bucket]
        assert count_rows.lookup(row, asked) == [wanted[term] for term in asked]


def test_a_row_without_counts_is_empty() -> None:
    row = count_rows.changed(b"", {70_000: 3, 70_001: 1})
    assert count_rows.changed(row, {70_000: -3, 70_001: -1}) == b""


@pytest.mark.parametrize("row", [b"x", b"b\0", b"i\0\0\0\0\0"])
def test_rows_of_counts_that_were_cut_are_refused(row: bytes) -> None:
    with pytest.raises(ValueError, match=r"cut short|damaged"):
        count_rows.lookup(row, [5])


def test_what_is_deflated_comes_back_with_what_follows() -> None:
    assert inflate(deflate(b"abc" * 100) + b"rest") == (b"abc" * 100, b"rest")


@pytest.mark.parametrize("data", [b"", deflate(b"abc" * 100)[:-2], b"\xff\xff\xff"])
def test_damage_is_an_error_of_values(data: bytes) -> None:
    with pytest.raises(ValueError, match="packed row"):
        inflate(data)

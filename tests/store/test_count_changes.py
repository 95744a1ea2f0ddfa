"""Counts of files per term: gathered file by file, few or many, and added to rows in either way."""

from __future__ import annotations

from collections import Counter

import numpy  # noqa: F401 - the first example shall not wait for it
import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.store import count_changes, count_rows, term_rows
from findling.store.count_changes import CountChanges

KEYS = st.sets(st.sampled_from([0, 1, 65_535, 65_536, 65_537, 200_000, (1 << 24) - 1]), max_size=5)
CHANGES = st.dictionaries(st.integers(0, 40), st.sampled_from([-300, -1, 1, 2, 127, 128, 40_000]), max_size=30)


def row_of(keys: set[int]) -> object:
    return term_rows.unpack(term_rows.pack(dict.fromkeys(keys, 1), {}))


@given(st.lists(KEYS, max_size=6), st.lists(KEYS, max_size=3), st.booleans())
def test_files_are_counted_alike_few_or_many(added: list[set[int]], taken: list[set[int]], many: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(count_changes, "_MANY_FILES", 1 if many else 1000)
        changes = CountChanges()
        for keys in added:
            changes.add(row_of(keys))  # type: ignore[arg-type]
        for keys in taken:
            changes.take(row_of(keys))  # type: ignore[arg-type]
        found = list(changes.by_bucket())
    expected = Counter(key for keys in added for key in keys)
    expected.subtract(key for keys in taken for key in keys)
    assert [bucket for bucket, _ in found] == sorted({bucket for bucket, _ in found})
    assert all(count_rows.bucket(term) == bucket for bucket, of in found for term in of)
    counted = {term: files for _, of in found for term, files in of.items() if files}
    assert counted == {term: files for term, files in expected.items() if files}


def test_a_file_that_hardly_changed_changes_hardly_any_row() -> None:
    changes = CountChanges()
    changes.add(row_of({1, 2, 70_000, 900_000}))  # type: ignore[arg-type]
    changes.take(row_of({1, 2, 70_000, 900_001}))  # type: ignore[arg-type]
    assert list(changes.by_bucket()) == [(13, {900_000: 1, 900_001: -1})]


@given(CHANGES, st.lists(CHANGES, max_size=4))
def test_a_row_is_the_same_whether_it_is_changed_or_made_anew(
    first: dict[int, int], others: list[dict[int, int]]
) -> None:
    rows: list[list[bytes]] = []
    for share in (0.0, float("inf")):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(count_rows, "_MANY_SHARE", share)
            row, history = b"", []
            for changes in (first, *others):
                row = count_rows.changed(row, changes)
                history.append(row)
            rows.append(history)
    assert rows[0] == rows[1]
    truth: Counter[int] = Counter()
    for changes in (first, *others):
        truth.update(changes)
    assert dict(count_rows.counted(0, rows[0][-1])) == {term: files for term, files in truth.items() if files}

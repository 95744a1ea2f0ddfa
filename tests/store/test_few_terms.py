"""Terms of a few files are counted alike, with numpy or before it is imported."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.store import term_rows
from findling.store.few_terms import FewTerms

KEYS = st.integers(0, (1 << 24) - 1) | st.integers(0, 9)
FILES = st.lists(st.sets(KEYS, max_size=12), max_size=6)


def rows(files: list[set[int]]) -> list[Sequence[int]]:
    return [term_rows.unpack(term_rows.pack(dict.fromkeys(keys, 2), {})) for keys in files]


@given(FILES, st.lists(KEYS, max_size=8))
def test_files_are_counted(files: list[set[int]], asked: list[int]) -> None:
    assert np.__name__ in sys.modules
    expected = {key: sum(key in keys for keys in files) for key in asked}
    terms = FewTerms(rows(files))
    assert terms.counts(asked) == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "numpy")
        assert terms.counts(set(asked)) == expected
        assert terms.counts({*asked, *range(60)}) == {
            key: sum(key in keys for keys in files) for key in {*asked, *range(60)}
        }

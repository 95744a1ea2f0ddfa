"""The parts of a reading come back as they were packed, and what was not packed is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.model.reading import ChunkRow, Symbol
from findling.model.rows import DefinedNames
from findling.model.types import SYMBOL_KINDS
from findling.store import parts

NUMBERS = st.integers(0, 1 << 40)
NAMES = st.text(st.characters(blacklist_characters="\n", blacklist_categories=["Cs"]), max_size=9)
SYMBOLS = st.lists(
    st.builds(
        Symbol,
        NAMES,
        st.sampled_from(SYMBOL_KINDS),
        st.integers(-1, 20_000),
        *[NUMBERS] * 3,
        NAMES,
        NAMES,
    ),
    max_size=9,
)
CHUNKS = st.lists(
    st.builds(
        ChunkRow,
        *[NUMBERS] * 4,
        NAMES,
        st.integers(-1, 20_000),
        st.lists(NAMES, max_size=3).map(tuple),
        st.binary(max_size=32),
    ),
    max_size=9,
)


@given(SYMBOLS, CHUNKS)
def test_parts_come_back(symbols: list[Symbol], chunks: list[ChunkRow]) -> None:
    assert parts.symbols(parts.pack(symbols)) == symbols
    assert parts.chunks(parts.pack(chunks)) == chunks


@given(SYMBOLS)
def test_names_are_told_in_order_with_their_kinds(symbols: list[Symbol]) -> None:
    named = DefinedNames.of(symbols)
    assert [SYMBOL_KINDS[kind] for kind in named.kinds] == [symbol.kind for symbol in symbols]
    assert named.text.split("\n") == ([symbol.name for symbol in symbols] or [""])


@pytest.mark.parametrize(
    "data", [b"", b"\xff", parts.pack([1, 2]), parts.pack([["name"]]), parts.pack({"a": 1}), parts.NOTHING + b"x", 5]
)
def test_anything_else_is_refused(data: bytes) -> None:
    for unpack in (parts.symbols, parts.chunks):
        with pytest.raises((ValueError, TypeError)):
            unpack(data)


def test_a_part_that_was_cut_is_refused() -> None:
    packed = parts.pack([Symbol("name", "fn", -1, 1, 2, 1, "", "def name()")])
    for size in range(len(packed)):
        with pytest.raises(ValueError, match=r"truncated|Input data"):
            parts.symbols(packed[:size])

"""Rows of definitions come back as they went in, and what was not written by `pack` is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.model.types import SYMBOL_KINDS
from findling.store import symbol_rows
from findling.store.deflated import deflate, inflate

names = st.text(st.characters(blacklist_characters="\n"), min_size=1, max_size=12)
lines = st.tuples(st.integers(1, 200_000), st.integers(0, 90_000), st.integers(0, 9))


@st.composite
def definitions(draw: st.DrawFn) -> list[symbol_rows.PackedSymbol]:
    found: list[symbol_rows.PackedSymbol] = []
    for position in range(draw(st.integers(0, 8))):
        start, length, offset = draw(lines)
        parent = draw(st.integers(-1, position - 1))
        name = draw(names)
        scope = draw(st.one_of(st.just(_follows(found, parent)), names))
        found.append(
            (
                name,
                draw(st.sampled_from(SYMBOL_KINDS)),
                parent,
                start,
                start + length,
                start + offset,
                scope,
                draw(st.one_of(st.just(""), names)),
            )
        )
    return found


def _follows(found: list[symbol_rows.PackedSymbol], parent: int) -> str:
    if parent < 0:
        return ""
    above = found[parent]
    return f"{above[6]}.{above[0]}" if above[6] else above[0]


@given(definitions())
def test_what_was_packed_comes_back(packed: list[symbol_rows.PackedSymbol]) -> None:
    rows = symbol_rows.unpack(7, symbol_rows.pack(packed))
    named = symbol_rows.named(symbol_rows.pack(packed))
    assert [SYMBOL_KINDS[kind] for kind in named.kinds] == [row.kind for row in rows]
    assert named.text == "\n".join(row.name for row in rows)
    assert named.squashed == [row.squashed for row in rows]
    assert [row[2:] for row in rows] == packed
    assert [(row.blob_id, row.position) for row in rows] == [(7, i) for i in range(len(packed))]


def test_a_scope_that_follows_from_the_enclosing_definitions_takes_no_room() -> None:
    outer = ("Outer", "class", -1, 1, 90, 1, "", "")
    inner = ("inner", "method", 0, 2, 9, 2, "Outer", "")
    elsewhere = ("inner", "method", 0, 2, 9, 2, "Some.Other.Place", "")
    assert inflate(symbol_rows.pack([outer, inner]))[0].count(b"Outer") == 1
    assert symbol_rows.unpack(1, symbol_rows.pack([outer, elsewhere]))[1].qualified_name == "Some.Other.Place.inner"


@pytest.mark.parametrize("cut", [1, 8, 12, 20, 30])
def test_a_row_that_was_cut_is_refused(cut: int) -> None:
    row = symbol_rows.pack([("a_name", "fn", -1, 70_000, 70_010, 70_000, "", ""), ("b", "fn", 0, 2, 3, 2, "x", "y")])
    with pytest.raises((ValueError, LookupError)):
        symbol_rows.unpack(1, row[:cut])


def test_spellings_of_a_name_have_one_key() -> None:
    rows = [(name, "fn", -1, 1, 1, 1, "", "") for name in ("fooBar", "foo_bar", "FooBar", "other")]
    assert symbol_rows.keys(rows) == ["foobar", "other"]


@given(definitions(), st.integers(-9, 9), st.integers(-9, 9))
def test_a_row_is_a_sequence(packed: list[symbol_rows.PackedSymbol], start: int, stop: int) -> None:
    rows = symbol_rows.unpack(7, symbol_rows.pack(packed))
    every = list(rows)
    assert rows[start:stop] == every[start:stop]
    assert [rows[place] for place in range(-len(rows), len(rows))] == every + every
    with pytest.raises(IndexError):
        rows[len(rows)]


@given(definitions())
def test_definitions_are_found_by_their_key(packed: list[symbol_rows.PackedSymbol]) -> None:
    data = symbol_rows.pack(packed)
    every = list(symbol_rows.unpack(7, data))
    wanted = {row.squashed for row in every[::2]}
    assert symbol_rows.fitting(7, data, wanted.__contains__) == [row for row in every if row.squashed in wanted]


def test_definitions_that_enclose_each_other_are_refused() -> None:
    packed = symbol_rows.pack([("a", "fn", -1, 1, 2, 1, "", ""), ("b", "fn", 0, 2, 3, 2, "a", "")])
    row = bytearray(inflate(packed)[0])
    parents = row.index(b"\xff\xff\x00\x00")
    row[parents : parents + 4] = (1).to_bytes(2, "little") + (0).to_bytes(2, "little")
    rows = symbol_rows.unpack(1, deflate(bytes(row)))
    with pytest.raises(ValueError, match="later one"):
        list(rows)

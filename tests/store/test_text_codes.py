"""Documents' texts in fewer bytes: whole again afterwards, in pieces too, and read by plain SQL as by us."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.store import section_rows, text_codes

WORDS = st.sampled_from([b"the ", b"retry", b"\n\n", b"    ", b"\0", b"\0\0", b"\xff", "wörld …".encode(), b"\x01"])
HEADINGS = st.lists(st.sampled_from(["Guide", "Über", "", "2", '"q"']), max_size=3).map("\n".join)
TEXTS = st.one_of(st.binary(max_size=300), st.lists(WORDS, max_size=60).map(b"".join))


@given(TEXTS)
def test_a_coded_text_comes_back(text: bytes) -> None:
    coded = text_codes.encode(text)
    if coded is not None:
        assert len(coded) < len(text)
        assert text_codes.decode(coded) == text


def test_prose_takes_half() -> None:
    text = b"A failed request is tried again after a while, until the budget of all the tries is used up.\n\n"
    coded = text_codes.encode(text)
    assert coded is not None and len(coded) < 0.75 * len(text)
    again = text_codes.encode(text * 20)
    assert again is not None and len(again) < 0.2 * 20 * len(text)


@pytest.mark.parametrize("text", ["語".encode() * 3, bytes(range(256)), b"", b"a word " * 100_000])
def test_a_text_that_would_grow_or_take_several_blocks_is_kept_as_it_is(text: bytes) -> None:
    coded = text_codes.encode(text)
    assert coded is None or text_codes.decode(coded) == text


@pytest.mark.parametrize("change", [lambda coded: coded[:-3], lambda coded: coded + b"x", lambda _: b"\xff" * 9])
def test_a_coded_text_that_was_changed_is_refused(change: Callable[[bytes], bytes]) -> None:
    coded = text_codes.encode(b"A failed request is tried again after a while.\n" * 3)
    assert coded is not None
    with pytest.raises(ValueError, match="coded text"):
        text_codes.decode(change(coded))


@given(TEXTS, st.lists(st.tuples(st.integers(0, 300), st.integers(0, 90)), max_size=6), st.data())
def test_a_document_in_pieces_is_whole_again(text: bytes, cuts: list[tuple[int, int]], data: st.DataObject) -> None:
    """With room between the chunks or none, and chunks that share some of their text."""
    spans = [(start, min(start + size, len(text))) for start, size in sorted(cuts) if start <= len(text)]
    headings = [data.draw(HEADINGS) for _ in spans]
    packed, kept = section_rows.pack(text, spans, headings)
    sections = section_rows.unpack(packed)
    assert sections.headings == headings
    places = zip(pairwise(sections.places), sections.sizes, spans, strict=True)
    for number, ((begin, after), size, (start, end)) in enumerate(places):
        piece = kept[begin:after]
        piece = text_codes.decode(piece) if sections.coded and piece else piece
        skip = 0 if number else sections.skip
        assert piece[skip : skip + size] == text[start:end]
    if spans:
        starts = [start for start, _ in spans]
        assert section_rows.joined(kept, sections, starts) == text
        with pytest.raises(ValueError, match="cut short"):
            section_rows.joined(kept + b"x", sections, starts)
    else:
        assert (packed, kept) == ("", b"")


@pytest.mark.parametrize("told", ['{"coded":0,"skip":0,"pieces":[0],"headings":[""]}', "[]", "{}"])
def test_sections_that_were_never_written_are_refused(told: str) -> None:
    with pytest.raises((ValueError, LookupError, TypeError)):
        section_rows.unpack(told)


def test_pieces_that_lie_over_each_other_are_refused() -> None:
    text = b"the retry of the retry " * 40
    packed, kept = section_rows.pack(text, [(0, 400), (400, len(text))], ["a", "b"])
    sections = section_rows.unpack(packed)
    first, second, end = sections.places
    for places in ([second, first, end], [first, end + 1, end], [second, second, end]):
        with pytest.raises(ValueError, match="cut short"):
            section_rows.joined(kept, sections._replace(places=places), [0, 400])


def test_headings_that_repeat_without_end_are_refused() -> None:
    headings = ["x" * 1_000_000, *[[10**9, "y"]] * 1_000]
    pieces = [0] * (2 * len(headings) + 1)
    with pytest.raises(ValueError, match="longer than any"):
        section_rows.unpack(json.dumps({"coded": 0, "skip": 0, "pieces": pieces, "headings": headings}))

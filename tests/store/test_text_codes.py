"""Documents' texts in fewer bytes: whole again afterwards, in pieces too, and read by plain SQL as by us."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.store import section_rows, text_codes

WORDS = st.sampled_from([b"the ", b"retry", b"\n\n", b"    ", b"\0", b"\0\0", b"\xff", "wörld …".encode(), b"\x01"])
TEXTS = st.one_of(st.binary(max_size=300), st.lists(WORDS, max_size=60).map(b"".join))


@given(TEXTS)
def test_a_coded_text_comes_back(text: bytes) -> None:
    coded = text_codes.encode(text)
    if coded is not None:
        assert len(coded) < len(text)
        assert text_codes.decode(coded) == text


def test_prose_takes_three_fifths() -> None:
    text = b"A failed request is tried again after a while, until the budget of all the tries is used up.\n" * 20
    coded = text_codes.encode(text)
    assert coded is not None and len(coded) < 0.6 * len(text)


def test_a_text_that_would_grow_is_kept_as_it_is() -> None:
    assert text_codes.encode("語".encode() * 50) is None


@pytest.mark.parametrize("coded", [b"\0", b"\x05\0"])
def test_a_coded_text_that_was_cut_is_refused(coded: bytes) -> None:
    with pytest.raises(ValueError, match="cut short"):
        text_codes.decode(coded)


def test_every_byte_but_one_is_explained_once() -> None:
    rows = text_codes.rows()
    assert [code[0] for code, _ in rows] == list(range(1, 256))
    assert len({piece for _, piece in rows}) == len(rows)
    assert all(piece for _, piece in rows)


@given(TEXTS, st.lists(st.tuples(st.integers(0, 300), st.integers(0, 90)), max_size=6))
def test_a_document_in_pieces_is_whole_again(text: bytes, cuts: list[tuple[int, int]]) -> None:
    """With room between the chunks or none, and chunks that share some of their text."""
    spans = [(start, min(start + size, len(text))) for start, size in sorted(cuts) if start <= len(text)]
    hashes, headings = [bytes(32)] * len(spans), [""] * len(spans)
    sections, kept = section_rows.cut(text, spans, hashes, headings)
    for section, (start, end) in zip(sections, spans, strict=True):
        piece = kept[section.place : section.place + section.length]
        piece = text_codes.decode(piece) if section.coded else piece
        assert piece[section.skip : section.skip + section.size] == text[start:end]
    if spans:
        lengths, coded = [section.length for section in sections], [section.coded for section in sections]
        assert section_rows.joined(kept, lengths, coded, [start for start, _ in spans]) == text
        with pytest.raises(ValueError, match="cut short"):
            section_rows.joined(kept + b"x", lengths, coded, [start for start, _ in spans])

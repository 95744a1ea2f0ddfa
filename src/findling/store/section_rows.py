"""A document's text in pieces, one a chunk, as ``sections`` and ``doc_texts`` keep it: cut, and joined again. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from findling.store import text_codes


class Section(NamedTuple):
    """A chunk's piece of the text: ``skip`` bytes before the chunk, the chunk's ``size``, then what follows it up to
    the next; where that begins before the end, both have what they share. The piece itself is the ``length`` bytes from
    ``place`` on of all pieces one after the other, ``coded`` as `text_codes` does."""

    content_hash: bytes
    headings: str
    skip: int
    size: int
    coded: int
    place: int
    length: int


def cut(
    text: bytes, spans: Sequence[tuple[int, int]], hashes: Sequence[bytes], headings: Sequence[str]
) -> tuple[list[Section], bytes]:
    """The pieces of a text whose chunks are ``spans`` (first byte, byte after the last) in the order of first bytes,
    and all of them one after the other."""
    found: list[Section] = []
    kept = bytearray()
    begin = 0
    starts = [start for start, _ in spans]
    for number, ((start, end), content_hash, heading) in enumerate(zip(spans, hashes, headings, strict=True), 1):
        after = starts[number] if number < len(starts) else len(text)
        piece = text[begin : max(end, after)]
        coded = text_codes.encode(piece)
        of_piece = piece if coded is None else coded
        sizes = (start - begin, end - start, int(coded is not None), len(kept), len(of_piece))
        found.append(Section(content_hash, heading, *sizes))
        kept += of_piece
        begin = after
    return found, bytes(kept)


def joined(kept: bytes, lengths: Sequence[int], coded: Sequence[int], starts: Sequence[int]) -> bytes:
    """The whole text of pieces of these lengths, whose chunks begin at ``starts``. Raises `ValueError`."""
    edges = [*accumulate(lengths, initial=0)]
    if edges[-1] != len(kept) or not starts:
        raise ValueError("a document's texts are cut short")
    texts = [
        text_codes.decode(kept[begin:end]) if is_coded else kept[begin:end]
        for (begin, end), is_coded in zip(pairwise(edges), coded, strict=True)
    ]
    own = [after - begin for begin, after in pairwise((0, *starts[1:]))]
    return b"".join([text[:size] for text, size in zip(texts, (*own, len(texts[-1])), strict=True)])

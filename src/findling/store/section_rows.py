"""What is kept of a document beside its chunks: its text in pieces, one a chunk, and the headings above each. Pure.

The text is the pieces one after the other, all of them coded as `text_codes` does or none. A piece goes on to where the
next chunk begins, so that nothing between them is lost; where that begins before the end, both have what they share.

The rest is JSON, which the views read: ``coded``; ``skip``, the bytes before the first chunk; ``pieces``, for each
where it begins among the kept bytes and how many bytes of it (of the first: from ``skip`` on) are the chunk's, and at
last where the last one ends; ``headings``, for each chunk those above it, one a line: null where they are those of the
chunk before, ``[n, "..."]`` where the first n of them are.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from findling.store import text_codes

_MOST_HEADINGS = 1 << 26
"""Characters of all chunks' headings: hundreds of times what the longest book has."""


class Sections(NamedTuple):
    """As above: ``places`` are one more than chunks, ``headings`` each chunk's, one a line."""

    coded: bool
    skip: int
    places: list[int]
    sizes: list[int]
    headings: list[str]


def pack(text: bytes, spans: Sequence[tuple[int, int]], headings: Sequence[str]) -> tuple[str, bytes]:
    """The JSON, and the pieces, of a text whose chunks are ``spans`` (first byte, byte after the last) in the order of
    first bytes, with the ``headings`` above each, one a line; '' and nothing where there are no chunks."""
    if not spans:
        return "", b""
    starts = [0, *(start for start, _ in spans[1:]), len(text)]
    plain = [text[begin : max(end, after)] for (begin, after), (_, end) in zip(pairwise(starts), spans, strict=True)]
    found = [text_codes.encode(piece) if piece else b"" for piece in plain]
    shorter = [piece for piece in found if piece is not None]
    coded = len(shorter) == len(plain)
    pieces = shorter if coded else plain
    numbers: list[int] = []
    place = 0
    for piece, (start, end) in zip(pieces, spans, strict=True):
        numbers += (place, end - start)
        place += len(piece)
    numbers.append(place)
    told = {"coded": int(coded), "skip": spans[0][0], "pieces": numbers, "headings": list(_shortened(headings))}
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")), b"".join(pieces)


def unpack(sections: str) -> Sections:
    """What `pack` told. Raises `ValueError`, `LookupError` or `TypeError` for what it never writes."""
    if not sections:
        return Sections(False, 0, [0], [], [])
    told = json.loads(sections)
    numbers = told["pieces"]
    headings = _whole(told["headings"])
    if len(numbers) != 2 * len(headings) + 1 or not all(isinstance(number, int) for number in numbers):
        raise ValueError("a document's sections are cut short")
    return Sections(bool(told["coded"]), int(told["skip"]), numbers[::2], numbers[1::2], headings)


def joined(kept: bytes, sections: Sections, starts: Sequence[int]) -> bytes:
    """The whole text of pieces whose chunks begin at ``starts``. Raises `ValueError`."""
    places = sections.places
    if places[0] != 0 or places != sorted(places) or places[-1] != len(kept) or not len(starts) == len(places) - 1 > 0:
        raise ValueError("a document's texts are cut short")
    pieces = [kept[begin:end] for begin, end in pairwise(places)]
    if sections.coded:
        pieces = [text_codes.decode(piece) if piece else b"" for piece in pieces]
    own = [after - begin for begin, after in pairwise((0, *starts[1:]))]
    return b"".join([piece[:size] for piece, size in zip(pieces, (*own, len(pieces[-1])), strict=True)])


def _shortened(headings: Sequence[str]) -> list[str | list[int | str] | None]:
    found: list[str | list[int | str] | None] = []
    before: list[str] = []
    for number, heading in enumerate(headings):
        chain = heading.split("\n")
        same = 0
        while same < min(len(chain), len(before)) and chain[same] == before[same]:
            same += 1
        if number and chain == before:
            found.append(None)
        elif 0 < same < len(chain):
            found.append([same, "\n".join(chain[same:])])
        else:
            found.append(heading)
        before = chain
    return found


def _whole(shortened: Sequence[str | list[int | str] | None]) -> list[str]:
    found: list[str] = []
    total = 0
    for entry in shortened:
        total += len(found[-1]) if found else 0
        if total > _MOST_HEADINGS:
            raise ValueError("a document's headings are longer than any")
        if entry is None:
            found.append(found[-1])
        elif isinstance(entry, str):
            found.append(entry)
        else:
            same, rest = entry
            found.append("\n".join([*found[-1].split("\n")[: int(same)], str(rest)]))
    return found

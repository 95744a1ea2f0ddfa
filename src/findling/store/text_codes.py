"""Text in three fifths of its bytes, in a form that plain SQL can read (`views`). Pure.

A byte stands for one of 255 pieces of text; the byte 0 says that the next one stands for itself. The pieces are those
that shorten documents most (chosen on manuals and READMEs of many projects by the method of P. Boncz, T. Neumann and V.
Leis, "FSST: Fast Random Access String Compression", PVLDB 13, 2020); what a text gains depends on its language, so one
that would grow is kept as it is. Changing a piece changes the format (`schema.FORMAT_VERSION`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache

# fmt: off
_PIECES = (
    "github.com/", "\n       ", "        ", "--------", "========", "https://", "\n      ", "\n```\n\n", " that ",
    "](http", "ation ", "\n    ", "     ", " the ", " with", "ation", "ument", "    ", " and", " con", " for", " in ",
    " is ", " of ", " to ", "age ", "and ", "ctio", "file", "for ", "ing ", "ment", "port", "ptio", "the ", "ting",
    "tion", "with", "\n  ", "\n- ", "## ", ".\n\n", ":\n\n", ":: ", "Pro", "The", "age", "ble", "com", "for", "gra",
    "ing", "ion", "mpl", "of ", "pro", "ter", "you", "\n\n", "  ", " a", " b", " c", " d", " e", " f", " i", " m",
    " o", " p", " r", " s", " t", " w", '"]', ")\n", "**", ", ", "- ", "--", ". ", ": ", "` ", "``", "a ", "ac", "ad",
    "al", "an", "ar", "as", "at", "be", "ca", "ce", "ch", "ck", "co", "d ", "de", "di", "do", "e ", "ea", "ec", "ed",
    "el", "em", "en", "er", "es", "et", "ex", "fi", "ge", "ha", "he", "hi", "ic", "id", "ie", "il", "in", "is", "it",
    "ke", "la", "le", "li", "ll", "lo", "ly", "ma", "me", "n ", "na", "nc", "nd", "ne", "ng", "no", "ns", "nt", "od",
    "ol", "on", "or", "ou", "pa", "pe", "pl", "qu", "r ", "ra", "re", "ri", "ro", "rs", "s ", "se", "si", "so", "ss",
    "st", "t ", "ta", "te", "th", "ti", "to", "tr", "ul", "un", "ur", "us", "ut", "ve", "y ", "| ", "\t", "\n", "\r",
    " ", '"', "#", "'", "(", ")", "*", "-", ".", "/", "0", "1", "2", "3", "4", ":", ";", "<", "=", ">", "A", "B", "C",
    "D", "E", "F", "G", "H", "I", "L", "M", "N", "O", "P", "R", "S", "T", "U", "[", "]", "_", "`", "a", "b", "c", "d",
    "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t", "u", "v", "w", "x", "y", "{", "}",
    "~", "—", "’", "\n## ",
)
# fmt: on

_ITSELF = b"\0"
"""Before a byte that stands for itself."""


def rows() -> list[tuple[bytes, bytes]]:
    """(byte, what it stands for), for those who read texts with SQL."""
    return [(bytes([code]), piece.encode()) for code, piece in enumerate(_PIECES, 1)]


def encode(text: bytes) -> bytes | None:
    """The shorter form; None where there is none."""
    pattern, codes = _coding()
    coded = b"".join([codes[piece] for piece in pattern.findall(text)])
    return coded if len(coded) < len(text) else None


def decode(coded: bytes) -> bytes:
    """What `encode` was given. Raises `ValueError` for what it never gives."""
    pieces = _pieces()
    plain, *others = coded.split(_ITSELF)
    found = [*map(pieces.__getitem__, plain)]
    at = iter(others)
    for part in at:
        if part:
            found.append(part[:1])
            found += map(pieces.__getitem__, part[1:])
            continue
        found.append(_ITSELF)  # two zeros: a zero that stands for itself, then pieces
        after = next(at, None)
        if after is None:
            raise ValueError("a coded text is cut short")
        found += map(pieces.__getitem__, after)
    return b"".join(found)


@cache
def _pieces() -> tuple[bytes, ...]:
    return (b"", *(piece.encode() for piece in _PIECES))


class _Codes(dict[bytes, bytes]):
    def __missing__(self, byte: bytes) -> bytes:
        return _ITSELF + byte


@cache
def _coding() -> tuple[re.Pattern[bytes], _Codes]:
    """What finds the longest piece at each place, and the code of each."""
    tails: dict[bytes, list[bytes]] = defaultdict(list)
    for _, piece in sorted(rows(), key=lambda row: -len(row[1])):
        tails[piece[:1]].append(piece[1:])
    branches = []
    # by the first byte, so that most branches are left at once, and roughly the most frequent ones first
    for first, after in sorted(tails.items(), key=lambda item: -len(item[1])):
        more = b"|".join(re.escape(tail) for tail in after if tail)
        alone = b"?" if b"" in after else b""
        branches.append(re.escape(first) + (b"(?:" + more + b")" + alone if more else b""))
    pattern = re.compile(b"|".join(branches) + b"|.", re.DOTALL)
    return pattern, _Codes({piece: code for code, piece in rows()})

"""Text, bytes and values that are nearly right, from a seed."""

from __future__ import annotations

import random
import string
from collections.abc import Sequence
from typing import Any

ODD = (
    *("\0", "\t", "\n", "\r\n", "\x1b[2J", "\x7f", "\x85", "\xa0", "\u200b", "\u200d", "\u202e", "\u2028", "\ufeff"),
    *("é", "e\u0301", "ß", "ſ", "İ", "ı", "K", "ﬁ", "中文", "한국어", "עברית", "العربية", "👩‍👩‍👧", "\U0010ffff"),
    *("\ufffd",),
    *("'", '"', "`", "\\", "/", "..", "../", "//", "~", "$HOME", "%00", "%2e%2e", "{}", "[]", "()", "<>", "|", "&&"),
    *("*", "**", "?", "!", "#", "@", ":", ";", ",", "=", "-", "--", "_", " ", "   ", "0", "-1", "1e999", "NaN", "null"),
)

SURROGATES = ("\ud800", "\udcff", "\udfff")


def word(chance: random.Random) -> str:
    return "".join(chance.choices(string.ascii_letters + "_", k=chance.randint(1, 12)))


def text(chance: random.Random, pieces: Sequence[str], *, most: int = 12, surrogates: bool = False) -> str:
    """Pieces, words and odd characters, one after the other."""
    odd = (*ODD, *SURROGATES) if surrogates else ODD
    made = []
    for _ in range(chance.randint(0, most)):
        kind = chance.random()
        made.append(chance.choice(pieces) if kind < 0.55 else chance.choice(odd) if kind < 0.8 else word(chance))
    return "".join(made) if chance.random() < 0.5 else " ".join(made)


def mutated(chance: random.Random, given: str, *, surrogates: bool = False) -> str:
    """The text with a few changes: pieces cut, doubled, swapped, repeated often, odd characters put in."""
    odd = (*ODD, *SURROGATES) if surrogates else ODD
    for _ in range(chance.randint(1, 4)):
        at, to = sorted((chance.randint(0, len(given)), chance.randint(0, len(given))))
        kind = chance.randrange(7)
        if kind == 0:
            given = given[:at] + given[to:]
        elif kind == 1:
            given = given[:to] + given[at:]
        elif kind == 2:
            given = given[:at] + chance.choice(odd) + given[at:]
        elif kind == 3:
            given = given[to:] + given[:at]
        elif kind == 4 and chance.random() < 0.2:
            given = given[:at] + given[at : at + 3] * chance.choice((10, 100, 1000)) + given[at:]
        elif kind == 5:
            given = given[:at] + given[at:to].swapcase() + given[to:]
        else:
            given = given[:at] + chr(chance.choice((chance.randrange(128), chance.randrange(0xD800)))) + given[at + 1 :]
    return given


def mutated_bytes(chance: random.Random, given: bytes) -> bytes:
    """The bytes with a few changes: bits flipped, pieces cut, doubled, overwritten, the end lost."""
    data = bytearray(given)
    for _ in range(chance.choice((1, 1, 2, 5, 30))):
        if not data:
            break
        at = chance.randrange(len(data))
        kind = chance.randrange(8)
        length = min(chance.choice((1, 2, 4, 64, 4096)), len(data) - at)
        if kind <= 1:
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 2:
            data[at : at + length] = chance.randbytes(length)
        elif kind == 3:
            del data[at : at + length]
        elif kind == 4:
            data[at:at] = data[at : at + length]
        elif kind == 5:
            data[at : at + length] = bytes(length) if chance.random() < 0.5 else b"\xff" * length
        elif kind == 6 and chance.random() < 0.3:
            del data[at:]
        else:
            other = chance.randrange(len(data))
            data[at : at + length] = data[other : other + length]
    return bytes(data)


def value(chance: random.Random, depth: int = 0) -> Any:
    """Any value of JSON, most of them of no use to anybody."""
    kind = chance.randrange(9 if depth < 3 else 7)
    if kind == 0:
        return None
    if kind == 1:
        return chance.random() < 0.5
    if kind == 2:
        return chance.choice((0, 1, -1, 10, 100, 1000, 2**31, 2**53, 2**63, 2**64, -(2**63), 10**30, 10**400))
    if kind == 3:
        return chance.choice((0.0, -0.0, 0.5, 1.0, 1.5, -1.5, 1e308, float("inf"), float("-inf"), float("nan"), 1e-320))
    if kind <= 6:
        return text(chance, (word(chance), "a.py", "main"), surrogates=True)
    if kind == 7:
        return [value(chance, depth + 1) for _ in range(chance.randint(0, 4))]
    return {word(chance): value(chance, depth + 1) for _ in range(chance.randint(0, 4))}

"""G: files that look relevant refer to the file that matters. Pure.

A file votes for another with every name that the other defines and hardly anyone else does, a rare name counting
more. Only candidates vote and are voted for, so nothing about the rest of the tree is needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Set

MIN_NAME = 4
"""Shorter names are words of their own too often."""

MAX_DEFINERS = 2
"""A name that more files define says nothing about which one is meant."""

EXPONENT = 3.0
"""How much more a likely file's voice counts; 2 to 8 measured the same."""

MIN_VOICE = 0.2
"""Files whose voice is smaller than this share of the loudest are not asked."""

KINDS = frozenset(("class", "struct", "enum", "trait", "interface", "type_alias", "fn", "method", "module", "constant"))


def voters(voices: Sequence[float]) -> list[int]:
    """The places of the candidates that are asked."""
    loudest = max(voices, default=0.0)
    if loudest <= 0:
        return []
    return [place for place, voice in enumerate(voices) if (voice / loudest) ** EXPONENT >= MIN_VOICE]


def votes(
    voices: Sequence[float],
    mentions: Callable[[int], Set[int]],
    defines: Sequence[Set[int]],
    files_with: Callable[[Iterable[int]], Mapping[int, int]],
    files: int,
) -> list[float]:
    """Votes per candidate, the most voted at 1.

    ``voices``: how relevant each candidate looks, any scale; ``mentions``: the term keys that a candidate contains, by
    its place, asked for those that vote; ``defines``: the rare names that each one defines, as such keys;
    ``files_with``: files of the manifest that have each key; ``files``: how many there are.
    """
    received = [0.0] * len(voices)
    loudest = max(voices, default=0.0)
    if loudest <= 0:
        return received
    known = frozenset().union(*defines)
    said = {voter: known & mentions(voter) for voter in voters(voices)}
    heard = frozenset().union(*said.values())
    definers: dict[int, list[int]] = {}
    for candidate, names in enumerate(defines):
        for key in names & heard:
            definers.setdefault(key, []).append(candidate)
    counts = files_with(heard)
    weights = {key: math.log(1 + files / max(1, count)) for key, count in counts.items()}
    for voter, keys in said.items():
        others = keys - defines[voter]
        total = sum([weights[key] * len(definers[key]) for key in others])
        own = keys & defines[voter]
        total += sum([weights[key] * (len(definers[key]) - 1) for key in own])
        if total <= 0:
            continue
        each = (voices[voter] / loudest) ** EXPONENT / total
        for key in others:
            for candidate in definers[key]:
                received[candidate] += each * weights[key]
        for key in own:
            for candidate in definers[key]:
                if candidate != voter:
                    received[candidate] += each * weights[key]
    most = max(received)
    return [value / most for value in received] if most > 0 else received

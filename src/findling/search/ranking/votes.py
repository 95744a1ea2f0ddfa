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


def votes(
    voices: Sequence[float],
    mentions: Sequence[Set[int]],
    defines: Sequence[Set[int]],
    files_with: Callable[[Iterable[int]], Mapping[int, int]],
    files: int,
) -> list[float]:
    """Votes per candidate, the most voted at 1.

    ``voices``: how relevant each candidate looks, any scale; ``mentions`` and ``defines``: the term keys each one
    contains and the rare names among them it defines; ``files_with``: files of the manifest that have each key;
    ``files``: how many there are.
    """
    received = [0.0] * len(voices)
    loudest = max(voices, default=0.0)
    if loudest <= 0:
        return received
    anyones = frozenset().union(*defines)
    edges: list[tuple[float, list[tuple[int, Set[int]]]]] = []
    for voter, voice in enumerate(voices):
        power = (voice / loudest) ** EXPONENT
        if power >= MIN_VOICE:
            said = anyones & mentions[voter]
            shared = [
                (candidate, common)
                for candidate, names in enumerate(defines)
                if candidate != voter and (common := names & said)
            ]
            edges.append((power, shared))
    counts = files_with({key for _, shared in edges for _, common in shared for key in common})
    weights = {key: math.log(1 + files / max(1, count)) for key, count in counts.items()}
    for power, shared in edges:
        given = [(candidate, sum([weights[key] for key in common])) for candidate, common in shared]
        total = sum([weight for _, weight in given])
        for candidate, weight in given:
            received[candidate] += power * weight / total
    most = max(received)
    return [value / most for value in received] if most > 0 else received

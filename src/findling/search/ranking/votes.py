"""G: files that look relevant refer to the file that matters. Pure.

A file votes for another with every name that the other defines and hardly anyone else does, a rare name counting
more. Only candidates vote and are voted for, so nothing about the rest of the tree is needed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set

MIN_NAME = 4
"""Shorter names are words of their own too often."""

MAX_DEFINERS = 2
"""A name that more files define says nothing about which one is meant."""

EXPONENT = 3.0
"""How much more a likely file's voice counts; 2 to 8 measured the same."""

MIN_VOICE = 0.02
"""Files whose voice is smaller than this share of the loudest are not asked."""

KINDS = frozenset(("class", "struct", "enum", "trait", "interface", "type_alias", "fn", "method", "module", "constant"))


def votes(
    voices: Sequence[float],
    mentions: Sequence[Set[int]],
    defines: Sequence[Set[int]],
    files_with: Mapping[int, int],
    files: int,
) -> list[float]:
    """Votes per candidate, the most voted at 1.

    ``voices``: how relevant each candidate looks, any scale; ``mentions`` and ``defines``: the term keys each one
    contains and the rare names among them it defines; ``files_with``: files of the manifest that have a key.
    """
    loudest = max(voices, default=0.0)
    if loudest <= 0:
        return [0.0] * len(voices)
    owners: dict[int, list[int]] = {}
    for candidate, names in enumerate(defines):
        for key in names:
            owners.setdefault(key, []).append(candidate)
    wanted = owners.keys()
    received = [0.0] * len(voices)
    for voter, voice in enumerate(voices):
        power = (voice / loudest) ** EXPONENT
        if power < MIN_VOICE:
            continue
        edges: dict[int, float] = {}
        for key in wanted & mentions[voter]:
            weight = math.log(1 + files / max(1, files_with.get(key, 1)))
            for candidate in owners[key]:
                if candidate != voter:
                    edges[candidate] = edges.get(candidate, 0.0) + weight
        total = sum(edges.values())
        for candidate, weight in edges.items():
            received[candidate] += power * weight / total
    most = max(received, default=0.0)
    return [value / most for value in received] if most > 0 else received

"""The sum that orders an answer: signals, their weights, and the words that explain them. Pure.

Every signal is in [0, 1] before its weight. Weights are round on purpose: fitted ones measured the same on files
they had not seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from findling.types import Reason


@dataclass(frozen=True, slots=True)
class Signal:
    """``weight`` times a value in [0, 1] is the signal's share of the sum; ``words`` say it to a person."""

    weight: float
    words: str


HELD_BACK = 3.0
"""What speaks against whole kinds of files: about what the rest tells two likely files apart by. Below 2 they come up
where nobody asked for them, above 3 nothing changes."""

SIGNALS: Mapping[str, Signal] = {
    "window": Signal(4.0, "the passage is about the same thing"),
    "passage": Signal(0.5, "the best chunk has the query's words"),
    "passages": Signal(2.0, "chunks around it have them too"),
    "file": Signal(2.0, "the file as a whole has the query's words"),
    "coverage": Signal(0.5, "few of the query's words are missing from it"),
    "votes": Signal(1.0, "other likely files refer to what it defines"),
    "stem": Signal(1.0, "the file is named like a name in the query"),
    "path": Signal(1.0, "the file's name is explained by the query"),
    "definition": Signal(1.0, "it defines a name in the query"),
    "name": Signal(0.5, "it defines something named like the query"),
    "exact": Signal(3.0, "it holds the quoted text or message to the letter"),
    "advice": Signal(2.0, "it is documentation, and the question is a user's"),
    "wanted": Signal(1.0, "it is of the kind that was asked for: a test, a history of changes"),
    "test": Signal(-HELD_BACK, "it is a test, and none was asked for"),
    "example": Signal(-HELD_BACK, "it is an example, and none was asked for"),
    "legacy": Signal(-1.0, "it is kept for compatibility"),
    "superseded": Signal(-HELD_BACK, "a newer version stands beside it"),
    "platform": Signal(-HELD_BACK, "it is for one platform, and none was named"),
    "changes": Signal(-HELD_BACK, "it is a history of changes, and none was asked for"),
    "init": Signal(-1.0, "it only gathers what others define"),
    "generated": Signal(-1.0, "it is generated"),
}

WITH_VECTORS = frozenset(SIGNALS) - {"passages"}
TEXT_ONLY = frozenset(SIGNALS) - {"window"}

_WITHOUT_WINDOW = {"passage": 1.0}
"""Weights that differ where no vectors say what a passage is about."""

_ALWAYS = ("window", "passage", "file", "coverage", "votes", "stem", "path", "definition", "name")
MAXIMUM = sum(SIGNALS[name].weight for name in _ALWAYS)
"""The sum of a file for which everything speaks; the exposed score is the sum's share of it."""


def rank_value(values: Mapping[str, float], use: frozenset[str]) -> float:
    """The weighted sum of the signals in use."""
    return sum(_weight(name, use) * value for name, value in values.items() if name in use)


def _weight(name: str, use: frozenset[str]) -> float:
    weight = SIGNALS[name].weight
    return weight if "window" in use or not weight else _WITHOUT_WINDOW.get(name, weight)


def reasons(values: Mapping[str, float], use: frozenset[str]) -> tuple[Reason, ...]:
    """Each signal's share of the sum, largest first; shares of zero are left out."""
    shares = [
        Reason(name, share, SIGNALS[name].words)
        for name, value in values.items()
        if name in use and (share := _weight(name, use) * value)
    ]
    return tuple(sorted(shares, key=lambda reason: (-abs(reason.value), reason.signal)))


def exposed(value: float) -> float:
    """A sum as a score in [0, 1]."""
    return min(1.0, max(0.0, value / MAXIMUM))

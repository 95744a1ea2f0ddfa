"""The sum that orders an answer: signals, their weights, and the words that explain them. Pure.

Every signal is in [0, 1] before its weight. Weights are round on purpose: fitted ones measured the same on files
they had not seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from findling.model.types import Reason


class Signal(NamedTuple):
    """``weight`` times a value in [0, 1] is the signal's share of the sum; ``words`` say it to a person.

    In them ``{share}`` stands for the value, ``{what}`` for what was found.
    """

    weight: float
    words: str


HELD_BACK = 3.0
"""What speaks against whole kinds of files: about what the rest tells two likely files apart by. Below 2 they come up
where nobody asked for them, above 3 nothing changes."""

EXACTLY_NAMED = 15.0
"""More than everything that may speak for another file and against this one: for a path that was asked for, and, where
names alone are searched, for just the name against those that are like it."""

SIGNALS: Mapping[str, Signal] = {
    "window": Signal(3.5, "a passage is close in meaning ({share} of the closest one)"),
    "passage": Signal(1.0, "its best passage has words of the query ({share} of the best file's)"),
    "passages": Signal(2.0, "the passages around it have words of the query too ({share} of the best file's)"),
    "file": Signal(2.0, "the whole file has words of the query ({share} of the best file's)"),
    "coverage": Signal(0.5, "it contains {share} of what the query says"),
    "said": Signal(0.5, "query coverage: +{share} over other places"),
    "votes": Signal(1.0, "other likely files use what it defines ({share} of the most used)"),
    "stem": Signal(1.0, "the file is named like something in the query"),
    "path": Signal(1.5, "the query contains {share} of the file's name"),
    "definition": Signal(1.0, "it defines {what}"),
    "asked": Signal(4.0, "it defines {what}, and the query is just that name"),
    "asked_path": Signal(EXACTLY_NAMED, "its path is what was asked for"),
    "name": Signal(0.5, "it defines something named like the query ({share} of the best match)"),
    "named": Signal(EXACTLY_NAMED, "it defines {what}, as was asked"),
    "alike": Signal(2.0, "it defines {what}, which is like the name asked for"),
    "exact": Signal(3.0, "it contains the quoted text or message exactly{what}"),
    "message": Signal(6.0, "it has a line that says {share} of the message{what}"),
    "told": Signal(1.5, "its best passage has words of the long question ({share} of the best file's)"),
    "advice": Signal(2.0, "it is documentation, and the question is one that users ask"),
    "beside": Signal(-HELD_BACK, "it is a document, and the question is about code"),
    "wanted": Signal(0.5, "it is of the kind that was asked for, such as a test or a changelog"),
    "test": Signal(-HELD_BACK, "it is a test, and none was asked for"),
    "example": Signal(-HELD_BACK, "it is an example, and none was asked for"),
    "legacy": Signal(-1.0, "it is kept for compatibility"),
    "superseded": Signal(-HELD_BACK, "a newer version stands beside it"),
    "platform": Signal(-HELD_BACK, "it is for one platform, and none was named"),
    "changes": Signal(-HELD_BACK, "it is a changelog, a licence or the like, and none was asked for"),
    "messages": Signal(-HELD_BACK, "it holds translated messages, and none were asked for"),
    "generated": Signal(-1.0, "it is generated"),
    "prose": Signal(3.0, "it matches the prose of the pasted text ({share} of the best match)"),
    "frame": Signal(6.0, "the pasted text names a place in it{what}; frames further from the error count less"),
    "named_there": Signal(6.0, "it defines names of the pasted text{what}"),
    "quoted_there": Signal(6.0, "it has a line that says {share} of a pasted message{what}"),
    "document": Signal(-4.0, "it is a document, and a program's report was pasted"),
}

OF_PASTED = frozenset(("prose", "frame", "named_there", "quoted_there", "document"))
"""What counts only where a text was taken apart: how its other parts lead to a file that its title is asked of."""

NAMES_ALONE = frozenset(("named", "alike"))
"""What counts only where names alone are searched: beside any other evidence these would decide everything."""

OF_NAMES = NAMES_ALONE | {"definition", "file", "stem", "test", "example", "legacy", "platform", "generated"}
"""What counts there."""

WITH_VECTORS = frozenset(SIGNALS) - {"passages"} - NAMES_ALONE - OF_PASTED
TEXT_ONLY = frozenset(SIGNALS) - {"window", "said"} - NAMES_ALONE - OF_PASTED

_ALWAYS = ("window", "passage", "file", "coverage", "votes", "stem", "path", "definition", "name")
MAXIMUM = sum(SIGNALS[name].weight for name in _ALWAYS)
MAXIMUM_OF_NAMES = sum(SIGNALS[name].weight for name in ("named", "definition", "file", "stem"))
"""The sum of a file for which everything speaks; the exposed score is the sum's share of it."""


def rank_value(values: Mapping[str, float], use: frozenset[str]) -> float:
    """The weighted sum of the signals in use."""
    weights = weights_in_use(use)
    return sum([weights[name] * value for name, value in values.items() if name in weights])


@cache
def weights_in_use(use: frozenset[str]) -> Mapping[str, float]:
    """What each signal in use weighs."""
    return {name: signal.weight for name, signal in SIGNALS.items() if name in use}


_UNSAID: Mapping[str, str] = dict.fromkeys(("exact", "message", *OF_PASTED), "")
_SOMETHING = "a name in the query"
"""What was found, where nobody says it."""


def reasons(
    values: Mapping[str, float], use: frozenset[str], what: Mapping[str, str] | None = None
) -> tuple[Reason, ...]:
    """Each signal's share of the sum, largest first; shares of zero are left out. ``what`` was found, by signal."""
    known = {**_UNSAID, **(what or {})}
    weights = weights_in_use(use)
    shares = [
        Reason(name, share, SIGNALS[name].words.format(share=f"{value:.0%}", what=known.get(name, _SOMETHING)))
        for name, value in values.items()
        if name in weights and (share := weights[name] * value)
    ]
    return tuple(sorted(shares, key=lambda reason: (-abs(reason.value), reason.signal)))


def exposed(value: float, use: frozenset[str] = WITH_VECTORS) -> float:
    """A sum of the signals in use as a score in [0, 1]."""
    return min(1.0, max(0.0, value / (MAXIMUM_OF_NAMES if "named" in use else MAXIMUM)))

"""The trigrams that a file must contain to match a pattern: the question that the exact-text index answers.

A trigram is three consecutive bytes of the ASCII-lowercased text, packed big end first into 24 bits. Knows
nothing of regular expressions, of segments or of files.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Literal

from msgspec import Struct

#: The index holds no trigram that spans these: a pattern matches within a line, and CR LF counts as its end.
UNINDEXED_BYTES = frozenset(b"\r\n")


class TrigramPlan(Struct, frozen=True):
    """A tree of AND and OR over trigrams.

    ``all``: every code and every part must hold (nothing to hold means: every file qualifies). ``any``: at least
    one code or part must hold (nothing to hold means: no file qualifies).
    """

    kind: Literal["all", "any"]
    codes: frozenset[int] = frozenset()
    parts: tuple[TrigramPlan, ...] = ()

    @property
    def admits_everything(self) -> bool:
        return self.kind == "all" and not self.codes and not self.parts

    def holds(self, trigrams: Container[int]) -> bool:
        """Whether a file with exactly these trigram codes qualifies."""
        if self.kind == "all":
            return all(code in trigrams for code in self.codes) and all(part.holds(trigrams) for part in self.parts)
        return any(code in trigrams for code in self.codes) or any(part.holds(trigrams) for part in self.parts)


ALL = TrigramPlan("all")


def trigram_codes(text: bytes) -> frozenset[int]:
    """The codes of ``text``'s indexed trigrams; empty when it is shorter than three bytes."""
    lowered = text.lower()
    return frozenset(
        lowered[i] << 16 | lowered[i + 1] << 8 | lowered[i + 2]
        for i in range(len(lowered) - 2)
        if not UNINDEXED_BYTES.intersection(lowered[i : i + 3])
    )


def require_text(text: bytes) -> TrigramPlan:
    """A plan that only files holding ``text`` (ASCII case ignored) satisfy, as far as trigrams can tell."""
    return TrigramPlan("all", trigram_codes(text))


def all_of(plans: Iterable[TrigramPlan]) -> TrigramPlan:
    codes: set[int] = set()
    parts: dict[TrigramPlan, None] = {}
    for plan in plans:
        if plan.kind == "all":
            codes |= plan.codes
            parts.update(dict.fromkeys(plan.parts))
        else:
            parts[plan] = None
    if not codes and len(parts) == 1:
        return next(iter(parts))
    return TrigramPlan("all", frozenset(codes), tuple(parts))


def any_of(plans: Iterable[TrigramPlan]) -> TrigramPlan:
    codes: set[int] = set()
    parts: dict[TrigramPlan, None] = {}
    for plan in plans:
        if plan.admits_everything:
            return ALL
        if plan.kind == "any":
            codes |= plan.codes
            parts.update(dict.fromkeys(plan.parts))
        elif len(plan.codes) == 1 and not plan.parts:
            codes |= plan.codes
        else:
            parts[plan] = None
    if len(codes) + len(parts) == 1:
        return TrigramPlan("all", frozenset(codes)) if codes else next(iter(parts))
    return TrigramPlan("any", frozenset(codes), tuple(parts))

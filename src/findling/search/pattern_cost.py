"""How badly a backtracking engine can do on an expression: which texts the standard `re` may be trusted with.

`re` is fast but cannot be interrupted; `regex` obeys a time limit. The estimate is an upper bound from the tree: each
repeat of characters multiplies the work by the length of the line. Expressions that can grow exponentially (repeats of
repeats, repeated alternatives) are never trusted.
"""

from __future__ import annotations

import math
from re import _constants as ops  # type: ignore[attr-defined]

from msgspec import Struct

from findling.search.pattern_syntax import REPEATS, SINGLE_CHARACTERS, Nodes, children

#: Steps that `re` may take on one text at worst, about a second; it cannot be stopped in between.
STEP_BUDGET = 1e8


class Cost(Struct, frozen=True):
    """Steps at worst: ``ways`` for each character, times the length of its line to the power of ``repeats``.

    ``repeats`` is infinite where `re` cannot be trusted at all.
    """

    ways: float = 1
    repeats: float = 0

    def longest_safe_line(self, characters: int = 0) -> int:
        """The longest line on which `re` stays within the budget, in a text of so many characters (0: of that line
        alone)."""
        most = STEP_BUDGET / self.ways
        alone = int(most ** (1 / (self.repeats + 1)))
        if characters <= alone:
            return alone
        return int((most / characters) ** (1 / self.repeats)) if self.repeats else 0


def cost_of(nodes: Nodes) -> Cost:
    """The cost of a sequence of nodes: the product of theirs."""
    ways, repeats = 1.0, 0.0
    for op, argument in nodes:
        inside = [cost_of(child) for child in children(op, argument)]
        if op in REPEATS:
            low, high, body = argument
            if high is ops.MAXREPEAT:
                repeats += 1
            ways *= 1 if high is ops.MAXREPEAT else high - low + 1
            if high != 1 and not _fixed(body):
                repeats = math.inf
        elif op is ops.BRANCH:
            inside = [Cost(sum(part.ways for part in inside), max(part.repeats for part in inside))]
        elif op in (ops.GROUPREF, ops.GROUPREF_EXISTS):
            repeats = math.inf
        for part in inside:
            ways, repeats = ways * part.ways, repeats + part.repeats
    return Cost(ways, repeats)


def _fixed(nodes: Nodes) -> bool:
    """Whether the part can match in one way only: characters in a row, groups of them, counted repeats."""
    return all(
        op in SINGLE_CHARACTERS
        or (op is ops.SUBPATTERN and _fixed(argument[3]))
        or (op in REPEATS and argument[0] == argument[1] and _fixed(argument[2]))
        for op, argument in nodes
    )

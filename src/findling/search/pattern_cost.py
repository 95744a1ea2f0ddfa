"""How badly a backtracking engine can do on an expression: which texts the standard `re` may be trusted with.

`re` is fast but cannot be interrupted; `regex` obeys a time limit. The estimate is an upper bound from the tree: a
repeat that can give characters to what follows it multiplies the work by the length of the line. Expressions that
can grow exponentially (repeats of repeats, repeated alternatives) are never trusted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from re import _constants as ops  # type: ignore[attr-defined]
from typing import Any

from findling.search.pattern_syntax import REPEATS, SINGLE_CHARACTERS, Nodes

#: Steps that `re` may take on one text at worst, about a second; it cannot be stopped in between.
STEP_BUDGET = 1e8
#: Repeats of a part up to this many more times count as an option, not as growing with the line.
NARROW_REPEAT = 8
#: Two to the power of this many ambiguous options is the most that is accepted.
MAX_OPTIONS = 8

# Sets of characters as bit masks: one bit per ASCII character, one for all others together.
_OTHERS = 1 << 128
_EVERY = (1 << 129) - 1


def _mask_of(members: Iterable[str]) -> int:
    return sum(1 << ord(character) for character in members) | _OTHERS


_DIGITS = _mask_of("0123456789")
_SPACES = _mask_of(filter(str.isspace, map(chr, range(128))))
_WORD = _mask_of(character for character in map(chr, range(128)) if character.isalnum() or character == "_")
_CATEGORIES = {
    ops.CATEGORY_DIGIT: _DIGITS,
    ops.CATEGORY_NOT_DIGIT: _EVERY & ~_DIGITS | _OTHERS,
    ops.CATEGORY_SPACE: _SPACES,
    ops.CATEGORY_NOT_SPACE: _EVERY & ~_SPACES | _OTHERS,
    ops.CATEGORY_WORD: _WORD,
    ops.CATEGORY_NOT_WORD: _EVERY & ~_WORD | _OTHERS,
}


@dataclass(frozen=True, slots=True)
class Cost:
    """Steps at worst: ``factor`` for each character, times the length of its line to the power of ``exponent`` - 1.

    ``exponent`` is infinite where `re` cannot be trusted at all.
    """

    factor: int
    exponent: float

    def longest_safe_line(self, characters: int = 0) -> int:
        """The longest line on which `re` stays within the budget, in a text of so many characters (0: of that line
        alone)."""
        if self.exponent == math.inf:
            return 0
        most = STEP_BUDGET / self.factor
        alone = int(most ** (1 / max(1.0, self.exponent)))
        if characters <= alone:
            return alone
        return int((most / characters) ** (1 / (self.exponent - 1))) if self.exponent > 1 else alone


def cost_of(nodes: Nodes, *, ignore_case: bool) -> Cost:
    cost = _Cost(ignore_case)
    listed = list(nodes)
    cost.sequence(listed, 0)
    if cost.unbounded or cost.options > MAX_OPTIONS:
        return Cost(1, math.inf)
    anchored = bool(listed) and listed[0][0] is ops.AT and listed[0][1] in (ops.AT_BEGINNING, ops.AT_BEGINNING_STRING)
    return Cost(2**cost.options, cost.ambiguous + cost.linear + (not anchored))


class _Cost:
    def __init__(self, ignore_case: bool) -> None:
        self.ignore_case = ignore_case
        self.ambiguous = 0  # repeats that can give characters to what follows
        self.linear = False  # whether there are repeats that cannot
        self.options = 0
        self.unbounded = False

    def sequence(self, nodes: list[tuple[Any, Any]], follow: int) -> tuple[int, bool]:
        """(characters that a match can begin with, whether it can be empty); ``follow``: what can come after."""
        first, empty = 0, True
        for op, argument in reversed(nodes):
            node_first, node_empty = self.node(op, argument, first | (follow if empty else 0))
            first = node_first | (first if node_empty else 0)
            empty = empty and node_empty
        return first, empty

    def node(self, op: Any, argument: Any, follow: int) -> tuple[int, bool]:
        if op in SINGLE_CHARACTERS:
            return self.mask(op, argument), False
        if op in REPEATS:
            return self.repeat(argument, follow)
        if op is ops.SUBPATTERN:
            return self.sequence(list(argument[3]), follow)
        if op is ops.ATOMIC_GROUP:
            return self.sequence(list(argument), follow)
        if op is ops.BRANCH:
            return self.branch([list(body) for body in argument[1]], follow)
        if op in (ops.ASSERT, ops.ASSERT_NOT):
            self.sequence(list(argument[1]), 0)
            return 0, True
        if op is ops.AT or op is ops.FAILURE:
            return 0, True
        self.unbounded = True  # references to groups
        return _EVERY, True

    def branch(self, bodies: list[list[tuple[Any, Any]]], follow: int) -> tuple[int, bool]:
        seen, empty = 0, False
        for body in bodies:
            body_first, body_empty = self.sequence(body, follow)
            begins = body_first | (follow if body_empty else 0)
            self.options += bool(seen & begins)
            seen |= begins
            empty = empty or body_empty
        return seen, empty

    def repeat(self, argument: Any, follow: int) -> tuple[int, bool]:
        low, high, body = argument
        nodes = list(body)
        single = len(nodes) == 1 and nodes[0][0] in SINGLE_CHARACTERS
        if high == 1:
            first, empty = self.sequence(nodes, follow)
            self.options += bool(first & follow)
            return first, empty or low == 0
        if not single and not _fixed(nodes):
            self.unbounded = True
            return _EVERY, True
        first, _ = self.sequence(nodes, follow)
        if high - low > NARROW_REPEAT:
            if first & follow:
                self.ambiguous += 1
            else:
                self.linear = True
        elif high > low and first & follow:
            self.options += (high - low).bit_length()
        return first, low == 0

    def mask(self, op: Any, argument: Any) -> int:
        if op is ops.ANY:
            return _EVERY
        if op is ops.LITERAL:
            return self.characters(argument, argument)
        if op is ops.NOT_LITERAL:
            return _EVERY & ~self.characters(argument, argument) | _OTHERS
        inside, negated = 0, False
        for item, value in argument:
            if item is ops.NEGATE:
                negated = True
            elif item is ops.LITERAL:
                inside |= self.characters(value, value)
            elif item is ops.RANGE:
                inside |= self.characters(*value)
            else:
                inside |= _CATEGORIES[value]
        return _EVERY & ~inside | _OTHERS if negated else inside

    def characters(self, low: int, high: int) -> int:
        mask = _OTHERS if high > 127 else 0
        for code in range(low, min(high, 127) + 1):
            mask |= 1 << code
            if chr(code).isalpha():
                mask |= 1 << (code ^ 32)  # the other case, in case case is ignored: only ever too much
        return mask | (_OTHERS if self.ignore_case else 0)


def _fixed(nodes: list[tuple[Any, Any]]) -> bool:
    """Whether the part can match in one way only: characters in a row, groups of them, counted repeats."""
    for op, argument in nodes:
        if op is ops.SUBPATTERN:
            if not _fixed(list(argument[3])):
                return False
        elif op in REPEATS:
            low, high, body = argument
            if low != high or not _fixed(list(body)):
                return False
        elif op not in SINGLE_CHARACTERS:
            return False
    return bool(nodes)

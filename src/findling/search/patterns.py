"""A search pattern, ready to run: checked, planned, and matched by the engine that its risk calls for.

What matching means: lines are searched one at a time and never include their line break (LF or CR LF), so ``^`` and
``$`` are the ends of a line and a pattern with a line break is refused; the text is Unicode; case is ignored as the
standard `re` does it. A ``multiline`` pattern is searched for in a whole text, and what can match a line break does; a
``.`` does after ``(?s)``. Knows nothing of files, folders or the index.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from re import _constants as ops  # type: ignore[attr-defined]
from typing import Any

from msgspec import Struct

from findling.model.errors import InvalidPattern
from findling.model.trigram_plan import TrigramPlan
from findling.search.pattern_plan import needles, trigram_plan
from findling.search.pattern_syntax import (
    REPEATS,
    SINGLE_CHARACTERS,
    Dialect,
    Nodes,
    Style,
    beyond_a_line,
    children,
    literal_nodes,
    parse,
    refers_to_groups,
    sets_ignore_case,
    word_class,
    write,
)

#: Patterns kept compiled; a long-lived process sees the same few again.
_CACHED_PATTERNS = 64


_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")


def is_plain(pattern: str) -> bool:
    """Whether an expression matches nothing but its own text."""
    return _SPECIAL.search(pattern) is None


class PatternTimeout(Exception):
    """Matching one text took longer than allowed."""


class CompiledPattern(Struct, frozen=True, dict=True):
    """A pattern with its options; made by ``compile_pattern``.

    ``plan``: what the index can be asked. ``needles``: texts, as bytes, that every matching line contains, the longest
    first (ASCII-lowercased when ``folds_case``). ``plain``: a line matches exactly where its only needle is. ``note``:
    what its writer may expect of it in vain, '' for nothing. ``groups``: the numbers of those that have a name.
    """

    text: str
    literal: bool
    ignore_case: bool
    word: bool
    plan: TrigramPlan
    needles: tuple[bytes, ...]
    folds_case: bool
    plain: bool
    multiline: bool
    cost: Cost
    note: str
    groups: Mapping[str, int]
    _tree: Any
    _flags: int

    def spans(self, text: str, deadline: float, *, longest_line: int | None = None) -> Iterator[tuple[int, int]]:
        """(start, end) of every match, in order, empty ones included.

        ``text``: one line, or lines separated by LF without a closing one. ``longest_line``: a bound on their
        length, by default that of ``text``. ``deadline``: of ``time.thread_time``. Raises PatternTimeout.
        """
        for match in self._matches(text, deadline, longest_line):
            yield match.span()

    def replacements(self, line: str, template: Template, deadline: float) -> Iterator[tuple[tuple[int, int], str]]:
        """The matches of a line, as `spans`, each with what takes its place."""
        for match in self._matches(line, deadline, None):
            yield match.span(), "".join(_piece(match, piece) for piece in template)

    def _matches(self, text: str, deadline: float, longest_line: int | None) -> Iterator[Any]:
        longest = len(text) if longest_line is None or self.multiline else longest_line
        if longest <= self.cost.longest_safe_line(len(text)):
            yield from self.fast_engine(text.isascii()).finditer(text)
            return
        left = deadline - time.thread_time()
        if left <= 0:
            raise PatternTimeout
        try:
            yield from self._interruptible.finditer(text, timeout=left)  # in seconds of the processor's
        except TimeoutError as error:
            raise PatternTimeout from error

    def template(self, replacement: str) -> Template:
        """A replacement taken apart: ``$1``, ``$name`` and ``${name}`` stand for groups, ``$0`` for the whole match,
        ``$$`` for a ``$``. A group that there is not is nothing."""
        pieces: list[str | int] = []
        at = 0
        for found in _GROUP.finditer(replacement):
            pieces.append(replacement[at : found.start()])
            name = found[1] or found[2]
            if not name:
                pieces.append("$")
            elif name.isascii() and name.isdigit():
                pieces += [int(name)] if int(name) <= self._fast.groups else []
            elif name in self.groups:
                pieces.append(self.groups[name])
            at = found.end()
        return (*pieces, replacement[at:])

    def fast_engine(self, ascii_text: bool) -> re.Pattern[str]:
        """The standard library's pattern for text that is (or may not be) all ASCII.

        Only for lines of at most ``cost.longest_safe_line`` characters: it cannot be interrupted.
        """
        return self._fast_ascii if ascii_text else self._fast

    @cached_property
    def _fast(self) -> re.Pattern[str]:
        return re.compile(self._source("re"), self._flags & ~re.DOTALL)

    @cached_property
    def _fast_ascii(self) -> re.Pattern[str]:
        """For ASCII text: the same matches up to three times as fast."""
        if self.folds_case and not self.text.isascii():
            return self._fast  # 'ſ' is to match 's'
        return re.compile(self._source("re"), (self._flags | re.ASCII) & ~re.DOTALL)

    @cached_property
    def _interruptible(self) -> Any:
        import regex  # type: ignore[import-untyped]

        flags = regex.MULTILINE | regex.VERSION0
        flags |= regex.IGNORECASE if self._flags & re.IGNORECASE else 0
        try:
            return regex.compile(self._source("regex"), flags)
        except (regex.error, MemoryError, RecursionError) as error:
            raise InvalidPattern(
                f"The expression cannot be run with a time limit: {error}.",
                remedy="Leave out nested repeats or look-arounds.",
            ) from error

    def _source(self, dialect: Dialect) -> str:
        style = Style(dialect, bool(self._flags & re.ASCII), self.multiline, bool(self._flags & re.DOTALL))
        source = write(self._tree, style)
        if not self.word:
            return source
        word = f"[{word_class(style)}]"
        if self.literal and self.text:  # the literal first, so that the engine can look for it
            return f"{source}(?!{word})(?<!{word}{source})"
        return f"(?<!{word})(?:{source})(?!{word})"


Template = tuple[str | int, ...]
"""A replacement: text, and the numbers of groups."""

_GROUP = re.compile(r"\$(?:\$|([0-9A-Za-z_]+)|\{([0-9A-Za-z_]+)\})")


def _piece(match: Any, piece: str | int) -> str:
    return piece if isinstance(piece, str) else match[piece] or ""


def _note(written: list[str]) -> str:
    return f"Lines are searched one at a time, so {' and '.join(written)} changes nothing." if written else ""


_FLAGS_FIRST = re.compile(r"\(\?([aiLmsux]+)\)")


def one_of(patterns: Sequence[str], *, literal: bool, multiline: bool = False) -> str:
    """An expression that matches what any of several does, the first of them where several do.

    Raises InvalidPattern for one that does not parse, and where one refers to its groups.
    """
    parts: list[str] = []
    for pattern in patterns:
        if literal:
            parts.append(re.escape(pattern))
            continue
        if refers_to_groups(parse(pattern, multiline=multiline)):
            raise InvalidPattern(
                f"{pattern!r} refers to a group by its number, and numbers change when expressions are combined.",
                remedy="Search for this expression alone.",
            )
        flags = _FLAGS_FIRST.match(pattern)
        parts.append(f"(?{flags[1]}:{pattern[flags.end() :]})" if flags else f"(?:{pattern})")
    return "|".join(parts)


@lru_cache(_CACHED_PATTERNS)
def compile_pattern(
    pattern: str,
    *,
    literal: bool = False,
    ignore_case: bool = False,
    word: bool = False,
    multiline: bool = False,
) -> CompiledPattern:
    """Check and prepare a pattern.

    ``literal``: every character means itself. ``word``: matches must not touch further word characters.
    Raises InvalidPattern, with the position when there is one.
    """
    if not pattern:
        raise InvalidPattern("The pattern is empty.", remedy="Say what to search for.")
    if "\0" in pattern or any(0xD800 <= ord(character) <= 0xDFFF for character in pattern):
        raise InvalidPattern("The pattern contains a NUL or characters that are not Unicode text.")
    try:
        groups: dict[str, int] = {}
        if literal:
            nodes = literal_nodes(pattern, multiline=multiline)
            given_flags = 0
        else:
            tree = parse(pattern, multiline=multiline)
            nodes, given_flags, groups = list(tree), tree.state.flags, dict(tree.state.groupdict)
        kept = re.ASCII | re.IGNORECASE | (re.DOTALL if multiline else 0)
        flags = re.MULTILINE | (given_flags & kept) | (re.IGNORECASE if ignore_case else 0)
        literal = all(op is ops.LITERAL for op, _ in nodes)
        whole_ignores = bool(flags & re.IGNORECASE)
        folds = whole_ignores or sets_ignore_case(nodes)
        found = needles(nodes, ignore_case=folds)
        plain = (
            literal
            and not (word or multiline)
            and (ops.LITERAL, ord("\r")) not in nodes
            and [len(text) for text in found] == [sum(len(chr(code).encode()) for _, code in nodes)]
        )
        compiled = CompiledPattern(
            text=pattern,
            literal=literal,
            ignore_case=ignore_case,
            word=word,
            plan=trigram_plan(nodes, ignore_case=whole_ignores),
            needles=found,
            folds_case=folds,
            plain=plain,
            multiline=multiline,
            cost=cost_of(nodes),
            note="" if multiline else _note(beyond_a_line(nodes, given_flags)),
            groups=groups,
            _tree=nodes,
            _flags=flags,
        )
        compiled._fast  # noqa: B018  (what only compiling finds out is to be said now)
    except (re.error, RecursionError, OverflowError) as error:
        message = error.msg if isinstance(error, re.error) else "nested too deeply or repeated too often"
        raise InvalidPattern(f"The expression does not compile: {message}.") from error
    return compiled


#: Steps that `re` may take on one text at worst, about a second; it cannot be stopped in between.
# --- pattern cost -------------------------------------------------------------------------------------------------
# How badly a backtracking engine can do on an expression: which texts the standard `re` may be trusted with.
#
# `re` is fast but cannot be interrupted; `regex` obeys a time limit. The estimate is an upper bound from the tree: each
# repeat of characters multiplies the work by the length of the line. Expressions that can grow exponentially (repeats
# of repeats, repeated alternatives) are never trusted.

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

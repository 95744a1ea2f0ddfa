"""A search pattern, ready to run: checked, planned, and matched within a time limit.

What matching means: lines are searched one at a time and never include their line break (LF or CR LF), so ``^`` and
``$`` are the ends of a line and a pattern with a line break is refused; the text is Unicode; case is ignored as the
standard `re` does it, but for the Turkish i without a dot, which is another letter. A ``multiline`` pattern is searched
for in a whole text, and what can match a line break does; a ``.`` does after ``(?s)``. Knows nothing of files, folders
or the index.
"""

from __future__ import annotations

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
    Style,
    beyond_a_line,
    literal_nodes,
    parse,
    refers_to_groups,
    sets_ignore_case,
    word_class,
    write,
)

#: A needle of so many characters is rare; a shorter one is in nearly every file.
RARE = 4
#: Matching a line on its own costs about as much as going through so many characters of a text.
CHARACTERS_PER_TRY = 64
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
    what its writer may expect of it in vain, '' for nothing. ``groups``: the numbers of those that have a name;
    ``last_group``: the highest number.
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
    note: str
    groups: Mapping[str, int]
    last_group: int
    _tree: Any
    _flags: int

    def spans(self, text: str, deadline: float) -> Iterator[tuple[int, int]]:
        """(start, end) of every match, in order, empty ones included.

        ``text``: one line, or lines separated by LF without a closing one. ``deadline``: of ``time.thread_time``.
        Raises PatternTimeout.
        """
        if self.plain and not (self.folds_case and not text.isascii()):
            return _places(self.needles[0].decode(), text.lower() if self.folds_case else text)
        lines = self._lines_to_try(text)
        if lines is None:
            return (match.span() for match in self._matches(text, deadline))
        return _in_whole(self._matches("\n".join(text[start:end] for start, end in lines), deadline), lines)

    def replacements(self, line: str, template: Template, deadline: float) -> Iterator[tuple[tuple[int, int], str]]:
        """The matches of a line, as `spans`, each with what takes its place."""
        for match in self._matches(line, deadline):
            yield match.span(), "".join(_piece(match, piece) for piece in template)

    def _matches(self, text: str, deadline: float) -> Iterator[Any]:
        left = deadline - time.thread_time()  # the engine counts the processor's time, too
        if left <= 0:
            raise PatternTimeout
        try:
            yield from (self._ascii_engine if text.isascii() else self._engine).finditer(text, timeout=left)
        except TimeoutError as error:
            raise PatternTimeout from error

    def _lines_to_try(self, text: str) -> list[tuple[int, int]] | None:
        """(start, end) of the lines with the longest needle where these are few; None where all are to be matched."""
        needle = self.needles[0].decode() if self.needles else ""
        if self.literal or self.multiline or self.folds_case or len(needle) < RARE:
            return None
        if text.count(needle) * CHARACTERS_PER_TRY > len(text):
            return None
        lines: list[tuple[int, int]] = []
        at = text.find(needle)
        while at >= 0:
            start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
            end = len(text) if end < 0 else end
            lines.append((start, end))
            at = text.find(needle, end)
        return lines

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
                pieces += [int(name)] if int(name) <= self.last_group else []
            elif name in self.groups:
                pieces.append(self.groups[name])
            at = found.end()
        return (*pieces, replacement[at:])

    @cached_property
    def _engine(self) -> Any:
        return self._compiled(ascii_text=False)

    @cached_property
    def _ascii_engine(self) -> Any:
        """For text that is all ASCII: the same matches in less time."""
        return self._compiled(ascii_text=True)

    def _compiled(self, *, ascii_text: bool) -> Any:
        import regex  # type: ignore[import-untyped]  # a plain text needs none

        flags = regex.MULTILINE | regex.VERSION0
        flags |= regex.IGNORECASE if self._flags & re.IGNORECASE else 0
        style = Style(bool(self._flags & re.ASCII), self.multiline, bool(self._flags & re.DOTALL), ascii_text)
        try:
            return regex.compile(self._source(style), flags)
        except (regex.error, MemoryError, RecursionError) as error:
            raise InvalidPattern(
                f"The expression cannot be run with a time limit: {error}.",
                remedy="Leave out nested repeats or look-arounds.",
            ) from error

    def _source(self, style: Style) -> str:
        source = write(self._tree, style)
        if not self.word:
            return source
        word = f"[{word_class(style)}]"
        if self.literal and self.text:  # the literal first, so that the engine can look for it
            return f"{source}(?!{word})(?<!{word}{source})"
        return f"(?<!{word})(?:{source})(?!{word})"


def _in_whole(matches: Iterator[Any], lines: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Where matches in joined lines are in the text that these lines, each (start, end), are of."""
    ahead = iter(lines)
    moved, joined_end = 0, -1
    for match in matches:
        first, last = match.span()
        while first > joined_end:
            start, end = next(ahead)
            moved = start - (joined_end + 1)
            joined_end = end - moved
        yield first + moved, last + moved


def _places(needle: str, text: str) -> Iterator[tuple[int, int]]:
    at = text.find(needle)
    while at >= 0:
        end = at + len(needle)
        yield at, end
        at = text.find(needle, end)


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
        given_flags = last_group = 0
        if literal:
            nodes = literal_nodes(pattern, multiline=multiline)
        else:
            tree = parse(pattern, multiline=multiline)
            nodes, given_flags = list(tree), tree.state.flags
            groups, last_group = tree.state.groupdict, tree.state.groups - 1
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
            note="" if multiline else _note(beyond_a_line(nodes, given_flags)),
            groups=groups,
            last_group=last_group,
            _tree=nodes,
            _flags=flags,
        )
        if not literal:
            compiled._ascii_engine  # noqa: B018  (what only compiling finds out is to be said now)
    except RecursionError as error:
        raise InvalidPattern("The expression is nested too deeply.") from error
    return compiled

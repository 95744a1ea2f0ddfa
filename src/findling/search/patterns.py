"""A search pattern, ready to run: checked, planned, and matched by the engine that its risk calls for.

What matching means: lines are searched one at a time and never include their line break (LF or CR LF), so ``^`` and
``$`` are the ends of a line and a pattern with a line break is refused; the text is Unicode; case is ignored as the
standard `re` does it. Knows nothing of files, folders or the index.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from findling.model.errors import InvalidPattern
from findling.model.trigram_plan import TrigramPlan
from findling.search.pattern_cost import longest_safe_line
from findling.search.pattern_plan import needles, trigram_plan
from findling.search.pattern_syntax import (
    Dialect,
    beyond_a_line,
    literal_nodes,
    parse,
    sets_ignore_case,
    word_class,
    write,
)

#: Patterns kept compiled; a long-lived process sees the same few again.
_CACHED_PATTERNS = 64


class PatternTimeout(Exception):
    """Matching one text took longer than allowed."""


@dataclass(frozen=True)
class CompiledPattern:
    """A pattern with its options; made by ``compile_pattern``.

    ``plan``: what the index can be asked. ``needles``: texts, as bytes, that every matching line contains, the longest
    first (ASCII-lowercased when ``folds_case``). ``plain``: a line matches exactly where its only needle is. ``note``:
    what its writer may expect of it in vain, '' for nothing.
    """

    text: str
    literal: bool
    ignore_case: bool
    word: bool
    plan: TrigramPlan
    needles: tuple[bytes, ...]
    folds_case: bool
    plain: bool
    longest_safe_line: int
    note: str
    _tree: Any
    _flags: int

    def spans(self, text: str, deadline: float, *, longest_line: int | None = None) -> Iterator[tuple[int, int]]:
        """(start, end) of every match, in order, empty ones included.

        ``text``: one line, or lines separated by LF without a closing one. ``longest_line``: a bound on their
        length, by default that of ``text``. ``deadline``: of ``time.monotonic``. Raises PatternTimeout.
        """
        if (len(text) if longest_line is None else longest_line) <= self.longest_safe_line:
            for match in self.fast_engine(text.isascii()).finditer(text):
                yield match.span()
            return
        left = deadline - time.monotonic()
        if left <= 0:
            raise PatternTimeout
        try:
            for match in self._interruptible.finditer(text, timeout=left):
                yield match.span()
        except TimeoutError as error:
            raise PatternTimeout from error

    def fast_engine(self, ascii_text: bool) -> re.Pattern[str]:
        """The standard library's pattern for text that is (or may not be) all ASCII.

        Only for lines of at most ``longest_safe_line`` characters: it cannot be interrupted.
        """
        return self._fast_ascii if ascii_text else self._fast

    @cached_property
    def _fast(self) -> re.Pattern[str]:
        return re.compile(self._source("re"), self._flags)

    @cached_property
    def _fast_ascii(self) -> re.Pattern[str]:
        """For ASCII text: the same matches up to three times as fast."""
        if self.folds_case and not self.text.isascii():
            return self._fast  # 'ſ' is to match 's'
        return re.compile(self._source("re"), self._flags | re.ASCII)

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
        ascii_only = bool(self._flags & re.ASCII)
        source = write(self._tree, dialect, ascii_only=ascii_only)
        if not self.word:
            return source
        word = f"[{word_class(dialect, ascii_only=ascii_only)}]"
        if self.literal and self.text:  # the literal first, so that the engine can look for it
            return f"{source}(?!{word})(?<!{word}{source})"
        return f"(?<!{word})(?:{source})(?!{word})"


def _note(written: list[str]) -> str:
    return f"Lines are searched one at a time, in spite of {' and '.join(written)}." if written else ""


@lru_cache(_CACHED_PATTERNS)
def compile_pattern(
    pattern: str, *, literal: bool = False, ignore_case: bool = False, word: bool = False
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
        if literal:
            nodes = literal_nodes(pattern)
            given_flags = 0
        else:
            tree = parse(pattern)
            nodes, given_flags = list(tree), tree.state.flags
        flags = re.MULTILINE | (given_flags & (re.ASCII | re.IGNORECASE)) | (re.IGNORECASE if ignore_case else 0)
        whole_ignores = bool(flags & re.IGNORECASE)
        folds = whole_ignores or sets_ignore_case(nodes)
        found = needles(nodes, ignore_case=folds)
        plain = (
            literal and not word and "\r" not in pattern and [len(text) for text in found] == [len(pattern.encode())]
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
            longest_safe_line=longest_safe_line(nodes, ignore_case=whole_ignores),
            note=_note(beyond_a_line(nodes, given_flags)),
            _tree=nodes,
            _flags=flags,
        )
        compiled._fast  # noqa: B018  (what only compiling finds out is to be said now)
    except (re.error, RecursionError, OverflowError) as error:
        message = error.msg if isinstance(error, re.error) else "nested too deeply or repeated too often"
        raise InvalidPattern(f"The expression does not compile: {message}.") from error
    return compiled

"""Ignore rules as git understands them: which rule, if any, decides about a path. Knows nothing of files on disk.

Rules come from lines of a ``.gitignore``-like file, or from globs that a user gave. The meaning is git's own
(`gitignore(5)` and its matcher), with one difference: ``?`` and ``[…]`` match one character, not one byte.
Patterns are untrusted; `globs` keeps their cost bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from findling.ingest.globs import glob_regex, literal_length

MAX_RULES = 20_000  # per file; the largest honest ignore files have a few hundred lines
MAX_PATTERN_CHARS = 4096  # the longest path that systems accept; a longer pattern cannot match anything


class Rule(NamedTuple):
    """One line: ``pattern`` as written (trailing blanks off), whether it re-includes, and where it stands."""

    pattern: str
    negated: bool
    source: str
    line: int

    @property
    def words(self) -> str:
        """For people: ``build/ (.gitignore line 3)``."""
        where = f"{self.source} line {self.line}" if self.line else self.source
        return f"{self.pattern} ({where})" if where else self.pattern


class RuleSet:
    """The rules of one file, in order; the last one that matches a path decides.

    Paths given to ``match`` are relative to the folder of that file, with ``/``, without a slash at either end.
    """

    __slots__ = (
        "_any_kind",
        "_any_path_rule",
        "_dirs_only",
        "_rules",
        "source",
    )

    def __init__(self, lines: Iterable[str], source: str = "") -> None:
        self.source = source
        self._rules: list[Rule] = []
        self._any_kind = _Table()
        self._dirs_only = _Table()
        for number, line in enumerate(lines, 1):
            if len(self._rules) >= MAX_RULES:
                break
            self._add(line, number)
        self._any_path_rule = self._any_kind.has_path_rules or self._dirs_only.has_path_rules

    @classmethod
    def from_text(cls, text: str, source: str = "") -> RuleSet:
        """The rules of an ignore file's whole text: lines end with LF or CRLF, a byte-order mark is skipped."""
        lines = text.removeprefix("\ufeff").split("\n")
        # git leaves a CR at the very end of a file without a last LF alone no more than any other: it adds the LF.
        return cls((line[:-1] if line.endswith("\r") else line for line in lines), source)

    def __bool__(self) -> bool:
        return bool(self._rules)

    @property
    def needs_path(self) -> bool:
        """Whether some rule looks at more than a path's last name."""
        return self._any_path_rule

    def _add(self, line: str, number: int) -> None:
        if not line or line.startswith("#"):
            return
        pattern = _strip_trailing_spaces(line)
        if not pattern or len(pattern) > MAX_PATTERN_CHARS or "\0" in pattern:
            return
        negated = pattern.startswith("!")
        body = pattern[1:] if negated else pattern
        dirs_only = body.endswith("/")
        if dirs_only:
            body = body[:-1]
        if not body:
            return
        table = self._dirs_only if dirs_only else self._any_kind
        if table.add(body, len(self._rules)):
            self._rules.append(Rule(pattern, negated, self.source, number))

    def match(self, path: str, name: str, is_dir: bool) -> Rule | None:
        """The rule that decides about ``path`` itself (not about folders above it); ``name`` is its last part."""
        best = self._any_kind.last_match(path, name)
        if is_dir:
            best = max(best, self._dirs_only.last_match(path, name))
        return self._rules[best] if best >= 0 else None


class IgnoreRules:
    """Rule sets in effect in one folder, weakest first. Immutable: ``inside`` gives those of a folder below.

    Each set belongs to a base folder; all paths are relative to one common top (the bases' own paths too).
    """

    __slots__ = ("_sets",)

    def __init__(self, sets: Sequence[tuple[str, RuleSet]] = ()) -> None:
        self._sets: tuple[tuple[int, RuleSet], ...] = tuple(
            (len(base) + 1 if base else 0, rules) for base, rules in sets if rules
        )

    def __bool__(self) -> bool:
        return bool(self._sets)

    def inside(self, base: str, sets: Sequence[RuleSet]) -> IgnoreRules:
        """These rules and, stronger, ``sets`` that were found in the folder ``base``; the last is the strongest."""
        added = [(len(base) + 1 if base else 0, rules) for rules in sets if rules]
        if not added:
            return self
        below = IgnoreRules()
        below._sets = (*self._sets, *added)
        return below

    def match(self, path: str, name: str, is_dir: bool) -> Rule | None:
        """The rule that decides about ``path`` itself: that of the strongest set with a say; None when none has."""
        for base_length, rules in reversed(self._sets):
            rule = rules.match(path[base_length:] if base_length and rules.needs_path else path, name, is_dir)
            if rule is not None:
                return rule
        return None

    def ignores(self, path: str, name: str, is_dir: bool) -> Rule | None:
        """Like ``match``, but only a rule that excludes."""
        rule = self.match(path, name, is_dir)
        return None if rule is None or rule.negated else rule


class _Table:
    """Patterns with their positions; finds the highest position that matches. Simple ones by dictionary."""

    __slots__ = (
        "_name_globs",
        "_names",
        "_names_regex",
        "_path_globs",
        "_paths",
        "_paths_regex",
        "_suffixes",
        "has_path_rules",
    )

    def __init__(self) -> None:
        self._names: dict[str, int] = {}  # whole last names
        self._suffixes: dict[str, int] = {}  # ".pyc" for *.pyc, found by a name's last extension
        self._paths: dict[str, int] = {}  # whole paths
        self._name_globs: list[tuple[int, str]] = []
        self._path_globs: list[tuple[int, str]] = []
        self._names_regex: tuple[re.Pattern[str], list[int]] | None = None
        self._paths_regex: tuple[re.Pattern[str], list[int]] | None = None
        self.has_path_rules = False

    def add(self, body: str, position: int) -> bool:
        """Whether the pattern can match anything; False for one that git parses but that never matches."""
        literal = literal_length(body)
        if "/" not in body:
            if literal == len(body):
                self._names[body] = position
            elif body.startswith("*.") and "." not in body[2:] and literal_length(body[1:]) + 1 == len(body):
                self._suffixes[body[1:]] = position
            else:
                regex = glob_regex(body, 0, is_path=False)
                if regex is None:
                    return False
                self._name_globs.append((position, regex))
            return True
        if body.startswith("/"):
            body = body[1:]
            literal = max(0, literal - 1)
        self.has_path_rules = True
        if literal == len(body):
            self._paths[body] = position
        else:
            regex = glob_regex(body, literal, is_path=True)
            if regex is None:
                return False
            self._path_globs.append((position, regex))
        return True

    def last_match(self, path: str, name: str) -> int:
        best = self._names.get(name, -1)
        if self._suffixes:
            dot = name.rfind(".")
            if dot >= 0:
                found = self._suffixes.get(name[dot:], -1)
                if found > best:
                    best = found
        if self._name_globs:
            if self._names_regex is None:
                self._names_regex = _alternation(self._name_globs)
            found = _position(self._names_regex, name)
            if found > best:
                best = found
        if self.has_path_rules:
            found = self._paths.get(path, -1)
            if found > best:
                best = found
            if self._path_globs:
                if self._paths_regex is None:
                    self._paths_regex = _alternation(self._path_globs)
                found = _position(self._paths_regex, path)
                if found > best:
                    best = found
        return best


def _alternation(globs: list[tuple[int, str]]) -> tuple[re.Pattern[str], list[int]]:
    """One expression whose first matching branch is the last matching pattern."""
    last_first = globs[::-1]
    return re.compile("|".join(f"({regex})" for _, regex in last_first), re.DOTALL), [pos for pos, _ in last_first]


def _position(compiled: tuple[re.Pattern[str], list[int]], text: str) -> int:
    regex, positions = compiled
    found = regex.fullmatch(text)
    return positions[found.lastindex - 1] if found is not None and found.lastindex else -1


def _strip_trailing_spaces(line: str) -> str:
    """``line`` without unescaped spaces at its end (tabs stay, as git keeps them)."""
    end = len(line)
    position = 0
    last_space = -1
    while position < end:
        char = line[position]
        if char == " ":
            if last_space < 0:
                last_space = position
        else:
            last_space = -1
            if char == "\\":
                position += 1
                if position >= end:
                    return line
        position += 1
    return line if last_space < 0 else line[:last_space]

"""Applies ignore rules as git does: finds the rule, if any, that decides about a path. Ignore files are read when they
are needed.

Rules come from lines of a ``.gitignore``-like file, or from globs that a user gave. The meaning is git's own
(`gitignore(5)` and its matcher), with one difference: ``?`` and ``[…]`` match one character, not one byte.
Patterns are untrusted; `globs` keeps their cost bounded.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from findling.sources.globs import glob_regex, literal_length

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
    ``any_case``: small and capital letters are the same, as git has it where the disk does not tell them apart.
    """

    __slots__ = (
        "_any_case",
        "_any_kind",
        "_dirs_only",
        "_rules",
        "needs_path",
        "source",
    )

    def __init__(self, lines: Iterable[str], source: str = "", *, any_case: bool = False) -> None:
        self.source = source
        self._any_case = any_case
        self._rules: list[Rule] = []
        self._any_kind = _Table()
        self._dirs_only = _Table()
        for number, line in enumerate(lines, 1):
            if len(self._rules) >= MAX_RULES:
                break
            self._add(line, number)
        self.needs_path = self._any_kind.has_path_rules or self._dirs_only.has_path_rules
        """Whether some rule looks at more than a path's last name."""

    @classmethod
    def from_text(cls, text: str, source: str = "", *, any_case: bool = False) -> RuleSet:
        """The rules of an ignore file's whole text: lines end with LF or CRLF, a byte-order mark is skipped."""
        lines = text.removeprefix("\ufeff").split("\n")
        # A CR at the very end of the file goes, too: git adds a missing last LF before it looks at line ends.
        plain = (line[:-1] if line.endswith("\r") else line for line in lines)
        return cls(plain, source, any_case=any_case)

    def __bool__(self) -> bool:
        return bool(self._rules)

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
        if table.add(body.lower() if self._any_case else body, len(self._rules)):
            self._rules.append(Rule(pattern, negated, self.source, number))

    def match(self, path: str, name: str, is_dir: bool) -> Rule | None:
        """The rule that decides about ``path`` itself (not about folders above it); ``name`` is its last part."""
        if self._any_case:
            path, name = path.lower(), name.lower()
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
        """The rule that decides about ``path`` itself: that of the strongest set that has one; None without any."""
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
    """Patterns with their positions; finds the highest position that matches. Plain names are looked up."""

    __slots__ = ("_names", "_paths", "_suffixes", "has_path_rules")

    def __init__(self) -> None:
        self._names = _Patterns()  # that match the last part of a path
        self._paths = _Patterns()  # that match the whole path
        self._suffixes: dict[str, int] = {}  # ".pyc" for *.pyc, found by a name's last extension
        self.has_path_rules = False

    def add(self, body: str, position: int) -> bool:
        """Whether the pattern can match anything; False for one that git parses but that never matches."""
        literal = literal_length(body)
        if "/" in body:
            self.has_path_rules = True
            anchored = body.startswith("/")
            return self._paths.add(body[anchored:], max(0, literal - anchored), position, is_path=True)
        if body.startswith("*.") and "." not in body[2:] and literal_length(body[1:]) + 1 == len(body):
            self._suffixes[body[1:]] = position
            return True
        return self._names.add(body, literal, position, is_path=False)

    def last_match(self, path: str, name: str) -> int:
        best = self._names.last_match(name)
        if self._suffixes and (dot := name.rfind(".")) >= 0:
            found = self._suffixes.get(name[dot:], -1)
            best = found if found > best else best  # `max` would be one more call for each file
        if self.has_path_rules:
            found = self._paths.last_match(path)
            best = found if found > best else best
        return best


class _Patterns:
    """Patterns of one kind of text, with their positions."""

    __slots__ = ("_compiled", "_globs", "_plain")

    def __init__(self) -> None:
        self._plain: dict[str, int] = {}
        self._globs: list[tuple[int, str]] = []
        self._compiled: re.Pattern[str] | None = None

    def add(self, body: str, literal: int, position: int, *, is_path: bool) -> bool:
        """As `_Table.add`; the first ``literal`` characters are not special."""
        if literal == len(body):
            self._plain[body] = position
            return True
        regex = glob_regex(body, literal if is_path else 0, is_path=is_path)
        if regex is not None:
            self._globs.append((position, regex))
        return regex is not None

    def last_match(self, text: str) -> int:
        best = self._plain.get(text, -1)
        if self._globs:
            if self._compiled is None:  # the first branch that matches is the last pattern that does
                self._compiled = re.compile("|".join(f"({regex})" for _, regex in reversed(self._globs)), re.DOTALL)
            found = self._compiled.fullmatch(text)
            if found is not None and found.lastindex:
                best = max(best, self._globs[-found.lastindex][0])
        return best


_KEPT = re.compile(r"(?: *+(?:[^\\ ]|\\.))*+", re.DOTALL)  # up to the last character that is not an unescaped space


def _strip_trailing_spaces(line: str) -> str:
    """``line`` without unescaped spaces at its end (tabs stay, and all where it ends with a lone backslash, as in
    git)."""
    kept = _KEPT.match(line)
    assert kept is not None
    return line if line[kept.end() :].strip(" ") else kept[0]


GIT_IGNORE_FILES = (".gitignore",)
OWN_IGNORE_FILES = (".ignore", ".findlingignore")  # the later is the stronger
ALL_IGNORE_FILES = GIT_IGNORE_FILES + OWN_IGNORE_FILES
_MAX_IGNORE_BYTES = 1 << 20  # the largest honest ignore files have some kilobytes


# --- the ignore files of a folder tree ------------------------------------------------------------------------------


class IgnoreTree:
    """The ignore files of a folder tree, read when a path asks for them.

    ``names`` are the ignore files that count, the stronger later; ``above`` holds rules from outside the tree,
    relative to a folder above the root (``up`` is the root's path from there, with a slash at its end).
    ``folders`` are the only ones that have ignore files; None when that is not known. ``any_case`` as for `RuleSet`.
    """

    def __init__(
        self,
        root: str,
        names: tuple[str, ...],
        above: IgnoreRules | None = None,
        up: str = "",
        folders: Collection[str] | None = None,
        *,
        any_case: bool = False,
    ) -> None:
        self._root = root
        self._any_case = any_case
        self._names = names
        self.up = up
        self.folders = folders
        self._above = above if above is not None else IgnoreRules()
        self._inside: dict[str, IgnoreRules] = {}
        self._verdicts: dict[str, Rule | None] = {"": None}

    def rules_in(self, folder: str, names: Collection[str] | None = None) -> IgnoreRules:
        """The rules in effect in ``folder`` ("" is the root). ``names``, if known, are the entries it has."""
        rules = self._inside.get(folder)
        if rules is None:
            outer = self.rules_in(folder.rpartition("/")[0]) if folder else self._above
            known_none = self.folders is not None and folder not in self.folders
            if known_none or (names is not None and not any(name in names for name in self._names)):
                rules = outer
            else:
                rules = self._read(folder, outer)
            self._inside[folder] = rules
        return rules

    def _read(self, folder: str, outer: IgnoreRules) -> IgnoreRules:
        prefix = f"{folder}/" if folder else ""
        sets = []
        for name in self._names:
            rules = self.read_rules(prefix + name)
            if rules is not None:
                sets.append(rules)
        return outer.inside((self.up + folder).rstrip("/"), sets) if sets else outer

    def read_rules(self, path: str) -> RuleSet | None:
        """The rules of one ignore file of the tree; None when there is none."""
        text = read_small_text(f"{self._root}/{path}")
        return None if text is None else RuleSet.from_text(text, path, any_case=self._any_case)

    def rule_for(self, folder: str, name: str, is_dir: bool) -> Rule | None:
        """The rule that ignores the entry ``name`` of ``folder``, the folders above it not considered."""
        rules = self.rules_in(folder)
        if not rules:
            return None
        path = f"{self.up}{folder}/{name}" if folder else self.up + name
        return rules.ignores(path, name, is_dir)

    def folder_rule(self, folder: str) -> Rule | None:
        """The rule that ignores ``folder`` or one above it, up to the root (never the root itself)."""
        try:
            return self._verdicts[folder]
        except KeyError:
            outer, _, name = folder.rpartition("/")
            rule = self.folder_rule(outer) or self.rule_for(outer, name, True)
            self._verdicts[folder] = rule
            return rule

    def ignores(self, path: str) -> Rule | None:
        """The rule that ignores the file ``path``, itself or with a folder above it."""
        folder, _, name = path.rpartition("/")
        return self.folder_rule(folder) or self.rule_for(folder, name, False)


def read_small_text(path: str) -> str | None:
    """An ignore file's text; None when it cannot be read. Links and pipes are not read, as in git."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        data = os.read(descriptor, _MAX_IGNORE_BYTES)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return os.fsdecode(data)

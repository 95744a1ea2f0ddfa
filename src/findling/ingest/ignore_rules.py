"""Ignore rules as git understands them: which rule, if any, decides about a path. Knows nothing of files on disk.

Rules come from lines of a ``.gitignore``-like file, or from globs that a user gave. The meaning is git's own
(`gitignore(5)` and its matcher), with one difference: ``?`` and ``[…]`` match one character, not one byte.
Patterns are untrusted: they compile to regular expressions that cannot backtrack across a star, so matching a
path of n characters takes at most O(n²) steps per pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

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
    def has_negation(self) -> bool:
        return any(rule.negated for rule in self._rules)

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
        literal_length = _literal_length(body)
        if "/" not in body:
            if literal_length == len(body):
                self._names[body] = position
            elif body.startswith("*.") and "." not in body[2:] and _literal_length(body[1:]) + 1 == len(body):
                self._suffixes[body[1:]] = position
            else:
                regex = _compile_glob(body, 0, is_path=False)
                if regex is None:
                    return False
                self._name_globs.append((position, regex))
            return True
        if body.startswith("/"):
            body = body[1:]
            literal_length = max(0, literal_length - 1)
        self.has_path_rules = True
        if literal_length == len(body):
            self._paths[body] = position
        else:
            regex = _compile_glob(body, literal_length, is_path=True)
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


_SPECIAL = re.compile(r"[*?\[\\]")


def _literal_length(pattern: str) -> int:
    found = _SPECIAL.search(pattern)
    return len(pattern) if found is None else found.start()


# --- glob -> regular expression -------------------------------------------------------------------------------

_STAR = "*"  # anything within a name
_ANY_FOLDERS = "**/"  # nothing, or whole folders
_SOME_FOLDERS = "**\\/"  # at least one folder: git's reading of `**` before an escaped slash
_EVERYTHING = "**"  # the rest of the path


def _compile_glob(pattern: str, literal_length: int, *, is_path: bool) -> str | None:
    """The expression that fully matches what git's matcher does; None when nothing can match.

    git compares the first ``literal_length`` characters plainly and starts its matcher after them, so a ``**``
    there counts as one at the start.
    """
    tokens = _tokens(pattern, literal_length, is_path=is_path)
    if tokens is None:
        return None
    # Between two stars the earliest match is as good as any later one, so each may be final (atomic): a star
    # cannot cross a slash, and what stands between stars has a fixed shape.
    parts: list[str] = []
    section: list[str] = []
    opener: str = ""  # what stood before the section: "" or one of the folder stars
    for token in (*tokens, ""):
        if token and token not in (_ANY_FOLDERS, _SOME_FOLDERS, _EVERYTHING):
            section.append(token)
            continue
        body = _section(section)
        section = []
        if opener == "":
            parts.append(body)
        elif opener == _EVERYTHING:
            parts.append(".*")
        else:
            folders = "(?:[^/]*/)*?" if opener == _ANY_FOLDERS else "(?:[^/]*/)+?"
            # The last section has to reach the end; an earlier one ends with a slash: its first match will do.
            parts.append(f"{folders}{body}" if token == "" else f"(?>{folders}{body})")
        opener = token
    return "".join(parts)


def _section(tokens: list[str]) -> str:
    """What stands between folder stars: fixed pieces with single stars between them."""
    pieces: list[str] = [""]
    for token in tokens:
        if token == _STAR:
            pieces.append("")
        else:
            pieces[-1] += token
    if len(pieces) == 1:
        return pieces[0]
    middle = "".join(f"(?>[^/]*?{piece})" for piece in pieces[1:-1])
    return f"{pieces[0]}{middle}[^/]*{pieces[-1]}"


def _tokens(pattern: str, literal_length: int, *, is_path: bool) -> list[str] | None:
    """The pattern's pieces: stars as the constants above, everything else as a piece of expression."""
    tokens = [re.escape(char) for char in pattern[:literal_length]]
    position = literal_length
    end = len(pattern)
    while position < end:
        char = pattern[position]
        if char == "\\":
            if position + 1 >= end:
                return None
            tokens.append(re.escape(pattern[position + 1]))
            position += 2
        elif char == "?":
            tokens.append("[^/]")
            position += 1
        elif char == "[":
            parsed = _character_class(pattern, position + 1)
            if parsed is None:
                return None
            expression, position = parsed
            tokens.append(expression)
        elif char == "*":
            start = position
            while position < end and pattern[position] == "*":
                position += 1
            at_start = start == literal_length or pattern[start - 1] == "/"
            if not (is_path and position - start > 1 and at_start):
                tokens.append(_STAR)
            elif position == end:
                tokens.append(_EVERYTHING)
            elif pattern[position] == "/":
                tokens.append(_ANY_FOLDERS)
                position += 1
            elif pattern.startswith("\\/", position):
                tokens.append(_SOME_FOLDERS)
                position += 2
            else:
                tokens.append(_STAR)
        else:
            tokens.append(re.escape(char))
            position += 1
    return tokens


_POSIX_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": " \\t-\\r",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


def _character_class(pattern: str, position: int) -> tuple[str, int] | None:
    """The class that opens before ``position``, as an expression, and where it ends; None when it is malformed."""
    end = len(pattern)
    negated = pattern[position : position + 1] in ("!", "^")
    if negated:
        position += 1
    members: list[str] = []
    previous = ""  # the character that a following "-" would start a range from
    first = True
    while True:
        if position >= end:
            return None
        char = pattern[position]
        if char == "]" and not first:
            break
        first = False
        if char == "\\":
            position += 1
            if position >= end:
                return None
            previous = pattern[position]
            members.append(_class_char(previous))
        elif char == "-" and previous and position + 1 < end and pattern[position + 1] != "]":
            position += 1
            if pattern[position] == "\\":
                position += 1
                if position >= end:
                    return None
            if previous <= pattern[position]:
                members.append(f"{_class_char(previous)}-{_class_char(pattern[position])}")
            previous = ""
        elif char == "[" and pattern[position + 1 : position + 2] == ":":
            close = pattern.find("]", position + 2)
            if close < 0:
                return None
            if close > position + 2 and pattern[close - 1] == ":":
                named = _POSIX_CLASSES.get(pattern[position + 2 : close - 1])
                if named is None:
                    return None
                members.append(named)
                previous = ""
                position = close
            else:
                members.append("\\[")
                previous = "["
        else:
            members.append(_class_char(char))
            previous = char
        position += 1
    inside = "".join(members)
    if negated:
        return f"[^/{inside}]", position + 1
    return (f"(?!/)[{inside}]" if inside else "(?!)"), position + 1


def _class_char(char: str) -> str:
    return f"\\U{ord(char):08x}"

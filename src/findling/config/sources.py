"""The sources of settings: each gives options, the names they were written under, and the values as written.

Values are not checked here; only the option that each key means is looked up. A file is bounded in size and must be a
regular one; one of the project's must also lie in the root once links are followed. What cannot be read is an error
where the user named the file, otherwise a warning.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Literal, NamedTuple

from findling.config.option import Option, from_text
from findling.config.options import EMBEDDING_KEY, OPTIONS, RERANK_KEY
from findling.model.errors import ConfigError
from findling.model.json_places import members

# More unknown keys than this are somebody else's file; the rest is counted.
_MOST_WARNINGS: Final = 10
_NAME_CHARS: Final = 80
# A name less like the typed one than this is no help.
_LIKENESS: Final = 0.6

SourceKind = Literal["flag", "environment", "named", "project", "user", "default"]

NAMES: Final[Mapping[str, Option]] = {name: option for option in OPTIONS.values() for name in option.names()}
"""Every accepted spelling of every option."""

SECTIONS: Final = frozenset(name.rsplit(".", depth)[0] for name in NAMES for depth in range(1, name.count(".") + 1))


class Setting(NamedTuple):
    """One key of a source: the option it means, as it was spelled, and what was written for it."""

    option: Option
    name: str
    written: object


class Source:
    """One place that settings come from. ``trusted``: the user wrote it, not the project."""

    def __init__(self, kind: SourceKind, path: Path | None = None) -> None:
        self.kind: SourceKind = kind
        self.path = path
        self.settings: dict[str, Setting] = {}
        self.warnings: list[str] = []
        self._text = ""
        self._lines: dict[str, int] | None = None

    @property
    def trusted(self) -> bool:
        return self.kind != "project"

    def line(self, name: str) -> int:
        """The line of a key of this source's file; 0 when there is none, or it cannot be told."""
        if not self._text:
            return 0
        if self._lines is None:
            self._lines = lines_of(self._text, is_json=_is_json(self.path))
        return self._lines.get(name, 0)

    def place(self, name: str) -> str:
        """Where a setting stands, for people: ``FILE:LINE``, the variable's name, or "command line"."""
        if self.path is not None:
            line = self.line(name)
            return f"{self.path}:{line}" if line else str(self.path)
        if self.kind == "environment":
            return NAMES[name].environment if name in NAMES else "environment"
        return "command line" if self.kind == "flag" else self.kind

    def add(self, name: str, option: Option, written: object) -> None:
        known = self.settings.get(option.key)
        names = list(option.names())
        if known is None or names.index(name) < names.index(known.name):
            self.settings[option.key] = Setting(option, name, written)
        if known is not None and known.written != written:
            self.warnings.append(
                f"{self.place(name)}: {known.name} and {name} mean the same option and differ; "
                f"{self.settings[option.key].name} is used."
            )

    def read(self, text: str) -> None:
        """Take in the ``text`` of this source's file. Raises ConfigError for what does not parse or is no table."""
        assert self.path is not None
        self._text = text
        strange: list[str] = []
        self._walk(_parsed(self.path, text), "", strange)
        self.warnings += [f"{self.place(name)}: {unknown(name)}" for name in strange[:_MOST_WARNINGS]]
        if len(strange) > _MOST_WARNINGS:
            self.warnings.append(f"{self.path}: {len(strange) - _MOST_WARNINGS} more keys are unknown options.")

    def _walk(self, table: Mapping[str, object], section: str, strange: list[str]) -> None:
        for key, value in table.items():
            name = f"{section}.{key}" if section else key
            option = NAMES.get(name)
            if option is not None:
                self.add(name, option, value)
            elif name in SECTIONS:
                if not isinstance(value, dict):
                    raise ConfigError(
                        f"{self.place(name)}: {name} must be a table.",
                        remedy=f"Its options are set below it, such as {_example(name)}.",
                    )
                self._walk(value, name, strange)
            else:
                strange.append(name)


def of_flags(flags: Mapping[str, object]) -> Source:
    """The source of what was typed. A text is read as the environment's are; None is not set."""
    source = Source("flag")
    for name, value in flags.items():
        if value is None:
            continue
        option = NAMES.get(name)
        if option is None:
            raise ConfigError(f"command line: {unknown(name)}", remedy="'findling config' lists all options.")
        source.add(name, option, from_text(option, value) if isinstance(value, str) else value)
    return source


def of_environment(environ: Mapping[str, str]) -> Source:
    """The source of the ``FINDLING_`` variables; an empty one is not set."""
    source = Source("environment")
    for option in OPTIONS.values():
        if option.environment and (text := environ.get(option.environment, "")):
            # Under the spelling that chooses a provider, where there is one: a variable cannot have two.
            source.add(option.spellings[-1], option, from_text(option, text))
    return source


def unknown(name: str) -> str:
    """A sentence about an unknown option, with the nearest one if there is any like it."""
    last = name.rpartition(".")[2]
    if re.search(r"(?i)api_?key|token|secret|password", last):
        return f"{_cut(name)} is not read; keys come from the environment only ({EMBEDDING_KEY}, {RERANK_KEY})."
    near = _nearest(name, last)
    return f"unknown option {_cut(name)}{f'; did you mean {near}?' if near else '.'}"


def _nearest(name: str, last: str) -> str:
    import difflib

    for known in NAMES:
        if known.rpartition(".")[2] == last:
            return known
    near = difflib.get_close_matches(_cut(name), (*NAMES, *SECTIONS), n=1, cutoff=_LIKENESS)
    if near:
        return near[0]
    by_last = {known.rpartition(".")[2]: known for known in NAMES}
    near = difflib.get_close_matches(_cut(last), by_last, n=1, cutoff=_LIKENESS)
    return by_last[near[0]] if near else ""


def _cut(name: str) -> str:
    return name if len(name) <= _NAME_CHARS else f"{name[:_NAME_CHARS]}..."


def _example(section: str) -> str:
    return next(name for name in NAMES if name.startswith(f"{section}."))


def _is_json(path: Path | None) -> bool:
    return path is not None and path.suffix.lower() == ".json"


def _parsed(path: Path, text: str) -> Mapping[str, object]:
    """The top table of a file. Raises ConfigError with the line of what does not parse."""
    try:
        if _is_json(path):
            import json

            value = json.loads(text, parse_constant=_no_constant) if text.strip() else {}
        else:
            import tomllib

            value = tomllib.loads(text)
    except ValueError as error:
        line = getattr(error, "lineno", 0)
        where = f"{path}:{line}" if isinstance(line, int) and line else str(path)
        kind = "JSON" if _is_json(path) else "TOML"
        problem = str(error).partition(";")[0]  # of a number with too many digits the rest is advice to programmers
        raise ConfigError(f"{where}: not valid {kind}: {problem}.", remedy="Correct the file.") from error
    except RecursionError as error:
        raise ConfigError(f"{path}: nested too deeply.", remedy="Correct the file.") from error
    if not isinstance(value, dict):
        raise ConfigError(f"{path}: its top level must be a table.", remedy='Write {"semantic": {...}}.')
    return value


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


# --- the files ---------------------------------------------------------------------------------------------------

CONFIG_VARIABLE: Final = "FINDLING_CONFIG"
PROJECT_FILES: Final = (
    "findling.toml",
    ".findling/config.toml",
    ".findling/config.json",
    ".repo_search/config.json",
)
USER_FILES: Final = ("config.toml", "config.json")

# A file with every option and a comment on each has 10 kB.
_MAX_BYTES: Final = 256 * 1024


def of_files(root: Path, environ: Mapping[str, str], named: Path | None) -> Iterator[Source]:
    """The files that exist, the strongest first: the named one (else FINDLING_CONFIG's), the project's, the user's.

    Raises ConfigError for a named file that cannot be read, and for any that does not parse.
    """
    if named is None and environ.get(CONFIG_VARIABLE):
        named = Path(environ[CONFIG_VARIABLE])
    candidates: list[tuple[SourceKind, Path]] = [("named", named)] if named is not None else []
    candidates += [("project", root / name) for name in PROJECT_FILES]
    folder = user_folder(environ)
    candidates += [("user", folder / name) for name in USER_FILES] if folder is not None else []
    for kind, path in candidates:
        source = Source(kind, path)
        text, problem = _read(path, inside=root if kind == "project" else None)
        if problem and kind == "named":
            raise ConfigError(
                f"The configuration file {str(path)!r} cannot be used: {problem}.", remedy="Check the path."
            )
        if problem and problem != _ABSENT:
            source.warnings.append(f"{path}: not read: {problem}.")
        if problem != _ABSENT:
            source.read(text)
            yield source


def user_folder(environ: Mapping[str, str]) -> Path | None:
    """``~/.config/findling``, or where XDG_CONFIG_HOME says; None without a home folder."""
    base = environ.get("XDG_CONFIG_HOME", "")
    if os.path.isabs(base):  # noqa: PTH117 - the specification ignores a relative one
        return Path(base) / "findling"
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    return Path(home) / ".config" / "findling" if os.path.isabs(home) else None  # noqa: PTH117


_ABSENT: Final = "there is no such file"


def _read(path: Path, *, inside: Path | None) -> tuple[str, str]:
    """The text of a file, and what is wrong with it ("" if nothing)."""
    try:
        real = os.path.realpath(path, strict=True)
        if inside is not None and not Path(real).is_relative_to(os.path.realpath(inside)):
            return "", "it is a link that leads out of the project"
        if not stat.S_ISREG(os.stat(real).st_mode):  # noqa: PTH116 - and a pipe is never opened: it would block
            return "", "it is not a regular file"
        with open(real, "rb") as file:  # noqa: PTH123
            data = file.read(_MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return "", _ABSENT
    except OSError as error:
        return "", error.strerror or str(error)
    if len(data) > _MAX_BYTES:
        return "", f"it is larger than {_MAX_BYTES // 1024} kB"
    try:
        return data.decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        return "", "it is not UTF-8"


# --- where in a file each key stands -----------------------------------------------------------------------------
# The parsers of the standard library do not tell, so a text that they have read is scanned when a place is shown.

# The deepest option has four parts; deeper keys are somebody else's.
_MOST_PARTS: Final = 6

_TOML_PIECE: Final = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}' + r"|'''.*?'{3,5}" + r'|"(?:[^"\\\n]|\\.)*"' + r"|'[^'\n]*'|#[^\n]*|\n|[\[\]{}=,.]"
    r"|[^\s\[\]{}=,.\"'#]+",
    re.DOTALL,
)


def lines_of(text: str, *, is_json: bool) -> dict[str, int]:
    """The 1-based line of every key and section, by name (its parts joined with points)."""
    return _in_json(text) if is_json else _in_toml(text)


def _in_json(text: str) -> dict[str, int]:
    found: dict[str, int] = {}
    line, counted = 1, 0

    def walk(at: int, above: str, depth: int) -> None:
        nonlocal line, counted
        for member in members(text, at):
            line, counted = line + text.count("\n", counted, member.start), member.start
            name = f"{above}{member.key}"
            found[name] = line  # of several equal ones the last counts
            if text[member.at] == "{" and depth < _MOST_PARTS:
                walk(member.at, f"{name}.", depth + 1)

    walk(text.index("{"), "", 1)
    return found


def _in_toml(text: str) -> dict[str, int]:
    found: dict[str, int] = {}
    line = 1
    section: list[str] = []
    key: list[str] = []
    current: list[str] = []
    # Of each open bracket in a value: the key of an inline table, None for a list.
    above: list[list[str] | None] = []
    in_key, in_heading = True, False

    def add(name: list[str]) -> None:
        for parts in range(1, min(len(name), _MOST_PARTS) + 1):
            found.setdefault(".".join(name[:parts]), line)

    for match in _TOML_PIECE.finditer(text):
        piece = match[0]
        if piece == "\n":
            if not above:
                if in_heading:
                    section = key
                    add(section)
                in_key, in_heading, key = True, False, []
            line += 1
        elif piece[0] == "#":
            continue
        elif not in_key:
            if piece in ("{", "["):
                above.append(current if piece == "{" else None)
            elif piece in ("}", "]"):
                above.pop()
            in_key = piece == "{" or (piece == "," and bool(above) and above[-1] is not None)
            line += piece.count("\n")
        elif piece == "=":
            current = [*((above[-1] if above else section) or []), *key]
            add(current)
            in_key, key = False, []
        elif piece == "[" and not key:
            in_heading = True
        elif piece == "}":  # an empty table, or the comma before it
            above.pop()
            in_key = False
        elif piece not in ("[", "]", "."):
            key.append(piece[1:-1] if piece[0] in "\"'" else piece)
    if in_heading:
        add(key)
    return found

"""Where in a configuration file a key stands. Only asked when a place is shown, so files are read again for it.

The parsers of the standard library do not tell. JSON is scanned token by token; TOML is parsed from the top to each
line that could be the one, and the first such part that has the key ends there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_PIECE: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,\n]|[^\s{}\[\]:,"]+')
# Each candidate costs parsing all that stands above it.
_MOST_CANDIDATES: Final = 50


def line_of(text: str, name: str, *, is_json: bool) -> int:
    """The 1-based line on which ``name`` (section, points, key) is set; 0 when it cannot be told."""
    return _in_json(text, name) if is_json else _in_toml(text, name.split("."))


def _in_json(text: str, name: str) -> int:
    import json

    found = 0
    line = 1
    # The keys above the current place; None stands for a list, whose items have no keys.
    above: list[str | None] = []
    last = ""
    for match in _PIECE.finditer(text):
        piece = match[0]
        if piece == "\n":
            line += 1
        elif piece == ":" and above:
            above[-1] = str(json.loads(last))
            if ".".join(key or "" for key in above) == name:
                found = line  # of several, the last one counts
        elif piece == "{":
            above.append("")
        elif piece == "[":
            above.append(None)
        elif piece in "}]" and above:
            above.pop()
        elif piece[0] == '"':
            last = piece
    return found


def _in_toml(text: str, path: Sequence[str]) -> int:
    lines = text.split("\n")
    candidates = [number for number, line in enumerate(lines, 1) if path[-1] in line and ("=" in line or "[" in line)]
    unfinished = 0
    for number in candidates[:_MOST_CANDIDATES]:
        state = _has("\n".join(lines[:number]), path)
        if state:
            return unfinished or number
        # A value that goes on below: this line is the one unless a later part shows that the key was not begun here.
        unfinished = number if state is None and _begins(lines[number - 1], path[-1]) else 0
    return unfinished


def _begins(line: str, key: str) -> bool:
    return re.match(rf"[\s\"'\w.-]*{re.escape(key)}[\"']?\s*=", line) is not None


def _has(text: str, path: Sequence[str]) -> bool | None:
    """Whether the TOML ``text`` sets ``path``; None when it does not parse."""
    import tomllib

    try:
        value: object = tomllib.loads(text)
    except (ValueError, RecursionError):
        return None
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return False
        value = value[key]
    return True

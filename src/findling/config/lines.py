"""Where in a configuration file each key stands. The parsers of the standard library do not tell, so it is scanned.

Only asked when a place is shown, of a text that has been parsed already: what is no TOML or JSON never comes here.
"""

from __future__ import annotations

import re
from typing import Final

# The deepest option has four parts; deeper keys are somebody else's.
_MOST_PARTS: Final = 6

_JSON_PIECE: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,\n]|[^\s{}\[\]:,"]+')
_TOML_PIECE: Final = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}' + r"|'''.*?'{3,5}" + r'|"(?:[^"\\\n]|\\.)*"' + r"|'[^'\n]*'|#[^\n]*|\n|[\[\]{}=,.]"
    r"|[^\s\[\]{}=,.\"'#]+",
    re.DOTALL,
)


def lines_of(text: str, *, is_json: bool) -> dict[str, int]:
    """The 1-based line of every key and section, by name (its parts joined with points)."""
    return _in_json(text) if is_json else _in_toml(text)


def _in_json(text: str) -> dict[str, int]:
    import json

    found: dict[str, int] = {}
    line = 1
    # The keys above the current place; "" stands for a list, whose items have no keys.
    above: list[str] = []
    last = ""
    for match in _JSON_PIECE.finditer(text):
        piece = match[0]
        if piece == "\n":
            line += 1
        elif piece == ":":
            above[-1] = str(json.loads(last))
            if len(above) <= _MOST_PARTS:
                found[".".join(above)] = line  # of several equal ones the last counts
        elif piece in ("{", "["):
            above.append("")
        elif piece in ("}", "]"):
            above.pop()
        elif piece[0] == '"':
            last = piece
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

"""Turns a glob into a regular expression with exactly the meaning that git gives the glob. Pure.

Globs are untrusted: the expressions cannot backtrack across a star, so matching a path of n characters takes at
most O(n²) steps.
"""

from __future__ import annotations

import re

_STAR = "*"  # anything within a name
_ANY_FOLDERS = "**/"  # nothing, or whole folders
_SOME_FOLDERS = "**\\/"  # at least one folder: git's reading of `**` before an escaped slash
_EVERYTHING = "**"  # the rest of the path

_SPECIAL = re.compile(r"[*?\[\\]")


def literal_length(pattern: str) -> int:
    """The number of characters before the first special one."""
    found = _SPECIAL.search(pattern)
    return len(pattern) if found is None else found.start()


def glob_regex(pattern: str, literal_length: int, *, is_path: bool) -> str | None:
    """The expression that fully matches what the glob matches in git; None for a glob that matches nothing.

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
    """The expression for what stands between two folder stars: fixed pieces with single stars between them."""
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

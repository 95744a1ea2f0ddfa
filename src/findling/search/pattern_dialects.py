"""Spellings of other tools' regular expressions that would mean something else here, without anybody noticing.

grep, ripgrep and vi have ``[[:digit:]]`` and ``\\<``; the standard library's parser takes the first for a set of
characters and the second for a plain ``<``. Knows the text of a pattern only, no tree and no engine.
"""

from __future__ import annotations

import re

from findling.model.errors import OtherSyntax

IN_BRACKETS = {
    "alnum": "A-Za-z0-9",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x7f",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "\\d",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\s",
    "upper": "A-Z",
    "word": "\\w",
    "xdigit": "0-9A-Fa-f",
}
"""POSIX classes, and ripgrep's own two, as they are written here inside brackets."""

_CLASS = re.compile(rf"\[:(\^?)({'|'.join(IN_BRACKETS)}):\]")
_BARE_CLASS = re.compile(rf"\[\^?:({'|'.join(IN_BRACKETS)}):\]")
"""A set of these letters, as it stands; no other tool's, but never meant either."""

_COMMENT = "(?#"


def check(pattern: str, *, verbose: bool = False) -> None:
    """Raises `OtherSyntax` for a POSIX class, and for ``\\<`` and ``\\>`` outside brackets, at their position.

    ``pattern`` is one line that parses. ``verbose``: whether it begins with ``(?x)``, so that ``#`` begins a comment.
    """
    at = 0
    while at < len(pattern) and not (verbose and pattern[at] == "#"):
        if pattern[at] == "\\":
            if pattern[at + 1 : at + 2] in ("<", ">"):
                raise _word_edge(pattern[at : at + 2], at)
            at += 2
        elif pattern.startswith(_COMMENT, at):
            at = pattern.find(")", at) + 1 or len(pattern)
        elif pattern[at] == "[":
            if (bare := _BARE_CLASS.match(pattern, at)) is not None:
                raise _posix_class(bare.group(), bare.group(1), at, brackets=True)
            at = _after_set(pattern, at)
        else:
            at += 1


def _after_set(pattern: str, at: int) -> int:
    """The position after the set that begins at ``at``."""
    at += 2 if pattern.startswith("[^", at) else 1
    first = at
    while at < len(pattern) and (pattern[at] != "]" or at == first):
        if (found := _CLASS.match(pattern, at)) is not None:
            raise _posix_class(found.group(), found.group(2), at, negated=bool(found.group(1)))
        at += 2 if pattern[at] == "\\" else 1
    return at + 1


def _posix_class(written: str, name: str, at: int, *, negated: bool = False, brackets: bool = False) -> OtherSyntax:
    own = IN_BRACKETS[name]
    shorthand = own.startswith("\\") and len(own) == 2
    if negated:
        instead = f"{own.upper()} in its place" if shorthand else f"[^{own}] as a set of its own"
    elif brackets:
        instead = f"[{'^' if written.startswith('[^') else ''}{own}] instead"
    else:
        instead = f"{own} in its place, inside the brackets"
    return OtherSyntax(
        f"The expression does not parse: {written} at position {at} is no class of characters in Python's syntax, "
        "which is used here.",
        position=at,
        remedy=f"Write {instead}. For the text as it stands, ask for a literal search (grep -F).",
    )


def _word_edge(written: str, at: int) -> OtherSyntax:
    edge = "beginning" if written == "\\<" else "end"
    return OtherSyntax(
        f"The expression does not parse: {written} at position {at} is no {edge} of a word in Python's syntax, which "
        "is used here.",
        position=at,
        remedy=f"Write \\b, or ask for whole words (grep -w); a plain {written[1]} needs no backslash.",
    )

"""A definition's signature, kept only where the line that names it does not already say it. Pure.

Five of six signatures are their line without what opens the body. Those are read from the file when they are shown,
which saves about 7 % of the indexed text on disk.
"""

from __future__ import annotations

from collections.abc import Sequence

MAX_SIGNATURE = 300

_CUT = "…"
_OPENS = " {:;=,"
"""What a signature does not end with, cut or whole."""

_MAX_LINE = 4_000
"""Characters of a line that are looked at: all definitions of a notebook may lie in one line of a megabyte."""

_OPENERS = (" do", " then", " is", " begin")


def from_line(line: str) -> str:
    """What a line says of the definition it names."""
    folded = " ".join(line[:_MAX_LINE].split()).rstrip(_OPENS)
    for opener in _OPENERS:
        folded = folded.removesuffix(opener)
    return shortened(folded)


def shortened(signature: str, *, cut: bool = False) -> str:
    """At most `MAX_SIGNATURE` characters, with a sign at the end where it is (or was before, with ``cut``) longer."""
    if len(signature) <= MAX_SIGNATURE and not cut:
        return signature
    return signature[: MAX_SIGNATURE - len(_CUT)].rstrip(_OPENS) + _CUT


def to_keep(signature: str, lines: Sequence[str], name_line: int) -> str:
    """The signature if it must be kept; '' if ``lines`` (a whole file's) say the same."""
    line = lines[name_line - 1] if 0 < name_line <= len(lines) else ""
    return "" if signature == from_line(line) else signature


def of(kept: str, lines: Sequence[str] | None, name_line: int, name: str) -> str:
    """The signature to show; ``lines`` is None when the file cannot be read."""
    if kept:
        return kept
    if lines is None or not 0 < name_line <= len(lines):
        return name
    return from_line(lines[name_line - 1]) or name

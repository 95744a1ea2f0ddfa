"""Escapes invisible characters, and those that reorder or hide their neighbours, in JSON for people and models."""

from __future__ import annotations

import re
from typing import Final

_UNSEEN: Final = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""Characters that JSON allows unescaped: DEL and C1 controls, zero-width and bidirectional controls, line separators,
byte-order marks, tags, lone surrogates."""


def escaped(json_text: str) -> str:
    """The same JSON with these characters written as escapes."""
    return _UNSEEN.sub(_escape, json_text)


def _escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))

"""Characters that show nothing, or move and hide what stands beside them, in JSON that people and models read."""

from __future__ import annotations

import re
from typing import Final

_UNSEEN: Final = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""Legal inside of a JSON string as they are: DEL and C1, what joins, separates or turns round, separators of lines,
marks of the byte order, tags, halves of characters."""


def escaped(json_text: str) -> str:
    """The same JSON with these characters as escapes: it means what it meant, and shows all that it says."""
    return _UNSEEN.sub(_escape, json_text)


def _escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))

"""What an answer says of what does not occur: the same two fields in every family. Must not know any tool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from findling.model.types import Absent


def fields(absent: Sequence[Absent]) -> dict[str, Any]:
    """``absent``: what does not occur, and in how many files it was looked for; ``nearest``: what is like it and where
    that stands. Nothing where nothing is known to be absent."""
    if not absent:
        return {}
    return {
        "absent": [{"kind": each.kind, "text": each.text, "files_searched": each.files} for each in absent],
        "nearest": [
            {"name": near.text, "path": near.path, "line": near.line} for each in absent for near in each.nearest
        ],
    }

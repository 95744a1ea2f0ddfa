"""Text to show for a place: lines of files read once per answer, cut to a length that says so."""

from __future__ import annotations

from pathlib import Path

from findling.tools.files import read_text
from findling.tools.model import Refusal

SNIPPET_CHARS = 400
"""A glance at a passage; whoever wants more reads the file."""

CUT = "..."


class Lines:
    """Lines of the root's files as they are now; a file that cannot be read has none."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._files: dict[str, tuple[str, ...]] = {}

    def between(self, path: str, start: int, end: int) -> str:
        """Lines ``start`` to ``end`` (1-based, inclusive), joined, without the last line end."""
        lines = self._files.get(path)
        if lines is None:
            try:
                lines = read_text(self._root, path).lines
            except Refusal:
                lines = ()  # it is gone or changed its kind since it was indexed; the place is still told
            self._files[path] = lines
        return "".join(lines[start - 1 : end]).rstrip("\r\n")

    def line(self, path: str, number: int) -> str:
        return self.between(path, number, number)


def clipped(text: str, chars: int = SNIPPET_CHARS) -> str:
    """At most ``chars`` characters; what was cut ends in ``...``, counted in."""
    return text if len(text) <= chars else text[: chars - len(CUT)] + CUT

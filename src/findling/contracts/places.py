"""Text to show for a place: lines of files read once per answer, cut to a length that says so."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from findling.contracts.files import read_object, read_text
from findling.contracts.model import Refusal
from findling.model.format_names import format_of
from findling.outbound.files import Files

if TYPE_CHECKING:
    from findling.engine import Engine

SNIPPET_CHARS = 400
"""A glance at a passage; whoever wants more reads the file."""

CUT = "..."

MAX_REPEATED = 1_000
"""Characters of a query that an answer repeats: the rest of a long text is known to who asked."""


def read_lines(texts: Path | Files, path: str) -> tuple[str, ...]:
    """A file's lines with their ends, from a folder or a commit's files. Raises `Refusal` where it cannot be read."""
    return read_text(texts, path).lines if isinstance(texts, Path) else read_object(texts, path).lines


class Lines:
    """Lines of the files that are searched, as they are now, of a converted document those of its text in the index; a
    file that cannot be read has none."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._files: dict[str, tuple[str, ...]] = {}

    def between(self, path: str, start: int, end: int) -> str:
        """Lines ``start`` to ``end`` (1-based, inclusive), joined, without the last line end."""
        lines = self._files.get(path)
        if lines is None:
            lines = self._files[path] = self._read(path)
        return "".join(lines[start - 1 : end]).rstrip("\r\n")

    def line(self, path: str, number: int) -> str:
        return self.between(path, number, number)

    def _read(self, path: str) -> tuple[str, ...]:
        engine, own = self._engine.of(path)
        if format_of(own) and (converted := engine.document_text(own)) is not None:
            return tuple(f"{line}\n" for line in converted.text.split("\n"))
        try:
            return read_lines(engine.texts, own)
        except Refusal:
            return ()  # it is gone or changed its kind since it was indexed; the place is still told


def clipped(text: str, chars: int = SNIPPET_CHARS) -> str:
    """At most ``chars`` characters; what was cut ends in ``...``, counted in."""
    return text if len(text) <= chars else text[: chars - len(CUT)] + CUT

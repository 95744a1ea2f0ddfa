"""Languages whose text is not simply what stands in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.reading import formats
from findling.reading.notebooks import readable_json

if TYPE_CHECKING:
    from findling.model.types import Chunk

_READ_OTHERWISE = frozenset(("notebook", "html"))


def readable(piece: str, chunk: Chunk, language: str) -> str:
    """What of a chunk people read, for words and vectors. ``piece`` is the chunk's raw text.

    Notebooks: the cell's text without JSON escapes; HTML: text and text-like attributes without tags; else the
    piece itself.
    """
    if language not in _READ_OTHERWISE:
        return piece
    return readable_json(piece) if language == "notebook" else formats.html_text(piece)

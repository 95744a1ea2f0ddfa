"""Languages whose text is not simply what stands in the file, and the door to `documents` for them.

Imports nothing more for the others, which most files are written in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from findling.model.types import Chunk

HOSTS = frozenset(
    ("vue", "svelte", "astro", "html", "erb", "ejs", "heex", "jinja", "gotmpl", "razor", "php", "handlebars")
)
"""Languages that may hold scripts and styles."""

_READ_OTHERWISE = frozenset(("notebook", "html"))


def readable(piece: str, chunk: Chunk, language: str) -> str:
    """What of a chunk people read, for words and vectors. ``piece`` is the chunk's raw text.

    Notebooks: the cell's text without JSON escapes; HTML: text and text-like attributes without tags; else the
    piece itself.
    """
    if language not in _READ_OTHERWISE:
        return piece
    from findling.reading import documents

    return documents.cell_text(piece) if language == "notebook" else documents.html_text(piece)

"""Which files are converted, by their names alone. On the start path of the command line: imports nothing."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

CONVERTED: Final = {
    ".pdf": "pdf",
    ".docx": "docx",
    ".docm": "docx",
    ".pptx": "pptx",
    ".pptm": "pptx",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".epub": "epub",
}
"""Extension to format, of what is always converted."""

PAGES: Final = {**dict.fromkeys((".html", ".htm", ".xhtml", ".shtml"), "html"), ".ipynb": "notebook"}
"""Web pages and notebooks: source in a project, documents in a library."""

_AS_MARKDOWN: Final = ("docx", "pptx", "epub", "html", "notebook")


def format_of(path: str, *, pages: bool = False) -> str:
    """The format that a file is converted from, '' for a file that is text as it is. ``pages``: web pages and
    notebooks, too."""
    dot = path.rfind(".")
    extension = path[dot:].lower() if dot > path.rfind("/") else ""
    if pages and extension in PAGES:
        return PAGES[extension]
    return CONVERTED.get(extension, "")


def outlined_as(language: str, *, converted: bool) -> str:
    """The language whose rules a document's text follows: converted text has headings as Markdown has them."""
    if not converted:
        return language
    return "converted" if language in _AS_MARKDOWN else "converted-plain"


# --- document places ----------------------------------------------------------------------------------------------
# Marker lines in the text of a converted document that name the place in the document: ``⟦page 12⟧``. Pure.
#
# They look like nothing that people write, are found by an exact search, and tell a reader of any line its page.

_OPEN: Final = "⟦"
_CLOSE: Final = "⟧"

OPEN: Final = _OPEN.encode()

LINE: Final = re.compile(rf"^{_OPEN}([^\n{_CLOSE}]{{1,200}}){_CLOSE}$", re.MULTILINE)
"""A whole line; group 1 is the place."""


def line(place: str) -> str:
    """The line that says that ``place`` (one line of text) begins."""
    inner = " ".join(place.replace(_CLOSE, ")").replace(_OPEN, "(").split())
    return f"{_OPEN}{inner[:200] or '?'}{_CLOSE}"


def escaped(text: str) -> str:
    """A document's own text, in which no line is mistaken for a place."""
    if _OPEN not in text:
        return text
    return re.sub(rf"^{_OPEN}", f" {_OPEN}", text, flags=re.MULTILINE)


def places_of_lines(text: bytes, numbers: Sequence[int]) -> list[str]:
    """The place that each of the 1-based lines of a text (UTF-8) lies in, '' before the first."""
    if OPEN not in text:
        return [""] * len(numbers)
    starts: list[int] = []
    names: list[str] = []
    line, at = 1, 0
    decoded = text.decode("utf-8", "replace")
    for found in LINE.finditer(decoded):
        line += decoded.count("\n", at, found.start())
        at = found.start()
        starts.append(line)
        names.append(found[1])
    places = [bisect_right(starts, number) - 1 for number in numbers]
    return [names[place] if place >= 0 else "" for place in places]

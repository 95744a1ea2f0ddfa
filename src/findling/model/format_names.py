"""Which files are converted, by their names alone. On the start path of the command line: imports nothing."""

from __future__ import annotations

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

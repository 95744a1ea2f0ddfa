"""Documents that are no text by themselves: a module for each format makes text of a file's bytes.

In the text each page, slide, chapter or block of cells begins with a line of its own (`model.document_places`). They
must not know paths on disk, chunks or the index. Each loads its library, so a format's module is loaded when a document
of that format comes; ``markup`` reads a piece of a page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.reading.formats.epub import epub_text
    from findling.reading.formats.markup import html_text
    from findling.reading.formats.notebook import notebook_text
    from findling.reading.formats.page import page_text
    from findling.reading.formats.pdf import pdf_text
    from findling.reading.formats.sheets import sheets_text
    from findling.reading.formats.slides import slides_text
    from findling.reading.formats.word import word_text
else:
    __getattr__ = front_door(
        __name__,
        {
            "epub": "epub_text",
            "markup": "html_text",
            "notebook": "notebook_text",
            "page": "page_text",
            "pdf": "pdf_text",
            "sheets": "sheets_text",
            "slides": "slides_text",
            "word": "word_text",
        },
    )

__all__ = [
    "epub_text",
    "html_text",
    "notebook_text",
    "page_text",
    "pdf_text",
    "sheets_text",
    "slides_text",
    "word_text",
]

"""Converts PDF to text, page by page.

The one module that uses PDFium. It is native code, and may crash its worker process. Without it (there is a wheel for
every platform) PDF files are left out, with that reason.
"""

from __future__ import annotations

import re
from typing import Final

from findling.reading.formats.model import NotConverted, Text

MAX_PAGES: Final = 5_000
"""The most pages. The longest manuals have some thousands, and the time suffices for no more."""

MAX_PAGE_CHARS: Final = 400_000
"""A page of a book has three thousand characters, a poster of small print some ten times that."""

_WRONG_PASSWORD: Final = 4
_TRAILING = re.compile(r"[ \t]+(?=\r?\n)")
_HYPHEN = re.compile("[\ufffe\u0002]\\s*")
"""What PDFium writes for a hyphen that parts a word at the end of a line."""


def pdf_text(data: bytes) -> str:
    """Raises `NotConverted`, and what PDFium raises for a broken page."""
    if b"%PDF-" not in data[:1024]:
        raise NotConverted("broken_document", "it does not begin as a PDF does")
    try:
        import pypdfium2
    except ImportError as error:
        raise NotConverted("no_reader", "pypdfium2 is not installed") from error
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", 0) == _WRONG_PASSWORD or "password" in str(error).lower():
            raise NotConverted("encrypted", "it is protected by a password") from error
        raise NotConverted("broken_document", str(error)) from error
    try:
        return _pages(document)
    finally:
        document.close()


def _pages(document: object) -> str:
    import pypdfium2

    assert isinstance(document, pypdfium2.PdfDocument)
    count = len(document)
    if count > MAX_PAGES:
        raise NotConverted("too_large", f"it has {count:,} pages, the limit is {MAX_PAGES:,}")
    text = Text()
    broken = 0
    for number in range(count):
        text.check_clock()
        try:
            said = _page(document, number)
        except pypdfium2.PdfiumError:
            broken += 1
            continue
        text.place(f"page {number + 1}")
        text.block(said)
    if broken and broken == count:
        raise NotConverted("broken_document", f"none of its {count:,} pages can be read")
    return text.whole()


def _page(document: object, number: int) -> str:
    page = document[number]  # type: ignore[index]
    try:
        read = page.get_textpage()
        try:
            if read.count_chars() > MAX_PAGE_CHARS:
                raise NotConverted("too_large", f"page {number + 1} has more than {MAX_PAGE_CHARS:,} characters")
            said: str = read.get_text_range()
        finally:
            read.close()
    finally:
        page.close()
    return _TRAILING.sub("", _HYPHEN.sub("", said))

"""Documents that are no text by themselves: which files they are, and their text.

A converter takes a whole file's bytes and gives text, in which each page, slide, chapter or block of cells begins
with a line of its own (`store.document_places`). It runs in a worker process that may be killed. Must not know paths on
disk, chunks or the index. Light to import: the libraries are loaded by the converter that needs them.
"""

from __future__ import annotations

from typing import Final

from findling.model.format_names import CONVERTED, format_of, outlined_as
from findling.reading.formats.model import NotConverted

__all__ = ["CONVERTED", "NotConverted", "convert", "format_of", "outlined_as"]


def convert(form: str, data: bytes) -> str:
    """The text of a document in the format ``form`` (see `format_of`). Raises `NotConverted`.

    Whatever else goes wrong inside a library is that, too: a document that cannot be read is broken.
    """
    try:
        text = _convert(form, data)
    except NotConverted:
        raise
    except MemoryError as error:
        raise NotConverted("too_large", "converting it takes more memory than is allowed") from error
    except Exception as error:
        raise NotConverted("broken_document", f"{type(error).__name__}: {error}"[:_DETAIL_CHARS]) from error
    if not text.strip():
        raise NotConverted("no_text", "there is no text in it; pictures of text are not read")
    return text


_DETAIL_CHARS: Final = 300
"""Of a library's message: some repeat the document."""


def _convert(form: str, data: bytes) -> str:
    if form == "pdf":
        from findling.reading.formats import pdf

        return pdf.text_of(data)
    if form == "docx":
        from findling.reading.formats import word

        return word.text_of(data)
    if form == "pptx":
        from findling.reading.formats import slides

        return slides.text_of(data)
    if form == "xlsx":
        from findling.reading.formats import sheets

        return sheets.text_of(data)
    if form == "epub":
        from findling.reading.formats import epub

        return epub.text_of(data)
    if form == "notebook":
        from findling.reading.formats import notebook

        return notebook.text_of(data)
    from findling.reading.formats import page

    return page.text_of(data)

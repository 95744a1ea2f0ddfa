"""Documents that are no text by themselves to their text, whatever format they are in.

Runs in a worker process that may be killed.
"""

from __future__ import annotations

from typing import Final

from findling.reading import formats
from findling.reading.formats.model import NotConverted


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
    match form:
        case "pdf":
            return formats.pdf_text(data)
        case "docx":
            return formats.word_text(data)
        case "pptx":
            return formats.slides_text(data)
        case "xlsx":
            return formats.sheets_text(data)
        case "epub":
            return formats.epub_text(data)
        case "notebook":
            return formats.notebook_text(data)
        case _:
            return formats.page_text(data)

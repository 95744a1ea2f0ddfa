"""Documents that are no text by themselves: a module for each format makes text of a file's bytes.

In the text each page, slide, chapter or block of cells begins with a line of its own (`model.document_places`). They
must not know paths on disk, chunks or the index. Each loads its library, so a format's module is loaded when a document
of that format comes. Runs in a worker process that may be killed.
"""

from __future__ import annotations

from importlib import import_module
from typing import Final

from findling.reading.formats.model import NotConverted

_MODULES: Final = {"docx": "word", "pptx": "slides", "xlsx": "sheets", "html": "page"}
"""What makes text of a format, where its name is another one."""

_DETAIL_CHARS: Final = 300
"""Of a library's message: some repeat the document."""


def convert(form: str, data: bytes) -> str:
    """The text of a document in the format ``form`` (see `format_of`). Raises `NotConverted`.

    Whatever else goes wrong inside a library is that, too: a document that cannot be read is broken.
    """
    module = _MODULES.get(form, form)
    try:
        text: str = getattr(import_module(f"{__name__}.{module}"), f"{module}_text")(data)
    except NotConverted:
        raise
    except MemoryError as error:
        raise NotConverted("too_large", "converting it takes more memory than is allowed") from error
    except Exception as error:
        raise NotConverted("broken_document", f"{type(error).__name__}: {error}"[:_DETAIL_CHARS]) from error
    if not text.strip():
        raise NotConverted("no_text", "there is no text in it; pictures of text are not read")
    return text

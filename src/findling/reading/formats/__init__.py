"""Converts documents to text. Each format has a module that makes text of a file's bytes.

In the text each page, slide, chapter or block of cells begins with a line of its own (`model.format_names`). A
format's module loads its library, so it is imported with the first document of that format. The modules must not know
paths on disk, chunks or the index. They run in a worker process, which may be killed.
"""

from __future__ import annotations

from importlib import import_module
from typing import Final

from findling.reading.formats.model import NotConverted

_MODULES: Final = {"docx": "word", "pptx": "slides", "xlsx": "sheets", "html": "page"}
"""Format -> module, where the names differ."""

_DETAIL_CHARS: Final = 300
"""The length at which a library's message is cut: some repeat the document."""


def convert(form: str, data: bytes) -> str:
    """The text of a document in the format ``form`` (see `format_of`). Raises `NotConverted`.

    Any other failure inside a library raises it, too: the document counts as broken.
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

"""Which contents are searched at all: what a secret, a binary or minified file is, by its bytes.

Indexing asks this of every file, and so does an exact search of files that no index has. Loads no grammar.
"""

from __future__ import annotations

from findling.model.marks import looks_minified, secret_in
from findling.model.types import SkippedFile
from findling.reading.decoding import Decoded, decode

HEAD_BYTES = 4096
"""How much of a file language and content marks are judged by."""


def admit(path: str, data: bytes) -> Decoded | SkippedFile:
    """The text of a file that is text as it is, or why it is left out."""
    if secret := secret_in(data, path):
        return SkippedFile(path, "secret", f"it contains {secret}")
    decoded = decode(data)
    if not isinstance(decoded, Decoded):
        return SkippedFile(path, decoded.reason, decoded.detail)
    head = data[:HEAD_BYTES]
    if looks_minified(head) and not _is_notebook(path, head, decoded.text):
        return SkippedFile(path, "minified", "its lines are too long for source code")
    return decoded


def _is_notebook(path: str, head: bytes, text: str) -> bool:
    """Whether the long lines of a file are pictures between a notebook's cells, which are not read."""
    from findling.model.languages import language_of  # its table takes 5 ms to build, and few files need it here
    from findling.reading.notebooks import notebook_cells

    return language_of(path, head).id == "notebook" and notebook_cells(text) is not None

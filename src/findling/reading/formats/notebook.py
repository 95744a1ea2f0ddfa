"""Converts Jupyter notebooks to text, where they count as documents: cell by cell, with code in fences. Outputs are
left out, because they are results of the code.
"""

from __future__ import annotations

import re

from findling.reading.decoding import Decoded, decode
from findling.reading.formats.model import NotConverted, Text
from findling.reading.notebooks import notebook_cells

_TICKS = re.compile("`{3,}")
_LANGUAGE = re.compile(r"[\w.+#-]{1,40}")
_HEADING = re.compile(r"^#{1,6}[ \t]+([^\n]{1,80})", re.MULTILINE)


def notebook_text(data: bytes) -> str:
    """Raises `NotConverted`."""
    decoded = decode(data)
    cells = notebook_cells(decoded.text) if isinstance(decoded, Decoded) else None
    if cells is None:
        raise NotConverted("broken_document", "it is not a notebook's JSON")
    text = Text()
    below = ""
    for cell in cells:
        if cell.kind == "code":
            text.place(f"cell {cell.number}: {below}" if below else f"cell {cell.number}")
            ticks = "`" * max(3, 1 + max((len(found) for found in _TICKS.findall(cell.text)), default=0))
            if cell.text.strip():
                language = cell.language if _LANGUAGE.fullmatch(cell.language) else ""
                text.block(f"{ticks}{language}\n{cell.text.strip()}\n{ticks}", verbatim=True)
            continue
        text.place(f"cell {cell.number}")
        text.block(cell.text, verbatim=True)
        for found in _HEADING.finditer(cell.text):
            below = found[1].strip()
    return text.whole()

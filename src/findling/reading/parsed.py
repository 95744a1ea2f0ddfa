"""Definitions and chunks while a file is read: with the bytes and comments that chunks are cut by, which no reading
keeps. What is kept of them: `model.reading`."""

from __future__ import annotations

from msgspec import Struct


class Symbol(Struct, frozen=True):
    """One definition inside one file.

    ``parent`` is the position of the enclosing symbol in the file's list, -1 at the top. The range covers
    decorators and the body but not the doc comment; ``doc`` is that comment's text without markers.
    ``signature`` is one line with white space folded. ``qualified_name`` joins the enclosing names with ``.``.
    """

    name: str
    kind: str
    qualified_name: str
    parent: int
    start_line: int
    end_line: int
    start_byte: int
    end_byte: int
    name_line: int
    signature: str = ""
    doc: str = ""


class Chunk(Struct, frozen=True):
    """A contiguous piece of a file, the unit of text and vector search.

    ``start_byte``/``end_byte`` re-read to exactly the chunk's text; the lines are those it touches.
    ``kind``: function, class, block, fixed (code), section (prose). ``breadcrumb``: enclosing symbols from the
    outside in, or headings; ``header``: the nearest heading (prose only).
    """

    start_line: int
    end_line: int
    start_byte: int
    end_byte: int
    kind: str
    symbol: int = -1
    breadcrumb: tuple[str, ...] = ()
    header: str = ""

"""What is known of one content, as plain values: made by `reading.prepare`, kept by the store, asked by searches.

Light: whoever only waits for a reading need not know how it is made or packed (`parts`).
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from msgspec import Struct

from findling.model import secrets

VERSION: Final = 2
"""Of how files are read: files that another version read are read again. To be raised with every change of what a
reading holds for the same content, such as the uses of one more language."""


def read_by() -> str:
    """What a store writes down to tell later whether its files are to be read again: of reading and of masking."""
    return f"{VERSION}/{secrets.VERSION}"


class Symbol(NamedTuple):
    """A definition; ``parent`` is the position of the enclosing one among the file's (-1 at the top), ``scope`` the
    qualified name without the name."""

    name: str
    kind: str
    parent: int
    start_line: int
    end_line: int
    name_line: int
    scope: str
    signature: str


USE_KINDS = ("call", "import", "inherit", "decorate", "type", "read", "write", "return", "export", "package")

MOST_ARGUMENTS = 15
"""So many arguments or more, or nobody can tell how many: a list is unpacked into them."""

MOST_USES = 20_000
"""Of one content; one with more is generated. Its first ones are kept."""


class Use(NamedTuple):
    """A place where a name is used: of a ``kind`` of `USE_KINDS`, ``symbol`` being the position of the definition that
    it stands in (-1: none; of a decorator and a base the one that has them).

    ``receiver`` is what stands before the name (``self.box`` of ``self.box.add(1)``), as written but without arguments.
    Of an import, ``name`` is the name in the module ('' for the module itself, ``*`` for all), ``receiver`` the module
    and ``value`` the name in this file. Of a write, ``value`` is what the name gets, or its annotation after a colon. A
    "return" has the annotation of what the definition around it gives, or of Python one without an annotation what it
    gives after "=" ("yield ": what it yields). An "export" is an import for others: they get
    it as ``value`` ("default"; "=" where the file gives nothing else), ``receiver`` is '' for a name of this file. Of a
    "package" ``value`` is the package of the file.
    """

    kind: str
    name: str
    receiver: str
    arguments: int
    line: int
    symbol: int
    value: str = ""


class ChunkRow(NamedTuple):
    """A chunk; ``symbol`` is the position of the one that it is part of (-1: none), ``headings`` stand above it (in
    prose only), ``hash`` is the SHA-256 of its text."""

    start_line: int
    end_line: int
    start_byte: int
    end_byte: int
    kind: str
    symbol: int
    headings: tuple[str, ...]
    hash: bytes = b""


class Reading(Struct, frozen=True):
    """Everything that is known of one content in one language, whatever its path; lists are in file order.

    ``terms`` is a row of `term_rows`. ``text`` is kept of converted documents alone, which is None of others.
    ``problem`` says why there are no symbols ('' when nothing went wrong). ``documents`` (the terms of each chunk and
    of its context) and ``trigrams`` (`trigrams.file_trigrams`) are for the indexes that propose.
    """

    language: str
    kind: str
    lines: int
    encoding: str
    generated: bool
    problem: str
    symbols: list[Symbol]
    uses: list[Use]
    chunks: list[ChunkRow]
    terms: bytes
    body_terms: int
    name_terms: int
    text: bytes | None
    documents: list[tuple[str, str]]
    trigrams: bytes


class Embedded(NamedTuple):
    """A reading, and what belongs to it at one path: of its chunks, in order, the hashes of the embedded texts and the
    vectors (`vector_codes`), both joined. ``took_ms``: what the vectors took."""

    reading: Reading
    hashes: bytes
    data: bytes
    took_ms: float


# --- codings ------------------------------------------------------------------------------------------------------
# The encodings of stored vectors and their sizes, without numpy; `vector_codes` encodes and decodes.

Coding = Literal["four_bits", "float16"]

FOUR_BITS: Coding = "four_bits"
FLOAT16: Coding = "float16"

HASH_BYTES = 8
"""Bytes that are kept of the SHA-256 of each embedded text: enough to tell two texts at one path apart."""


def row_bytes(dimensions: int, coding: Coding = FOUR_BITS) -> int:
    """Bytes of one vector."""
    return 2 * dimensions if coding == FLOAT16 else dimensions // 2

"""What the index takes in of one file: what a worker process hands back, as the writer stores it. Light: whoever only
waits for it need not know how it is made."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Prepared:
    """Everything that the index keeps of one content; lists are in file order.

    ``symbols`` is a packed row (`symbol_rows`), ``defines`` the squashed names in it. ``documents`` are (body,
    context) term strings, one per chunk. Of the chunks there are their number, the bytes of their texts, `chunk_rows`,
    and the SHA-256 of each text one after the other; of a document ``sections`` and ``texts`` (`section_rows`) besides.
    ``problem`` says why there are no symbols ('' when nothing went wrong).
    """

    language: str
    kind: str
    lines: int
    encoding: str
    generated: bool
    problem: str
    symbols: bytes
    symbol_count: int
    defines: list[str]
    chunk_count: int
    chunk_bytes: int
    chunk_lines: bytes
    chunk_places: bytes
    chunk_hashes: bytes
    sections: str
    texts: bytes
    documents: list[tuple[str, str]]
    terms: bytes
    body_terms: int
    name_terms: int
    trigrams: bytes

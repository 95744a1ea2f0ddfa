"""Makes the text that is embedded for a chunk: the chunk with its context."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING

from findling.model.format_names import outlined_as
from findling.model.languages import LANGUAGES
from findling.model.reading import HASH_BYTES
from findling.reading.decoding import Decoded, decode
from findling.reading.notebooks import readable

if TYPE_CHECKING:
    from findling.model.reading import ChunkRow, Reading, Symbol
    from findling.model.rows import SymbolRow

_MAX_ENCLOSING = 3
_MAX_DEFINED = 6


def text_hash(text: str) -> bytes:
    """A hash that tells an embedded text from others at its path."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:HASH_BYTES]


def texts_of(path: str, found: Reading, data: bytes) -> list[str]:
    """The text that is embedded for each chunk of a file that was just read from ``data``."""
    if found.text is not None:
        language = outlined_as(found.language, converted=True)
        return embedded_texts(path, language, found.symbols, found.chunks, found.text)
    raw = text_of(data)
    assert raw is not None, "it has been read"
    return embedded_texts(path, found.language, found.symbols, found.chunks, raw)


def text_of(data: bytes) -> str | bytes | None:
    """The text of a file as `embedded_texts` takes it; None where it is no text."""
    decoded = decode(data)
    if not isinstance(decoded, Decoded):
        return None
    return decoded.text if decoded.text.isascii() else decoded.text.encode("utf-8", "surrogatepass")


def embedded_texts(
    path: str, language: str, symbols: Sequence[Symbol | SymbolRow], chunks: Sequence[ChunkRow], raw: str | bytes
) -> list[str]:
    """The text that is embedded for each chunk of a file. ``raw``: the file's text, as bytes unless it is ASCII."""
    context = _Context(path, language, symbols)
    found = []
    for chunk in chunks:
        piece = raw[chunk.start_byte : chunk.end_byte]
        piece = piece if isinstance(piece, str) else piece.decode("utf-8", "surrogatepass")
        found.append(context.embedded_text(chunk, readable(piece, language)))
    return found


class _Context:
    """The context of the chunks of one file."""

    def __init__(self, path: str, language: str, symbols: Sequence[Symbol | SymbolRow]) -> None:
        *folders, name = path.split("/")
        stem = name.split(".", 1)[0]
        self._place = " ".join((*folders[-3:], stem, stem))
        self._symbols = list(symbols)
        self._by_line = sorted((symbol.start_line, place) for place, symbol in enumerate(self._symbols))
        self._marks = _comment_marks(language)

    def embedded_text(self, chunk: ChunkRow, body: str) -> str:
        """A chunk below its context: the last three folders, the file's stem twice, enclosing and defined names,
        and the first comment."""
        symbols = self._symbols
        enclosing: list[str] = list(chunk.headings[-_MAX_ENCLOSING:])
        at = chunk.symbol
        while 0 <= at < len(symbols) and len(enclosing) < _MAX_ENCLOSING:
            enclosing.append(symbols[at].name)
            at = symbols[at].parent
        first = bisect_left(self._by_line, (chunk.start_line,))
        last = bisect_left(self._by_line, (chunk.end_line + 1,))
        places = sorted(place for _, place in self._by_line[first:last])
        defined = [symbols[place].name for place in places[:_MAX_DEFINED]]
        return "\n".join((self._place, " ".join((*enclosing, *defined)), _first_comment(body, self._marks), body))


def _comment_marks(language: str) -> tuple[str, ...]:
    """What a comment line may begin with."""
    known = LANGUAGES.get(language)
    return (*known.line_comments, *(start for start, _ in known.block_comments), "*", '"""') if known else ()


def _first_comment(body: str, marks: tuple[str, ...]) -> str:
    """The first comment line of a piece of code, '' without one."""
    for line in body.split("\n", 40)[:40] if marks else ():
        stripped = line.strip()
        if stripped.startswith(marks) and any(char.isalpha() for char in stripped):
            return stripped
    return ""

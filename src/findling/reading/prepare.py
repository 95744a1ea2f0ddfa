"""Turns one file's bytes into its `Reading`. Pure: no I/O, and no knowledge of the store's tables.

A worker process calls `prepare` for each file. It decides whether the file is indexed, and in which language. `read`
then works without the path: decode, find symbols, cut chunks, make terms and trigrams.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from findling.model import reading, secrets, term_rows, tokenizer
from findling.model.format_names import format_of, outlined_as
from findling.model.languages import Language, language_of
from findling.model.marks import LFS_POINTER, PAGES, content_marks, is_lfs_pointer, secret_in
from findling.model.reading import Reading
from findling.model.remembered import Remembered
from findling.model.text_encodings import CONVERTED, UTF8, unmasked
from findling.model.trigram_plan import UNINDEXED_BYTES
from findling.model.types import SkippedFile
from findling.reading.chunks import chunk_file
from findling.reading.decoding import HEAD_BYTES, Decoded, admit
from findling.reading.formats import convert
from findling.reading.formats.model import NotConverted
from findling.reading.limits import ChunkLimits
from findling.reading.notebooks import readable
from findling.reading.parsed import Chunk, Symbol
from findling.reading.spans import MAX_PLACED_CHUNKS
from findling.reading.syntax import parse

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_TOP_KINDS = frozenset(("class", "struct", "enum", "trait", "interface", "type_alias", "module"))
_MAX_CONTEXT_NAMES = 12
"""A chunk's context field repeats the names of at most this many symbols that begin inside the chunk."""

_UNPARSED_BYTES = 1_000_000
"""Larger files are chunked without a syntax tree. There are none unless the size limit is raised."""

_GENERATED_CHUNKS = 4
"""Chunks kept of a documentation page that was generated from source code, which says the same."""

_LIMITS = ChunkLimits()


def prepare(
    path: str, data: bytes, *, with_syntax: bool = True, limits: ChunkLimits = _LIMITS
) -> Reading | SkippedFile:
    """The reading of ``data`` at ``path``, or why the file is not indexed."""
    form = format_of(path, pages=limits.pages)
    if form:
        if is_lfs_pointer(data):
            return SkippedFile(path, *LFS_POINTER)
        return _prepare_converted(path, form, data, limits)
    decoded = admit(path, data)
    if isinstance(decoded, SkippedFile):
        return decoded
    language = language_of(path, data[:HEAD_BYTES])
    return read(data, decoded, language, with_syntax=with_syntax, limits=limits)


def read(data: bytes, decoded: Decoded, language: Language, *, with_syntax: bool, limits: ChunkLimits) -> Reading:
    """The reading of ``data``, whose text is ``decoded``. It does not depend on the file's path."""
    text = decoded.text
    symbols: Sequence[Symbol] = ()
    uses: Sequence[reading.Use] = ()
    problem = ""
    if with_syntax and language.grammar and len(data) <= _UNPARSED_BYTES:
        syntax = parse(text.encode("utf-8", "surrogatepass"), language.id, docs=False)
        symbols, uses, problem = syntax.symbols, syntax.uses, syntax.problem
    elif language.grammar:
        problem = "not_parsed"
    cut = chunk_file(text, language.id, language.kind, symbols, code=limits.code, docs=limits.docs, data=limits.data)
    generated = "generated" in content_marks(data[:HEAD_BYTES])
    if generated and language.id == PAGES:
        cut = cut[:_GENERATED_CHUNKS]
    # An exact search reads the raw bytes, damaged ones included.
    searched = unmasked(data) if decoded.encoding == UTF8 and not decoded.masks else None
    return _reading(text, searched, decoded.encoding, language, symbols, uses, cut, problem, generated)


def _prepare_converted(path: str, form: str, data: bytes, limits: ChunkLimits) -> Reading | SkippedFile:
    """The reading of a document that is converted to text first. Only that text is indexed and shown."""
    try:
        text = convert(form, data)
    except NotConverted as error:
        return SkippedFile(path, error.reason, error.detail)
    raw = text.encode()
    if secret := secret_in(raw, path):
        return SkippedFile(path, "secret", f"it contains {secret}")
    text = secrets.mask(raw).text.decode()
    language = language_of(path, b"")
    read_as = language._replace(id=outlined_as(language.id, converted=True))
    from findling.reading.chunk_docs import chunk_docs  # only documents need it

    cut = chunk_docs(text, limits=limits.docs, language=read_as.id, most=MAX_PLACED_CHUNKS)
    found = _reading(text, None, CONVERTED, read_as, (), (), cut, "", False)
    return replace(found, language=language.id)


def _reading(
    text: str,
    searched: bytes | None,
    encoding: str,
    language: Language,
    symbols: Sequence[Symbol],
    uses: Sequence[reading.Use],
    cut: Sequence[Chunk],
    problem: str,
    generated: bool,
) -> Reading:
    """The reading, put together. ``searched``: the bytes that an exact search reads, None where they are ``text``."""
    raw = text.encode("utf-8", "surrogatepass")
    documents: list[tuple[str, str]] = []
    chunks: list[reading.ChunkRow] = []
    all_words: list[str] = []
    starts = [symbol.start_line for symbol in symbols]
    first = 0
    for chunk in cut:
        own = raw[chunk.start_byte : chunk.end_byte]
        piece = own.decode("utf-8", "surrogatepass")
        headings = chunk.breadcrumb if language.kind == "docs" else ()
        place = (chunk.start_line, chunk.end_line, chunk.start_byte, chunk.end_byte, chunk.kind, chunk.symbol)
        chunks.append(reading.ChunkRow(*place, headings, hashlib.sha256(own).digest()))
        words = tokenizer.words(readable(piece, language.id))
        all_words += words
        while first < len(starts) and starts[first] < chunk.start_line:
            first += 1
        names = list(chunk.breadcrumb)
        for symbol in symbols[first : first + _MAX_CONTEXT_NAMES]:
            if symbol.start_line > chunk.end_line:
                break
            names.append(symbol.name)
        context = tokenizer.joined_terms(tokenizer.words(" ".join(dict.fromkeys(names)))) if names else ""
        documents.append((tokenizer.joined_terms(words), context))
    terms, body_terms, name_terms = _pack_terms(Counter(all_words), symbols)
    return Reading(
        language=language.id,
        kind=language.kind,
        lines=text.count("\n") + (not text.endswith("\n")),
        encoding=encoding,
        generated=generated,
        problem=problem,
        symbols=list(map(_symbol, symbols)),
        uses=list(uses),
        chunks=chunks,
        terms=terms,
        body_terms=body_terms,
        name_terms=name_terms,
        text=raw if encoding == CONVERTED else None,
        documents=documents,
        trigrams=file_trigrams(raw if searched is None else searched),
    )


def _symbol(symbol: Symbol) -> reading.Symbol:
    scope = symbol.qualified_name[: -len(symbol.name) - 1] if symbol.qualified_name != symbol.name else ""
    return reading.Symbol(
        symbol.name.replace("\n", " "),
        symbol.kind,
        symbol.parent,
        symbol.start_line,
        symbol.end_line,
        symbol.name_line,
        scope,
        symbol.signature,
    )


_KNOWN_WORDS = 80_000

_keys_of = Remembered[str, tuple[int, ...]](
    lambda word: tuple(map(tokenizer.term_key, tokenizer.joined_terms((word,)).split())), _KNOWN_WORDS
)
"""Word -> the keys of its terms."""


def _pack_terms(counted: Counter[str], symbols: Sequence[Symbol]) -> tuple[bytes, int, int]:
    """The packed terms, and how many terms the body and the defined names have."""
    keys_of = _keys_of
    counts: dict[int, int] = {}
    get = counts.get
    for word, count in counted.items():
        for key in keys_of[word]:
            counts[key] = get(key, 0) + count
    flags: dict[int, int] = {}
    name_terms = 0
    top = {symbol.name for symbol in symbols if symbol.kind in _TOP_KINDS or symbol.parent < 0}
    for name in {symbol.name for symbol in symbols}:
        flag = term_rows.IN_NAMES | term_rows.IN_TOP_NAMES if name in top else term_rows.IN_NAMES
        for word in tokenizer.words(name):
            for key in keys_of[word]:
                flags[key] = flags.get(key, 0) | flag
                name_terms += 1
    return term_rows.pack(counts, flags), sum(counts.values()), name_terms


# Letters that match an ASCII letter when case is ignored (long s, Kelvin sign, dotted and dotless i), as UTF-8.
# --- trigrams -----------------------------------------------------------------------------------------------------
# Makes the trigrams of a text. With them an exact search finds the files that can hold its pattern. Pure.

_FOLD_TO_ASCII = (("ſ".encode(), b"s"), ("\u212a".encode(), b"k"), ("\u0130".encode(), b"i"), ("ı".encode(), b"i"))


def file_trigrams(data: bytes) -> bytes:
    """The file's trigrams as the exact-text index takes them: sorted unique little-endian uint32 codes, packed.

    ``data``: the text that a search reads, as UTF-8 (`text_encodings.as_utf8`). Serves case-sensitive and
    case-insensitive search alike.
    """
    lowered = data.lower()
    folded = lowered
    if not lowered.isascii():
        for letter, ascii_letter in _FOLD_TO_ASCII:
            folded = folded.replace(letter, ascii_letter)
    # In one text for both, with a byte between them that no trigram has. np.union1d would import numpy.ma.
    both = lowered if len(folded) == len(lowered) else b"\n".join((lowered, folded))
    return _unique_codes(both).astype("<u4", copy=False).tobytes()


def _unique_codes(lowered: bytes) -> NDArray[np.uint32]:
    import numpy as np

    if len(lowered) < 3:
        return np.empty(0, np.uint32)
    text = np.frombuffer(lowered, np.uint8)
    left_out = np.zeros(len(text), bool)
    for byte in UNINDEXED_BYTES:
        left_out |= text == byte
    codes = text[:-2].astype(np.uint32)
    codes <<= 8
    codes |= text[1:-1]
    codes <<= 8
    codes |= text[2:]
    found: NDArray[np.uint32] = codes[~(left_out[:-2] | left_out[1:-1] | left_out[2:])]
    found.sort()
    new = np.empty(len(found), bool)
    new[:1] = True
    np.not_equal(found[1:], found[:-1], out=new[1:])
    return found[new]

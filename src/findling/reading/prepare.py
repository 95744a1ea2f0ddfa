"""One file's bytes to the rows that the index keeps of it. Pure: no I/O, no knowledge of the store's tables.

This is what a worker process does for each file: decode, find symbols, cut chunks, make terms and trigrams.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from findling.model import tokenizer
from findling.model.languages import Language, language_of
from findling.model.marks import content_marks, secret_in
from findling.model.text_encodings import UTF8, as_utf8
from findling.model.types import Chunk, SkippedFile, Symbol
from findling.reading import chunks as chunking
from findling.reading.decoding import Decoded, decode
from findling.reading.formats import NotConverted, convert, format_of, outlined_as
from findling.reading.syntax import parse
from findling.store import chunk_rows, section_rows, signatures, symbol_rows, term_rows
from findling.store.prepared import Prepared as Prepared
from findling.store.schema import CHUNK_KINDS, CONVERTED
from findling.store.trigrams import file_trigrams

HEAD_BYTES = 4096
"""How much of a file language and content marks are judged by."""

_TOP_KINDS = frozenset(("class", "struct", "enum", "trait", "interface", "type_alias", "module"))
_MAX_CONTEXT_NAMES = 12
"""Names of symbols that begin inside a chunk and are repeated in its context field."""

_UNPARSED_BYTES = 1_000_000
"""Larger files (only reached when the size limit is raised) are chunked without a syntax tree."""

_LIMITS = chunking.ChunkLimits()

_CHUNK_KINDS = {kind: position for position, kind in enumerate(CHUNK_KINDS)}


def prepare(
    path: str, data: bytes, *, with_syntax: bool = True, limits: chunking.ChunkLimits = _LIMITS
) -> Prepared | SkippedFile:
    """What the index keeps of ``data`` at ``path``, or why it keeps nothing."""
    form = format_of(path, pages=limits.pages)
    if form:
        return _prepare_converted(path, form, data, limits)
    head = data[:HEAD_BYTES]
    if secret := secret_in(data, path):
        return SkippedFile(path, "secret", f"it contains {secret}")
    decoded = decode(data)
    if not isinstance(decoded, Decoded):
        return SkippedFile(path, decoded.reason, decoded.detail)
    marks = content_marks(head)
    language = language_of(path, head)
    if "minified" in marks and not _is_notebook(language, decoded.text):
        return SkippedFile(path, "minified", "its lines are too long for source code")
    text = decoded.text
    symbols: Sequence[Symbol] = ()
    problem = ""
    if with_syntax and language.grammar and len(data) <= _UNPARSED_BYTES:
        syntax = parse(text.encode("utf-8", "surrogatepass"), language.id, docs=False)
        symbols, problem = syntax.symbols, syntax.problem
    elif language.grammar:
        problem = "not_parsed"
    cut = chunking.chunk_file(
        text, language.id, language.kind, symbols, code=limits.code, docs=limits.docs, data=limits.data
    )
    return _rows(text, data, decoded.encoding, language, symbols, cut, problem, "generated" in marks)


def _is_notebook(language: Language, text: str) -> bool:
    """Whether the long lines of a file are pictures between a notebook's cells, which are not read."""
    if language.id != "notebook":
        return False
    from findling.reading.notebooks import notebook_cells

    return notebook_cells(text) is not None


def _prepare_converted(path: str, form: str, data: bytes, limits: chunking.ChunkLimits) -> Prepared | SkippedFile:
    """A document whose text has to be taken out of it first; only that text is indexed and shown."""
    try:
        text = convert(form, data)
    except NotConverted as error:
        return SkippedFile(path, error.reason, error.detail)
    raw = text.encode()
    if secret := secret_in(raw, path):
        return SkippedFile(path, "secret", f"it contains {secret}")
    language = language_of(path, b"")
    read_as = replace(language, id=outlined_as(language.id, converted=True))
    cut = chunking.chunk_docs(text, limits=limits.docs, language=read_as.id, most=chunking.MAX_PLACED_CHUNKS)
    rows = _rows(text, raw, CONVERTED, read_as, (), cut, "", False)
    rows.language = language.id
    return rows


def _rows(
    text: str,
    data: bytes,
    encoding: str,
    language: Language,
    symbols: Sequence[Symbol],
    cut: Sequence[Chunk],
    problem: str,
    generated: bool,
) -> Prepared:
    raw = text.encode("utf-8", "surrogatepass")
    documents: list[tuple[str, str]] = []
    all_words: list[str] = []
    starts = [symbol.start_line for symbol in symbols]
    first = 0
    hashes: list[bytes] = []
    for chunk in cut:
        own = raw[chunk.start_byte : chunk.end_byte]
        piece = own.decode("utf-8", "surrogatepass")
        hashes.append(hashlib.sha256(own).digest())
        words = tokenizer.words(chunking.readable(piece, chunk, language.id))
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
    lines = text.split("\n") if symbols else ()
    packed, body_terms, name_terms = _pack_terms(Counter(all_words), symbols)
    rows = [_symbol_row(symbol, lines) for symbol in symbols]
    chunk_lines, chunk_places = chunk_rows.pack([_place(chunk) for chunk in cut])
    sections, texts = "", b""
    if language.kind == "docs":
        spans = [(chunk.start_byte, chunk.end_byte) for chunk in cut]
        sections, texts = section_rows.pack(raw, spans, ["\n".join(chunk.breadcrumb) for chunk in cut])
    return Prepared(
        language=language.id,
        kind=language.kind,
        lines=text.count("\n") + (not text.endswith("\n")),
        encoding=encoding,
        generated=generated,
        problem=problem,
        symbols=symbol_rows.pack(rows),
        symbol_count=len(rows),
        defines=symbol_rows.keys(rows),
        chunk_count=len(cut),
        chunk_bytes=sum(chunk.end_byte - chunk.start_byte for chunk in cut),
        chunk_lines=chunk_lines,
        chunk_places=chunk_places,
        chunk_hashes=b"".join(hashes),
        sections=sections,
        texts=texts,
        documents=documents,
        terms=packed,
        body_terms=body_terms,
        name_terms=name_terms,
        trigrams=file_trigrams(as_utf8(data) if encoding == UTF8 else raw),  # the same, but for damaged bytes
    )


def _symbol_row(symbol: Symbol, lines: Sequence[str]) -> symbol_rows.PackedSymbol:
    scope = symbol.qualified_name[: -len(symbol.name) - 1] if symbol.qualified_name != symbol.name else ""
    return (
        symbol.name,
        symbol.kind,
        symbol.parent,
        symbol.start_line,
        symbol.end_line,
        symbol.name_line,
        scope,
        signatures.to_keep(symbol.signature, lines, symbol.name_line),
    )


def _place(chunk: Chunk) -> chunk_rows.Place:
    kind = _CHUNK_KINDS[chunk.kind]
    return chunk.start_line, chunk.end_line, chunk.start_byte, chunk.end_byte, kind, chunk.symbol


class _Keys(dict[str, tuple[int, ...]]):
    """Word -> the keys of its terms, filled as words are met."""

    def __missing__(self, word: str) -> tuple[int, ...]:
        if len(self) > _KNOWN_WORDS:
            self.clear()
        found = self[word] = tuple(map(tokenizer.term_key, tokenizer.terms_of(word)))
        return found


_keys = _Keys()
_KNOWN_WORDS = 80_000


def _pack_terms(counted: Counter[str], symbols: Sequence[Symbol]) -> tuple[bytes, int, int]:
    """The packed row, and the number of terms in the body and in the defined names."""
    keys_of = _keys
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

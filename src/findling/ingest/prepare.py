"""One file's bytes to the rows that the index keeps of it. Pure: no I/O, no knowledge of the store's tables.

This is what a worker process does for each file: decode, find symbols, cut chunks, make terms and trigrams.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from findling import tokenizer
from findling.ingest import chunks as chunking
from findling.ingest.decoding import Decoded, decode
from findling.ingest.languages import Language, language_of
from findling.ingest.marks import content_marks, looks_secret
from findling.ingest.syntax import parse
from findling.store import signatures, term_rows
from findling.store.trigrams import file_trigrams
from findling.store.trigrams import readable as as_indexed
from findling.types import Chunk, SkippedFile, Symbol

HEAD_BYTES = 4096
"""How much of a file language and content marks are judged by."""

_HEAD_COMMENT_CHARS = 1500
"""Where the comment that introduces a file is looked for."""

_TOP_KINDS = frozenset(("class", "struct", "enum", "trait", "interface", "type_alias", "module"))
_MAX_CONTEXT_NAMES = 12
"""Names of symbols that begin inside a chunk and are repeated in its context field."""

_UNPARSED_BYTES = 1_000_000
"""Larger files (only reached when the size limit is raised) are chunked without a syntax tree."""

SymbolRow = tuple[str, str, int, int, int, int, str, str]
"""name, kind, parent, start line, end line, name line, scope (qualified name without the name), signature."""

ChunkRow = tuple[int, int, int, int, str, int, tuple[str, ...]]
"""start line, end line, start byte, end byte, kind, symbol, headings (prose only)."""


@dataclass(slots=True)
class Prepared:
    """Everything that the index keeps of one content; lists are in file order.

    ``documents`` are (body, context) term strings, one per chunk; ``names`` the file's name terms for the text
    index; ``problem`` says why there are no symbols ('' when nothing went wrong).
    """

    language: str
    kind: str
    lines: int
    encoding: str
    generated: bool
    problem: str
    symbols: list[SymbolRow]
    chunks: list[ChunkRow]
    documents: list[tuple[str, str]]
    names: str
    terms: bytes
    body_terms: int
    name_terms: int
    comment_terms: int
    trigrams: bytes


def prepare(path: str, data: bytes, *, with_syntax: bool = True) -> Prepared | SkippedFile:
    """What the index keeps of ``data`` at ``path``, or why it keeps nothing."""
    head = data[:HEAD_BYTES]
    if looks_secret(data, path):
        return SkippedFile(path, "secret", "it contains a private key")
    decoded = decode(data)
    if not isinstance(decoded, Decoded):
        return SkippedFile(path, decoded.reason, decoded.detail)
    marks = content_marks(head)
    if "minified" in marks:
        return SkippedFile(path, "minified", "its lines are too long for source code")
    language = language_of(path, head)
    text = decoded.text
    symbols: Sequence[Symbol] = ()
    problem = ""
    if with_syntax and language.grammar and len(data) <= _UNPARSED_BYTES:
        syntax = parse(text.encode("utf-8", "surrogatepass"), language.id)
        symbols, problem = syntax.symbols, syntax.problem
    elif language.grammar:
        problem = "not_parsed"
    cut = chunking.chunk_file(text, language.id, language.kind, symbols)
    return _rows(text, data, decoded.encoding, language, symbols, cut, problem, "generated" in marks)


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
    raw = text if text.isascii() else text.encode("utf-8", "surrogatepass")
    documents: list[tuple[str, str]] = []
    counted: Counter[str] = Counter()
    starts = [symbol.start_line for symbol in symbols]
    first = 0
    for chunk in cut:
        piece = raw[chunk.start_byte : chunk.end_byte]
        piece = piece if isinstance(piece, str) else piece.decode("utf-8", "surrogatepass")
        words = tokenizer.words(chunking.readable(piece, chunk, language.id))
        counted.update(words)
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
    comments = _comments(text, language)
    comments.extend(symbol.doc for symbol in symbols if symbol.doc)
    names_text = " ".join({symbol.name for symbol in symbols})
    packed, lengths = _pack_terms(counted, symbols, comments, _head_comment(text, language))
    return Prepared(
        language=language.id,
        kind=language.kind,
        lines=text.count("\n") + (not text.endswith("\n")),
        encoding=encoding,
        generated=generated,
        problem=problem,
        symbols=[_symbol_row(symbol, lines) for symbol in symbols],
        chunks=[_chunk_row(chunk, language.kind) for chunk in cut],
        documents=documents,
        names=" ".join(dict.fromkeys(tokenizer.terms(names_text))),
        terms=packed,
        body_terms=lengths[0],
        name_terms=lengths[1],
        comment_terms=lengths[2],
        trigrams=file_trigrams(as_indexed(data)),
    )


def _symbol_row(symbol: Symbol, lines: Sequence[str]) -> SymbolRow:
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


def _chunk_row(chunk: Chunk, kind: str) -> ChunkRow:
    headings = chunk.breadcrumb if kind == "docs" else ()
    return (
        chunk.start_line,
        chunk.end_line,
        chunk.start_byte,
        chunk.end_byte,
        chunk.kind,
        chunk.symbol,
        headings,
    )


class _Keys(dict[str, tuple[int, ...]]):
    """Word -> the keys of its terms, filled as words are met."""

    def __missing__(self, word: str) -> tuple[int, ...]:
        if len(self) > _KNOWN_WORDS:
            self.clear()
        found = self[word] = tuple(map(tokenizer.term_key, tokenizer.terms_of(word)))
        return found


_keys = _Keys()
_KNOWN_WORDS = 300_000


def _pack_terms(
    counted: Counter[str], symbols: Sequence[Symbol], comments: Iterable[str], head: str
) -> tuple[bytes, tuple[int, int, int]]:
    """The packed row, and the number of terms in body, names and comments."""
    keys_of = _keys
    counts: dict[int, int] = {}
    get = counts.get
    for word, count in counted.items():
        for key in keys_of[word]:
            counts[key] = get(key, 0) + count
    flags: dict[int, int] = {}

    def mark(words: Iterable[str], flag: int) -> None:
        for word in words:
            for key in keys_of[word]:
                flags[key] = flags.get(key, 0) | flag

    names = {symbol.name for symbol in symbols}
    top = {symbol.name for symbol in symbols if symbol.kind in _TOP_KINDS or symbol.parent < 0}
    name_words = [word for name in names for word in tokenizer.words(name)]
    mark(name_words, term_rows.IN_NAMES)
    mark((word for name in top for word in tokenizer.words(name)), term_rows.IN_TOP_NAMES)
    comment_words = tokenizer.words("\n".join(comments))
    mark(set(comment_words), term_rows.IN_COMMENTS)
    mark(tokenizer.words(head), term_rows.IN_HEAD)
    lengths = (
        sum(counts.values()),
        sum(len(keys_of[word]) for word in name_words),
        len(comment_words),
    )
    return term_rows.pack(counts, flags), lengths


@lru_cache(maxsize=256)
def _comment_pattern(line_markers: tuple[str, ...], blocks: tuple[tuple[str, str], ...]) -> re.Pattern[str] | None:
    choices = [f"{re.escape(start)}[\\s\\S]{{0,4000}}?{re.escape(end)}" for start, end in blocks]
    choices += [f"(?:^|(?<=[\\s;{{}}])){re.escape(marker)}[^\\n]*" for marker in line_markers]
    return re.compile("|".join(choices), re.MULTILINE) if choices else None


def _comments(text: str, language: Language) -> list[str]:
    if language.kind != "code":
        return []
    pattern = _comment_pattern(language.line_comments, language.block_comments)
    return pattern.findall(text) if pattern else []


def _head_comment(text: str, language: Language) -> str:
    """The first comments of a source file, or the first lines of a document."""
    head = text[:_HEAD_COMMENT_CHARS]
    if language.kind != "code":
        return head[:300]
    return " ".join(_comments(head, language)[:20])

"""Finds the documented definitions of a source file, and where their comments are.

An evaluation uses a comment as the question, and must then hide it from the search: `without` takes its bytes out of
the text. Native parsers run inside these calls and may crash: call them in a worker process.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final, NamedTuple

from findling.model.languages import language_of
from findling.reading.syntax import parse
from findling.reading.syntax_tree import parse_tree

DEADLINE_S: Final = 5.0
"""Processor time for one file. Generous, because nobody waits for the answer."""

MIN_DOC_CHARACTERS: Final = 20
"""Shorter comments are left out: they say no more than the name of the definition."""

RECOGNISED_WORDS: Final = 6
"""How many of its first words a comment is recognised by."""

BEFORE_BYTES: Final = 400
"""How far before a definition its documenting string (``@doc``) is looked for; attributes may stand between."""

_WORD = re.compile(r"\w+")
_OPENING = re.compile(rb"""[\w~]*(?:"{3}|'{3}|["'`(\[{|<])""")
_CLOSING = re.compile(rb"""(?:"{3}|'{3}|["'`)\]}|>])\s*$""")


class Documented(NamedTuple):
    """A definition with a comment: ``doc`` is its first paragraph without markers, ``spans`` are the bytes
    (first, end) of the whole comment, of a string only what is between its quotes."""

    name: str
    kind: str
    language: str
    start_line: int
    end_line: int
    doc: str
    spans: tuple[tuple[int, int], ...]


class _Place(NamedTuple):
    start: int
    end: int


def documented(path: str, text_utf8: bytes) -> list[Documented] | None:
    """The documented definitions in order of their start; None where the file has no syntax tree."""
    language = language_of(path, text_utf8[:4096])
    if language.kind == "docs" or language.grammar is None:
        return None
    symbols = [
        symbol
        for symbol in parse(text_utf8, language.id, deadline_s=DEADLINE_S).symbols
        if len(symbol.doc) >= MIN_DOC_CHARACTERS
    ]
    if not symbols:
        return []
    places = _places(text_utf8, language.grammar, time.thread_time() + DEADLINE_S)
    if places is None:
        return None
    comments, strings = places
    ends = [place.end for place in comments]
    found = []
    for symbol in symbols:
        words = _words(symbol.doc.encode())[:RECOGNISED_WORDS]
        chain = _comments_before(text_utf8, comments, ends, symbol.start_byte)
        spans = tuple(chain) if chain and _begins(text_utf8, chain, words) else None
        if spans is None:
            spans = _string(text_utf8, strings, symbol.start_byte, symbol.end_byte, words)
        if spans:
            found.append(
                Documented(symbol.name, symbol.kind, language.id, symbol.start_line, symbol.end_line, symbol.doc, spans)
            )
    return found


def without(text: bytes, spans: Sequence[tuple[int, int]]) -> bytes:
    """``text`` without the bytes of ``spans``. Line breaks stay, so that lines keep their numbers."""
    kept: list[bytes] = []
    at = 0
    for start, end in sorted(set(spans)):
        if end <= at:
            continue
        start = max(start, at)
        kept += [text[at:start], b"\n" * text.count(b"\n", start, end)]
        at = end
    return b"".join([*kept, text[at:]])


def _words(text: bytes) -> list[str]:
    return _WORD.findall(text.decode("utf-8", "replace").lower())


def _places(text: bytes, grammar: str, deadline: float) -> tuple[list[_Place], list[_Place]] | None:
    """The comments and the strings of a file, outermost, in order; None without a tree."""
    tree = parse_tree(text, grammar, deadline)
    if tree is None:
        return None
    comments: list[_Place] = []
    strings: list[_Place] = []
    stack = [tree.root_node]
    while stack:
        node = stack.pop()
        kind = node.type
        if node.is_named and "comment" in kind:
            comments.append(_Place(node.start_byte, node.end_byte))
        elif node.is_named and ("string" in kind or "heredoc" in kind or kind == "sigil"):
            strings.append(_Place(node.start_byte, node.end_byte))
        else:
            stack.extend(reversed(node.children))
    return comments, strings


def _comments_before(text: bytes, comments: Sequence[_Place], ends: Sequence[int], start: int) -> list[tuple[int, int]]:
    """The comments that stand on the lines right before ``start``, without a blank line between."""
    chain: list[tuple[int, int]] = []
    below = start
    at = bisect_right(ends, start) - 1
    while at >= 0:
        place = comments[at]
        between = text[place.end : below]
        ended = text[place.end - 1 : place.end] == b"\n"  # some grammars count the line break to the comment
        if between.strip() or between.count(b"\n") + ended > 1:
            break
        chain.append((place.start, place.end))
        below = place.start
        at -= 1
    return chain[::-1]


def _begins(text: bytes, spans: Sequence[tuple[int, int]], words: Sequence[str]) -> bool:
    """Whether the words follow each other somewhere in ``spans``."""
    have = _words(b"\n".join(text[start:end] for start, end in spans))
    return bool(words) and any(have[at : at + len(words)] == words for at in range(len(have) - len(words) + 1))


def _string(
    text: bytes, strings: Sequence[_Place], start: int, end: int, words: Sequence[str]
) -> tuple[tuple[int, int], ...] | None:
    """The span between the quotes of the string that documents a definition: inside it, else right before it."""
    inside = [place for place in strings if start <= place.start and place.end <= end]
    before = [place for place in reversed(strings) if start - BEFORE_BYTES <= place.end <= start]
    for place in (*inside[:1], *before):
        data = text[place.start : place.end]
        opening, closing = _OPENING.match(data), _CLOSING.search(data)
        if opening and closing and opening.end() <= closing.start() and _begins(text, [place], words):
            return ((place.start + opening.end(), place.start + closing.start()),)
    return None


def comment_spans(path: str, text_utf8: bytes) -> list[tuple[int, int]] | None:
    """(first byte, end) of each comment of a file, in order; none in prose. None without a grammar, or out of time.

    A ``#!`` line does not count, nor do strings that document a function.
    """
    language = language_of(path, text_utf8[:4096])
    if language.kind == "docs":
        return []
    places = _places(text_utf8, language.grammar, time.thread_time() + DEADLINE_S) if language.grammar else None
    if places is None:
        return None
    return [(start, end) for start, end in places[0] if start or not text_utf8.startswith(b"#!")]

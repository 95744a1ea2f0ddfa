"""Pairs out of source files: comment and what it stands above, docstring and its function, test's title and its body.

Pure, and by lines alone: a comment belongs to the lines below it that are indented deeper, which holds in every
language here. What is defined where is guessed, not parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from findling.model.languages import LANGUAGES
from training.pairs import BODY_CHARS

LEAST_BODY_CHARS = 90
_JOIN_BELOW_CHARS = 120
"""A piece below this takes in what follows at the same depth: a decorator, a signature over several lines."""

_LEAST_TITLE_BODY_CHARS = 60
_MOST_COMMENT_LINES = 60

_NAME = re.compile(
    r"\b(?:def|func|fn|fun|function|class|struct|interface|trait|enum|impl|module|defmodule|defmacro|defp|object|type"
    r"|const|data|newtype|local function|protocol|extension|val|var|let|record|namespace|sub|proc)\s+"
    r"(?:\([^)\n]{0,80}\)\s*)?([A-Za-z_][\w.!?:]*)"
)
_CALLED = re.compile(r"\b([A-Za-z_]\w{2,})\s*(?:\(|=|::)")
_IMPORT = re.compile(
    r"\s*(?:import|from|package|use|using|require|include|#include|#pragma|#ifn?def|#define|namespace|module|export \*"
    r"|@import|extern crate|local \w+ = require|const \w+ = require|set |open |\W*$)"
)
_CLOSING = re.compile(
    r"[})\]{]|end\b|else\b|elif\b|except\b|catch\b|finally\b|rescue\b|then\b|fi\b|done\b|where\b|EOF\b"
)
_DOCSTRING = re.compile(r'\s*(?:[rRuUbB]{0,2}|~[sS])?("""|\'\'\')')
_ELIXIR_DOC = re.compile(r'\s*@(?:module)?doc\s+(?:~[sS])?"""\s*$')
_TITLE = re.compile(
    r"^\s*(?:[\w.]*\b(?:it|test|specify|describe|context|scenario|should|feature|Run|testset|testcase|behavior)\b"
    r"|@test|TEST_CASE|\bSECTION)(?:\.\w+)?\s*\(?\s*([\"'`])([^\"'`\n]{15,140})\1"
)
_BACKTICKED = re.compile(r"\bfun `([^`\n]{15,140})`")
_OPENING = re.compile(r"^(?:/\*\*?|\*/|\*|///?!?|//!|#+!?|--+\s?[|^]?|--\[+|;+|\{-\s?\||-\}|%+|\"\"\")\s?")
_ENDING = re.compile(r"(?:\*+/|-\}|\]\]|\"\"\")$")
_FIELD = re.compile(
    r"^[@\\:](?:param|returns?|throws|since|see|author|type|template|var|deprecated|internal|example|default|rtype"
    r"|raises|private|public|property|tparam|treturn|field|note|sa|ingroup|p )"
)
_BRIEF = re.compile(r"^[@\\](?:brief|summary|desc|description|function)\s+(.*)")
_SECTION = re.compile(
    r"^(?:Args|Arguments|Parameters|Returns?|Raises|Examples?|Yields|Notes?|See Also|Usage|Globals|Outputs?"
    r"|# ?(?:Examples?|Errors|Panics|Safety|Arguments))\s*:?$",
    re.IGNORECASE,
)
_MARKUP = (
    (re.compile(r"<[^>\n]{1,60}>"), " "),
    (re.compile(r"\{@\w+\s+([^}]*)\}"), r"\1"),
    (re.compile(r"``?([^`]*)``?"), r"\1"),
    (re.compile(r"\[([^\]]+)\]\([^)]*\)"), r"\1"),
    (re.compile(r"\s+"), " "),
)
_WORDS_OF_A_PARAGRAPH = 5


class Found(NamedTuple):
    """See `Pair`."""

    kind: str
    query: str
    body: str
    name: str
    context: tuple[str, ...]


def code_pairs(text: str, language: str) -> Iterator[Found]:
    """All pairs of one file."""
    lines = text.split("\n")
    known = LANGUAGES.get(language)
    line_marks = known.line_comments if known else ()
    block_marks = known.block_comments if known else ()
    enclosing: list[tuple[int, str]] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        stripped = line.lstrip()
        if not stripped:
            at += 1
            continue
        indent = len(line) - len(stripped)
        end = _comment_end(lines, at, stripped, line_marks, block_marks)
        if end > at:
            yield from _commented(lines, at, end, indent, _names(enclosing, indent))
            at = end
            continue
        if language == "elixir" and _ELIXIR_DOC.match(line):
            end = _until(lines, at + 1, '"""')
            yield from _commented(lines, at + 1, end, indent, _names(enclosing, indent), skip=1)
            at = end + 1
            continue
        yield from _titled(lines, at, line)
        if match := _NAME.search(line):
            while enclosing and enclosing[-1][0] >= indent:
                enclosing.pop()
            if language == "python" and stripped.startswith(("def ", "class ", "async def ")):
                yield from _docstring(lines, at, indent, match[1].rstrip(":."), _names(enclosing, indent))
            enclosing.append((indent, match[1].rstrip(":.")))
        at += 1


def clean(comment: Sequence[str]) -> str:
    """What a comment says in its first paragraph, without marks, fields and examples."""
    said: list[str] = []
    for line in comment:
        plain = _ENDING.sub("", _OPENING.sub("", line.strip())).strip()
        if plain.startswith(("```", ">>>", "iex>", "$ ")) or _SECTION.match(plain):
            break
        if brief := _BRIEF.match(plain):
            plain = brief[1]
        elif _FIELD.match(plain):
            if said:
                break
            continue
        if not plain and len(" ".join(said).split()) >= _WORDS_OF_A_PARAGRAPH:
            break
        said.append(plain)
    joined = " ".join(said)
    for pattern, replacement in _MARKUP:
        joined = pattern.sub(replacement, joined)
    return joined.strip()


def _names(enclosing: Sequence[tuple[int, str]], indent: int) -> tuple[str, ...]:
    return tuple(name for depth, name in enclosing if depth < indent)[-3:]


def _comment_end(
    lines: Sequence[str], at: int, stripped: str, line_marks: tuple[str, ...], block_marks: tuple[tuple[str, str], ...]
) -> int:
    """The line behind the comment that begins at ``at``; ``at`` where none does."""
    for opening, closing in block_marks:
        if stripped.startswith(opening):
            return min(len(lines), _until(lines, at, closing, len(opening)) + 1)
    end = at
    while end < len(lines) and lines[end].lstrip().startswith(line_marks) and line_marks:
        end += 1
    return end


def _until(lines: Sequence[str], at: int, closing: str, behind: int = 0) -> int:
    """The first line from ``at`` that holds ``closing``; the last one of the search where none does."""
    last = min(len(lines) - 1, at + _MOST_COMMENT_LINES)
    for place in range(at, last + 1):
        if closing in lines[place].lstrip()[behind if place == at else 0 :]:
            return place
    return last


def _block(lines: Sequence[str], at: int) -> str:
    """The lines that belong together from ``at``: deeper ones, and what closes them."""
    first = lines[at]
    indent = len(first) - len(first.lstrip())
    taken, size = [first], len(first)
    for line in lines[at + 1 :]:
        stripped = line.lstrip()
        deeper = not stripped or len(line) - len(stripped) > indent
        if not deeper and not _CLOSING.match(stripped) and size >= _JOIN_BELOW_CHARS:
            break
        if not stripped and size < _JOIN_BELOW_CHARS and len(taken) > 1 and not taken[-1].strip():
            break
        size += len(line) + 1
        if size > BODY_CHARS:
            break
        taken.append(line)
    return "\n".join(taken).rstrip()


def _commented(
    lines: Sequence[str], at: int, end: int, indent: int, context: tuple[str, ...], skip: int = 0
) -> Iterator[Found]:
    query = clean(lines[at : min(end, at + _MOST_COMMENT_LINES)])
    below = end + skip
    if not query or below >= len(lines):
        return
    while skip and below < len(lines) and re.match(r"\s*(?:@\w+|$)", lines[below]):
        below += 1  # attributes between an Elixir doc and what it is of
    heads_file = at <= 3 and (not lines[below].strip() or bool(_IMPORT.match(lines[below])))
    if heads_file:
        while below < len(lines) and _IMPORT.match(lines[below]):
            below += 1
        body = "\n".join(lines[below : below + 60])[:BODY_CHARS]
        if len(body) >= LEAST_BODY_CHARS * 3:
            yield Found("file", query, body, "", ())
        return
    if below >= len(lines) or not lines[below].strip():
        return
    body = _block(lines, below)
    if len(body) >= LEAST_BODY_CHARS:
        yield Found("comment", query, body, _name_of(body), context)


def _docstring(lines: Sequence[str], at: int, indent: int, name: str, context: tuple[str, ...]) -> Iterator[Found]:
    below = at
    while below < min(len(lines) - 1, at + 20) and not lines[below].rstrip().endswith(":"):
        below += 1
    start = below + 1
    if start >= len(lines) or not (match := _DOCSTRING.match(lines[start])):
        return
    end = _until(lines, start, match[1], match.end() - (len(lines[start]) - len(lines[start].lstrip())))
    said = [line.replace(match[1], "") for line in lines[start : end + 1]]
    body = _block([*lines[at:start], *lines[end + 1 : end + 80]], 0)
    if len(body) >= LEAST_BODY_CHARS:
        yield Found("docstring", clean(said), body, name, context)


def _titled(lines: Sequence[str], at: int, line: str) -> Iterator[Found]:
    match = _TITLE.match(line)
    title = match[2] if match else ""
    if not title and (fun := _BACKTICKED.search(line)):
        title = fun[1]
    if title and at + 1 < len(lines):
        # The title's own line is not part of the answer: it would give it away.
        body = "\n".join(_block(lines, at).split("\n")[1:])
        if len(body) >= _LEAST_TITLE_BODY_CHARS:
            yield Found("title", title, body, "", ())


def _name_of(body: str) -> str:
    head = body[:300]
    match = _NAME.search(head) or _CALLED.search(head)
    return match[1].rstrip(":.") if match else ""

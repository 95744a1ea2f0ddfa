"""Reads Jupyter notebooks: the cells' texts, and where each character of them lies in the raw JSON.

Knows format 4, and the work sheets of format 3. Outputs are left out: they are results, often binary, of the code in
the cells.
"""

from __future__ import annotations

import json
import re
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, chain

from msgspec import Struct
from msgspec.structs import replace

from findling.model.json_places import items, members
from findling.model.languages import find_language
from findling.reading.parsed import Symbol
from findling.reading.spans import characters, locate
from findling.reading.syntax_walk import MAX_SYMBOLS

# --- syntax notebooks ---------------------------------------------------------------------------------------------
# Finds a notebook's definitions and uses. Each code cell is parsed by itself; positions are those in the raw JSON.
#
# Knows cells and where their characters lie. The function that parses a cell is passed in.

Parse = Callable[[bytes, str], tuple[Sequence[Symbol], str]]
"""(code, language id) -> its definitions, and a problem as `syntax.Syntax` names it."""

Use = tuple[int, int, str]
"""Line from 1, column from 0 in characters, qualified name of what encloses it."""

_MAGIC = re.compile(r"^([ \t]*)[%!?](?=\S)", re.MULTILINE)
_CELL_MAGIC = re.compile(r"\s*%%(?!(?:time|timeit|capture|prun)\b)")
"""A magic by which another program runs the cell."""

_BY_WEIGHT = ("", "parse_error", "no_grammar", "too_many_symbols", "timeout")
"""Problems of cells, the worst last. The worst one met is the notebook's."""


def symbols(text: str, parse: Parse, deadline: float) -> tuple[list[Symbol], str]:
    """The definitions in all cells, in order, as ranges of ``text``, and the worst problem met.

    No cell is begun after ``deadline``, a value of ``time.thread_time``.
    """
    found: list[Symbol] = []
    spans: list[tuple[int, int, int]] = []
    problem = ""
    for cell, language in _code(text):
        if time.thread_time() > deadline:
            problem = "timeout"
            break
        if len(found) >= MAX_SYMBOLS:
            problem = max(problem, "too_many_symbols", key=_BY_WEIGHT.index)
            break
        own, own_problem = parse(_without_magic(cell.text, language).encode("utf-8", "surrogatepass"), language)
        problem = max(problem, own_problem, key=_BY_WEIGHT.index)
        before = len(found)
        found += (replace(symbol, parent=symbol.parent + before) if symbol.parent >= 0 else symbol for symbol in own)
        spans += _raw_spans(cell, own)
    places = locate(text, chain.from_iterable(spans))
    placed = [
        replace(
            symbol,
            start_line=places[start][1],
            end_line=places[end][1],
            start_byte=places[start][0],
            end_byte=places[end][0],
            name_line=places[name][1],
        )
        for symbol, (start, end, name) in zip(found, spans, strict=True)
    ]
    return placed, problem


def uses(text: str, find: Callable[[bytes, str], Sequence[Use]], deadline: float) -> list[Use]:
    """The uses of a name in all cells, as places of ``text``. ``find`` gives those in one cell's code.

    No cell is begun after ``deadline``, a value of ``time.thread_time``.
    """
    found: list[tuple[int, str]] = []
    for cell, language in _code(text):
        if time.thread_time() > deadline:
            break
        own = find(_without_magic(cell.text, language).encode("utf-8", "surrogatepass"), language)
        starts = _line_starts(cell.text) if own else []
        found += ((cell.raw_start(starts[line - 1] + column), enclosing) for line, column, enclosing in own)
    places = locate(text, (raw for raw, _ in found))
    starts = _line_starts(text) if found else []
    return [((line := places[raw][1]), raw - starts[line - 1], enclosing) for raw, enclosing in found]


def _code(text: str) -> Iterator[tuple[Cell, str]]:
    for cell in notebook_cells(text) or ():
        known = find_language(cell.language)
        if cell.kind == "code" and known is not None and known.kind == "code" and not _CELL_MAGIC.match(cell.text):
            yield cell, known.id


def _without_magic(code: str, language: str) -> str:
    """The code with shell lines turned into comments, of the same length."""
    return _MAGIC.sub(r"\1#", code) if language == "python" else code


def _raw_spans(cell: Cell, own: Sequence[Symbol]) -> list[tuple[int, int, int]]:
    """For each symbol of a cell: where it begins and ends in the raw text, and where its name's line begins."""
    if not own:
        return []
    chars = characters(cell.text, [at for symbol in own for at in (symbol.start_byte, symbol.end_byte)])
    starts = _line_starts(cell.text)
    return [
        (
            cell.raw_start(chars[symbol.start_byte]),
            cell.raw_end(chars[symbol.end_byte]),
            # A line may be made of several JSON strings, and begin in an earlier one than the symbol.
            cell.raw_start(max(starts[symbol.name_line - 1], chars[symbol.start_byte])),
        )
        for symbol in own
    ]


def _line_starts(text: str) -> list[int]:
    """Where each line begins, in characters."""
    return [0, *accumulate(len(line) + 1 for line in text.split("\n"))]


MAX_CELLS = 20_000
"""The most cells that are read from a notebook."""

_ESCAPE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.", re.DOTALL)
_PIECES = re.compile(r'((?:[^"\\]++|\\.)++)|"\s*,\s*"|(.)', re.DOTALL)


class Part(Struct, frozen=True):
    """One JSON string of a cell: ``raw`` is where its first character lies in the file (after the quote),
    ``at`` where its text begins in the cell; ``steps`` are (place in the cell, place in the file) behind each
    escape sequence, in order."""

    at: int
    raw: int
    raw_end: int
    steps: tuple[tuple[int, int], ...]


class Cell(Struct, frozen=True):
    """One cell: ``kind`` is code, markdown, raw (or another word of the format); ``number`` counts from 1."""

    number: int
    kind: str
    language: str
    text: str
    parts: tuple[Part, ...]

    def raw_start(self, at: int) -> int:
        """Where the character at ``at`` of the cell's text lies in the raw text."""
        return self._raw(max(bisect_right(self.parts, at, key=lambda part: part.at) - 1, 0), at)

    def raw_end(self, at: int) -> int:
        """Where the text before ``at`` ends in the raw text. Stays inside its string instead of going to the next."""
        i = max(bisect_right(self.parts, at, key=lambda part: part.at) - 1, 0)
        while i > 0 and self.parts[i].at >= at:
            i -= 1
        return self._raw(i, at)

    def _raw(self, part_number: int, at: int) -> int:
        part = self.parts[part_number]
        i = bisect_right(part.steps, (at, part.raw_end)) - 1
        near, raw = part.steps[i] if i >= 0 else (part.at, part.raw)
        return min(raw + at - near, part.raw_end)


def notebook_cells(text: str) -> list[Cell] | None:
    """The cells of a notebook in order, or None when the text is not a notebook."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(whole, dict):
        return None
    language = _kernel_language(whole)
    cells: list[Cell] = []
    for kind, own_language, strings in _sources(text):
        if len(cells) >= MAX_CELLS:
            break
        cells.append(_cell(text, len(cells) + 1, kind, own_language or language, strings))
    return cells if cells or isinstance(whole.get("cells", whole.get("worksheets")), list) else None


def readable(piece: str, language: str) -> str:
    """A chunk's text as people read it, for words and vectors. ``piece`` is the chunk's raw text.

    Of a notebook the cell's text without JSON escapes; of HTML the text and text-like attributes without tags; of
    anything else the piece itself.
    """
    if language == "html":
        from findling.reading.formats.model import html_text  # its parser takes 8 ms to import

        return html_text(piece)
    return readable_json(piece) if language == "notebook" else piece


def readable_json(raw: str) -> str:
    """The text of a slice of a cell's source, which begins and ends inside JSON strings."""
    return "".join(_ESCAPE.sub(_unescape, found[1]) if found[1] else found[2] or "" for found in _PIECES.finditer(raw))


def _unescape(found: re.Match[str]) -> str:
    try:
        return str(json.loads(f'"{found[0]}"'))
    except ValueError:
        return found[0]


def _kernel_language(whole: dict[str, object]) -> str:
    metadata = whole.get("metadata")
    if isinstance(metadata, dict):
        for section, key in (("kernelspec", "language"), ("language_info", "name")):
            inner = metadata.get(section)
            name = inner.get(key) if isinstance(inner, dict) else None
            if isinstance(name, str) and name:
                return name.lower()
    return "python"


def _cell(text: str, number: int, kind: str, language: str, strings: list[tuple[int, int]]) -> Cell:
    parts: list[Part] = []
    pieces: list[str] = []
    at = 0
    for start, end in strings:
        raw = text[start:end]
        steps: list[tuple[int, int]] = []
        out: list[str] = []
        behind = 0
        own = at
        for found in _ESCAPE.finditer(raw):
            plain = _unescape(found)
            out += (raw[behind : found.start()], plain)
            own += found.start() - behind + len(plain)
            behind = found.end()
            steps.append((own, start + behind))
        out.append(raw[behind:])
        piece = "".join(out)
        parts.append(Part(at, start, end, tuple(steps)))
        pieces.append(piece)
        at += len(piece)
    return Cell(number, kind, language, "".join(pieces), tuple(parts))


def _sources(text: str) -> Iterator[tuple[str, str, list[tuple[int, int]]]]:
    """(cell type, language, spans of the source's strings) of each cell, read from the raw JSON."""
    for start in _cells(text):
        kind, language, strings = "", "", list[tuple[int, int]]()
        for member in members(text, start):
            if member.key == "cell_type" and isinstance(member.value, str):
                kind = member.value
            elif member.key == "language" and isinstance(member.value, str):
                language = member.value
            elif member.key in ("source", "input"):
                listed = text[member.at] == "["
                spans = items(text, member.at) if listed else [(member.at, member.end)]
                strings += [(first + 1, end - 1) for first, end in spans if text[first] == '"']
        if kind and strings:
            yield kind, language, strings


def _cells(text: str) -> Iterator[int]:
    """Where each cell begins: those of the file, and of its work sheets."""
    for member in members(text, text.index("{")):
        lists = [member.at] if member.key == "cells" else []
        if member.key == "worksheets" and text[member.at] == "[":
            sheets = [start for start, _ in items(text, member.at) if text[start] == "{"]
            lists = [inner.at for sheet in sheets for inner in members(text, sheet) if inner.key == "cells"]
        for cells in lists:
            yield from (start for start, _ in items(text, cells) if text[start] == "{") if text[cells] == "[" else ()

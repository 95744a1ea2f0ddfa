"""Finds a notebook's definitions and uses. Each code cell is parsed by itself; positions are those in the raw JSON.

Knows cells and where their characters lie. The function that parses a cell is passed in.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, chain

from msgspec.structs import replace

from findling.model.languages import find_language
from findling.model.types import Symbol
from findling.reading.notebooks import Cell, notebook_cells
from findling.reading.spans import characters, locate
from findling.reading.syntax_walk import MAX_SYMBOLS

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

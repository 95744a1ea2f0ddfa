"""Cuts a file's text into chunks, whatever kind of content it is.

Chooses the way for each kind: ``chunk_code``, ``chunk_docs``, or cell by cell for notebooks. ``chunk_docs`` is imported
when the first document comes, because most files are code.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from msgspec.structs import replace

from findling.model.languages import find_language
from findling.model.types import Kind
from findling.reading.chunk_code import chunk_code
from findling.reading.limits import DATA, DEFAULT, DOCS, SPLIT_LEVEL, CodeLimits, DocLimits
from findling.reading.notebooks import Cell, notebook_cells
from findling.reading.parsed import Chunk, Symbol
from findling.reading.regions import HOSTS, embedded_regions
from findling.reading.spans import characters, grow, locate


def chunk_file(
    text: str,
    language: str,
    kind: Kind,
    symbols: Sequence[Symbol] = (),
    *,
    code: CodeLimits = DEFAULT,
    docs: DocLimits = DOCS,
    data: CodeLimits = DATA,
) -> list[Chunk]:
    """The chunks of a file in order, at most ``MAX_CHUNKS`` (``too_many`` tells when they were made longer for that).

    ``text`` is the decoded file without its byte-order mark; ``text.encode()[c.start_byte:c.end_byte]`` is a chunk's
    exact text. ``symbols`` are the file's, in any kind of file.
    """
    if language == "notebook" and (cells := notebook_cells(text)) is not None:
        return _chunk_notebook(text, cells, symbols, code, docs)
    if language == "notebook" or kind == "data":
        return chunk_code(text, symbols, limits=data)
    if kind == "docs":
        from findling.reading.chunk_docs import chunk_docs  # only documents need it

        return chunk_docs(text, limits=docs, language=language)
    return chunk_code(text, symbols, limits=code, regions=_regions(text, language) if language in HOSTS else ())


def _regions(text: str, language: str) -> list[tuple[int, int]]:
    """First and last lines of the parts in languages of their own."""
    raw = text.encode("utf-8", "surrogatepass")
    return [
        (r.start_line, r.start_line + raw[r.start_byte : r.end_byte].count(b"\n"))
        for r in embedded_regions(text, language)
    ]


def _chunk_notebook(
    text: str, cells: Sequence[Cell], symbols: Sequence[Symbol], code: CodeLimits, docs: DocLimits
) -> list[Chunk]:
    """The chunks of all cells as ranges of the raw file. A breadcrumb begins with the headings above its cell."""
    strings = locate(text, [at for cell in cells for part in cell.parts for at in (part.raw, part.raw_end)])
    found: list[tuple[int, int, Chunk]] = []
    path: list[tuple[int, str]] = []
    for cell in cells:
        known = find_language(cell.language)
        if cell.kind == "code" and (known is None or known.kind == "code"):
            above = tuple(title for _, title in path)
            own, kept = _inside(cell, symbols, strings)
            pieces = [
                replace(
                    c,
                    symbol=kept[c.symbol] if c.symbol >= 0 else -1,
                    breadcrumb=(*above, f"cell {cell.number}", *c.breadcrumb),
                    header=above[-1] if above else "",
                )
                for c in chunk_code(cell.text, own, limits=code)
            ]
        else:
            pieces, path = _prose_cell(cell, path, docs)
        positions = characters(cell.text, [at for c in pieces for at in (c.start_byte, c.end_byte)])
        found += [(cell.raw_start(positions[c.start_byte]), cell.raw_end(positions[c.end_byte]), c) for c in pieces]
    places = locate(text, [at for start, end, _ in found for at in (start, end)])
    return grow(
        [
            replace(
                chunk,
                start_line=places[start][1],
                end_line=places[end][1],
                start_byte=places[start][0],
                end_byte=places[end][0],
            )
            for start, end, chunk in found
        ]
    )


def _prose_cell(
    cell: Cell, path: list[tuple[int, str]], limits: DocLimits
) -> tuple[list[Chunk], list[tuple[int, str]]]:
    """Chunks of a cell of prose, and the heading path (level, title) behind it."""
    from findling.reading.chunk_docs import chunk_docs
    from findling.reading.outline import outline

    marks = [mark for mark in outline(cell.text, "markdown").marks if mark.title]
    levels = {mark.title: mark.level for mark in reversed(marks)}
    pieces: list[Chunk] = []
    for c in chunk_docs(cell.text, limits=limits):
        level = levels[c.breadcrumb[0]] if c.breadcrumb else SPLIT_LEVEL + 1
        titles = (*(title for above, title in path if above < level), *c.breadcrumb)
        header = titles[-1] if titles else ""
        pieces.append(replace(c, breadcrumb=(*titles, f"cell {cell.number}"), header=header))
    for mark in marks:
        if mark.level <= SPLIT_LEVEL:
            path = [*(entry for entry in path if entry[0] < mark.level), (mark.level, mark.title)]
    return pieces, path


def _inside(
    cell: Cell, symbols: Sequence[Symbol], places: dict[int, tuple[int, int]]
) -> tuple[list[Symbol], list[int]]:
    """The file's symbols that lie in a cell, as symbols of the cell, and their places among the file's. None where the
    cell's lines are not one raw line each."""
    first, last = places[cell.parts[0].raw], places[cell.parts[-1].raw_end]
    if last[1] - first[1] != len(cell.parts) - 1:
        return [], []
    start = bisect_left(symbols, first[0], key=lambda symbol: symbol.start_byte)
    behind = bisect_left(symbols, last[0], key=lambda symbol: symbol.start_byte)
    kept = [i for i in range(start, behind) if symbols[i].end_byte <= last[0]]
    position = {old: new for new, old in enumerate(kept)}
    shift = first[1] - 1
    own = [
        replace(
            symbols[i],
            parent=position.get(symbols[i].parent, -1),
            start_line=symbols[i].start_line - shift,
            end_line=symbols[i].end_line - shift,
            name_line=symbols[i].name_line - shift,
        )
        for i in kept
    ]
    return own, kept

"""Answers as what a page shows: lines with their colours, bars, addresses of the next steps, words for how sure it is.

Pure but for the colours' library: no request, no engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup
from msgspec import Struct

from findling.faces.web import addresses
from findling.faces.web.highlighting import highlighted
from findling.model.plurals import count
from findling.model.types import Edge, EdgeResult, FileMatches, Grade, Hit, SearchResult, SymbolHit
from findling.search.body import lines_of

GLANCE_LINES = 7
"""Of a place that is not shown in full."""

FIRST_LINES = 8
"""Matching lines of a file that are shown before it is asked for all."""

SURE, FAIRLY = 0.8, 0.5
"""From these confidences on an answer is called sure, and fairly sure; the second is `types.LOW_CONFIDENCE`."""


class Line(Struct, frozen=True):
    """``number`` 0: a gap, told by the html. ``matters``: it has what was asked for."""

    number: int
    html: Markup | str
    matters: bool = False


class Bar(Struct, frozen=True):
    """A signal's share: ``width`` of 100, to the left where it speaks against the place."""

    name: str
    words: str
    value: float
    width: float


class Place(Struct, frozen=True):
    """A hit as it is shown."""

    hit: Hit
    folder: str
    file: str
    lines: list[Line]
    address: str
    others: list[tuple[str, str]]
    """What the file's other good places are called, and where they are."""
    symbol: str
    similar: str
    bars: list[Bar]


def places(hits: Iterable[Hit], ref: str) -> list[Place]:
    return [_place(hit, ref) for hit in hits]


def _place(hit: Hit, ref: str) -> Place:
    folder, slash, file = hit.path.rpartition("/")
    name = hit.qualified_name or hit.name
    return Place(
        hit=hit,
        folder=folder + slash,
        file=file,
        lines=hit_lines(hit),
        address=addresses.of_file(hit.path, ref, (hit.start_line, hit.end_line)),
        others=[
            (
                f"{span.symbol or 'lines'} {span.start_line}–{span.end_line}",
                addresses.of_file(hit.path, ref, (span.start_line, span.end_line)),
            )
            for span in hit.others
        ],
        symbol=addresses.of_symbol(name, hit.path, ref) if name and hit.group == "code" else "",
        similar=addresses.of_similar(hit.path, hit.start_line, ref),
        bars=_bars(hit),
    )


def hit_lines(hit: Hit) -> list[Line]:
    """The lines of a place that is shown in full, else the first of its snippet."""
    rows = list(lines_of(hit.body))
    if not rows:
        texts = hit.snippet.split("\n")[:GLANCE_LINES] if hit.snippet else []
        rows = list(enumerate(texts, hit.snippet_start_line))
    snippet = hit.snippet.split("\n")
    marks: dict[int, list[tuple[int, int]]] = {}
    for number, start, end in hit.matches:
        marks.setdefault(number, []).append((start, end))
    found: dict[int, list[tuple[int, int]]] = {}
    for at, (number, text) in enumerate(rows):
        where = number - hit.snippet_start_line
        # the columns are those of the snippet, whose very long lines are cut otherwise than a body's
        if number in marks and 0 <= where < len(snippet) and snippet[where].rstrip() == text.rstrip():
            found[at] = sorted(marks[number])
    coloured = highlighted([text if number else "" for number, text in rows], hit.language, hit.path, found)
    return [
        Line(number, html if number else text, at in found)
        for at, ((number, text), html) in enumerate(zip(rows, coloured, strict=True))
    ]


def numbered(lines: Sequence[str], first: int, language: str, path: str, wanted: range = range(0)) -> list[Line]:
    """All of some lines; ``wanted``: those that stand out."""
    coloured = highlighted(lines, language, path)
    return [Line(number, html, number in wanted) for number, html in enumerate(coloured, first)]


def _bars(hit: Hit) -> list[Bar]:
    most = max((abs(reason.value) for reason in hit.reasons), default=0) or 1.0
    return [
        Bar(reason.signal, reason.words, reason.value, round(100 * abs(reason.value) / most, 1))
        for reason in hit.reasons
        if round(100 * abs(reason.value) / most, 1)
    ]


# --- how sure, how fresh, how much: one line -------------------------------------------------------------------------


class Verdict(Struct, frozen=True):
    """``level``: sure, fairly, unsure, absent or none. ``facts`` stand beside it."""

    level: str
    words: str
    facts: list[str]
    notes: list[str]


def verdict(result: SearchResult) -> Verdict:
    words, level = _how_sure(result)
    facts = [f"{count(result.total, 'file')} match" if result.total != 1 else "1 file matches"] if result.hits else []
    facts.append(freshness(result.freshness, result.stale_reason))
    covered = result.coverage
    if covered.scanned:
        facts.append("no index yet: all files were scanned for the words")
    elif result.unfinished:
        facts.append("the index is not complete yet")
    facts.append(f"{result.took_ms:.0f} ms")
    notes = list(result.notes)
    if level != "absent":
        notes += [absent.words for absent in result.absent]
    return Verdict(level, words, facts, notes)


def _how_sure(result: SearchResult) -> tuple[str, str]:
    if result.is_absent:
        return "; ".join(absent.words for absent in result.absent if absent.whole), "absent"
    if not result.hits:
        return "Nothing found", "none"
    share = f"{result.confidence:.0%}"
    if result.confidence >= SURE:
        return f"Sure ({share})", "sure"
    if result.confidence >= FAIRLY:
        return f"Fairly sure ({share})", "fairly"
    lacking = " and ".join(f"“{word}”" for word in result.lacking[:2])
    return f"Unsure ({share}): {f'the first result lacks {lacking}' if lacking else 'this may be no answer'}", "unsure"


def freshness(state: str, why: str) -> str:
    words = {
        "fresh": "as the files are now",
        "syncing": "changes are being taken in",
        "stale": "may be out of date",
    }[state]
    return f"{words} ({why})" if why and state == "stale" else words


# --- who calls a definition, and what it calls -----------------------------------------------------------------------


class Step(Struct, frozen=True):
    """An edge as a link: the definition at its other end, and the line that makes it."""

    name: str
    address: str
    path: str
    line: int
    line_address: str
    html: Markup
    kind: str
    grade: Grade
    why: str


def steps(result: EdgeResult, ref: str, language: str) -> tuple[list[Step], list[Step]]:
    """Those that are certain or likely, and those that are only possible."""
    made = [_step(edge, result.direction, ref, language) for edge in result.edges]
    return [step for step in made if step.grade != "possible"], [step for step in made if step.grade == "possible"]


def _step(edge: Edge, direction: str, ref: str, language: str) -> Step:
    name, path = (edge.enclosing, edge.path) if direction == "callers" else (edge.target, edge.target_path)
    (html,) = highlighted([edge.text], language, edge.path)
    return Step(
        name=name or "the file itself",
        address=addresses.of_symbol(name, path, ref) if name else addresses.of_file(path, ref, (edge.line, edge.line)),
        path=path,
        line=edge.line,
        line_address=addresses.of_file(edge.path, ref, (edge.line, edge.line)),
        html=html,
        kind=edge.kind,
        grade=edge.grade,
        why=edge.why,
    )


def qualified(name: str, path: str) -> str:
    """A name by which the engine finds the definition in one file: after the file's folders and its stem."""
    folder, slash, file = path.rpartition("/")
    return f"{folder}{slash}{file.partition('.')[0]}#{name}"


def chosen(found: Sequence[SymbolHit], path: str) -> list[SymbolHit]:
    """The exact definitions, those of one file where it has some."""
    exact = [hit for hit in found if hit.match == "exact"] or list(found)
    return [hit for hit in exact if hit.path == path] or exact


def definition_lines(hit: SymbolHit) -> list[Line]:
    rows = list(lines_of(hit.body)) or [(hit.line, hit.signature)]
    coloured = highlighted([text if number else "" for number, text in rows], hit.language, hit.path)
    return [Line(number, html if number else text) for (number, text), html in zip(rows, coloured, strict=True)]


# --- exact search ----------------------------------------------------------------------------------------------------


class Matches(Struct, frozen=True):
    """A file's matching lines, ``more`` of which are not shown."""

    path: str
    occurrences: int
    lines: list[Line]
    addresses: list[str]
    more: int
    address: str


def matches(file: FileMatches, ref: str, *, all_lines: bool) -> Matches:
    shown = file.lines if all_lines else file.lines[:FIRST_LINES]
    texts = [match.text for match in shown]
    marks = {at: match.spans for at, match in enumerate(shown)}
    coloured = highlighted(texts, "", file.path, marks)
    return Matches(
        path=file.path,
        occurrences=file.occurrences,
        lines=[Line(match.line, html) for match, html in zip(shown, coloured, strict=True)],
        addresses=[addresses.of_file(file.path, ref, (match.line, match.line)) for match in shown],
        more=file.line_count - len(shown),
        address=addresses.of_file(file.path, ref),
    )


# --- a file's outline ------------------------------------------------------------------------------------------------


class Entry(Struct, frozen=True):
    """A definition, ``depth`` others around it."""

    name: str
    kind: str
    line: int
    depth: int
    address: str


def outline(symbols: Sequence[Any], path: str, ref: str) -> Iterator[Entry]:
    """``symbols``: as `FileSymbols` has them."""
    depths: dict[int, int] = {}
    for symbol in sorted(symbols, key=lambda row: (row.start_line, row.position)):
        depth = depths.get(symbol.parent, -1) + 1
        depths[symbol.position] = depth
        yield Entry(
            symbol.name,
            symbol.kind,
            symbol.name_line,
            depth,
            addresses.of_symbol(symbol.qualified_name, path, ref),
        )


def by_count(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))

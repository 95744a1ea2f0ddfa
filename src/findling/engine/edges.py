"""Who uses a definition and what it uses, answered from the index as it is, once freshness has been settled."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from findling import search
from findling.engine.answers import coverage_of_names, not_searched
from findling.engine.freshness import Freshened
from findling.engine.searched import Searched, joined_coverage
from findling.engine.unmatched import no_file_fits
from findling.model.plurals import count
from findling.model.types import GRADES, Edge, EdgeResult, Grade, Query, SymbolHit
from findling.search.edges import EDGES_S, MOST_EDGES
from findling.search.graph.resolution import LANGUAGES
from findling.search.ranking.priors import path_flags

Direction = Literal["callers", "callees"]

MOST_DEFINITIONS = 10
"""Definitions of one name that are asked about together; of more one has to be chosen."""

LISTED = 100
"""Definitions that are listed for choosing."""

_TEXT = 200
"""Characters of a line that are shown."""


def edges(
    searched: Searched,
    direction: Direction,
    name: str,
    fresh: Freshened,
    *,
    language: str | None,
    tests: bool,
    limit: int,
    steps: int,
) -> EdgeResult:
    """The definitions of a name, and who uses them or what they use. ``tests``: uses in tests are listed too, not only
    counted. ``language`` is an id. ``steps``: how far callers are followed."""
    index = searched.index
    with index.snapshot():
        named = search.definitions(index, name, kind=None, language=language, folder=searched.folder, limit=LISTED)
        exact = [] if named.unqualified else [hit for hit in named.found if hit.match == "exact"]
        asked = list(_definitions(searched, exact))
        few = len({each.key for each in asked}) <= MOST_DEFINITIONS and named.total <= LISTED
        found = search.Edges([])
        if asked and few:
            with searched.answer():
                if direction == "callers":
                    found = search.callers(index, asked, steps, lines=searched.lines)
                else:
                    found = search.callees(index, asked, lines=searched.lines)
        distinct = _distinct(found.found, direction)
        in_tests = all("test" in path_flags(each.file.path) for each in asked)
        listed = [each for each in distinct if tests or in_tests or "test" not in path_flags(each.file.path)]
        shown = list(_shown(searched, listed[:limit]))
        every = [coverage_of_names(each) for each in searched.collections]
        no_file = "" if named.found else no_file_fits(searched, Query(name, language=language))
    covered = joined_coverage(every)
    notes = [*searched.take_notes(), *not_searched(searched, every), *_notes(named, exact, found, few=few)]
    notes += [no_file] if no_file else []
    totals: Counter[Grade] = Counter(each.grade for each in distinct)
    return EdgeResult(
        name=name,
        direction=direction,
        definitions=tuple(exact or named.found),
        total_definitions=named.total,
        edges=tuple(shown),
        totals={grade: totals[grade] for grade in GRADES},
        in_tests=len(distinct) - len(listed),
        truncated=found.cut or len(shown) < len(listed),
        freshness=fresh.freshness,
        completeness="partial" if covered.unfinished or covered.unread else "complete",
        coverage=covered,
        took_ms=(time.monotonic() - fresh.started) * 1000,
        notes=tuple(notes),
        stale_reason=fresh.stale_reason,
    )


def _definitions(searched: Searched, hits: Sequence[SymbolHit]) -> Iterator[search.Definition]:
    """The rows of definitions that were found by name."""
    for hit in hits:
        file = searched.index.file_at(hit.path)
        if file is not None:
            for symbol in searched.index.symbols(file.blob_id):
                if (symbol.name, symbol.name_line) == (hit.name, hit.line):
                    yield search.Definition(file, symbol)


def _distinct(found: Sequence[search.Edge], direction: Direction) -> list[search.Edge]:
    """One edge for each line and target; of what is called in several lines the first line of the best grade."""
    kept: dict[tuple[object, ...], search.Edge] = {}
    for edge in found:
        place = (edge.file.path, edge.use.line) if direction == "callers" else ()
        kept.setdefault((*place, *edge.target.key), edge)
    return list(kept.values())


def _shown(searched: Searched, found: Sequence[search.Edge]) -> Iterator[Edge]:
    with searched.answer():
        for edge in found:
            lines = searched.lines(edge.file) or ()
            target = edge.target.symbol
            yield Edge(
                path=edge.file.path,
                line=edge.use.line,
                text=lines[edge.use.line - 1].strip()[:_TEXT] if edge.use.line <= len(lines) else "",
                enclosing=edge.enclosing.qualified_name if edge.enclosing is not None else "",
                kind=edge.kind,
                grade=edge.grade,
                why=edge.why,
                target=target.qualified_name,
                target_path=edge.target.file.path,
                target_line=target.name_line,
                target_signature=target.signature or target.name,
                step=edge.step,
            )


def _notes(named: search.Definitions, exact: Sequence[SymbolHit], found: search.Edges, *, few: bool) -> Iterator[str]:
    if named.found and not exact:
        yield "Nothing has exactly this name; the nearest names are listed."
    elif not few:
        yield (
            f"{count(named.total, 'definition')} have this name; say which: by what encloses it (Outer.inner), "
            "or by the folder or file that it is in."
        )
    others = {hit.language for hit in exact} - LANGUAGES
    if others:
        yield f"Uses are not followed in {', '.join(sorted(others))}; 'findling symbol --refs' lists uses of the name."
    if found.cut:
        yield f"Stopped after {EDGES_S:.0f} s or {MOST_EDGES:,} uses: there may be more."
    if found.crowded:
        more = f" and {count(len(found.crowded) - 1, 'more file')}" if len(found.crowded) > 1 else ""
        yield f"{found.crowded[0]}{more} has more uses than the limit per file: the last ones are missing."
    if found.outside:
        yield f"{count(found.outside, 'use')} of names that this project does not visibly define left out."

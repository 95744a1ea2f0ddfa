"""Who uses definitions and what they use, which calls lead from one to another, and what a project rests on: answered
from the index as it is, once freshness has been settled."""

from __future__ import annotations

import os
import posixpath
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import islice
from typing import Any, Literal

from msgspec.structs import replace

from findling import reading, search, sources
from findling.engine.freshness import Freshened
from findling.engine.refs import RefStore, find_ref
from findling.engine.scope import no_file_fits
from findling.engine.searched import OpenCollection, Searched, coverage_of_names, not_searched
from findling.engine.state import joined_coverage
from findling.model import errors
from findling.model.languages import language_of
from findling.model.plurals import count
from findling.model.reading import Reading
from findling.model.rows import FileRow, SymbolRow, symbol_rows
from findling.model.text_encodings import is_text
from findling.model.types import (
    CHARS_PER_TOKEN,
    GRADES,
    Edge,
    EdgeResult,
    End,
    Grade,
    MapResult,
    Query,
    Reference,
    Step,
    SymbolHit,
    TraceResult,
)
from findling.outbound.files import NotRead
from findling.search import dynamic, entry_points, project_map
from findling.search.edges import EDGES_S, FILES_OF_STEPS, MOST_EDGES, MOST_MEANT, is_common
from findling.search.graph.file_names import TYPES
from findling.search.graph.resolution import LANGUAGES, PROPERTIES
from findling.search.graph.rules import RULES
from findling.search.mentions import mentions
from findling.search.ranking.priors import path_flags
from findling.search.scope import lies_in
from findling.search.trails import trail
from findling.store.protocols import Index

Direction = Literal["callers", "callees"]

MOST_DEFINITIONS = 10
"""Definitions of one name that are asked about together; of more one has to be chosen."""

LISTED = 100
"""Definitions that are listed for choosing."""

MOST_CHANGED = 200
"""Changed definitions whose callers are looked for."""

MOST_CHANGED_FILES = 1_000
"""Changed files that are compared with a commit."""

Place = tuple[str, int]
"""Path and line."""

USES_OF_A_NAME = 20
"""Uses of a name alone that are listed."""

MOST_MENTIONS = 20
"""Documents that an impact lists."""

_TEXT = 200
"""Characters of a line that are shown."""

_SIGNATURE = 100
"""Characters of a signature in a map."""


def edges(
    searched: Searched,
    direction: Direction,
    name: str,
    fresh: Freshened,
    *,
    language: str | None,
    tests: bool,
    limit: int,
    steps: int = 0,
) -> EdgeResult:
    """The definitions of a name, and who uses them or what they use. ``tests``: uses in tests are listed too, not only
    counted. ``language`` is an id. ``steps``: how far callers are followed for an impact, 0 for none."""
    index = searched.index
    with index.snapshot():
        named = search.definitions(index, name, kind=None, language=language, folder=searched.folder, limit=LISTED)
        exact, asked = _meant(searched, named, name)
        few = len({each.key for each in asked}) <= MOST_DEFINITIONS and named.total <= LISTED
        found, unread = search.Edges([]), 0
        if asked and few:
            lines = searched.lines
            if direction == "callers":
                index.ahead(lambda index: dynamic.named_in_strings(index, lines, asked))
            found = (
                search.callees(index, asked, lines=lines)
                if direction == "callees"
                else search.callers(index, asked, max(1, steps), lines=lines)
            )
            if direction == "callers":
                known = {(edge.file.path, edge.use.line) for edge in found.found}
                strings, unread = dynamic.named_in_strings(index, lines, asked)
                found.found += [each for each in strings if (each.file.path, each.use.line) not in known]
                found.sort()
        no_file = "" if named.found else no_file_fits(searched, Query(name, language=language))
        notes = [*_notes_on_names(named, exact, few=few), *_notes(exact, found, steps), *([no_file] if no_file else ())]
        if unread:
            notes.append(f"{count(unread, 'more file')} may name it in a string: only the nearest were read.")
        if direction == "callers" and few:
            notes += [*_called_from_outside(searched, asked), *_handed_on(index, asked, found)]
        elif few:
            notes += _not_followed(searched, asked, found)
        told = _told(searched, direction, asked, found, tests=tests, limit=limit, impact=steps > 0)
        others = [each for each in asked if few and each.file.language not in LANGUAGES]
        if others and direction == "callers":
            listed = {(edge.file.path, edge.use.line) for edge in found.found}
            _add_possible(told, limit, *_uses_of_names(searched, others, language, notes, listed))
    return EdgeResult(
        name=name,
        direction=direction,
        definitions=tuple(exact or named.found),
        total_definitions=len(exact) if exact and few else named.total,
        **told,
        **_state(searched, fresh, notes),
    )


def meant_by(
    searched: Searched, name: str, fresh: Freshened, *, language: str | None
) -> tuple[dict[Place, Edge], bool] | None:
    """The uses that can mean the definitions of a name, each with its grade, and whether these are all; None where uses
    are not followed."""
    found = edges(searched, "callers", name, fresh, language=language, tests=True, limit=MOST_EDGES)
    if not found.definitions or any(hit.language not in LANGUAGES for hit in found.definitions):
        return None
    return {(edge.path, edge.line): edge for edge in found.edges}, not found.truncated


def impact_of_changes(
    searched: Searched, since: str, fresh: Freshened, *, language: str | None, tests: bool, limit: int, steps: int
) -> EdgeResult:
    """What the changes on disk since a commit can reach: the definitions whose lines they touch, as for `edges`.
    Raises `InvalidInput` and `RefNotIndexed`."""
    if any(isinstance(each.store, RefStore) for each in searched.collections):
        raise errors.InvalidInput("Changes are those on disk, not those of a ref.", remedy="Leave the ref out.")
    index = searched.index
    notes: list[str] = []
    with index.snapshot():
        changed: list[search.Definition] = []
        lost: list[search.Definition] = []
        for each in searched.collections:
            now, before = _changes(index, each, since, language, notes)
            changed += now
            lost += before
        distinct = list({each.key: each for each in changed}.values())
        if len(distinct) > MOST_CHANGED:
            notes.append(f"{len(distinct)} definitions changed; only the first {MOST_CHANGED} were followed.")
        asked = distinct[:MOST_CHANGED]
        found = search.callers(index, asked, steps, lines=searched.lines) if asked else search.Edges([])
        if not (distinct or lost or notes):  # the notes are of changes that were not looked at
            notes.append(f"No definition changed since {since}.")
        notes += _notes([_hit(each) for each in asked], found, steps)
        told = _told(searched, "callers", [*asked, *lost], found, tests=tests, limit=limit, impact=True)
        kept = [each for each in lost if each.symbol.parent < 0 or not is_common(each.symbol.name, each.file.language)]
        _add_possible(told, limit, *_uses_of_names(searched, kept, language, notes, set(), gone=True))
    return EdgeResult(
        name=since,
        direction="callers",
        definitions=tuple(map(_hit, asked[:limit])),
        total_definitions=len(distinct),
        gone=tuple(
            Reference(file.path, row.name_line, 1, row.signature or row.name, row.qualified_name)
            for file, row in lost[:limit]
        ),
        total_gone=len(lost),
        **told,
        **_state(searched, fresh, notes),
    )


def trace(searched: Searched, origin: str, goal: str, fresh: Freshened, *, language: str | None) -> TraceResult:
    """The shortest known way of calls from the definitions of one name to those of another. ``language`` is an id."""
    index = searched.index
    notes: list[str] = []
    ends: list[tuple[list[SymbolHit], list[search.Definition]]] = []

    def defined(name: str) -> search.Definitions:
        return search.definitions(index, name, kind=None, language=language, folder=searched.folder, limit=LISTED)

    with index.snapshot():
        index.bring(lambda _: defined(origin), lambda _: defined(goal))
        for name in (origin, goal):
            named = defined(name)
            exact, asked = _meant(searched, named, name)
            few = len({each.key for each in asked}) <= MOST_DEFINITIONS and named.total <= LISTED
            notes += [f"{name}: {note}" for note in _notes_on_names(named, exact, few=few)]
            if not named.found:
                notes.append(f"{name}: nothing is defined by this name.")
            ends.append((exact or named.found, asked if few else []))
        (origins, starts), (goals, targets) = ends
        found = trail(index, starts, targets, searched.lines) if starts and targets else None
        if found is not None and not found.steps:
            way = f"No call is known to lead from {origin} to {goal}: {count(found.reached, 'definition')} reached"
            left = ", and not all were looked at" if found.cut else ""
            notes.append(f"{way}{left}{'' if found.ends or left else ', and no further call is known'}.")
            if (more := len(found.ends) - MOST_DEFINITIONS) > 0:
                notes.append(f"{count(more, 'more line')} at which it may go on left out.")
        open_at = [_end(searched, each) for each in found.ends[:MOST_DEFINITIONS]] if found is not None else []
        notes += list(_unfollowed([*origins, *goals]))
    return TraceResult(
        origin=origin,
        goal=goal,
        origins=tuple(origins),
        goals=tuple(goals),
        steps=found.steps if found is not None else (),
        ends=tuple(open_at),
        reached=found.reached if found is not None else 0,
        **_state(searched, fresh, notes),
    )


def project(searched: Searched, folder: str, max_tokens: int, fresh: Freshened) -> MapResult:
    """The parts of a folder ('' or '.' for all that is searched), its entry points and its central definitions: a third
    of the tokens for each, and what one leaves for the next."""
    index = searched.index
    folder = posixpath.normpath(folder.strip("/") or ".")
    within = "/".join(filter(None, (searched.folder, "" if folder == "." else folder)))
    notes: list[str] = []
    with index.snapshot(), searched.answer():
        files = project_map.files_below(index, within)
        if not files:
            notes.append(f"No indexed file lies in {within}." if within else "Nothing is indexed.")
        graph = project_map.graph_of(index, files, searched.lines)
        ranks = graph.ranks()
        room = max_tokens * CHARS_PER_TOKEN
        truncated = False
        chosen: list[list[Any]] = []
        kinds: list[list[Any]] = [
            project_map.parts(index, files, within, ranks),
            list(entry_points.entry_points(index, files, searched.lines)),
            [
                replace(hit, signature=hit.signature[:_SIGNATURE])
                for hit in map(_hit, project_map.central(graph, ranks))
            ],
        ]
        for left, every in zip((3, 2, 1), kinds, strict=True):
            part = room // left
            kept: list[Any] = []
            for each in every:
                part -= (size := _size(each))
                if part < 0 and (kept or left != len(kinds)):
                    break
                kept.append(each)
                room -= size
            truncated = truncated or len(kept) < len(every)
            chosen.append(kept)
    unknown = {file.language for file in files if file.kind == "code"} - LANGUAGES
    if unknown:
        notes.append(f"Central definitions are those of {', '.join(sorted(LANGUAGES))}: others are not followed yet.")
    if graph.unread:
        notes.append(f"There was no time to follow the uses in {count(graph.unread, 'file')}.")
    return MapResult(
        folder=within,
        files=len(files),
        parts=tuple(chosen[0]),
        entry_points=tuple(chosen[1]),
        central=tuple(chosen[2]),
        truncated=truncated,
        **_state(searched, fresh, notes),
    )


def _size(each: object) -> int:
    """The characters that something takes in an answer, about."""
    fields = [
        getattr(each, name) for name in ("path", "text", "names", "qualified_name", "signature") if hasattr(each, name)
    ]
    return 24 + sum(len(field) if isinstance(field, str) else sum(map(len, field)) + len(field) for field in fields)


# --- changes ------------------------------------------------------------------------------------------------


def _changes(
    index: Index, collection: OpenCollection, since: str, language: str | None, notes: list[str]
) -> tuple[list[search.Definition], list[search.Definition]]:
    """The definitions on disk whose lines differ from a commit, and those of the commit that are nowhere now."""
    store = collection.store
    ref = find_ref(store.root, since)
    commit = ref.commit_id if ref is not None else "HEAD"
    until = time.monotonic() + EDGES_S
    differing = [each for each in sources.changed_lines(store.root, commit) if lies_in(each.path, collection.folder)]
    named = [each for each in differing if is_text(each.path)]
    if len(named) < len(differing):
        unnamed = count(len(differing) - len(named), "changed file")
        notes.append(collection.said(f"{unnamed} left out: a name that is not UTF-8."))
    is_wanted = sources.selects(store.root, store.configuration.wanted)
    wanted = [each for each in named if is_wanted(each.path)]
    changed: list[search.Definition] = []
    lost: list[search.Definition] = []
    arrived: set[str] = set()
    lacking: list[str] = []
    with sources.RefFiles(store.root, commit) as files:
        try:
            for at, each in enumerate(wanted):
                if at == MOST_CHANGED_FILES or time.monotonic() > until:
                    notes.append(collection.said(f"{len(wanted)} files changed; only the first {at} were looked at."))
                    break
                there = os.path.lexists(store.root / each.path)
                file = index.file_at(collection.path(each.path)) if there else _stand_in(collection.path(each.path))
                if file is None:
                    lacking.append(collection.path(each.path))
                    continue
                if language not in (None, file.language):
                    continue
                symbols = index.symbols(file.blob_id) if there else []
                before = _before(files, each, store.configuration.wanted.max_bytes)
                changed += [search.Definition(file, symbol) for symbol in _touched(symbols, each.now)]
                known = {symbol.qualified_name for symbol in symbols}
                new = {symbol.qualified_name for symbol in symbols if _has_line(each.now, symbol.name_line)}
                arrived |= new - {symbol.qualified_name for symbol in before}
                gone = _touched(before, each.before)
                lost += [search.Definition(file, symbol) for symbol in gone if symbol.qualified_name not in known]

            def moved(name: str) -> bool:
                if name in arrived or time.monotonic() > until:
                    return name in arrived
                found = search.definitions(
                    index, name, kind=None, language=None, folder=collection.path("").rstrip("/"), limit=LISTED
                ).found
                paths = {hit.path.removeprefix(collection.path("")) for hit in found if hit.qualified_name == name}
                return any(_is_new(files, path) for path in paths)

            lost = [each for each in lost if not moved(each.symbol.qualified_name)]
        finally:
            files.close()
    if lacking:
        others = f" and {count(len(lacking) - 1, 'other file')}" if len(lacking) > 1 else ""
        notes.append(f"{lacking[0]}{others} changed, but not indexed.")
    return changed, lost


def _before(files: sources.RefFiles, changed: sources.ChangedFile, max_bytes: int) -> list[SymbolRow]:
    """The definitions that a commit has in a file; none where the file has only new lines."""
    read = files.read(changed.path, max_bytes) if changed.before else None
    if read is None or isinstance(read, NotRead):
        return []
    made = reading.prepare.prepare(changed.path, read[1])
    return symbol_rows(0, made.symbols) if isinstance(made, Reading) else []


def _is_new(files: sources.RefFiles, path: str) -> bool:
    """Whether a commit has no such file."""
    status = files.status(path)
    return isinstance(status, NotRead) and status.reason == "not_found"


def _has_line(ranges: Iterable[tuple[int, int]], line: int) -> bool:
    return any(first <= line <= last for first, last in ranges)


def _touched(symbols: Sequence[SymbolRow], lines: Iterable[tuple[int, int]]) -> list[SymbolRow]:
    """The innermost definitions that have one of some lines, in order."""
    found: dict[int, SymbolRow] = {}
    for first, last in lines:
        inside = [symbol for symbol in symbols if symbol.start_line <= last and first <= symbol.end_line]
        end = max((symbol.end_line for symbol in inside), default=0)
        for line in range(first, min(last, end) + 1):
            around = [symbol for symbol in inside if symbol.start_line <= line <= symbol.end_line]
            if around:
                innermost = max(around, key=lambda symbol: (symbol.start_line, symbol.position))
                found[innermost.position] = innermost
    return [found[position] for position in sorted(found)]


def _uses_of_names(
    searched: Searched,
    definitions: Sequence[search.Definition],
    language: str | None,
    notes: list[str],
    listed: Set[tuple[str, int]],
    *,
    gone: bool = False,
) -> tuple[list[Edge], int]:
    """The lines that use the names of definitions, and how many there are, whatever is meant there: of definitions
    that are ``gone`` in all languages of their family, else in their own, whose uses are not followed.

    ``listed``: path and line of uses that the answer has already.
    """
    source = searched.every_file()
    parsed = frozenset((*reading.syntax.supported_languages(), reading.syntax.NOTEBOOK))
    known = listed | {(each.file.path, each.symbol.name_line) for each in definitions}
    until = time.monotonic() + EDGES_S
    wanted = {each.symbol.name: each for each in reversed(definitions)}

    def find(text: bytes, written_in: str, name: str, seconds: float) -> Sequence[tuple[int, int, str]]:
        return (reading.syntax.references if written_in in parsed else _words)(text, written_in, name, seconds)

    found: list[Edge] = []
    total = 0
    for at, (file, symbol) in enumerate(reversed(wanted.values())):
        if time.monotonic() > until:
            notes.append(f"Uses of only {at} of {count(len(wanted), 'name')} were looked for.")
            break
        with_uses = {file.language}
        if gone and (rules := RULES.get(file.language)) is not None:
            with_uses |= {each for each in parsed if each in RULES and RULES[each].family == rules.family}
        uses = search.references(
            source, symbol.name, find, languages=frozenset(with_uses), language=language, limit=USES_OF_A_NAME
        )
        lines = {(use.path, use.line): use for use in uses.found if (use.path, use.line) not in known}
        total += uses.total - len(uses.found) + len(lines)
        found += [
            Edge(
                path=use.path,
                line=use.line,
                text=use.text,
                enclosing=use.enclosing,
                kind="use",
                grade="possible",
                why=f"{symbol.qualified_name} is gone" if gone else "same name",
                target=symbol.qualified_name,
                target_path=file.path,
                target_line=symbol.name_line,
                target_signature=symbol.signature or symbol.name,
            )
            for use in lines.values()
        ]
    return found, total


def _words(text: bytes, _: str, name: str, __: float) -> Sequence[tuple[int, int, str]]:
    """The lines that have a name, in a language that is not parsed: (line, column, "")."""
    word = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    lines = enumerate(text.decode("utf-8", "replace").split("\n"), 1)
    return [(number, found.start() + 1, "") for number, line in lines if (found := word.search(line))]


def _add_possible(told: dict[str, Any], limit: int, found: Sequence[Edge], total: int) -> None:
    """Put uses of a name before the other possible ones of an answer; ``total``: how many there are."""
    sure = [edge for edge in told["edges"] if edge.grade != "possible"]
    possible = [edge for edge in told["edges"] if edge.grade == "possible"]
    told["edges"] = (*sure, *found, *possible)[:limit]
    told["totals"]["possible"] += total
    told["truncated"] = told["truncated"] or len(sure) + total + len(possible) > limit


def _stand_in(path: str) -> FileRow:
    """A row for a file that is there no more."""
    return FileRow(0, 0, path, language_of(path).id, "code", 0, 0, False, 0, 0)


# --- parts of an answer -----------------------------------------------------------------------------------------


def _state(searched: Searched, fresh: Freshened, notes: Sequence[str]) -> dict[str, Any]:
    """The fields of an answer about the index that it was made from."""
    with searched.index.snapshot():
        every = [coverage_of_names(each) for each in searched.collections]
        freshness, stale_reason = searched.freshness(fresh)
    covered = joined_coverage(every, searched.roots)
    return {
        "freshness": freshness,
        "completeness": "partial" if covered.is_partial else "complete",
        "coverage": covered,
        "took_ms": (time.monotonic() - fresh.started) * 1000,
        "notes": (*searched.take_notes(), *not_searched(searched, every), *notes),
        "stale_reason": stale_reason,
    }


def _told(
    searched: Searched,
    direction: Direction,
    asked: Sequence[search.Definition],
    found: search.Edges,
    *,
    tests: bool,
    limit: int,
    impact: bool,
) -> dict[str, Any]:
    """The fields of an answer that list edges."""
    distinct = _distinct(found.found, direction)
    in_tests = all("test" in path_flags(each.file.path) for each in asked)
    listed = [each for each in distinct if tests or in_tests or "test" not in path_flags(each.file.path)]
    totals: Counter[Grade] = Counter(each.grade for each in distinct)
    told: dict[str, Any] = {
        "totals": {grade: totals[grade] for grade in GRADES},
        "in_tests": len(distinct) - len(listed),
        "truncated": found.cut or bool(found.crowded) or limit < len(listed),
    }
    index, names = searched.index, [each.symbol.name for each in asked]
    with searched.answer():
        index.ahead(lambda index: [index.doc_text(each.file.blob_id) for each in listed[:limit]])
        if impact:
            index.ahead(lambda index: list(mentions(index, names, searched.lines)))
        told["edges"] = tuple(_shown(searched, listed[:limit]))
        if impact:
            reaching = tuple(_reaching_tests(index, distinct))
            told["tests"], told["total_tests"] = reaching[:limit], len(reaching)
            told["documents"] = tuple(islice(mentions(index, names, searched.lines), MOST_MENTIONS))
    return told


def _reaching_tests(index: Index, found: Sequence[search.Edge]) -> Iterator[Step]:
    """The definitions in tests that use something, each once, the nearest first; of a function inside of another, and
    of what is in a type, the outermost function."""
    seen: set[tuple[str, str]] = set()
    for edge in found:
        at = edge.enclosing
        if "test" not in path_flags(edge.file.path) or at is None or edge.grade == "possible":
            continue
        symbols = index.symbols(edge.file.blob_id)
        while at.parent >= 0 and symbols[at.parent].kind not in TYPES:
            at = symbols[at.parent]
        key = (edge.file.path, at.qualified_name)
        if key not in seen:
            seen.add(key)
            yield Step(edge.file.path, at.name_line, key[1], edge.step, edge.use.line, edge.grade, edge.why)


def _hit(definition: search.Definition) -> SymbolHit:
    return search.symbol_hit(definition.symbol, definition.file, "exact")


def _distinct(found: Sequence[search.Edge], direction: Direction) -> list[search.Edge]:
    """One edge for each line and target; of what is called in several lines the first line of the best grade."""
    kept: dict[tuple[object, ...], search.Edge] = {}
    for edge in found:
        place = (edge.file.path, edge.use.line) if direction == "callers" else ()
        kept.setdefault((*place, *edge.target.key), edge)
    return list(kept.values())


def _shown(searched: Searched, found: Sequence[search.Edge]) -> Iterator[Edge]:
    for edge in found:
        target = edge.target.symbol
        yield Edge(
            path=edge.file.path,
            line=edge.use.line,
            text=_line(searched, edge.file, edge.use.line),
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


def _end(searched: Searched, ending: search.Ending) -> End:
    file, line, enclosing, why = ending
    return End(file.path, line, _line(searched, file, line), enclosing.qualified_name if enclosing else "", why)


def _line(searched: Searched, file: FileRow, number: int) -> str:
    lines = searched.lines(file) or ()
    return lines[number - 1].strip()[:_TEXT] if number <= len(lines) else ""


def _meant(searched: Searched, named: search.Definitions, name: str) -> tuple[list[SymbolHit], list[search.Definition]]:
    """The definitions that a name means, with their rows: those spelled as it is, or where there are none, in another
    way. Of a function with overloads the one with the body."""
    exact = [] if named.unqualified else [hit for hit in named.found if hit.match == "exact"]
    exact = [hit for hit in exact if name.endswith(hit.name)] or exact
    # A type's method comes before a function in a folder of the type's name.
    exact = [hit for hit in exact if f".{hit.qualified_name}".endswith(f".{name}")] or exact
    pairs = []
    for hit in exact:
        file = searched.index.file_at(hit.path)
        if file is not None:
            rows = searched.index.symbols(file.blob_id)
            own = [row for row in rows if (row.name, row.name_line) == (hit.name, hit.line)]
            pairs += [(hit, search.Definition(file, row)) for row in own]
    ways = {each for _, each in pairs if _is_overload(searched.index, each)}
    whole = {each.key for _, each in pairs if each not in ways}
    pairs = [(hit, each) for hit, each in pairs if each not in ways or each.key not in whole]
    return list(dict.fromkeys(hit for hit, _ in pairs)), [each for _, each in pairs]


def _is_overload(index: Index, definition: search.Definition) -> bool:
    """Whether a definition only says one way in which another one may be called."""
    file, symbol = definition
    uses = index.uses(file.blob_id) if file.language == "python" and symbol.kind in ("fn", "method") else ()
    return any(use.kind == "decorate" and use.name == "overload" and use.symbol == symbol.position for use in uses)


def _notes_on_names(named: search.Definitions, exact: Sequence[SymbolHit], *, few: bool) -> Iterator[str]:
    if named.note:
        yield named.note
    elif named.found and not exact:
        yield "Nothing has exactly this name; the nearest names are listed."
    elif not few:
        yield (
            f"{count(named.total, 'definition')} have this name; say which: by what encloses it (Outer.inner), "
            "or by the folder or file that it is in."
        )


def _called_from_outside(searched: Searched, asked: Sequence[search.Definition]) -> Iterator[str]:
    """By what a framework or a user calls definitions, which no use in the project shows.

    A note is the program's own words to an agent: it names the line and quotes nothing of it.
    """
    for file, symbol in asked:
        rules = RULES.get(file.language)
        if rules is not None and entry_points.is_found_by_name(file, symbol):
            yield f"{symbol.qualified_name} is a test: what runs the tests finds it by its name."
        uses = searched.index.uses(file.blob_id) if rules is not None else ()
        imported = {use.value: f"{use.receiver}.{use.name}" for use in uses if use.kind == "import"}
        for use in uses:
            if use.kind != "decorate" or use.symbol != symbol.position or not rules or use.name not in rules.registers:
                continue
            first, _, rest = f"{use.receiver}.{use.name}".lstrip(".").partition(".")
            if rules.stand_ins.isdisjoint(f"{imported.get(first, first)}.{rest}".split(".")):
                yield f"{symbol.qualified_name} is registered by {use.name} ({file.path}:{use.line})."
    names = {symbol.name for _, symbol in asked}

    def lines(file: FileRow) -> Sequence[str]:
        """A manifest's lines, none where it names nothing that is asked about: parsing it takes longest."""
        text = searched.lines(file) or ()
        return text if any(name in line for line in text for name in names) else ()

    for point in entry_points.manifest_entries(searched.index.listing(), lines):
        module, colon, name = point.text.rpartition(" = ")[2].partition(":")
        stem = f"/{module.strip().replace('.', '/')}"
        for file, symbol in asked if colon else ():
            path = f"/{file.path}".removesuffix(".py").removesuffix("/__init__")
            if symbol.qualified_name == name.strip() and path.endswith(stem):
                yield f"{name.strip()} is an entry point ({point.path}:{point.line})."


def _handed_on(index: Index, asked: Iterable[search.Definition], found: search.Edges) -> Iterator[str]:
    """Where functions are used without being called, so that nobody can tell who calls them."""
    for file, symbol in asked:
        uses = index.uses(file.blob_id) if symbol.kind in ("fn", "method") and file.language in RULES else ()
        if any(use.kind == "decorate" and use.name in PROPERTIES and use.symbol == symbol.position for use in uses):
            continue  # a read is a call
        places = [
            f"{edge.file.path}:{edge.use.line}"
            for edge in found.found
            if edge.kind == "read" and edge.step == 1 and edge.grade != "possible" and edge.target.symbol == symbol
            if uses and "test" not in path_flags(edge.file.path)
            if edge.enclosing is not None or RULES[edge.file.language].family != "javascript"  # there it is exported
        ]
        if places:
            more = f" and {count(len(places) - 1, 'more place')}" if len(places) > 1 else ""
            name = symbol.qualified_name
            yield f"{name} is handed on as a value ({places[0]}{more}): calls of it from there are not followed."


def _not_followed(searched: Searched, asked: Iterable[search.Definition], found: search.Edges) -> Iterator[str]:
    """The lines of definitions at which nobody can tell what is called."""
    every = [*dynamic.endings(searched.index, searched.lines, asked), *found.endings]
    for file, line, enclosing, why in every[:MOST_DEFINITIONS]:
        name = enclosing.qualified_name if enclosing is not None else file.path
        yield f"Not followed: {name} {why} ({file.path}:{line})."
    if (more := len(every) - MOST_DEFINITIONS) > 0:
        yield f"Not followed: {count(more, 'more call')} like these."


def _unfollowed(hits: Sequence[SymbolHit]) -> Iterator[str]:
    others = {hit.language for hit in hits} - LANGUAGES
    if others:
        yield f"In {', '.join(sorted(others))} uses are found by name alone, so they are graded possible at most."


def _notes(hits: Sequence[SymbolHit], found: search.Edges, steps: int) -> Iterator[str]:
    yield from _unfollowed(hits)
    if found.cut:
        files = f", {FILES_OF_STEPS} files" if steps > 1 else ""
        yield f"Stopped after {EDGES_S:.0f} s{files} or {MOST_EDGES:,} uses: there may be more."
    if found.crowded:
        more = f" and {count(len(found.crowded) - 1, 'more file')}" if len(found.crowded) > 1 else ""
        yield f"{found.crowded[0]}{more} has more uses than the limit per file: the last ones are missing."
    if found.vague:
        yield f"{count(found.vague, 'use')} left out: the name has more than {MOST_MEANT} definitions."
    if found.built_in:
        yield f"{count(found.built_in, 'use')} left out: built-in types have the name, too, and nothing tells the type."
    if found.outside:
        yield f"Not listed: {count(found.outside, 'use')} of names that are defined outside of this project."

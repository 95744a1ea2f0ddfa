"""The vocabulary of exact searches and of symbols."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, Self, TypedDict

from msgspec import Struct

from findling.model.types.basic import Completeness, Freshness, Grade, SkippedFile

if TYPE_CHECKING:
    from findling.model.types.answers import Absent, Coverage


class LineMatch(Struct, frozen=True):
    """One line that a pattern matches. ``spans`` are 0-based (start, end) columns in ``text``, end exclusive.

    Of a line with very many matches only the first spans are kept; the counts are of all. ``text_start`` is the
    column where ``text`` begins in the line: above 0 only where a very long line was clipped around its first match.
    ``place``: the page, slide or the like of a converted document, else ''. ``replaced``: what takes the place of each
    span, where a replacement was asked for. ``offset``: the bytes of text before the line, -1 where nobody asked.
    """

    line: int
    text: str
    spans: tuple[tuple[int, int], ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    text_start: int = 0
    place: str = ""
    replaced: tuple[str, ...] = ()
    offset: int = -1


class FileMatches(Struct, frozen=True):
    """What matches in a file: the lines that were asked for, how many occurrences and lines there are, and the bytes of
    its text."""

    path: str
    lines: tuple[LineMatch, ...]
    occurrences: int
    line_count: int
    size: int


class GrepResult(Struct, frozen=True):
    """Every occurrence of a pattern, or as many as ``limit`` lines allow (then ``truncated``).

    ``total_occurrences``, ``total_lines`` and ``total_files`` count what is not returned as well; when a time limit
    ended the search they are lower bounds (``counts_exact`` is False). ``files_searched``: of the asked folder and
    globs, those that the index rules out among them; ``files_read`` is what it could not rule out, and ``unindexed``
    how many of these it does not have as they are now. ``skipped`` says what was not searched and why.
    """

    pattern: str
    files: tuple[FileMatches, ...]
    total_occurrences: int
    total_lines: int
    total_files: int
    files_searched: int
    files_read: int
    unindexed: int
    truncated: bool
    skipped: tuple[SkippedFile, ...]
    took_ms: float
    notes: tuple[str, ...] = ()
    counts_exact: bool = True


class GrepOptions(TypedDict, total=False):
    """What an exact search can be asked besides its pattern.

    ``literal``: every character means itself. ``word``: matches must not touch further word characters. ``inverted``:
    the lines that do not match. ``multiline``: matches may span lines. ``paths``: files and folders from the root,
    instead of all that the engine was opened for. ``language``: its id, name or alias, or several, ``!`` before one
    that is left out. ``context``: lines around each match, or ``before`` and ``after``; ``definitions``: the whole
    definition around it. ``per_file``: most lines of one file. ``replacement``: what takes the place of each match in
    what is answered, with ``$1`` for a group. ``spans``: most columns that are kept of one line;
    ``offsets``: with the place of each line in its text.

    ``shape``: ``counts`` answers only each file's counts, ``without`` the files that have no match; then ``limit`` is
    of files. ``cpu_s``: the processor's time for an expression, beyond what going through the text takes;
    ``max_bytes``: the most text that is read. Both are configured (``grep.cpu_seconds``, ``grep.max_total_bytes``).
    """

    literal: bool
    ignore_case: bool
    word: bool
    inverted: bool
    multiline: bool
    paths: Sequence[str]
    path_globs: Sequence[str]
    language: str | Sequence[str] | None
    context: int
    before: int
    after: int
    definitions: bool
    per_file: int
    stop_at_limit: bool
    replacement: str | None
    spans: int
    offsets: bool
    shape: Literal["lines", "counts", "without"]
    sort: Literal["path", "modified"]
    cpu_s: float
    max_bytes: int


class GrepStream(Protocol):
    """An exact search under way: the files with a match, once, in order; then what they come to."""

    @property
    def pattern(self) -> str: ...

    def __iter__(self) -> Iterator[FileMatches]: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    @property
    def totals(self) -> GrepResult:
        """Counts and notes, without the files."""
        ...


class SymbolHit(Struct, frozen=True):
    """A definition. ``body``: its text from its first line on, as much of it as was asked for."""

    path: str
    line: int
    start_line: int
    end_line: int
    name: str
    kind: str
    qualified_name: str
    language: str
    signature: str
    match: Literal["exact", "prefix", "part"]
    body: str = ""


class Reference(Struct, frozen=True):
    """A use of a name in code: neither its definition nor inside a comment or a string."""

    path: str
    line: int
    column: int
    text: str
    enclosing: str = ""


class SymbolResult(Struct, frozen=True):
    """Definitions and uses of a name. ``coverage``: of the asked folder what was left out, and no vectors. ``absent``:
    that the name occurs nowhere, where that is known. ``generation``: as an `Answer`'s."""

    name: str
    definitions: tuple[SymbolHit, ...]
    references: tuple[Reference, ...]
    total_definitions: int
    total_references: int
    truncated: bool
    freshness: Freshness
    completeness: Completeness
    coverage: Coverage
    took_ms: float
    notes: tuple[str, ...] = ()
    stale_reason: str = ""
    absent: tuple[Absent, ...] = ()
    generation: str = ""


class Edge(Struct, frozen=True):
    """A use of a definition: where it stands (``text`` is its line, ``enclosing`` the definition around it) and what it
    means (``target``). ``kind`` is call, instantiate, inherit, decorate, type or read; ``why`` says what the grade
    rests on, '' where imports and scopes alone do. ``step``: 1 where what was asked about is used, 2 where that is."""

    path: str
    line: int
    text: str
    enclosing: str
    kind: str
    grade: Grade
    why: str
    target: str
    target_path: str
    target_line: int
    target_signature: str
    step: int = 1


class EdgeResult(Struct, frozen=True):
    """Who uses a definition, or what it uses, surest first. ``definitions``: those that were asked about, or the
    nearest where nothing has the name; ``absent`` where it does not even occur. ``totals``: by grade, how many edges
    there are; ``in_tests``: how many of these stand in tests and are not listed."""

    name: str
    direction: Literal["callers", "callees"]
    definitions: tuple[SymbolHit, ...]
    total_definitions: int
    edges: tuple[Edge, ...]
    totals: dict[Grade, int]
    in_tests: int
    truncated: bool
    freshness: Freshness
    completeness: Completeness
    coverage: Coverage
    took_ms: float
    notes: tuple[str, ...] = ()
    stale_reason: str = ""
    absent: tuple[Absent, ...] = ()

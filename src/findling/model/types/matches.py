"""The vocabulary of exact searches and of symbols."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, Self

from findling.model.types.basic import Completeness, Freshness, SkippedFile

if TYPE_CHECKING:
    from findling.model.types.answers import Absent, Coverage


@dataclass(frozen=True, slots=True)
class LineMatch:
    """One line that a pattern matches. ``spans`` are 0-based (start, end) columns in ``text``, end exclusive.

    Of a line with very many matches only the first spans are kept; the counts are of all. ``text_start`` is the
    column where ``text`` begins in the line: above 0 only where a very long line was clipped around its first match.
    ``place``: the page, slide or the like of a converted document, else ''.
    """

    line: int
    text: str
    spans: tuple[tuple[int, int], ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    text_start: int = 0
    place: str = ""


@dataclass(frozen=True, slots=True)
class FileMatches:
    path: str
    lines: tuple[LineMatch, ...]
    occurrences: int


@dataclass(frozen=True, slots=True)
class GrepResult:
    """Every occurrence of a pattern, or as many as ``limit`` lines allow (then ``truncated``).

    ``total_occurrences``, ``total_lines`` and ``total_files`` count what is not returned as well; when a time limit
    ended the search they are lower bounds (``counts_exact`` is False). ``files_read`` is what the index could not
    rule out; ``skipped`` says what of the asked folder and globs was not searched and why.
    """

    pattern: str
    files: tuple[FileMatches, ...]
    total_occurrences: int
    total_lines: int
    total_files: int
    files_read: int
    truncated: bool
    skipped: tuple[SkippedFile, ...]
    took_ms: float
    freshness: Freshness = "fresh"
    notes: tuple[str, ...] = ()
    counts_exact: bool = True
    stale_reason: str = ""


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


@dataclass(frozen=True, slots=True)
class SymbolHit:
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


@dataclass(frozen=True, slots=True)
class Reference:
    """A use of a name in code: neither its definition nor inside a comment or a string."""

    path: str
    line: int
    column: int
    text: str
    enclosing: str = ""


@dataclass(frozen=True, slots=True)
class SymbolResult:
    """Definitions and uses of a name. ``coverage``: of the asked folder what was left out, and no vectors. ``absent``:
    that the name occurs nowhere, where that is known."""

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

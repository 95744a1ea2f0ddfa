"""The vocabulary: plain values that every other module speaks in. Nothing here does I/O or imports findling.

Conventions, said once: lines are 1-based and ranges inclusive; chunk and symbol positions are 0-based;
byte offsets count UTF-8 bytes of the decoded text without its byte-order mark; paths are relative to the
collection's root and use ``/``; scores and similarities are finite, in [0, 1], higher is better; times carry
their unit in the name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, Self

Kind = Literal["code", "docs", "data"]
Mode = Literal["auto", "keyword", "symbol", "semantic", "exact", "hybrid"]
Intent = Literal["symbol", "path", "error", "natural_language"]
Channel = Literal["keyword", "symbol", "exact", "semantic"]
Freshness = Literal["fresh", "stale", "syncing"]
Completeness = Literal["complete", "partial", "truncated"]
IndexingStatus = Literal["not_indexed", "indexing", "ready", "failed"]

MODES: tuple[Mode, ...] = ("auto", "keyword", "symbol", "semantic", "exact", "hybrid")

SYMBOL_KINDS: tuple[str, ...] = (
    "fn",
    "method",
    "class",
    "struct",
    "enum",
    "trait",
    "interface",
    "type_alias",
    "constant",
    "variable",
    "module",
)

LOW_CONFIDENCE = 0.5
"""Below this an answer is shown as the nearest thing, not as an answer. About one right answer in twelve is."""


# --- a file being indexed -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as it was when it was read: what proves it unchanged."""

    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that is not indexed, and why: a stable ``reason`` code plus a sentence for people."""

    path: str
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Symbol:
    """One definition inside one file.

    ``parent`` is the position of the enclosing symbol in the file's list, -1 at the top. The range covers
    decorators and the body but not the doc comment; ``doc`` is that comment's text without markers.
    ``signature`` is one line with white space folded. ``qualified_name`` joins the enclosing names with ``.``.
    """

    name: str
    kind: str
    qualified_name: str
    parent: int
    start_line: int
    end_line: int
    start_byte: int
    end_byte: int
    name_line: int
    signature: str = ""
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A contiguous piece of a file, the unit of text and vector search.

    ``start_byte``/``end_byte`` re-read to exactly the chunk's text; the lines are those it touches.
    ``kind``: function, class, block, fixed (code), section (prose). ``breadcrumb``: enclosing symbols from the
    outside in, or headings; ``header``: the nearest heading (prose only).
    """

    start_line: int
    end_line: int
    start_byte: int
    end_byte: int
    kind: str
    symbol: int = -1
    breadcrumb: tuple[str, ...] = ()
    header: str = ""


# --- a query travelling ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Query:
    """What was asked, after validation. ``limit`` counts places in the answer (1 to 1000)."""

    text: str
    limit: int = 10
    mode: Mode = "auto"
    language: str | None = None
    path_globs: tuple[str, ...] = ()
    kind: Literal["code", "docs"] | None = None
    max_tokens: int | None = None
    explain: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """A further good place inside a hit's file."""

    start_line: int
    end_line: int
    symbol: str = ""


@dataclass(frozen=True, slots=True)
class Reason:
    """One signal's share of a hit's ranking value; the shares of a hit add up to its ``rank_value``."""

    signal: str
    value: float
    words: str


@dataclass(frozen=True, slots=True)
class Hit:
    """One place of the answer: the best range of a file, with the file's other good places folded under it.

    ``rank_value`` is the sum that orders the list; ``score`` is its exposed form in [0, 1]. ``snippet`` holds
    the lines from ``snippet_start_line`` on, verbatim; ``matches`` are (line, first column, end column)
    of query words in it (0-based columns, end exclusive). ``sources`` names the channels that found it.
    """

    path: str
    start_line: int
    end_line: int
    score: float
    rank_value: float
    kind: str
    language: str
    name: str = ""
    qualified_name: str = ""
    signature: str = ""
    snippet: str = ""
    snippet_start_line: int = 0
    matches: tuple[tuple[int, int, int], ...] = ()
    body: str = ""
    sources: tuple[Channel, ...] = ()
    others: tuple[Span, ...] = ()
    reasons: tuple[Reason, ...] = ()
    stale: bool = False


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the answer was searched in: files, chunks, how many of them have vectors, and what was left out.

    ``complete``: the whole root was indexed once. ``pending_files`` are known not to be indexed yet.
    ``vectors_wanted``: False where searching by meaning is off or no embedder works, so that no vector is missing.
    """

    files: int = 0
    chunks: int = 0
    embedded_chunks: int = 0
    pending_files: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    complete: bool = False
    vectors_wanted: bool = True

    @property
    def missing_vectors(self) -> int:
        """Chunks that should have a vector and have none."""
        return max(0, self.chunks - self.embedded_chunks) if self.vectors_wanted else 0


@dataclass(frozen=True, slots=True)
class SearchResult:
    """An answer: hits in order, and what it is worth.

    ``total`` counts distinct files that matched before the cut to ``limit``. ``confidence`` is in [0, 1];
    ``notes`` are sentences for people: what was cut, what was skipped, what a channel could not do.
    """

    query: str
    hits: tuple[Hit, ...]
    total: int
    intent: Intent
    mode: Mode
    confidence: float
    freshness: Freshness
    completeness: Completeness
    coverage: Coverage
    took_ms: float
    notes: tuple[str, ...] = ()
    stale_reason: str = ""


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
    name: str
    definitions: tuple[SymbolHit, ...]
    references: tuple[Reference, ...]
    total_definitions: int
    total_references: int
    truncated: bool
    freshness: Freshness
    completeness: Completeness
    took_ms: float
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: ``stage`` is listing, indexing, embedding, answering, reading or copying; ``total`` is 0 while
    it is unknown."""

    stage: str
    done: int
    total: int
    bytes_done: int = 0


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What a run of the indexer did. ``failed`` files cost themselves only; each carries its reason."""

    root: str
    store: str
    files: int
    changed: int
    removed: int
    chunks: int
    symbols: int
    embedded: int
    bytes_read: int
    skipped: tuple[SkippedFile, ...]
    failed: tuple[SkippedFile, ...]
    complete: bool
    took_ms: float
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Status:
    """The state of one index."""

    root: str
    store: str
    indexing_status: IndexingStatus
    freshness: Freshness
    schema_version: int
    coverage: Coverage
    symbols: int
    languages: Mapping[str, int]
    model: str
    bytes_indexed: int
    bytes_on_disk: int
    last_indexed_at: str
    skipped: tuple[SkippedFile, ...] = ()
    notes: tuple[str, ...] = ()

"""The vocabulary of searches and their answers: a part of `types`, where all take it from and the conventions stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from findling.types import (
    LOW_CONFIDENCE,
    UNREAD,
    Channel,
    Completeness,
    Freshness,
    IndexingStatus,
    Intent,
    Mode,
    SkippedFile,
)

# --- a query travelling ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Query:
    """What was asked, after validation. ``limit`` counts places in the answer (1 to 1000); ``notes``: what there is to
    say of the question, that its text was cut."""

    text: str
    limit: int = 10
    mode: Mode = "auto"
    language: str | None = None
    path_globs: tuple[str, ...] = ()
    kind: Literal["code", "docs"] | None = None
    max_tokens: int | None = None
    explain: bool = False
    notes: tuple[str, ...] = ()


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

    @property
    def unfinished(self) -> bool:
        """Whether indexing would take in more files."""
        return self.pending_files > 0 or not self.complete

    @property
    def unread(self) -> int:
        """Files that should have been searched and could not be read: indexing once more would not help."""
        return sum(self.skipped.get(reason, 0) for reason in UNREAD)


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

    @property
    def low_confidence(self) -> bool:
        """Whether the answer probably is none."""
        return not self.hits or self.confidence < LOW_CONFIDENCE

    @property
    def unfinished(self) -> bool:
        """Whether the answer is partial and indexing would make it whole, or nearer to that."""
        return self.completeness == "partial" and (self.coverage.unfinished or self.coverage.missing_vectors > 0)


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

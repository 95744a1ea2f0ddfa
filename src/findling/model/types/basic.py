"""The vocabulary of files, runs and choices: what answers are made of stands in `answers` and `matches`."""

from __future__ import annotations

from typing import Literal, NamedTuple

from msgspec import Struct

Kind = Literal["code", "docs", "data"]
Mode = Literal["auto", "keyword", "symbol", "semantic", "exact", "hybrid"]
Intent = Literal["symbol", "path", "error", "natural_language"]
Channel = Literal["keyword", "symbol", "exact", "semantic"]
Group = Literal["code", "docs"]
KindFilter = Literal["code", "docs", "tests"]
Freshness = Literal["fresh", "stale", "syncing"]
Completeness = Literal["complete", "partial", "truncated"]
IndexingStatus = Literal["not_indexed", "indexing", "ready", "failed"]

Grade = Literal["certain", "likely", "possible"]

GRADES: tuple[Grade, ...] = ("certain", "likely", "possible")
"""How sure it is that a use means a definition: imports or scopes name it; its type says so, or there is no other of
the name; the name is the same."""

KIND_FILTERS: tuple[KindFilter, ...] = ("code", "docs", "tests")
"""Files that a question may be restricted to: no documents, documents alone, tests alone."""

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


class FileState(Struct, frozen=True):
    """A file as it was when it was read: what proves it unchanged. ``stamp``: as `files.stamp_of`."""

    path: str
    size: int
    stamp: int


class TreeState(NamedTuple):
    """What a listing of a folder tree depended on: numbers that are others where something else is there.

    ``world``: options and variables. ``files``: path -> stamp of files with rules, and of those left out for their
    size, 0 for one that is not there; absolute outside of the tree. ``folders``: path -> stamp, and a number for the
    names in it.
    """

    world: str
    files: dict[str, int]
    folders: dict[str, tuple[int, int]]


UNREAD: tuple[str, ...] = ("unreadable", "failed")
"""Reasons to leave a file out that no rule is behind: an answer without it is not whole, and who asks is told."""


class SkippedFile(Struct, frozen=True):
    """A file that is not indexed, and why: a stable ``reason`` code plus a sentence for people."""

    path: str
    reason: str
    detail: str = ""

    @property
    def rule(self) -> str:
        return f"{self.reason} ({self.detail})" if self.detail else self.reason


class Symbol(Struct, frozen=True):
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


class Chunk(Struct, frozen=True):
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


class Progress(Struct, frozen=True):
    """How far a run is: ``stage`` is listing, indexing, embedding, answering, reading or copying; ``total`` is 0 while
    it is unknown."""

    stage: str
    done: int
    total: int
    bytes_done: int = 0


class IndexReport(Struct, frozen=True):
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

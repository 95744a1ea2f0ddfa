"""What the library gives back: plain values, and the report of a run with the field names of the tools. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from findling.model.types import CHARS_PER_TOKEN

if TYPE_CHECKING:
    from findling.engine.jobs import Job
    from findling.model.collection import Collection
    from findling.model.types import IndexReport

State = Literal["ready", "indexing", "not_indexed", "failed", "missing"]


class CollectionStatus(Struct, frozen=True):
    """One collection as it stands. ``state`` ``missing``: what was added is not there; its index is kept.

    ``tokens`` is an estimate from the size of the text; ``removed`` counts files taken out on request, ``skipped`` by
    reason those that are not indexed.
    """

    name: str
    path: str
    kind: Literal["folder", "file"]
    state: State
    fresh: bool = False
    files: int = 0
    chunks: int = 0
    embedded_chunks: int = 0
    tokens: int = 0
    bytes_on_disk: int = 0
    last_indexed_at: str = ""
    model: str = ""
    removed: int = 0
    skipped: Mapping[str, int] = {}
    notes: tuple[str, ...] = ()


class LibraryStatistics(Struct, frozen=True):
    """Of all collections together; ``last_updated`` is '' and ``embedding_model`` too when nothing is indexed."""

    total_chunks: int
    total_files: int
    total_tokens: int
    embedding_model: str
    last_updated: str
    db_size: int


class Indexed(Struct, frozen=True):
    """A collection that was brought up to date, or why it could not be: then ``report`` is None."""

    collection: Collection
    report: IndexReport | None
    problem: str = ""


class Removed(Struct, frozen=True):
    """What was forgotten. Files are where they were, but for the collections in ``fetched``: their files were the
    library's own copies, and are deleted."""

    names: tuple[str, ...]
    files: int
    chunks: int
    fetched: tuple[str, ...] = ()


class Passage(Struct, frozen=True):
    """One result. ``file_path`` is absolute; ``score`` in [0, 1], of its words alone where it was found ``by_words``;
    ``modified`` in seconds since 1970. ``fetched``: from elsewhere, so not the user's own words. ``translations``: how
    many of the page's stand under it."""

    collection: str
    file_path: str
    chunk_index: int
    content: str
    score: float
    file_size: int
    modified: float
    chunk_offset: int
    token_count: int
    headings: tuple[str, ...] = ()
    fetched: bool = False
    by_words: bool = False
    translations: int = 0

    @property
    def id(self) -> str:
        return f"{self.file_path}:{self.chunk_index}"


class FilePassages(Struct, frozen=True):
    """Passages of one file in order, of ``total`` that it has."""

    collection: str
    file_path: str
    total: int
    passages: tuple[Passage, ...]


def iso_date(seconds: float) -> str:
    """Seconds since 1970 as ``2025-01-20T10:30:00.000Z``."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def job_facts(job: Job) -> dict[str, Any]:
    """A job as it is shown: without what it does not have."""
    facts = {
        "id": job.id,
        "type": job.mode,
        "status": job.status,
        "progress": job.progress,
        "startTime": iso_date(job.started),
        "endTime": None if job.ended is None else iso_date(job.ended),
        "error": job.error or None,
        "result": job.result,
    }
    return {name: value for name, value in facts.items() if value is not None}


_FAILED = ("unreadable", "broken_document", "encrypted")
"""Reasons to leave a file out that are errors of the file, and no rule's choice."""


def indexing_result(report: IndexReport) -> dict[str, Any]:
    """``totalFiles`` are those found and wanted, ``processedFiles`` those in the index; the chunks and (estimated)
    tokens are of what this run read, the time is in milliseconds, ``errors`` name each file that failed."""
    failed = [*report.failed, *(file for file in report.skipped if file.reason in _FAILED)]
    return {
        "totalFiles": report.files + len(failed),
        "processedFiles": report.files,
        "totalChunks": report.chunks,
        "totalTokens": -(-report.bytes_read // CHARS_PER_TOKEN),
        "processingTime": round(report.took_ms),
        "errors": [f"{file.path}: {file.detail or file.reason}" for file in failed],
    }

"""The exact channel: every occurrence of a text or regular expression, with exact counts.

The index only rules files out; what is reported is what stands in the files now. Knows the protocol of where files
come from, not the store behind it.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, Protocol

from findling.errors import InvalidInput
from findling.search.file_scan import FileScan, scan
from findling.search.patterns import CompiledPattern, compile_pattern
from findling.store.trigram_plan import TrigramPlan
from findling.types import FileMatches, GrepResult, SkippedFile

#: A whole search over half a gigabyte without any help from the index takes a quarter of this.
DEFAULT_TIME_LIMIT_S = 30.0
#: What one file may take; only an expression that backtracks without end needs it.
FILE_TIME_LIMIT_S = 2.0
#: After so many files that hit their limit the expression is at fault, not the files.
MAX_SLOW_FILES = 3


@dataclass(frozen=True, slots=True)
class Scope:
    """Which files are searched; an empty scope is all of them."""

    language: str | None = None
    path_globs: tuple[str, ...] = ()
    kind: Literal["code", "docs"] | None = None


@dataclass(frozen=True, slots=True)
class FileRef:
    """A file that may match. ``size`` in bytes, as last seen."""

    path: str
    blob_id: int
    size: int
    language: str = ""


@dataclass(frozen=True, slots=True)
class GrepRequest:
    """What to search for and how much to answer.

    ``limit``: most lines to return, 0 for all. Counting goes on past it unless ``stop_at_limit``. ``context``: lines
    before and after each match, 0 or more. ``time_limit_s``: for the whole search, above 0.
    """

    pattern: str
    literal: bool = False
    ignore_case: bool = False
    word: bool = False
    scope: Scope = field(default_factory=Scope)
    context: int = 0
    limit: int = 0
    stop_at_limit: bool = False
    time_limit_s: float = DEFAULT_TIME_LIMIT_S


class ExactSource(Protocol):
    """Where files come from."""

    def candidate_files(self, plan: TrigramPlan, scope: Scope) -> Iterable[FileRef]:
        """Files in scope that may satisfy ``plan``, in path order: what the index cannot rule out or does not know.

        May be lazy; is asked for no more than the answer needs.
        """
        ...

    def read(self, ref: FileRef) -> bytes | None:
        """The file's text as it is now, the form that was indexed (see ``readable``); None when it has vanished.

        Raises OSError when it cannot be read.
        """
        ...


def grep(source: ExactSource, request: GrepRequest) -> GrepResult:
    """Search. Raises InvalidInput (InvalidPattern for the pattern); a single file never fails the whole."""
    started = time.perf_counter()
    if request.context < 0 or request.limit < 0 or request.time_limit_s <= 0:
        raise InvalidInput("context and limit must not be negative, and the time limit must be above 0.")
    pattern = compile_pattern(
        request.pattern, literal=request.literal, ignore_case=request.ignore_case, word=request.word
    )
    search = _Search(source, request, pattern)
    with _without_cycle_collection():
        search.run()
    return GrepResult(
        pattern=request.pattern,
        files=tuple(search.files),
        total_occurrences=search.occurrences,
        total_lines=search.lines,
        total_files=search.matching_files,
        files_read=search.files_read,
        truncated=search.stopped or search.returned < search.lines,
        skipped=tuple(search.skipped),
        took_ms=(time.perf_counter() - started) * 1000,
        notes=tuple(search.notes()),
    )


@contextmanager
def _without_cycle_collection() -> Iterator[None]:
    """Results make many small objects and no cycles: looking for some among them costs a quarter of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def exact_places(source: ExactSource, text: str, most: int) -> Iterator[tuple[FileRef, int]]:
    """The first ``most`` files that hold ``text`` literally, each with the first line where it stands.

    Upper case in ``text`` must match; without any, case does not matter.
    """
    pattern = compile_pattern(text, literal=True, ignore_case=text == text.lower(), word=False)
    given = 0
    for ref in source.candidate_files(pattern.plan, Scope()):
        try:
            data = source.read(ref)
        except OSError:
            continue  # unreadable since it was indexed: nothing in it can be shown
        if data is None:
            continue
        found = scan(
            pattern, data, wanted=1, context=0, deadline=time.monotonic() + FILE_TIME_LIMIT_S, stop_when_full=True
        )
        if found.lines:
            yield ref, found.lines[0].line
            given += 1
            if given >= most:
                return


class _Search:
    """The running totals of one search."""

    def __init__(self, source: ExactSource, request: GrepRequest, pattern: CompiledPattern) -> None:
        self.source = source
        self.request = request
        self.pattern = pattern
        self.deadline = time.monotonic() + request.time_limit_s
        self.files: list[FileMatches] = []
        self.skipped: list[SkippedFile] = []
        self.occurrences = self.lines = self.matching_files = self.files_read = self.returned = 0
        self.slow_files = 0
        self.stop_reason: Literal["", "limit", "time", "slow"] = ""

    @property
    def stopped(self) -> bool:
        """Whether the counts are of a part only."""
        return self.stop_reason != "" or self.slow_files > 0

    def run(self) -> None:
        limit = self.request.limit
        for ref in self.source.candidate_files(self.pattern.plan, self.request.scope):
            if limit and self.request.stop_at_limit and self.returned >= limit:
                self.stop_reason = "limit"
                return
            now = time.monotonic()
            if now > self.deadline:
                self.stop_reason = "time"
                return
            data = self._read(ref)
            if data is None:
                continue
            self.files_read += 1
            found = scan(
                self.pattern,
                data,
                wanted=limit - self.returned if limit else None,
                context=self.request.context,
                deadline=min(self.deadline, now + FILE_TIME_LIMIT_S),
                stop_when_full=self.request.stop_at_limit,
            )
            self._take(ref, found)
            if self.slow_files >= MAX_SLOW_FILES:
                self.stop_reason = "slow"
                return
        if limit and self.request.stop_at_limit and self.returned >= limit:
            self.stop_reason = "limit"

    def _read(self, ref: FileRef) -> bytes | None:
        try:
            return self.source.read(ref)
        except OSError as error:
            self.skipped.append(SkippedFile(ref.path, "unreadable", error.strerror or type(error).__name__))
            return None

    def _take(self, ref: FileRef, found: FileScan) -> None:
        if found.cut:
            self.slow_files += 1
            self.skipped.append(
                SkippedFile(
                    ref.path, "pattern_too_slow", "The expression took too long here; the rest is not searched."
                )
            )
        if not found.line_count:
            return
        self.lines += found.line_count
        self.occurrences += found.occurrences
        self.matching_files += 1
        if found.lines:
            self.returned += len(found.lines)
            self.files.append(FileMatches(ref.path, found.lines, found.occurrences))

    def notes(self) -> Iterable[str]:
        if self.stop_reason == "limit":
            yield f"Stopped after {self.returned:,} lines; there may be more."
        elif self.returned < self.lines:
            yield f"Showing {self.returned:,} of {self.lines:,} lines."
        if self.stop_reason == "time":
            yield f"Stopped after {self.request.time_limit_s:g} s; files after the last one shown were not searched."
        if self.slow_files:
            yield (
                "The expression backtracks too much and was cut by the time limit; repeats inside repeats, such as "
                "(a+)+, cause that. Counts are of what was searched."
            )

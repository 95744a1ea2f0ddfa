"""The exact channel: every occurrence of a text or regular expression, with exact counts.

The index only rules files out; what is reported is what stands in the files now. Knows the protocol of where files
come from, not the store behind it.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, Self

from findling.model.errors import InvalidInput
from findling.model.trigram_plan import TrigramPlan
from findling.model.types import FileMatches, Freshness, GrepResult, SkippedFile
from findling.search.file_scan import scan
from findling.search.patterns import compile_pattern

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
    before and after each match, 0 or more. ``time_limit_s``: for the whole search, above 0. Without ``keep_lines``
    only each file's count is answered, and ``limit`` is of files.
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
    keep_lines: bool = True


class ExactSource(Protocol):
    """Where files come from."""

    def candidate_files(self, plan: TrigramPlan, scope: Scope) -> Iterable[FileRef]:
        """Files in scope that may satisfy ``plan``, in path order: what the index cannot rule out or does not know.

        May be lazy; is asked for no more than the answer needs.
        """
        ...

    def read(self, ref: FileRef) -> bytes | None:
        """The file's text as it is now, in the form that was indexed: UTF-8 without a mark. None when it has vanished.

        Raises OSError when it cannot be read.
        """
        ...


def grep(source: ExactSource, request: GrepRequest) -> GrepResult:
    """Search, and hold the whole answer: ``request.limit`` bounds it. Raises as `grep_files` does."""
    with grep_files(source, request) as found:
        return found.collect()


def grep_files(source: ExactSource, request: GrepRequest) -> Grep:
    """Search file by file; what is held is one file's answer.

    Raises InvalidInput (InvalidPattern for the pattern); a single file never fails the whole.
    """
    return Grep(source, request)


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


def exact_places(source: ExactSource, text: str) -> Iterator[tuple[FileRef, int]]:
    """The files that hold ``text`` literally, each with the first line where it stands; lazily, in path order.

    Upper case in ``text`` must match; without any, case does not matter.
    """
    pattern = compile_pattern(text, literal=True, ignore_case=text == text.lower(), word=False)
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


class Grep:
    """A search under way: iterate over the files with a match, in path order, once; then ask for the ``totals``.

    The time between two files is the caller's and does not count as the search's. Close it, or use it as a context
    manager, when it may be left before its end.
    """

    def __init__(
        self,
        source: ExactSource,
        request: GrepRequest,
        *,
        freshness: Freshness = "fresh",
        stale_reason: str = "",
        left_out: tuple[SkippedFile, ...] = (),
        notes_before: tuple[str, ...] = (),
        notes_after: tuple[str, ...] = (),
    ) -> None:
        """The keywords are what the totals are to say besides the counts."""
        if request.context < 0 or request.limit < 0 or request.time_limit_s <= 0:
            raise InvalidInput("context and limit must not be negative, and the time limit must be above 0.")
        self.pattern = request.pattern
        self._request = request
        self._compiled = compile_pattern(
            request.pattern, literal=request.literal, ignore_case=request.ignore_case, word=request.word
        )
        self._source = source
        self._freshness: Freshness = freshness
        self._stale_reason = stale_reason
        self._left_out = left_out
        self._notes_before, self._notes_after = notes_before, notes_after
        self._skipped: list[SkippedFile] = []
        self._occurrences = self._lines = self._matching_files = self._files_read = self._slow_files = 0
        self._returned = 0  # lines, or files where lines are not kept
        self._stop_reason: Literal["", "limit", "time", "slow"] = ""
        self._finished = False
        self._started = time.monotonic()
        self._took_s = 0.0
        self._candidates: Iterable[FileRef] | None = None
        self._running = self._run()

    def __iter__(self) -> Iterator[FileMatches]:
        return self._running

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def list_candidates(self) -> None:
        """Ask the source for every file that may match now; afterwards it is only asked to read."""
        self._candidates = list(self._source.candidate_files(self._compiled.plan, self._request.scope))

    def close(self) -> None:
        self._running.close()

    def collect(self) -> GrepResult:
        """The whole answer at once."""
        with _without_cycle_collection():
            files = tuple(self)
        return replace(self.totals, files=files)

    @property
    def totals(self) -> GrepResult:
        """Counts and notes, without the files. They are of the whole search once the iteration has ended."""
        request = self._request
        counted = self._lines if request.keep_lines else self._matching_files
        # cut by a limit of time or lines, or left by the caller
        partly = not self._finished or self._stop_reason != "" or self._slow_files > 0
        return GrepResult(
            pattern=request.pattern,
            files=(),
            total_occurrences=self._occurrences,
            total_lines=self._lines,
            total_files=self._matching_files,
            files_read=self._files_read,
            truncated=partly or self._returned < counted,
            skipped=(*self._skipped, *self._left_out),
            took_ms=self._took_s * 1000,
            freshness=self._freshness,
            notes=(*self._notes_before, *self._notes(counted), *self._notes_after),
            counts_exact=not partly,
            stale_reason=self._stale_reason,
        )

    def _run(self) -> Generator[FileMatches, None, None]:
        self._started = time.monotonic()
        try:
            for found in self._search():
                given = time.monotonic()
                yield found
                self._started += time.monotonic() - given
            self._finished = True
        finally:
            self._took_s = time.monotonic() - self._started

    def _search(self) -> Iterator[FileMatches]:
        request = self._request
        stops = request.limit if request.stop_at_limit else 0
        candidates = self._candidates
        if candidates is None:
            candidates = self._source.candidate_files(self._compiled.plan, request.scope)
        for ref in candidates:
            now, deadline = time.monotonic(), self._started + request.time_limit_s
            if stops and self._returned >= stops:
                break
            if now > deadline:
                self._stop_reason = "time"
                return
            with _without_cycle_collection():
                found = self._scan(ref, min(deadline, now + FILE_TIME_LIMIT_S))
            if found is not None:
                yield found
            if self._slow_files >= MAX_SLOW_FILES:
                self._stop_reason = "slow"
                return
        if stops and self._returned >= stops:
            self._stop_reason = "limit"

    def _scan(self, ref: FileRef, deadline: float) -> FileMatches | None:
        try:
            data = self._source.read(ref)
        except OSError as error:
            self._skipped.append(SkippedFile(ref.path, "unreadable", error.strerror or type(error).__name__))
            return None
        if data is None:
            return None
        self._files_read += 1
        limit, keep_lines = self._request.limit, self._request.keep_lines
        found = scan(
            self._compiled,
            data,
            wanted=(limit - self._returned if limit else None) if keep_lines else 0,
            context=self._request.context,
            deadline=deadline,
            stop_when_full=self._request.stop_at_limit and keep_lines,
        )
        if found.cut:
            self._slow_files += 1
            detail = "The expression took too long here; the rest is not searched."
            self._skipped.append(SkippedFile(ref.path, "pattern_too_slow", detail))
        if not found.line_count:
            return None
        self._lines += found.line_count
        self._occurrences += found.occurrences
        self._matching_files += 1
        if keep_lines:
            shown = len(found.lines)
        else:
            shown = 1 if not limit or self._returned < limit else 0
        self._returned += shown
        return FileMatches(ref.path, found.lines, found.occurrences) if shown else None

    def _notes(self, counted: int) -> Iterable[str]:
        if self._compiled.note:
            yield self._compiled.note
        what = "lines" if self._request.keep_lines else "files"
        if self._stop_reason == "limit":
            yield f"Stopped after {self._returned:,} {what}; there may be more."
        elif self._returned < counted:
            yield f"Showing {self._returned:,} of {counted:,} {what}."
        if self._stop_reason == "time":
            yield f"Stopped after {self._request.time_limit_s:g} s; files after the last one shown were not searched."
        if self._slow_files:
            yield (
                "The expression backtracks too much and was cut by the time limit; repeats inside repeats, such as "
                "(a+)+, cause that. Counts are of what was searched."
            )

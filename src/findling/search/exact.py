"""The exact channel: every occurrence of a text or regular expression, with exact counts.

The index only rules files out; what is reported is what stands in the files now. Knows the protocol of where files
come from, not the store behind it.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import Literal, Protocol, Self

from msgspec import Struct, field
from msgspec.structs import replace

from findling.model.errors import InvalidInput
from findling.model.plurals import count
from findling.model.secrets import MASK, WHAT_MASKS_ARE
from findling.model.text_encodings import TextFilter
from findling.model.trigram_plan import ALL, TrigramPlan
from findling.model.types import FileMatches, GrepResult, LineMatch, SkippedFile
from findling.search.file_scan import MAX_SPANS, Reach, Wanted, may_match, scan
from findling.search.patterns import CompiledPattern, compile_pattern, one_of
from findling.search.ranking.priors import path_flags
from findling.search.scope import lies_in

#: A whole search over half a gigabyte without any help from the index takes a quarter of this.
DEFAULT_TIME_LIMIT_S = 30.0
#: Processor time that an expression may take beyond the time for reading the text.
DEFAULT_CPU_S = 2.0
#: Processor time for reading the text; an expression that matches every word needs as much.
CPU_S_PER_BYTE = 2e-7
#: The part of an expression's processor time that one file may take: other files may be harmless.
FILE_SHARE = 0.25
#: The most text that a search reads.
DEFAULT_MAX_BYTES = 300_000_000


class Scope(Struct, frozen=True):
    """Which files are searched; an empty scope is all of them. ``languages``: ids, those with ``!`` before them are
    left out. ``paths``: files, and folders with all that is in them. ``within``: a test for paths. ``tests``: also
    files that are tests."""

    languages: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    within: Callable[[str], bool] | None = None
    tests: bool = True

    def path_filter(self) -> Callable[[str], bool]:
        """Whether a path is in scope, as far as the path tells."""
        folders = () if "" in self.paths else self.paths
        within = self.within
        if within is None and not folders and self.tests:
            return lambda _: True
        return lambda path: (
            (not folders or any(lies_in(path, folder) for folder in folders))
            and (within is None or within(path))
            and (self.tests or "test" not in path_flags(path))
        )

    def allows_language(self, language: str) -> bool:
        wanted = [name for name in self.languages if not name.startswith("!")]
        return f"!{language}" not in self.languages and (not wanted or language in wanted)


class FileRef(Struct, frozen=True):
    """A file that may match. ``size`` in bytes, as last seen. ``blob_id`` is negative where no index has it."""

    path: str
    blob_id: int
    size: int
    language: str = ""


Shape = Literal["lines", "counts", "without"]


class GrepRequest(Struct, frozen=True):
    """What to search for and how much to answer.

    ``pattern``: an expression, or several of which any may match. ``inverted``: the lines that do not match.
    ``multiline``: matches may span lines. ``limit``: most lines to return, 0 for all. Counting goes on past it unless
    ``stop_at_limit``. ``per_file``: most lines of one file to find, 0 for all. ``before`` and ``after``: lines around
    each match; ``definitions``: instead, the definition that it stands in, of a long one what is near the match, and of
    tests only with ``test_definitions``.
    ``replacement``: what takes the place of each match, with ``$1`` for a group. ``spans``: most columns that are kept
    of a line; ``offsets``: with the place of each line in its text.

    ``shape``: ``counts`` answers only each file's counts, ``without`` the files that have no match; ``limit`` is of
    files then. ``time_limit_s``, ``cpu_s`` and ``max_bytes`` are for the whole search, above 0.
    """

    pattern: str | tuple[str, ...]
    literal: bool = False
    ignore_case: bool = False
    word: bool = False
    inverted: bool = False
    multiline: bool = False
    scope: Scope = field(default_factory=Scope)
    before: int = 0
    after: int = 0
    definitions: bool = False
    test_definitions: bool = True
    limit: int = 0
    per_file: int = 0
    stop_at_limit: bool = False
    replacement: str | None = None
    spans: int = MAX_SPANS
    offsets: bool = False
    shape: Shape = "lines"
    time_limit_s: float = DEFAULT_TIME_LIMIT_S
    cpu_s: float = DEFAULT_CPU_S
    max_bytes: int = DEFAULT_MAX_BYTES

    def compiled(self) -> CompiledPattern:
        """Raises InvalidInput, InvalidPattern for the pattern."""
        numbers = (self.before, self.after, self.limit, self.per_file)
        if min(numbers) < 0 or min(self.time_limit_s, self.cpu_s, self.max_bytes, self.spans) <= 0:
            raise InvalidInput("Counts of lines must not be negative, and limits of time and text must be above 0.")
        if self.replacement is not None and (self.multiline or self.inverted):
            raise InvalidInput("A replacement needs matches within a line.", remedy="Leave the replacement out.")
        patterns = (self.pattern,) if isinstance(self.pattern, str) else self.pattern
        several = len(patterns) > 1
        text = one_of(patterns, literal=self.literal, multiline=self.multiline) if several else "".join(patterns)
        return compile_pattern(
            text,
            literal=self.literal and not several,
            ignore_case=self.ignore_case,
            word=self.word,
            multiline=self.multiline,
        )


class ExactSource(Protocol):
    """Where files come from."""

    def candidate_files(self, plan: TrigramPlan, scope: Scope) -> Iterable[FileRef]:
        """Files in scope that may satisfy ``plan``, in path order: what the index cannot rule out or does not know.

        May be lazy; is asked for no more than the answer needs.
        """
        ...

    def read(self, ref: FileRef, of_use: TextFilter | None = None) -> bytes | SkippedFile | None:
        """The file's text as it is now, in the form that is indexed: UTF-8 without a mark, secrets masked; nothing of
        one that is not ``of_use``. Why it is not searched where only reading it could tell; None when it has vanished,
        or is out of scope.

        Raises OSError when it cannot be read.
        """
        ...


class Definitions(Protocol):
    def __call__(self, ref: FileRef, data: bytes) -> Sequence[tuple[int, int]]:
        """The first and last line of each definition in a file's text."""
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
            data = source.read(ref, partial(may_match, pattern))
        except OSError:
            continue  # it became unreadable after it was indexed
        if not isinstance(data, bytes):
            continue
        found = scan(pattern, data, _FIRST_LINE, deadline=time.thread_time() + DEFAULT_CPU_S)
        if found.lines:
            yield ref, found.lines[0].line


_FIRST_LINE = Wanted(lines=1, stop_when_full=True)


WHOLE_LINES = 60
"""A definition of at most so many lines is shown whole around a match."""

SIDE_LINES = 10
"""Of a longer one, the lines that are shown on each side of a match."""


def _around(lines: Sequence[tuple[int, int]]) -> Reach:
    """The lines of the innermost definition around a line. ``definitions``: the first and last line of each."""

    def reach(line: int) -> tuple[int, int]:
        holding = [(first, last) for first, last in lines if first <= line <= last]
        if not holding:
            return 0, 0
        first, last = max(holding, key=lambda each: (each[0], -each[1]))
        most = WHOLE_LINES if last - first < WHOLE_LINES else SIDE_LINES
        return min(most, line - first), min(most, last - line)

    return reach


class Searchable(Struct, frozen=True):
    """What a search's totals say besides what it found. ``files``: how many there are in scope, None for no more than
    the candidates. ``left_out``: what is not searched, by its place, name or size."""

    files: int | None = None
    left_out: tuple[SkippedFile, ...] = ()
    notes: tuple[str, ...] = ()


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
        definitions: Definitions | None = None,
        about: Callable[[], Searchable] = lambda: Searchable(),
    ) -> None:
        """``about``: asked once, when the totals are, or by `settle`."""
        self._request = request
        self._compiled = request.compiled()
        self.pattern = self._compiled.text
        self._source = source
        self._definitions = definitions
        self._about = about
        self._searchable: Searchable | None = None
        self._skipped: list[SkippedFile] = []
        self._occurrences = self._lines = self._matching_files = self._files_read = self._slow_files = 0
        self._seen = self._gone = self._left = self._unindexed = self._bytes_read = 0
        self._returned = 0  # lines that were found, or files if only files are counted
        self._shows_masks = False
        self._folds_tests = False
        self._stop_reason: Literal["", "limit", "time", "processor", "text"] = ""
        self._finished = False
        self._started = time.monotonic()
        self._took_s = self._cpu_spent_s = 0.0
        self._candidates: Iterator[FileRef] | None = None
        self._last_path = "none"
        template = None if request.replacement is None else self._compiled.template(request.replacement)
        self._wanted = Wanted(
            spans=request.spans, inverted=request.inverted, template=template, offsets=request.offsets
        )
        if request.before or request.after:
            self._wanted = replace(self._wanted, reach=lambda _: (request.before, request.after))
        self._running = self._run()

    def __iter__(self) -> Iterator[FileMatches]:
        return self._running

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def settle(self) -> None:
        """Ask the source now for all that it is asked for, but for reading files: its snapshot ends."""
        self._candidates = iter(list(self._listing()))
        _ = self.searchable

    def _listing(self) -> Iterator[FileRef]:
        """The files that may match. The source is asked for them once."""
        if self._candidates is None:
            every = self._request.inverted or self._request.shape == "without"
            plan = ALL if every else self._compiled.plan
            self._candidates = iter(self._source.candidate_files(plan, self._request.scope))
        return self._candidates

    @property
    def searchable(self) -> Searchable:
        """What there is to search; all files are listed for it."""
        if self._searchable is None:
            self._searchable = self._about()
        return self._searchable

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
        counted = self._counted
        rest = list(self._listing())
        self._candidates, self._left = iter(rest), len(rest)
        files = self.searchable.files
        # a limit of time or lines ended it, or the caller stopped
        partly = not self._finished or self._stop_reason != "" or self._slow_files > 0
        searched = self._files_read if files is None else files - self._left - self._gone - len(self._skipped)
        return GrepResult(
            pattern=self.pattern,
            files=(),
            total_occurrences=self._occurrences,
            total_lines=self._lines,
            total_files=self._matching_files,
            files_searched=searched,
            files_read=self._files_read,
            unindexed=self._unindexed,
            truncated=partly or self._returned < counted,
            skipped=(*self._skipped, *self.searchable.left_out),
            took_ms=self._took_s * 1000,
            notes=(*self.searchable.notes, *self._notes(counted)),
            counts_exact=not partly,
        )

    @property
    def _counted(self) -> int:
        return self._lines if self._request.shape == "lines" else self._matching_files

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
        while (ref := next(self._listing(), None)) is not None:
            is_full = bool(stops) and self._returned >= stops
            self._stop_reason = "limit" if is_full else self._used_up()
            if self._stop_reason:
                self._candidates = chain([ref], self._listing())
                return
            self._seen += 1
            self._last_path = ref.path
            with _without_cycle_collection():
                found = self._scan(ref)
            if found is not None:
                yield found
        if stops and self._returned >= stops:
            self._stop_reason = "limit"

    def _used_up(self) -> Literal["", "time", "processor", "text"]:
        """The limit that the search has used up."""
        if time.monotonic() > self._started + self._request.time_limit_s:
            return "time"
        if self._bytes_read >= self._request.max_bytes:
            return "text"
        return "processor" if self._cpu_left_s <= 0 else ""

    @property
    def _cpu_left_s(self) -> float:
        return self._request.cpu_s + self._bytes_read * CPU_S_PER_BYTE - self._cpu_spent_s

    def _scan(self, ref: FileRef) -> FileMatches | None:
        request = self._request
        size = 0  # bytes of every text that was read, with a match or without

        def of_use(text: bytes) -> bool:
            nonlocal size
            size = len(text)
            return may_match(self._compiled, text)

        try:
            data = self._source.read(ref, None if request.inverted else of_use)
        except OSError as error:
            data = SkippedFile(ref.path, "unreadable", error.strerror or type(error).__name__)
        if isinstance(data, SkippedFile):
            self._skipped.append(data)
            return None
        if data is None:
            self._gone += 1
            return None
        self._files_read += 1
        self._unindexed += ref.blob_id < 0
        size = len(data) or size
        self._bytes_read += size
        began = time.thread_time()
        own_s = size * CPU_S_PER_BYTE
        deadline = began + own_s + min(request.cpu_s * FILE_SHARE, self._cpu_left_s - own_s)
        found = scan(self._compiled, data, self._wanted_of(ref, data), deadline=deadline)
        self._cpu_spent_s += time.thread_time() - began
        if found.cut:
            self._slow_files += 1
            detail = "The expression took too long here; the rest is not searched."
            self._skipped.append(SkippedFile(ref.path, "pattern_too_slow", detail))
        if request.shape == "without":
            if found.line_count or found.cut:
                return None
            self._matching_files += 1
            return self._given(FileMatches(ref.path, (), 0, 0, size), 1)
        if not found.line_count:
            return None
        self._shows_masks = self._shows_masks or any(map(_shows_mask, found.lines))
        self._lines += found.line_count
        self._occurrences += found.occurrences
        self._matching_files += 1
        lines = found.lines if request.shape == "lines" else ()
        matches = FileMatches(ref.path, lines, found.occurrences, found.line_count, size)
        return self._given(matches, len(lines) if request.shape == "lines" else 1)

    def _given(self, matches: FileMatches, shown: int) -> FileMatches | None:
        limit = self._request.limit
        if not shown or (self._request.shape != "lines" and limit and self._returned >= limit):
            return None
        self._returned += shown
        return matches

    def _wanted_of(self, ref: FileRef, data: bytes) -> Wanted:
        request = self._request
        per_file = request.per_file or None
        if request.shape == "without":
            return replace(self._wanted, lines=1, stop_when_full=True)
        if request.shape == "counts":
            return replace(self._wanted, lines=per_file or 0, stop_when_full=per_file is not None)
        if not (request.limit or per_file or request.definitions):
            return self._wanted
        left = request.limit - self._returned if request.limit else None
        most = min((number for number in (left, per_file) if number is not None), default=None)
        stops = request.stop_at_limit or most == per_file
        reach = self._wanted.reach
        if request.definitions and self._definitions is not None:
            if request.test_definitions or "test" not in path_flags(ref.path):
                reach = _around_lazily(self._definitions, ref, data)
            else:
                self._folds_tests = True
        return replace(self._wanted, lines=most, stop_when_full=most is not None and stops, reach=reach)

    def _notes(self, counted: int) -> Iterable[str]:
        request = self._request
        if self._compiled.note:
            yield self._compiled.note
        what = "lines" if request.shape == "lines" else "files"
        if self._stop_reason == "limit":
            yield f"Stopped after {self._returned:,} {what}; there may be more."
        elif self._returned < counted:
            yield f"Showing {self._returned:,} of {counted:,} {what}."
        limits = {
            "time": f"{request.time_limit_s:g} s",
            "processor": f"{request.cpu_s:g} s of processor time",
            "text": f"{request.max_bytes / 1e6:,.0f} MB of text",
        }
        if self._stop_reason in limits:
            candidates = count(self._seen + self._left, "file")
            yield (
                f"Stopped after {limits[self._stop_reason]}: {self._seen:,} of {candidates} that may match were "
                f"searched, up to {self._last_path}."
            )
        if self._shows_masks:
            yield WHAT_MASKS_ARE
        if self._folds_tests and self._returned:
            yield "Of tests only the lines that match are shown; name their folder to see the definitions around them."
        if self._slow_files:
            yield (
                "The expression backtracks too much and was cut by its limit of processor time; repeats inside "
                "repeats, such as (a+)+, cause that. Counts are of what was searched."
            )


def _shows_mask(line: LineMatch) -> bool:
    return any(MASK in text for text in (line.text, *line.before, *line.after))


def _around_lazily(definitions: Definitions, ref: FileRef, data: bytes) -> Reach:
    """As `_around`, but a file is parsed only if something in it matches."""
    known: list[Reach] = []

    def reach(line: int) -> tuple[int, int]:
        if not known:
            known.append(_around(definitions(ref, data)))
        return known[0](line)

    return reach

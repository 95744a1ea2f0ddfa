"""Several engines asked as one: each is made fresh by itself, then all are one index and give one order.

One that cannot be searched costs itself and is named; the others answer. The first part of every path is the name of
the collection that has it. For one thread; the engines are their owner's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar, Unpack, cast

from msgspec.structs import replace

from findling import sources
from findling.config.roots import BESIDE
from findling.engine import parts
from findling.engine.engine import GREP_LINES, Engine
from findling.engine.freshness import Freshened, Question
from findling.engine.questions import Questions
from findling.engine.scope import relative
from findling.model.errors import Cancelled, FindlingError, IndexNotReady, InvalidInput, NotFound
from findling.model.types import Coverage, FileMatches, Freshness, GrepOptions, GrepResult
from findling.search.scope import glob_matcher

if TYPE_CHECKING:
    from findling.engine.answers import Answers
    from findling.engine.jobs import Job
    from findling.model.reports import Explanation
    from findling.search.exact import Grep
    from findling.search.names import FileSymbols

_Asked = TypeVar("_Asked")
_Answer = TypeVar("_Answer")


class Engines(Questions):
    """``engines`` by the names that stand before their paths."""

    def __init__(self, engines: Mapping[str, Engine]) -> None:
        self.engines = engines
        self._absent: dict[str, FindlingError] = {}
        """By name the engines that lack the ref of this object, and why."""
        self.problems: dict[str, FindlingError] = {}
        """By name what the last question could not search, and why."""
        self.fresh: dict[str, tuple[Freshness, str]] = {}
        """By name how fresh the last question found what it could search, and why not fresher."""
        self._answers: dict[tuple[str, ...], Answers] = {}

    def at(self, ref: str | None) -> Self:
        """Those that have a ref; the others are among its ``problems``, which it shares with this object: a question
        with a ``ref`` is asked of an object that the caller never sees. Raises `RefNotIndexed` where none has it."""
        found = copy(self)
        found._absent, found._answers = dict(self._absent), {}
        found.engines = of_each(self.engines, lambda engine: engine.at(ref), found._absent)
        found._forget_problems()
        return found

    def of(self, path: str) -> tuple[Engine, str]:
        """The engine that has a path of an answer, and the path as it has it. Raises `NotFound`."""
        name, own = self._placed(path)
        return self.engines[name], own

    def _placed(self, path: str) -> tuple[str, str]:
        """The name of the engine that has a path, and the path as it has it. Raises `NotFound`."""
        found = collection_of(self.engines, path)
        if found is None:
            names = ", ".join(self.engines)
            raise NotFound(
                f"{path} is in none of the folders that are searched.",
                remedy=f"Begin the path with one of these: {names}.",
            )
        return found

    def paths_meant(self, path: str) -> list[str]:
        """As it begins with a name; else from the working directory, which may lie in several: the innermost first."""
        named = collection_of(self.engines, path)
        found = ["/".join(named)] if named and not Path(path).is_absolute() else []
        for name, engine in sorted(self.engines.items(), key=lambda item: -len(item[1].root.parts)):
            with suppress(InvalidInput):
                found.append(f"{name}/{relative(engine.root, Path.cwd() / path)}")
        return found or [path]

    def answered(self, asked: Question, answer: Callable[[Answers, Freshened], _Answer]) -> _Answer:
        """The time is for all together. Raises what the first says where none can be searched."""
        started = time.monotonic()
        fresh = self._freshened(asked)
        try:
            return answer(self._of(fresh), Freshened(*_joined(fresh), started, asked.wait_s))
        except (Cancelled, InvalidInput, NotFound):
            raise
        except FindlingError:  # one failed; asked alone, it mends its index or says why it cannot

            def alone(name: str) -> tuple[Freshness, str]:
                engine = self.engines[name]
                engine.answered(_of_one(asked, name), answer)
                engine.store.put_notes_back()
                return fresh[name]

            fresh = of_each({name: name for name in fresh}, alone, self.problems)
            return answer(self._of(fresh), Freshened(*_joined(fresh), started, asked.wait_s))

    def freshen(self, asked: Question) -> tuple[Freshness, str]:
        """As `Engine.freshen`; the time is for all together."""
        return _joined(self._freshened(asked))

    def each(self, ask: Callable[[str], _Answer]) -> dict[str, _Answer]:
        """What ``ask`` gives for each name. Those for which it fails are among the ``problems``; raises what the first
        of them says where it fails for all."""
        self._forget_problems()
        return of_each({name: name for name in self.engines}, ask, self.problems)

    def _freshened(self, asked: Question) -> dict[str, tuple[Freshness, str]]:
        time_s = shares(asked.wait_s, len(self.engines))

        def freshen(name: str) -> tuple[Freshness, str]:
            engine = self.engines[name]
            found = engine.freshen(replace(_of_one(asked, name), wait_s=next(time_s)))
            if not engine.store.searchable:
                raise IndexNotReady(f"{engine.root} is not indexed yet.", remedy="Ask again in a moment.")
            return found

        self.fresh = self.each(freshen)
        return self.fresh

    def grep(
        self, pattern: str | Sequence[str], *, limit: int = GREP_LINES, **options: Unpack[GrepOptions]
    ) -> GrepResult:
        """As `Engine.grep`, of each by itself: nothing is put in order; at most ``limit`` lines of each."""
        with self.grep_stream(pattern, limit=limit, **options) as found:
            files = tuple(found)
        return replace(found.totals, files=files)

    def grep_stream(
        self, pattern: str | Sequence[str], *, limit: int = 0, **options: Unpack[GrepOptions]
    ) -> SeveralGreps:
        """As `Engine.grep_stream`, of one after the other; at most ``limit`` lines of each."""
        self._forget_problems()
        matches, asked = glob_matcher(options.get("path_globs", ())), options.get("within")

        def begin(name: str) -> Grep:
            before = "" if name == BESIDE else f"{name}/"

            def within(path: str) -> bool:
                whole = f"{before}{path}"
                return matches(whole) and (asked is None or asked(whole))

            own = cast("GrepOptions", {**options, "path_globs": (), "within": within})
            return self.engines[name].grep_stream(pattern, limit=limit, **own)

        return SeveralGreps(pattern, of_each({name: name for name in self.engines}, begin, self.problems))

    def file_symbols(self, path: str) -> FileSymbols | None:
        """As `Engine.file_symbols`. Raises `NotFound`."""
        name, own = self._placed(path)
        found = self.engines[name].file_symbols(own)
        return None if found is None else replace(found, path=f"{name}/{found.path}")

    def why(self, path: str) -> Explanation:
        """As `Engine.why`. Raises `NotFound`."""
        name, own = self._placed(path)
        found = self.engines[name].why(own or ".")
        return replace(found, path=f"{name}/{found.path}")

    def listed(self) -> tuple[set[str], set[str]]:
        """As `Engine.listed`, of those that have an index."""
        files: set[str] = set()
        folders = {""}
        for name, engine in self.engines.items():
            if engine.coverage().files:
                begins = "" if name == BESIDE else f"{name}/"  # as browsers leave out a folder that is called so
                below = [{f"{begins}{path}".rstrip("/") for path in part} for part in engine.listed()]
                files |= below[0]
                folders |= {*below[1], *sources.folders_above(below[0])}
        return files, folders

    def coverage(self) -> Coverage:
        """As `Engine.coverage`."""
        return parts.state.joined_coverage(
            (engine.coverage() for engine in self.engines.values()), (engine.root for engine in self.engines.values())
        )

    @property
    def active_job(self) -> Job | None:
        """The first run that goes on over any of them."""
        return next(filter(None, (engine.active_job for engine in self.engines.values())), None)

    def stop_jobs(self) -> int:
        """As `Engine.stop_jobs`."""
        return sum(engine.stop_jobs() for engine in self.engines.values())

    @property
    def by_words(self) -> Mapping[str, str]:
        """By name the collections that the last question could not search by meaning, though others; and why."""
        return self._of(dict(self._searchable())).searched.without_meaning()

    def never_indexed(self) -> Coverage:
        """As `Engine.never_indexed`, of those that the last question searched."""
        return parts.state.joined_coverage(
            (engine.never_indexed() for _, engine in self._searchable()),
            (engine.root for _, engine in self._searchable()),
        )

    def _forget_problems(self) -> None:
        """Those of the last question; that an engine lacks the ref stays true."""
        self.problems.clear()
        self.problems.update(self._absent)

    def _searchable(self) -> Iterator[tuple[str, Engine]]:
        return ((name, engine) for name, engine in self.engines.items() if name not in self.problems)

    def _of(self, names: Iterable[str]) -> Answers:
        wanted = tuple(names)
        if wanted not in self._answers:
            collections = [parts.searched.OpenCollection(self.engines[name].store, name) for name in wanted]
            self._answers[wanted] = parts.answers.Answers(parts.searched.Searched(collections))
        return self._answers[wanted]


class SeveralGreps:
    """Searches of several engines as one: iterate over the files with a match, then ask for the ``totals``. To be used
    as a context manager."""

    def __init__(self, pattern: str | Sequence[str], greps: Mapping[str, Grep]) -> None:
        """``greps`` by the names that stand before their paths."""
        self.pattern = pattern if isinstance(pattern, str) else "|".join(pattern)
        self._greps = greps

    def __iter__(self) -> Iterator[FileMatches]:
        for name, grep in self._greps.items():
            for file in grep:
                yield replace(file, path=f"{name}/{file.path}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for grep in self._greps.values():
            grep.close()

    @property
    def totals(self) -> GrepResult:
        """Counts and notes of all, without the files."""
        found = {name: grep.totals for name, grep in self._greps.items()}
        every = list(found.values())
        return GrepResult(
            pattern=self.pattern,
            files=(),
            total_occurrences=sum(each.total_occurrences for each in every),
            total_lines=sum(each.total_lines for each in every),
            total_files=sum(each.total_files for each in every),
            files_searched=sum(each.files_searched for each in every),
            files_read=sum(each.files_read for each in every),
            unindexed=sum(each.unindexed for each in every),
            truncated=any(each.truncated for each in every),
            skipped=tuple(
                replace(file, path=f"{name}/{file.path}") for name, each in found.items() for file in each.skipped
            ),
            took_ms=sum(each.took_ms for each in every),
            notes=tuple(f"{name}: {note}" for name, each in found.items() for note in each.notes),
            counts_exact=all(each.counts_exact for each in every),
        )


def collection_of(names: Container[str], path: str) -> tuple[str, str] | None:
    """The longest of some names that a path begins with, and the rest; None where there is none. A path that begins
    with no other is in ``.``."""
    path = path.removeprefix("./").strip("/")
    end = len(path)
    while end > 0:
        if path[:end] in names:
            return path[:end], path[end + 1 :]
        end = path.rfind("/", 0, end)
    return (BESIDE, path) if BESIDE in names else None


def _of_one(asked: Question, name: str) -> Question:
    """A question as one engine has it, without its name before paths."""
    inner = [path.removeprefix(f"{name}/") for path in asked.files if path.startswith(f"{name}/")]
    return replace(asked, within=lambda path: asked.within(f"{name}/{path}"), files=inner)


def of_each(
    every: Mapping[str, _Asked], ask: Callable[[_Asked], _Answer], problems: dict[str, FindlingError]
) -> dict[str, _Answer]:
    """What each says, by name; ``problems`` takes in those that cannot. Raises the first of these where all cannot."""
    found: dict[str, _Answer] = {}
    failed: dict[str, FindlingError] = {}
    for name, each in every.items():
        try:
            found[name] = ask(each)
        except FindlingError as error:
            if error.code in (Cancelled.code, InvalidInput.code):  # of the question, not of what is asked
                raise
            failed[name] = error
    if failed and not found:
        raise next(iter(failed.values()))
    problems.update(failed)
    return found


LEAST_SHARE_S = 0.02
"""What each has of a question's time even after others have taken all: with none at all it would not be searched."""


def shares(wait_s: float | None, count: int) -> Iterator[float | None]:
    """What each of ``count`` may take of the time, what one leaves going to the next."""
    started = time.monotonic()
    for left in range(count, 0, -1):
        yield wait_s and max(LEAST_SHARE_S, (started + wait_s - time.monotonic()) / left)


def _joined(fresh: Mapping[str, tuple[Freshness, str]]) -> tuple[Freshness, str]:
    """How fresh all are together, the worst of them, and why not fresher."""
    states = {freshness for freshness, _ in fresh.values()}
    worst: Freshness = "stale" if "stale" in states else "syncing" if "syncing" in states else "fresh"
    return worst, "; ".join(f"{name}: {why}" for name, (_, why) in fresh.items() if why)

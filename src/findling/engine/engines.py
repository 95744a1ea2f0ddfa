"""Several engines asked as one: each is made fresh by itself, then all are one index and give one order.

One that cannot be searched costs itself and is named; the others answer. The first part of every path is the name of
the collection that has it. For one thread; the engines are their owner's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from typing import TYPE_CHECKING, Self, TypeVar, Unpack

from msgspec.structs import replace

from findling.engine import parts
from findling.engine.engine import GREP_LINES, Engine
from findling.engine.freshness import Freshened, Question
from findling.engine.questions import Questions
from findling.model.errors import Cancelled, FindlingError, IndexNotReady, InvalidInput
from findling.model.types import Coverage, Freshness, GrepOptions, GrepResult

if TYPE_CHECKING:
    from findling.engine.answers import Answers

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
        """The engine that has a path of an answer, and the path as it has it."""
        name, _, own = path.partition("/")
        return self.engines[name], own

    def answered(self, asked: Question, answer: Callable[[Answers, Freshened], _Answer]) -> _Answer:
        """The time is for all together. Raises what the first says where none can be searched."""
        started = time.monotonic()
        fresh = self._freshened(asked)
        try:
            return answer(self._of(fresh), Freshened(*_joined(fresh), started, asked.wait_s))
        except (Cancelled, InvalidInput):
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

    def _freshened(self, asked: Question) -> dict[str, tuple[Freshness, str]]:
        self._forget_problems()
        time_s = shares(asked.wait_s, len(self.engines))

        def freshen(name: str) -> tuple[Freshness, str]:
            engine = self.engines[name]
            found = engine.freshen(replace(_of_one(asked, name), wait_s=next(time_s)))
            if not engine.store.searchable:
                raise IndexNotReady(f"{engine.root} is not indexed yet.", remedy="Ask again in a moment.")
            return found

        self.fresh = of_each({name: name for name in self.engines}, freshen, self.problems)
        return self.fresh

    def grep(self, pattern: str, *, limit: int = GREP_LINES, **options: Unpack[GrepOptions]) -> GrepResult:
        """As `Engine.grep`, of each by itself: nothing is put in order; at most ``limit`` lines of each."""
        started = time.monotonic()
        self._forget_problems()
        found = of_each(self.engines, lambda engine: engine.grep(pattern, limit=limit, **options), self.problems)
        every = found.values()
        return GrepResult(
            pattern=pattern,
            files=tuple(
                replace(file, path=f"{name}/{file.path}") for name, answer in found.items() for file in answer.files
            ),
            total_occurrences=sum(answer.total_occurrences for answer in every),
            total_lines=sum(answer.total_lines for answer in every),
            total_files=sum(answer.total_files for answer in every),
            files_searched=sum(answer.files_searched for answer in every),
            files_read=sum(answer.files_read for answer in every),
            unindexed=sum(answer.unindexed for answer in every),
            truncated=any(answer.truncated for answer in every),
            skipped=tuple(
                replace(file, path=f"{name}/{file.path}") for name, answer in found.items() for file in answer.skipped
            ),
            took_ms=(time.monotonic() - started) * 1000,
            notes=tuple(f"{name}: {note}" for name, answer in found.items() for note in answer.notes),
            counts_exact=all(answer.counts_exact for answer in every),
        )

    @property
    def by_words(self) -> Mapping[str, str]:
        """By name the collections that the last question could not search by meaning, though others; and why."""
        return self._of(dict(self._searchable())).searched.without_meaning()

    def never_indexed(self) -> Coverage:
        """As `Engine.never_indexed`, of those that the last question searched."""
        return parts.searched.joined_coverage(engine.never_indexed() for _, engine in self._searchable())

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
        except (Cancelled, InvalidInput):  # of the question, not of what is asked
            raise
        except FindlingError as error:
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

"""Several engines asked as one: each is made fresh by itself, then all are one index and give one order.

One that cannot be searched costs itself and is named; the others answer. The first part of every path is the name of
the collection that has it. For one thread; the engines are their owner's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from msgspec.structs import replace

from findling import search
from findling.engine import parts
from findling.engine.engine import GREP_LINES
from findling.engine.scope import language_id, may_be_asked
from findling.model.errors import Cancelled, FindlingError, IndexNotReady, InvalidInput
from findling.model.types import GrepResult

if TYPE_CHECKING:
    from findling.engine.answers import Answers
    from findling.engine.documents import OpenDocuments
    from findling.engine.engine import Engine, OnProgress
    from findling.model.types import Answer, Coverage, Freshness, GrepOptions, Query, SymbolResult
    from findling.search.passages import DocumentScope

_Asked = TypeVar("_Asked")
_Answer = TypeVar("_Answer")

_Fresh = Mapping[str, tuple["Freshness", str]]
"""By name what will be searched, and how fresh it is."""


class Engines:
    """``engines`` by the names that stand before their paths."""

    def __init__(self, engines: Mapping[str, Engine]) -> None:
        self.engines = engines
        self.problems: dict[str, FindlingError] = {}
        """By name what the last question could not search, and why."""
        self._answers: dict[tuple[str, ...], Answers] = {}

    def of(self, path: str) -> tuple[Engine, str]:
        """The engine that has a path of an answer, and the path as it has it."""
        name, _, own = path.partition("/")
        return self.engines[name], own

    def ask(self, query: Query, *, progress: OnProgress | None = None) -> Answer:
        """As `Engine.ask`; the query's time is for all together."""
        query = search.taken_from_text(search.validate(query))
        if query.language is not None:
            query = replace(query, language=language_id(query.language))
        started = time.monotonic()
        return self._asked(
            lambda answers, freshness, why: answers.ask(query, freshness, why, started),
            lambda engine: engine.ask(query, progress=progress),
            wait_s=query.wait_s,
            progress=progress,
            query=query.text,
            embed=search.needs_vectors(query),
            look_at_all=query.look_at_all,
            within=may_be_asked("", language=query.language, kind=query.kind),
        )

    def symbols(
        self,
        name: str,
        *,
        references: bool = False,
        kind: str | None = None,
        language: str | None = None,
        limit: int = 50,
        body_chars: int = 0,
        wait_s: float | None = 1.5,
        progress: OnProgress | None = None,
    ) -> SymbolResult:
        """As `Engine.symbols`."""
        started = time.monotonic()
        asked: dict[str, Any] = {"references": references, "kind": kind, "language": language_id(language)}
        asked["body_chars"] = body_chars
        return self._asked(
            lambda answers, freshness, why: answers.symbols(
                name, limit=limit, freshness=freshness, stale_reason=why, started=started, wait_s=wait_s, **asked
            ),
            lambda engine: engine.symbols(name, limit=limit, wait_s=wait_s, progress=progress, **asked),
            wait_s=wait_s,
            progress=progress,
            query=name,
            embed=False,
            text_only=True,
            within=may_be_asked("", language=language),
        )

    def grep(self, pattern: str, *, limit: int = GREP_LINES, **options: Unpack[GrepOptions]) -> GrepResult:
        """As `Engine.grep`, of each by itself: nothing is put in order; at most ``limit`` lines of each."""
        started = time.monotonic()
        self.problems.clear()
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

    def refresh(
        self,
        *,
        query: str = "",
        embed: bool = True,
        within: Callable[[str], bool] = lambda _: True,
        files: Sequence[str] = (),
        line: int | None = None,
        wait_s: float | None = 1.5,
        progress: OnProgress | None = None,
    ) -> tuple[Freshness, str]:
        """As `Engine.refresh`; the time is for all together."""
        look: dict[str, Any] = {"embed": embed, "within": within, "files": files, "line": line}
        return _joined(self._freshen(wait_s=wait_s, progress=progress, query=query, **look))

    @contextmanager
    def documents(
        self, scope: DocumentScope, *, by_meaning: bool, code_too: bool = False
    ) -> Iterator[OpenDocuments | None]:
        """As `Engine.documents`, of those that the last question could make fresh."""
        searched = self._of(of_each(dict(self._searchable()), _check_readable, self.problems)).searched
        with parts.documents.opened(searched, scope, by_meaning=by_meaning, code_too=code_too) as opened:
            yield opened

    @property
    def by_words(self) -> Mapping[str, str]:
        """By name: the collections that the last question searched by words only, though others by meaning; and why."""
        return self._of(dict(self._searchable())).searched.said_by_words()

    def coverage(self) -> Coverage:
        """As `Engine.coverage`, of those that the last question searched."""
        return parts.searched.joined_coverage(engine.coverage() for _, engine in self._searchable())

    def never_indexed(self) -> Coverage:
        """As `Engine.never_indexed`."""
        return parts.searched.joined_coverage(engine.never_indexed() for _, engine in self._searchable())

    def _searchable(self) -> Iterator[tuple[str, Engine]]:
        return ((name, engine) for name, engine in self.engines.items() if name not in self.problems)

    def _freshen(
        self, *, wait_s: float | None, progress: OnProgress | None, query: str, **look: Any
    ) -> dict[str, tuple[Freshness, str]]:
        """Make each fresh within its share of the time. Raises what the first says where none can be searched."""
        self.problems.clear()
        time_s = shares(wait_s, len(self.engines))

        def refresh(engine: Engine) -> tuple[Freshness, str]:
            return engine.refresh(query=query, wait_s=next(time_s), progress=progress, **look)

        return of_each(self.engines, refresh, self.problems)

    def _asked(
        self,
        question: Callable[[Answers, Freshness, str], _Answer],
        alone: Callable[[Engine], object],
        *,
        wait_s: float | None,
        progress: OnProgress | None,
        query: str,
        **look: Any,
    ) -> _Answer:
        """The answer to a question. ``alone`` asks one engine the same: it mends its index, or says why it cannot."""
        fresh = self._freshen(wait_s=wait_s, progress=progress, query=query, **look)
        try:
            return question(self._of(fresh), *_joined(fresh))
        except (Cancelled, InvalidInput):
            raise
        except FindlingError:  # one engine failed; asking each alone shows which
            whole = of_each({name: self.engines[name] for name in fresh}, alone, self.problems)
            for name in whole:
                self.engines[name].collection.store.put_notes_back()
            fresh = {name: fresh[name] for name in whole}
            return question(self._of(fresh), *_joined(fresh))

    def _of(self, names: Iterable[str]) -> Answers:
        wanted = tuple(names)
        if wanted not in self._answers:
            collections = [replace(self.engines[name].collection, name=name) for name in wanted]
            self._answers[wanted] = parts.answers.Answers(parts.searched.Searched(collections))
        return self._answers[wanted]


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


def _check_readable(engine: Engine) -> None:
    """Raises the index's errors."""
    store = engine.collection.store
    if not store.searchable:
        raise IndexNotReady(f"{engine.root} is not indexed yet.", remedy="Ask again in a moment.")
    store.close_if_replaced()
    with store.index.snapshot():
        pass


def shares(wait_s: float | None, count: int) -> Iterator[float | None]:
    """What each of ``count`` may take of the time, what one leaves going to the next."""
    started = time.monotonic()
    for left in range(count, 0, -1):
        yield wait_s and max(0.0, started + wait_s - time.monotonic()) / left


def _joined(fresh: _Fresh) -> tuple[Freshness, str]:
    """How fresh all are together, the worst of them, and why not fresher."""
    states = {freshness for freshness, _ in fresh.values()}
    worst: Freshness = "stale" if "stale" in states else "syncing" if "syncing" in states else "fresh"
    return worst, "; ".join(f"{name}: {why}" for name, (_, why) in fresh.items() if why)

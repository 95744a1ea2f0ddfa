"""Several roots asked as if they were one: every root answers by itself, then one order; paths begin with its name.

What was scored against the best of its own root counts as much as that root's answer is sure: else the best of a root
that knows nothing would stand beside the best of one that knows. Must not know tools or their answers.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from findling.contracts.root_names import NamedRoots
from findling.model.errors import Cancelled, FindlingError, InvalidInput
from findling.model.types import (
    Answer,
    Completeness,
    Coverage,
    Freshness,
    GrepResult,
    Hit,
    Meaning,
    Query,
    SearchResult,
    SkippedFile,
    SymbolResult,
)

if TYPE_CHECKING:
    from findling.contracts.workspace import Workspace
    from findling.engine import Engine
    from findling.engine.document_texts import DocumentText
    from findling.engine.jobs import Job
    from findling.model.types import Progress

_ORDER = {"exact": 0, "prefix": 1, "part": 2}
_SEPARATORS = re.compile(r"::|->|[.#/\\]")

_Answer = TypeVar("_Answer")


class JointEngine:
    """What tools ask of an engine, asked of several. ``scope`` is all of them; ``notes`` name the root they are of."""

    scope = ""

    def __init__(self, workspaces: Mapping[str, Workspace], problems: dict[str, FindlingError]) -> None:
        """``problems`` takes in what is wrong with a root that does not answer while others do."""
        self._workspaces = workspaces
        self._problems = problems
        self.root = NamedRoots({name: workspace.engine.root for name, workspace in workspaces.items()})

    @property
    def texts(self) -> NamedRoots:
        """As `Engine.texts`, of each root."""
        texts = {name: workspace.engine.texts for name, workspace in self._workspaces.items()}
        return NamedRoots(self.root.folders, {n: files for n, files in texts.items() if not isinstance(files, Path)})

    @property
    def auto_index(self) -> bool:
        return any(workspace.engine.auto_index for workspace in self._workspaces.values())

    def document_text(self, path: str) -> DocumentText | None:
        """As `Engine.document_text`, of the root that the path begins with."""
        name, _, rest = path.partition("/")
        return self._workspaces[name].engine.document_text(rest)

    def coverage(self) -> Coverage:
        """Of all roots together."""
        return _coverage(self._ask(0, lambda engine, _: engine.coverage()).values())

    def ask(self, query: Query, *, progress: Callable[[Progress], None] | None = None) -> Answer:
        """As `Engine.ask`; the query's time is for all roots together."""
        started = time.monotonic()
        answers = self._ask(
            query.wait_s, lambda engine, wait: engine.ask(replace(query, wait_s=wait), progress=progress)
        )
        every = [answer.result for answer in answers.values()]
        surest = max(result.confidence for result in every)
        cosines = query.weights is not None and query.mode == "semantic"  # which mean the same in every root
        places = [
            (_weighed(hit, name, 1.0 if cosines or not surest else answer.result.confidence / surest), grounds)
            for name, answer in answers.items()
            for hit, grounds in answer.places
        ]
        places.sort(key=lambda place: (-place[0].rank_value, place[0].path, place[0].start_line))
        del places[query.limit :]
        first = answers[places[0][0].path.partition("/")[0] if places else next(iter(answers))]
        return replace(
            first,
            query=query,
            result=replace(
                first.result,
                hits=tuple(hit for hit, _ in places),
                total=sum(result.total for result in every),
                freshness=_freshness(result.freshness for result in every),
                completeness=_completeness(result.completeness for result in every),
                coverage=_coverage(result.coverage for result in every),
                took_ms=(time.monotonic() - started) * 1000,
                notes=_notes({name: _without_meaning(answer) for name, answer in answers.items()}),
                stale_reason=_stale_reason({name: answer.result for name, answer in answers.items()}),
            ),
            grounds=tuple(grounds for _, grounds in places),
            ran=frozenset().union(*(answer.ran for answer in answers.values())),
            meaning=_meaning([first.meaning, *(answer.meaning for answer in answers.values())]),
        )

    def symbols(self, name: str, *, limit: int = 50, wait_s: float | None = 1.5, **asked: Any) -> SymbolResult:
        """As `Engine.symbols`, with all that it can be asked; ``wait_s`` is for all roots together."""
        started = time.monotonic()
        answers = self._ask(wait_s, lambda engine, wait: engine.symbols(name, limit=limit, wait_s=wait, **asked))
        definitions = [
            replace(hit, path=f"{root}/{hit.path}") for root, answer in answers.items() for hit in answer.definitions
        ]
        plain = _SEPARATORS.split(name.strip())[-1]
        definitions.sort(key=lambda hit: (hit.name != plain, _ORDER[hit.match], hit.path, hit.line))
        uses = [
            replace(use, path=f"{root}/{use.path}") for root, answer in answers.items() for use in answer.references
        ]
        every = answers.values()
        total, total_uses = (
            sum(answer.total_definitions for answer in every),
            sum(answer.total_references for answer in every),
        )
        return SymbolResult(
            name=name,
            definitions=tuple(definitions[:limit]),
            references=tuple(uses[:limit]),
            total_definitions=total,
            total_references=total_uses,
            truncated=total > limit or total_uses > limit or any(answer.truncated for answer in every),
            freshness=_freshness(answer.freshness for answer in every),
            completeness=_completeness(answer.completeness for answer in every),
            coverage=_coverage(answer.coverage for answer in every),
            took_ms=(time.monotonic() - started) * 1000,
            notes=_notes(answers),
            stale_reason=_stale_reason(answers),
        )

    def grep(self, pattern: str, **asked: Any) -> GrepResult:
        """As `Engine.grep`, with all that it can be asked; at most ``limit`` lines of each root."""
        started = time.monotonic()
        answers = self._ask(None, lambda engine, _: engine.grep(pattern, **asked))
        every = answers.values()
        return GrepResult(
            pattern=pattern,
            files=tuple(
                replace(file, path=f"{name}/{file.path}") for name, answer in answers.items() for file in answer.files
            ),
            total_occurrences=sum(answer.total_occurrences for answer in every),
            total_lines=sum(answer.total_lines for answer in every),
            total_files=sum(answer.total_files for answer in every),
            files_searched=sum(answer.files_searched for answer in every),
            files_read=sum(answer.files_read for answer in every),
            unindexed=sum(answer.unindexed for answer in every),
            truncated=any(answer.truncated for answer in every),
            skipped=tuple(
                SkippedFile(f"{name}/{file.path}", file.reason, file.detail)
                for name, answer in answers.items()
                for file in answer.skipped
            ),
            took_ms=(time.monotonic() - started) * 1000,
            notes=_notes(answers),
            counts_exact=all(answer.counts_exact for answer in every),
        )

    def _ask(self, wait_s: float | None, question: Callable[[Engine, float | None], _Answer]) -> dict[str, _Answer]:
        shares = _shares(wait_s, len(self._workspaces))

        def ask(workspace: Workspace) -> _Answer:
            return question(workspace.engine, next(shares))

        return of_each({name: partial(ask, root) for name, root in self._workspaces.items()}, self._problems)


class JointJobs:
    """The jobs of several roots: whether any runs."""

    def __init__(self, workspaces: Mapping[str, Workspace]) -> None:
        self._workspaces = workspaces

    @property
    def active(self) -> Job | None:
        return next((job for workspace in self._workspaces.values() if (job := workspace.jobs.active)), None)


# --- many to one -----------------------------------------------------------------------------------------------


def of_each(questions: Mapping[str, Callable[[], _Answer]], problems: dict[str, FindlingError]) -> dict[str, _Answer]:
    """What each root says, by name; ``problems`` takes in what is wrong with those that cannot answer.

    Raises the first of that when no root can.
    """
    answers: dict[str, _Answer] = {}
    failed: dict[str, FindlingError] = {}
    for name, question in questions.items():
        try:
            answers[name] = question()
        except (Cancelled, InvalidInput):  # of the call, not of a root
            raise
        except FindlingError as error:
            failed[name] = error
    if failed and not answers:
        raise next(iter(failed.values()))
    problems.update(failed)
    return answers


def _shares(wait_s: float | None, count: int) -> Iterator[float | None]:
    """What each of ``count`` questions may take of the time, what one leaves going to the next."""
    started = time.monotonic()
    for left in range(count, 0, -1):
        yield wait_s and max(0.0, started + wait_s - time.monotonic()) / left


def _weighed(hit: Hit, name: str, weight: float) -> Hit:
    return replace(
        hit,
        path=f"{name}/{hit.path}",
        score=hit.score * weight,
        rank_value=hit.rank_value * weight,
        reasons=tuple(replace(reason, value=reason.value * weight) for reason in hit.reasons),
    )


def _meaning(found: Sequence[Meaning]) -> Meaning:
    """Of several roots, the first of them first: asked where any was, and with a problem where all have one."""
    asked = next((meaning for meaning in found if meaning.ran and meaning.skipped is None), found[0])
    return replace(
        asked,
        ran=any(meaning.ran for meaning in found),
        problem=found[0].problem if all(meaning.problem for meaning in found) else None,
        model_version=next((meaning.model_version for meaning in found if meaning.model_version), None),
        note="",
    )


def _without_meaning(answer: Answer) -> SearchResult:
    """An answer's result without what is noted of its embedder."""
    return replace(answer.result, notes=tuple(note for note in answer.result.notes if note != answer.meaning.note))


def _freshness(values: Iterable[Freshness]) -> Freshness:
    found = set(values)
    return "stale" if "stale" in found else "syncing" if "syncing" in found else "fresh"


def _completeness(values: Iterable[Completeness]) -> Completeness:
    found = set(values)
    return "partial" if "partial" in found else "truncated" if "truncated" in found else "complete"


def _coverage(values: Iterable[Coverage]) -> Coverage:
    found = list(values)
    skipped: Counter[str] = Counter()
    for coverage in found:
        skipped.update(coverage.skipped)
    return Coverage(
        files=sum(coverage.files for coverage in found),
        chunks=sum(coverage.chunks for coverage in found),
        embedded_chunks=sum(coverage.embedded_chunks for coverage in found),
        pending_files=sum(coverage.pending_files for coverage in found),
        skipped=dict(skipped),
        complete=all(coverage.complete for coverage in found),
    )


def _stale_reason(answers: Mapping[str, SearchResult | SymbolResult]) -> str:
    return "; ".join(f"{name}: {answer.stale_reason}" for name, answer in answers.items() if answer.stale_reason)


def _notes(answers: Mapping[str, SearchResult | SymbolResult | GrepResult]) -> tuple[str, ...]:
    return tuple(f"{name}: {note}" for name, answer in answers.items() for note in answer.notes)

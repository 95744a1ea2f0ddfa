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

from findling.errors import Cancelled, FindlingError, InvalidInput
from findling.tools.root_names import NamedRoots
from findling.types import (
    Completeness,
    Coverage,
    Freshness,
    GrepResult,
    Hit,
    SearchResult,
    SkippedFile,
    SymbolHit,
    SymbolResult,
)

if TYPE_CHECKING:
    from findling.embedding import Fingerprint
    from findling.engine import Engine
    from findling.jobs import Job
    from findling.tools.index_view import Counts, IndexView, NearChunk, SemanticProblem
    from findling.tools.workspace import Workspace

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

    def document_lines(self, path: str) -> Sequence[str] | None:
        """As `Engine.document_lines`, of the root that the path begins with."""
        name, _, rest = path.partition("/")
        return self._workspaces[name].engine.document_lines(rest)

    def search(self, text: str, *, limit: int = 10, wait_s: float | None = 1.5, **asked: Any) -> SearchResult:
        """As `Engine.search`, with all that it can be asked; ``wait_s`` is for all roots together."""
        started = time.monotonic()
        answers = self._ask(wait_s, lambda engine, wait: engine.search(text, limit=limit, wait_s=wait, **asked))
        surest = max((answer.confidence for answer in answers.values()), default=0.0)
        hits = [
            _weighed(hit, name, answer.confidence / surest if surest > 0 else 1.0)
            for name, answer in answers.items()
            for hit in answer.hits
        ]
        hits.sort(key=lambda hit: (-hit.rank_value, hit.path))
        first = hits[0].path.partition("/")[0] if hits else next(iter(answers))
        every = answers.values()
        return replace(
            answers[first],
            hits=tuple(hits[:limit]),
            total=sum(answer.total for answer in every),
            freshness=_freshness(answer.freshness for answer in every),
            completeness=_completeness(answer.completeness for answer in every),
            coverage=_coverage(answer.coverage for answer in every),
            took_ms=(time.monotonic() - started) * 1000,
            notes=_notes(answers),
            stale_reason=_stale_reason(answers),
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

    def grep(self, pattern: str, *, wait_s: float | None = None, **asked: Any) -> GrepResult:
        """As `Engine.grep`, with all that it can be asked; at most ``limit`` lines of each root."""
        started = time.monotonic()
        answers = self._ask(wait_s, lambda engine, wait: engine.grep(pattern, wait_s=wait, **asked))
        every = answers.values()
        return GrepResult(
            pattern=pattern,
            files=tuple(
                replace(file, path=f"{name}/{file.path}") for name, answer in answers.items() for file in answer.files
            ),
            total_occurrences=sum(answer.total_occurrences for answer in every),
            total_lines=sum(answer.total_lines for answer in every),
            total_files=sum(answer.total_files for answer in every),
            files_read=sum(answer.files_read for answer in every),
            truncated=any(answer.truncated for answer in every),
            skipped=tuple(
                SkippedFile(f"{name}/{file.path}", file.reason, file.detail)
                for name, answer in answers.items()
                for file in answer.skipped
            ),
            took_ms=(time.monotonic() - started) * 1000,
            freshness=_freshness(answer.freshness for answer in every),
            notes=_notes(answers),
            counts_exact=all(answer.counts_exact for answer in every),
            stale_reason=_stale_reason(answers),
        )

    def _ask(self, wait_s: float | None, question: Callable[[Engine, float | None], _Answer]) -> dict[str, _Answer]:
        shares = _shares(wait_s, len(self._workspaces))

        def ask(workspace: Workspace) -> _Answer:
            return question(workspace.engine, next(shares))

        return of_each({name: partial(ask, root) for name, root in self._workspaces.items()}, self._problems)


class JointView:
    """What tools read of an index, read of several. For any thread: each root's view answers in its own."""

    def __init__(
        self, workspaces: Mapping[str, Workspace], problems: dict[str, FindlingError], *, beside: bool = False
    ) -> None:
        """``problems`` as for `JointEngine`, ``beside`` as for `Workspace.ask_view`."""
        self._workspaces = workspaces
        self._problems = problems
        self._beside = beside

    @property
    def fingerprint(self) -> Fingerprint | None:
        """Of the first root's embedder that works."""
        found = self._ask(lambda view: view.fingerprint).values()
        return next((fingerprint for fingerprint in found if fingerprint is not None), None)

    @property
    def embedder_problem(self) -> str:
        return next((problem for problem in self._ask(lambda view: view.embedder_problem).values() if problem), "")

    @property
    def semantic_problem(self) -> SemanticProblem | None:
        """Of the first root, where none can be asked by meaning."""
        found = list(self._ask(lambda view: view.semantic_problem).values())
        return found[0] if found and all(found) else None

    def counts(self) -> Counts | None:
        """Of all roots together; None when none was ever indexed."""
        counts = self._ask(lambda view: view.counts()).values()
        known = [count for count in counts if count is not None]
        if not known:
            return None
        languages: Counter[str] = Counter()
        for count in known:
            languages.update(count.languages)
        return replace(
            known[0],
            files=sum(count.files for count in known),
            chunks=sum(count.chunks for count in known),
            embedded=sum(count.embedded for count in known),
            # how many files a root has that was never indexed is not known, but it is not none
            pending=sum(count.pending for count in known) + len(counts) - len(known),
            languages=dict(languages),
            complete=len(known) == len(counts) and all(count.complete for count in known),
        )

    def near(self, text: str, limit: int, *, folder: str = "") -> list[NearChunk]:
        """As `IndexView.near` in every root. ``folder`` must be ''."""
        answers = self._ask(lambda view: view.near(text, limit))
        found = [replace(place, path=f"{name}/{place.path}") for name, near in answers.items() for place in near]
        found.sort(key=lambda place: (-place.cosine, place.path, place.start_line))
        return found[:limit]

    def similarities(self, text: str, paths: Iterable[str]) -> dict[str, float]:
        """As `IndexView.similarities`, each file asked for in its root."""
        inside: dict[str, list[str]] = {}
        for path in paths:
            name, _, rest = path.partition("/")
            inside.setdefault(name, []).append(rest)
        questions = {name: _similarities(text, rest) for name, rest in inside.items()}
        answers = self._answers(questions)
        return {f"{name}/{path}": value for name, found in answers.items() for path, value in found.items()}

    def definitions(self, name: str, limit: int, *, folder: str = "") -> list[SymbolHit]:
        """As `IndexView.definitions` in every root, one after the other. ``folder`` must be ''."""
        answers = self._ask(lambda view: view.definitions(name, limit))
        return [replace(hit, path=f"{root}/{hit.path}") for root, found in answers.items() for hit in found]

    def _ask(self, question: Callable[[IndexView], _Answer]) -> dict[str, _Answer]:
        return self._answers(dict.fromkeys(self._workspaces, question))

    def _answers(self, questions: Mapping[str, Callable[[IndexView], _Answer]]) -> dict[str, _Answer]:
        """The roots are asked at the same time."""
        asked = {
            name: self._workspaces[name].ask_view(question, beside=self._beside) for name, question in questions.items()
        }
        return of_each({name: future.result for name, future in asked.items()}, self._problems)


def _similarities(text: str, paths: Sequence[str]) -> Callable[[IndexView], dict[str, float]]:
    return lambda view: view.similarities(text, paths)


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


def _stale_reason(answers: Mapping[str, SearchResult | SymbolResult | GrepResult]) -> str:
    return "; ".join(f"{name}: {answer.stale_reason}" for name, answer in answers.items() if answer.stale_reason)


def _notes(answers: Mapping[str, SearchResult | SymbolResult | GrepResult]) -> tuple[str, ...]:
    return tuple(f"{name}: {note}" for name, answer in answers.items() for note in answer.notes)

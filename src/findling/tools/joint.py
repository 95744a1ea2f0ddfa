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
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from findling.errors import Cancelled, FindlingError, InvalidInput
from findling.tools.root_names import NamedRoots
from findling.types import (
    Completeness,
    Coverage,
    Freshness,
    GrepResult,
    Hit,
    Mode,
    Progress,
    SearchResult,
    SkippedFile,
    SymbolResult,
)

if TYPE_CHECKING:
    from findling.embedding import Fingerprint
    from findling.tools.index_view import Counts, IndexView, NearChunk, SemanticProblem
    from findling.tools.jobs import Job
    from findling.tools.workspace import Workspace

_ORDER = {"exact": 0, "prefix": 1, "part": 2}
_SEPARATORS = re.compile(r"::|->|[.#/\\]")

_Answer = TypeVar("_Answer")
OnProgress = Callable[[Progress], None]


class JointEngine:
    """What tools ask of an engine, asked of several. ``scope`` is all of them; ``notes`` name the root they are of."""

    scope = ""

    def __init__(self, workspaces: Mapping[str, Workspace]) -> None:
        self._workspaces = workspaces
        self.root = NamedRoots({name: workspace.engine.root for name, workspace in workspaces.items()})

    @property
    def texts(self) -> NamedRoots:
        """As `Engine.texts`, of each root."""
        texts = {name: workspace.engine.texts for name, workspace in self._workspaces.items()}
        return NamedRoots(self.root.folders, {n: files for n, files in texts.items() if not isinstance(files, Path)})

    @property
    def auto_index(self) -> bool:
        return any(workspace.engine.auto_index for workspace in self._workspaces.values())

    def search(
        self,
        text: str,
        *,
        limit: int = 10,
        mode: Mode = "auto",
        language: str | None = None,
        kind: str | None = None,
        explain: bool = False,
        wait_s: float | None = 1.5,
        progress: OnProgress | None = None,
    ) -> SearchResult:
        """As `Engine.search`; ``wait_s`` is for all roots together."""
        started = time.monotonic()
        answers, problems = self._ask(
            wait_s,
            lambda workspace, wait: workspace.engine.search(
                text,
                limit=limit,
                mode=mode,
                language=language,
                kind=kind,
                explain=explain,
                wait_s=wait,
                progress=progress,
            ),
        )
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
            notes=(*problems, *_notes({name: answer.notes for name, answer in answers.items()})),
            stale_reason="; ".join(f"{name}: {a.stale_reason}" for name, a in answers.items() if a.stale_reason),
        )

    def symbols(
        self,
        name: str,
        *,
        references: bool = False,
        kind: str | None = None,
        language: str | None = None,
        limit: int = 50,
        wait_s: float | None = 1.5,
        progress: OnProgress | None = None,
    ) -> SymbolResult:
        """As `Engine.symbols`; ``wait_s`` is for all roots together."""
        started = time.monotonic()
        answers, problems = self._ask(
            wait_s,
            lambda workspace, wait: workspace.engine.symbols(
                name,
                references=references,
                kind=kind,
                language=language,
                limit=limit,
                wait_s=wait,
                progress=progress,
            ),
        )
        definitions = [
            replace(hit, path=f"{root}/{hit.path}") for root, answer in answers.items() for hit in answer.definitions
        ]
        asked = _SEPARATORS.split(name.strip())[-1]
        definitions.sort(key=lambda hit: (hit.name != asked, _ORDER[hit.match], hit.path, hit.line))
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
            took_ms=(time.monotonic() - started) * 1000,
            notes=(*problems, *_notes({root: answer.notes for root, answer in answers.items()})),
        )

    def grep(
        self,
        pattern: str,
        *,
        literal: bool = False,
        limit: int = 0,
        wait_s: float | None = None,
        progress: OnProgress | None = None,
    ) -> GrepResult:
        """As `Engine.grep`, at most ``limit`` lines of each root."""
        started = time.monotonic()
        answers, problems = self._ask(
            wait_s,
            lambda workspace, wait: workspace.engine.grep(
                pattern, literal=literal, limit=limit, wait_s=wait, progress=progress
            ),
        )
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
            notes=(*problems, *_notes({name: answer.notes for name, answer in answers.items()})),
            counts_exact=all(answer.counts_exact for answer in every),
        )

    def _ask(
        self, wait_s: float | None, question: Callable[[Workspace, float | None], _Answer]
    ) -> tuple[dict[str, _Answer], list[str]]:
        """Every root's answer by name, and what is wrong with those that have none. Raises when none has one."""
        answers: dict[str, _Answer] = {}
        problems: list[str] = []
        failure: FindlingError | None = None
        shares = _shares(wait_s, len(self._workspaces))
        for (name, workspace), wait in zip(self._workspaces.items(), shares, strict=True):
            try:
                answers[name] = question(workspace, wait)
            except (Cancelled, InvalidInput):  # of the call, not of a root
                raise
            except FindlingError as error:
                problems.append(f"{name}: {error}")
                failure = error
        if not answers and failure is not None:
            raise failure
        return answers, problems


class JointView:
    """What tools read of an index, read of several. For any thread: each root's view answers in its own."""

    def __init__(self, workspaces: Mapping[str, Workspace]) -> None:
        self._workspaces = workspaces

    @property
    def fingerprint(self) -> Fingerprint | None:
        """Of the first root's embedder that works."""
        found = (workspace.view(lambda view: view.fingerprint) for workspace in self._workspaces.values())
        return next((fingerprint for fingerprint in found if fingerprint is not None), None)

    @property
    def embedder_problem(self) -> str:
        found = (workspace.view(lambda view: view.embedder_problem) for workspace in self._workspaces.values())
        return next((problem for problem in found if problem), "")

    @property
    def semantic_problem(self) -> SemanticProblem | None:
        """Of the first root, where none can be asked by meaning."""
        found = [workspace.view(lambda view: view.semantic_problem) for workspace in self._workspaces.values()]
        return found[0] if found and all(found) else None

    def counts(self) -> Counts | None:
        """Of all roots together; None when none was ever indexed."""
        counts = [workspace.view(lambda view: view.counts()) for workspace in self._workspaces.values()]
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
        )

    def near(self, text: str, limit: int, *, folder: str = "") -> list[NearChunk]:
        """As `IndexView.near` in every root. ``folder`` must be ''."""
        asked = {
            name: workspace.ask_view(_near(text, limit, workspace.engine.scope))
            for name, workspace in self._workspaces.items()
        }
        found = [
            replace(place, path=f"{name}/{place.path}") for name, answer in asked.items() for place in answer.result()
        ]
        found.sort(key=lambda place: (-place.cosine, place.path, place.start_line))
        return found[:limit]

    def similarities(self, text: str, paths: Iterable[str]) -> dict[str, float]:
        """As `IndexView.similarities`, each file asked for in its root."""
        inside: dict[str, list[str]] = {}
        for path in paths:
            name, _, rest = path.partition("/")
            inside.setdefault(name, []).append(rest)
        asked = {name: self._workspaces[name].ask_view(_similarities(text, rest)) for name, rest in inside.items()}
        return {f"{name}/{path}": value for name, found in asked.items() for path, value in found.result().items()}


def _similarities(text: str, paths: Sequence[str]) -> Callable[[IndexView], dict[str, float]]:
    return lambda view: view.similarities(text, paths)


def _near(text: str, limit: int, scope: str) -> Callable[[IndexView], list[NearChunk]]:
    return lambda view: view.near(text, limit, folder=scope)


class JointJobs:
    """The jobs of several roots: whether any runs."""

    def __init__(self, workspaces: Mapping[str, Workspace]) -> None:
        self._workspaces = workspaces

    @property
    def active(self) -> Job | None:
        return next((job for workspace in self._workspaces.values() if (job := workspace.jobs.active)), None)


# --- many to one -----------------------------------------------------------------------------------------------


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


def _notes(notes: Mapping[str, Sequence[str]]) -> list[str]:
    return [f"{name}: {note}" for name, said in notes.items() for note in said]

"""What the commands need of a view, and how they come by an engine. Types only: nothing imports this at run time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from findling.config import Loaded
from findling.engine import Engine
from findling.model.reports import Diagnosis, Explanation, Report
from findling.model.types import GrepStream, IndexReport, SearchResult, Status, SymbolResult


class View(Protocol):
    """What the commands need of the module that prints answers."""

    def search(self, result: SearchResult, *, explain: bool) -> None: ...

    def length(self, result: SearchResult, *, explain: bool) -> int: ...

    def grep(self, found: GrepStream, *, shape: str, groups: bool) -> None: ...

    def symbols(self, result: SymbolResult) -> None: ...

    def report(self, report: IndexReport) -> None: ...

    def status(self, status: Status, *, skipped: bool) -> None: ...

    def explanation(self, found: Explanation) -> None: ...

    def diagnosis(self, diagnosis: Diagnosis) -> None: ...

    def evaluation(self, report: Report) -> None: ...

    def config(self, loaded: Loaded) -> None: ...

    def records(self, blocks: Sequence[Sequence[tuple[str, str]]], value: Mapping[str, object]) -> None: ...


class OpenEngine(Protocol):
    def __call__(self, path: Path | None, *, root: Path | None, cache: bool, ref: str | None = None) -> Engine: ...

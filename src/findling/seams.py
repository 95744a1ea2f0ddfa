"""What the commands need of an engine and of a view. Types only: nothing imports this at run time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, Protocol, Self

from findling.config import Loaded
from findling.types import (
    GrepStream,
    IndexReport,
    Mode,
    Progress,
    SearchResult,
    SkippedFile,
    Status,
    SymbolResult,
)


class SearchEngine(Protocol):
    """What the commands need of an engine."""

    @property
    def root(self) -> Path: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def search(
        self,
        text: str,
        *,
        limit: int = 10,
        mode: Mode = "auto",
        language: str | None = None,
        path_globs: Sequence[str] = (),
        kind: Literal["code", "docs"] | None = None,
        max_tokens: int | None = None,
        explain: bool = False,
        wait_s: float | None = 1.5,
        progress: Callable[[Progress], None] | None = None,
    ) -> SearchResult: ...

    def index(
        self, *, force: bool = False, embed: bool = True, progress: Callable[[Progress], None] | None = None
    ) -> IndexReport: ...

    def sync(
        self, paths: Sequence[str] | None = None, *, progress: Callable[[Progress], None] | None = None
    ) -> IndexReport: ...

    def grep_stream(
        self,
        pattern: str,
        *,
        literal: bool = False,
        ignore_case: bool = False,
        word: bool = False,
        context: int = 0,
        limit: int = 0,
        path_globs: Sequence[str] = (),
        language: str | None = None,
        keep_lines: bool = True,
        progress: Callable[[Progress], None] | None = None,
    ) -> GrepStream: ...

    def in_scope(
        self, *, path_globs: Sequence[str] = (), language: str | None = None, kind: str | None = None
    ) -> tuple[int, tuple[SkippedFile, ...]]: ...

    def symbols(
        self,
        name: str,
        *,
        references: bool = False,
        kind: str | None = None,
        language: str | None = None,
        limit: int = 50,
        progress: Callable[[Progress], None] | None = None,
    ) -> SymbolResult: ...

    def similar(
        self, target: str, *, limit: int = 10, progress: Callable[[Progress], None] | None = None
    ) -> SearchResult: ...

    def status(self) -> Status: ...


class View(Protocol):
    """What the commands need of the module that prints answers."""

    def search(self, result: SearchResult, *, explain: bool) -> None: ...

    def grep(self, found: GrepStream, *, shape: str) -> None: ...

    def symbols(self, result: SymbolResult) -> None: ...

    def report(self, report: IndexReport) -> None: ...

    def status(self, status: Status, *, skipped: bool) -> None: ...

    def config(self, loaded: Loaded) -> None: ...


class OpenEngine(Protocol):
    def __call__(self, path: Path | None, *, root: Path | None, cache: bool) -> SearchEngine: ...

"""How far indexing is, on stderr: a bar on a terminal, a plain line now and then in a log. Knows no indexer.

Nothing is shown for runs that are over at once, and nothing ever goes to stdout.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Self, TextIO, TypeAlias

from findling.faces.cli.terminal.safe import is_terminal, wants_style
from findling.faces.cli.terminal.words import count
from findling.model.types import Progress

if TYPE_CHECKING:
    import rich.progress


# Shorter runs show no bar: it would only flicker, and importing it would take longer than the run.
_BAR_AFTER_S: Final = 0.3
# A log wants to know that it goes on, not how each file went.
_LINE_EVERY_S: Final = 5.0

# What each stage is called, and what it counts.
_STAGES: Final[Mapping[str, tuple[str, str]]] = {
    "listing": ("Listing files", "file"),
    "indexing": ("Indexing", "file"),
    "embedding": ("Embedding", "file"),
    "answering": ("Answering", "query"),
    "reading": ("Looking for comments", "question"),
    "copying": ("Copying", "file"),
}


def show_progress(stream: TextIO, environment: Mapping[str, str]) -> ProgressDisplay:
    """A bar if ``stream`` is a terminal that takes escape sequences, else lines.

    Either is a context manager to be called with each Progress; leaving the context takes the display away.
    """
    if is_terminal(stream) and wants_style(stream, environment):
        return ProgressBar(stream)
    return ProgressLines(stream)


class ProgressLines:
    def __init__(self, stream: TextIO, *, every_s: float = _LINE_EVERY_S) -> None:
        self._stream = stream
        self._every_s = every_s
        self._last = time.monotonic()

    def __enter__(self) -> Self:
        self._last = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.flush()

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._last < self._every_s:
            return
        self._last = now
        words, noun = _STAGES.get(progress.stage, (progress.stage, "step"))
        of_total = (
            f"{progress.done:,} of {count(progress.total, noun)}" if progress.total else count(progress.done, noun)
        )
        self._stream.write(f"{words}: {of_total}\n")
        self._stream.flush()


class ProgressBar:
    def __init__(self, stream: TextIO, *, after_s: float = _BAR_AFTER_S) -> None:
        self._stream = stream
        self._after_s = after_s
        self._since = time.monotonic()
        self._bar: rich.progress.Progress | None = None
        self._tasks: dict[str, rich.progress.TaskID] = {}

    def __enter__(self) -> Self:
        self._since = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def __call__(self, progress: Progress) -> None:
        if self._bar is None:
            if time.monotonic() - self._since < self._after_s:
                return
            self._bar = _start_bar(self._stream)
            self._tasks = {}
        total = progress.total or None
        if progress.stage not in self._tasks:
            words, _ = _STAGES.get(progress.stage, (progress.stage, ""))
            self._tasks[progress.stage] = self._bar.add_task(words, total=total)
        self._bar.update(self._tasks[progress.stage], completed=progress.done, total=total)


ProgressDisplay: TypeAlias = ProgressLines | ProgressBar


def _start_bar(stream: TextIO) -> rich.progress.Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(file=stream, force_terminal=True, color_system="standard", highlight=False)
    # Transient: the bar leaves no trace above the answer.
    bar = Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
    bar.start()
    return bar

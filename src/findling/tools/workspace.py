"""Where tools work: one root with its engine, its index and its jobs, opened when they are first needed.

A workspace is for one thread, as its engine is; jobs have their own. Must not know any tool.
"""

from __future__ import annotations

import statistics
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from findling.tools.settings import Settings

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from findling.engine import Engine
    from findling.tools.index_view import IndexView
    from findling.tools.jobs import Jobs

WAIT_S = 2.0
"""How long a question may index before it answers with what is there."""

_Answer = TypeVar("_Answer")

_LATENCIES = 50
"""Searches whose time is remembered, for advice on the embedding model."""


class Workspace:
    """One root. ``path`` and ``root`` as for `Engine.open`; nothing is opened or read before it is asked for.

    ``background``: work that a question leaves undone goes on after the answer (a server does that; a command ends).
    """

    def __init__(
        self,
        path: Path | str | None = None,
        *,
        root: Path | None = None,
        cache: bool = False,
        settings: Settings | None = None,
        background: bool = False,
    ) -> None:
        self._path, self._root, self._cache = path, root, cache
        self.settings = settings or Settings()
        self.background = background
        self.started = time.monotonic()
        self._engine: Engine | None = None
        self._view: IndexView | None = None
        self._reading: ThreadPoolExecutor | None = None
        self._jobs: Jobs | None = None
        self._latencies: deque[float] = deque(maxlen=_LATENCIES)

    @property
    def engine(self) -> Engine:
        """Raises `errors.RootError`."""
        if self._engine is None:
            self._engine = self._open_engine()
        return self._engine

    def ask_view(self, question: Callable[[IndexView], _Answer]) -> Future[_Answer]:
        """Read the index beside the engine: the view has a thread of its own, so both may work at once."""
        if self._reading is None:
            from concurrent.futures import ThreadPoolExecutor

            self._reading = ThreadPoolExecutor(1, thread_name_prefix="findling-view")
        store_dir, root = self.engine.store_dir, self.engine.root

        def ask() -> _Answer:
            if self._view is None or self._view.store_dir != store_dir:
                from findling.tools.index_view import IndexView

                self._close_view()
                self._view = IndexView(store_dir, root)
            return question(self._view)

        return self._reading.submit(ask)

    def view(self, question: Callable[[IndexView], _Answer]) -> _Answer:
        """As `ask_view`, and wait for the answer."""
        return self.ask_view(question).result()

    def _close_view(self) -> None:
        if self._view is not None:
            self._view.close()
            self._view = None

    @property
    def jobs(self) -> Jobs:
        if self._jobs is None:
            from findling.tools.jobs import Jobs

            self._jobs = Jobs(self._open_engine, self.engine.store_dir)
        return self._jobs

    def finish_in_background(self, ref: str) -> None:
        """Take in what the last question left out, unless a job does that already or nothing may go on."""
        if self.background:
            self.jobs.start("incremental", force=False, ref=ref)

    def note_latency(self, milliseconds: float) -> None:
        self._latencies.append(milliseconds)

    def latency_ms(self) -> float | None:
        """The usual time of the searches made here, None when there were none."""
        return statistics.median(self._latencies) if self._latencies else None

    def finish(self) -> None:
        """Wait for what goes on in the background: the end of a command whose process ends with it."""
        if self._jobs is not None:
            self._jobs.wait()

    def close(self) -> None:
        """Stops what goes on in the background; what it has taken in stays."""
        if self._jobs is not None:
            self._jobs.stop()
        if self._reading is not None:
            self._reading.submit(self._close_view).result()
            self._reading.shutdown()
        if self._engine is not None:
            self._engine.close()
        self._jobs = self._reading = self._engine = None

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open_engine(self) -> Engine:
        from findling.engine import Engine

        return Engine.open(self._path, root=self._root, cache=self._cache)

"""Has the page's questions answered one after the other, in the thread that the engine belongs to.

A question that nobody waits for any more, as somebody typed on, is dropped before its turn, or ended at its next step.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from findling.engine.memory import expect_to_idle, give_back
from findling.model.behind import do_behind
from findling.model.errors import Cancelled
from findling.model.remembered import forget_all

if TYPE_CHECKING:
    from starlette.requests import Request

    from findling.contracts.workspaces import Workspace
    from findling.model.types import OnProgress, Progress

_Answer = TypeVar("_Answer")


REST_S = 60.0
"""After so long without a question what questions have opened is closed and its memory freed; looks at how far a run is
do not count. The next question opens it again, which takes some tenths of a second."""


class Asker:
    """The one way from a request to the engine."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="findling-root")
        self._ended = threading.Event()
        self._rest: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Take in files as they are saved. Where there is no index, the first question is answered without one, and
        leaves a process behind that makes it."""
        expect_to_idle()
        do_behind(self._worker, self._workspace.watch)

    async def ask(
        self, request: Request, question: Callable[[Workspace, OnProgress], _Answer], *, look: bool = False
    ) -> _Answer:
        """The answer to the question. ``look``: nobody asked it, the page only looks at the state. Raises what the
        question raises, and `Cancelled` when the browser has gone."""
        unwanted = threading.Event()

        def on_progress(_: Progress) -> None:
            if unwanted.is_set() or self._ended.is_set():
                raise Cancelled("Nobody waits for this answer any more.")

        def answer() -> _Answer:
            try:
                return question(self._workspace, on_progress)
            finally:
                self._workspace.rest_unwatched()

        work = asyncio.get_running_loop().run_in_executor(self._worker, answer)
        gone = asyncio.ensure_future(_gone(request))
        try:
            await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                unwanted.set()
                work.cancel()
                raise Cancelled("The browser has gone.")
            return work.result()
        finally:
            gone.cancel()
            if not look:
                self._rest_later()

    def _rest_later(self) -> None:
        if self._rest is not None:
            self._rest.cancel()
        self._rest = asyncio.get_running_loop().call_later(REST_S, do_behind, self._worker, self._give_back)

    def _give_back(self) -> None:
        self._workspace.rest()
        forget_all()
        give_back()

    def stop(self) -> None:
        """End the question under way at its next step. May be called from a signal's handler."""
        self._ended.set()

    async def close(self) -> None:
        """Stop the question and the background work, and close the index."""
        self.stop()
        if self._rest is not None:
            self._rest.cancel()
        await asyncio.get_running_loop().run_in_executor(self._worker, self._workspace.close)
        self._worker.shutdown()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass

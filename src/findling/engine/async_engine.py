"""`AsyncEngine`: an `Engine` for programs that run an event loop, which it never holds up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from findling.engine.engine import Engine
from findling.model.errors import InvalidInput

P = ParamSpec("P")
T = TypeVar("T")


def _awaited(
    method: Callable[Concatenate[Engine, P], T],
) -> Callable[Concatenate[AsyncEngine, P], Coroutine[Any, Any, T]]:
    """The method, called in the engine's thread."""

    @wraps(method)
    async def called(self: AsyncEngine, /, *args: P.args, **options: P.kwargs) -> T:
        return await self._call(partial(method, self._engine, *args, **options))

    return called


class AsyncEngine:
    """The questions and runs of an `Engine`, each awaited: same arguments, answers and errors.

        async with await AsyncEngine.open("path/to/project") as engine:
            answer = await engine.search("where do we retry failed requests")

    They are asked one after the other, in one thread of its own. A cancelled task stops waiting; the call that is
    running ends by itself.
    """

    def __init__(self, engine: Engine) -> None:
        """``engine``: opened, and used by nobody else."""
        self._engine = engine
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="findling")
        self._closed = False

    @classmethod
    async def open(cls, *args: Any, **options: Any) -> Self:
        """As `Engine.open`."""
        return cls(await asyncio.to_thread(Engine.open, *args, **options))

    ask = _awaited(Engine.ask)
    search = _awaited(Engine.search)
    similar = _awaited(Engine.similar)
    grep = _awaited(Engine.grep)
    symbols = _awaited(Engine.symbols)
    symbols_of = _awaited(Engine.symbols_of)
    callers = _awaited(Engine.callers)
    callees = _awaited(Engine.callees)
    impact = _awaited(Engine.impact)
    trace = _awaited(Engine.trace)
    map = _awaited(Engine.map)
    index = _awaited(Engine.index)
    sync = _awaited(Engine.sync)
    embed = _awaited(Engine.embed)
    status = _awaited(Engine.status)

    async def close(self) -> None:
        """Close the engine; a second time nothing. What is asked afterwards is an `InvalidInput`."""
        if self._closed:
            return
        try:
            await self._call(self._engine.close)
        finally:
            self._closed = True
            self._thread.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _call(self, work: Callable[[], T]) -> T:
        if self._closed:
            raise InvalidInput("This engine is closed.", remedy="Open another: AsyncEngine.open(...).")
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

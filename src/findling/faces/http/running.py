"""A server from its first request to its last: uvicorn with what every server of findling wants of it."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from findling.faces.http.guard import App
from findling.faces.http.options import Listening

MAX_HEADER_BYTES = 1 << 15

GRACE_S = 2
"""How long answers under way are waited for at the end."""


async def run(
    app: App,
    listening: Listening,
    *,
    started: Callable[[], None],
    stop: Callable[[], None],
    protocol: str = "h11",
    lifespan: str = "off",
    head_bytes: int = MAX_HEADER_BYTES,
) -> None:
    """Answer until SIGINT or SIGTERM. ``started`` is called when requests are taken, ``stop`` when the end begins.
    ``protocol`` and ``lifespan``: uvicorn's ``http`` and ``lifespan``. ``head_bytes``: the most that a request may have
    before its body."""
    import uvicorn

    class Running(uvicorn.Server):
        """Ends on a signal as uvicorn does, but leaves the process to its owner, who has an index to close."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            started()

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            def end(number: int, frame: Any) -> None:
                stop()
                self.handle_exit(number, frame)

            before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
            try:
                yield
            finally:
                for number, handler in before.items():
                    signal.signal(number, handler)

    config = uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        lifespan=lifespan,  # type: ignore[arg-type]
        log_config=None,
        log_level="error",  # a line for each broken request would be a stranger's to write, into a pipe nobody may read
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE_S,
        h11_max_incomplete_event_size=head_bytes,
    )
    await Running(config).serve([listening.socket])

"""Work that an executor does while nobody waits for its result."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial

_log = logging.getLogger(__name__)


def do_behind(executor: Executor, work: Callable[[], object]) -> None:
    """Have work done by an executor. What it raises, which the executor alone would drop, is logged."""
    executor.submit(work).add_done_callback(partial(_log_failure, work))


def _log_failure(work: Callable[[], object], done: Future[object]) -> None:
    if not done.cancelled() and (error := done.exception()) is not None:
        _log.error("%s failed", getattr(work, "__qualname__", work), exc_info=error)

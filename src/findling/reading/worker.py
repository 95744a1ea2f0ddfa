"""The program of a worker process: reads tasks from standard input, writes answers to standard output.

The parent kills a worker that takes too long. A worker keeps no state that matters.
"""

from __future__ import annotations

import gc
import math
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from findling import embedding
from findling.model import vector_codes
from findling.model.errors import EmbedderUnavailable
from findling.model.reading import Embedded, Reading
from findling.reading.embedded import text_hash, texts_of
from findling.reading.limits import ChunkLimits
from findling.reading.prepare import prepare
from findling.reading.syntax_docs import comment_spans, documented
from findling.reading.worker_process import COMMENTS, DOCUMENTED, VECTORS, Task, serve

if TYPE_CHECKING:
    from findling.embedding.bundled import BundledEmbedder


def answers_to(task: Task) -> list[object]:
    """The answers to a task, one for each file."""
    asked, files, _ = task
    if asked == COMMENTS:
        return [_attempt(comment_spans, path, data) for path, data, _ in files]
    if asked == DOCUMENTED:
        return [_attempt(documented, path, data) for path, data, _ in files]
    limits = ChunkLimits.from_id(asked.removeprefix(VECTORS))
    found = [_attempt(prepare, path, data, with_syntax=syntax, limits=limits) for path, data, syntax in files]
    if asked.startswith(VECTORS):
        with suppress(EmbedderUnavailable):  # the parent finds that there are no vectors, and says so
            return _embedded(found, files)
    return found


def _attempt(make: Callable[..., object], *args: object, **options: object) -> object:
    try:
        return make(*args, **options)
    except Exception as error:  # noqa: BLE001 - one bad file costs itself, and is reported
        return f"{type(error).__name__}: {error}"


@cache
def _embedder() -> BundledEmbedder:
    return embedding.shared()  # held from now on


def _embedded(answers: list[object], files: list[tuple[str, bytes, bool]]) -> list[object]:
    """The answers, with vectors where they are readings. Raises `EmbedderUnavailable`."""
    embedder = _embedder()
    began = time.perf_counter()
    texts = [
        texts_of(path, answer, data) if isinstance(answer, Reading) else []
        for answer, (path, data, _) in zip(answers, files, strict=True)
    ]
    coding = embedding.coding_of(embedder.fingerprint)
    rows = vector_codes.encode(embedder.encode([text for some in texts for text in some]), coding)
    took_ms = (time.perf_counter() - began) * 1000 / max(1, len(files))
    ends = accumulate(map(len, texts))
    return [
        Embedded(answer, b"".join(map(text_hash, some)), rows[end - len(some) : end].tobytes(), took_ms)
        if isinstance(answer, Reading)
        else answer
        for answer, some, end in zip(answers, texts, ends, strict=True)
    ]


def main(out: int) -> None:
    """Serve until standard input ends; answers go to the descriptor ``out``."""
    gc.disable()  # nothing here makes cycles, and each collection would go through all remembered words
    limit_memory()
    serve(out, _timed)


def _timed(task: Task) -> list[object]:
    limit_time(task[2])
    return answers_to(task)


# --- how much memory and time a worker process may use

MEMORY_BYTES: Final = 1 << 30
"""Memory of one process. The largest honest files take a third; more means a file that was made to exhaust it."""


def limit_memory(most: int = MEMORY_BYTES) -> None:
    """Make this process fail when it asks for more memory. Does nothing on systems without such a limit."""
    if sys.platform == "win32":
        return
    import resource

    for kind in (resource.RLIMIT_DATA, resource.RLIMIT_CORE):
        limit = most if kind == resource.RLIMIT_DATA else 0  # a core file would repeat what was read
        _, hard = resource.getrlimit(kind)
        if hard != resource.RLIM_INFINITY:
            limit = min(limit, hard)
        try:
            resource.setrlimit(kind, (limit, hard))
        except (ValueError, OSError):
            continue  # the system knows the limit's name and does not enforce it


def limit_time(most_s: float) -> None:
    """Make the system end this process once it has used so much more processor time, rounded up to whole seconds. Does
    nothing on systems without such a limit."""
    if sys.platform == "win32":
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    limit = math.ceil(time.process_time() + most_s)
    with suppress(ValueError, OSError):  # a system that refuses it leaves the parent's clock
        resource.setrlimit(resource.RLIMIT_CPU, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))

"""A worker process: reads tasks from standard input, writes what it prepared to standard output (`frames`).

The parent kills a worker that takes too long; nothing here holds state that would be missed.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import cast

from findling.reading.chunks import ChunkLimits
from findling.reading.frames import COMMENTS, DOCUMENTED, Task, read_frame, write_frame
from findling.reading.prepare import prepare
from findling.reading.syntax_comments import comment_spans
from findling.reading.syntax_docs import documented
from findling.reading.worker_limits import limit_memory


def _answering(asked: str) -> Callable[[str, bytes, bool], object]:
    """What makes an answer of a file."""
    if asked == DOCUMENTED:
        return lambda path, data, _: documented(path, data)
    if asked == COMMENTS:
        return lambda path, data, _: comment_spans(path, data)
    limits = ChunkLimits.from_id(asked)
    return lambda path, data, with_syntax: prepare(path, data, with_syntax=with_syntax, limits=limits)


def main(out: int) -> None:
    """Serve until standard input ends; answers go to the descriptor ``out``."""
    gc.disable()  # nothing here makes cycles, and the remembered words would be gone through again and again
    inlet = sys.stdin.buffer
    outlet = os.fdopen(out, "wb")
    limit_memory()
    answering = cache(_answering)
    while (task := cast("Task | None", read_frame(inlet))) is not None:
        asked, files = task
        answer = answering(asked)
        answers: list[object] = []
        for path, data, with_syntax in files:
            try:
                answers.append(answer(path, data, with_syntax))
            except Exception as error:  # noqa: BLE001 - one bad file costs itself, and is reported
                answers.append(f"{type(error).__name__}: {error}")
        try:
            write_frame(outlet, answers)
        except BrokenPipeError:
            os._exit(0)  # the parent is gone; nothing is left to say or to flush

"""A worker process: reads tasks from standard input, writes what it prepared to standard output.

Frames are a 4-byte length and a pickle, and only ever travel between findling's own processes over their pipes.
A task is what is asked and a list of (path, bytes, with_syntax); the answer a list of (Reading | SkippedFile | message
of a failure). What is asked: how files are cut (`ChunkLimits.id`), or one of the words below.
The parent kills a worker that takes too long; nothing here holds state that would be missed.
"""

from __future__ import annotations

import gc
import os
import pickle
import struct
import sys
from collections.abc import Callable
from functools import cache
from typing import BinaryIO, cast

COMMENTS = "comments"
"""Find comments: then an answer is as `syntax_comments.comment_spans` gives it."""

DOCUMENTED = "documented"
"""Find documented definitions: an answer as `syntax_docs.documented`."""

Task = tuple[str, list[tuple[str, bytes, bool]]]

LENGTH = struct.Struct("<I")


def read_frame(stream: BinaryIO) -> object | None:
    """The next object, or None at the end of the stream, also when it ends within an object."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    size = LENGTH.unpack(head)[0]
    body = stream.read(size)
    if len(body) < size:
        return None
    value: object = pickle.loads(body)  # noqa: S301 - from our own parent or child only
    return value


def write_frame(stream: BinaryIO, value: object) -> None:
    body = pickle.dumps(value, protocol=5)
    stream.write(LENGTH.pack(len(body)) + body)
    stream.flush()


def _answering(asked: str) -> Callable[[str, bytes, bool], object]:
    """What makes an answer of a file."""
    if asked == DOCUMENTED:
        from findling.reading.syntax_docs import documented

        return lambda path, data, _: documented(path, data)
    if asked == COMMENTS:
        from findling.reading.syntax_comments import comment_spans

        return lambda path, data, _: comment_spans(path, data)
    from findling.reading.chunks import ChunkLimits
    from findling.reading.prepare import prepare

    limits = ChunkLimits.from_id(asked)
    return lambda path, data, with_syntax: prepare(path, data, with_syntax=with_syntax, limits=limits)


def main() -> None:
    """Serve until standard input ends."""
    gc.disable()  # nothing here makes cycles, and the remembered words would be gone through again and again
    inlet = sys.stdin.buffer
    outlet = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints goes to stderr, not into the frames
    import findling.reading.prepare  # noqa: F401 - while the parent still looks for files
    from findling.reading.worker_limits import limit_memory

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


if __name__ == "__main__":
    main()

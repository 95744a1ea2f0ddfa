"""A worker process: reads tasks from standard input, writes what it prepared to standard output.

Frames are a 4-byte length and a pickle, and only ever travel between findling's own processes over their pipes.
A task is a list of (path, bytes, with_syntax); the answer a list of (Prepared | SkippedFile | message of a failure).
An argument, if there is one, says how files are cut (`ChunkLimits.id`).
The parent kills a worker that takes too long; nothing here holds state that would be missed.
"""

from __future__ import annotations

import gc
import os
import pickle
import struct
import sys
from collections.abc import Callable
from typing import BinaryIO

COMMENTS = "comments"
"""The argument of a worker that finds comments: then an answer is as `syntax_comments.comment_spans` gives it."""

DOCUMENTED = "documented"
"""The same, of one that finds documented definitions: `syntax_docs.documented`."""

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


def _finder(asked: str) -> Callable[[str, bytes], object]:
    if asked == DOCUMENTED:
        from findling.ingest.syntax_docs import documented

        return documented
    from findling.ingest.syntax_comments import comment_spans

    return comment_spans


def main() -> None:
    """Serve until standard input ends."""
    gc.disable()  # nothing here makes cycles, and the remembered words would be gone through again and again
    inlet = sys.stdin.buffer
    outlet = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints goes to stderr, not into the frames
    from findling.ingest.chunks import ChunkLimits
    from findling.ingest.prepare import prepare
    from findling.ingest.worker_limits import limit_memory

    limit_memory()
    asked = " ".join(sys.argv[1:])
    limits = ChunkLimits.from_id(asked) if asked not in (COMMENTS, DOCUMENTED) else None

    while (task := read_frame(inlet)) is not None:
        answers: list[object] = []
        for path, data, with_syntax in task:  # type: ignore[attr-defined]
            try:
                answers.append(
                    prepare(path, data, with_syntax=with_syntax, limits=limits)
                    if limits is not None
                    else _finder(asked)(path, data)
                )
            except Exception as error:  # noqa: BLE001 - one bad file costs itself, and is reported
                answers.append(f"{type(error).__name__}: {error}")
        try:
            write_frame(outlet, answers)
        except BrokenPipeError:
            os._exit(0)  # the parent is gone; nothing is left to say or to flush


if __name__ == "__main__":
    main()

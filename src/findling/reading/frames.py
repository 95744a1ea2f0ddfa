"""What is said to a worker process and what it answers, as frames: a 4-byte length and a pickle.

They only ever travel between findling's own processes over their pipes. A task is what is asked and a list of (path,
bytes, with_syntax); the answer a list of (Reading | Embedded | SkippedFile | message of a failure). What is
asked: how files are cut (`ChunkLimits.id`), with a word before it for vectors; or one of the other words below.
"""

from __future__ import annotations

import pickle
import struct
from typing import BinaryIO

COMMENTS = "comments"
"""Find comments: then an answer is as `syntax_comments.comment_spans` gives it."""

DOCUMENTED = "documented"
"""Find documented definitions: an answer as `syntax_docs.documented`."""

VECTORS = "vectors "
"""Before how files are cut: make the bundled model's vectors, too."""

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

"""A worker process and the pipe to it. Knows nothing of its work.

What is said to it and what it answers are frames, a 4-byte length and a pickle, which only ever travel between
findling's own processes. A task is what is asked and a list of (path, bytes, with_syntax); the answer a list of
(Reading | Embedded | SkippedFile | message of a failure). What is asked: how files are cut (`ChunkLimits.id`), with a
word before it for vectors; or one of the other words below.
"""

from __future__ import annotations

import os
import pickle
import struct
import subprocess
import sys
from contextlib import suppress
from typing import Any, BinaryIO, Final

PROGRAM: Final = "import os; out = os.dup(1); os.dup2(2, 1); from findling.reading.worker import main; main(out)"
"""Whatever a library prints, when it is imported too, goes to stderr and not into the frames. Not ``-m``, which imports
what finds modules first."""

_APART: Final[dict[str, Any]] = {"process_group": 0} if os.name == "posix" else {}
"""Ctrl-C is for the parent, which ends its workers itself."""


def end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):  # a pipe to a dead process has nothing left to flush
                stream.close()


def start() -> subprocess.Popen[bytes]:
    """A worker and pipes to it. Raises OSError."""
    return subprocess.Popen(
        # -P: the working folder is the user's project, and what lies in it is no module of ours
        [sys.executable, "-P", "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
        **_APART,
    )


def environment() -> dict[str, str]:
    """The child must find the findling that runs here, from wherever it was imported."""
    package_parent = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH120, PTH100
    paths = [package_parent, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return {**os.environ, **threads, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}


COMMENTS = "comments"
"""Find comments: then an answer is as `syntax_docs.comment_spans` gives it."""

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

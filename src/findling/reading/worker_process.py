"""Starts and ends a worker process, and passes messages to it. Knows nothing of its work.

A message is a 4-byte length and a pickle; messages only travel between findling's own processes. A task is what is
asked, a list of (path, bytes, with_syntax) and the processor time it may take, in seconds; the answer is a list of
(Reading | Embedded | SkippedFile | message of a failure). What is asked is `COMMENTS`, `DOCUMENTED`, or how files are
cut (`ChunkLimits.id`), with `VECTORS` before it for vectors, too.
"""

from __future__ import annotations

import os
import pickle
import struct
import subprocess
import sys
from contextlib import suppress
from typing import Any, BinaryIO, Final


def program_of(module: str) -> str:
    """Runs the ``main`` of a module. What a library prints goes to stderr and not into the messages. Not ``-m``, which
    imports more first."""
    return f"import os; out = os.dup(1); os.dup2(2, 1); from {module} import main; main(out)"


PROGRAM: Final = program_of("findling.reading.worker")

_APART: Final[dict[str, Any]] = {"process_group": 0} if os.name == "posix" else {}
"""Ctrl-C reaches the parent alone, which ends its workers itself."""


def end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):  # a pipe to a dead process has nothing left to flush
                stream.close()


def start(program: str = PROGRAM) -> subprocess.Popen[bytes]:
    """A worker and pipes to it. Raises OSError."""
    return subprocess.Popen(
        # -P: the working folder is the user's project, and nothing in it may be imported
        [sys.executable, "-P", "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
        **_APART,
    )


def environment() -> dict[str, str]:
    """The worker's environment, in which it finds the same findling as this process."""
    package_parent = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH120, PTH100
    paths = [package_parent, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return {**os.environ, **threads, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}


COMMENTS = "comments"
"""Asks for comments: an answer is what `syntax_docs.comment_spans` gives."""

DOCUMENTED = "documented"
"""Asks for documented definitions: an answer is what `syntax_docs.documented` gives."""

VECTORS = "vectors "
"""Stands before how files are cut, and asks for the bundled model's vectors, too."""

Task = tuple[str, list[tuple[str, bytes, bool]], float]

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

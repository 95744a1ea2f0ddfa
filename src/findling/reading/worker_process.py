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
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO, Final, Self, cast


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


class Child:
    """A worker that is started when it is needed, and ended when it takes too long; a context that ends it for good.
    ``program``: as of `start`."""

    def __init__(self, program: str = PROGRAM) -> None:
        self._program = program
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False
        self._lock = threading.Lock()

    def start(self) -> bool:
        """Whether it was started now, since there was none. Raises OSError, also after `end`."""
        with self._lock:
            if self._ended:
                raise OSError("the worker has been ended for good")
            if self._process is not None:
                return False
            self._process = start(self._program)
            return True

    def exchange(self, task: object, wall_s: float) -> object | None:
        """The answer to a task, None where the process could not be started, died, or took longer. Then the next task
        starts another."""
        try:
            self.start()
        except OSError:
            return None
        process = self._process
        if process is None:  # it was stopped meanwhile
            return None
        timer = threading.Timer(wall_s, process.kill)
        timer.daemon = True
        timer.start()
        try:
            write_frame(cast("BinaryIO", process.stdin), task)
            answer = read_frame(cast("BinaryIO", process.stdout))
        except Exception:  # noqa: BLE001 - unpickling raises anything, and a closed pipe too: that is no answer
            answer = None
        finally:
            timer.cancel()
        if answer is None:
            self.stop()
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self.stop()

    def end(self) -> None:
        """Stop, and never start again."""
        with self._lock:
            self._ended = True
            if self._process is not None:
                self._process.kill()

    def stop(self) -> None:
        """End the process; the next task starts another."""
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            end(process)


def serve(out: int, answer: Callable[[Any], object]) -> None:
    """The loop of a worker: answer tasks until standard input ends; answers go to the descriptor ``out``."""
    inlet, outlet = sys.stdin.buffer, os.fdopen(out, "wb")
    while (task := read_frame(inlet)) is not None:
        try:
            write_frame(outlet, answer(task))
        except OSError:
            os._exit(0)  # the parent is gone, or will find that this process is


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

"""Starting and ending a worker process. Knows nothing of its work."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from typing import Any, Final

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

"""Processes that begin where one stands that has imported everything: half a second of processor time less for each.

What a process runs is text, as for `python -c`. It has pipes of its own for what it reads and writes.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TextIO

IMPORTED = (
    "findling.contracts",
    "findling.embedding.bundled",
    "findling.engine.background_process",
    "findling.engine.embedding_pass",
    "findling.engine.indexer",
    "findling.engine.library",
    "findling.engine.library.fetching.running",
    "findling.engine.watching",
    "findling.faces.cli.main",
    "findling.faces.mcp.serving",
    "mcp.server.lowlevel",
    "mcp.types",
    "findling.search.searcher",
    "findling.store.local.writer",
)

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["__main__", *IMPORTED])


class Forked:
    """One process. ``complaints``: the file that has what it writes to stderr."""

    def __init__(self, code: str, arguments: Sequence[str], complaints: Path) -> None:
        theirs_in, mine_out = _context.Pipe(duplex=False)
        mine_in, theirs_out = _context.Pipe(duplex=False)
        self._process = _context.Process(
            target=_run, args=(code, [*arguments], dict(os.environ), theirs_in, theirs_out, str(complaints))
        )
        self._process.start()
        theirs_in.close()
        theirs_out.close()
        self.complaints = complaints
        self.stdin = _text(mine_out, "w")
        self.stdout = _text(mine_in, "r")

    @property
    def pid(self) -> int:
        assert self._process.pid is not None  # it was started
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.is_alive()

    def ends_within(self, seconds: float) -> bool:
        self._process.join(seconds)
        return not self.alive

    def kill(self) -> str:
        """End it as hard as can be; what it had written since it was last read."""
        self._process.kill()
        self.stdin.close()
        said = self.stdout.read()
        self.stdout.close()
        self._process.join()
        return said


def _text(end: Connection, mode: str) -> TextIO:
    with end:
        return os.fdopen(os.dup(end.fileno()), mode, encoding="utf-8")


def _run(
    code: str, arguments: list[str], environment: Mapping[str, str], stdin: Connection, stdout: Connection, stderr: str
) -> None:
    for number, end in enumerate((stdin, stdout)):
        os.dup2(end.fileno(), number)
        end.close()
    os.dup2(os.open(stderr, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
    sys.stdin, sys.stdout = (os.fdopen(number, mode) for number, mode in enumerate("rw"))
    sys.stderr = os.fdopen(2, "w", buffering=1)
    sys.argv = ["-c", *arguments]
    os.environ.clear()
    os.environ.update(environment)
    exec(compile(code, "<forked>", "exec"), {"__name__": "__main__"})

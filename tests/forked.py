"""Commands in processes of their own, forked from one that has imported everything: a fraction of what starting Python
anew for each takes. How a start goes is proved by the tests that start one."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from multiprocessing import forkserver
from pathlib import Path

import forked_workers

_CONTEXT = multiprocessing.get_context("forkserver")


@cache
def _start_server() -> None:
    """Start what commands are forked from. It finds `forked_imports` by ``PYTHONPATH`` alone, and would be silent about
    not finding it."""
    _CONTEXT.set_forkserver_preload(["forked_imports"])
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (os.path.dirname(__file__), before)))
    try:
        forkserver.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


def findling(
    *arguments: str, cwd: Path, env: Mapping[str, str], stdin: str = "", timeout_s: float = 120
) -> subprocess.CompletedProcess[str]:
    """Run ``findling`` with these arguments and this environment alone."""
    _start_server()
    with tempfile.TemporaryDirectory() as folder:
        streams = [os.path.join(folder, name) for name in ("in", "out", "err")]
        Path(streams[0]).write_text(stdin, encoding="utf-8")
        process = _CONTEXT.Process(
            target=_run, args=(arguments, os.fspath(cwd), dict(env), streams, forked_workers.address())
        )
        process.start()
        process.join(timeout_s)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(arguments, timeout_s)
        out, err = (Path(stream).read_bytes().decode() for stream in streams[1:])
    return subprocess.CompletedProcess(arguments, process.exitcode, out, err)


def _run(arguments: tuple[str, ...], cwd: str, env: Mapping[str, str], streams: list[str], forks: str) -> None:
    assert "forked_imports" in sys.modules
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    modes = (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT)
    for number, (stream, mode) in enumerate(zip(streams, modes, strict=True)):
        opened = os.open(stream, mode, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
    sys.argv = ["findling", *arguments]
    from findling.faces.cli.main import main

    forked_workers.fork_from(forks)
    status = main(arguments)
    sys.stdout.flush()
    sys.exit(status)

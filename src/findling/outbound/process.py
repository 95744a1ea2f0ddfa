"""A git that runs: its output collected in time and within bounds, and nothing of it left behind.

Knows neither how it is started nor what the output means.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import time
from types import TracebackType
from typing import IO, Literal, NamedTuple

MAX_ERROR_BYTES = 64 * 1024  # enough for every warning worth parsing
READ_BYTES = 1 << 20  # one read drains whatever the pipe holds
REAP_S = 5.0  # after SIGKILL a process is gone at once, unless it hangs in the kernel

GitStatus = Literal["ok", "failed", "missing", "timed_out", "too_large", "stopped"]


class GitOutput(NamedTuple):
    """How a run of git ended. Only ``ok`` (exit status 0) and ``failed`` carry a complete ``stdout``.

    ``missing``: there is no git, or it cannot be started; ``stopped``: somebody called ``stop``.
    """

    status: GitStatus
    returncode: int
    stdout: bytes
    stderr: bytes

    @property
    def ok(self) -> bool:
        return self.status == "ok"

    @property
    def dubious_ownership(self) -> bool:
        """git refuses a repository that belongs to somebody else."""
        return b"dubious ownership" in self.stderr


class GitProcess:
    """A running git. ``wait`` gives its outcome; leaving the ``with`` block stops it if it still runs."""

    def __init__(
        self, process: subprocess.Popen[bytes] | None, timeout_s: float, max_output: int, input: bytes | None
    ) -> None:
        self._process = process
        self._deadline = time.monotonic() + timeout_s
        self._max_output = max_output
        self._stdout: list[bytes] = []
        self._stderr: list[bytes] = []
        self._too_large = False
        self._stopped = False
        self._timed_out = False
        self._threads: list[threading.Thread] = []
        if process is None:
            return
        assert process.stdout is not None and process.stderr is not None
        self._collect(process.stdout, self._stdout, max_output, kill_when_full=True)
        self._collect(process.stderr, self._stderr, MAX_ERROR_BYTES, kill_when_full=False)
        if input is not None:
            assert process.stdin is not None
            feeder = threading.Thread(target=_feed, args=(process.stdin, input), daemon=True)
            feeder.start()
            self._threads.append(feeder)

    def __enter__(self) -> GitProcess:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def _collect(self, stream: IO[bytes], into: list[bytes], limit: int, *, kill_when_full: bool) -> None:
        def read() -> None:
            size = 0
            descriptor = stream.fileno()
            while True:
                try:
                    data = os.read(descriptor, READ_BYTES)
                except OSError:  # what came so far must not pass for all
                    self._kill()
                    return
                if not data:
                    return
                size += len(data)
                if size <= limit:
                    into.append(data)
                elif kill_when_full:
                    self._too_large = True
                    self._kill()
                    return
                else:
                    into[:] = _ends(b"".join((*into, data)), limit)

        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        self._threads.append(thread)

    def _kill(self) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()

    @property
    def finished(self) -> bool:
        """Whether all output has been collected, so that ``wait`` returns at once."""
        return not any(thread.is_alive() for thread in self._threads)

    def said(self) -> bytes:
        """What it has written to stderr so far; of very much how it begins and how it ends."""
        return b"".join(self._stderr)

    def wait(self, timeout_s: float | None = None) -> GitOutput:
        """The outcome, once git is done. Waits at most ``timeout_s`` from now, if given, then kills it."""
        process = self._process
        if process is None:
            return GitOutput("missing", -1, b"", b"")
        deadline = self._deadline if timeout_s is None else min(self._deadline, time.monotonic() + timeout_s)
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                self._timed_out = True
                self._kill()
                break
        returncode = self._reap(deadline)
        stderr = b"".join(self._stderr)
        if self._too_large:
            return GitOutput("too_large", returncode, b"", stderr)
        if self._timed_out:
            return GitOutput("timed_out", returncode, b"", stderr)
        if self._stopped:
            return GitOutput("stopped", returncode, b"", stderr)
        return GitOutput("ok" if returncode == 0 else "failed", returncode, b"".join(self._stdout), stderr)

    def stop(self) -> None:
        """Kill git if it still runs, and leave nothing of it behind. Harmless when it is done."""
        if self._process is None:
            return
        if self._process.poll() is None:
            self._stopped = True
            self._kill()
        self._reap(time.monotonic())

    def _reap(self, deadline: float) -> int:
        """Wait for the process to end (killing it after ``deadline``), close its pipes, return its exit status."""
        process = self._process
        assert process is not None
        try:
            process.wait(max(0.0, deadline - time.monotonic()) if process.poll() is None else None)
        except subprocess.TimeoutExpired:
            self._timed_out = not self._stopped
            self._kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(REAP_S)
        for thread in self._threads:
            thread.join(REAP_S)
        if self.finished:  # closing under a live reader would hand its descriptor number to somebody else
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()
        return process.returncode if process.returncode is not None else -1


def _ends(text: bytes, limit: int) -> list[bytes]:
    """How a text begins and how it ends: at the end a program says why it failed."""
    return [text[: limit // 2], text[-(limit // 2) :]]


def _feed(stream: IO[bytes], data: bytes) -> None:
    """Write ``data`` and close. A program that stops reading early is its own affair: its exit status tells."""
    with contextlib.suppress(BrokenPipeError), stream:
        stream.write(data)

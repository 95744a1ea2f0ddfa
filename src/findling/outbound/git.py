"""Runs git, the only other program that is run: with which environment, for how long, with how much output.

No shell is used. A repository is untrusted data, so everything is switched off by which it could make git start a
program, ask a question or reach the network. Knows nothing of what the output means.
"""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Literal, NamedTuple

from findling.outbound.certificates import git_variables

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

    def __exit__(self, *_: object) -> None:
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
        """What git has written to stderr so far; of a long text its beginning and end."""
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
    """The beginning and the end of a text: at the end a program says why it failed."""
    return [text[: limit // 2], text[-(limit // 2) :]]


def _feed(stream: IO[bytes], data: bytes) -> None:
    """Write ``data`` and close. A program may stop reading early; its exit status tells whether it failed."""
    with contextlib.suppress(BrokenPipeError), stream:
        stream.write(data)


# The caller's own configuration may stay; what points git at another repository or program must not.
_KEPT_GIT_VARIABLES = frozenset(
    ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_COUNT", "GIT_CEILING_DIRECTORIES",
     "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_EXEC_PATH")
)  # fmt: skip
_KEPT_GIT_PREFIXES = ("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_")


def kept_git_variables() -> dict[str, str]:
    """The environment's variables for git that are passed on: the user's configuration."""
    return {
        key: value
        for key, value in os.environ.items()
        if key in _KEPT_GIT_VARIABLES or key.startswith(_KEPT_GIT_PREFIXES)
    }


GIT_TIMEOUT_S = 10.0  # a listing of the largest repositories takes seconds with a cold disk
MAX_OUTPUT_BYTES = 256 * 1024 * 1024  # several million paths; more is not a listing but a fault
MAX_FETCH_MEMORY = 1 << 30  # the largest repositories that are fetched take a third of it
ANSWER_S = 10.0  # one object; the largest that are asked for take some milliseconds

_GIT_OPTIONS = (
    "--no-pager",
    "-c", "core.fsmonitor=false",
    "-c", f"core.hooksPath={os.devnull}",
    "-c", "core.quotePath=false",
    "-c", "protocol.allow=never",
    "-c", "safe.bareRepository=explicit",
    "-c", "submodule.recurse=false",
)  # fmt: skip

_GIT_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",  # unlike protocol.allow no protocol.NAME.allow of a repository can overrule it
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",  # a commit's id must mean the same for ever, whatever refs/replace says
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
}


class GitServer(NamedTuple):
    """The one server that git may ask: ``addresses`` are those that its name was found to stand for. ``authorization``:
    the header that it is sent, '' for none."""

    scheme: Literal["http", "https"]
    host: str
    port: int
    addresses: tuple[str, ...]
    authorization: str = ""

    @property
    def options(self) -> tuple[str, ...]:
        places = ",".join(f"[{address}]" if ":" in address else address for address in self.addresses)
        values = (
            f"protocol.{self.scheme}.allow=always",
            f"http.curloptResolve={self.host}:{self.port}:{places}",
            "http.followRedirects=false",
            "http.proxy=",
            "http.lowSpeedLimit=1000",
            "http.lowSpeedTime=30",
            "credential.helper=",
            "core.askPass=",
            "gc.auto=0",
            "maintenance.auto=false",
            "fetch.recurseSubmodules=false",
            "fetch.unpackLimit=1",  # whatever a fetch brings is one file
            "core.bigFileThreshold=16m",  # what unpacks to more is never held in memory
        )
        return tuple(word for value in values for word in ("-c", value))

    def environment(self, home: Path | str) -> dict[str, str]:
        """Nothing of the user's but certificate authorities: no configuration, no passwords, no proxies. The header
        stands here, as every user of the machine may read a program's arguments."""
        kept = {key: value for key, value in os.environ.items() if not key.upper().endswith("_PROXY")}
        kept = {key: value for key, value in kept.items() if not key.startswith("GIT_") or key == "GIT_EXEC_PATH"}
        return {
            **kept,
            **_GIT_ENVIRONMENT,
            **git_variables(),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_ALLOW_PROTOCOL": self.scheme,
            "HOME": os.fspath(home),
            **(
                {
                    "GIT_CONFIG_COUNT": "1",
                    "GIT_CONFIG_KEY_0": "http.extraHeader",
                    "GIT_CONFIG_VALUE_0": f"Authorization: {self.authorization}",
                }
                if self.authorization
                else {}
            ),
        }


def run_git(
    args: Sequence[str],
    *,
    cwd: Path | str,
    timeout_s: float = GIT_TIMEOUT_S,
    input: bytes | None = None,
    max_output: int = MAX_OUTPUT_BYTES,
    little_memory: bool = False,
) -> GitOutput:
    """Run git in ``cwd`` and wait for it. Never raises for anything git does; see ``GitOutput.status``.

    ``args`` are literal words; a caller who passes on names from elsewhere puts ``--end-of-options`` or ``--``
    before them.
    """
    return start_git(
        args, cwd=cwd, timeout_s=timeout_s, input=input, max_output=max_output, little_memory=little_memory
    ).wait()


def start_git(
    args: Sequence[str],
    *,
    cwd: Path | str,
    timeout_s: float = GIT_TIMEOUT_S,
    input: bytes | None = None,
    max_output: int = MAX_OUTPUT_BYTES,
    little_memory: bool = False,
    server: GitServer | None = None,
) -> GitProcess:
    """Start git and return at once; its output is collected meanwhile. ``timeout_s`` runs from now.

    ``little_memory``: it fails where it would take more than `MAX_FETCH_MEMORY`. ``server``: the only one that it may
    reach; none without.
    """
    process: subprocess.Popen[bytes] | None = None
    # OSError: not executable after all, or ``cwd`` vanished or is no folder. Either way git cannot answer.
    with contextlib.suppress(OSError), _memory_bounded() if server or little_memory else contextlib.nullcontext():
        stdin = subprocess.DEVNULL if input is None else subprocess.PIPE
        process = _popen(args, cwd, stdin=stdin, stderr=subprocess.PIPE, server=server)
    return GitProcess(process, timeout_s, max_output, input)


def _popen(
    args: Sequence[str], cwd: Path | str, *, stdin: int, stderr: int, server: GitServer | None = None
) -> subprocess.Popen[bytes]:
    """Raises OSError."""
    program = _find_program("git")
    if program is None:
        raise OSError("git is not installed")
    return subprocess.Popen(
        [program, *_GIT_OPTIONS, *(server.options if server else ()), *args],
        cwd=cwd,
        env=server.environment(cwd) if server else _git_environment(),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=stderr,
    )


@contextlib.contextmanager
def _memory_bounded() -> Iterator[None]:
    """Bound the memory of programs that are started meanwhile: a repository may unpack to anything. Linux only."""
    if sys.platform != "linux":
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    most = MAX_FETCH_MEMORY if before[1] == resource.RLIM_INFINITY else min(MAX_FETCH_MEMORY, before[1])
    resource.setrlimit(resource.RLIMIT_DATA, (most, before[1]))  # inherited; a child cannot be given one safely later
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


class GitDialogue:
    """A git that answers one question after another, such as ``cat-file --batch``. A context; for one thread.

    Raises OSError from every question when git is missing, has ended, or takes longer than ``ANSWER_S``; then it is
    of no use any more.
    """

    def __init__(self, args: Sequence[str], *, cwd: Path | str) -> None:
        self._process = _popen(args, cwd, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self._pieces: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._rest = b""
        # A read cannot be given a time on every system; waiting for a thread that reads can.
        self._pump = threading.Thread(target=self._read, daemon=True)
        self._pump.start()

    def __enter__(self) -> GitDialogue:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def say(self, line: bytes) -> None:
        """Ask; ``line`` without its end."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()

    def line(self) -> bytes:
        """The next line of the answer, without its end."""
        while b"\n" not in self._rest:
            self._rest += self._piece()
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def exactly(self, size: int) -> bytes:
        """The next ``size`` bytes of the answer."""
        pieces, length = [self._rest], len(self._rest)
        while length < size:
            pieces.append(self._piece())
            length += len(pieces[-1])
        data = b"".join(pieces)
        self._rest = data[size:]
        return data[:size]

    def close(self) -> None:
        """End git, and leave nothing of it behind."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(REAP_S)
        self._pump.join(REAP_S)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None and not self._pump.is_alive():
                with contextlib.suppress(OSError):
                    stream.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        while True:
            data = os.read(descriptor, READ_BYTES)
            self._pieces.put(data)
            if not data:
                return

    def _piece(self) -> bytes:
        try:
            piece = self._pieces.get(timeout=ANSWER_S)
        except queue.Empty:
            self._process.kill()
            raise TimeoutError("git took too long") from None
        if not piece:
            self._pieces.put(b"")  # it has ended for whoever asks on, too
            raise BrokenPipeError("git has ended")
        return piece


def _git_environment() -> dict[str, str]:
    others = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return {**others, **kept_git_variables(), **_GIT_ENVIRONMENT}


def _find_program(name: str) -> str | None:
    """The program's absolute path, None when there is none.

    Looked up here, not by the child: relative entries of PATH would be resolved inside the untrusted folder.
    """
    names = (f"{name}.exe",) if os.name == "nt" else (name,)
    for folder in map(Path, os.get_exec_path()):
        if folder.is_absolute():
            for candidate in names:
                path = folder / candidate
                if os.access(path, os.X_OK) and path.is_file():
                    return str(path)
    return None

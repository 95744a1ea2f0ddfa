"""The only door to foreign programs: which are run, with what environment, for how long, with how much output.

No shell is ever involved. A repository is untrusted data, so git runs with everything switched off that could
start a program, ask a question or reach the network on a repository's say-so. Nothing here knows what the
output means.
"""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from findling.outbound.certificates import git_variables
from findling.outbound.git_variables import kept_git_variables
from findling.outbound.process import READ_BYTES, REAP_S, GitProcess
from findling.outbound.process import GitOutput as GitOutput

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
    """The one server that git may ask: ``addresses`` are those that its name was found to stand for."""

    scheme: Literal["http", "https"]
    host: str
    port: int
    addresses: tuple[str, ...]

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
        """Nothing of the user's but certificate authorities: no configuration, no passwords, no proxies."""
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
    program = _find_program("git")
    process: subprocess.Popen[bytes] | None = None
    if program is not None:
        # OSError: not executable after all, or ``cwd`` vanished or is no folder. Either way git cannot answer.
        with contextlib.suppress(OSError), _memory_bounded() if server or little_memory else contextlib.nullcontext():
            process = subprocess.Popen(
                [program, *_GIT_OPTIONS, *(server.options if server else ()), *args],
                cwd=cwd,
                env=server.environment(cwd) if server else _git_environment(),
                stdin=subprocess.DEVNULL if input is None else subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
    return GitProcess(process, timeout_s, max_output, input)


@contextlib.contextmanager
def _memory_bounded() -> Iterator[None]:
    """For programs started meanwhile, and what they start: a repository may unpack to anything. Linux only."""
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
        program = _find_program("git")
        if program is None:
            raise OSError("git is not installed")
        self._process = subprocess.Popen(
            [program, *_GIT_OPTIONS, *args],
            cwd=cwd,
            env=_git_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
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

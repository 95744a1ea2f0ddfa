"""Worker processes for tests, forked from one that has imported their program: the same processes without the fifth of
a second of processor time that each start takes. How a worker starts is proved by `engine/test_workers.py`."""

from __future__ import annotations

import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from typing import IO, Any

from findling.reading import worker_process

start_anew = worker_process.start
"""How a worker starts outside of tests."""

_ADDRESS = "TESTS_FORK_WORKERS_AT"
"""The variable that says where the process listens from which workers are forked."""

_MOST_BYTES = 1_000_000
"""Of a request: mostly the environment."""

_starting = threading.Lock()


class Forked:
    """A forked worker, with what findling uses of a `subprocess.Popen`."""

    def __init__(self, address: str) -> None:
        inlet, stdin = os.pipe()
        stdout, outlet = os.pipe()
        self._life = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._life.connect(address)
        request = json.dumps({"env": worker_process.environment(), "cwd": os.getcwd()}).encode()
        self._life.sendall(len(request).to_bytes(4, "big"))
        socket.send_fds(self._life, [b"-"], [inlet, outlet, 2])
        self._life.sendall(request)
        os.close(inlet)
        os.close(outlet)
        self.pid = int.from_bytes(self._life.recv(4, socket.MSG_WAITALL), "big")
        self.stdin: IO[bytes] = os.fdopen(stdin, "wb")
        self.stdout: IO[bytes] = os.fdopen(stdout, "rb")
        self.returncode: int | None = None
        self._waiting = threading.Lock()

    def kill(self) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it ended a moment ago
                os.kill(self.pid, signal.SIGKILL)

    def poll(self) -> int | None:
        return self.wait(0)

    def wait(self, timeout: float | None = None) -> int | None:
        with self._waiting:
            if self.returncode is None:
                self._life.settimeout(None if timeout is None else max(timeout, 0.000_001))
                try:
                    self.returncode = int.from_bytes(self._life.recv(4, socket.MSG_WAITALL), "big", signed=True)
                except TimeoutError:
                    return None
                self._life.close()
            return self.returncode


def start(program: str = worker_process.PROGRAM) -> Any:
    """As `worker_process.start`."""
    if program != worker_process.PROGRAM or not hasattr(os, "fork"):
        return start_anew(program)
    return Forked(address())


def fork_from(address: str = "") -> None:
    """Fork the workers of this process, from the process that listens at the address or from one of its own."""
    if address:
        os.environ[_ADDRESS] = address
    worker_process.start = start


def address() -> str:
    """Where the process listens that workers are forked from. Starts it; it ends with the process that started it."""
    with _starting:
        if _ADDRESS not in os.environ:
            folder = tempfile.mkdtemp(prefix="findling-forks-")
            path = os.path.join(folder, "socket")
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            listener.bind(path)
            listener.listen(64)
            subprocess.Popen(
                [sys.executable, __file__, str(listener.fileno()), path],
                stdin=subprocess.PIPE,
                env=worker_process.environment(),
                pass_fds=[listener.fileno()],
                process_group=0,  # Ctrl-C is for who started it
            )
            listener.close()
            os.environ[_ADDRESS] = path
        return os.environ[_ADDRESS]


def serve(listening: int, path: str) -> None:
    """Fork a worker for each connection, until standard input ends."""
    from findling.reading import worker

    listener = socket.socket(fileno=listening)
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    lives: dict[int, socket.socket] = {}
    with selectors.DefaultSelector() as selector:
        for each in (listener.fileno(), woken, 0):
            selector.register(each, selectors.EVENT_READ)
        while True:
            ready = {key.fd for key, _ in selector.select()}
            if 0 in ready:
                os.unlink(path)
                os.rmdir(os.path.dirname(path))
                return
            if woken in ready:
                os.read(woken, 4096)
                while lives and (ended := os.waitpid(-1, os.WNOHANG))[0]:
                    life = lives.pop(ended[0])
                    status = os.waitstatus_to_exitcode(ended[1])
                    with suppress(OSError):  # who asked for the worker may be gone
                        life.sendall(status.to_bytes(4, "big", signed=True))
                    life.close()
            if listener.fileno() in ready:
                life, _ = listener.accept()
                size = int.from_bytes(life.recv(4, socket.MSG_WAITALL), "big")
                _, streams, _, _ = socket.recv_fds(life, 1, 3)
                request = json.loads(life.recv(min(size, _MOST_BYTES), socket.MSG_WAITALL))
                pid = os.fork()
                if not pid:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    _work(request, streams, worker.main)
                lives[pid] = life
                life.sendall(pid.to_bytes(4, "big"))
                for stream in streams:
                    os.close(stream)


def _work(request: dict[str, Any], streams: list[int], main: Any) -> None:
    """As `worker_process.PROGRAM`, in the environment of who asked."""
    status = 1
    try:
        inlet, outlet, errors = streams
        os.dup2(inlet, 0)
        os.dup2(errors, 1)
        os.dup2(errors, 2)
        out = os.dup2(outlet, 3)
        os.closerange(4, 1024)
        os.setpgid(0, 0)
        os.chdir(request["cwd"])
        os.environ.clear()
        os.environ.update(request["env"])
        main(out)
        status = 0
    finally:
        os._exit(status)


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2])

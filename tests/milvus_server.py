"""A real Milvus for tests, the engine of one process from a wheel, on a port of the loopback."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Self

from postgresql_server import free_port


def library() -> Path | None:
    """Where the wheel has its program; None where it is not installed."""
    spec = find_spec("milvus_lite")
    found = Path(spec.origin).parent / "lib" if spec is not None and spec.origin else None
    return found if found is not None and (found / "milvus").is_file() else None


class MilvusServer:
    """A server with a data folder of its own. A context; leaving it ends the server and deletes the folder."""

    def __init__(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="findling-milvus-")
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        found = library()
        assert found is not None, "There is no Milvus to test with. Run: .venv/bin/pip install 'milvus-lite<3'"
        self._process = subprocess.Popen(
            [found / "milvus", f"{self._folder}/milvus.db", f"127.0.0.1:{self.port}", "ERROR"],
            env={**os.environ, "LD_LIBRARY_PATH": str(found), "DYLD_LIBRARY_PATH": str(found)},
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            assert self._process.poll() is None
            time.sleep(0.02)

    def stop(self) -> None:
        """End it as when it is killed."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

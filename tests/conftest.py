"""What holds for every test."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

import forked_workers
import sizes
from findling.reading import worker_process
from milvus_server import MilvusServer
from postgresql_server import Server

if TYPE_CHECKING:
    from findling.store.postgresql import Database

os.environ["CI"] = "1"  # no question leaves a process behind
forked_workers.fork_from()

_IN_MEMORY = Path("/dev/shm")
"""Most tests write an index, and each commit waits for the disk several times: a third of the suite's time."""

_ROOM_BYTES = 4_000_000_000
"""Several times what the tests write."""


def _takes_tests(folder: Path) -> bool:
    """Whether a file system in memory has room, and lets programs run that tests write."""
    if not (hasattr(os, "ST_NOEXEC") and folder.is_dir() and os.access(folder, os.W_OK)):
        return False
    return not os.statvfs(folder).f_flag & os.ST_NOEXEC and shutil.disk_usage(folder).free > _ROOM_BYTES


if _takes_tests(_IN_MEMORY):
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_IN_MEMORY))

settings.register_profile(
    "findling", deadline=None, max_examples=sizes.size(40, 100)
)  # how fast a machine is proves nothing
settings.load_profile("findling")


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A PostgreSQL server for the session."""
    with Server() as server:
        yield server


@pytest.fixture(scope="session")
def milvus() -> Iterator[MilvusServer]:
    """A Milvus server for the session."""
    if sys.platform == "win32":
        pytest.skip("there is no Milvus for Windows")
    with MilvusServer() as server:
        yield server


@pytest.fixture(scope="session")
def shared_store(postgresql: Server) -> Iterator[Database]:
    """A store in PostgreSQL, with its schema and nothing in it; tests use collections of their own."""
    from findling.store.postgresql import Database

    database = Database(postgresql.new_database("findling"))
    database.migrate()
    yield database
    database.close()


@pytest.fixture
def workers_start_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Worker processes start as they do outside of tests."""
    monkeypatch.setattr(worker_process, "start", forked_workers.start_anew)

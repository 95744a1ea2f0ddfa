"""A small project of real files, indexed once, and one call per tool that has an answer in it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from findling.contracts import Workspace
from findling.engine.library import Library

FILES: Mapping[str, str] = {
    "src/http/client.py": '''\
"""Sending requests over the network."""

import time


class Client:
    """Talks to a server, and tries again when it does not answer."""

    def retry_failed(self, request, attempts=3):
        """Send a request again after a failure, with a growing pause."""
        for attempt in range(attempts):
            try:
                return self.send(request)
            except ConnectionError:
                time.sleep(2**attempt)
        raise ConnectionError("gave up after all attempts")

    def send(self, request):
        return request.transport.deliver(request)
''',
    "src/http/retry_policy.py": '''\
"""How often something is tried again."""

MAX_ATTEMPTS = 3


def retry_delay(attempt):
    """Seconds to wait before the next attempt."""
    return 2**attempt
''',
    "src/billing/invoice.py": '''\
"""Invoices and what they add up to."""

VAT_RATE = 0.19


def total_with_tax(lines):
    """The sum of all lines of an invoice, value added tax included."""
    net = sum(line.amount for line in lines)
    return net * (1 + VAT_RATE)
''',
    "src/main.py": """\
from http.client import Client


def run(request):
    return Client().retry_failed(request)
""",
    "web/cart.ts": """\
export interface CartLine { sku: string; quantity: number }

export function emptyCart(): CartLine[] {
  return [];
}
""",
    "five.txt": "one\ntwo\nthree\nfour\nfive\n",
    "docs/guide.md": """\
# Guide

## Installing

Copy the folder and start the program.

## When the network is down

Requests that fail are sent again three times before the program gives up.
""",
}

GOOD_CALLS: Mapping[str, Mapping[str, Any]] = {
    "search_code": {"query": "how is a failed request sent again", "limit": 4},
    "locate_symbol": {"name": "Client", "include_references": True},
    "get_file_outline": {"path": "src/http/client.py"},
    "index_status": {},
    "index_repo": {},
    "sync_repo": {},
    "health_check": {},
    "explore": {"query": "how is a failed request sent again"},
    "impact": {"name": "Client.send"},
    "semantic_search": {"query": "when the network is down", "threshold": 0.2, "limit": 3},
    "find_similar": {"docPath": "docs/guide.md", "limit": 2},
    "reindex_vectors": {"pathPrefix": "docs/", "force": True},
    "query_docs": {"query": "how often is a failed request sent again"},
    "search_docs": {"query": "program gives up", "prettyPrint": True},
    "search_semantic": {"query": "sum of an invoice with tax", "top_k": 3},
    "hybrid_search": {"query": "retry a failed request", "top_k": 5},
    "search_keyword": {"query": r"def \w+_\w+\(", "top_k": 3},
    "find_symbol": {"name": "retry"},
    "list_defs_in_file": {"path": "src/billing/invoice.py"},
    "get_file": {"path": "src/main.py", "start_line": 4, "end_line": 5},
    "search_documents": {"query": "when the network is down", "options": {"limit": 3, "minScore": 0.1}},
    "list_active_jobs": {},
}
"""Of the library the file and the job are made by the test run: `good_calls` adds them."""


YESTERDAY = time.time() - 86_400
"""What is read within moments of being written is looked at again; tests that count changes are not about that."""


def write_files(root: Path) -> Path:
    for path, text in FILES.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        os.utime(target, (YESTERDAY, YESTERDAY))
    (root / ".git").mkdir()
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    return root


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's folder, with a complete index. Tests must not change its files."""
    root = write_files(tmp_path_factory.mktemp("project").resolve())
    with Workspace(root, root=root) as workspace:
        assert workspace.engine.index().complete
    return root


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder of its own, not indexed yet."""
    return write_files(tmp_path.resolve())


WAITING = ("code", "code_search", "docs_scope", "library", "repo", "symbols")
"""The modules of `findling.contracts` that wait for an index, at most their `WAIT_S`."""


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """How long a question may index is for tests about that."""
    for module in WAITING:
        monkeypatch.setattr(f"findling.contracts.{module}.WAIT_S", None)
    for limit in ("CHECK_S", "SMALL_CHECK_S", "SYNC_S"):
        monkeypatch.setattr(f"findling.engine.freshness.{limit}", 60.0)


@pytest.fixture(scope="module")
def workspace(indexed: Path) -> Iterator[Workspace]:
    with Workspace(indexed, root=indexed) as opened:
        yield opened


@pytest.fixture(scope="session")
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of these tests, with nothing in it but a job."""
    return tmp_path_factory.mktemp("data").resolve()


@pytest.fixture(scope="module", autouse=True)
def own_library(data_folder: Path) -> Iterator[None]:
    """Nobody's own library is touched. For as long as a module runs: other tests count such variables."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FINDLING_DATA_DIR", str(data_folder))
        yield


@pytest.fixture(scope="session")
def ended_job(data_folder: Path) -> str:
    """The id of a job that has ended."""
    return Library(data_folder).jobs.start("fetch", "fetch_file").end("done", result={"filename": "notes.md"}).id


@pytest.fixture(scope="session")
def good_calls(indexed: Path, ended_job: str) -> Mapping[str, Mapping[str, Any]]:
    """A call with an answer in it for every tool that does not delete."""
    guide = str(indexed / "docs" / "guide.md")
    return {
        **GOOD_CALLS,
        "get_file_details": {"filePath": guide, "chunkIndex": 1, "contextSize": 1},
        "get_job_status": {"jobId": ended_job},
    }

"""Servers over HTTP, with a small project behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from served import COMMAND, TOKEN, Served, start, stop


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("served").resolve()
    for number in range(30):
        (root / f"part_{number}.py").write_text(f"def work_{number}():\n    return {number}\n")
    return root


@pytest.fixture(scope="module")
def guarded(project: Path) -> Iterator[Served]:
    """A server with a token, a further host and a further origin."""
    names = ["--allow-host", "box.example", "--allow-origin", "https://app.example"]
    served = start([*COMMAND, *names, str(project)], FINDLING_HTTP_TOKEN=TOKEN)
    yield served
    stop(served)


@pytest.fixture
def run() -> Iterator[Callable[..., Served]]:
    """Start servers that end with the test."""
    started: list[Served] = []

    def begin(command: list[str], **environment: str) -> Served:
        started.append(start(command, **environment))
        return started[-1]

    yield begin
    for served in started:
        stop(served)

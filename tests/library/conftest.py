"""A data folder of a test's own, and folders of documents to put into it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from shelf import BREAD, long_ago, write

from findling.engine.library import Library


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder, not made yet, and a configuration of the user's that keeps the tests short."""
    folder = tmp_path.resolve() / "data"
    monkeypatch.setenv("FINDLING_DATA_DIR", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    write(tmp_path / "config" / "findling", {"config.toml": "[library]\nmaxFileProcessingConcurrency = 1\n"})
    return folder


@pytest.fixture
def bread(tmp_path: Path) -> Path:
    return long_ago(write(tmp_path.resolve() / "bread", BREAD))


@pytest.fixture
def library(data: Path) -> Iterator[Library]:
    with Library.open() as opened:
        yield opened


@pytest.fixture
def local(data: Path, tmp_path: Path) -> Callable[..., None]:
    """Allows fetching from these hosts, by the user's own configuration."""

    def allow(*hosts: str, enabled: bool = True) -> None:
        named = ", ".join(f'"{host}"' for host in hosts)
        text = f"[fetch]\nallowed_hosts = [{named}]\nenabled = {str(enabled).lower()}\n"
        text += "[library]\nmaxFileProcessingConcurrency = 1\n"
        write(tmp_path / "config" / "findling", {"config.toml": text})

    return allow

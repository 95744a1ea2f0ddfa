"""One small invented project, indexed once, that the tests of a whole search ask."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from findling import Engine

CORPUS = Path(__file__).parent / "golden" / "corpus"

collect_ignore_glob = ["golden/*"]  # the invented project has tests of its own, which are there to be found


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project, indexed whole."""
    root = tmp_path_factory.mktemp("golden") / "skerry"
    shutil.copytree(CORPUS, root)
    with Engine.open(root=root) as engine:
        report = engine.index()
    assert report.complete
    assert not report.failed
    return root


@pytest.fixture(scope="module")
def engine(project: Path) -> Iterator[Engine]:
    with Engine.open(root=project) as opened:
        yield opened

"""One small invented project, indexed once, that the tests of a whole search ask."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from findling import Engine
from findling.embedding import open_embedder
from findling.engine.first_answers import take_in
from findling.store.memory import MemoryIndex

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


@pytest.fixture(scope="session")
def index(project: Path) -> MemoryIndex:
    """The project in memory, with vectors."""
    files = (path for path in sorted(project.rglob("*")) if path.is_file() and ".findling" not in path.parts)
    held = MemoryIndex()
    take_in(
        held, ((path.relative_to(project).as_posix(), path.read_bytes()) for path in files), embedder=open_embedder()
    )
    return held

"""The five limits of how much is done at once: what is over a limit waits for its turn, and says that it does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from shelf import write

from findling.contracts import Workspace
from findling.engine import jobs as records
from findling.engine import watching
from findling.engine.index_jobs import records_of
from findling.engine.library import Library
from findling.engine.library.fetching.fetch_requests import RepoRequest
from findling.engine.library.fetching.running import run_here
from findling.engine.small_files import Turns
from findling.model.errors import Cancelled
from findling.model.types import Progress
from findling.reading import pool

PATIENCE_S = 30.0


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)


@pytest.fixture
def limits(data: Path, tmp_path: Path) -> Callable[..., None]:
    def set_to(**keys: int) -> None:
        text = "".join(f"{key} = {value}\n" for key, value in ({"maxFileProcessingConcurrency": 1} | keys).items())
        write(tmp_path / "config" / "findling", {"config.toml": f"[library]\n{text}"})

    return set_to


def held(data: Path, what: str) -> AbstractContextManager[bool]:
    """Somebody else does the same."""
    return Turns(data / "turns" / what, 1).taken(lambda: False)


@pytest.mark.parametrize("limit", [1, 2])
def test_so_many_files_are_read_at_once(
    limit: int, library: Library, bread: Path, limits: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """S3-35: maxFileProcessingConcurrency."""
    sizes: list[int] = []
    made = pool.WorkerPool.__init__

    def noted(self: pool.WorkerPool, *arguments: Any, **options: Any) -> None:
        made(self, *arguments, **options)
        sizes.append(self.size)

    monkeypatch.setattr(pool.WorkerPool, "__init__", noted)
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    limits(maxFileProcessingConcurrency=limit)
    library.add(bread)
    assert sizes == [limit]


@pytest.mark.parametrize(
    ("key", "what", "text_waits"),
    [("maxDirectoryConcurrency", "runs", True), ("maxEmbeddingConcurrency", "embedding", False)],
)
def test_so_many_collections_are_indexed_and_embedded_at_once(
    key: str,
    what: str,
    text_waits: bool,
    library: Library,
    data: Path,
    bread: Path,
    limits: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """S3-35: maxDirectoryConcurrency, maxEmbeddingConcurrency."""
    monkeypatch.setattr(records, "TOLD_EVERY_S", 0.0)
    limits(**{key: 1})
    library.add(bread)
    (before,) = library.status()
    write(bread, {"sourdough.md": "# Sourdough\n\nA starter of flour and water ferments for days.\n"})
    (folder,) = (data / "indexes").iterdir()

    def told(_: Progress) -> None:
        if any(job.state == "queued" for job in records_of(folder).active()):
            raise Cancelled("It waits.")

    with held(data, what), pytest.raises(Cancelled, match="It waits"):
        library.refresh("bread", progress=told)
    (standing,) = library.status()
    assert (standing.files == before.files, standing.embedded_chunks) == (text_waits, before.embedded_chunks)
    limits(**{key: 2})
    with Library.open() as other, held(data, what):
        other.refresh()
        (standing,) = other.status()
    assert standing.files == before.files + 1
    assert standing.embedded_chunks == standing.chunks > before.chunks


def test_a_question_waits_for_no_others_vectors(
    library: Library, data: Path, bread: Path, limits: Callable[..., None]
) -> None:
    limits(maxDirectoryConcurrency=1, maxEmbeddingConcurrency=1)
    library.add(bread)
    write(bread, {"sourdough.md": "# Sourdough\n\nA starter of flour and water ferments for days.\n"})
    with held(data, "runs"), held(data, "embedding"):
        found = library.search("a starter ferments", min_score=0.0)
        assert not found.complete and found.passages
    assert library.search("a starter ferments", min_score=0.0).passages[0].file_path.endswith("sourdough.md")


def test_so_many_repositories_are_fetched_at_once(library: Library, data: Path, limits: Callable[..., None]) -> None:
    """S3-35: maxRepositoryConcurrency."""
    limits(maxRepositoryConcurrency=1)
    data.mkdir()
    job = library.jobs.start("fetch", "fetch_repo")

    def cancel() -> None:
        until(lambda: library.jobs.get(job.job.id).state == "queued")
        library.jobs.cancel(job.job.id)

    another = threading.Thread(target=cancel)
    with held(data, "repositories"):
        another.start()
        with pytest.raises(Cancelled):
            run_here(library, RepoRequest("https://never-asked.example/owner/name"), job)
    another.join()
    found = library.jobs.get(job.job.id)
    assert (found.state, found.status, found.error) == ("cancelled", "failed", records.CANCELLED)


def test_so_many_watched_folders_are_taken_in_at_once(tmp_path: Path) -> None:
    """S3-35: maxFileWatcherConcurrency."""
    first, second = (write(tmp_path / name, {"a.py": "def one():\n    return 1\n"}) for name in ("first", "second"))
    write(first, {"findling.toml": "[library]\nmaxFileWatcherConcurrency = 1\n"})
    write(second, {"findling.toml": "[library]\nmaxFileWatcherConcurrency = 2\n"})
    with Workspace(root=first) as waiting, Workspace(root=second) as watching_too:
        for workspace in (waiting, watching_too):
            workspace.engine.index()
            workspace.watch()
        with watching._turns(1):
            for workspace in (waiting, watching_too):
                until(lambda workspace=workspace: workspace.root.watched.state == "watching")  # type: ignore[misc]
            before = waiting.root._watcher.taken_in  # type: ignore[union-attr]
            write(first, {"b.py": "def two():\n    return 2\n"})
            seen = watching_too.root._watcher.taken_in  # type: ignore[union-attr]
            write(second, {"b.py": "def two():\n    return 2\n"})
            until(lambda: watching_too.root._watcher.taken_in > seen)  # type: ignore[union-attr]
            assert waiting.root._watcher.taken_in == before  # type: ignore[union-attr]
        until(lambda: waiting.root._watcher.taken_in > before)  # type: ignore[union-attr]

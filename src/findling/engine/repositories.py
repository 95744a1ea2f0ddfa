"""A folder that holds repositories: they are collections, as are the files beside them, and all are asked as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from findling.config import roots
from findling.engine.engine import Engine
from findling.engine.engines import Engines

if TYPE_CHECKING:
    from pathlib import Path

    from findling.model.reports import Explanation
    from findling.model.types import SkippedFile, Status


class Repositories(Engines):
    """The repositories of a folder, opened to be asked together. The engines are closed with this object."""

    def __init__(self, root: Path, engines: Mapping[str, Engine], left_out: int) -> None:
        """``left_out``: how many more repositories are in the folder."""
        super().__init__(engines)
        self.root = root
        self.left_out = left_out

    def why(self, path: str) -> Explanation:
        """As `Engines.why`. Asked about the folder itself, it explains the whole folder; repositories that are searched
        on their own do not count as left out."""
        if path != roots.BESIDE:
            return super().why(path)
        found = {name: engine.why(path) for name, engine in self.engines.items()}
        left_out = sum((Counter(each.left_out) for each in found.values()), Counter[str]())
        if roots.BESIDE in found:
            left_out -= Counter(nested_repository=len(found) - 1)
        return replace(
            max(found.values(), key=lambda each: (each.indexed, each.waiting)),
            path=path,
            root=str(self.root),
            in_index=any(each.in_index for each in found.values()),
            files=sum(each.files for each in found.values()),
            waiting=sum(each.waiting for each in found.values()),
            left_out=dict(left_out.most_common()),
            notes=tuple(f"{name}: {note}" for name, each in found.items() for note in each.notes),
        )

    def close(self) -> None:
        for engine in self.engines.values():
            engine.close()

    def __enter__(self) -> Repositories:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def repositories_of(opened: Engine) -> Repositories | None:
    """The repositories in the folder of an engine; None if it is a repository itself, holds none, or only a part of it
    is searched."""
    if opened.scope or opened.ref is not None or opened.is_shared:
        return None
    folders, left_out = roots.projects_in(opened.root)
    if not folders:
        return None
    every = {
        name: opened if name == roots.BESIDE else Engine.open(root=folder, cache=opened.in_cache)
        for name, folder in folders.items()
    }
    return Repositories(opened.root, every, left_out)


def without_known(skipped: Iterable[SkippedFile], root: Path, known: Container[Path]) -> tuple[SkippedFile, ...]:
    """The files that are left out below a root, except the repositories that are searched on their own."""
    return tuple(file for file in skipped if file.reason != "nested_repository" or root / file.path not in known)


def status_of(opened: Engine, known: Container[Path]) -> Status:
    """As `Engine.status` with ``unlisted``; the ``known`` repositories, which are searched on their own, do not count
    as left out."""
    status = opened.status(unlisted=True)
    skipped = without_known(status.skipped, opened.root, known)
    counts = Counter(status.coverage.skipped) - Counter(nested_repository=len(status.skipped) - len(skipped))
    return replace(status, skipped=skipped, coverage=replace(status.coverage, skipped=dict(counts.most_common())))

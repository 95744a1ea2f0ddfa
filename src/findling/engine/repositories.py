"""A folder that holds repositories: they are collections, as are the files beside them, and all are asked as one."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from findling.config import repositories_in
from findling.engine.engine import Engine
from findling.engine.engines import BESIDE, Engines

if TYPE_CHECKING:
    from pathlib import Path

    from findling.model.types import SkippedFile

MOST: Final = 50
"""Repositories that are searched together."""


class Repositories(Engines):
    """What asks a folder's repositories. The engines are closed with this object."""

    def __init__(self, root: Path, engines: Mapping[str, Engine], left_out: int) -> None:
        """``left_out``: how many more repositories are in the folder."""
        super().__init__(engines)
        self.root = root
        self.left_out = left_out

    def close(self) -> None:
        for engine in self.engines.values():
            engine.close()

    def __enter__(self) -> Repositories:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def repositories_of(opened: Engine) -> Repositories | None:
    """The repositories in the folder of an engine; None where it is one itself, holds none, or was narrowed."""
    if opened.scope or opened.ref is not None or opened.is_shared:
        return None
    folders, left_out = projects_in(opened.root)
    if not folders:
        return None
    every = {
        name: opened if name == BESIDE else Engine.open(root=folder, cache=opened.in_cache)
        for name, folder in folders.items()
    }
    return Repositories(opened.root, every, left_out)


def projects_in(root: Path) -> tuple[dict[str, Path], int]:
    """The repositories in a folder, and itself where files lie beside them, by the names that stand before their paths;
    and how many more there are. None of a folder without any."""
    found = repositories_in(root)
    folders = {os.path.relpath(folder, root).replace(os.sep, "/"): folder for folder in found[:MOST]}
    if found and _has_files(root, found):
        folders[BESIDE] = root
    return folders, max(0, len(found) - MOST)


def without_known(skipped: Iterable[SkippedFile], root: Path, known: Container[Path]) -> tuple[SkippedFile, ...]:
    """What is left out below a root, without the repositories that are asked themselves."""
    return tuple(file for file in skipped if file.reason != "nested_repository" or root / file.path not in known)


def _has_files(folder: Path, repositories: Sequence[Path]) -> bool:
    """Whether anything lies in a folder beside its repositories."""
    above = {parent for each in repositories for parent in each.parents}
    return any(
        path not in repositories and path not in above for path in folder.iterdir() if not path.name.startswith(".")
    )

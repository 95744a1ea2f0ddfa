"""The folder of a fetched repository: who may write it, and that nothing stays in it which nobody has a use for."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from findling.engine.jobs import RunningJob
from findling.engine.jobs.turns import Turns
from findling.engine.library.fetching.fetch_requests import RepoRequest
from findling.engine.library.place import REPOSITORIES
from findling.outbound.git import run_git
from findling.store.layout import LOCK, discard

OBJECTS: Final = "objects.git"

PACKS: Final = 10
"""Packs of objects: each fetch brings one, and most of what older ones hold is of commits that are gone."""

_PACKING_S: Final = 120.0
_PACKING: Final = ("core.bigFileThreshold=16m", "pack.windowMemory=64m", "pack.threads=1")
"""What somebody else committed may unpack to anything: git holds little of it in memory."""


def home_of(directory: Path, request: RepoRequest) -> Path:
    """The same repository at the same branch is always in the same folder."""
    slug = re.sub(r"[^a-z0-9]+", "-", request.name.lower()).strip("-")[:60] or "repository"
    digest = hashlib.sha256(f"{request.url}#{request.branch}".encode()).hexdigest()[:12]
    return directory / REPOSITORIES / f"{slug}-{digest}"


def take(roles: ExitStack, home: Path, job: RunningJob) -> None:
    """Be the only one that fetches this repository, and go on from what an interrupted fetch left whole: a git that
    was killed leaves its locks, too, which the next one would respect for ever."""
    roles.enter_context(Turns(home, 1).taken(job.waits))
    objects = home / OBJECTS
    packs = objects / "objects" / "pack"
    locks = (*objects.glob("*.lock"), *(objects / "refs").rglob("*.lock"), objects / "gc.pid", *packs.glob("*.keep"))
    for path in (*packs.glob("tmp_*"), *packs.glob(".tmp-*"), *locks):
        path.unlink(missing_ok=True)


def pack(home: Path) -> None:
    """Forget the objects of commits that are gone, once there are many. Where git fails, they stay."""
    objects = home / OBJECTS
    if len(list((objects / "objects" / "pack").glob("*.pack"))) > PACKS:
        options = [word for value in _PACKING for word in ("-c", value)]
        run_git([*options, "--git-dir=.", "gc", "--quiet", "--prune=now"], cwd=objects, timeout_s=_PACKING_S)


def empty(home: Path) -> None:
    """Delete what is in it; for whoever holds its role, which stays."""
    for path in _contents(home):
        discard(path)


def sweep(directory: Path, used: Callable[[], Iterable[str]]) -> None:
    """Empty the folders that no collection (``used`` gives their paths, links resolved) is in, and that nobody is
    fetching into."""
    folder = Path(os.path.realpath(directory / REPOSITORIES))
    for home in folder.iterdir() if folder.is_dir() else ():
        if home.is_symlink() or not home.is_dir() or _is_in(home, used()) or not _contents(home):
            continue
        with Turns(home, 1).taken(lambda: False) as mine:  # else it is on its way
            if mine and not _is_in(home, used()):  # what was being fetched a moment ago is a collection now
                empty(home)


def _is_in(home: Path, paths: Iterable[str]) -> bool:
    return any(Path(path).is_relative_to(home) for path in paths)


def _contents(home: Path) -> list[Path]:
    return [path for path in home.iterdir() if not path.name.startswith(LOCK)]

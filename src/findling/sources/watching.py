"""Hearing of changed files from the system: which folders are listened to, and what is heard of them.

The one module that imports `watchfiles`, when a watch begins. Must not know an index, nor what becomes of a change.
"""

from __future__ import annotations

import os
import platform
import threading
from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import Path

from findling.outbound.git import run_git
from findling.sources.folders import NEVER_FOLDERS, untracked_folder_reason

STEP_MS = 100
"""How often the system's queue is looked at; so long nothing must come for a burst to be handed over."""

BURST_MS = 1_000
"""After so long a burst is handed over though it goes on."""

TURN_MS = 1_000
"""How long to listen before telling that nothing was heard."""

MOST_NEW_FOLDERS = 5_000
"""Folders looked for below new ones at once; more (an unpacked archive) wait for the next listing."""

CLOCK_S = 2.0
"""By so much a file system's times may lie behind this process's clock."""

RULE_FILES = frozenset((".gitignore", ".ignore", ".findlingignore", ".gitattributes", ".gitmodules", "findling.toml"))
"""A change of one of these may concern any file."""


class CannotWatch(Exception):
    """The system does not tell of changes here; the message says why, for people."""


def folders_of(root: Path, paths: Iterable[str]) -> set[str]:
    """The folders that hold these files, and those above them down from the root ('')."""
    found = {""}
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return {folder for folder in found if not folder or (root / folder).is_dir()}


def new_folders(root: Path, names: Iterable[str]) -> set[str]:
    """Which of the paths that were heard of are folders to listen to as well, with all below them: neither ignored nor
    installed packages. Empty ones too, as files will come."""
    found: list[str] = []
    waiting = [name for name in names if _is_folder(root, name)]
    while waiting and len(found) < MOST_NEW_FOLDERS:
        name = waiting.pop()
        if not NEVER_FOLDERS.isdisjoint(name.split("/")) or untracked_folder_reason(name.rpartition("/")[2]):
            continue
        if os.path.lexists(root / name / ".git"):
            continue
        found.append(name)
        try:
            with os.scandir(root / name) as entries:
                waiting += [f"{name}/{entry.name}" for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue  # it is gone again
    return set(found) - _ignored(root, found)


def unheard_folders(root: Path, folders: Set[str], since: float) -> set[str]:
    """Folders to listen to that are not among ``folders`` but lie in one of these, where something came or went after
    ``since`` (seconds since 1970). Empty ones are in no list of files, and nobody was told of them."""
    found: list[str] = []
    for folder in folders:
        place = root / folder
        try:
            if place.stat().st_mtime < since - CLOCK_S:
                continue
            with os.scandir(place) as entries:
                names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue  # it is gone, which is heard of
        found += [f"{folder}/{name}" if folder else name for name in names]
    return new_folders(root, [name for name in found if name not in folders]) - folders


def _is_folder(root: Path, name: str) -> bool:
    path = root / name
    return bool(name) and path.is_dir() and not path.is_symlink()


def _ignored(root: Path, folders: list[str]) -> set[str]:
    if not folders:
        return set()
    asked = b"".join(os.fsencode(folder) + b"/\0" for folder in folders)
    output = run_git(["check-ignore", "-z", "--stdin"], cwd=root, input=asked)
    return {os.fsdecode(name).rstrip("/") for name in output.stdout.split(b"\0") if name} if output.ok else set()


def changes(root: Path, folders: Iterable[str], stop: threading.Event) -> Iterator[Mapping[str, bool]]:
    """What is heard of the files right in these folders, until ``stop``: path from the root -> whether it is there.

    Bursts come as one. After a second without anything an empty mapping comes; the first one says, whatever is in it,
    that from here on nothing is missed. Raises `CannotWatch`.
    """
    if "microsoft" in platform.release().lower():
        raise CannotWatch("this system (WSL) does not tell of every change")
    try:
        from watchfiles import Change, watch
    except ImportError as error:
        raise CannotWatch("the package watchfiles is not installed") from error
    real = os.path.realpath(root)
    prefix = os.path.join(real, "")  # noqa: PTH118
    places = [prefix + folder if folder else real for folder in sorted(folders)]
    # What may not be read is left out here: the library's own way of passing over it passes over limits as well.
    places = [place for place in places if os.access(place, os.R_OK | os.X_OK)]
    heard = watch(
        *places,
        watch_filter=None,
        debounce=BURST_MS,
        step=STEP_MS,
        rust_timeout=TURN_MS,
        yield_on_timeout=True,
        recursive=False,
        stop_event=stop,
        ignore_permission_denied=False,
        force_polling=False,
    )
    try:
        for batch in heard:
            found: dict[str, bool] = {}
            for change, path in batch:
                if path.startswith(prefix):
                    name = path[len(prefix) :].replace(os.sep, "/")
                    if NEVER_FOLDERS.isdisjoint(name.split("/")):
                        found[name] = change != Change.deleted
            yield found
    except (OSError, RuntimeError) as error:  # among them the limits of inotify, which have no type of their own
        raise CannotWatch(str(error).split("\n")[0][:200]) from error

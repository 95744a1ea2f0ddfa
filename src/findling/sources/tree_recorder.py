"""Notes what a listing depends on, while it goes on, so that the next look (`looking`) need not list.

Times prove nothing within one step of the clock that writes them. What changed less than a step before the listing
began is therefore not vouched for, nor is a folder without times (the root of a FAT volume).

No note is taken of folders of which nothing is ever indexed: ignored ones, installed packages, hidden ones. What is
left out in them is as the last whole listing said.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

from findling.config import roots
from findling.model.types import SkippedFile, TreeState
from findling.sources.git_settings import Setting, excludes_file, git_settings, settings_files, user_folder
from findling.sources.ignore_rules import ALL_IGNORE_FILES, GIT_IGNORE_FILES
from findling.sources.looking import file_stamp, shape_of, stamp, status_of, world
from findling.sources.selection import CACHE_TAG, Selection

# ruff: noqa: PTH111, PTH118, PTH120 - plain strings, as in selection

_STEP_NS = 20_000_000
"""The coarsest clock of file systems whose times have fractions of a second."""

_COARSE_STEP_NS = 2_000_000_000
"""The coarsest clock of file systems whose times are whole seconds."""

_SECOND_NS = 1_000_000_000

_NEVER_THE_SAME = -1
"""Stands for a stamp that proves nothing. It equals no stamp."""

_RULE_FILES = frozenset((*ALL_IGNORE_FILES, CACHE_TAG))


class TreeRecorder:
    """Makes the `TreeState` of one listing. To be made before the listing begins."""

    def __init__(self, selection: Selection, top: str | None) -> None:
        self._selection = selection
        self._top = top
        self._began_ns = time.time_ns()
        self._folders: dict[str, tuple[int, int]] = {}
        self._files: dict[str, int] = {}
        self._sound = not roots.is_bare(Path(selection.root))
        for path in _git_files(selection.root, top):
            self._note_file(path)

    @cached_property
    def settings(self) -> list[Setting]:
        """git's settings for this tree."""
        return git_settings(self._top or self._selection.root)

    def note(self, folder: str, entries: Iterable[os.DirEntry[str]]) -> None:
        """Note the state of a folder. Call it after ``entries`` were read."""
        entries = list(entries)
        try:
            status = os.lstat(self._place(folder))
            shape = shape_of(entries)
        except OSError:
            self._sound = False
            return
        self._keep(folder, status, shape)
        prefix = f"{folder}/" if folder else ""
        for entry in entries:
            if entry.name in _RULE_FILES:
                self._note_file(prefix + entry.name)

    def note_unreadable(self, folder: str) -> None:
        """Note a folder that could not be listed. A change of its rights changes its times."""
        try:
            self._keep(folder, os.lstat(self._place(folder)), _NEVER_THE_SAME)
        except OSError:
            self._sound = False

    def _keep(self, folder: str, status: os.stat_result, shape: int) -> None:
        settled = _is_settled(status, self._began_ns)
        self._folders[folder] = (stamp(status), shape) if settled else (_NEVER_THE_SAME, _NEVER_THE_SAME)

    def spoil(self) -> None:
        """Say that the listing depends on something unknown, so that there is no state of it."""
        self._sound = False

    def state(self, skipped: Iterable[SkippedFile]) -> TreeState | None:
        """The state, once everything is noted; None where the next look has to list. ``skipped``: what was left out."""
        for skip in skipped:
            if skip.reason == "too_large":
                self._note_file(skip.path)
            self._sound &= skip.reason != "unreadable" or skip.path.endswith("/")
        if not self._sound:
            return None
        for path in (excludes_file(self.settings), *settings_files(self.settings)):
            self._note_file(path)
        return TreeState(world(self._selection, self._top), self._files, self._folders)

    def _place(self, folder: str) -> str:
        return self._selection.prefix + folder if folder else self._selection.root

    def _note_file(self, path: str) -> None:
        status = status_of(self._selection, path)
        settled = status is None or _is_settled(status, self._began_ns)
        self._files[path] = file_stamp(status) if settled else _NEVER_THE_SAME


def _is_settled(status: os.stat_result, began_ns: int) -> bool:
    """Whether every later change shows in the times of what has this status, read at ``began_ns`` or later."""
    changed = status.st_ctime_ns if os.name == "posix" else status.st_mtime_ns
    step = _STEP_NS if changed % _SECOND_NS else _COARSE_STEP_NS
    return 0 < changed < began_ns - step


def _git_files(root: str, top: str | None) -> Iterator[str]:
    """The files outside the tree that a listing depends on: git's index, its rules, its configuration."""
    yield from ("/etc/gitconfig", os.path.expanduser("~/.gitconfig"), os.path.join(user_folder(), "config"))
    chosen = (os.environ.get(name, "") for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"))
    yield from filter(os.path.isabs, chosen)
    if top is None:
        return
    folder = root
    while folder != top:
        folder = os.path.dirname(folder)
        yield from (os.path.join(folder, name) for name in GIT_IGNORE_FILES)
    if os.path.isfile(os.path.join(top, ".git")):  # noqa: PTH113
        yield os.path.join(top, ".git")
    folders = roots.git_folders(Path(top))
    own, common = map(str, folders) if folders else (os.path.join(top, ".git"),) * 2
    yield from (os.path.join(own, name) for name in ("index", "HEAD", "config.worktree", "commondir"))
    yield from (os.path.join(common, name) for name in ("config", "info/exclude"))

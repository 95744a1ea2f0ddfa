"""What a listing of a folder tree depends on, noted while it goes on, so that the next look need not list (`looking`).

Times prove nothing within a step of the clock that writes them: what changed less than a step before the listing began
is not vouched for, nor is a folder without times (the root of a FAT volume).

In a git work tree no note is taken of folders of which git tracks nothing and nothing is ever indexed: ignored ones,
installed packages, hidden ones. What is left out in them is as the last whole listing said.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from findling.config import roots
from findling.model.types import SkippedFile, TreeState
from findling.outbound.git import run_git
from findling.sources.ignore_rules import ALL_IGNORE_FILES, GIT_IGNORE_FILES, IgnoreTree
from findling.sources.looking import file_stamp, shape_of, stamp, status_of, world
from findling.sources.selection import CACHE_TAG, NEVER_FOLDERS, Selection, folders_above, untracked_folder_reason

# ruff: noqa: PTH111, PTH118, PTH120 - plain strings, as in selection

_STEP_NS = 20_000_000
"""The coarsest clock of file systems whose times have fractions of a second."""

_COARSE_STEP_NS = 2_000_000_000
"""The coarsest clock of file systems whose times are whole seconds."""

_SECOND_NS = 1_000_000_000

_NEVER_THE_SAME = -1
"""In place of a stamp that proves nothing."""

_RULE_FILES = frozenset((*ALL_IGNORE_FILES, CACHE_TAG))

_CLOCK_EVERY = 64  # folders between two looks at the clock


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
        """git's, for this tree."""
        return git_settings(self._top or self._selection.root)

    def note(self, folder: str, entries: Iterable[os.DirEntry[str]]) -> None:
        """Keep what a folder has in it; to be called after ``entries`` were read."""
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
        """Keep that a folder could not be listed: other rights change its times."""
        try:
            self._keep(folder, os.lstat(self._place(folder)), _NEVER_THE_SAME)
        except OSError:
            self._sound = False

    def _keep(self, folder: str, status: os.stat_result, shape: int) -> None:
        settled = _is_settled(status, self._began_ns)
        self._folders[folder] = (stamp(status), shape) if settled else (_NEVER_THE_SAME, _NEVER_THE_SAME)

    def spoil(self) -> None:
        """Say that the listing depends on what cannot be told: there is no state of it."""
        self._sound = False

    def walk(self, tree: IgnoreTree, deadline: float | None) -> None:
        """Note the folders in which git, with the rules of ``tree``, looks for untracked files."""
        pending = [""]
        count = 0
        while pending and self._sound:
            count += 1
            if deadline is not None and not count % _CLOCK_EVERY and time.monotonic() > deadline:
                self._sound = False
                return
            folder = pending.pop()
            entries = self._entries(folder)
            if entries is None:
                continue
            names = {entry.name for entry in entries}
            if folder and ".git" in names:
                self._sound &= _is_git_folder(self._place(folder))  # else git may look into it by now
                continue
            tree.rules_in(folder, names)
            prefix = f"{folder}/" if folder else ""
            for entry in entries:
                name = entry.name
                if entry.is_dir(follow_symlinks=False) and not self._is_passed_over(tree, folder, name):
                    pending.append(prefix + name)

    def _is_passed_over(self, tree: IgnoreTree, folder: str, name: str) -> bool:
        if name in NEVER_FOLDERS or untracked_folder_reason(name) is not None:
            return True
        if name[0] == "." and not self._selection.options.hidden:
            return True
        return tree.rule_for(folder, name, True) is not None

    def _entries(self, folder: str) -> list[os.DirEntry[str]] | None:
        try:
            with os.scandir(self._place(folder)) as listing:
                entries = list(listing)
        except FileNotFoundError:
            return None
        except OSError:
            self.note_unreadable(folder)
            return None
        self.note(folder, entries)
        return entries

    def note_above(self, paths: Iterable[str]) -> None:
        """Note the folders that listed paths lie in, which rules alone would have passed over."""
        for folder in sorted(folders_above(paths).difference(self._folders)):  # outer ones come first
            if folder.rpartition("/")[0] not in self._folders:
                continue
            try:
                is_folder = stat.S_ISDIR(os.lstat(self._place(folder)).st_mode)
            except OSError:
                continue  # if it appears later, its parent changes, which is noted
            if is_folder:
                self._entries(folder)

    def state(self, skipped: Iterable[SkippedFile]) -> TreeState | None:
        """The state, once everything is noted; None where there is none. ``skipped``: what the listing left out."""
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
    """The files outside of the tree's folders that may say what git lists: its index, its rules, its configuration."""
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


def _is_git_folder(folder: str) -> bool:
    """Whether a folder with a ``.git`` is a repository of its own for git, which lists nothing in it."""
    named = os.path.join(folder, ".git")
    return os.path.isfile(named) or os.path.isfile(os.path.join(named, "HEAD"))  # noqa: PTH113


# --- how git is configured ------------------------------------------------------------------------------------------


class Setting(NamedTuple):
    """``file``: absolute. ``key`` is in lower case but for names in its middle."""

    file: str
    key: str
    value: str


def git_settings(folder: str) -> list[Setting]:
    """All settings that stand in files, the stronger later; none where git cannot be asked."""
    output = run_git(["config", "--list", "--show-origin", "-z"], cwd=folder)
    fields = [os.fsdecode(field) for field in output.stdout.split(b"\0")] if output.ok else []
    found: list[Setting] = []
    for origin, setting in zip(fields[::2], fields[1::2], strict=False):
        if origin.startswith("file:"):
            key, _, value = setting.partition("\n")
            found.append(Setting(os.path.join(folder, origin.removeprefix("file:")), key, value))
    return found


def excludes_file(settings: Iterable[Setting]) -> str:
    """The user's own ignore file for all repositories: what git is configured to use, else its default place."""
    chosen = [setting.value for setting in settings if setting.key == "core.excludesfile"]
    return os.path.expanduser(chosen[-1]) if chosen else os.path.join(user_folder(), "ignore")


def user_folder() -> str:
    """Where the user's own files for git are."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "git")


def settings_files(settings: Iterable[Setting]) -> set[str]:
    """The files that the settings stand in, and those that they name as more configuration, there or not."""
    found: set[str] = set()
    for file, key, value in settings:
        found.add(file)
        if key.startswith(("include.", "includeif.")) and key.endswith(".path"):
            found.add(os.path.join(os.path.dirname(file), os.path.expanduser(value)))
    return found

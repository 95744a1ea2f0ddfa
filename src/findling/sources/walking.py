"""Walks over a folder tree and finds which of its files are wanted, and why the others are not.

git is asked only for the files it tracks (`tracked`). Which other files it ignores is decided here, by its own rules
(`ignore_rules`).
"""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from findling.config import roots
from findling.model.types import SkippedFile, TreeState
from findling.sources.ignore_rules import (
    ALL_IGNORE_FILES,
    GIT_IGNORE_FILES,
    OWN_IGNORE_FILES,
    IgnoreRules,
    IgnoreTree,
    RuleSet,
    read_small_text,
)
from findling.sources.looking import file_stamp, shape_of, stamp, status_of, world
from findling.sources.selection import (
    CACHE_TAG,
    INTERNAL,
    NEVER_FOLDERS,
    NOT_UTF8,
    Found,
    Selection,
    is_text,
    marked_folder_reason,
    output_folder_reason,
    shown,
    untracked_folder_reason,
)
from findling.sources.tracked import (
    Setting,
    Tracked,
    excludes_file,
    git_settings,
    is_on,
    left_out_by_sparse,
    settings_files,
    user_folder,
)

# ruff: noqa: PTH111, PTH118, PTH120 - plain strings, as in selection

# --- tree recorder ------------------------------------------------------------------------------------------------
# Notes what a listing depends on, while it goes on, so that the next look (`looking`) need not list.
#
# Times prove nothing within one step of the clock that writes them. What changed less than a step before the listing
# began is therefore not vouched for, nor is a folder without times (the root of a FAT volume).
#
# No note is taken of folders of which nothing is ever indexed: ignored ones, installed packages, hidden ones. What is
# left out in them is as the last whole listing said.

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


# ruff: noqa: PTH112, PTH114, PTH117, PTH118, PTH208 - plain strings, as in selection

_CLOCK_EVERY = 256
"""Entries of a folder between two looks at the clock: some milliseconds."""

_NESTED = ("nested_repository", "a repository of its own, searched when it is named")


class Refusal(NamedTuple):
    """Why an entry of a folder is left out. ``by_git``: because git ignores it."""

    reason: str
    detail: str
    by_git: bool = False


class Rules(NamedTuple):
    """What decides about the files of a root, beside the user's options.

    In a work tree ``ignoring`` has git's ignore files and ``own`` ours, which speak about ``tracked`` files, too.
    Elsewhere ``ignoring`` has all of them, and the others are None.
    """

    ignoring: IgnoreTree
    own: IgnoreTree | None
    tracked: Tracked | None

    def tracks_below(self, folder: str) -> bool:
        """Whether git tracks any file below ``folder``."""
        return self.tracked is not None and self.tracked.are_in(folder)

    def refused_folder(self, full: str, names: Collection[str]) -> Refusal | None:
        """Why a folder below the root is not entered, by its entries ``names``."""
        if ".git" in names:
            return Refusal(*_NESTED)
        reason = marked_folder_reason(full, names) if self.tracked is None else None
        return None if reason is None else Refusal("default_ignored", reason)

    def refused_entry(
        self, selection: Selection, folder: str, name: str, names: Collection[str], is_dir: bool
    ) -> Refusal | None:
        """Why an untracked entry of ``folder``, beside others with ``names``, is left out by its name."""
        if name in NEVER_FOLDERS:
            return Refusal(*INTERNAL)
        if not is_text(name):
            return Refusal(*NOT_UTF8)
        if (rule := self.ignoring.rule_for(folder, name, is_dir)) is not None:
            return Refusal("ignored", rule.words, by_git=self.tracked is not None)
        if self.own is not None and (rule := self.own.rule_for(folder, name, is_dir)) is not None:
            return Refusal("ignored", rule.words)
        if name[0] == "." and not selection.options.hidden:
            return Refusal("hidden", "its name starts with a dot, and git does not track it")
        reason = untracked_folder_reason(name) if is_dir else None
        if is_dir and reason is None and self.tracked is None:
            reason = output_folder_reason(name, names)
        return None if reason is None else Refusal("default_ignored", reason)


class Walk:
    """Goes through folders of a root and calls ``take`` with each wanted file.

    ``ignored`` collects what git ignores, ``skipped`` all else that is left out. ``deadline`` is in seconds of
    ``time.monotonic``. ``recorder`` is told each folder.
    """

    def __init__(
        self,
        selection: Selection,
        rules: Rules,
        take: Callable[[Found], object],
        recorder: TreeRecorder | None = None,
        deadline: float | None = None,
    ) -> None:
        self.skipped: list[SkippedFile] = []
        self.ignored: list[SkippedFile] = []
        self._selection = selection
        self._rules = rules
        self._take = take
        self._recorder = recorder
        self._deadline = deadline
        self._met: set[str] = set()

    def run(self, start: str = "", shut: Refusal | None = None) -> bool:
        """Go through the folder ``start`` and all below it; returns whether there was time for all.

        ``shut``: why untracked files in it are left out, if they are.
        """
        return all(self.steps(start, shut))

    def steps(self, start: str = "", shut: Refusal | None = None, *, nearest_first: bool = False) -> Iterator[bool]:
        """As `run`, in the order of paths: each folder where its name stands among the files. Stops before and after
        each folder, so that what was taken by then can be used; gives False where the time is over.

        ``nearest_first``: instead, all folders of one depth come before those in them.
        """
        waiting = deque([self._folder(start, shut)])
        while waiting:
            if nearest_first:
                waiting.extend(self._folder(*inside) for inside in waiting.popleft())
            elif (inside := next(waiting[-1], None)) is None:
                waiting.pop()
            else:
                waiting.append(self._folder(*inside))
            if self._is_late():
                yield False
                return
            yield True

    def _is_late(self) -> bool:
        return self._deadline is not None and time.monotonic() > self._deadline

    def take_unmet(self, start: str = "") -> None:
        """Judge the tracked paths below ``start`` that the walk did not meet: files that were deleted, which are passed
        over, and files behind links or in folders that cannot be read. What a sparse checkout lacks is left out, a
        whole folder as one."""
        tracked = self._rules.tracked
        if tracked is None:
            return
        below = f"{start}/" if start else ""
        unmet = [path for path in tracked.paths.values() if path not in self._met and path.startswith(below)]
        self._met.update(unmet)
        if not tracked.sparse:
            self.take_tracked(unmet)
            return
        there: dict[str, bool] = {}
        missing: Counter[str] = Counter()
        for path in unmet:
            if tracked.is_left_out(path) and (gone := self._missing_part(path, there)):
                missing[gone] += 1
            else:
                self.take_tracked([path])
        for gone, files in missing.items():
            self.skipped.append(left_out_by_sparse(gone, files))

    def _missing_part(self, path: str, there: dict[str, bool]) -> str:
        """The first folder on the way to a path that is not on disk, with ``/`` at its end, or the path; '' where it
        is. ``there`` remembers the folders."""
        at = path.find("/")
        while at >= 0:
            folder = path[:at]
            if folder not in there:
                there[folder] = os.path.lexists(self._selection.prefix + folder)
            if not there[folder]:
                return f"{folder}/"
            at = path.find("/", at + 1)
        return "" if os.path.lexists(self._selection.prefix + path) else path

    def take_tracked(self, paths: Iterable[str]) -> None:
        """Judge paths that git tracks."""
        selection, own = self._selection, self._rules.own
        for path in paths:
            self._judged(selection.tracked_place(path, own) or selection.by_name(path) or selection.look(path))

    def _folder(self, folder: str, shut: Refusal | None) -> Iterator[tuple[str, Refusal | None]]:
        """Judge the entries of one folder, by name; gives the folders in it that are to be walked, each with its
        ``shut``."""
        selection, rules = self._selection, self._rules
        full = selection.prefix + folder if folder else selection.root
        try:
            with os.scandir(full) as listing:
                entries = sorted(listing, key=attrgetter("name"))
        except OSError as error:
            self._left_out(folder, True, Refusal("unreadable", error.strerror or str(error)))
            if self._recorder is not None:
                self._recorder.note_unreadable(folder)
            if rules.tracks_below(folder):
                self.take_unmet(folder)
            return
        if self._recorder is not None:
            self._recorder.note(folder, entries)
        names = {entry.name for entry in entries}
        if folder and shut is None:
            shut = rules.refused_folder(full, names)
            if shut is not None:
                self._left_out(folder, True, shut)
        if shut is not None and not rules.tracks_below(folder):
            return
        rules.ignoring.rules_in(folder, names)  # remembers them, so that the disk is not asked again
        own = rules.own if rules.own is not None and rules.own.rules_in(folder, names) else None
        prefix = f"{folder}/" if folder else ""
        for number, entry in enumerate(entries, 1):
            if not number % _CLOCK_EVERY and self._is_late():
                return
            path = prefix + entry.name
            is_dir = entry.is_dir(follow_symlinks=False)
            tracked = None if rules.tracked is None else rules.tracked.path_of(path)
            if tracked is not None:
                self._met.add(tracked)
                if not (is_dir and is_plain_folder(entry.path)):  # a plain folder has replaced what git tracks
                    place = selection.tracked_place(path, own)
                    self._judged(place or selection.by_name(path) or self._status(path, entry))
                    continue
            refused = shut or rules.refused_entry(selection, folder, entry.name, names, is_dir)
            if is_dir and (refused is None or rules.tracks_below(path)):
                yield path, refused
            elif refused is not None:
                self._left_out(path, is_dir, refused)
            else:
                self._judged(selection.by_name(path) or self._status(path, entry))

    def _status(self, path: str, entry: os.DirEntry[str]) -> Found | SkippedFile | None:
        try:
            return self._selection.judge(path, entry.stat(follow_symlinks=False), in_real_folder=True)
        except FileNotFoundError:
            return None
        except OSError as error:
            return SkippedFile(path, "unreadable", error.strerror or str(error))

    def _judged(self, found: Found | SkippedFile | None) -> None:
        if isinstance(found, SkippedFile):
            self.skipped.append(found)
        elif found is not None:
            self._take(found)

    def _left_out(self, path: str, is_dir: bool, refused: Refusal) -> None:
        if refused.reason != "internal":
            into = self.ignored if refused.by_git else self.skipped
            into.append(SkippedFile(shown(path) + ("/" if is_dir else ""), refused.reason, refused.detail))


def why_not_walked(selection: Selection, rules: Rules, path: str) -> Refusal | None:
    """Why a walk would leave out ``path``, an existing untracked file or folder, from the top down; None when it would
    not."""
    folder = ""
    parts = path.split("/")
    for depth, name in enumerate(parts):
        full = selection.prefix + folder if folder else selection.root
        try:
            names = set(os.listdir(full))
        except OSError as error:
            return Refusal("unreadable", error.strerror or str(error))
        refused = rules.refused_folder(full, names) if folder else None
        if refused is not None and refused.reason == _NESTED[0]:
            return Refusal(_NESTED[0], f"{shown(folder)} is a repository of its own")
        if refused is None:
            is_dir = depth < len(parts) - 1 or is_folder(os.path.join(full, name))
            refused = rules.refused_entry(selection, folder, name, names, is_dir)
        if refused is not None:
            return refused
        folder = f"{folder}/{name}" if folder else name
    return None


def is_folder(full: str) -> bool:
    return os.path.isdir(full) and not os.path.islink(full)


def is_plain_folder(full: str) -> bool:
    """Whether ``full`` is a folder, no link to one, and no repository of its own."""
    return is_folder(full) and not os.path.lexists(os.path.join(full, ".git"))


def rules_of(
    root: str, git_top: str | None, tracked: Tracked | None, settings: Sequence[Setting] | None = None
) -> Rules:
    """What decides about the files of ``root``. ``settings``: git's, where they are at hand.

    The ignore files inside it, the user's global excludes, and, when git's rules above the root are to hold, those of
    the folders from ``git_top`` (a work tree) and its ``info/exclude``. ``tracked`` is None where git lists nothing.
    """
    settings = git_settings(root) if settings is None else settings
    any_case = git_top is not None and is_on(settings, "core.ignorecase")
    excludes = excludes_file(settings)
    # A link is fine here: this is the user's own file, often kept among linked dotfiles.
    texts = [(excludes, read_small_text(os.path.realpath(excludes)) if os.path.isabs(excludes) else None)]
    if git_top is not None:
        folders = roots.git_folders(Path(git_top))
        common = os.fspath(folders[1]) if folders else f"{git_top}/.git"
        texts.append((".git/info/exclude", read_small_text(f"{common}/info/exclude")))
    sets = [("", RuleSet.from_text(text, source, any_case=any_case)) for source, text in texts if text is not None]
    above, up = IgnoreRules(sets), ""
    if git_top is not None and git_top != root:
        up = f"{root[len(git_top) :].strip('/')}/"
        outer = IgnoreTree(git_top, GIT_IGNORE_FILES, above, any_case=any_case)
        above = outer.rules_in(up.rstrip("/").rpartition("/")[0])
    names = ALL_IGNORE_FILES if tracked is None else GIT_IGNORE_FILES
    own = None if tracked is None else IgnoreTree(root, OWN_IGNORE_FILES)
    return Rules(IgnoreTree(root, names, above, up, any_case=any_case), own, tracked)

"""What git tracks below a folder of a work tree.

git answers from its index, while its caller does something else, and goes through no folder. Knows no ignore rules.
"""

from __future__ import annotations

import os
import re
import time
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from findling.model.plurals import count
from findling.model.types import SkippedFile
from findling.outbound.git import GitOutput, run_git, start_git
from findling.sources.selection import find_git_top, folders_above, shown

# ruff: noqa: PTH111, PTH118, PTH120 - plain strings, as in selection


# --- git settings -------------------------------------------------------------------------------------------------
# How git is configured for a folder, as far as a listing depends on it.


class Setting(NamedTuple):
    """``file``: absolute, '' for a setting of the environment. ``key`` is in lower case but for names in its middle."""

    file: str
    key: str
    value: str


def git_settings(folder: str) -> list[Setting]:
    """All settings, the stronger later; none where git cannot be asked."""
    output = run_git(["config", "--list", "--show-origin", "-z"], cwd=folder)
    fields = [os.fsdecode(field) for field in output.stdout.split(b"\0")] if output.ok else []
    found: list[Setting] = []
    for origin, setting in zip(fields[::2], fields[1::2], strict=False):
        key, _, value = setting.partition("\n")
        file = os.path.join(folder, origin.removeprefix("file:")) if origin.startswith("file:") else ""
        if file or key == "core.excludesfile":  # the other settings of the environment are those that we run git with
            found.append(Setting(file, key, value))
    return found


def is_on(settings: Iterable[Setting], key: str) -> bool:
    """Whether a switch is on."""
    chosen = [setting.value.lower() for setting in settings if setting.key == key]
    return bool(chosen) and chosen[-1] in ("", "true", "yes", "on", "1")


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
        if file:
            found.add(file)
            if key.startswith(("include.", "includeif.")) and key.endswith(".path"):
                found.add(os.path.join(os.path.dirname(file), os.path.expanduser(value)))
    return found


# ruff: noqa: PTH118 - plain strings, as in selection

LISTING_TIMEOUT_S = 60.0  # a cold disk with a million files; a caller with less time gives a deadline


class ListingFailed(Exception):
    """git could not list the folder; the message is for people. ``out_of_time``: only the deadline was in the way."""

    def __init__(self, message: str, *, out_of_time: bool = False) -> None:
        super().__init__(message)
        self.out_of_time = out_of_time


_SPARSE = "core.sparsecheckout"


class Listed(NamedTuple):
    """Tracked paths, and those among them that git does not keep on disk."""

    paths: list[str]
    not_kept: frozenset[str]


class Tracked:
    """The paths that git tracks below a folder, whether or not they exist, and the folders that they lie in.

    ``sparse``: a sparse checkout leaves some of them out. Where git compares names without regard to case, or to how
    accents are written, so does this.
    """

    def __init__(self, listed: Listed, settings: Iterable[Setting] = ()) -> None:
        settings = list(settings)
        self._same = _comparable(settings)
        same = self._same
        self.paths = {path if same is None else same(path): path for path in listed.paths}
        self._folders = folders_above(self.paths)
        left_out = listed.not_kept if is_on(settings, _SPARSE) else frozenset[str]()
        self.sparse = bool(left_out)
        self._left_out = left_out if same is None else frozenset(map(same, left_out))
        self._left_out |= folders_above(self._left_out)

    def path_of(self, path: str) -> str | None:
        """The tracked path that ``path``, as the disk names it, is for git; None where git does not track it."""
        return self.paths.get(path if self._same is None else self._same(path))

    def are_in(self, folder: str) -> bool:
        """Whether any of them lies in ``folder``, at any depth."""
        return (folder if self._same is None else self._same(folder)) in self._folders

    def is_left_out(self, path: str) -> bool:
        """Whether a sparse checkout leaves out the file at ``path``, or any below it."""
        return self.sparse and (path if self._same is None else self._same(path)) in self._left_out


def _comparable(settings: Iterable[Setting]) -> Callable[[str], str] | None:
    """What makes two names equal that git takes for the same; None where only equal ones are."""
    any_case, composed = is_on(settings, "core.ignorecase"), is_on(settings, "core.precomposeunicode")
    if not any_case and not composed:
        return None

    def same(path: str) -> str:
        if composed and not path.isascii():
            path = unicodedata.normalize("NFC", path)
        return path.lower() if any_case else path

    return same


class TrackedListing:
    """git's list of tracked files, under way; a context, so that no git outlives its caller. ``deadline`` is in seconds
    of ``time.monotonic``."""

    def __init__(self, root: str, git_top: str, deadline: float | None = None) -> None:
        self._deadline = deadline
        timeout = LISTING_TIMEOUT_S if deadline is None else max(0.0, deadline - time.monotonic())
        with ExitStack() as stack:
            self._tracked = stack.enter_context(start_git(_TRACKED, cwd=root, timeout_s=timeout))
            self._root_ignored = None
            if root != git_top:
                self._root_ignored = stack.enter_context(
                    start_git(_ask_about_root(root, git_top), cwd=git_top, timeout_s=timeout)
                )
            self._stack = stack.pop_all()

    def __enter__(self) -> TrackedListing:
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()

    def root_is_ignored(self) -> bool:
        """Whether git's rules above the root ignore the root itself."""
        return self._root_ignored is not None and self._root_ignored.wait().ok

    def listed(self) -> Listed:
        """Paths relative to the root, in the encoding of the file system. Raises ListingFailed."""
        output = self._tracked.wait()
        if not output.ok:
            late = output.status in ("timed_out", "stopped") and self._deadline is not None
            raise ListingFailed(why_it_failed(output), out_of_time=late)
        return _parse(output.stdout)


_TRACKED = ("--literal-pathspecs", "ls-files", "-z", "-t", "--cached")


def tracked_among(root: str, paths: Sequence[str]) -> Listed:
    """The tracked files at or below ``paths``; of the whole root where there are none. Raises ListingFailed."""
    output = run_git([*_TRACKED, "--", *paths], cwd=root)
    if not output.ok:
        raise ListingFailed(why_it_failed(output))
    return _parse(output.stdout)


def _parse(data: bytes) -> Listed:
    rows = os.fsdecode(data).split("\0")
    rows.pop()  # what follows the last terminator
    not_kept = frozenset(row[2:] for row in rows if row[0] == "S")  # git's letter for its skip-worktree bit
    return Listed([row[2:] for row in rows], not_kept)


def why_it_failed(output: GitOutput) -> str:
    """For people: why git gave no answer, in its own words where it has some, and one line of them."""
    if output.status in ("timed_out", "stopped"):
        return "git took too long"
    if output.status == "too_large":
        return "git answers with more than any repository needs"
    if output.status == "missing":
        return "git is not installed, or not in PATH"
    if output.dubious_ownership:
        allowed = _ALLOWS_OWNER.search(output.stderr.decode("utf-8", "replace"))
        how = f"'{allowed[0]}' allows it" if allowed else "name it in git's setting safe.directory"
        return f"git refuses a repository that belongs to another user; {how}"
    lines = output.stderr.decode("utf-8", "replace").strip().split("\n")
    words = next((line for line in lines if not line.startswith("warning: ")), lines[0])[:_WORDS_CHARS]
    return words or f"git failed with status {output.returncode} ({output.status})"


_ALLOWS_OWNER = re.compile(r"git config --global --add safe\.directory .{1,4000}")
"""The command by which git would take a repository that is somebody else's, as it says so itself."""

_WORDS_CHARS = 200
"""Of what git says when it fails: longer ones are paths."""


def listing_problem(root: str) -> str:
    """For people: why git cannot say what it tracks in the folder ``root`` (absolute), '' where it can, or is not asked
    to."""
    top = find_git_top(root)
    if top is None:
        return ""
    try:
        tracked_among(root, [".git"])  # reads git's index, as any listing does, and finds nothing
    except ListingFailed as failure:
        return str(failure) if is_repository(top) and not is_root_ignored(root, top) else ""
    return ""


def not_checked_out(root: str, path: str) -> SkippedFile | None:
    """That a sparse checkout leaves out a file or folder which is not on disk; None where it does not, or git cannot
    say. ``root``: absolute."""
    top = find_git_top(root)
    if top is None or not is_on(git_settings(top), _SPARSE):
        return None
    try:
        missing = tracked_among(root, [path]).not_kept
    except ListingFailed:
        return None
    return left_out_by_sparse(path, len(missing)) if missing else None


def left_out_by_sparse(path: str, files: int) -> SkippedFile:
    """What is said of so many tracked files at or below ``path``."""
    left = f"out {count(files, 'file')}" if path.endswith("/") or files > 1 else "it out"
    return SkippedFile(shown(path), "not_checked_out", f"a sparse checkout leaves {left}")


def is_repository(git_top: str) -> bool:
    """Whether ``.git`` in a folder is more than a name: without objects there is nothing that git tracks."""
    named = os.path.join(git_top, ".git")
    return not os.path.isdir(named) or os.path.lexists(os.path.join(named, "objects"))  # noqa: PTH112


def _ask_about_root(root: str, git_top: str) -> list[str]:
    """By name alone, whether or not something in the root is tracked."""
    return ["check-ignore", "--quiet", "--no-index", "--", os.path.relpath(root, git_top)]


def is_root_ignored(root: str, git_top: str) -> bool:
    """Whether git's rules above the root ignore the root itself."""
    return root != git_top and run_git(_ask_about_root(root, git_top), cwd=git_top).ok

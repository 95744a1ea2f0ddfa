"""What git lists of a folder inside a work tree: tracked files, untracked ones that it does not ignore, and those
that it does, for whoever wants to know what an index covers.

git applies every rule of its own (nested and negated ignore files, info/exclude, global excludes, rules above the
folder). Runs beside the caller's work. Knows nothing of our own rules.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from findling.model.types import SkippedFile
from findling.outbound.git import GIT_TIMEOUT_S, GitOutput, run_git, start_git
from findling.sources.selection import NEVER_FOLDERS, find_git_top, is_text, shown

# ruff: noqa: PTH118 - plain strings, as in selection

LISTING_TIMEOUT_S = 60.0  # a cold disk with a million files; a caller with less time gives a deadline


class Listed(NamedTuple):
    """Paths relative to the folder, as strings of the file system's encoding. ``text_only``: all valid Unicode.

    ``joined`` is the listing as one string, each path ended by NUL: faster to search than path by path.
    """

    paths: list[str]
    text_only: bool
    joined: str


class ListingFailed(Exception):
    """git could not list the folder; the message is for people. ``out_of_time``: only the deadline was in the way."""

    def __init__(self, message: str, *, out_of_time: bool = False) -> None:
        super().__init__(message)
        self.out_of_time = out_of_time


class GitListing:
    """A listing under way; a context, so that no git outlives its caller.

    Ask for ``tracked`` first: it is there long before ``untracked``, which has to walk the disk. ``deadline`` is in
    seconds of ``time.monotonic``.
    """

    def __init__(self, root: str, git_top: str, deadline: float | None = None) -> None:
        self._deadline = deadline
        timeout = LISTING_TIMEOUT_S if deadline is None else max(0.0, deadline - time.monotonic())
        with ExitStack() as stack:
            self._untracked = stack.enter_context(
                start_git(["ls-files", "-z", "--others", "--exclude-standard"], cwd=root, timeout_s=timeout)
            )
            self._tracked = stack.enter_context(start_git(["ls-files", "-z", "--cached"], cwd=root, timeout_s=timeout))
            self._root_ignored = None
            if root != git_top:
                self._root_ignored = stack.enter_context(
                    start_git(_ask_about_root(root, git_top), cwd=git_top, timeout_s=timeout)
                )
            self._stack = stack.pop_all()
        self.unreadable: list[SkippedFile] = []

    def __enter__(self) -> GitListing:
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()

    def root_is_ignored(self) -> bool:
        """Whether rules above the root ignore it as a whole, so that git says nothing of what is in it."""
        return self._root_ignored is not None and self._root_ignored.wait().ok

    def tracked(self) -> Listed:
        """Files in git's index, existing or not, each once; raises ListingFailed."""
        listed = _parse(self._checked(self._tracked.wait()).stdout)
        # A path in conflict is listed once for each of its versions.
        return listed._replace(paths=list(dict.fromkeys(listed.paths)))

    def untracked(self) -> Listed:
        """Files that git would offer to add; a nested repository appears as its folder with a slash."""
        output = self._checked(self._untracked.wait())
        self.unreadable = _unreadable_folders(output.stderr)
        return _parse(output.stdout)

    def _checked(self, output: GitOutput) -> GitOutput:
        if output.ok:
            return output
        out_of_time = output.status in ("timed_out", "stopped") and self._deadline is not None
        raise ListingFailed(why_it_failed(output), out_of_time=out_of_time)


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
        how = f"'{allowed[0]}' allows it" if allowed else "see safe.directory in 'git help config'"
        return f"git refuses a repository that belongs to another user; {how}"
    lines = output.stderr.decode("utf-8", "replace").strip().split("\n")
    words = next((line for line in lines if not line.startswith("warning: ")), lines[0])[:_WORDS_CHARS]
    return words or f"git failed with status {output.returncode} ({output.status})"


_ALLOWS_OWNER = re.compile(r"git config --global --add safe\.directory .{1,4000}")
"""The command by which git would take a repository that is somebody else's, as it says so itself."""

_WORDS_CHARS = 200
"""Of what git says when it fails: longer ones are paths."""


def listing_problem(root: str) -> str:
    """For people: why git cannot list the folder ``root`` (absolute), '' where it can or is not asked to."""
    top = find_git_top(root)
    if top is None:
        return ""
    try:
        list_paths(root, [".git"])  # reads git's index, as any listing does, and walks nothing
    except ListingFailed as failure:
        return str(failure) if is_repository(top) and not is_root_ignored(root, top) else ""
    return ""


def is_repository(git_top: str) -> bool:
    """Whether ``.git`` in a folder is more than a name: without objects there is nothing that git tracks."""
    named = os.path.join(git_top, ".git")
    return not os.path.isdir(named) or os.path.lexists(os.path.join(named, "objects"))  # noqa: PTH112


def _ask_about_root(root: str, git_top: str) -> list[str]:
    """By name alone, whether or not something in the root is tracked."""
    return ["check-ignore", "--quiet", "--no-index", "--", os.path.relpath(root, git_top)]


def is_root_ignored(root: str, git_top: str) -> bool:
    """Whether rules above the root ignore it as a whole, so that git says nothing of what is in it."""
    return root != git_top and run_git(_ask_about_root(root, git_top), cwd=git_top).ok


def list_paths(root: str, paths: Sequence[str]) -> tuple[Listed, Listed]:
    """Like a whole listing, of ``paths`` only (files or folders): tracked, untracked. Raises ListingFailed."""
    kinds = ["-t", "--cached", "--others", "--exclude-standard"]
    output = run_git(["--literal-pathspecs", "ls-files", "-z", *kinds, "--", *paths], cwd=root)
    if not output.ok:
        raise ListingFailed(why_it_failed(output))
    rows = output.stdout.split(b"\0")[:-1]  # each begins with a letter, "?" for what is untracked, and a space
    tracked = dict.fromkeys(row[2:] for row in rows if not row.startswith(b"?"))  # in conflict: once for each version
    untracked = [row[2:] for row in rows if row.startswith(b"?")]
    return _parse(b"\0".join((*tracked, b""))), _parse(b"\0".join((*untracked, b"")))


def ignoring_rule(root: str, path: str) -> str:
    """For people: the rule by which git ignores ``path``; empty when git names none."""
    return ignoring_rules(root, [path], GIT_TIMEOUT_S).get(path, "")


def list_ignored(root: str, timeout_s: float) -> list[str]:
    """Untracked files that git ignores; a folder of which nothing else is known stands for all that is in it, with
    ``/`` at its end. Raises ListingFailed."""
    kinds = ["--others", "--ignored", "--exclude-standard", "--directory"]
    output = run_git(["ls-files", "-z", *kinds], cwd=root, timeout_s=timeout_s)
    if not output.ok:
        late = output.status in ("timed_out", "stopped")
        raise ListingFailed(why_it_failed(output), out_of_time=late)
    return _parse(output.stdout).paths


def ignoring_rules(root: str, paths: Sequence[str], timeout_s: float) -> dict[str, str]:
    """As `ignoring_rule`, for many paths at once; those without one, or for which there was no time, are absent."""
    if not paths:
        return {}
    names = b"".join(os.fsencode(path) + b"\0" for path in paths)
    output = run_git(["check-ignore", "-v", "-z", "--stdin"], cwd=root, timeout_s=timeout_s, input=names)
    fields = [os.fsdecode(field) for field in output.stdout.split(b"\0")[:-1]] if output.ok else []
    rows = zip(*(fields[start::4] for start in range(4)), strict=False)
    return {path: f"{pattern} ({source} line {line})" for source, line, pattern, path in rows}


def _parse(data: bytes) -> Listed:
    try:
        joined = data.decode("utf-8")
        text_only = True
    except UnicodeDecodeError:
        joined = os.fsdecode(data)
        text_only = is_text(joined)
    paths = joined.split("\0")
    paths.pop()  # what follows the last terminator
    return Listed(paths, text_only, joined)


_UNREADABLE = re.compile(rb"^warning: could not open directory '(.+?/?)': (.+)$", re.MULTILINE)


def _unreadable_folders(stderr: bytes) -> list[SkippedFile]:
    if not stderr:
        return []
    return [
        SkippedFile(folder.decode("utf-8", "backslashreplace"), "unreadable", why.decode("utf-8", "replace"))
        for folder, why in _UNREADABLE.findall(stderr)
    ]


def unlisted(root: Path, timeout_s: float) -> list[SkippedFile] | None:
    """Files (a path with ``/`` at its end: a folder with all that is in it) that `discover` does not mention where git
    lists, with the rule. Empty where git does not list; None when the time was not enough.
    """
    real = os.path.realpath(root)
    top = find_git_top(real)
    if top is None or is_root_ignored(real, top):  # walked, and everything was mentioned
        return []
    deadline = time.monotonic() + timeout_s
    try:
        ignored = [path for path in list_ignored(real, timeout_s) if NEVER_FOLDERS.isdisjoint(path.split("/"))]
    except ListingFailed as failure:
        return None if failure.out_of_time else []  # where git cannot list, everything was walked
    rules = ignoring_rules(real, ignored, max(0.0, deadline - time.monotonic()))
    above = _above(ignored)
    ignored = [path for path in ignored if path not in above]
    found = [SkippedFile(shown(path), "ignored", rules.get(path, "git ignores it")) for path in ignored]
    for path in _no_files(real, frozenset(ignored)):
        if time.monotonic() > deadline:
            return None
        if path:
            found.append(SkippedFile(shown(path), "not_a_file", "a pipe, socket or device"))
    return found


def _above(paths: Collection[str]) -> set[str]:
    """The folders that paths lie in. git also lists those in which all files happen to be ignored, beside the files;
    some rules for the files match the folder as well."""
    folders: set[str] = set()
    for path in paths:
        while (path := path.rstrip("/").rpartition("/")[0]) and f"{path}/" not in folders:
            folders.add(f"{path}/")
    return folders


def _no_files(root: str, pruned: Collection[str]) -> Iterator[str]:
    """Pipes, sockets and devices below the root, but for the folders ``pruned`` and other repositories; '' for each
    folder that was looked into."""
    pending = [""]
    while pending:
        folder = pending.pop()
        yield ""
        try:
            with os.scandir(os.path.join(root, folder)) as listing:
                entries = list(listing)
        except OSError:
            continue  # whoever listed files has said so
        if folder and any(entry.name == ".git" for entry in entries):
            continue
        for entry in entries:
            path = f"{folder}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in NEVER_FOLDERS and f"{path}/" not in pruned:
                    pending.append(f"{path}/")
            elif not (entry.is_symlink() or entry.is_file(follow_symlinks=False)):
                yield path

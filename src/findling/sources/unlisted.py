"""What no listing by git mentions: files and whole folders that its rules ignore, and what is no file at all.

For whoever wants to know what an index covers; indexing has no use for it and never waits for it. Decides nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator
from pathlib import Path

from findling.model.types import SkippedFile
from findling.sources.folders import NEVER_FOLDERS
from findling.sources.git_listing import ListingFailed, ignoring_rules, is_root_ignored, list_ignored
from findling.sources.git_top import find_git_top
from findling.sources.selection import shown

# ruff: noqa: PTH118 - plain strings, as in selection


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

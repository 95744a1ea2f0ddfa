"""Our own walk over a folder tree, for folders that git does not list. Finds candidates; `selection` judges them."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Sequence
from typing import NamedTuple

from findling.model.types import SkippedFile
from findling.sources.ignore_rules import (
    ALL_IGNORE_FILES,
    GIT_IGNORE_FILES,
    IgnoreRules,
    IgnoreTree,
    RuleSet,
    read_small_text,
)
from findling.sources.selection import (
    NEVER_FOLDERS,
    Found,
    Selection,
    is_text,
    marked_folder_reason,
    output_folder_reason,
    shown,
    untracked_folder_reason,
)
from findling.sources.tree_recorder import Setting, TreeRecorder, excludes_file, git_settings

# ruff: noqa: PTH112, PTH114, PTH117, PTH118, PTH208 - plain strings, as in selection


class Walked(NamedTuple):
    """``complete`` is False when the deadline came first."""

    files: list[Found]
    skipped: list[SkippedFile]
    complete: bool


def walk(
    selection: Selection,
    tree: IgnoreTree,
    start: str = "",
    deadline: float | None = None,
    recorder: TreeRecorder | None = None,
) -> Walked:
    """All wanted files of the root, or of its folder ``start``, in the order of their paths' folders.

    ``deadline`` is in seconds of ``time.monotonic``. ``recorder`` hears of each folder.
    """
    files: list[Found] = []
    skipped: list[SkippedFile] = []
    pending = [start]
    while pending:
        if deadline is not None and time.monotonic() > deadline:
            return Walked(files, skipped, False)
        pending.extend(reversed(_folder(selection, tree, pending.pop(), files, skipped, recorder)))
    return Walked(files, skipped, True)


def _folder(
    selection: Selection,
    tree: IgnoreTree,
    folder: str,
    files: list[Found],
    skipped: list[SkippedFile],
    recorder: TreeRecorder | None,
) -> list[str]:
    """Add what is wanted of one folder; returns the folders inside it that are to be walked."""
    full = selection.prefix + folder if folder else selection.root
    try:
        with os.scandir(full) as listing:
            entries = sorted(listing, key=_name)
    except OSError as error:
        skipped.append(SkippedFile(folder + "/", "unreadable", error.strerror or str(error)))
        if recorder is not None:
            recorder.note_unreadable(folder)
        return []
    if recorder is not None:
        recorder.note(folder, entries)
    names = {entry.name for entry in entries}
    if folder:
        refused = refused_folder(full, names)
        if refused is not None:
            skipped.append(SkippedFile(folder + "/", *refused))
            return []
    tree.rules_in(folder, names)  # remembered: `rule_for` need not ask the disk for what ``names`` tell
    prefix = f"{folder}/" if folder else ""
    inside: list[str] = []
    for entry in entries:
        name = entry.name
        path = prefix + name
        is_dir = entry.is_dir(follow_symlinks=False)
        refused = _refused_entry(selection, tree, folder, name, names, is_dir)
        if refused is not None:
            if refused[0] != "internal":
                skipped.append(SkippedFile(shown(path) + ("/" if is_dir else ""), *refused))
            continue
        if is_dir:
            inside.append(path)
            continue
        skip = selection.by_name(path)
        if skip is not None:
            skipped.append(skip)
            continue
        try:
            judged = selection.judge(path, entry.stat(follow_symlinks=False), in_real_folder=True)
        except FileNotFoundError:
            continue
        except OSError as error:
            judged = SkippedFile(path, "unreadable", error.strerror or str(error))
        if isinstance(judged, SkippedFile):
            skipped.append(judged)
        else:
            files.append(judged)
    return inside


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def refused_folder(full: str, names: set[str]) -> tuple[str, str] | None:
    """Why a folder below the root, with the entries ``names``, is not entered: (reason, sentence)."""
    if ".git" in names:
        return "nested_repository", "a repository of its own: index it as a root of its own"
    reason = marked_folder_reason(full, names)
    return None if reason is None else ("default_ignored", reason)


def _refused_entry(
    selection: Selection, tree: IgnoreTree, folder: str, name: str, names: Collection[str], is_dir: bool
) -> tuple[str, str] | None:
    """Why an entry of ``folder``, beside others with ``names``, is left out by its name: (reason, sentence)."""
    if name in NEVER_FOLDERS:
        return "internal", "belongs to version control or to findling"
    if not is_text(name):
        return "undecodable_name", "its name is not valid UTF-8"
    if name[0] == "." and not selection.options.hidden:
        return "hidden", "its name starts with a dot"
    rule = tree.rule_for(folder, name, is_dir)
    if rule is not None:
        return "ignored", rule.words
    reason = (untracked_folder_reason(name) or output_folder_reason(name, names)) if is_dir else None
    return None if reason is None else ("default_ignored", reason)


def why_not_walked(selection: Selection, tree: IgnoreTree, path: str) -> SkippedFile | None:
    """Why a walk would not come to ``path``, an existing file or folder, from the top down; None when it would."""
    folder = ""
    parts = path.split("/")
    for depth, name in enumerate(parts):
        full = selection.prefix + folder if folder else selection.root
        try:
            names = set(os.listdir(full))
        except OSError as error:
            return SkippedFile(path, "unreadable", error.strerror or str(error))
        refused = refused_folder(full, names) if folder else None
        if refused is None:
            is_dir = depth < len(parts) - 1 or _is_folder(os.path.join(full, name))
            refused = _refused_entry(selection, tree, folder, name, names, is_dir)
        if refused is not None:
            return SkippedFile(shown(path), *refused)
        folder = f"{folder}/{name}" if folder else name
    return None


def _is_folder(full: str) -> bool:
    return os.path.isdir(full) and not os.path.islink(full)


def rules_for_walk(root: str, git_top: str | None, settings: Sequence[Setting] | None = None) -> IgnoreTree:
    """The ignore files that count for a walk of ``root``. ``settings``: git's, where they are at hand.

    Those inside it, the user's global excludes, and, when git's rules above the root are to hold, those of the
    folders from ``git_top`` (a work tree that git itself could not list) and its ``info/exclude``.
    """
    sets: list[tuple[str, RuleSet]] = []
    excludes = excludes_file(git_settings(root) if settings is None else settings)
    # A link is fine here: this is the user's own file, often kept among linked dotfiles.
    text = read_small_text(os.path.realpath(excludes)) if os.path.isabs(excludes) else None
    if text is not None:
        sets.append(("", RuleSet.from_text(text, excludes)))
    if git_top is None:
        return IgnoreTree(root, ALL_IGNORE_FILES, IgnoreRules(sets))
    text = read_small_text(f"{git_top}/.git/info/exclude")
    if text is not None:
        sets.append(("", RuleSet.from_text(text, ".git/info/exclude")))
    above = IgnoreRules(sets)
    if git_top == root:
        return IgnoreTree(root, ALL_IGNORE_FILES, above)
    below_top = root[len(git_top) :].strip("/")
    above = IgnoreTree(git_top, GIT_IGNORE_FILES, above).rules_in(below_top.rpartition("/")[0])
    return IgnoreTree(root, ALL_IGNORE_FILES, above, f"{below_top}/")

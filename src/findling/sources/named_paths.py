"""Named files and folders: are they indexed, did they change, and if they are not wanted, why not."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from findling.model.types import SkippedFile
from findling.sources.git_listing import ListingFailed, ignoring_rule, is_root_ignored, list_paths
from findling.sources.ignore_rules import OWN_IGNORE_FILES, IgnoreTree
from findling.sources.selection import DiscoveryOptions, Found, Selection, find_git_top, judge_all, shown, wanted
from findling.sources.walking import rules_for_walk, walk, why_not_walked

# ruff: noqa: PTH112, PTH114, PTH117 - plain strings, as in selection

_MAX_NAMED_PATHS = 200  # more are found faster in a listing of everything


class Looked(NamedTuple):
    """Files that are new or changed, known ones that are gone, and the rest with reasons."""

    found: list[Found]
    gone: list[str]
    skipped: list[SkippedFile]


def look_at(
    root: Path,
    paths: Sequence[str],
    known: Mapping[str, tuple[int, int]] | None = None,
    options: DiscoveryOptions | None = None,
) -> Looked:
    """Judge ``paths`` (relative to the root; files, or folders for all that is in them) as `discover` would.

    A named path that is not wanted comes back in ``skipped`` with its reason; besides those of `discover` these
    are ``not_found``, ``outside_root`` and ``no_files`` (a folder without any). Known files that are no longer
    wanted are in ``gone``; files that are as in ``known`` are not repeated.
    """
    known = known or {}
    selection = Selection(os.path.realpath(root), options or DiscoveryOptions())
    names = list(dict.fromkeys(os.path.normpath(path).replace(os.sep, "/") for path in paths))
    outside = {name for name in names if name == ".." or name.startswith("../") or os.path.isabs(name)}
    skipped = [SkippedFile(shown(name), "outside_root", "it does not lie in the root") for name in outside]
    inside = dict.fromkeys(name for name in names if name not in outside)
    files, reasons = _judged(selection, inside)
    present = {path for path, _, _ in files}
    gone = [path for path in known if path not in present and _covered(path, inside)]
    found = [file for file in files if known.get(file[0]) != (file[1], file[2])]
    return Looked(found, gone, skipped + reasons)


def _covered(path: str, names: Collection[str]) -> bool:
    """Whether ``path`` is named, or lies in a named folder."""
    while path not in names:
        path = path.rpartition("/")[0]
        if not path:
            return "." in names
    return True


def _judged(selection: Selection, names: Collection[str]) -> tuple[list[Found], list[SkippedFile]]:
    """The wanted files among ``names`` and below them, and why the others are not."""
    if not names:
        return [], []
    if selection.options.files:
        asked: list[Found] = []
        others = [SkippedFile(shown(name), "excluded", "only named files are wanted") for name in names]
        reasons = [skip for skip in others if skip.path not in selection.options.files]
        judge_all(selection, [name for name in names if name in selection.options.files], asked, reasons)
        return asked, reasons
    top = find_git_top(selection.root)
    if top is not None:
        if is_root_ignored(selection.root, top):
            top = None
        else:
            try:
                return _judged_by_git(selection, names)
            except ListingFailed:
                pass  # the same fallback as for a whole root; git's own words come with `discover`
    return _judged_by_walk(selection, rules_for_walk(selection.root, top), names)


def _judged_by_git(selection: Selection, names: Collection[str]) -> tuple[list[Found], list[SkippedFile]]:
    files: list[Found] = []
    skipped: list[SkippedFile] = []
    rules = IgnoreTree(selection.root, OWN_IGNORE_FILES)
    heard_of: set[str] = set()
    everything = "." in names or len(names) > _MAX_NAMED_PATHS
    asked = list_paths(selection.root, [] if everything else list(names))
    for listed, tracked in zip(asked, (True, False), strict=True):
        paths = [path for path in listed.paths if _covered(path.rstrip("/"), names)] if everything else listed.paths
        kept = wanted(selection, paths, listed.text_only, tracked, rules, skipped)
        judge_all(selection, kept, files, skipped)
        for path in paths:
            folder = path.rstrip("/")
            while folder and folder not in heard_of:
                heard_of.add(folder)
                folder = folder.rpartition("/")[0]
    for name in names:
        if name == ".":
            continue
        if name not in heard_of:
            skipped.append(_unlisted(selection, name))
        elif not os.path.lexists(selection.prefix + name):
            skipped.append(SkippedFile(shown(name), "not_found", "there is no such file"))
    return files, skipped


def _unlisted(selection: Selection, name: str) -> SkippedFile:
    """Why git does not list ``name``."""
    full = selection.prefix + name
    if not os.path.lexists(full):
        return SkippedFile(shown(name), "not_found", "there is no such file")
    folder = name
    while folder:
        if os.path.lexists(f"{selection.prefix}{folder}/.git"):
            return SkippedFile(shown(name), "nested_repository", f"{shown(folder)} is a repository of its own")
        folder = folder.rpartition("/")[0]
    place = selection.unwanted_place(name, tracked=False)
    if place is not None:
        return place
    rule = ignoring_rule(selection.root, name)
    if rule:
        return SkippedFile(shown(name), "ignored", rule)
    judged = selection.look(name)
    if isinstance(judged, SkippedFile) and judged.reason != "nested_repository":
        return judged
    if os.path.isdir(full):
        return SkippedFile(shown(name), "no_files", "no file in this folder is to be indexed")
    return SkippedFile(shown(name), "ignored", "git does not list it")


def _judged_by_walk(
    selection: Selection, tree: IgnoreTree, names: Collection[str]
) -> tuple[list[Found], list[SkippedFile]]:
    files: list[Found] = []
    skipped: list[SkippedFile] = []
    for name in names:
        if name == ".":
            walked = walk(selection, tree)
            return walked.files, walked.skipped
        full = selection.prefix + name
        if not os.path.lexists(full):
            skipped.append(SkippedFile(shown(name), "not_found", "there is no such file"))
            continue
        reason = why_not_walked(selection, tree, name)
        if reason is not None:
            skipped.append(reason)
        elif os.path.isdir(full) and not os.path.islink(full):
            walked = walk(selection, tree, name)
            files += walked.files
            skipped += walked.skipped
        else:
            judge_all(selection, [name], files, skipped)
    return files, skipped

"""Judges named files and folders: which are wanted, which changed, and why the others are left out."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from findling.model.types import SkippedFile
from findling.sources.ignore_rules import OWN_IGNORE_FILES, IgnoreTree
from findling.sources.looking import Changes
from findling.sources.selection import DiscoveryOptions, Found, Selection, find_git_top, judge_all, shown
from findling.sources.tracked import (
    ListingFailed,
    Tracked,
    git_settings,
    is_root_ignored,
    left_out_by_sparse,
    tracked_among,
)
from findling.sources.walking import Rules, Walk, is_folder, is_plain_folder, rules_of, why_not_walked

# ruff: noqa: PTH117 - plain strings, as in selection

_MAX_NAMED_PATHS = 200  # more are found faster in a listing of everything


def look_at(
    root: Path,
    paths: Sequence[str],
    known: Mapping[str, tuple[int, int]] | None = None,
    options: DiscoveryOptions | None = None,
) -> Changes:
    """Judge ``paths`` (relative to the root; files, or folders for all that is in them) as `discover` would.

    A named path that is not wanted comes back in ``skipped`` with its reason; besides those of `discover` these
    are ``not_found``, ``outside_root`` and ``no_files`` (a folder without any). Known files that are no longer
    wanted are in ``removed``; files that are as in ``known`` are not repeated.
    """
    known = known or {}
    selection = Selection(os.path.realpath(root), options or DiscoveryOptions())
    names = list(dict.fromkeys(os.path.normpath(path).replace(os.sep, "/") for path in paths))
    outside = {name for name in names if name == ".." or name.startswith("../") or os.path.isabs(name)}
    skipped = [SkippedFile(shown(name), "outside_root", "it does not lie in the root") for name in outside]
    inside = dict.fromkeys(name for name in names if name not in outside)
    files, reasons = _judged(selection, inside)
    present = {file[0]: file for file in files}  # once, though both a file and its folder may be named
    gone = [path for path in known if path not in present and _covered(path, inside)]
    found = [file for file in present.values() if known.get(file[0]) != (file[1], file[2])]
    return Changes(found, [], gone, True, list(dict.fromkeys(skipped + reasons)), "walk")


def selects(root: Path, options: DiscoveryOptions) -> Callable[[str], bool]:
    """Tells of a path that git tracks, or did before it was deleted, whether its name and place are wanted."""
    selection = Selection(os.path.realpath(root), options)
    own = IgnoreTree(selection.root, OWN_IGNORE_FILES)

    def is_wanted(path: str) -> bool:
        if options.files:
            return path in options.files
        return selection.tracked_place(path, own) is None and selection.by_name(path) is None

    return is_wanted


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
    rules = _rules(selection, names)
    files: list[Found] = []
    walk = Walk(selection, rules, files.append)
    if "." in names:
        walk.run()
        walk.take_unmet()
        return files, walk.skipped
    for name in names:
        full = selection.prefix + name
        path = None if rules.tracked is None or is_plain_folder(full) else rules.tracked.path_of(name)
        if not os.path.lexists(full):
            if rules.tracked is not None and rules.tracked.is_left_out(name):
                walk.skipped.append(left_out_by_sparse(name, 1))
            else:
                walk.skipped.append(SkippedFile(shown(name), "not_found", "there is no such file"))
        elif path is not None:
            walk.take_tracked([path])
        elif (refused := why_not_walked(selection, rules, name)) is not None and not rules.tracks_below(name):
            walk.skipped.append(SkippedFile(shown(name), refused.reason, refused.detail))
        elif is_folder(full):
            before = len(files), len(walk.skipped)
            walk.run(name, refused)
            walk.take_unmet(name)
            if before == (len(files), len(walk.skipped)):
                walk.skipped.append(SkippedFile(shown(name), "no_files", "no file in this folder is to be indexed"))
        else:
            judge_all(selection, [name], files, walk.skipped)
    return files, walk.skipped


def _rules(selection: Selection, names: Collection[str]) -> Rules:
    """What decides about the files, with what git tracks among the names and below them."""
    top = find_git_top(selection.root)
    if top is None or is_root_ignored(selection.root, top):
        return rules_of(selection.root, None, None)
    settings = git_settings(top)
    everything = "." in names or len(names) > _MAX_NAMED_PATHS
    try:
        tracked = Tracked(tracked_among(selection.root, [] if everything else list(names)), settings)
    except ListingFailed:  # why it did is told with the whole root
        tracked = None
    return rules_of(selection.root, top, tracked, settings)

"""Which files of a folder are indexed, what changed since they were, and why the others are not.

`discover` lists everything, `check` compares with what is known, `look_at` judges named paths. In a git work tree
git lists (so its rules hold to the letter, and tracked files count although ignored); elsewhere, and where git is
missing or refuses, our own walk with the same rules does. ``.ignore`` and ``.findlingignore`` hold in both; in a
git work tree their negated lines take back what they exclude themselves, not what git ignores.

A root that somebody names is never ignored by rules above it: where git ignores it, it is walked as a root of its
own. Rules above a root inside a repository otherwise hold for what is in it.

Every path handed out is valid Unicode, relative to the root, with ``/``. Files whose names are not valid UTF-8
are skipped (``undecodable_name``) and shown with ``\\xNN`` in place of the odd bytes.

Reasons in `SkippedFile`: ``hidden``, ``ignored``, ``default_ignored``, ``excluded``, ``not_included``,
``nested_repository``, ``internal``, ``symlink_inside``, ``symlink_outside``, ``not_a_file``, ``unreadable``,
``too_large``, ``secret``, ``binary``, ``minified``, ``lock_file``, ``undecodable_name``, ``too_many``. What git
itself ignores is never listed one by one. A path that ends with ``/`` stands for a whole folder.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from findling.config.roots import is_bare
from findling.model.marks import classify, content_marks, looks_secret
from findling.model.types import SkippedFile, TreeState
from findling.sources.git_listing import GitListing, Listed, ListingFailed, is_repository
from findling.sources.git_top import find_git_top
from findling.sources.ignore_files import IgnoreTree
from findling.sources.looking import Changes, Method, differing
from findling.sources.named_paths import Looked, look_at
from findling.sources.selection import DiscoveryOptions, Found, Selection, judge_all, own_rules, wanted
from findling.sources.tree_recorder import TreeRecorder
from findling.sources.walking import Walked, rules_for_walk, walk

__all__ = [
    "Changes",
    "Discovery",
    "DiscoveryOptions",
    "Found",
    "Looked",
    "check",
    "classify",
    "content_marks",
    "discover",
    "look_at",
    "looks_secret",
]


class Discovery(NamedTuple):
    """Everything in a root. ``notes`` are sentences for people, such as why git could not be asked; ``tree`` as in
    `Changes`."""

    files: list[Found]
    skipped: list[SkippedFile]
    method: Method
    notes: tuple[str, ...] = ()
    tree: TreeState | None = None


def begin(root: Path, options: DiscoveryOptions | None = None) -> GitListing | None:
    """git's listing of ``root``, under way while its caller does something else; for `discover` or `check`, and a
    context in any case. None where git is not asked."""
    real = os.path.realpath(root)
    top = None if options is not None and options.files else find_git_top(real)
    return None if top is None else GitListing(real, top)


def discover(root: Path, options: DiscoveryOptions | None = None, *, begun: GitListing | None = None) -> Discovery:
    """All files of ``root`` that are to be indexed. Order: as git lists them, or folder by folder.

    ``begun``: what `begin` gave for the same root and options.
    """
    options = options or DiscoveryOptions()
    listing = _discover(Selection(os.path.realpath(root), options), begun)
    return listing if options.most_files is None else _cut(listing, options.most_files)


def _discover(selection: Selection, begun: GitListing | None = None) -> Discovery:
    if selection.options.files:
        named = _named(selection)
        return Discovery(named.files, named.skipped, "walk")
    top = find_git_top(selection.root)
    recorder = TreeRecorder(selection, top)
    notes: tuple[str, ...] = ()
    if top is not None:
        try:
            found = _discover_with_git(selection, begun or GitListing(selection.root, top), top, recorder)
        except ListingFailed as failure:
            notes = _said_of(failure, top)
            recorder.spoil()
        else:
            if found is not None:
                return found
            top = None
    walked = _walked(selection, top, None, recorder)
    return Discovery(walked.files, walked.skipped, "walk", notes, recorder.state(walked.skipped))


WALKED_INSTEAD = "git could not list this folder, so it was walked"
"""Begins the one note there may be of a listing."""


def walked_instead(problem: str) -> str:
    """The sentence for a folder that git could not list: ``problem`` says why."""
    return f"{WALKED_INSTEAD}, without tracked files that ignore rules name: {problem}"


def _said_of(failure: ListingFailed, top: str) -> tuple[str, ...]:
    return (walked_instead(str(failure)),) if is_repository(top) else ()


def _named(selection: Selection) -> Walked:
    """The files that the options name, as they are on disk."""
    files: list[Found] = []
    skipped: list[SkippedFile] = []
    judge_all(selection, selection.options.files, files, skipped)
    return Walked(files, skipped, True)


def _walked(selection: Selection, top: str | None, deadline: float | None, recorder: TreeRecorder) -> Walked:
    """What a walk finds; nothing in a repository without a work tree, whose folder is git's own."""
    if is_bare(Path(selection.root)):
        return Walked([], [], True)
    rules = rules_for_walk(selection.root, top, recorder.settings)
    return walk(selection, rules, deadline=deadline, recorder=recorder)


def _cut(listing: Discovery, most: int) -> Discovery:
    """The first ``most`` files by path; the others are left out."""
    files = sorted(listing.files)
    left_out = [SkippedFile(path, "too_many", f"more than {most:,} files") for path, _, _ in files[most:]]
    return listing._replace(files=files[:most], skipped=[*listing.skipped, *left_out], tree=None)


def _discover_with_git(selection: Selection, begun: GitListing, top: str, recorder: TreeRecorder) -> Discovery | None:
    """None when the root has to be walked because git ignores it as a whole."""
    files: list[Found] = []
    skipped: list[SkippedFile] = []
    with begun as listing:
        recorder.walk(rules_for_walk(selection.root, top, recorder.settings), None)
        if listing.root_is_ignored():
            return None
        tracked = listing.tracked()
        # Judge what is tracked while git still walks the disk for the rest.
        rules = own_rules(selection.root, tracked.joined)
        _select(selection, tracked, True, rules, files, skipped)
        untracked = listing.untracked()
        all_rules = own_rules(selection.root, tracked.joined, untracked.joined)
        if (rules and rules.folders) != (all_rules and all_rules.folders):
            # A rule file that nobody tracks yet speaks about tracked files too: judge them again, with it.
            files, skipped = [], []
            _select(selection, tracked, True, all_rules, files, skipped)
        _select(selection, untracked, False, all_rules, files, skipped)
        skipped += listing.unreadable
    if not (tracked.paths or untracked.paths) and top != selection.root:
        return None
    recorder.note_above([*tracked.paths, *untracked.paths])
    return Discovery(files, skipped, "git", (), recorder.state(skipped))


def _select(
    selection: Selection,
    listed: Listed,
    tracked: bool,
    rules: IgnoreTree | None,
    files: list[Found],
    skipped: list[SkippedFile],
) -> None:
    kept = wanted(selection, listed.paths, listed.text_only, tracked, rules, skipped)
    judge_all(selection, kept, files, skipped)


# --- what changed ---------------------------------------------------------------------------------------------


def check(
    root: Path,
    known: Mapping[str, tuple[int, int]],
    options: DiscoveryOptions | None = None,
    budget_s: float | None = None,
    *,
    begun: GitListing | None = None,
    on_change: Callable[[], None] = lambda: None,
) -> Changes:
    """What differs from ``known``: path -> (size, `files.stamp_of`).

    ``known`` holds every path that was handed out before, also those whose contents turned out not to be wanted;
    else these are found anew each time. With ``budget_s`` the check ends about then, ``complete`` or not. ``begun``:
    what `begin` gave for the same root and options, not before ``known`` was settled. ``on_change`` is called once, as
    soon as a known file with another status is met.
    """
    deadline = None if budget_s is None else time.monotonic() + budget_s
    selection = Selection(os.path.realpath(root), options or DiscoveryOptions())
    if selection.options.files:
        return _compare(_named(selection), known, ())
    if selection.options.most_files is not None:  # which are the first can only be told from all
        whole = discover(root, options, begun=begun)
        return _compare(Walked(whole.files, whole.skipped, True), known, whole.notes)
    top = find_git_top(selection.root)
    recorder = TreeRecorder(selection, top)
    notes: tuple[str, ...] = ()
    if top is not None:
        try:
            listing = begun or GitListing(selection.root, top, deadline)
            changes = _check_with_git(selection, listing, top, known, deadline, on_change, recorder)
        except ListingFailed as failure:
            notes = _said_of(failure, top)
            recorder.spoil()
        else:
            if changes is not None:
                return changes
            top = None
    walked = _walked(selection, top, deadline, recorder)
    return _compare(walked, known, notes, recorder)


def _compare(
    walked: Walked,
    known: Mapping[str, tuple[int, int]],
    notes: tuple[str, ...],
    recorder: TreeRecorder | None = None,
) -> Changes:
    added: list[Found] = []
    changed: list[Found] = []
    for found in walked.files:
        before = known.get(found[0])
        if before is None:
            added.append(found)
        elif before != (found[1], found[2]):
            changed.append(found)
    if not walked.complete:
        return Changes([], changed, [], False, [], "walk", notes)
    listed = {path for path, _, _ in walked.files}
    removed = [path for path in known if path not in listed]
    tree = recorder.state(walked.skipped) if recorder is not None else None
    return Changes(added, changed, removed, True, walked.skipped, "walk", notes, tree)


def _check_with_git(
    selection: Selection,
    begun: GitListing,
    top: str,
    known: Mapping[str, tuple[int, int]],
    deadline: float | None,
    on_change: Callable[[], None],
    recorder: TreeRecorder,
) -> Changes | None:
    """None when the root has to be walked. Folders and the status of known files are read while git lists."""
    with begun as listing:
        recorder.walk(rules_for_walk(selection.root, top, recorder.settings), deadline)
        differs, missing, all_seen = differing(selection, known, deadline, on_change)
        if not all_seen:
            return _partial(selection, differs, missing)
        try:
            if listing.root_is_ignored():
                return None
            tracked, untracked = listing.tracked(), listing.untracked()
        except ListingFailed as failure:
            if failure.out_of_time:
                return _partial(selection, differs, missing)
            raise
        unreadable = listing.unreadable
    if not (tracked.paths or untracked.paths) and top != selection.root:
        return None
    skipped: list[SkippedFile] = []
    rules = own_rules(selection.root, tracked.joined, untracked.joined)
    if rules is None and not selection.filters:
        # Then tracked files that are known are wanted: nothing that judges them can have changed but their status, and
        # what the folders above them are.
        listed = set(tracked.paths)
        differs += [path for path in known if not selection.lies_in_real_folders(path)]
        unknown = listed.difference(known)
        new = [path for path in tracked.paths if path in unknown]
        kept = wanted(selection, new, tracked.text_only, True, None, skipped)
    else:
        kept = wanted(selection, tracked.paths, tracked.text_only, True, rules, skipped)
        listed = set()
    kept += wanted(selection, untracked.paths, untracked.text_only, False, rules, skipped)
    if selection.filters:
        kept = [path for path in kept if not _filtered(selection, path, skipped)]
    listed.update(kept)
    added: list[Found] = []
    judge_all(selection, [path for path in kept if path not in known], added, skipped)
    skipped += unreadable
    changed: list[Found] = []
    gone = set(missing)
    for path in differs:
        if path in listed:
            judged = selection.look(path)
            if isinstance(judged, tuple):
                changed.append(judged)
            else:
                gone.add(path)
                if judged is not None:
                    skipped.append(judged)
    removed = [path for path in known if path not in listed and path not in gone]
    recorder.note_above([*tracked.paths, *untracked.paths])
    return Changes(added, changed, [*removed, *gone], True, skipped, "git", (), recorder.state(skipped))


def _filtered(selection: Selection, path: str, skipped: list[SkippedFile]) -> bool:
    """Whether the user's globs leave ``path`` out: they may differ from last time's, so known files are asked too."""
    skip = selection.filtered(path)
    if skip is not None:
        skipped.append(skip)
    return skip is not None


def _partial(selection: Selection, differing: list[str], missing: list[str]) -> Changes:
    changed = [judged for judged in map(selection.look, differing) if isinstance(judged, tuple)]
    return Changes([], changed, missing, False, [], "git")

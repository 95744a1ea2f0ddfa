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
from findling.model.types import SkippedFile, TreeState
from findling.sources.git_listing import GitListing, Listed, ListingFailed, is_repository
from findling.sources.ignore_rules import IgnoreTree
from findling.sources.looking import Changes, Method, differing
from findling.sources.selection import DiscoveryOptions, Found, Selection, find_git_top, judge_all, own_rules, wanted
from findling.sources.tree_recorder import TreeRecorder
from findling.sources.walking import Walked, rules_for_walk, walk


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
    found = check(root, {}, options, begun=begun)
    return Discovery(found.added, found.skipped or [], found.method, found.notes, found.tree)


WALKED_INSTEAD = "git could not list this folder, so it was walked"
"""Begins the one note there may be of a listing."""


def walked_instead(problem: str) -> str:
    """The sentence for a folder that git could not list: ``problem`` says why."""
    return f"{WALKED_INSTEAD}, without tracked files that ignore rules name: {problem}"


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
    most = selection.options.most_files
    if selection.options.files:
        return _compare(_named(selection), known, ())
    if most is None:
        return _check(selection, known, deadline, begun, on_change)
    whole = _check(selection, {}, None, begun, on_change)  # which are the first can only be told from all
    files = sorted(whole.added)
    left_out = [SkippedFile(path, "too_many", f"more than {most:,} files") for path, _, _ in files[most:]]
    cut = Walked(files[:most], [*(whole.skipped or ()), *left_out], True)
    return _compare(cut, known, whole.notes)._replace(method=whole.method)


def _check(
    selection: Selection,
    known: Mapping[str, tuple[int, int]],
    deadline: float | None,
    begun: GitListing | None,
    on_change: Callable[[], None],
) -> Changes:
    top = find_git_top(selection.root)
    recorder = TreeRecorder(selection, top)
    notes: tuple[str, ...] = ()
    if top is not None:
        try:
            listing = begun or GitListing(selection.root, top, deadline)
            changes = _check_with_git(selection, listing, top, known, deadline, on_change, recorder)
        except ListingFailed as failure:
            notes = (walked_instead(str(failure)),) if is_repository(top) else ()
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
    """None when the root has to be walked. Folders, the status of known files and what is tracked are judged while git
    lists."""
    with begun as listing:
        recorder.walk(rules_for_walk(selection.root, top, recorder.settings), deadline)
        differs, missing, all_seen = differing(selection, known, deadline, on_change)
        if not all_seen:
            return _partial(selection, differs, missing)
        try:
            if listing.root_is_ignored():
                return None
            tracked = listing.tracked()
            rules = own_rules(selection.root, tracked.joined)
            judged = _Judged(selection, known, tracked, rules)
            untracked = listing.untracked()
        except ListingFailed as failure:
            if failure.out_of_time:
                return _partial(selection, differs, missing)
            raise
        unreadable = listing.unreadable
    if not (tracked.paths or untracked.paths) and top != selection.root:
        return None
    all_rules = own_rules(selection.root, tracked.joined, untracked.joined)
    if (rules and rules.folders) != (all_rules and all_rules.folders):
        # A rule file that nobody tracks yet speaks about tracked files too: judge them again, with it.
        judged = _Judged(selection, known, tracked, all_rules)
    judged.take(untracked, False, all_rules)
    listed, skipped = judged.listed, judged.skipped + unreadable
    if judged.unasked:
        differs += [path for path in known if not selection.lies_in_real_folders(path)]
    changed: list[Found] = []
    gone = set(missing)
    for path in differs:
        if path in listed:
            now = selection.look(path)
            if isinstance(now, tuple):
                changed.append(now)
            else:
                gone.add(path)
                if now is not None:
                    skipped.append(now)
    removed = [path for path in known if path not in listed and path not in gone]
    recorder.note_above([*tracked.paths, *untracked.paths])
    return Changes(judged.added, changed, [*removed, *gone], True, skipped, "git", (), recorder.state(skipped))


class _Judged:
    """What git lists, judged: the paths that are wanted, the new files among them, and what is left out. ``unasked``:
    tracked files that are known are wanted, as nothing that judges them can have changed but their status, and what the
    folders above them are."""

    def __init__(
        self, selection: Selection, known: Mapping[str, tuple[int, int]], tracked: Listed, rules: IgnoreTree | None
    ) -> None:
        self.listed: set[str] = set()
        self.added: list[Found] = []
        self.skipped: list[SkippedFile] = []
        self.unasked = rules is None and not selection.filters
        self._selection = selection
        self._known = known
        self.take(tracked, True, rules)

    def take(self, found: Listed, tracked: bool, rules: IgnoreTree | None) -> None:
        selection, known, paths = self._selection, self._known, found.paths
        if tracked and self.unasked:
            self.listed.update(path for path in paths if path in known)
            paths = [path for path in paths if path not in known]
        kept = wanted(selection, paths, found.text_only, tracked, rules, self.skipped)
        if selection.filters:
            # The user's globs may differ from last time's, so known files are asked too.
            filtered = {path: selection.filtered(path) for path in kept}
            self.skipped += filter(None, filtered.values())
            kept = [path for path in kept if filtered[path] is None]
        self.listed.update(kept)
        judge_all(selection, [path for path in kept if path not in known], self.added, self.skipped)


def _partial(selection: Selection, differing: list[str], missing: list[str]) -> Changes:
    changed = [judged for judged in map(selection.look, differing) if isinstance(judged, tuple)]
    return Changes([], changed, missing, False, [], "git")

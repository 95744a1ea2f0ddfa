"""Which files of a folder are indexed, what changed since they were, and why the others are not.

`discover` lists everything, `check` compares with what is known, `look_at` (in `named_paths`) judges named paths. One
walk lists (`walking`). In a git work tree the ignore files that git reads hold to the letter, and files that git tracks
count although ignored; where git is missing or refuses, the same rules hold, and nothing is known to be tracked.
``.ignore`` and ``.findlingignore`` hold everywhere; in a git work tree their negated lines take back what they exclude
themselves, not what git ignores.

A root that somebody names is never ignored by rules above it: where git ignores it, it is walked as a root of its
own. Rules above a root inside a repository otherwise hold for what is in it.

Every path handed out is valid Unicode, relative to the root, with ``/``. Files whose names are not valid UTF-8
are skipped (``undecodable_name``) and shown with ``\\xNN`` in place of the odd bytes.

Reasons in `SkippedFile`: ``hidden``, ``ignored``, ``default_ignored``, ``excluded``, ``not_included``,
``nested_repository``, ``internal``, ``symlink_inside``, ``symlink_outside``, ``not_a_file``, ``unreadable``,
``too_large``, ``not_checked_out``, ``secret``, ``lfs_pointer``, ``binary``, ``minified``, ``lock_file``,
``undecodable_name``, ``too_many``. What git itself ignores is told by `unlisted` alone. A path that ends with ``/``
stands for a whole folder.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from findling.config.roots import is_bare
from findling.model.types import SkippedFile, TreeState
from findling.sources.looking import Changes, Method
from findling.sources.selection import DiscoveryOptions, Found, Selection, find_git_top, judge_all
from findling.sources.tracked import ListingFailed, Tracked, TrackedListing, git_settings, is_repository
from findling.sources.walking import TreeRecorder, Walk, rules_of


def begin(root: Path, options: DiscoveryOptions | None = None) -> TrackedListing | None:
    """Start to list what git tracks in ``root``, for a later `check`: a context. None where git is not
    asked."""
    real = os.path.realpath(root)
    top = None if options is not None and options.files else find_git_top(real)
    return None if top is None else TrackedListing(real, top)


def discover(root: Path, options: DiscoveryOptions | None = None) -> Changes:
    """All files of ``root`` that are to be indexed, in the order of paths: each folder where its name stands among the
    files, but for what git tracks behind a link."""
    return check(root, {}, options)


WALKED_INSTEAD = "git could not list this folder, so it was walked"
"""The beginning of the note about a listing without git."""


def walked_instead(problem: str) -> str:
    """The sentence for a folder that git could not list: ``problem`` says why."""
    return f"{WALKED_INSTEAD}, without tracked files that ignore rules name: {problem}"


# --- what changed ---------------------------------------------------------------------------------------------


def check(
    root: Path,
    known: Mapping[str, tuple[int, int]],
    options: DiscoveryOptions | None = None,
    budget_s: float | None = None,
    *,
    begun: TrackedListing | None = None,
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
    compared = _Comparison(known, on_change)
    if selection.options.files:
        files: list[Found] = []
        skipped: list[SkippedFile] = []
        judge_all(selection, selection.options.files, files, skipped)
        return compared.of(files, skipped, "walk")
    if most is None:
        return _check(selection, compared, deadline, begun)
    whole = _check(selection, _Comparison({}, on_change), None, begun)  # all are listed to know the first ones
    files = sorted(whole.added)
    left_out = [SkippedFile(path, "too_many", f"more than {most:,} files") for path, _, _ in files[most:]]
    return compared.of(files[:most], [*(whole.skipped or ()), *left_out], whole.method, whole.notes)


class _Comparison:
    """The files of a listing, as they come, beside those that are known."""

    def __init__(self, known: Mapping[str, tuple[int, int]], on_change: Callable[[], None]) -> None:
        self.added: list[Found] = []
        self.changed: list[Found] = []
        self.listed: set[str] = set()
        self._known = known
        self._on_change = on_change

    def take(self, found: Found) -> None:
        path, size, stamp = found
        if path in self.listed:  # a file that git tracks under two spellings
            return
        self.listed.add(path)
        before = self._known.get(path)
        if before is None:
            self.added.append(found)
        elif before != (size, stamp):
            if not self.changed:
                self._on_change()
            self.changed.append(found)

    def removed(self) -> list[str]:
        """Known files that no listing mentioned."""
        return [path for path in self._known if path not in self.listed]

    def of(
        self, files: list[Found], skipped: list[SkippedFile], method: Method, notes: tuple[str, ...] = ()
    ) -> Changes:
        """What differs where these are all files."""
        for found in files:
            self.take(found)
        return Changes(self.added, self.changed, self.removed(), True, skipped, method, notes)


class Stream:
    """The files of ``root`` that are to be indexed, as they are met: iterate once. The order is that of `discover`.
    ``skipped`` and ``notes``, as in `Changes`, are whole at the end.

    ``deadline`` (monotonic seconds): the files nearest to the root come first, and whether there was time for all is in
    ``complete``.
    """

    def __init__(self, root: Path, options: DiscoveryOptions, deadline: float | None = None) -> None:
        self.skipped: Sequence[SkippedFile] = []
        self.notes: tuple[str, ...] = ()
        self.complete = True
        self._deadline = deadline
        self._selection = Selection(os.path.realpath(root), options)

    def __iter__(self) -> Iterator[Found]:
        options = self._selection.options
        if options.files or options.most_files is not None:  # few files, or only all tell which are wanted
            found = discover(Path(self._selection.root), options)
            self.skipped, self.notes = found.skipped or [], found.notes
            yield from sorted(found.files, key=by_name)
            return
        compared = _Comparison({}, lambda: None)
        listing = _Listing(self._selection, compared, self._deadline, streams=True)
        taken = 0
        for _ in listing.steps():
            yield from compared.added[taken:]
            taken = len(compared.added)
        self.skipped, self.notes, self.complete = listing.skipped, listing.notes, listing.complete


def by_name(found: Found) -> str:
    """The key of the order of paths, as ripgrep's --sort path has it."""
    return found[0].replace("/", "\0")


class _Listing:
    """A listing under way, which hands all files to ``compared``. ``streams``: what is listed is of use also where
    there is no time for all, and nobody wants to know what it depends on.

    At the end: ``tracked`` by git, None where git was not asked; what was ``skipped``; and whether there was time for
    all (``complete``).
    """

    def __init__(
        self, selection: Selection, compared: _Comparison, deadline: float | None = None, *, streams: bool = False
    ) -> None:
        self.tracked: Tracked | None = None
        self.skipped: list[SkippedFile] = []
        self.notes: tuple[str, ...] = ()
        self.complete = True
        self._selection = selection
        self._compared = compared
        self._deadline = deadline
        self._top = find_git_top(selection.root)
        self._streams = streams
        self._recorder = TreeRecorder(selection, self._top)

    @property
    def tree(self) -> TreeState | None:
        """What the listing depended on."""
        return self._recorder.state(self.skipped)

    def steps(self, begun: TrackedListing | None = None) -> Iterator[None]:
        """Go through all, and stop now and then."""
        root, top = self._selection.root, self._top
        try:
            ignored = self._ask_git(begun)
        except ListingFailed as failure:
            if failure.out_of_time and not self._streams:
                self.complete = False
                return
            ignored = False
            self.notes = (walked_instead(str(failure)),) if top is not None and is_repository(top) else ()
            self._recorder.spoil()
        if is_bare(Path(root)):  # its folder is git's own, and holds nobody's files
            return
        yield from self._walk(None if ignored else top)
        tracked = self.tracked
        nothing = not (self.skipped or self._compared.listed)
        if self.complete and nothing and tracked is not None and not tracked.paths and top != root:
            self.tracked = None  # rules above the root ignore all that is in it, so it is a root of its own
            yield from self._walk(None)

    def _ask_git(self, begun: TrackedListing | None) -> bool:
        """Learn what git tracks; whether it ignores the root itself. Raises `ListingFailed`."""
        if self._top is None:
            return False
        deadline = self._deadline
        if deadline is not None and self._streams:  # without git's answer there is still something to list
            deadline -= (deadline - time.monotonic()) / 2
        with begun or TrackedListing(self._selection.root, self._top, deadline) as listing:
            if listing.root_is_ignored():
                return True
            self.tracked = Tracked(listing.listed(), self._recorder.settings)
        return False

    def _walk(self, top: str | None) -> Iterator[None]:
        rules = rules_of(self._selection.root, top, self.tracked, self._recorder.settings)
        recorder = None if self._streams else self._recorder
        walk = Walk(self._selection, rules, self._compared.take, recorder, self._deadline)
        self.skipped, self.complete = walk.skipped, False
        for in_time in walk.steps(nearest_first=self._streams and self._deadline is not None):
            yield
            if not in_time:
                return
        walk.take_unmet()
        self.complete = True
        yield


def _check(
    selection: Selection, compared: _Comparison, deadline: float | None, begun: TrackedListing | None
) -> Changes:
    listing = _Listing(selection, compared, deadline)
    for _ in listing.steps(begun):
        pass
    method: Method = "walk" if listing.tracked is None else "git"
    if not listing.complete:
        return Changes([], compared.changed, [], False, [], method, listing.notes)
    added, removed = compared.added, compared.removed()
    return Changes(added, compared.changed, removed, True, listing.skipped, method, listing.notes, listing.tree)


def unlisted(root: Path, timeout_s: float) -> list[SkippedFile] | None:
    """What `discover` does not mention: files that git ignores, each with the rule; a path with ``/`` at its end stands
    for all that is in a folder. Empty where git is not asked, for there all is mentioned. None when the time was not
    enough."""
    selection = Selection(os.path.realpath(root), DiscoveryOptions())
    top = find_git_top(selection.root)
    if top is None:
        return []
    deadline = time.monotonic() + timeout_s
    settings = git_settings(top)
    try:
        with TrackedListing(selection.root, top, deadline) as listing:
            if listing.root_is_ignored():
                return []
            tracked = Tracked(listing.listed(), settings)
    except ListingFailed as failure:
        return None if failure.out_of_time else []
    walk = Walk(selection, rules_of(selection.root, top, tracked, settings), lambda _: None, deadline=deadline)
    return walk.ignored if walk.run() else None

"""Looks at a known folder for what changed, without listing it: one stat for each file and each folder.

A folder's times tell whether names came or went in it. A folder whose times differ is listed again; if its names are
the same, nothing is new there. Ignore rules, what git tracks and git's configuration are compared by the stamps of the
files that hold them. Any other difference, and any doubt, calls for a whole listing (`discovery`). Every question
passes here, so nothing is imported that only a listing needs.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from findling.model.types import FileState, SkippedFile, TreeState
from findling.outbound.files import STAMP_BITS, TIMELESS, Files, NotRead, read_regular_file, stamp_of
from findling.outbound.git import kept_git_variables
from findling.sources.selection import DiscoveryOptions, Found, Selection, find_git_top

# ruff: noqa: PTH115, PTH116 - plain strings, as in selection

Method = Literal["git", "walk"]

_CLOCK_EVERY = 256  # files or folders between two looks at the clock: about half a millisecond
_REGULAR = 0o100000
_KIND_BITS = 0o170000

_NO_FILE = 0


class Changes(NamedTuple):
    """What a look at the disk found: all that differs from what was known before, which may be nothing.

    Unless ``complete``, the time ran out: what is listed is true, but there may be more, and ``added`` and ``skipped``
    are empty. ``skipped`` is None where the files that are left out are the same as before. ``notes`` are
    sentences for people, such as why git could not be asked. ``tree``: what a whole listing depended on, for the next
    look, once these changes are indexed.
    """

    added: list[Found]
    changed: list[Found]
    removed: list[str]
    complete: bool
    skipped: list[SkippedFile] | None
    method: Method
    notes: tuple[str, ...] = ()
    tree: TreeState | None = None

    @property
    def files(self) -> list[Found]:
        """Those to index."""
        return [*self.added, *self.changed]


AS_IT_WAS = Changes([], [], [], True, None, "walk")
"""Nothing differs."""


def look_again(
    root: Path,
    known: Mapping[str, tuple[int, int]],
    options: DiscoveryOptions,
    tree: TreeState,
    budget_s: float | None = None,
    *,
    heard: Collection[str] | None = None,
) -> Changes | None:
    """What differs from ``known`` (as for `discovery.check`); None where only a listing can tell. ``tree`` is of the
    listing that ``known`` comes from.

    With ``budget_s`` the look ends about then, ``complete`` or not. ``heard``: nothing happened to any file but these
    since a look with the same ``known`` found no difference.
    """
    deadline = None if budget_s is None else time.monotonic() + budget_s
    selection = Selection(os.path.realpath(root), options)
    if options.files or options.most_files is not None:
        return None  # such a root is listed each time: it has few files, or only all files tell which are wanted
    if not _rules_stand(selection, tree):
        return None
    concerned = known if heard is None else {path: known[path] for path in heard if path in known}
    differs, missing, in_time = differing(selection, concerned, deadline)
    changed = [judged for judged in map(selection.look, differs) if isinstance(judged, tuple)]
    if in_time and heard is None:
        try:
            if not _folders_stand(selection, tree, deadline):
                return None
        except TimeoutError:
            in_time = False
    if not in_time:
        return Changes([], changed, missing, False, None, "walk")
    if missing or len(changed) < len(differs):
        return None
    return Changes([], changed, [], True, None, "walk")


def _rules_stand(selection: Selection, tree: TreeState) -> bool:
    """Whether all that decides about files is the same as before."""
    if tree.world != world(selection, find_git_top(selection.root)):
        return False
    return all(file_stamp(status_of(selection, path)) == before for path, before in tree.files.items())


def _folders_stand(selection: Selection, tree: TreeState, deadline: float | None) -> bool:
    """Whether no name came or went in any folder. Raises `TimeoutError`."""
    root, prefix, lstat = selection.root, selection.prefix, os.lstat
    count = 0
    for folder, (before, shape) in tree.folders.items():
        count += 1
        if deadline is not None and not count % _CLOCK_EVERY and time.monotonic() > deadline:
            raise TimeoutError
        place = prefix + folder if folder else root
        try:
            status = lstat(place)
            times = (status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev)
            if (hash(times) & STAMP_BITS or 1) == before:  # as `stamp`, without a call
                continue
            with os.scandir(place) as entries:
                if not stat.S_ISDIR(status.st_mode) or shape_of(entries) != shape:
                    return False
        except OSError:
            return False
    return True


def differing(
    selection: Selection,
    known: Mapping[str, tuple[int, int]],
    deadline: float | None,
) -> tuple[list[str], list[str], bool]:
    """Known files whose status differs, known files that are missing, and whether there was time for all."""
    prefix, limit = selection.prefix, selection.options.max_bytes
    differing: list[str] = []
    missing: list[str] = []
    lstat, monotonic = os.lstat, time.monotonic
    count = 0
    for path, (size, stamp) in known.items():
        if deadline is not None:
            count += 1
            if not count % _CLOCK_EVERY and monotonic() > deadline:
                return differing, missing, False
        try:
            status = lstat(prefix + path)
        except (FileNotFoundError, NotADirectoryError):
            missing.append(path)
            continue
        except OSError:
            differing.append(path)  # judged again below, with its reason
            continue
        if (
            (hash((status.st_mtime_ns, status.st_ctime_ns)) ^ TIMELESS) & STAMP_BITS != stamp  # as `files.stamp_of`
            or status.st_size != size
            or (size > limit and size > selection.options.limit(path))
            or status.st_mode & _KIND_BITS != _REGULAR
        ):
            differing.append(path)
    return differing, missing, True


# --- numbers by which states are compared


def stamp(status: os.stat_result) -> int:
    """A number for the state of a file or folder. Another file at its place, or a later state, has another; never 0."""
    times = (status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev)
    return hash(times) & STAMP_BITS or 1


def shape_of(entries: Iterable[os.DirEntry[str]]) -> int:
    """A number for the names in a folder and the kind of each."""
    names: list[str] = []
    for entry in entries:
        if entry.is_file(follow_symlinks=False):
            names.append(entry.name)
        elif entry.is_dir(follow_symlinks=False):
            names.append(f"{entry.name}/")
        else:
            names.append(f"{entry.name}//{os.readlink(entry.path) if entry.is_symlink() else ''}")
    names.sort()
    digest = hashlib.blake2b(os.fsencode("\0".join(names)), digest_size=7)
    return int.from_bytes(digest.digest())


def status_of(selection: Selection, path: str) -> os.stat_result | None:
    """The status of a file of the tree (of a link, its own), or of any file by its absolute path; None without one."""
    try:
        return os.stat(path) if os.path.isabs(path) else os.lstat(selection.prefix + path)  # noqa: PTH117
    except OSError:
        return None


def file_stamp(status: os.stat_result | None) -> int:
    """A number for the state of a file, its size included; that of a missing file is 0."""
    return _NO_FILE if status is None else stamp(status) ^ status.st_size


def world(selection: Selection, top: str | None) -> str:
    """A hash of what a listing depends on beside files: options, the work tree and the environment."""
    variables = {name: os.environ.get(name) for name in ("HOME", "XDG_CONFIG_HOME")}
    told = repr((selection.options, top, sorted({**variables, **kept_git_variables()}.items(), key=str)))
    return hashlib.blake2b(os.fsencode(told), digest_size=8).hexdigest()


_RACY_NS = 20_000_000
"""A file that is read so soon after its change may change again within one step of its timestamp, so it gets a stamp
that never matches and is looked at again."""


def read_file(root: Path | Files, path: str, max_bytes: int) -> tuple[FileState, bytes] | SkippedFile:
    """A regular file's bytes and the state they were read in. Never follows a link, never blocks on a pipe.

    For many files of one root give its `RootFiles`: that is quicker. Files of a ref have the time 0.
    """
    read = read_regular_file(root, path, max_bytes) if isinstance(root, Path) else root.read(path, max_bytes)
    if isinstance(read, NotRead):
        return SkippedFile(path, read.reason, read.detail)
    status, data = read
    stamp = stamp_of(status)
    # A clock that was set back leaves files of the future behind.
    if abs(time.time_ns() - status.st_mtime_ns) < _RACY_NS:
        stamp -= 1
    return FileState(path, status.st_size, stamp), data

"""Which files of a work tree still have the contents that git checked out, told without reading them.

git's index holds what it saw of each file (size, times, inode) when it last knew the file to have a content. Where all
of that is as it was, so is the content. Two doubts remain, and whatever is doubtful is not vouched for:

* A file that was written again within one step of the clock looks the same. So the index must be younger than the file
  by more than a step, on the same disk.
* git's id is that of what it keeps, and a file may be converted on its way there: line ends, encodings, keywords,
  filters. Whoever asks knows how long the kept content is, and other line ends make a file longer or shorter. The
  others need not; a file that an attribute converts, or may have converted when it was written, is not vouched for.
  Attributes are known to be those of then where each of their files is older than the file, and none was taken away:
  no commit that was ever checked out here has one that is not there now, nothing was taken away outside, and no folder
  above the file has lost a name since anything in it was written. (One that no commit had, and that was taken away
  before something else in its folder was written, would not be noticed.)

git is asked for nothing that compares contents: then it runs what the repository's own configuration names as a filter.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Final, NamedTuple, Self

from findling.config import roots
from findling.outbound.files import stamp_of
from findling.outbound.git import GitOutput, GitProcess, start_git
from findling.sources.git_top import find_git_top
from findling.sources.ignore_files import read_small_text

# ruff: noqa: PTH111, PTH116, PTH118, PTH120 - plain strings: tens of thousands of paths

_TIMEOUT_S: Final = 60.0
"""For the index of a million files on a cold disk."""

_STEP_NS: Final = 20_000_000
"""No file system that keeps parts of a second has a coarser clock."""

_COARSE_STEP_NS: Final = 2_000_000_000
"""The coarsest clock of those that keep none."""

_SECOND_NS: Final = 1_000_000_000

_ATTRIBUTES: Final = ".gitattributes"
_SYSTEM_ATTRIBUTES: Final = "/etc/gitattributes"
_CONVERTING: Final = ("filter", "ident", "working-tree-encoding")
"""Attributes that may give a file other bytes of the same number."""

_NOT_CONVERTING: Final = (b"unspecified", b"unset")

_FILE_MODES: Final = (b"100644", b"100755", b"100664")

_NOT_PLAIN: Final = 0x8000 | 1 << 29 | 1 << 30
"""Flags of an entry: assume-unchanged, intent-to-add, skip-worktree."""

_INODE_BITS: Final = 0xFFFFFFFF
"""git keeps no more of an inode's number."""

_ENTRY = re.compile(
    rb"(\d{6}) ([0-9a-f]+) (\d)\t([^\0]+)\0"
    rb"  ctime: (\d+):(\d+)\n  mtime: (\d+):(\d+)\n  dev: \d+\tino: (\d+)\n  uid: \d+\tgid: \d+\n"
    rb"  size: (\d+)\tflags: ([0-9a-f]+)\n"
)
_MOVE = re.compile(r"([0-9a-f]+) ([0-9a-f]+) ")
"""A line of the log of `HEAD`: the commit before, the commit from then on."""

_LOG_CHARS: Final = 100_000
"""A longer one is not of a new work tree."""

_MOST_COMMITS: Final = 4
"""Each is compared with the index, which takes some milliseconds; a work tree that is new has had few."""


class Staged(NamedTuple):
    """A file in git's index: git's id of its content, and what git saw of it. ``plain``: no flag says to look away."""

    git_id: bytes
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    plain: bool


class _Moment(NamedTuple):
    """What tells that a file was written since."""

    mtime_ns: int
    inode: int
    size: int
    device: int


class Checkout:
    """One work tree's, as of now; a context. The gits that answer run from the beginning, beside the caller's work."""

    def __init__(self, root: Path) -> None:
        """``root``: a folder in a work tree."""
        self._root = os.path.realpath(root)
        self._top = find_git_top(self._root) or self._root
        self._staged: dict[str, Staged] | None = None
        self._attributes_of: dict[str, int | None] = {}
        own = Path(self._top, ".git")
        self._own, self._common = roots.git_folders(Path(self._top)) or (own, own)
        self._index = _moment(self._own / "index")
        with ExitStack() as stack:
            self._stack = stack
            self._entries_asked = self._ask("ls-files", "-z", "--stage", "--debug")
            gone = ("--cached", "--name-only", "-z", "--no-renames", "--diff-filter=D", "--ignore-submodules=all")
            self._gone_asked = [self._ask("diff-index", *gone, commit, "--") for commit in self._commits()]
            self._users_asked = self._ask("config", "--type=path", "-z", "--get", "core.attributesFile")
            self._stack = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _ask(self, *words: str, input: bytes | None = None) -> GitProcess:
        return self._stack.enter_context(start_git(words, cwd=self._root, timeout_s=_TIMEOUT_S, input=input))

    def git_ids(self) -> dict[str, bytes]:
        """path -> git's id of the content that a tracked file had when git last looked; {} where git cannot say."""
        return {path: entry.git_id for path, entry in self._entries().items()}

    def vouch(self, paths: Iterable[str]) -> dict[str, tuple[int, int]]:
        """Those of ``paths`` whose content is that of git's id if that is as long: path -> (size in bytes,
        `files.stamp_of`)."""
        entries = self._entries()
        asked = [path for path in paths if path in entries and entries[path].plain]
        index = self._index
        if not asked or index is None or self._attributes_were_taken_away():
            return {}
        converting = self._ask("check-attr", "-z", "--stdin", *_CONVERTING, input=_joined(asked))
        outer = max(map(_settled, self._outer_attributes()), default=0)
        prefix = self._root.rstrip("/") + "/"
        found: dict[str, tuple[int, int]] = {}
        written: dict[str, int] = {}
        """Folder -> when the newest of the files in it was written, as far as git knows them."""
        for path in asked:
            entry = entries[path]
            try:
                status = os.lstat(prefix + path)
            except OSError:
                continue
            if _is_as_staged(status, entry, index):
                folder = path.rpartition("/")[0]
                written[folder] = max(written.get(folder, 0), status.st_ctime_ns)
                attributes = self._newest_attributes(folder)
                if attributes is not None and max(attributes, outer) < entry.mtime_ns:
                    found[path] = (entry.size, stamp_of(status))
        lost = self._folders_that_lost(written)
        converted = _converted(converting.wait(), len(asked))
        if converted is None or _moment(self._own / "index") != index:
            return {}
        return {
            path: state
            for path, state in found.items()
            if path not in converted and path.rpartition("/")[0] not in lost
        }

    def _folders_that_lost(self, written: Mapping[str, int]) -> set[str]:
        """Those of some folders that may have lost a file of attributes, or lie in one that may.

        A folder changes when a name comes or goes. What has come is there, and was written then or later.
        """
        newest = dict(written)
        for folder in written:
            inner = folder
            while inner:  # a folder came before what is in it
                outer = inner.rpartition("/")[0]
                if newest.get(outer, -1) >= newest[inner]:
                    break
                newest[outer] = newest[inner]
                inner = outer
        lost: dict[str, bool] = {}

        def has_lost(folder: str) -> bool:
            if folder not in lost:
                above = has_lost(folder.rpartition("/")[0]) if folder else self._lost_outside()
                lost[folder] = above or _lost_a_name(f"{self._root}/{folder}", newest[folder])
            return lost[folder]

        return {folder for folder in written if has_lost(folder)}

    def _lost_outside(self) -> bool:
        """Whether a folder between the root and the top of a larger work tree may have lost a name."""
        folder = self._root
        while folder != self._top:
            folder = os.path.dirname(folder)
            if _lost_a_name(folder, 0):
                return True
        return False

    def _entries(self) -> dict[str, Staged]:
        if self._staged is None:
            listed = self._entries_asked.wait()
            self._staged = _staged(listed.stdout) if listed.ok else {}
        return self._staged

    # --- attributes, now and then ------------------------------------------------------------------------------

    def _commits(self) -> set[str]:
        """The commits that were ever checked out here; none where they are many, or not all are known any more."""
        log = read_small_text(f"{self._own}/logs/HEAD") or ""
        lines = log.split("\n")[:-1]
        moves = [move for line in lines if (move := _MOVE.match(line))]
        if len(log) > _LOG_CHARS or not moves or len(moves) != len(lines) or moves[0][1].strip("0"):
            return set()
        commits = {move[2] for move in moves}
        return commits if len(commits) <= _MOST_COMMITS else set()

    def _attributes_were_taken_away(self) -> bool:
        """Whether the index lacks a file of attributes that one of the commits has, or nobody can say."""
        answers = [asked.wait() for asked in self._gone_asked]
        gone = (name.rpartition(b"/")[2] for answer in answers for name in answer.stdout.split(b"\0"))
        return not answers or not all(answer.ok for answer in answers) or os.fsencode(_ATTRIBUTES) in gone

    def _outer_attributes(self) -> list[str]:
        """The files of attributes outside the work tree, whether or not they exist."""
        users = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
        named = self._users_asked.wait()
        own = os.fsdecode(named.stdout.rstrip(b"\0")) if named.ok else os.path.join(users, "git", "attributes")
        configured = f"{self._common}/config"  # may have named another file then
        return [f"{self._common}/info/attributes", configured, own, _SYSTEM_ATTRIBUTES]

    def _newest_attributes(self, folder: str) -> int | None:
        """When the files of attributes of a folder of the root, and of those above it, were last written (ns, 0 for
        none); None where the index has one that is not on disk."""
        if folder not in self._attributes_of:
            self._attributes_of[folder] = self._look_for_attributes(folder)
        return self._attributes_of[folder]

    def _look_for_attributes(self, folder: str) -> int | None:
        name = f"{folder}/{_ATTRIBUTES}" if folder else _ATTRIBUTES
        here = _written(f"{self._root}/{name}")
        if not here and name in self._entries():
            return None
        if folder:
            above = self._newest_attributes(folder.rpartition("/")[0])
        else:
            above = 0
            outside = self._root
            while outside != self._top:  # the root is a folder of a larger work tree
                outside = os.path.dirname(outside)
                above = max(above, _written(f"{outside}/{_ATTRIBUTES}"))
        return None if above is None else max(here, above)


def _joined(paths: Iterable[str]) -> bytes:
    return b"\0".join((*map(os.fsencode, paths), b""))


def _staged(listing: bytes) -> dict[str, Staged]:
    """Files without a conflict. What is written otherwise than is known here is not among them: the format is git's
    own, and for people."""
    found: dict[str, Staged] = {}
    for row in _ENTRY.findall(listing):
        mode, git_id, stage, name, ctime, ctime_part, mtime, mtime_part, inode, size, flags = row
        if stage == b"0" and mode in _FILE_MODES:
            found[os.fsdecode(name)] = Staged(
                bytes.fromhex(git_id.decode("ascii")),
                int(size),
                int(mtime) * _SECOND_NS + int(mtime_part),
                int(ctime) * _SECOND_NS + int(ctime_part),
                int(inode),
                not int(flags, 16) & _NOT_PLAIN,
            )
    return found


def _is_as_staged(status: os.stat_result, entry: Staged, index: _Moment) -> bool:
    if (
        status.st_mtime_ns != entry.mtime_ns
        or status.st_ctime_ns != entry.ctime_ns
        or status.st_size != entry.size
        or status.st_ino & _INODE_BITS != entry.inode
        or status.st_dev != index.device
        or not stat.S_ISREG(status.st_mode)
    ):
        return False
    parts = entry.mtime_ns % _SECOND_NS and entry.ctime_ns % _SECOND_NS and index.mtime_ns % _SECOND_NS
    return max(entry.mtime_ns, entry.ctime_ns) + (_STEP_NS if parts else _COARSE_STEP_NS) <= index.mtime_ns


def _converted(answer: GitOutput, asked: int) -> set[str] | None:
    """The paths that one of the converting attributes is set for; None where git has not answered for all."""
    fields = answer.stdout.split(b"\0")
    if not answer.ok or len(fields) != 3 * len(_CONVERTING) * asked + 1:
        return None
    names, values = fields[0:-1:3], fields[2::3]
    return {os.fsdecode(name) for name, value in zip(names, values, strict=True) if value not in _NOT_CONVERTING}


def _moment(path: Path) -> _Moment | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return _Moment(status.st_mtime_ns, status.st_ino, status.st_size, status.st_dev)


def _lost_a_name(folder: str, written: int) -> bool:
    """Whether a folder was changed later (ns) than ``written`` and than everything in it."""
    try:
        changed = os.lstat(folder).st_ctime_ns
        if changed <= written:
            return False
        with os.scandir(folder) as entries:
            return all(entry.stat(follow_symlinks=False).st_ctime_ns < changed for entry in entries)
    except OSError:
        return True


def _settled(path: str) -> int:
    """When a file outside the work tree was last written or taken away (ns): where there is none, when the nearest
    folder above it last lost or got a name."""
    while not (written := _written(path)) and (above := os.path.dirname(path)) != path:
        path = above
    return written


def _written(path: str) -> int:
    """When a file was last written, replaced or renamed (ns); 0 when there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return 0
    return max(status.st_ctime_ns, os.lstat(path).st_ctime_ns)

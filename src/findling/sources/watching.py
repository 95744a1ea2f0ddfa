"""Hears from the system which files change.

`changes` is for a thread that waits for changes (it alone uses `watchfiles`), `FolderEvents` for a caller that asks now
and then. Knows no index.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import re
import struct
import sys
import threading
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from findling.sources.selection import NEVER_FOLDERS

STEP_MS = 100
"""How often the system's queue is looked at. A burst of changes is over when nothing has come for this long."""

BURST_MS = 1_000
"""A burst is handed over after this time, even if it goes on."""

TURN_MS = 1_000
"""How long to listen before reporting that nothing was heard."""

RULE_FILES = frozenset((".gitignore", ".ignore", ".findlingignore", ".gitattributes", ".gitmodules", "findling.toml"))
"""A change of one of these may concern any file, even if it is not indexed itself."""


class CannotWatch(Exception):
    """The system does not report changes here; the message says why, for people."""


def changes(root: Path, folders: Iterable[str], stop: threading.Event) -> Iterator[set[str]]:
    """What is heard of the files right in these folders, until ``stop``: paths from the root, there or not.

    A burst of changes comes as one set; after a second without changes, an empty set comes. Once the first set has
    come, empty or not, no later change is missed. Raises `CannotWatch`.
    """
    if "microsoft" in platform.release().lower():
        raise CannotWatch("this system (WSL) does not tell of every change")
    try:
        from watchfiles import watch
    except ImportError as error:
        raise CannotWatch("the package watchfiles is not installed") from error
    real = os.path.realpath(root)
    prefix = os.path.join(real, "")  # noqa: PTH118
    places = [prefix + folder if folder else real for folder in sorted(folders)]
    # Folders without permission are left out here: the library's option for that would hide exceeded limits as well.
    places = [place for place in places if os.access(place, os.R_OK | os.X_OK)]
    heard = watch(
        *places,
        watch_filter=None,
        debounce=BURST_MS,
        step=STEP_MS,
        rust_timeout=TURN_MS,
        yield_on_timeout=True,
        recursive=False,
        stop_event=stop,
        ignore_permission_denied=False,
        force_polling=False,
    )
    try:
        for batch in heard:
            names = (path[len(prefix) :].replace(os.sep, "/") for _, path in batch if path.startswith(prefix))
            yield {name for name in names if NEVER_FOLDERS.isdisjoint(name.split("/"))}
    except BaseException as error:
        # Among the first two are the limits of inotify, which have no type of their own.
        if not isinstance(error, (OSError, RuntimeError)) and type(error).__name__ != _PANIC:
            raise
        raise CannotWatch(str(error).split("\n")[0][:200]) from error


_PANIC: Final = "PanicException"
"""What the library raises for an unexpected failure of the system. It is no `Exception`, and in no module."""


_CONTENTS: Final = 0x2 | 0x4 | 0x8
"""IN_MODIFY, IN_ATTRIB, IN_CLOSE_WRITE: a file's content changed."""

_NAMES: Final = 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800
"""IN_MOVED_FROM, IN_MOVED_TO, IN_CREATE, IN_DELETE, IN_DELETE_SELF, IN_MOVE_SELF."""

_FOLDERS_ONLY: Final = 0x01000000 | 0x02000000
"""IN_ONLYDIR, IN_DONT_FOLLOW."""

_FOLDER_ITSELF: Final = 0x400 | 0x800 | 0x2000 | 0x8000
"""IN_DELETE_SELF, IN_MOVE_SELF, IN_UNMOUNT, IN_IGNORED: nothing more will be heard of the folder."""

_GONE: Final = (errno.ENOENT, errno.ENOTDIR)
_OVERFLOW: Final = 0x4000
_EVENT: Final = struct.Struct("iIII")
_READ_BYTES: Final = 1 << 18

_SHARE: Final = 16
"""The share of the folders that a user may listen to which is used, as a divisor: other programs listen, too."""

_LIMIT: Final = "/proc/sys/fs/inotify/max_user_watches"

_LOCAL: Final = frozenset(("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "bcachefs", "tmpfs", "overlay"))
"""File systems that only this system can change."""

_ESCAPED: Final = re.compile(r"\\([0-7]{3})")


# --- what was heard since somebody last asked -----------------------------------------------------------------------


class FolderEvents:
    """Collects what happened to the files of one root between two calls of `heard`. Linux only; no thread is needed.
    Raises `CannotWatch` where the system does not report every change.

    inotify queues an event before the call that changes a file returns. So a later question misses nothing, as long as
    all changes are made through this system (not on a network's disk) and the queue does not overflow.
    """

    def __init__(self, root: str) -> None:
        if sys.platform != "linux" or not _is_local(root):
            raise CannotWatch("this system does not tell of every change")
        self._prefix = root if root.endswith("/") else root + "/"
        self._library = ctypes.CDLL(None, use_errno=True)
        self._queue: int = self._library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._queue < 0:
            raise CannotWatch(os.strerror(ctypes.get_errno()))
        self.close = weakref.finalize(self, os.close, self._queue)
        self._most = _most_folders()
        self._folders: dict[str, int] = {}
        self._names: dict[int, str] = {}

    def heard(self, folders: Iterable[str]) -> set[str] | None:
        """The files right in these folders that were written to since the last call.

        None where more may have happened: names came or went, a folder was not listened to before, or events were
        lost. Raises `CannotWatch`.
        """
        unheard = [folder for folder in folders if folder not in self._folders]
        if len(self._folders) + len(unheard) > self._most:
            raise CannotWatch("these are too many folders")
        for folder in unheard:
            self._listen(folder)
        more = bool(unheard)
        found: set[str] = set()
        while True:
            try:
                data = os.read(self._queue, _READ_BYTES)
            except BlockingIOError:
                return None if more else found
            except OSError as error:
                raise CannotWatch(str(error)) from error
            more |= self._take(data, found)

    def _listen(self, folder: str) -> None:
        place = os.fsencode(self._prefix + folder)
        number: int = self._library.inotify_add_watch(self._queue, place, _CONTENTS | _NAMES | _FOLDERS_ONLY)
        if number < 0 and ctypes.get_errno() in _GONE:
            return
        if number < 0:  # among them the limit on folders
            raise CannotWatch(os.strerror(ctypes.get_errno()))
        self._folders[folder] = number
        self._names[number] = folder

    def _take(self, data: bytes, found: set[str]) -> bool:
        """Add the files that were written to; returns whether the events report anything else."""
        more = False
        at = 0
        while at < len(data):
            number, kind, _, length = _EVENT.unpack_from(data, at)
            at += _EVENT.size
            name = os.fsdecode(data[at : at + length].rstrip(b"\0"))
            at += length
            folder = self._names.get(number)
            if kind & (_NAMES | _FOLDER_ITSELF | _OVERFLOW) or folder is None:
                more = True
                if kind & _FOLDER_ITSELF and folder is not None:
                    del self._names[number]
                    if self._folders.get(folder) == number:
                        del self._folders[folder]
            elif name:
                found.add(f"{folder}/{name}" if folder else name)
            else:
                more = True  # the folder's own rights
        return more


def _most_folders() -> int:
    try:
        with open(_LIMIT, encoding="ascii") as file:  # noqa: PTH123
            return int(file.read()) // _SHARE
    except (OSError, ValueError):
        return 0


def _is_local(root: str) -> bool:
    """Whether the root, and all that is mounted below it, is on disks of this system alone."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:  # noqa: PTH123
            lines = file.read().splitlines()
    except OSError:
        return False
    below = root.rstrip("/") + "/"
    holds_root = ("", "")
    for line in lines:
        fields, _, rest = line.partition(" - ")
        place = _ESCAPED.sub(lambda found: chr(int(found[1], 8)), fields.split(" ")[4]).rstrip("/") + "/"
        kind = rest.split(" ")[0]
        if place.startswith(below) and place != below and kind not in _LOCAL:
            return False
        if below.startswith(place) and len(place) >= len(holds_root[0]):
            holds_root = (place, kind)
    return holds_root[1] in _LOCAL

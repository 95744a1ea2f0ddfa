"""Reading one file of a root for the index: its bytes, with the state that proves it unchanged later."""

from __future__ import annotations

import time
from pathlib import Path

from findling.model.types import FileState, SkippedFile
from findling.outbound.files import Files, NotRead, read_regular_file, stamp_of

_RACY_NS = 20_000_000
"""A file younger than this when read may change again within its timestamp's step; it is looked at again."""


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

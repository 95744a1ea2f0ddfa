"""The text index's files: whether they stand there whole, and how many documents their segments have.

The library checks nothing of this, and data that it cannot make sense of may end the process. So what each segment's
files are like is written down beside them. Knows nothing of terms, and does not import the library.
"""

from __future__ import annotations

import errno
import json
import os
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from findling.model import errors
from findling.store.local import layout

FORMAT = "3"
"""Written beside the index, with the identity of the tables it belongs to; anything else there means: build anew."""

_FORMAT_FILE = "format"
_META = "meta.json"
_DELETIONS = ".del"
"""The library's: the file that lists the segments in use, and the ending of what says which documents are deleted."""

_STATE_BYTES = 4_000_000
"""No list of segments comes near this; what is longer is not ours."""

_PIECE_BYTES = 1 << 20
"""Read at a time for a checksum."""

_TRIES = 3
"""Merging takes longer than looking, so that a second look nearly always finds a listing as it is."""

OF_WHAT_IS_THERE = frozenset((errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP))
"""Failures of the system that come of the files themselves; any other (a disk that does not answer, too many open
files) says nothing of the index."""


def unavailable(directory: Path, number: int | None) -> errors.IndexUnavailable:
    why = os.strerror(number) if number is not None else "writing failed"
    return errors.IndexUnavailable(
        f"The text index at {directory} cannot be used: {why}.",
        remedy="Nothing is lost; try again, and check the disk if that does not help.",
    )


def usable(directory: Path, identity: bytes, *, read: bool = False) -> bool:
    """Whether a text index of this format, made for the tables with this identity, stands there whole.

    The library checks nothing of this, and data that it cannot make sense of may end the process. ``read``: files whose
    sizes and times are as they were are read as well, each once in a process, since a disk may change a bit of them.
    Raises `IndexUnavailable` where that cannot be looked at now.
    """
    try:
        if layout.not_a_folder(directory) or layout.holds_other_than_files(directory):
            return False
        for _ in range(_TRIES):
            marker = _read_small(directory / _FORMAT_FILE)
            state = _read_small(directory / _META)
            if marker.split("\n", 1)[0] != _mark(identity):
                return False
            segments, written = _segments(state), list(_written_down(marker))
            if any(file.name == _META and file.checksum > _stamp(state) for file in written):
                return False  # an earlier list than the one that was in use when this was written down
            used = [file for file in written if _segment(file.name) in segments]
            if all(_unchanged(directory, file) for file in used):
                return not read or _as_written(directory, used)
            if _read_small(directory / _META) == state:
                return False
            # segments were merged by a writer between the looks: look again
        return False
    except OSError as error:
        if error.errno in OF_WHAT_IS_THERE:
            return False
        raise unavailable(directory, error.errno) from error
    except (ValueError, KeyError, TypeError, AttributeError):
        return False


class _File(NamedTuple):
    """A file of a segment as it was written; none of them ever changes. Of the list of segments, which does, the
    checksum is its stamp, and nothing else is known."""

    name: str
    size: int
    mtime_ns: int
    checksum: int


def _unchanged(directory: Path, file: _File) -> bool:
    try:
        status = (directory / file.name).lstat()
    except FileNotFoundError:
        return file.name.endswith(_DELETIONS)  # those are replaced as more is deleted
    if status.st_size != file.size:
        return False
    # another time alone may come of copying the folder
    return status.st_mtime_ns == file.mtime_ns or _checksum(directory / file.name) == file.checksum


READ_AT_ONCE = 64_000_000
"""Bytes that are read before the text index is used, in about 50 ms; a larger one is read while it is used."""

_Stamp = tuple[int, int, int, int]
"""Inode, size and times of a file."""

_read: dict[Path, dict[str, _Stamp]] = {}
"""By text index the files that this process has compared with their checksums."""

_damaged: dict[Path, dict[str, _Stamp]] = {}
"""Of those the files that were found damaged while they were in use."""


def _as_written(directory: Path, files: Sequence[_File]) -> bool:
    """Whether the files have their checksums, as far as is known before they are used."""
    stamps: dict[str, _Stamp] = {}
    for file in files:
        with suppress(FileNotFoundError):  # deletions, replaced since
            status = (directory / file.name).lstat()
            stamps[file.name] = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    if any(stamps.get(name) == stamp for name, stamp in _damaged.get(directory, {}).items()):
        return False
    _damaged.pop(directory, None)  # another one stands there since
    known = _read.pop(directory, {})
    wanted = [file for file in files if file.name in stamps and known.get(file.name) != stamps[file.name]]
    if sum(file.size for file in wanted) > READ_AT_ONCE:

        def read() -> None:
            wrong = {file.name: stamps[file.name] for file in wanted if not _has_checksum(directory, file)}
            if wrong:
                _damaged[directory] = wrong

        threading.Thread(target=read, name="findling-checksums", daemon=True).start()
    elif not all(_has_checksum(directory, file) for file in wanted):
        return False
    _read[directory] = stamps
    return True


def _has_checksum(directory: Path, file: _File) -> bool:
    try:
        return _checksum(directory / file.name) == file.checksum
    except OSError as error:  # merged away, or replaced as more is deleted; or it cannot be read now
        return error.errno != errno.EIO


def is_damaged(directory: Path) -> bool:
    """Whether reading the files, which may go on while they are used, has found damage."""
    return directory in _damaged


def write_down(directory: Path, identity: bytes) -> None:
    """Note what the segments' files are like now, so that one that was cut or overwritten is noticed."""
    state = _read_small(directory / _META)
    segments = _segments(state)
    try:
        known = {file.name: file for file in _written_down(_read_small(directory / _FORMAT_FILE))}
    except (FileNotFoundError, ValueError):
        known = {}
    lines = [_mark(identity), " ".join(map(str, _File(_META, 0, 0, _stamp(state))))]
    with os.scandir(directory) as entries:
        for entry in entries:
            if _segment(entry.name) not in segments:
                continue
            with suppress(FileNotFoundError):  # merged away meanwhile
                status = entry.stat(follow_symlinks=False)
                was = known.get(entry.name)
                if was is None or was[1:3] != (status.st_size, status.st_mtime_ns):
                    was = _File(entry.name, status.st_size, status.st_mtime_ns, _checksum(directory / entry.name))
                lines.append(" ".join(map(str, was)))
    partial = directory / f"{_FORMAT_FILE}.part"
    partial.unlink(missing_ok=True)
    with partial.open("x", encoding="utf-8") as file:
        file.write("\n".join(lines))
    partial.replace(directory / _FORMAT_FILE)


def _written_down(marker: str) -> Iterator[_File]:
    for line in marker.split("\n")[1:]:
        name, size, mtime_ns, checksum = line.split(" ")
        yield _File(name, int(size), int(mtime_ns), int(checksum))


def _segments(state: str) -> frozenset[str]:
    """The segments in use, as the names of their files begin."""
    return frozenset(segment["segment_id"].replace("-", "") for segment in json.loads(state)["segments"])


def _stamp(state: str) -> int:
    """How many operations a list of segments has seen: each later one has seen more."""
    return int(json.loads(state)["opstamp"])


def _segment(name: str) -> str:
    return name.split(".", 1)[0]


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            checksum = zlib.crc32(piece, checksum)
    return checksum


def _read_small(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_STATE_BYTES).decode()


def _mark(identity: bytes) -> str:
    return f"{FORMAT} {identity.hex()}"


def documents(directory: Path) -> int:
    """Documents in the segments, deleted ones too."""
    try:
        return sum(int(segment["max_doc"]) for segment in json.loads(_read_small(directory / _META))["segments"])
    except (KeyError, TypeError) as error:
        raise ValueError(f"{_META} is damaged: {error}") from error

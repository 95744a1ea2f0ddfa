"""The indexes of this user on this machine: where each is, how large it is, and which ones to delete.

A project's index lies in the project, so findling keeps a list: one small file for each index, in the user's cache
folder, written when the index is made. A list that cannot be written costs `findling clear --all` an entry, and a
question nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from findling.config.roots import STORE_NAME, cache_folder
from findling.model.errors import IndexUnavailable
from findling.store.local import layout, soundness

_LIST = "indexes"

_ENTRY_BYTES = 20_000
"""Two paths, escaped."""

_LEFT_BEHIND = (".gitignore", layout.LOCK, "jobs")
"""What may stay of an index that is deleted, and is nobody's own."""


class KnownIndex(NamedTuple):
    """``root``: the folder that is indexed. ``written``: when its index last changed, in seconds since 1970."""

    directory: Path
    root: Path
    bytes: int
    written: float

    @property
    def is_orphan(self) -> bool:
        """Whether the folder that was indexed is gone."""
        return not self.root.is_dir()


def remember(directory: Path, root: Path) -> None:
    """Put an index on the list."""
    entry = _entry(directory)
    if not _may_be_ours(directory) or entry.exists():
        return
    with suppress(OSError):
        entry.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        entry.write_text(json.dumps({"index": os.fspath(directory), "root": os.fspath(root)}), encoding="ascii")


def of(directory: Path, root: Path) -> KnownIndex | None:
    """The index in a folder; None where there is none."""
    try:
        written = (directory / layout.DATABASE).lstat().st_mtime
    except OSError:
        return None
    return KnownIndex(directory, root, layout.bytes_on_disk(directory), written)


def known() -> list[KnownIndex]:
    """Every index on the list that is still there, the one that was written longest ago first."""
    found = []
    for entry in _list().glob("*.json"):
        index = _read(entry)
        if index is None:
            with suppress(OSError):
                entry.unlink()
        else:
            found.append(index)
    return sorted(found, key=lambda index: (index.written, index.directory))


def delete(index: KnownIndex, *, wait_s: float = 0.0) -> int:
    """Delete an index, and its folder unless something of the user's own is in it; the number of bytes freed.

    Raises `IndexBusy` while another process writes it, `IndexUnavailable` where it cannot be deleted.
    """
    soundness.remove(index.directory, wait_s=wait_s)
    with suppress(OSError):
        if {path.name for path in index.directory.iterdir()}.issubset(_LEFT_BEHIND):
            layout.discard(index.directory)
    with suppress(OSError):
        _entry(index.directory).unlink(missing_ok=True)
    return index.bytes - layout.bytes_on_disk(index.directory)


def keep_below(most_bytes: int, keep: Path) -> list[KnownIndex]:
    """Delete the oldest indexes until all together take at most ``most_bytes``; those that were deleted. The one in
    the folder ``keep`` stays, and each that another process is writing, or that cannot be deleted."""
    every = known()
    total = sum(index.bytes for index in every)
    deleted = []
    for index in every:
        if total <= most_bytes:
            break
        if index.directory == keep:
            continue
        with suppress(IndexUnavailable):
            total -= delete(index)
            deleted.append(index)
    return deleted


def _read(entry: Path) -> KnownIndex | None:
    """The index that an entry names; None where that is not, or no longer, an index of findling."""
    try:
        with entry.open("rb") as file:
            row = json.loads(file.read(_ENTRY_BYTES))
        directory, root = Path(row["index"]), Path(row["root"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not _may_be_ours(directory) or entry != _entry(directory) or layout.not_a_folder(directory):
        return None
    return of(directory, root)


def _may_be_ours(directory: Path) -> bool:
    return directory.is_absolute() and (directory.name == STORE_NAME or directory.parent == cache_folder())


def _entry(directory: Path) -> Path:
    return _list() / f"{hashlib.sha256(os.fsencode(directory)).hexdigest()[:32]}.json"


def _list() -> Path:
    return cache_folder() / _LIST

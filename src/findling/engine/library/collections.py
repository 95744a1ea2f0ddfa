"""The list of what is in the library: one small file in the data folder, which several processes may change.

A collection is a folder or a single file of the user's; what is kept of it here is its name, where it is, and where
its index lies. Must not know what is in an index.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import convert, to_builtins
from msgspec.structs import replace

from findling import config
from findling.engine.library.results import iso_date
from findling.engine.small_files import only_writer, read_json, write_json
from findling.model.collection import Collection
from findling.model.errors import IndexNewer, IndexUnavailable, InvalidInput, NotFound, StorageFull

if TYPE_CHECKING:
    from findling.config import Config
    from findling.config.options import Fetch
    from findling.model.collection import Kind


LIST: Final = "library.json"
INDEXES: Final = "indexes"
FORMAT: Final = 1

MAX_NAME: Final = 64
"""Characters of a name: it stands in front of every result."""

_LIST_BYTES: Final = 32_000_000
"""A hundred thousand collections; a larger file was not written here."""

_INDEX = re.compile(r"[a-z0-9][a-z0-9-]{0,80}")
_INDEX_HASH_CHARS: Final = 12
_KEPT: Final = ("name", "path", "kind", "index", "added_at", "removed", "origin")
"""What the file has of a collection; of its index the name of the folder."""

_SAY_LITTLE: Final = frozenset(("doc", "docs", "documentation", "readme.md", "src"))
_ROOM_FOR_NUMBER: Final = 6


class Collections:
    """The list in a data folder. Reading never writes."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._path = directory / LIST
        self._known: tuple[Collection, ...] = ()
        self._state: tuple[int, int, int] | None = None

    def all(self) -> tuple[Collection, ...]:
        """In the order they were added. Raises `IndexUnavailable` for a list that cannot be read."""
        state = self._file_state()
        if state is None:
            return ()
        if state != self._state:
            self._known, self._state = self._read(), state
        return self._known

    def find(self, name: str) -> Collection:
        """By name, else by the path that was added. Raises `NotFound` with the nearest name."""
        every = self.all()
        path = os.path.realpath(name) if name and "\0" not in name else ""
        for collection in (*(c for c in every if c.name == name), *(c for c in every if c.path == path)):
            return collection
        from difflib import get_close_matches

        near = get_close_matches(name, [collection.name for collection in every], 1)
        hint = f"Did you mean {near[0]!r}?" if near else "`findling library list` shows what there is."
        raise NotFound(f"There is no collection called {name[:MAX_NAME]!r}.", remedy=hint)

    @contextmanager
    def changing(self) -> Iterator[dict[str, Collection]]:
        """The collections by name, to be changed; written when the block ends without an error.

        Raises `IndexBusy` when another process takes too long over it.
        """
        with only_writer(self._directory):
            rows = {collection.name: collection for collection in self.all()}
            yield rows
            self._write(rows)
            self._state = None

    def new(self, path: Path, name: str) -> Collection:
        """A collection that is not in the list yet."""
        index = self._directory / INDEXES / index_name(os.fspath(path))
        kind: Kind = "file" if path.is_file() else "folder"
        return Collection(name, os.fspath(path), kind, os.fspath(index), iso_date(time.time()))

    def _file_state(self) -> tuple[int, int, int] | None:
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def _read(self) -> tuple[Collection, ...]:
        try:
            value = read_json(self._path, _LIST_BYTES)
            if value is None:
                return ()
            version = value["version"]
            if isinstance(version, int) and version > FORMAT:
                raise IndexNewer(
                    f"The library's list {self._path} was written by a later version of findling.",
                    remedy="Use that version.",
                )
            return tuple(map(self._collection, convert(value["collections"], list[Collection])))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise IndexUnavailable(
                f"The library's list {self._path} is damaged: {error}.",
                remedy="Move it away and add the collections again; the files that it names are untouched.",
            ) from error

    def _write(self, rows: Mapping[str, Collection]) -> None:
        kept = [{name: getattr(row, name) for name in _KEPT} | {"index": row.directory.name} for row in rows.values()]
        write_json(self._path, {"version": FORMAT, "collections": to_builtins(kept)})

    def _collection(self, row: Collection) -> Collection:
        """A row of the file, if it leads nowhere else: the folder that it names is deleted with it. Raises
        ValueError."""
        if not _INDEX.fullmatch(row.index) or not os.path.isabs(row.path):  # noqa: PTH117
            raise ValueError("a collection has no folder")
        return replace(row, index=os.fspath(self._directory / INDEXES / row.index))


# --- names -----------------------------------------------------------------------------------------------------


def check_name(name: str) -> str:
    """A name that somebody chose. Raises `InvalidInput`."""
    name = name.strip()
    if not name or len(name) > MAX_NAME or not name.isprintable() or "/" in name or "\\" in name:
        raise InvalidInput(
            f"{name[:MAX_NAME]!r} cannot be the name of a collection.",
            remedy=f"Use 1 to {MAX_NAME} printable characters without slashes.",
        )
    return name


def name_for(path: Path, taken: Mapping[str, Collection]) -> str:
    """A name that nobody has yet, after what a path ends with; with the folder above where that says little."""
    own = _in_name(path.name)
    if own.lower() in _SAY_LITTLE and path.parent.name:
        own = f"{_in_name(path.parent.name)}-{own}"
    own = own[: MAX_NAME - _ROOM_FOR_NUMBER] or "files"
    name, number = own, 1
    while name in taken:
        number += 1
        name = f"{own}-{number}"
    return name


def _in_name(text: str) -> str:
    return "".join(char if char.isprintable() and char not in "/\\" else "-" for char in text).strip()


def index_name(path: str) -> str:
    """The folder of an index: the same path always gets the same one."""
    slug = re.sub(r"[^a-z0-9]+", "-", os.path.basename(path).lower()).strip("-")[:40]  # noqa: PTH119
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:_INDEX_HASH_CHARS]
    return f"{slug}-{digest}" if slug else digest


# --- place --------------------------------------------------------------------------------------------------------
# Where the library lies: one folder of the user's, whatever project findling is called from; what lies in it where, and
# how much room is left for what is fetched.

FILES: Final = "files"
"""The folder of what was downloaded."""

PARTS: Final = "parts"
"""The folder of downloads under way."""

REPOSITORIES: Final = "repositories"
"""The folder of repositories: a folder for each."""

TURNS: Final = "turns"
"""The folder of those that wait for each other."""

_NO_PROJECT = Path(os.devnull)
"""Below it there is no file, so no project's configuration has a say."""


def fetch_configuration() -> Config:
    """The user's own configuration: no project says what may be fetched. Raises `ConfigError`."""
    return config.load(_NO_PROJECT).config


def data_directory() -> Path:
    """``FINDLING_DATA_DIR``, else the user's configuration, else the user's data folder by the platform's convention.

    Nothing is made there. Raises `ConfigError`.
    """
    configured = fetch_configuration().library.data_dir
    if configured:
        return Path(configured)
    import platformdirs

    return Path(platformdirs.user_data_dir("findling", appauthor=False))


def size_of(folder: Path) -> int:
    """Bytes of all files below a folder; 0 for one that is not there."""
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(where, name)).st_size  # noqa: PTH118
            except OSError:
                continue  # it was renamed or removed meanwhile
    return total


class Quota:
    """``most`` bytes for all of ``folders`` together. Raises `StorageFull` at once when they are used up."""

    def __init__(self, folders: tuple[Path, ...], most: int) -> None:
        self._most = most
        self._left = most - sum(map(size_of, folders))
        self.take(0)

    def take(self, size: int) -> None:
        """``size`` bytes more are on the disk, or about to be. Raises `StorageFull` when they are too many."""
        self._left -= size
        if self._left <= 0:
            raise StorageFull(
                f"Everything fetched takes more than the {self._most:,} bytes allowed.",
                remedy="`findling library remove NAME` makes room; the limit is fetch.max_total_bytes.",
            )


def fetched_quota(directory: Path, fetching: Fetch) -> Quota:
    """The quota of the library in ``directory``. Raises `StorageFull` when nothing is left of it."""
    return Quota(tuple(directory / name for name in (FILES, PARTS, REPOSITORIES)), fetching.max_total_bytes)

"""Where the library lies: one folder of the user's, whatever project findling is called from; what lies in it where,
and how much room is left for what is fetched.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from findling import config
from findling.model.errors import StorageFull

if TYPE_CHECKING:
    from findling.config import Config
    from findling.config.options import Fetch

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
                remedy="`findling library remove` makes room; the limit is fetch.max_total_bytes.",
            )


def fetched_quota(directory: Path, fetching: Fetch) -> Quota:
    """The quota of the library in ``directory``. Raises `StorageFull` when nothing is left of it."""
    return Quota(tuple(directory / name for name in (FILES, PARTS, REPOSITORIES)), fetching.max_total_bytes)

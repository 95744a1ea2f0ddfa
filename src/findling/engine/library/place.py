"""Where the library lies: one folder of the user's, whatever project findling is called from; what lies in it where."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from findling import config

if TYPE_CHECKING:
    from findling.config import Config

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

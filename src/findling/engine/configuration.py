"""What the configuration says of a root, read when it is first asked for. Knows no index.

Most roots have none. Then every part's own default holds, and the configuration is not even imported: that would cost
a search a tenth of its start.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from findling import config, reading, sources

if TYPE_CHECKING:
    from findling.config import Config
    from findling.engine.small_files import Turns
    from findling.reading.limits import ChunkLimits, DocLimits
    from findling.sources.selection import DiscoveryOptions

CONFIG_FILES = ("findling.toml", ".findling/config.toml", ".findling/config.json", ".repo_search/config.json")
"""The configuration files of a project (`findling.config.sources`)."""

VARIABLES = "FINDLING_"
"""The prefix of findling's environment variables."""


class Recipe(Struct, frozen=True):
    """Which files an index holds and how documents are cut, where the library decides it and not the configuration.
    ``pages``: web pages are read as people see them. ``turns`` bound how many indexes are brought up to date at once
    (``runs``), and given vectors (``embedding``)."""

    wanted: DiscoveryOptions
    docs: DocLimits
    workers: int | None = None
    pages: bool = False
    turns: Mapping[Literal["runs", "embedding"], Turns] = {}


class Configuration:
    """The configuration of one root. ``notes`` collects the loader's warnings. Each property raises `ConfigError`.

    A ``recipe`` is taken instead of what the configuration says of the same; a ``config`` instead of what would be
    read.
    """

    def __init__(
        self, root: Path, notes: list[str], recipe: Recipe | None = None, config: Config | None = None
    ) -> None:
        self._root = root
        self._notes = notes
        self.given = config
        self.recipe = recipe

    @cached_property
    def config(self) -> Config | None:
        """None where nothing is configured, so that every default holds."""
        if self.given is not None or not self._exists():
            return self.given
        loaded = config.load(self._root)
        self._notes += loaded.warnings
        return loaded.config

    @property
    def effective(self) -> Config:
        """`config`, or one of all defaults."""
        if self.config is not None:
            return self.config
        return config.Config()

    def check(self) -> None:
        """Read it now if it was not read yet, so that what is wrong with it comes before anything is done."""
        _ = self.config

    def read_again(self) -> None:
        """Forget what was read: it may have changed since."""
        for name in ("config", "wanted", "limits"):
            self.__dict__.pop(name, None)

    @cached_property
    def wanted(self) -> DiscoveryOptions:
        """Which files are wanted."""
        if self.recipe is not None:
            return self.recipe.wanted
        if self.config is None:
            return sources.DiscoveryOptions()
        index = self.config.index
        return sources.DiscoveryOptions(
            index.hidden,
            index.max_file_bytes,
            index.include,
            index.exclude,
            max_document_bytes=index.max_document_bytes,
        )

    @cached_property
    def limits(self) -> ChunkLimits:
        """How files are cut."""
        if self.config is None:
            recipe = self.recipe
            return reading.ChunkLimits(recipe.docs, pages=recipe.pages) if recipe else reading.ChunkLimits()
        semantic = self.config.semantic
        docs = self.recipe.docs if self.recipe else reading.DocLimits(semantic.chunk_size, semantic.chunk_overlap)
        pages = self.recipe is not None and self.recipe.pages
        return reading.ChunkLimits(docs, semantic.chunk_max_lines, semantic.chunk_overlap_lines, pages)

    @property
    def chunking(self) -> str:
        """The id of `limits`; '' for the default ones, without an import."""
        return "" if self.config is None and self.recipe is None else self.limits.id

    @property
    def workers(self) -> int | None:
        """How many processes read files; None leaves it to the indexer."""
        return self.recipe.workers if self.recipe else None

    @property
    def searches_by_meaning(self) -> bool:
        return self.config is None or self.config.semantic.enabled is not False

    @property
    def store_url(self) -> str | None:
        """The address of the shared store that holds the index; None for one on this machine."""
        return self.config.store.url if self.config is not None and self.recipe is None else None

    @property
    def collections(self) -> tuple[str, ...]:
        """What of the shared store is searched instead of this folder's own view."""
        return self.config.store.collections if self.config is not None else ()

    @property
    def person(self) -> str:
        """The user of the shared store for whom it is asked; '' for whoever the database's role is."""
        return self.config.person if self.config is not None else ""

    @property
    def auto_index(self) -> bool:
        """Whether a question may take in what changed."""
        return self.config is None or self.config.semantic.auto_index

    @property
    def background(self) -> bool:
        """Whether a question may leave a process behind that finishes the index."""
        if self.recipe is not None or os.environ.get("CI") or not self.auto_index:
            return False
        return self.config is None or self.config.index.background

    @property
    def most_bytes_of_all(self) -> int | None:
        """What the indexes of all folders may take together; None without a limit; indexes of the library have none."""
        return None if self.config is None or self.recipe is not None else self.config.index.max_total_bytes

    def _exists(self) -> bool:
        """Whether any configuration file or variable exists."""
        if any(value and name.startswith(VARIABLES) for name, value in os.environ.items()):
            return True
        base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")  # noqa: PTH111, PTH118
        users = [Path(base) / "findling" / name for name in ("config.toml", "config.json")]
        return any(map(_may_exist, (*(self._root / name for name in CONFIG_FILES), *users)))


def _may_exist(path: Path) -> bool:
    """Whether there is a file, or one cannot look: then whoever reads it says why not."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True

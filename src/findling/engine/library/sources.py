"""One place that a library search looks in: a collection, or the documents of a root. For one thread.

Brings its index up to date within a given time, and says what it could not do. Must not know other sources.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from findling.engine.library.reading import IndexedPassages

if TYPE_CHECKING:
    from findling.engine import Engine
    from findling.model.types import Progress, SearchResult


@dataclass(slots=True)
class Source:
    """``name`` is shown with every result. ``kind``: only files of this kind, None for all. ``fetched``: they came
    from elsewhere."""

    name: str
    engine: Engine
    kind: str | None = None
    fetched: bool = False
    passages: IndexedPassages = field(init=False)
    left: tuple[str, ...] = field(init=False, default=())
    """What the last `freshen` did not take in, in words; empty where that is nothing."""

    def __post_init__(self) -> None:
        self.passages = self._passages()

    @property
    def root(self) -> Path:
        return self.engine.root

    def absolute(self, path: str) -> str:
        """A path of the index as the library writes it."""
        return os.fspath(self.root / path)

    def relative(self, path: str) -> str | None:
        """An absolute path as the index writes it, None when it does not lie in the root."""
        normal = os.path.normpath(path)
        for base, named in ((self.root, Path(normal)), (self.root, Path(os.path.realpath(normal)))):
            if named.is_relative_to(base):
                return named.relative_to(base).as_posix()
        return None

    def freshen(self, query: str, wait_s: float | None, progress: Callable[[Progress], None] | None) -> None:
        """Take in what changed on disk within ``wait_s`` (None: all of it), and note in ``left`` what is left.

        Raises the index's errors.
        """
        freshness, why = self.engine.refresh(query=query, wait_s=wait_s, progress=progress)
        if self.passages.store_dir != self.engine.store_dir:  # it moved to where it can be written
            self.passages.close()
            self.passages = self._passages()
        unfresh = "" if freshness == "fresh" else why or "not all changes are taken in"
        self.left = tuple(filter(None, (self.passages.pending(), unfresh)))

    def by_words(self, query: str, limit: int) -> SearchResult:
        """The places that have the words of a text, one for each file."""
        return self.engine.search(query, mode="keyword", limit=limit, kind=self.kind, wait_s=0)

    def close(self) -> None:
        """Close what this opened; the engine is its owner's."""
        self.passages.close()

    def _passages(self) -> IndexedPassages:
        return IndexedPassages(
            self.engine.store_dir,
            self.engine.root,
            self.engine.embedder_opener(documents=True),
            folder=self.engine.scope,
            kind=self.kind,
            key=self.engine.manifest_key,
            new_files=self.engine.new_files,
        )

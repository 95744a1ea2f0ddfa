"""One place that a library search looks in: a collection, or the documents of a root. For one thread.

Brings its index up to date within a given time, and says what it could not do. Must not know other sources.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from findling.library.reading import IndexedPassages

if TYPE_CHECKING:
    from findling.engine import Engine
    from findling.types import Progress, SearchResult


@dataclass(slots=True)
class Source:
    """``name`` is shown with every result. ``kind``: only files of this kind, None for all. ``fetched``: they came
    from elsewhere."""

    name: str
    engine: Engine
    kind: str | None = None
    fetched: bool = False
    passages: IndexedPassages = field(init=False)

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

    def freshen(self, query: str, wait_s: float | None, progress: Callable[[Progress], None] | None) -> str:
        """Take in what changed on disk within ``wait_s`` (None: all of it); what is not indexed then, '' for nothing.

        Raises the index's errors.
        """
        self.engine.refresh(query=query, wait_s=wait_s, progress=progress)
        if self.passages.store_dir != self.engine.store_dir:  # it moved to where it can be written
            self.passages.close()
            self.passages = self._passages()
        return self.passages.pending()

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

"""One index opened for questions: its reader, the embedder that they are asked with, and the channel of both.

Each is opened when it is first needed, and anew when it is another by then. Belongs to one thread. Must not know who
asks, nor which embedder is the right one.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from findling.embedding.lazy import LazyEmbedder
from findling.engine.kept_channel import KeptChannel
from findling.model import errors
from findling.store.reader import IndexReader
from findling.store.schema import DATABASE

if TYPE_CHECKING:
    from findling.embedding import Embedder
    from findling.model.errors import EmbedderUnavailable
    from findling.search.semantic import SemanticChannel


class OpenIndex:
    """``key``: whose manifest of the store in ``store_dir`` is read, as `Engine.manifest_key`. ``open_embedder``: as
    `Engine.embedder_opener` gives it."""

    def __init__(
        self,
        store_dir: Path,
        key: tuple[str, str],
        open_embedder: Callable[[str | None], Embedder],
    ) -> None:
        self.store_dir = store_dir
        self._key = key
        self._reader: IndexReader | None = None
        self.vectors = OpenVectors(self, open_embedder)

    @property
    def reader(self) -> IndexReader | None:
        """None when nothing was ever indexed here."""
        if self._reader is not None and self._reader.replaced:
            self.close()
        if self._reader is None and (self.store_dir / DATABASE).exists():
            self._reader = IndexReader(self.store_dir, *self._key)
        return self._reader

    def close(self) -> None:
        """It can be opened again by asking."""
        if self._reader is not None:
            self._reader.close()
        self._reader = None
        self.vectors.forget_reader()


class OpenVectors:
    """An index's vectors of one embedder."""

    def __init__(self, index: OpenIndex, open_embedder: Callable[[str | None], Embedder]) -> None:
        self._index = index
        self._lazy = LazyEmbedder(open_embedder, self.stored)
        self._channel = KeptChannel()

    @property
    def embedder(self) -> Embedder | None:
        """None when none answers; then `failure` says why."""
        return self._lazy.get()

    @property
    def failure(self) -> EmbedderUnavailable | None:
        """Why there is none, as far as is known."""
        return self._lazy.failure

    @property
    def channel(self) -> SemanticChannel | None:
        """None without an embedder or without vectors of it. To be asked for before the reader's snapshot begins."""
        reader, embedder = self._index.reader, self.embedder
        if reader is None or embedder is None:
            return None

        def model_id(fingerprint: str) -> int | None:
            with reader.snapshot():
                return reader.model_id(fingerprint)

        return self._channel.of(reader, embedder, model_id)

    def stored(self) -> str | None:
        """The id of the model of the index's newest vectors; of an index that cannot be read there are none."""
        try:
            reader = self._index.reader
            return reader.latest_fingerprint() if reader is not None else None
        except errors.IndexUnavailable:
            return None

    def forget_reader(self) -> None:
        """What was made of a reader that is closed."""
        self._channel.forget()
        self._lazy.let_go()

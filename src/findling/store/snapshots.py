"""One connection that reads one generation of a store at a time, and the derived indexes beside it.

What is read is remembered until another generation is committed, within a bound, so that a process that answers
many queries touches the disk only for what is new to it. Must not know what the rows mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from findling.store import connections, fulltext, fulltext_files, layout, schema
from findling.store.schema import DATABASE, FULLTEXT, TRIGRAMS

if TYPE_CHECKING:
    from findling.store.trigrams import TrigramIndex

_BATCH = 500
"""Ids per statement."""

_WRITTEN = "SELECT key, value FROM meta WHERE key IN ('generation', 'only_vectors')"

_Row = TypeVar("_Row")


class SnapshotReader:
    """Reads one store. Not to be shared between threads."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        before = layout.file_id(directory / DATABASE)  # another may take its place from here on
        self._db, self._only_now = connections.connect_to_read(directory / DATABASE)
        self.identity = schema.identity(self._db)
        self._inode = before or layout.file_id(directory / DATABASE)
        self._text: fulltext.FulltextReader | None = None
        self._trigrams: TrigramIndex | None = None
        self.generation = -1
        self._contents = -1
        """As ``generation``, but the same after writing only vectors."""

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything read inside belongs to one generation."""
        try:
            with connections.rows_of(self._directory / DATABASE):
                self._db.execute("BEGIN")
                written: dict[Any, Any] = dict(self._db.execute(_WRITTEN))
                generation = int(written.get("generation") or 0)
                contents = generation - int(written.get("only_vectors") or 0)
                if contents != self._contents or self._remembers_much:
                    self._forget()
                elif generation != self.generation:
                    self._forget_vectors()
                self.generation, self._contents = generation, contents
                yield
        finally:
            with suppress(apsw.Error):  # nothing was written, and what went wrong was said above
                if self._db.in_transaction:
                    self._db.execute("COMMIT")

    @property
    def _remembers_much(self) -> bool:
        """Whether what is remembered has reached its bound."""
        return False

    def _forget(self) -> None:
        """Forget what belongs to a generation."""
        self._forget_vectors()

    def _forget_vectors(self) -> None:
        """Forget what may be other when vectors were written, and look at the derived indexes anew."""
        if self._text is not None:
            self._text.reload()
        if self._trigrams is not None:
            self._trigrams.refresh()

    @property
    def chunking(self) -> str | None:
        """The sizes that the files were cut by, '' for the default ones; None while there are none.

        Within a snapshot.
        """
        filled = self._value("SELECT 1 FROM entries LIMIT 1") is not None
        return schema.chunking(self._db) if filled else None

    def close(self) -> None:
        self._db.close()
        if self._trigrams is not None:
            self._trigrams.close()
        self._trigrams = self._text = None

    @property
    def replaced(self) -> bool:
        """Whether another file stands where this one was opened (the store was deleted, or built anew), or may soon."""
        return self._only_now or layout.file_id(self._directory / DATABASE) != self._inode

    @property
    def fulltext(self) -> fulltext.FulltextReader:
        """Raises `IndexUnavailable` when it is missing or damaged; then the store must be built anew."""
        if self._text is None:
            directory = self._directory / FULLTEXT
            if not fulltext_files.usable(directory, self.identity):
                raise schema.TextIndexLost(f"The text index at {directory} is missing or damaged.")
            self._text = fulltext.FulltextReader(directory)
        return self._text

    @property
    def trigrams(self) -> TrigramIndex:
        if self._trigrams is None:
            from findling.store.trigrams import TrigramIndex

            self._trigrams = TrigramIndex(self._directory / TRIGRAMS, self.identity)
        return self._trigrams

    @property
    def directory(self) -> Path:
        return self._directory

    def bytes_on_disk(self) -> int:
        """Size of everything in the store's folder."""
        return layout.bytes_on_disk(self._directory)

    def _remember(
        self, cache: dict[int, _Row], ids: Iterable[int], read: Callable[[str], Iterable[tuple[int, _Row]]]
    ) -> dict[int, _Row]:
        wanted = list(ids)
        missing = [key for key in wanted if key not in cache]
        for batch in batches(missing):
            cache.update(read(batch))
        return {key: cache[key] for key in wanted if key in cache}

    def _value(self, sql: str, *values: Any) -> Any:
        row = self._db.execute(sql, values).fetchone()
        return row[0] if row else None


def batches(ids: Iterable[int]) -> Iterator[str]:
    """The ids as SQL lists. They are integers of our own, so they need no binding."""
    wanted = list(ids)
    for start in range(0, len(wanted), _BATCH):
        yield ",".join([f"{key:d}" for key in wanted[start : start + _BATCH]])

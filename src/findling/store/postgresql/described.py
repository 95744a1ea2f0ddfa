"""What is known of views beside what a search asks: the models that made vectors, and what was left out and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from findling.model.rows import ModelRow
    from findling.store.postgresql.reader import PostgresIndex

_AT_ONCE: Final = 200
"""Files whose vectors are brought together."""


class Models:
    """The models whose vectors the views have. The same questions as `local.models.Models` takes."""

    def __init__(self, index: PostgresIndex) -> None:
        self._index = index

    def get(self, model_id: int) -> ModelRow | None:
        return next((model for model in self._index.totals.models if model.model_id == model_id), None)

    def id_of(self, fingerprint: str) -> int | None:
        found = (model.model_id for model in self._index.totals.models if model.fingerprint == fingerprint)
        return next(found, None)

    def latest(self, *, docs: bool = True) -> int | None:
        """The model that made vectors last; None without any."""
        models = self._index.totals.models
        return models[-1].model_id if models else None

    def every(self, name: str | None = None) -> list[ModelRow]:
        """The models with vectors, the newest last; with a ``name`` those with this name or fingerprint."""
        return [model for model in self._index.totals.models if name in (None, model.name, model.fingerprint)]

    def latest_of_documents(self) -> int | None:
        """Of the models that are to make vectors of documents, the one that was used last; None for none."""
        return next((model.model_id for model in reversed(self._index.totals.models) if model.docs), None)

    def live_vectors(self, model_id: int) -> Iterator[tuple[int, int, int, bytes]]:
        """(a number of its own, entry id, seconds since 1970, vectors) of the files, by path."""
        index = self._index
        every = index.embedded_entries(model_id)
        for start in range(0, len(every), _AT_ONCE):
            some = every[start : start + _AT_ONCE]
            entries = [entry for entry, _, _ in some]
            index.forget()
            index.ahead(
                lambda index, entries=entries: index.files(entries),  # type: ignore[misc]
                lambda index, some=some: [index.chunks(content) for _, content, _ in some],  # type: ignore[misc]
            )
            vectors = index.packed_vectors(entries, model_id)
            yield from ((entry, entry, made_at, vectors[entry]) for entry, _, made_at in some)

    def count_unembedded(self, model_id: int) -> int:
        """Number of files that lack vectors which they should have."""
        model = self.get(model_id)
        return self._index.lacking_vectors(model) if model is not None else len(self._index.listing())

    def stored(self, entry_ids: Iterable[int], model_id: int) -> dict[int, bytes]:
        """As they are kept (`vector_codes`), one after the other in chunk order; entries without are absent."""
        return self._index.packed_vectors(entry_ids, model_id)

    def embedded_chunks(self, model_id: int | None) -> int:
        """How many chunks have a vector of the model."""
        model = self.get(model_id) if model_id is not None else None
        return model.chunks if model is not None else 0


class Listed:
    """What the last run found in the folders. The same questions as `local.listed.Listed` takes."""

    def __init__(self, index: PostgresIndex) -> None:
        self._index = index

    any_unread = False
    """Who reads is not who could try again."""

    def known_files(self) -> dict[str, tuple[int, int]]:
        """path -> (size, 0) of every file that is indexed: what it is like on the disk that it came from is nothing to
        who reads."""
        return {file.path: (file.size, 0) for file in self._index.listing()}

    def tree(self) -> None:
        """The folders that were listed; a store knows those of its files only."""

    def state_of(self, path: str) -> tuple[int, int] | None:
        """Size and stamp of a file on the disk that it was published from."""
        return self._index.state_at(path)

    def skipped(self) -> list[tuple[str, str, str]]:
        """(path, reason, detail) of every file that was left out."""
        return self._index.left_out()

    def skipped_counts(self) -> dict[str, int]:
        return dict(self._index.totals.skipped)

    def totals(self) -> dict[str, int]:
        """Sums over all files for a status report."""
        totals = self._index.totals
        return {"symbols": totals.symbols, "bytes": totals.size}

    def languages(self) -> dict[str, int]:
        """Files per language."""
        return self._index.languages()

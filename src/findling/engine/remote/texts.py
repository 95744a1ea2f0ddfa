"""The texts of a view, read from the store: one by one as files, and many together for an exact search."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import TYPE_CHECKING, Self

from findling import search
from findling.model.text_encodings import TextFilter, as_utf8
from findling.outbound.files import Files, NotRead

if TYPE_CHECKING:
    from findling.model.trigram_plan import TrigramPlan
    from findling.search.exact import FileRef, Scope
    from findling.store.postgresql import PostgresIndex

_TEXTS_AT_ONCE = 200
"""Texts that are brought together for an exact search."""


class Texts(search.IndexedFiles):
    """The files of a view for an exact search; their texts come many at a time, in the order in which they are read."""

    def __init__(self, index: PostgresIndex, files: Files, folder: str, *, max_bytes: int, lasting: bool) -> None:
        super().__init__(index, files, folder, max_bytes=max_bytes, lasting=lasting)
        self._index = index
        self._places: dict[int, int] = {}
        self._order: list[int] = []

    def candidate_files(self, plan: TrigramPlan, scope: Scope) -> Iterator[FileRef]:
        found = list(super().candidate_files(plan, scope))
        self._order = list(dict.fromkeys(ref.blob_id for ref in found))
        self._places = {content: place for place, content in enumerate(self._order)}
        yield from found

    def read(self, ref: FileRef, of_use: TextFilter | None = None) -> bytes | None:
        first = self._places.get(ref.blob_id, 0)
        following = [ref.blob_id, *self._order[first : first + _TEXTS_AT_ONCE]]
        with self._index.snapshot():
            self._index.ahead(lambda index: [index.doc_text(content) for content in following])
            data = self._index.doc_text(ref.blob_id)
        return None if data is None else as_utf8(data, of_use=of_use)


class StoreFiles:
    """The texts of a view as files: what was published is what is read. For one thread."""

    def __init__(self, index: PostgresIndex) -> None:
        self._index = index

    def read(self, path: str, max_bytes: int) -> tuple[os.stat_result, bytes] | NotRead:
        with self._index.snapshot():
            file = self._index.file_at(path)
            text = self._index.doc_text(file.blob_id) if file is not None else None
        if file is None or text is None:
            return NotRead("not_found", "it is not in the store")
        values = (stat.S_IFREG | 0o444, 0, 0, 1, 0, 0, len(text), 0, 0, 0)
        # in place of a time what tells this content from others at its path
        return os.stat_result(values, {"st_mtime_ns": file.blob_id, "st_ctime_ns": 0}), text

    def status(self, path: str) -> os.stat_result | NotRead:
        read = self.read(path, 0)
        return read if isinstance(read, NotRead) else read[0]

    def close(self) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

"""The text that an answer shows: read from the file as it is now, and compared with what was indexed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from findling.engine.store import OpenStore
from findling.model.rows import FileRow
from findling.model.types import SkippedFile
from findling.outbound.files import Files, NotRead, stamp_of
from findling.reading.decoding import Decoded, decode
from findling.sources.looking import read_file

if TYPE_CHECKING:
    from findling.engine.store import OpenStore
    from findling.model.rows import FileRow

TEXT_BYTES = 2_000_000
"""Text of files shown lately that is kept, so that asking on does not read them again. In one piece: cut into lines
it takes four times as much, in pieces that keep the memory around them from being given back."""


class ShownText:
    """``stale``: paths read for the last `answer`, and since, whose content is no longer what was indexed."""

    def __init__(self, store: OpenStore) -> None:
        self._store = store
        self._texts: dict[str, tuple[tuple[int, int], str]] = {}
        self._bytes = 0
        self.stale: set[str] = set()
        self._cut: dict[str, Sequence[str] | None] | None = None
        store.on_close.append(self._forget)

    @contextmanager
    def answer(self) -> Iterator[None]:
        """Within it a file is looked at once, however often its lines are asked for; ``stale`` begins empty."""
        self.stale.clear()
        self._cut = {}
        try:
            yield
        finally:
            self._cut = None

    def lines(self, file: FileRow) -> Sequence[str] | None:
        """A file's lines as they are now, None when it cannot be read."""
        if self._cut is None:
            return self._read(file)
        if file.path not in self._cut:
            self._cut[file.path] = self._read(file)
        return self._cut[file.path]

    def _read(self, file: FileRow) -> Sequence[str] | None:
        if file.converted:
            return self._converted(file)
        state = self._store.state_of(file.path)
        known = self._texts.get(file.path)
        with self._store.open_files() as files:
            if known is not None and known[0] == state:
                status = files.status(file.path)
                if not isinstance(status, NotRead) and state == (status.st_size, stamp_of(status)):
                    return known[1].split("\n")
            read = read_file(files, file.path, self._store.configuration.wanted.max_bytes)
        if isinstance(read, SkippedFile):
            self.stale.add(file.path)
            return None
        now = (read[0].size, read[0].stamp)
        if not is_as_indexed(state, *now):
            self.stale.add(file.path)
        decoded = decode(read[1])
        if not isinstance(decoded, Decoded):
            return None
        self._remember(file.path, now, decoded.text)
        return decoded.text.split("\n")

    def _converted(self, file: FileRow) -> Sequence[str] | None:
        """The lines of the text that a document was converted to; only whether it has changed is asked of the disk."""
        with self._store.open_files() as files:
            found = converted_text(self._store, files, file)
        if isinstance(found, NotRead) or not found.unchanged:
            self.stale.add(file.path)
        return None if isinstance(found, NotRead) or found.text is None else found.text.split("\n")

    def _remember(self, path: str, state: tuple[int, int], text: str) -> None:
        if state[0] > TEXT_BYTES // 8:
            return
        self._drop(path)
        self._texts[path] = (state, text)
        self._bytes += state[0]
        while self._bytes > TEXT_BYTES:
            self._drop(next(iter(self._texts)))

    def _drop(self, path: str) -> None:
        if (known := self._texts.pop(path, None)) is not None:
            self._bytes -= known[0][0]

    def _forget(self) -> None:
        self._texts.clear()
        self._bytes = 0


_MARK_NS = 1
"""How a file is remembered that was read too soon after it was written: a nanosecond off (`sources.contents`)."""


def is_as_indexed(state: tuple[int, int] | None, size: int, stamp: int) -> bool:
    """Whether a file's size and `files.stamp_of` are those that the index has (``state``, None for a file that it
    does not have).

    Only for what is shown: what is to be indexed is compared exactly, because such a file is to be looked at again.
    """
    return state is not None and state[0] == size and abs(state[1] - stamp) <= _MARK_NS


class ConvertedText(NamedTuple):
    """``text`` is None where the index has none; ``status`` is the file's as it is now."""

    text: str | None
    status: os.stat_result
    unchanged: bool


def converted_text(store: OpenStore, files: Files, file: FileRow) -> ConvertedText | NotRead:
    """The text that a document was converted to; `NotRead` where its file is gone. Within the index's snapshot."""
    status = files.status(file.path)
    if isinstance(status, NotRead):
        return status
    text = store.index.doc_text(file.blob_id)
    unchanged = is_as_indexed(store.state_of(file.path), status.st_size, stamp_of(status))
    return ConvertedText(None if text is None else text.decode("utf-8", "replace"), status, unchanged)

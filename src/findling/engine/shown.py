"""The text of a file as it is now, compared with what was indexed, and the lines of it that an answer shows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from findling.engine.store import OpenStore
from findling.model.rows import FileRow
from findling.outbound.files import Files, NotRead, stamp_of
from findling.reading.decoding import Decoded, decode

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
        state = self._store.state_of(file.path)
        known = self._texts.get(file.path)
        with self._store.open_files() as files:
            if known is not None and known[0] == state:
                status = files.status(file.path)
                if not isinstance(status, NotRead) and state == (status.st_size, stamp_of(status)):
                    return known[1].split("\n")
            now = text_now(self._store, files, file, self._store.configuration.wanted.max_bytes)
        if now is None or not now.unchanged:
            self.stale.add(file.path)
        if now is None:
            return None
        if not file.converted:
            self._remember(file.path, (now.status.st_size, stamp_of(now.status)), now.text)
        return now.text.split("\n")

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
"""How a file is remembered that was read too soon after it was written: a nanosecond off (`looking.read_file`)."""


def is_as_indexed(state: tuple[int, int] | None, size: int, stamp: int) -> bool:
    """Whether a file's size and `files.stamp_of` are those that the index has (``state``, None for a file that it
    does not have).

    Only for what is shown: what is to be indexed is compared exactly, because such a file is to be looked at again.
    """
    return state is not None and state[0] == size and abs(state[1] - stamp) <= _MARK_NS


class TextNow(NamedTuple):
    """The text of a file as it is now, of a converted document what the index keeps of it; ``unchanged``: it is what
    was indexed."""

    text: str
    status: os.stat_result
    unchanged: bool


def text_now(store: OpenStore, files: Files, file: FileRow, max_bytes: int) -> TextNow | None:
    """None where the file is gone, longer than ``max_bytes``, or no text any more. Within the index's snapshot."""
    if file.converted:
        status = files.status(file.path)
        data = store.index.doc_text(file.blob_id)
        if isinstance(status, NotRead) or data is None:
            return None
        text = data.decode("utf-8", "replace")
    else:
        read = files.read(file.path, max_bytes)
        decoded = None if isinstance(read, NotRead) else decode(read[1])
        if isinstance(read, NotRead) or not isinstance(decoded, Decoded):
            return None
        status, text = read[0], decoded.text
    return TextNow(text, status, is_as_indexed(store.state_of(file.path), status.st_size, stamp_of(status)))

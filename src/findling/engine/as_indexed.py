"""Is a file still what was indexed, and what is the text that the index keeps of a converted document.

Asks the disk for a file's status and nothing else. Must not know who shows the text.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from findling.model.rows import FileRow
from findling.outbound.files import Files, NotRead, stamp_of

if TYPE_CHECKING:
    from findling.engine.store import OpenStore

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

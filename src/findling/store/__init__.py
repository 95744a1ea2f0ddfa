"""Where an index is kept, and what it proposes for a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.store.lock import WriterLock
    from findling.store.reader import IndexReader
else:
    __getattr__ = front_door(
        __name__,
        {
            "lock": "WriterLock",
            "reader": "IndexReader",
        },
    )

__all__ = ["IndexReader", "WriterLock"]

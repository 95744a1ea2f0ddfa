"""Where an index is kept, and what it proposes for a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.store import soundness, sqlite_check
    from findling.store.layout import DATABASE
    from findling.store.lock import WriterLock
    from findling.store.reader import IndexReader
    from findling.store.schema import FORMAT_VERSION
else:
    __getattr__ = front_door(
        __name__,
        {
            "layout": "DATABASE",
            "lock": "WriterLock",
            "reader": "IndexReader",
            "schema": "FORMAT_VERSION",
            "soundness": "",
            "sqlite_check": "",
        },
    )

__all__ = ["DATABASE", "FORMAT_VERSION", "IndexReader", "WriterLock", "soundness", "sqlite_check"]

"""Where an index is kept, and what it proposes for a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.store import soundness, sqlite_check
    from findling.store.dense import DenseIndex
    from findling.store.dense_files import may_be_due
    from findling.store.layout import DATABASE
    from findling.store.lock import WriterLock
    from findling.store.reader import IndexReader
    from findling.store.schema import FORMAT_VERSION
    from findling.store.sqlite_export import export, exported
    from findling.store.writer import IndexWriter
else:
    __getattr__ = front_door(
        __name__,
        {
            "dense": "DenseIndex",
            "dense_files": "may_be_due",
            "layout": "DATABASE",
            "lock": "WriterLock",
            "reader": "IndexReader",
            "schema": "FORMAT_VERSION",
            "soundness": "",
            "sqlite_check": "",
            "sqlite_export": "export exported",
            "writer": "IndexWriter",
        },
    )

__all__ = [
    "DATABASE",
    "FORMAT_VERSION",
    "DenseIndex",
    "IndexReader",
    "IndexWriter",
    "WriterLock",
    "export",
    "exported",
    "may_be_due",
    "soundness",
    "sqlite_check",
]

"""An index in a folder: SQLite has the rows, a text index and files of sign bits propose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.store.local import soundness
    from findling.store.local.dense import DenseIndex
    from findling.store.local.dense_files import may_be_due
    from findling.store.local.layout import DATABASE
    from findling.store.local.lock import WriterLock
    from findling.store.local.reader import IndexReader
    from findling.store.local.schema import FORMAT_VERSION
    from findling.store.local.sqlite_export import export, exported
    from findling.store.local.writer import IndexWriter
else:
    __getattr__ = front_door(__name__)

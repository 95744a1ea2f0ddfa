"""A collection as it stands: what is indexed of it, whether it is there. Looks, and changes nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from findling import store
from findling.engine.library.results import CHARS_PER_TOKEN, CollectionStatus, State
from findling.model.errors import FindlingError
from findling.store.layout import DATABASE

if TYPE_CHECKING:
    from findling.engine.library.collections import Collection
    from findling.model.types import Status


def standing(collection: Collection, status: Status) -> CollectionStatus:
    """Of one that is there, from its index's own status."""
    return _row(
        collection,
        status.indexing_status,
        fresh=status.freshness == "fresh",
        files=status.coverage.files,
        chunks=status.coverage.chunks,
        embedded_chunks=status.coverage.embedded_chunks,
        tokens=-(-status.bytes_indexed // CHARS_PER_TOKEN),
        bytes_on_disk=status.bytes_on_disk,
        last_indexed_at=status.last_indexed_at,
        model=status.model,
        skipped=status.coverage.skipped,
        notes=status.notes,
    )


def missing(collection: Collection, folder: Path) -> CollectionStatus:
    """Of one that is not there; ``folder`` holds its index."""
    files, chunks = counts(collection, folder)
    note = f"{collection.path} is not there; the index is kept."
    return _row(collection, "missing", files=files, chunks=chunks, notes=(note,))


def failed(collection: Collection, problem: str) -> CollectionStatus:
    return _row(collection, "failed", notes=(problem,))


def counts(collection: Collection, folder: Path) -> tuple[int, int]:
    """(files, chunks) of the index in ``folder``; nothing for one that cannot be read."""
    if not (folder / DATABASE).exists():
        return 0, 0
    try:
        reader = store.IndexReader(folder, os.fspath(collection.root))
    except FindlingError:
        return 0, 0
    try:
        with reader.snapshot():
            manifest = reader.manifest
        return (manifest.files, manifest.chunks) if manifest else (0, 0)
    except FindlingError:
        return 0, 0
    finally:
        reader.close()


def _row(collection: Collection, state: State, **facts: Any) -> CollectionStatus:
    removed = len(collection.removed)
    return CollectionStatus(collection.name, collection.path, collection.kind, state, removed=removed, **facts)

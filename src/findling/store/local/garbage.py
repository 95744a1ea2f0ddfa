"""Rows that no manifest needs any more: which, and their deletion. Functions of the writer's connection."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import apsw

from findling.model.rows import squashed
from findling.store import parts
from findling.store.local.schema import WITHOUT_TEXT

KEEP_UNREFERENCED = 2000
"""Entries of no manifest that are kept anyway: switching a branch back and forth should cost nothing."""

KEEP_SHARE = 0.25
"""Of the largest manifest's files: so many at most, since the text index counts their words as well."""

_MOST_PER_PATH, _KEEP_PER_PATH = 2, 1
"""Earlier versions of one file: above the first number all but the second are deleted. The last one's vectors serve
what is the same in the new one; more of them would crowd the file itself out of what the text index proposes."""


_WAITED_FOR = f"""SELECT e.entry_id FROM entries e
CROSS JOIN entries n ON n.path = e.path AND n.docs < {WITHOUT_TEXT}
CROSS JOIN manifests r CROSS JOIN manifest_files m ON m.manifest_id = r.manifest_id AND m.entry_id = n.entry_id
WHERE e.docs >= {WITHOUT_TEXT} AND EXISTS (SELECT 1 FROM vectors v WHERE v.entry_id = e.entry_id)
AND NOT EXISTS (SELECT 1 FROM vectors w WHERE w.entry_id = n.entry_id AND w.model_id > 0)"""
"""Entries that were taken in again when the text index was lost, as long as the new ones have no vectors."""


SHRINK_SHARE = 0.1
"""Of all entries: when so many are deleted at once, it is worth giving their room back to the disk."""

SOON_SHRUNK_BYTES = 20_000_000
"""Tables of less are shrunk in a tenth of a second, which a run that somebody waits for can bear."""


def unreferenced(db: apsw.Connection, left: Iterable[str], *, everything: bool = False) -> list[int]:
    """The entries to delete: of no manifest, when there are many or many of one of the paths ``left`` lately;
    ``everything``: however few they are."""
    nowhere = (
        "NOT EXISTS (SELECT 1 FROM manifests r CROSS JOIN manifest_files m USING (manifest_id) "
        "WHERE m.entry_id = e.entry_id)"
    )
    # At most so many: looking at each entry takes ten times as long, and most runs leave none behind.
    files: Any = db.execute("SELECT (SELECT count(*) FROM entries), coalesce(max(files), 0) FROM manifests").fetchone()
    most = files[0] - files[1]
    kept = min(KEEP_UNREFERENCED, int(KEEP_SHARE * files[1]))
    lately = set(left)
    doomed: list[int] = []
    if most > kept or everything:
        of_none: list[Any] = db.execute(f"SELECT entry_id, path FROM entries e WHERE {nowhere}").fetchall()
        if everything:
            return [entry_id for entry_id, _ in of_none]
        if len(of_none) > kept:
            waited_for = {row[0] for row in db.execute(_WAITED_FOR)}
            doomed = [entry_id for entry_id, path in of_none if path not in lately and entry_id not in waited_for]
    for path in lately if most else ():
        of_path: list[Any] = db.execute(
            f"SELECT entry_id FROM entries e WHERE path=? AND {nowhere} ORDER BY entry_id DESC", (path,)
        ).fetchall()
        if len(of_path) > _MOST_PER_PATH:
            doomed += [row[0] for row in of_path[_KEEP_PER_PATH:]]
    return doomed


def delete(db: apsw.Connection, entry_ids: Iterable[int]) -> None:
    """Delete entries, and the contents that are at no path then. Within a transaction."""
    doomed = list(entry_ids)
    blobs = {_blob_of(db, entry) for entry in doomed}
    for table in ("entries", "vectors"):
        db.executemany(f"DELETE FROM {table} WHERE entry_id=?", [(entry,) for entry in doomed])
    for blob in blobs:
        if db.execute("SELECT 1 FROM entries WHERE blob_id=?", (blob,)).fetchone() is None:
            _delete_blob(db, blob)


def _blob_of(db: apsw.Connection, entry_id: int) -> int:
    row: Any = db.execute("SELECT blob_id FROM entries WHERE entry_id=?", (entry_id,)).fetchone()
    return int(row[0])


def _delete_blob(db: apsw.Connection, blob_id: int) -> None:
    row: Any = db.execute("SELECT symbols FROM readings WHERE blob_id=?", (blob_id,)).fetchone()
    if row:
        names = {squashed(symbol.name) for symbol in parts.symbols(row[0])}
        db.executemany("DELETE FROM definitions WHERE squashed=? AND blob_id=?", [(name, blob_id) for name in names])
    for table in ("readings", "blobs"):
        db.execute(f"DELETE FROM {table} WHERE blob_id=?", (blob_id,))

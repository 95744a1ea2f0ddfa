"""What an index keeps apart once it has many files: definitions by name, counts of terms, indexes of its tables.

Each takes at least a page, and all together as much as a small repository's other rows, while of few files their own
rows are asked in no more time. So a new index has none of it; what it grows by stays. Functions of the writer's
connection, inside its transaction.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import apsw

from findling.store import count_rows, symbol_rows, term_rows
from findling.store.count_changes import CountChanges

FEW = 400
"""Entries up to which nothing is kept apart. A first question of so many reads all definitions and terms in some five
milliseconds, and later ones find them in memory; a row is found by its path in twenty microseconds."""

SHORT_HASH = "substr(hash, 1, 8)"
SHORT_GIT_ID = "substr(git_id, 1, 8)"
"""What contents are indexed by: of hashes, the first bytes find them as quickly as all."""

_PROMISED = {
    "idx_embeddings_hash": f"blobs({SHORT_HASH})",
    "idx_embeddings_path": "entries(path)",
    "idx_doc_path": "entries(path) WHERE docs",
    "idx_content_hash": "contents(substr(hashes, 1, 8)) WHERE texts IS NOT NULL",
}
"""Indexes by names that other programs may know; they are empty as long as there are few files."""

_TABLE_OF = {name: on.split("(", 1)[0] for name, on in _PROMISED.items()}

_OTHERS = {
    "blobs_git": f"blobs({SHORT_GIT_ID}) WHERE git_id IS NOT NULL",
    "entries_blob": "entries(blob_id)",
}

EMPTY_INDEXES = "".join(
    f"CREATE INDEX {name} ON {_TABLE_OF[name]}(blob_id) WHERE blob_id IS NULL;" for name in _PROMISED
)


def has_grown(db: apsw.Connection) -> bool:
    """Whether the index has had many files."""
    row: Any = db.execute("SELECT value FROM meta WHERE key='grown'").fetchone()
    return bool(row[0])


def grow(db: apsw.Connection) -> None:
    """Keep apart what is asked of many files."""
    _keep_definitions(db)
    _keep_counts(db)
    for name, on in _PROMISED.items():
        db.execute(f"DROP INDEX {name}; CREATE INDEX {name} ON {on}")
    for name, on in _OTHERS.items():
        db.execute(f"CREATE INDEX {name} ON {on}")
    db.execute("CREATE UNIQUE INDEX vectors_entry ON vectors(entry_id, model_id)")
    db.execute("UPDATE meta SET value=1 WHERE key='grown'")


def _keep_definitions(db: apsw.Connection) -> None:
    db.execute(
        "CREATE TABLE definitions(squashed TEXT NOT NULL, blob_id INTEGER NOT NULL, PRIMARY KEY(squashed, blob_id)) "
        "WITHOUT ROWID"
    )
    rows: list[Any] = db.execute("SELECT blob_id, symbols FROM contents").fetchall()
    defined = {(name, blob_id) for blob_id, data in rows for name in symbol_rows.named(data).squashed}
    db.executemany("INSERT INTO definitions VALUES (?, ?)", sorted(defined))


def _keep_counts(db: apsw.Connection) -> None:
    db.execute("CREATE TABLE term_counts(row_id INTEGER PRIMARY KEY, counts BLOB NOT NULL)")
    db.execute("UPDATE manifests SET counts = -manifest_id")  # none had any that it could share
    counts: defaultdict[int, CountChanges] = defaultdict(CountChanges)
    for manifest_id, data in db.execute(
        "SELECT m.manifest_id, c.terms FROM manifest_files m CROSS JOIN entries e USING (entry_id) "
        "CROSS JOIN contents c USING (blob_id)"
    ):
        counts[manifest_id].add(term_rows.unpack(data))
    for manifest_id, changes in counts.items():
        db.executemany(
            "INSERT INTO term_counts VALUES (?, ?)",
            [
                (count_rows.row_id(-manifest_id, bucket), count_rows.changed(b"", terms))
                for bucket, terms in changes.by_bucket()
            ],
        )

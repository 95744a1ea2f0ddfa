"""One writer and its batches: whole transactions, in an order that a crash cannot break.

A batch first reserves its ids, then commits the text index, then commits the tables. A crash before the last step
leaves documents in the text index whose ids no table knows and none will ever get; readers ignore them. So each
file is old or new, never half. Must not know what a batch is made of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import apsw

from findling.model import term_rows
from findling.store.local import connections, fulltext, fulltext_files, schema
from findling.store.local.lock import WriterLock
from findling.store.local.schema import scalar


def change_counts(db: apsw.Connection, manifest_id: int, changes: Mapping[int, int]) -> None:
    """Add to how many files of a manifest have each term, by term key: among the common counts while nobody shares
    them."""
    shared: Any = db.execute(
        "SELECT counts, (SELECT count(*) FROM manifests o WHERE o.counts = m.counts) FROM manifests m "
        "WHERE manifest_id=?",
        (manifest_id,),
    ).fetchone()
    under = shared[0] if shared[1] == 1 else manifest_id
    rows = [(under, term, files) for term, files in sorted(changes.items()) if files]
    db.executemany(
        "INSERT INTO term_counts VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET files = files + excluded.files", rows
    )
    db.executemany("DELETE FROM term_counts WHERE counted_under=? AND term=? AND files=0", [row[:2] for row in rows])


def share_counts(db: apsw.Connection, manifest_id: int, other: int) -> None:
    """Give a manifest without files the counts and sums of another.

    The caller then takes the entries out of the counts that it does not have.
    """
    before = _counts_of(db, manifest_id)
    _drop_counts(db, manifest_id)
    db.execute(
        "UPDATE manifests SET (counts, files, chunks, body_terms, name_terms) = "
        "(SELECT counts, files, chunks, body_terms, name_terms FROM manifests WHERE manifest_id=?) WHERE manifest_id=?",
        (other, manifest_id),
    )
    _drop_unshared(db, before)
    db.execute(
        "INSERT INTO term_counts SELECT ?, term, files FROM term_counts WHERE counted_under=?", (manifest_id, other)
    )


def drop(db: apsw.Connection, manifest_id: int) -> None:
    """Delete a manifest, and its common counts when nobody shares them any more."""
    counts = _counts_of(db, manifest_id)
    _drop_counts(db, manifest_id)
    for table in ("manifest_files", "skipped_files", "manifests"):
        db.execute(f"DELETE FROM {table} WHERE manifest_id=?", (manifest_id,))
    db.execute("DELETE FROM meta WHERE key=?", (schema.tree_key(manifest_id),))
    _drop_unshared(db, counts)


def _counts_of(db: apsw.Connection, manifest_id: int) -> Any:
    return scalar(db, "SELECT counts FROM manifests WHERE manifest_id=?", manifest_id)


def _drop_unshared(db: apsw.Connection, counts: Any) -> None:
    if scalar(db, "SELECT 1 FROM manifests WHERE counts=?", counts) is None:
        _drop_counts(db, counts)


def _drop_counts(db: apsw.Connection, counted_under: Any) -> None:
    db.execute("DELETE FROM term_counts WHERE counted_under=?", (counted_under,))


_ID_BLOCK = 8192
"""Ids reserved at once: more than a batch of the indexer uses, so that reserving costs one small write."""

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_Writer = TypeVar("_Writer", bound="BatchWriter")


_COUNT_VECTORS_ONLY = "INSERT INTO meta VALUES ('only_vectors', 1) ON CONFLICT(key) DO UPDATE SET value=value+1"
"""Counts the generations that changed only vectors: what readers have cached of files' contents survives these."""


def typed(
    method: Callable[Concatenate[_Writer, _Arguments], _Result],
) -> Callable[Concatenate[_Writer, _Arguments], _Result]:
    """Libraries' failures inside a method leave it as findling's own."""

    @wraps(method)
    def mapped(self: _Writer, /, *args: _Arguments.args, **options: _Arguments.kwargs) -> _Result:
        try:
            with connections.rows_of(self._directory / schema.DATABASE):
                return method(self, *args, **options)
        except OSError as error:
            raise schema.map_os_error(error, self._directory) from error

    return mapped


class BatchWriter:
    """Holds the writer role of one index until `close`. Raises the typed errors only.

    ``large`` announces many files; ``wait_s`` is how long to wait for another writer.
    """

    def __init__(self, directory: Path, *, large: bool = False, wait_s: float = 0.0) -> None:
        self._directory = directory
        self._lock = WriterLock(directory, wait_s=wait_s)
        try:
            self._db = connections.connect(directory / schema.DATABASE)
        except BaseException:
            self._lock.release()
            raise
        try:
            self._open_derived()
        except BaseException:
            self._db.close()
            self._lock.release()
            raise
        self.large = large
        """May be said later, before the first file is added."""
        self._text: fulltext.FulltextWriter | None = None
        self._ids: dict[str, list[int]] = {}
        self._open_batch = self._more_than_vectors = False
        self._counts: dict[int, Counter[int]] = {}
        self._sums: dict[int, list[int]] = {}

    @typed
    def _open_derived(self) -> None:
        identity = self.identity = schema.identity(self._db)
        if not fulltext_files.usable(self._directory / schema.FULLTEXT, identity):
            if self._db.execute("SELECT 1 FROM entries LIMIT 1").fetchone() is not None:
                raise schema.TextIndexLost(
                    f"The text index at {self._directory / schema.FULLTEXT} is missing or damaged."
                )
            fulltext.create(self._directory / schema.FULLTEXT, identity)

    # --- batches --------------------------------------------------------------------------------------------

    @typed
    def commit(self) -> None:
        """Make the batch durable and visible, or raise and keep the last good state."""
        if not self._open_batch:
            return
        try:
            for manifest_id, counts in self._counts.items():
                change_counts(self._db, manifest_id, counts)
            for manifest_id, sums in self._sums.items():
                self._db.execute(
                    "UPDATE manifests SET files=files+?, chunks=chunks+?, body_terms=body_terms+?, "
                    "name_terms=name_terms+? WHERE manifest_id=?",
                    (*sums, manifest_id),
                )
            self._db.execute("UPDATE meta SET value=value+1 WHERE key='generation'")
            if not self._more_than_vectors:
                self._db.execute(_COUNT_VECTORS_ONLY)
            if self._text is not None:
                self._text.commit()
            self._db.execute("COMMIT")
        except BaseException:
            self.rollback()
            raise
        self._open_batch = self._more_than_vectors = False
        self._counts.clear()
        self._sums.clear()

    def rollback(self) -> None:
        """Forget the batch."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
        self._open_batch = self._more_than_vectors = False
        self._counts.clear()
        self._sums.clear()
        self._ids.clear()
        if self._text is not None:
            self._text.close()
            self._text = None

    def _count(self, manifest_id: int, entry_id: int, sign: int) -> None:
        """Add or take a file's terms and lengths to or from its manifest's totals."""
        row: Any = self._db.execute(
            "SELECT r.terms, b.chunks, b.body_terms, b.name_terms FROM entries e "
            "JOIN blobs b USING (blob_id) JOIN readings r USING (blob_id) WHERE e.entry_id=?",
            (entry_id,),
        ).fetchone()
        if row is not None:
            self._count_terms(manifest_id, sign, *row)

    def _count_terms(
        self, manifest_id: int, sign: int, terms: bytes, chunks: int, body_terms: int, name_terms: int
    ) -> None:
        """As `_count`, with the counts of the file's content at hand."""
        counts = self._counts.setdefault(manifest_id, Counter())
        keys = term_rows.keys(term_rows.unpack(terms))
        if sign > 0:
            counts.update(keys)
        else:
            counts.subtract(keys)
        sums = self._sums.setdefault(manifest_id, [0, 0, 0, 0])
        for i, value in enumerate((1, chunks, body_terms, name_terms)):
            sums[i] += sign * value

    @typed
    def close(self) -> None:
        """End the writer role; an uncommitted batch is forgotten."""
        try:
            self._return_ids()
            self.rollback()
        finally:
            self._db.close()
            self._lock.release()

    @typed
    def settle(self) -> None:
        """After a large run: merge the text index's segments and hand memory back."""
        if self._text is not None:
            self._text.close(merge=True)
            self._text = None
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _fulltext(self) -> fulltext.FulltextWriter:
        if self._text is None:
            self._text = fulltext.FulltextWriter(
                self._directory / schema.FULLTEXT, schema.identity(self._db), large=self.large
            )
        return self._text

    # --- what a batch is made with ---------------------------------------------------------------------------

    def _begin(self, *, ids: bool = True) -> None:
        """Begin a batch, unless one is open. ``ids``: whether it needs new ids; a batch of vectors alone does not."""
        self._more_than_vectors |= ids
        if self._open_batch:
            return
        if ids:
            self._reserve()
        self._db.execute("BEGIN IMMEDIATE")
        self._open_batch = True

    def _reserve(self) -> None:
        """Make sure that the batch's ids are never handed out again, whatever becomes of it."""
        if self._ids and all(end - first >= _ID_BLOCK // 2 for first, end in self._ids.values()):
            return
        self._db.execute("PRAGMA synchronous=FULL")  # a power cut must not bring ids back that the text index knows
        reserved: list[Any] = self._db.execute(
            "UPDATE meta SET value=value+? WHERE key IN ('next_blob', 'next_entry') RETURNING key, value", (_ID_BLOCK,)
        ).fetchall()
        for key, end in reserved:
            self._ids[key.removeprefix("next_")] = [int(end) - _ID_BLOCK, int(end)]
        self._db.execute("PRAGMA synchronous=NORMAL")

    def _return_ids(self) -> None:
        """Hand back what was reserved and never used, so that many small runs don't use the numbers up."""
        if self._open_batch:
            return  # some of them may be in the text index
        for kind, (first, end) in self._ids.items():
            self._db.execute("UPDATE meta SET value=? WHERE key=? AND value=?", (first, f"next_{kind}", end))

    def _value(self, sql: str, *values: Any) -> Any:
        return schema.scalar(self._db, sql, *values)

    def _take_id(self, kind: str) -> int:
        block = self._ids[kind]
        if block[0] >= block[1]:
            raise RuntimeError(f"a batch used more than {_ID_BLOCK} ids")
        block[0] += 1
        return block[0] - 1

    @property
    def batch_is_full(self) -> bool:
        """Whether the batch must be committed before more files are added."""
        return any(block[1] - block[0] < 64 for block in self._ids.values())

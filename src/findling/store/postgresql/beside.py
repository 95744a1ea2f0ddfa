"""Keeps an engine beside the store (`protocols.Engine`) up to date with what is published.

The engine holds copies of three kinds of rows: the weights of passages (by content), those of paths, and the bits of
vectors (by entry). Ids are never used twice, so a row never changes: new ones are written after each publication, and
those that are gone are deleted a while later. Until it has all of a view's generation, PostgreSQL proposes alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from findling.model import errors
from findling.store.protocols import CHUNK_BITS, FILE_UNIT

if TYPE_CHECKING:
    from findling.store.postgresql.database import Connection, Database
    from findling.store.protocols import Engine, Row

WORDS: Final = "words"
PATHS: Final = "paths"

NAME: Final = (
    "SELECT 'findling_' || md5(s.system_identifier::text || d.oid) "
    "FROM pg_control_system() s, pg_database d WHERE d.datname = current_database()"
)
"""How an engine calls this database. A copy of it has another name: it must not delete what this one needs."""

_BEHIND: Final = "generation > 0 AND proposed IS DISTINCT FROM generation"

_FETCHED: Final = 2_000
"""Rows that are read at once; a row is a term of a content."""


def bits_of(model_id: int) -> str:
    """The kind of rows that a model's bits are."""
    return f"bits_{model_id}"


def said_of(database: Database, engine: Engine) -> str:
    """For a status: whether an engine answers, and how much of the store it has."""
    try:
        engine.check()
    except errors.IndexUnavailable as error:
        return error.message
    ((published, lacking),) = database.rows(
        f"SELECT count(*), count(*) FILTER (WHERE {_BEHIND}) FROM views WHERE generation > 0"
    )
    return f"{engine.url} is up to date with {published - lacking:,} of {published:,} indexes"


def bring_up(database: Database, engine: Engine) -> int:
    """Write to an engine what it lacks; how many views. What another program is writing is left to it. Raises
    `IndexUnavailable`; then the next call goes on."""
    if not database.rows(f"SELECT 1 FROM views WHERE {_BEHIND} LIMIT 1"):
        return 0
    ((store,),) = database.rows(NAME)
    models = database.rows("SELECT DISTINCT model_id, dimensions FROM models JOIN embedded USING (model_id)")
    kinds = {WORDS: 0, PATHS: 0, **{bits_of(model): -(-size // 8) * 8 for model, size in models}}
    if engine.make(store, kinds):  # it is new, or lost what it had
        database.rows("UPDATE views SET proposed = NULL, proposed_content = 0, proposed_entry = 0")
    with database.failures(), database.connect() as connection:
        connection.execute("SET statement_timeout = 0")
        views = [row[0] for row in connection.execute(f"SELECT view_id FROM views WHERE {_BEHIND}".encode())]
        done = sum(_bring_up(connection, engine, store, view) for view in views)
        _delete_gone(connection, engine, store, list(kinds))
    return done


def _bring_up(db: Connection, engine: Engine, store: str, view: int) -> bool:
    """Whether a view was brought up to date."""
    lock = "SELECT pg_try_advisory_lock(hashtext('findling engine'), %s)"
    if not db.execute(lock, (view & 0x7FFFFFFF,)).fetchall()[0][0]:
        return False
    try:
        # From here on what is deleted is noted.
        db.execute("UPDATE views SET proposed = coalesce(proposed, 0) WHERE view_id = %s", (view,))
        db.execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        try:
            found = db.execute(
                "SELECT generation, proposed_content, proposed_entry, "
                "coalesce((SELECT max(content_id) FROM contents c WHERE c.view_id = views.view_id), 0), "
                "coalesce((SELECT max(entry_id) FROM entries e WHERE e.view_id = views.view_id), 0) "
                "FROM views WHERE view_id = %s",
                (view,),
            ).fetchone()
            if found is None:
                return False
            generation, content, entry, *highest = found
            engine.put(store, WORDS, view, _words(db, view, content))
            engine.put(store, PATHS, view, _paths(db, view, entry))
            for (model,) in db.execute("SELECT model_id FROM embedded WHERE view_id = %s", (view,)).fetchall():
                engine.put(store, bits_of(model), view, _bits(db, view, model, entry))
        finally:
            db.execute("ROLLBACK")
        db.execute(
            "UPDATE views SET proposed = %s, proposed_content = %s, proposed_entry = %s WHERE view_id = %s",
            (generation, *highest, view),
        )
        return True
    finally:
        db.execute("SELECT pg_advisory_unlock(hashtext('findling engine'), %s)", (view & 0x7FFFFFFF,))


def _rows(db: Connection, sql: str, values: Sequence[int]) -> Iterator[tuple[int, ...]]:
    with db.cursor(name="engine") as cursor:
        cursor.itersize = _FETCHED
        cursor.execute(sql.encode(), values)
        yield from cursor


def _words(db: Connection, view: int, after: int) -> Iterator[Row]:
    """The passages of contents with ids above ``after``."""
    sql = (
        "SELECT content_id, field, term, ordinals, parts FROM postings WHERE view_id = %s AND content_id > %s "
        "ORDER BY content_id"
    )
    for content, rows in groupby(_rows(db, sql, (view, after)), itemgetter(0)):
        passages: dict[int, dict[tuple[int, str], float]] = {}
        for _, field, term, ordinals, parts in rows:
            for ordinal, part in zip(ordinals, parts, strict=True):  # type: ignore[call-overload]
                passages.setdefault(ordinal, {})[field, term] = part  # type: ignore[index]
        for ordinal, weights in passages.items():
            yield content << CHUNK_BITS | ordinal, content, weights


def _paths(db: Connection, view: int, after: int) -> Iterator[Row]:
    sql = "SELECT entry_id, term, part FROM path_postings WHERE view_id = %s AND entry_id > %s ORDER BY entry_id"
    for entry, rows in groupby(_rows(db, sql, (view, after)), itemgetter(0)):
        yield entry << CHUNK_BITS | FILE_UNIT, entry, {(2, str(term)): part for _, term, part in rows}


def _bits(db: Connection, view: int, model: int, after: int) -> Iterator[Row]:
    sql = (
        "SELECT entry_id, ordinal, bits::text FROM bits WHERE view_id = %s AND model_id = %s AND entry_id > %s "
        "ORDER BY entry_id, ordinal"
    )
    for entry, ordinal, bits in _rows(db, sql, (view, model, after)):
        yield entry << CHUNK_BITS | ordinal, entry, packed(str(bits))


def packed(bits: str) -> bytes:
    """Zeros and ones as an engine has them."""
    return int(bits, 2).to_bytes((len(bits) + 7) // 8, "big")


def _delete_gone(db: Connection, engine: Engine, store: str, kinds: Sequence[str]) -> None:
    """Delete what has been gone for longer than a question takes."""
    with db.transaction():
        gone = db.execute(
            "DELETE FROM unproposed WHERE ctid IN (SELECT ctid FROM unproposed "
            "WHERE gone_at < now() - interval '1 minute' FOR UPDATE SKIP LOCKED) RETURNING item, is_entry"
        ).fetchall()
        for kind in kinds if gone else ():
            items = [item for item, is_entry in gone if is_entry == (kind != WORDS)]
            engine.delete(store, kind, items)

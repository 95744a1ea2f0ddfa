"""Whether the rows of a database are such as findling writes, told by taking every one of them apart.

SQLite's own check says that pages and indexes are whole; what stands in a row it cannot know. This takes seconds for a
large index: for when reading has failed, and it must be told whether the index is at fault or the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import apsw

from findling.model import term_rows
from findling.model.codings import HASH_BYTES
from findling.model.types import SYMBOL_KINDS
from findling.store import parts
from findling.store.local import checksums

_PLAIN_NAME = re.compile(r"\w+", re.ASCII)
_KINDS = frozenset(("", "integer", "text", "blob", "real"))

_FAILURES = (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError)
"""What taking a row apart raises where something else stands in it."""


def sound(connection: apsw.Connection) -> bool:
    """Whether nothing is wrong with the file, its rows, and what is packed in them. Within a transaction.

    Raises `apsw.Error` where that cannot be told.
    """
    try:
        if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
            return False
        if any(_holds_other_types(connection, table) for table in _tables(connection)):
            return False
        return all(check(connection) for check in (_meta, _texts, _readings, _vectors))
    except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, *_FAILURES):
        return False
    except apsw.IOError as error:
        if checksums.differ(error):
            return False
        raise


def _tables(connection: apsw.Connection) -> list[str]:
    rows = connection.execute("SELECT name FROM sqlite_schema WHERE type='table' AND name NOT LIKE 'sqlite_%'")
    return [name for (name,) in rows if _PLAIN_NAME.fullmatch(name)]


def _columns(connection: apsw.Connection, table: str) -> Iterator[tuple[str, str]]:
    """Names and declared types, in small letters, of the columns that have a type."""
    for row in connection.execute(f"PRAGMA table_info({table})"):
        name, kind = row[1], row[2].lower()
        if not _PLAIN_NAME.fullmatch(name) or kind not in _KINDS:  # these become SQL
            raise ValueError("a column that findling does not make")
        if kind:
            yield name, kind


def _holds_other_types(connection: apsw.Connection, table: str) -> bool:
    other = [f"typeof({name}) NOT IN ('{kind}', 'null')" for name, kind in _columns(connection, table)]
    if not other:
        return False
    return connection.execute(f"SELECT 1 FROM {table} WHERE {' OR '.join(other)} LIMIT 1").fetchone() is not None


def _meta(connection: apsw.Connection) -> bool:
    values = dict(connection.execute("SELECT key, value FROM meta"))
    numbers = [values.get(key) for key in ("generation", "next_blob", "next_entry", "next_vector")]
    numbers.append(values.get("only_vectors", 0))
    return isinstance(values.get("identity"), bytes) and all(isinstance(number, int) for number in numbers)


def _texts(connection: apsw.Connection) -> bool:
    """Reading a text that is none raises."""
    for table in _tables(connection):
        if texts := [name for name, kind in _columns(connection, table) if kind == "text"]:
            for _ in connection.execute(f"SELECT {', '.join(texts)} FROM {table}"):
                pass
    return True


def _readings(connection: apsw.Connection) -> bool:
    for terms, symbols, uses, chunks in connection.execute("SELECT terms, symbols, uses, chunks FROM readings"):
        term_rows.unpack(terms)
        if any(symbol.kind not in SYMBOL_KINDS for symbol in parts.symbols(symbols)):
            return False
        parts.uses(uses)
        parts.chunks(chunks)
    return True


def _vectors(connection: apsw.Connection) -> bool:
    """Whole vectors, as many as there are hashes of texts."""
    odd = (
        "SELECT 1 FROM vectors v LEFT JOIN models m ON m.model_id = abs(v.model_id) WHERE m.row_bytes IS NULL "
        f"OR length(v.data) <> length(v.text_hashes) / {HASH_BYTES:d} * m.row_bytes "
        f"OR length(v.text_hashes) % {HASH_BYTES:d} LIMIT 1"
    )
    return connection.execute(odd).fetchone() is None

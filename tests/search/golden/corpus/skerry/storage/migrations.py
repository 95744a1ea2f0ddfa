"""Steps from one version of the database to the next."""

from __future__ import annotations

import sqlite3

STEPS = (
    "CREATE TABLE readings (buoy TEXT, taken_at INTEGER, level_m REAL, PRIMARY KEY (buoy, taken_at))",
    "ALTER TABLE readings ADD COLUMN temperature_c REAL",
    "CREATE INDEX readings_by_time ON readings (taken_at)",
)


class TooNew(RuntimeError):
    """A later release wrote this database."""


def migrate(connection: sqlite3.Connection) -> int:
    """Bring the schema up to date; the number of steps that were taken."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(STEPS):
        raise TooNew(f"database schema version {version} is newer than this program")
    for number, step in enumerate(STEPS[version:], version + 1):
        with connection:
            connection.execute(step)
            connection.execute(f"PRAGMA user_version={number}")
    return len(STEPS) - int(version)

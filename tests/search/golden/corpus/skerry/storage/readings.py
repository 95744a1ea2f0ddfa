"""Readings in SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Reading:
    """One measurement of one buoy: water level in metres, temperature in degrees Celsius."""

    buoy: str
    taken_at: int
    level_m: float
    temperature_c: float


class ReadingStore:
    """All readings, by buoy and time."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def insert_batch(self, readings: Iterable[Reading]) -> int:
        """Store many readings in one transaction; one that is there already is left alone."""
        with self._connection:
            cursor = self._connection.executemany(
                "INSERT OR IGNORE INTO readings VALUES (?, ?, ?, ?)",
                [(r.buoy, r.taken_at, r.level_m, r.temperature_c) for r in readings],
            )
        return cursor.rowcount

    def between(self, buoy: str, start: int, end: int) -> Iterator[Reading]:
        sql = "SELECT * FROM readings WHERE buoy=? AND taken_at BETWEEN ? AND ? ORDER BY taken_at"
        for row in self._connection.execute(sql, (buoy, start, end)):
            yield Reading(*row)

    def delete_older_than(self, taken_at: int) -> int:
        """Retention: forget what is older; the number of rows that went."""
        with self._connection:
            return self._connection.execute("DELETE FROM readings WHERE taken_at < ?", (taken_at,)).rowcount

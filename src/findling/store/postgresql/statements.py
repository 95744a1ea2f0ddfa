"""What is asked of the database: a statement, its values, and who takes its rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

Rows = list[tuple[Any, ...]]


class Statement(NamedTuple):
    sql: str
    values: Sequence[Any]
    take: Callable[[Rows], None]

"""How a command ends: its exit status, and what an action of ``library`` and ``team`` prints.

Must not know any command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

FOUND: Final = 0
NOTHING: Final = 1
ERROR: Final = 2

Rows = list[tuple[str, str]]


class Answer(NamedTuple):
    """Blocks of rows for people, the same for programs, notes, and the exit status."""

    blocks: Sequence[Rows]
    value: Mapping[str, Any]
    notes: Sequence[str] = ()
    status: int = FOUND


def status_of(found: Sequence[object]) -> int:
    return FOUND if found else NOTHING

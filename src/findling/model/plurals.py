"""Numbers with their nouns, for sentences that people read."""

from __future__ import annotations


def count(number: int, noun: str) -> str:
    """``1 file``, ``2,000 files``, ``3 queries``. ``noun`` in the singular, of those whose plural is regular."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"

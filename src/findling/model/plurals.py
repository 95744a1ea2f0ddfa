"""Numbers with their nouns, for sentences that people read."""

from __future__ import annotations


def count(number: int, noun: str) -> str:
    """``1 file``, ``2,000 files``, ``3 queries``, ``2 indexes``. ``noun``: in the singular, with a regular plural."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}es" if noun.endswith("x") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"

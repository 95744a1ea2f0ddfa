"""Times as the library writes them. Pure."""

from __future__ import annotations

from datetime import UTC, datetime


def iso_date(seconds: float) -> str:
    """Seconds since 1970 as ``2025-01-20T10:30:00.000Z``."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def seconds_of(date: str) -> float:
    """The inverse. Raises ValueError."""
    return datetime.fromisoformat(date).timestamp()

"""What a stream can show. Decides between plain text and colours, links and tables; prints nothing itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TextIO


def is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False


def wants_style(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Whether escape sequences may be written to ``stream``.

    NO_COLOR (not empty) and TERM=dumb forbid them all, links included; FORCE_COLOR (not empty) asks for them even in a
    pipe; otherwise only a terminal gets them.
    """
    if environment.get("NO_COLOR") or environment.get("TERM") == "dumb":
        return False
    return bool(environment.get("FORCE_COLOR")) or is_terminal(stream)

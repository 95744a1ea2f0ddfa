"""What a worker process may use at most. Knows the system's limits, not the work."""

from __future__ import annotations

import sys
from typing import Final

MEMORY_BYTES: Final = 1 << 30
"""Data of one process: the largest files take a third. A parser that wants more has met a file that was made for it."""


def limit_memory(most: int = MEMORY_BYTES) -> None:
    """From now on asking for more memory fails in this process. Nothing happens where there is no such limit."""
    if sys.platform == "win32":
        return
    import resource

    for kind in (resource.RLIMIT_DATA, resource.RLIMIT_CORE):
        limit = most if kind == resource.RLIMIT_DATA else 0  # a core file would repeat what was read
        _, hard = resource.getrlimit(kind)
        if hard != resource.RLIM_INFINITY:
            limit = min(limit, hard)
        try:
            resource.setrlimit(kind, (limit, hard))
        except (ValueError, OSError):
            continue  # a system that has the name of the limit only

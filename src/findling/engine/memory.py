"""Memory that is free again, handed back to the system: the allocator keeps it otherwise, for each thread apart.

Must not know what it was used for.
"""

from __future__ import annotations

import gc
import sys
from functools import cache
from typing import Any

ARENAS = 2
"""Pools that threads share for their memory. By default each thread of a server has its own, and each keeps some."""

_M_ARENA_MAX = -8
"""glibc's number for it."""


def expect_to_idle() -> None:
    """For a process that waits most of the time: called once, before there are threads."""
    if (libc := _glibc()) is not None:
        libc.mallopt(_M_ARENA_MAX, ARENAS)


def give_back() -> None:
    """Hand back what nobody needs any more; some milliseconds. Does what can be done on this system."""
    gc.collect()
    if (libc := _glibc()) is not None:
        libc.malloc_trim(0)


@cache
def _glibc() -> Any:
    """The C library where it is GNU's, whose allocator can be asked; else None."""
    if sys.platform != "linux":
        return None
    import ctypes

    try:
        libc = ctypes.CDLL(None)
        return libc if hasattr(libc, "malloc_trim") and hasattr(libc, "mallopt") else None
    except OSError:  # a Python without a dynamic C library
        return None

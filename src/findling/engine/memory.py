"""Hands freed memory back to the system; otherwise the allocator keeps it, for each thread apart. Must not know what it
was used for.
"""

from __future__ import annotations

import gc
import sys
from functools import cache
from typing import Any

ARENAS = 2
"""Memory pools that all threads share. By default each thread has its own, and each keeps some memory."""

_M_ARENA_MAX = -8
"""glibc's number for it."""


def expect_to_idle() -> None:
    """Set up a process that waits most of the time. Called once, before there are threads."""
    if (libc := _glibc()) is not None:
        libc.mallopt(_M_ARENA_MAX, ARENAS)


def give_back() -> None:
    """Hand unused memory back, as far as this system allows it; takes some milliseconds."""
    gc.collect()
    if (libc := _glibc()) is not None:
        libc.malloc_trim(0)


@cache
def _glibc() -> Any:
    """The C library if it is GNU's, whose allocator can be told to; else None."""
    if sys.platform != "linux":
        return None
    import ctypes

    try:
        libc = ctypes.CDLL(None)
        return libc if hasattr(libc, "malloc_trim") and hasattr(libc, "mallopt") else None
    except OSError:  # a Python without a dynamic C library
        return None

"""How much of a long test is run: `make test` tries it in small, `make test-large` at its full size."""

from __future__ import annotations

import os
from typing import TypeVar

T = TypeVar("T")


def size(small: T, full: T) -> T:
    return full if os.environ.get("FINDLING_TESTS") == "large" else small

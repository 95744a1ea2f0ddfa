"""Answers that are remembered for a while."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any


class TtlCache:
    """Remembers values for some seconds, and at most so many of them."""

    def __init__(self, seconds: float, most: int = 1000, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._most = most
        self._clock = clock
        self._items: OrderedDict[Hashable, tuple[float, Any]] = OrderedDict()

    def get_or_compute(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """The remembered value, or a new one when there is none or it is too old."""
        found = self._items.get(key)
        now = self._clock()
        if found is not None and now - found[0] < self._seconds:
            self._items.move_to_end(key)
            return found[1]
        value = compute()
        self._items[key] = (now, value)
        self._evict_oldest()
        return value

    def invalidate(self, key: Hashable) -> None:
        self._items.pop(key, None)

    def _evict_oldest(self) -> None:
        """Throw out what was used longest ago until the rest fits."""
        while len(self._items) > self._most:
            self._items.popitem(last=False)

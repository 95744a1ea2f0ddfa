"""Caches of this process, and one function that empties them all."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, ParamSpec, TypeVar

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_Key = TypeVar("_Key")

_forget: list[Callable[[], object]] = []


def remembered(most: int) -> Callable[[Callable[_Arguments, _Result]], Callable[_Arguments, _Result]]:
    """As `functools.lru_cache`: at most so many results are kept, those asked for last, until `forget_all`."""

    def decorate(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
        cached: Any = lru_cache(most)(function)
        _forget.append(cached.cache_clear)
        known: Callable[_Arguments, _Result] = cached
        return known

    return decorate


class Remembered(dict[_Key, _Result]):
    """A cache of a function's results by argument; once it has ``most`` entries, the next one empties it."""

    def __init__(self, function: Callable[[_Key], _Result], most: int) -> None:
        super().__init__()
        self._function = function
        self._most = most

    def __missing__(self, key: _Key) -> _Result:
        if len(self) >= self._most:
            self.clear()
        found = self[key] = self._function(key)
        return found


def also_forget(clear: Callable[[], object]) -> None:
    """``clear`` is called by `forget_all`, too."""
    _forget.append(clear)


def forget_all() -> None:
    """Forget everything: what is asked for next is worked out anew. May be called while other threads work."""
    for forget in _forget:
        forget()

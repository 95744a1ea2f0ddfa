"""Retry helpers."""

import functools

MAX_RETRIES: int = 5
default_delay = 0.1
first, second = 1, 2

# Called for every attempt.
# Returns the delay.
def backoff(attempt: int, *, base: float = 2.0) -> float:
    local = base**attempt
    return local


@functools.lru_cache(maxsize=None)
@traced
async def fetch(
    url: str,
    timeout: float = 1.0,
) -> bytes:
    """Fetch the URL.

    Second paragraph.
    """
    def inner(x):
        return x

    return inner(url)


class Client(Base, metaclass=Meta):
    '''A client.'''

    retries = 3
    URL = "https://example.org"

    def __init__(self, name):
        self.name = name

    @property
    def title(self) -> str:
        return self.name

    class Config:
        def load(self): ...


if TYPE_CHECKING:
    Alias = int

    def stub(): ...

try:
    import json
except ImportError:
    json = None

type Vector = list[float]

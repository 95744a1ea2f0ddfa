"""The client of the first protocol, kept for buoys that were never updated."""

from __future__ import annotations

import urllib.request


class OldHttpClient:
    """Sends a reading as a query string; knows no retry and no pooled connections."""

    def __init__(self, host: str) -> None:
        self._host = host

    def request(self, path: str) -> bytes:
        with urllib.request.urlopen(f"http://{self._host}{path}", timeout=30) as answer:
            return bytes(answer.read())

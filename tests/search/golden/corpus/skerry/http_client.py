"""Requests to the gateway over pooled connections."""

from __future__ import annotations

import http.client
import json
from collections import deque
from typing import Any

from skerry.retry import RetryPolicy, retry_call


class PoolExhausted(ConnectionError):
    """All connections are in use and none came back in time."""


class ConnectionPool:
    """Keeps idle connections open for the next request."""

    def __init__(self, host: str, most: int) -> None:
        self._host = host
        self._most = most
        self._idle: deque[http.client.HTTPSConnection] = deque()
        self._lent = 0

    def borrow(self, timeout_s: float) -> http.client.HTTPSConnection:
        if self._idle:
            self._lent += 1
            return self._idle.pop()
        if self._lent >= self._most:
            raise PoolExhausted(f"connection pool exhausted: {self._lent} of {self._most} connections are in use")
        self._lent += 1
        return http.client.HTTPSConnection(self._host, timeout=timeout_s)

    def give_back(self, connection: http.client.HTTPSConnection) -> None:
        self._lent -= 1
        self._idle.append(connection)


class HttpClient:
    """Sends JSON and gets JSON, again when a connection breaks."""

    def __init__(self, host: str, token: str, policy: RetryPolicy | None = None, timeout_s: float = 5.0) -> None:
        self._pool = ConnectionPool(host, most=8)
        self._token = token
        self._policy = policy or RetryPolicy()
        self._timeout_s = timeout_s

    def request(self, method: str, path: str, body: object = None) -> Any:
        """The decoded answer. Raises `GaveUp` when the gateway cannot be reached."""
        return retry_call(lambda: self._once(method, path, body), self._policy)

    def _once(self, method: str, path: str, body: object) -> Any:
        connection = self._pool.borrow(self._timeout_s)
        try:
            headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
            connection.request(method, path, json.dumps(body), headers)
            return json.loads(connection.getresponse().read())
        finally:
            self._pool.give_back(connection)

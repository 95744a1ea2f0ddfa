"""The only door to servers: one bounded request, without proxies, redirects or cookies.

Who may be asked is the caller's decision, and so is what the answer means. Without that decision it is this machine.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from findling.config.hosts import is_loopback

if TYPE_CHECKING:
    import http.client


class HttpFailure(Exception):
    """There is no whole answer; the message says why, for people.

    ``reason``: there is no connection; it took too long; the server broke off, or does not speak HTTP.
    """

    def __init__(self, message: str, reason: Literal["unreachable", "timeout", "broken"] = "broken") -> None:
        super().__init__(message)
        self.reason = reason


class HttpAnswer(NamedTuple):
    """``status`` as HTTP counts; ``body`` is whole."""

    status: int
    body: bytes


def get(url: str, *, timeout_s: float, max_bytes: int, elsewhere: bool = False) -> HttpAnswer:
    """Ask for a URL, http or https, without user name. Raises HttpFailure.

    ``timeout_s`` bounds connecting to each address of the host, and everything after that together. Proxies that the
    environment names are not used. ``elsewhere``: the URL may be another machine's.
    """
    return _ask("GET", url, None, {}, timeout_s=timeout_s, max_bytes=max_bytes, elsewhere=elsewhere)


def post_json(
    url: str,
    value: object,
    *,
    timeout_s: float,
    max_bytes: int,
    elsewhere: bool = False,
    headers: Mapping[str, str] | None = None,
) -> HttpAnswer:
    """Send a JSON value; otherwise as `get`. No header is ever part of a message."""
    import json

    sent = {"Content-Type": "application/json", **(headers or {})}
    body = json.dumps(value).encode()  # ASCII: half a surrogate pair has no UTF-8, but an escape
    return _ask("POST", url, body, sent, timeout_s=timeout_s, max_bytes=max_bytes, elsewhere=elsewhere)


def _ask(
    method: str,
    url: str,
    body: bytes | None,
    headers: Mapping[str, str],
    *,
    timeout_s: float,
    max_bytes: int,
    elsewhere: bool,
) -> HttpAnswer:
    import http.client
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise HttpFailure(f"This is no address: {error}.", "unreachable") from error
    if not elsewhere and not is_loopback(url):
        raise HttpFailure(f"{parts.hostname} is not this machine, and is not asked.", "unreachable")
    target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    make = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = make(parts.hostname or "", port, timeout=timeout_s)
    late = threading.Event()
    try:
        _connect(connection)
        timer = threading.Timer(timeout_s, _end, (connection.sock, late))
        timer.daemon = True
        timer.start()
        try:
            connection.request(method, target, body, {"Accept": "application/json", **headers})
            answer = _read(connection.getresponse(), max_bytes)
        finally:
            timer.cancel()
    except (OSError, ValueError, http.client.HTTPException) as error:
        slow = late.is_set() or isinstance(error, TimeoutError)
        why = "it takes too long" if slow else str(error) or type(error).__name__
        raise HttpFailure(f"No answer from {parts.hostname}: {why}.", "timeout" if slow else "broken") from error
    finally:
        connection.close()
    if late.is_set():
        raise HttpFailure(f"No answer from {parts.hostname}: it takes too long.", "timeout")
    return answer


def _connect(connection: http.client.HTTPConnection) -> None:
    try:
        connection.connect()
    except (OSError, ValueError) as error:
        why = str(error) or type(error).__name__
        raise HttpFailure(f"No answer from {connection.host}: {why}.", "unreachable") from error


def _read(response: http.client.HTTPResponse, max_bytes: int) -> HttpAnswer:
    body = response.read(max_bytes + 1)
    if len(body) > max_bytes:
        raise ValueError(f"it is longer than {max_bytes:,} bytes")
    return HttpAnswer(response.status, body)


def _end(sock: socket.socket | None, late: threading.Event) -> None:
    """Wake whoever waits for the server: a timeout on a socket bounds each read, not a server that drips."""
    late.set()
    if sock is not None:
        with contextlib.suppress(OSError):  # it ended by itself
            sock.shutdown(socket.SHUT_RDWR)

"""Gets a whole answer from a server of the user's choice, without proxies, redirects or cookies.

Only this machine is asked, unless the caller allows another (``elsewhere``).
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple
from urllib.parse import urlsplit

from findling.config.option import is_loopback
from findling.outbound.addresses import PORTS, Target
from findling.outbound.connection import Connection

BUSY: Final = (429, 503)
BUSY_PAUSES_S: Final = (0.1, 0.2, 0.4)


class HttpFailure(Exception):
    """There is no whole answer; the message says why, for people.

    ``reason``: "unreachable", there is no connection; "timeout", it took too long; "broken", the server broke off or
    does not speak HTTP.
    """

    def __init__(self, message: str, reason: Literal["unreachable", "timeout", "broken"] = "broken") -> None:
        super().__init__(message)
        self.reason = reason


class HttpAnswer(NamedTuple):
    """A whole answer. ``status``: HTTP's number."""

    status: int
    body: bytes


def get(url: str, *, timeout_s: float, max_bytes: int, elsewhere: bool = False) -> HttpAnswer:
    """Ask for a URL, http or https, without user name. Raises HttpFailure.

    ``timeout_s`` bounds connecting to each address of the host, and everything after that together. Proxies that the
    environment names are not used. ``elsewhere``: the URL may be another machine's.
    """
    return _ask("GET", url, b"", {}, timeout_s=timeout_s, max_bytes=max_bytes, elsewhere=elsewhere)


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
    sent = {"Content-Type": "application/json", **(headers or {})}
    body = json.dumps(value).encode()  # in ASCII, as half a surrogate pair cannot be written in UTF-8
    return _ask("POST", url, body, sent, timeout_s=timeout_s, max_bytes=max_bytes, elsewhere=elsewhere)


def unless_busy(ask: Callable[[], HttpAnswer], max_retries: int, deadline: float = math.inf) -> HttpAnswer:
    """The answer of ``ask``, asked again after growing pauses while the server is busy; the last one if it stays so.

    Raises HttpFailure instead of a pause that would not end before ``deadline``.
    """
    answer = ask()
    for pause_s in BUSY_PAUSES_S[:max_retries]:
        if answer.status not in BUSY:
            break
        if time.monotonic() + pause_s >= deadline:
            raise HttpFailure("The server stays busy.", "timeout")
        time.sleep(pause_s)
        answer = ask()
    return answer


def _ask(
    method: str,
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    timeout_s: float,
    max_bytes: int,
    elsewhere: bool,
) -> HttpAnswer:
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").encode("idna").decode()
        port = parts.port or PORTS[parts.scheme]
    except (ValueError, KeyError) as error:
        raise HttpFailure(f"This is not an address: {error}.", "unreachable") from error
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    target = Target(parts.scheme, host, port, path, permitted=True)
    if not elsewhere and not is_loopback(url):
        raise HttpFailure(f"{host} is not this machine, and is not asked.", "unreachable")
    try:
        connection = Connection(target, [host], stall_s=timeout_s)
    except (OSError, ValueError) as error:
        raise HttpFailure(_no_answer(host, error), "unreachable") from error
    with connection:
        try:
            connection.within(timeout_s)
            head = connection.ask(method, {"Accept": "application/json", **headers}, body)
            return HttpAnswer(head.status, _body(connection, max_bytes))
        except TimeoutError as error:
            raise HttpFailure(f"No answer from {host}: it takes too long.", "timeout") from error
        except (OSError, ValueError) as error:
            raise HttpFailure(_no_answer(host, error)) from error


def _no_answer(host: str, error: Exception) -> str:
    return f"No answer from {host}: {str(error) or type(error).__name__}."


def _body(connection: Connection, max_bytes: int) -> bytes:
    body = bytearray()
    while piece := connection.read():
        body += piece
        if len(body) > max_bytes:
            raise ValueError(f"it is longer than {max_bytes:,} bytes")
    return bytes(body)

"""Gets a whole answer from a server of the user's choice, without proxies, redirects or cookies.

Only this machine is asked, unless the caller allows another (``elsewhere``).
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple
from urllib.parse import urlsplit

from msgspec import Struct

from findling.config.option import is_loopback
from findling.outbound.addresses import PORTS, Target
from findling.outbound.connection import Connection

if TYPE_CHECKING:
    from findling.config import Secret


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
        raise HttpFailure(f"{host} was not asked: it is not this machine.", "unreachable")
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


# --- services -----------------------------------------------------------------------------------------------------
# Asks external services, with the user's key. A failure is reported by its class, never in the service's words.
#
# Callers have checked that both gates (the user's permissions) are open. The key goes into one header and nowhere else.

_MAX_ANSWER_BYTES: Final = 64 << 20


class ServiceFailure(Exception):
    """``reason`` is a class of failure; the message names the service and never repeats what it said."""

    def __init__(self, service: str, reason: Literal["missing_api_key", "timeout", "http_error", "error"]) -> None:
        words = {
            "missing_api_key": "has no API key",
            "timeout": "takes too long",
            "http_error": "refuses the request",
            "error": "does not answer as it should",
        }
        super().__init__(f"{service} {words[reason]}")
        self.reason = reason


def ask(
    service: str, url: str, value: object, key: Secret | None, *, timeout_s: float, max_retries: int = 3
) -> dict[str, Any]:
    """The JSON object that the service answers. Raises ServiceFailure.

    ``timeout_s`` is for all attempts and the pauses between them together.
    """
    if key is None:
        raise ServiceFailure(service, "missing_api_key")
    headers = {"Authorization": f"Bearer {key.reveal()}"}
    deadline = time.monotonic() + timeout_s

    def send() -> HttpAnswer:
        left_s = deadline - time.monotonic()
        return post_json(url, value, timeout_s=left_s, max_bytes=_MAX_ANSWER_BYTES, elsewhere=True, headers=headers)

    try:
        answer = unless_busy(send, max_retries, deadline)
    except HttpFailure as failure:
        raise ServiceFailure(service, "timeout" if failure.reason == "timeout" else "error") from None
    if answer.status != 200:
        raise ServiceFailure(service, "http_error")
    try:
        found = json.loads(answer.body)
    except (ValueError, RecursionError):
        raise ServiceFailure(service, "error") from None
    if not isinstance(found, dict):
        raise ServiceFailure(service, "error")
    return found


# --- rerankers: services that put texts in order for a query --------------------------------------------------------


class Reranker(Struct, frozen=True):
    """A service: its name, address and model, and the key of the results in its answer."""

    name: str
    url: str
    model: str
    results_key: str


RERANKERS: Final = {
    "cohere": Reranker("Cohere", "https://api.cohere.com/v2/rerank", "rerank-v3.5", "results"),
    "voyage": Reranker("Voyage", "https://api.voyageai.com/v1/rerank", "rerank-2.5", "data"),
}


def rerank(
    provider: str, query: str, texts: Sequence[str], key: Secret | None, *, timeout_s: float
) -> list[tuple[int, float]]:
    """(place in ``texts``, relevance in [0, 1]), the best first; texts that the service leaves out are absent.

    Raises ServiceFailure.
    """
    service = RERANKERS[provider]
    value = {"model": service.model, "query": query, "documents": list(texts)}
    found = ask(service.name, service.url, value, key, timeout_s=timeout_s).get(service.results_key)
    best: dict[int, float] = {}
    try:
        for item in found or ():
            place, relevance = int(item["index"]), float(item["relevance_score"])
            if not 0 <= place < len(texts) or not math.isfinite(relevance):
                raise ServiceFailure(service.name, "error")
            best.setdefault(place, min(1.0, max(0.0, relevance)))
    except (KeyError, TypeError, ValueError, OverflowError):
        raise ServiceFailure(service.name, "error") from None
    return sorted(best.items(), key=lambda item: (-item[1], item[0]))

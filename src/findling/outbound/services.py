"""Asks external services, with the user's key. A failure is reported by its class, never in the service's words.

Callers have checked that both gates (the user's permissions) are open. The key goes into one header and nowhere else.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct

from findling.outbound.http import HttpAnswer, HttpFailure, post_json, unless_busy

if TYPE_CHECKING:
    from findling.config import Secret


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

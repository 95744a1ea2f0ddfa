"""Rerankers of external services, Cohere and Voyage: texts and a query to an order. Called only behind both gates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from findling.outbound.services import ServiceFailure as ServiceFailure
from findling.outbound.services import ask

if TYPE_CHECKING:
    from findling.config import Secret


@dataclass(frozen=True, slots=True)
class Service:
    """Where a service listens, its model, and how it calls what is the same with all."""

    name: str
    url: str
    model: str
    results_key: str


SERVICES: Final = {
    "cohere": Service("Cohere", "https://api.cohere.com/v2/rerank", "rerank-v3.5", "results"),
    "voyage": Service("Voyage", "https://api.voyageai.com/v1/rerank", "rerank-2.5", "data"),
}


def rerank(
    provider: str, query: str, texts: Sequence[str], key: Secret | None, *, timeout_s: float
) -> list[tuple[int, float]]:
    """(place in ``texts``, relevance in [0, 1]), the best first; texts that the service leaves out are absent.

    Raises ServiceFailure.
    """
    service = SERVICES[provider]
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

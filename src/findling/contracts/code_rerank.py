"""The last order of search_code's results: as they are, by the local rule, or by an external service.

A service is asked behind both gates only, and is never sent what stands in a document. Whatever goes wrong with it,
the local rule takes its place, and the answer says why, never in the service's words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from findling import outbound
from findling.contracts import code_decisions as decide
from findling.model.languages import LANGUAGES
from findling.outbound import events

if TYPE_CHECKING:
    from findling.config import Config
    from findling.config.options import SemanticMode
    from findling.contracts.code_search import Found

SENT_CHARS = 2_000
"""Of each result: a service reads hardly more, and charges for it."""


@dataclass(frozen=True, slots=True)
class Rerank:
    """Who gave the results their last order; ``reason`` says why it was not the configured service, '' if it was."""

    provider: str
    reason: str = ""


def reranked(
    config: Config, mode: SemanticMode, query: str, found: list[Found], most: int
) -> tuple[list[Found], Rerank]:
    """The results in their last order, at most ``most`` where they are ordered anew, and who gave it."""
    wanted = reranker(config, mode)
    if wanted == "none":
        return found, Rerank("none")
    if wanted == "local":
        return _by_words(query, found[:most]), Rerank("local")
    if config.reranker_blocked:
        return _by_words(query, found[:most]), Rerank("local", "external_provider_blocked")
    try:
        return _by_service(config, query, found[:most]), Rerank(wanted)
    except _Failed as failure:
        events.semantic_error(operation="rerank", error_type=failure.reason, message=f"{wanted} did not rerank")
        return _by_words(query, found[:most]), Rerank("local", failure.reason)


def reranker(config: Config, mode: SemanticMode) -> str:
    """Who is to give the results their last order: none, local, or the name of a service."""
    wanted = str(config.refused.get("semantic.rerank.provider", config.rerank.provider))
    if mode == "off" or (wanted == "none" and mode == "hybrid"):
        return "none"
    return "local" if wanted == "none" else wanted


class _Failed(Exception):
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def _by_service(config: Config, query: str, found: Sequence[Found]) -> list[Found]:
    """By relevance; what the service was not sent or did not return follows, at most at its lowest."""
    provider = config.rerank.provider
    sent = [item for item in found if _may_be_sent(item)]
    if not sent:
        return list(found)
    try:
        order = outbound.services.rerank(
            provider,
            query,
            [_text(item)[:SENT_CHARS] for item in sent],
            config.keys.rerank,
            timeout_s=config.rerank.timeout_ms / 1000,
        )
    except outbound.services.ServiceFailure as failure:
        raise _Failed(f"{provider}_{failure.reason}") from failure
    if not order:
        raise _Failed(f"{provider}_empty_response")
    ranked = [_with_score(sent[place], relevance) for place, relevance in order]
    lowest = order[-1][1]
    returned = {sent[place].hit.path for place, _ in order}
    rest = [item for item in found if item.hit.path not in returned]
    return [*ranked, *(_with_score(item, min(lowest, max(item.lexical, item.similarity))) for item in rest)]


def _may_be_sent(item: Found) -> bool:
    language = LANGUAGES.get(item.hit.language)
    return language is not None and language.kind == "code"


def _text(item: Found) -> str:
    return f"{item.hit.path} {item.hit.qualified_name} {item.hit.snippet}"


def _with_score(item: Found, score: float) -> Found:
    return replace(item, lexical=score, similarity=score)


def _by_words(query: str, found: Sequence[Found]) -> list[Found]:
    """By the local rule, which sees words only: what was found by meaning alone keeps what its similarity is worth."""
    values = decide.local_rerank(query, [(_text(item), max(item.lexical, item.similarity)) for item in found])
    valued = [
        (item, value if item.provenance != "semantic" else max(value, item.similarity * decide.RERANK_MOST))
        for item, value in zip(found, values, strict=True)
    ]
    valued.sort(key=lambda pair: (-pair[1], pair[0].hit.path))
    scores = [(item, value / decide.RERANK_MOST) for item, value in valued]
    return [
        replace(item, similarity=score) if item.provenance == "semantic" else replace(item, lexical=score)
        for item, score in scores
    ]

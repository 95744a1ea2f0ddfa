"""hybrid_search: keyword, symbol and semantic lists of places, their scores mixed by fixed weights."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from findling.contracts import absence, index_state
from findling.contracts.model import Arguments, Call, Reply
from findling.contracts.places import clipped
from findling.contracts.refs import check_ref
from findling.contracts.workspace import WAIT_S
from findling.model.types import Answer, Query
from findling.outbound import events

if TYPE_CHECKING:
    from findling.config import Config

PLACE_LINES = 50
"""Lines of a place that its snippet may show."""


def hybrid_search(call: Call, given: Arguments) -> Reply:
    """The handler."""
    started = time.monotonic()
    workspace = call.workspace
    ref = check_ref(workspace, given.get("ref"))
    answer = workspace.engine.ask(question(given, workspace.config), progress=call.progress)
    if index_state.is_unfinished(answer):
        workspace.finish_in_background(ref)
    meaning = answer.meaning
    if meaning.failure:
        events.semantic_error(
            operation="hybrid_search", error_type=meaning.skipped or "failed", message=meaning.failure
        )
    events.semantic_search(
        query=given["query"],
        result_count=len(answer.result.hits),
        latency_ms=events.since(started),
        used_semantic=meaning.ran,
    )
    return Reply(facts(answer), "results")


def question(given: Arguments, config: Config) -> Query:
    """What the arguments ask."""
    weighted = config.hybrid
    return Query(
        given["query"],
        given["top_k"],
        "hybrid",
        wait_s=WAIT_S,
        weights={
            "keyword": weighted.keyword_weight,
            "symbol": weighted.symbol_weight,
            "semantic": weighted.semantic_weight,
        },
        place_lines=PLACE_LINES,
    )


def facts(answer: Answer) -> dict[str, Any]:
    """What is said of an answer; what does not occur has no results."""
    results = [
        {
            "path": hit.path,
            "line_start": hit.start_line,
            "line_end": hit.end_line,
            "snippet": clipped(hit.snippet or grounds.text),
            "score": round(hit.score, 6),
            "sources": list(hit.sources),
        }
        for hit, grounds in (() if answer.result.is_absent else answer.places)
    ]
    return {
        "results": results,
        **absence.fields(answer.absent),
        **index_state.of_answer(answer),
        **index_state.by_words(answer),
    }

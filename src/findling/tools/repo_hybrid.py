"""hybrid_search: keyword, symbol and semantic backends asked at once, their scores mixed by fixed weights."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING

from findling import events
from findling.errors import Cancelled, FindlingError, InvalidInput
from findling.search.analysis import analyse
from findling.tools import index_state
from findling.tools.fusion import Scored, fuse_weighted
from findling.tools.model import Arguments, Call, Reply
from findling.tools.places import Lines, clipped
from findling.tools.refs import check_ref
from findling.tools.workspace import WAIT_S
from findling.types import SearchResult, SymbolHit

if TYPE_CHECKING:
    from findling.tools.index_view import IndexView

SYMBOL_SCORES = {"exact": 1.0, "prefix": 0.8, "part": 0.5}

FAN_OUT, FAN_OUT_LEAST = 3, 50
"""Places that each backend gives, per place asked for: merging needs more than are shown."""

MAX_NAMES = 24
"""Names of one query that are looked up; a longer text is prose."""

_CONTAINERS = frozenset(("class", "struct", "enum", "trait", "interface", "module"))
"""Their place is the head: all of a class would swallow every other hit in it."""

_log = logging.getLogger(__name__)


def hybrid_search(call: Call, given: Arguments) -> Reply:
    """The handler. It fails only when no backend could answer at all."""
    started = time.monotonic()
    workspace = call.workspace
    engine = workspace.engine
    weighted = workspace.config.hybrid
    ref = check_ref(engine.root, given.get("ref"))
    query: str = given["query"]
    wanted = max(FAN_OUT_LEAST, FAN_OUT * given["top_k"])
    # First, because it takes in what changed on disk; the others then see it.
    semantic_on = workspace.view(lambda view: view.semantic_problem) is None
    fresh = engine.search(
        query, mode="semantic" if semantic_on else "keyword", limit=1, wait_s=WAIT_S, progress=call.progress
    )
    state = index_state.of_search(call, ref, fresh, by_meaning=semantic_on)

    # All at the same time: two in threads of their own, text in this one.
    folder = engine.scope
    symbols = workspace.ask_view(lambda view: _symbols(view, query, wanted, folder), beside=True)
    near: Future[list[Scored]] | None = None
    if semantic_on and fresh.coverage.embedded_chunks:
        near = workspace.ask_view(
            lambda view: [
                Scored(place.path, place.start_line, place.end_line, place.cosine)
                for place in view.near(query, wanted, folder=folder)
            ]
        )
    backends: dict[str, Callable[[], Sequence[Scored]]] = {
        "keyword": lambda: _keyword(engine.search(query, mode="keyword", limit=wanted, wait_s=0)),
        "symbol": symbols.result,
    }
    if near is not None:
        backends["semantic"] = near.result
    lists: dict[str, Sequence[Scored]] = {}
    failure: FindlingError | None = None
    for name, ask in backends.items():
        try:
            lists[name] = ask()
        except Cancelled:
            raise
        except FindlingError as error:
            _log.warning("the %s backend cannot answer: %s", name, error)
            if name == "semantic":
                events.semantic_error(operation="hybrid_search", error_type=error.code, message=error.message)
            failure = error
    if not lists and failure is not None:
        raise failure
    weights = {
        "keyword": weighted.keyword_weight,
        "symbol": weighted.symbol_weight,
        "semantic": weighted.semantic_weight,
    }
    lines = Lines(engine)
    results = [
        {
            "path": place.path,
            "line_start": place.line_start,
            "line_end": place.line_end,
            "snippet": clipped(place.snippet or lines.between(place.path, place.line_start, place.line_end)),
            "score": round(place.score, 6),
            "sources": list(place.sources),
        }
        for place in fuse_weighted(lists, weights)[: given["top_k"]]
    ]
    events.semantic_search(
        query=query, result_count=len(results), latency_ms=events.since(started), used_semantic="semantic" in lists
    )
    return Reply({"results": results, **state}, "results")


def _keyword(result: SearchResult) -> list[Scored]:
    return [
        Scored(hit.path, hit.start_line, hit.end_line, max(0.0, hit.rank_value), hit.snippet) for hit in result.hits
    ]


def _symbols(view: IndexView, query: str, wanted: int, folder: str) -> list[Scored]:
    """Definitions of the names in a query. Words that are no name by their form count only when one is called so."""
    terms = analyse(query)
    names = list(dict.fromkeys(name.text for name in terms.names))
    words = [word for word in (*terms.words, *terms.compounds) if len(terms.words) > 1]
    best: dict[tuple[str, int], Scored] = {}
    for name in (*names, *words)[:MAX_NAMES]:
        try:
            found = view.definitions(name, wanted, folder=folder)
        except InvalidInput:
            continue  # a word without a letter or digit is nobody's name
        for hit in found:
            if name in names or hit.match == "exact":
                place = _place(hit)
                known = best.get((hit.path, hit.line))
                if known is None or known.score < place.score:
                    best[hit.path, hit.line] = place
    return sorted(best.values(), key=lambda place: (-place.score, place.path, place.line_start))[:wanted]


def _place(hit: SymbolHit) -> Scored:
    end = max(hit.start_line, hit.line) if hit.kind in _CONTAINERS else hit.end_line
    return Scored(hit.path, hit.start_line, end, SYMBOL_SCORES[hit.match], hit.signature)

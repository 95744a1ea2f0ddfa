"""query_docs: a short answer in the documents' own words, with its sources. Never an error of searching by meaning."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from findling.contracts import budget, index_state
from findling.contracts.docs_scope import READY, ask, report, scope_of, semantic_state
from findling.contracts.model import Arguments, Call, Reply
from findling.model.types import CHARS_PER_TOKEN, LOW_CONFIDENCE
from findling.outbound import events
from findling.search.documents import DocumentAnswer, DocumentQuery
from findling.search.extract import EXTRACT_CHARS, Excerpt, cut_between_words

SNIPPET_CHARS = 200
"""Of each source, enough to see what it says."""

NO_VECTORS = "No embeddings yet"
"""Why text alone answers where nothing but time is missing."""


NOT_SAID = "The documents{so_far} do not seem to answer this. The nearest they have:"
"""Stands before an answer of low confidence."""

NO_ROOM = "max_tokens leaves no room for the answer."
"""Stands in for one that was found."""


def query_docs(call: Call, given: Arguments) -> Reply:
    """The handler. Raises `InvalidInput`."""
    started = time.monotonic()
    text: str = given["query"]
    state = semantic_state(call.workspace, text) if given["preferSemantic"] else READY
    report("query_docs", state)
    by_meaning = given["preferSemantic"] and state.state == "ready"
    scope = scope_of(call.workspace, given.get("scope", {}))
    answer = ask(call, DocumentQuery(text, "excerpts", scope, by_meaning=by_meaning))
    fallback = (state.fallback_reason or NO_VECTORS) if given["preferSemantic"] else ""
    facts = facts_of(answer, fallback, given.get("max_tokens"))
    latency = events.since(started)
    call.workspace.note_latency(latency)
    used = facts["meta"]["used_semantic"]
    events.semantic_search(query=text, result_count=len(_shown(answer)), latency_ms=latency, used_semantic=used)
    return Reply(facts)


def _shown(answer: DocumentAnswer) -> Sequence[Excerpt]:
    """The excerpts; none where nothing was asked but what does not occur."""
    return answer.found.excerpts if answer.found and not any(each.whole for each in answer.absent) else ()


def facts_of(answer: DocumentAnswer, fallback: str, max_tokens: int | None) -> dict[str, Any]:
    """What query_docs says of an answer. ``fallback``: why vectors were not compared, if they were not."""
    excerpts = _shown(answer)
    confidence = answer.found.confidence if answer.found and excerpts else 0.0
    used = answer.found is not None and answer.found.used_semantic
    meta: dict[str, Any] = {"used_semantic": used}
    if fallback and not used:
        meta["fallback_reason"] = fallback
    meta |= {"confidence": round(confidence, 6), "low_confidence": confidence < LOW_CONFIDENCE}
    meta |= index_state.of_documents(answer)
    said = "\n\n".join(excerpt.text for excerpt in excerpts)
    if said and confidence < LOW_CONFIDENCE:
        begins = NOT_SAID.format(so_far=" that are indexed so far" if index_state.COMPLETENESS in meta else "")
        said = cut_between_words(f"{begins}\n\n{said}", EXTRACT_CHARS)
    sources = [_source(excerpt) for excerpt in excerpts]
    room = max_tokens
    if room is not None:
        chars = room * CHARS_PER_TOKEN
        said = cut_between_words(said, max(chars - len(budget.dumps(sources[:1])), chars // 2))
        room -= budget.tokens(said)
    query = cut_between_words(answer.query.text, SNIPPET_CHARS)
    nothing = NO_ROOM if excerpts else f'No results found for query: "{query}"'
    if any(each.whole for each in answer.absent):
        nothing = cut_between_words("; ".join(each.words for each in answer.absent), EXTRACT_CHARS)
    facts = {"answer": said or nothing, "sources": sources, **index_state.absent_fields(answer.absent), "meta": meta}
    return budget.cut_to(facts, "sources", room)


def _source(excerpt: Excerpt) -> dict[str, Any]:
    source: dict[str, Any] = {"path": excerpt.path, "snippet": cut_between_words(excerpt.text, SNIPPET_CHARS)}
    if excerpt.header:
        source["header"] = excerpt.header
    source["lineRange"] = [excerpt.start_line, excerpt.end_line]
    return source

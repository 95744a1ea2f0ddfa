"""query_docs: a short answer in the documents' own words, with its sources. Never an error of searching by meaning."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence, Set
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from findling import embedding
from findling.contracts import budget
from findling.contracts.docs_scope import READY, ask, report, scope_of, semantic_state
from findling.contracts.index_state import COMPLETENESS, absent_fields
from findling.contracts.model import Arguments, Call, Reply
from findling.model.errors import EmbedderUnavailable
from findling.model.term_rows import among
from findling.model.tokenizer import path_terms, term_key, terms
from findling.model.types import CHARS_PER_TOKEN, LOW_CONFIDENCE
from findling.outbound import events
from findling.search import passages, siblings
from findling.search.analysis import QueryTerms, analyse
from findling.search.extract import EXTRACT_CHARS, Excerpt, PassageText, cut_between_words, extract
from findling.search.passages import Passage
from findling.search.ranking.ranker import term_weights
from findling.search.ranking.signals import STANDS_IN
from findling.search.readings import Nearness, Said, nothing_near

if TYPE_CHECKING:
    from findling.engine.documents import OpenDocuments

PASSAGES = 6
"""Passages that an answer is taken from: the right one is among the first five in two of three cases."""

PROPOSED = 4 * PASSAGES
"""Of these, passages of a page's translations give way to those of the page."""

SNIPPET_CHARS = 200
"""Of each source, enough to see what it says."""

NO_VECTORS = "No embeddings yet"
"""Why text alone answers where nothing but time is missing."""


def query_docs(call: Call, given: Arguments) -> Reply:
    """The handler. Raises `InvalidInput`."""
    started = time.monotonic()
    query: str = given["query"]
    state = semantic_state(call.workspace, query) if given["preferSemantic"] else READY
    report("query_docs", state)
    by_meaning = given["preferSemantic"] and state.state == "ready"

    scope = scope_of(call.workspace, given.get("scope", {}))
    found, state_of_index, absent = ask(
        call, given, scope, lambda opened: _answer(opened, query), query=query, by_meaning=by_meaning
    )
    used = found is not None and found.used_semantic
    is_absent = any(each.whole for each in absent)  # nothing else was asked, so nothing answers it
    excerpts = found.excerpts if found and not is_absent else ()
    confidence = found.confidence if found and not is_absent else 0.0
    meta: dict[str, Any] = {"used_semantic": used}
    if given["preferSemantic"] and not used:
        meta["fallback_reason"] = state.fallback_reason or NO_VECTORS
    meta |= {"confidence": round(confidence, 6), "low_confidence": confidence < LOW_CONFIDENCE}
    meta |= state_of_index
    latency = events.since(started)
    call.workspace.note_latency(latency)
    events.semantic_search(query=query, result_count=len(excerpts), latency_ms=latency, used_semantic=used)
    answer = "\n\n".join(excerpt.text for excerpt in excerpts)
    if answer and confidence < LOW_CONFIDENCE:
        begins = NOT_SAID.format(so_far=" that are indexed so far" if COMPLETENESS in state_of_index else "")
        answer = cut_between_words(f"{begins}\n\n{answer}", EXTRACT_CHARS)
    sources = [_source(excerpt) for excerpt in excerpts]
    room: int | None = given.get("max_tokens")
    if room is not None:
        chars = room * CHARS_PER_TOKEN
        answer = cut_between_words(answer, max(chars - len(budget.dumps(sources[:1])), chars // 2))
        room -= budget.tokens(answer)
    nothing = NO_ROOM if excerpts else f'No results found for query: "{cut_between_words(query, SNIPPET_CHARS)}"'
    if is_absent:
        nothing = cut_between_words("; ".join(each.words for each in absent), EXTRACT_CHARS)
    facts = {"answer": answer or nothing, "sources": sources, **absent_fields(absent), "meta": meta}
    return Reply(budget.cut_to(facts, "sources", room))


class _Answer(Struct, frozen=True):
    """``confidence`` in [0, 1]: that the documents have an answer at all, and the excerpts are from where it is."""

    excerpts: tuple[Excerpt, ...]
    confidence: float
    used_semantic: bool


def _answer(opened: OpenDocuments, query: str) -> _Answer:
    asked = analyse(query)
    channel = opened.channel
    weights = term_weights(opened.reader, asked)
    said = Said(asked, weights, nothing_near if channel is None else _nearness()).shares
    proposed = passages.blended(opened.reader, asked, opened.files, channel, said, limit=PROPOSED)
    folded = siblings.in_one_language((passage.file for passage in proposed), english=asked.is_english)
    found = [passage for passage in proposed if passage.file.entry_id not in folded.gone][:PASSAGES]
    texts = []
    for passage in found:
        document = opened.texts.of(passage.file)
        if document is not None:
            paragraphs = tuple(document.paragraphs(passage.chunk))
            texts.append(PassageText(passage.file.path, passage.chunk.headings, passage.value, paragraphs))
    closeness = None
    if channel is not None and channel.is_quick:
        vector = channel.encode(query)

        def closeness(pieces: Sequence[str]) -> list[float]:
            return channel.closeness(vector, pieces)

    excerpts = extract(weights, said, texts, closeness)
    confidence = _confidence(opened, asked, weights, found, answered_by(found, excerpts)) if excerpts else 0.0
    return _Answer(excerpts, confidence, channel is not None)


def _nearness() -> Nearness:
    """By the bundled model's words, whichever model the documents have."""
    try:
        return partial(embedding.nearness, embedding.shared())
    except EmbedderUnavailable:
        return nothing_near


def answered_by(found: Sequence[Passage], excerpts: Sequence[Excerpt]) -> Passage:
    """The best passage that the answer says something of; where none can be told, the best."""
    return next((passage for passage in found if any(_is_from(excerpt, passage) for excerpt in excerpts)), found[0])


def _is_from(excerpt: Excerpt, passage: Passage) -> bool:
    chunk = passage.chunk
    return (
        excerpt.path == passage.file.path
        and excerpt.start_line <= chunk.end_line
        and chunk.start_line <= excerpt.end_line
    )


TYPICAL_COSINE = 0.54
"""Of a right answer's best passage; stands in where there are no vectors."""

BIAS = -4.8
COVERAGE = 3.5
KNOWN = 3.0
COSINE = 3.0
"""Fitted on judged questions, and rounded. Those of `findling.search.answer` are of what whole files hold."""

FEW = 5
"""Among so many documents a word that none has says half as much as among very many."""

NOT_SAID = "The documents{so_far} do not seem to answer this. The nearest they have:"
"""Stands before an answer of low confidence."""

NO_ROOM = "max_tokens leaves no room for the answer."
"""Stands in for one that was found."""


def _confidence(
    opened: OpenDocuments, asked: QueryTerms, weights: dict[str, float], found: list[Passage], best: Passage
) -> float:
    """By how much of the question the answer's best passage holds, how much any document does, and how near the nearest
    passage is.

    Of judged questions that the documents do not answer it flags four in five, of answers from the right place one in
    seven.
    """
    document = opened.texts.of(best.file)
    held = {*terms(" ".join(best.chunk.headings)), *path_terms(best.file.path)}
    held.update(terms(document.chunk(best.chunk)) if document else ())
    said = sum(weight * _share_held(term, held, asked) for term, weight in weights.items())
    total = sum(weights.values()) or 1.0
    known = _known(opened, asked, weights)
    unknown = 1.0 - sum(weight * _share_held(term, known, asked) for term, weight in weights.items()) / total
    unknown *= len(opened.files) / (len(opened.files) + FEW)
    cosine = max(passage.cosine for passage in found) if opened.channel is not None else TYPICAL_COSINE
    return 1.0 / (1.0 + math.exp(-(BIAS + COVERAGE * said / total + KNOWN * (1.0 - unknown) + COSINE * cosine)))


_ROWS_AT_ONCE = 100
"""Documents whose terms are looked at before it is seen whether any is still wanted: most are in the first ones."""


def _known(opened: OpenDocuments, asked: QueryTerms, weights: dict[str, float]) -> set[str]:
    """Those of the question's terms and their synonyms that any of the documents has."""
    by_key = {term_key(term): term for term in weights}
    by_key.update({term_key(other): other for term in weights for other in asked.synonyms.get(term, ())})
    anywhere = opened.reader.term_counts(by_key)
    wanted = {key for key in by_key if anywhere.get(key)}
    found: set[int] = set()
    for first in range(0, len(opened.files), _ROWS_AT_ONCE):
        if found >= wanted:
            break
        some = opened.files[first : first + _ROWS_AT_ONCE]
        for row in opened.reader.terms(file.blob_id for file in some).values():
            found |= among(row, wanted)
    return {by_key[key] for key in found}


def _share_held(term: str, held: Set[str], asked: QueryTerms) -> float:
    """1 for a term that is there, less for one that only a synonym stands for."""
    if term in held:
        return 1.0
    return 0.0 if held.isdisjoint(asked.synonyms.get(term, ())) else STANDS_IN


def _source(excerpt: Excerpt) -> dict[str, Any]:
    source: dict[str, Any] = {"path": excerpt.path, "snippet": cut_between_words(excerpt.text, SNIPPET_CHARS)}
    if excerpt.header:
        source["header"] = excerpt.header
    source["lineRange"] = [excerpt.start_line, excerpt.end_line]
    return source

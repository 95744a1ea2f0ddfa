"""search_code: what a query asks for, whether meaning is asked too, and an answer that says what it is worth."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from findling import events
from findling.errors import EmbedderUnavailable
from findling.ingest.languages import LANGUAGES, find_language
from findling.search.analysis import STOP_WORDS
from findling.search.intent import IntentGuess, classify
from findling.tools import code_decisions as decide
from findling.tools import code_lexical, code_metadata
from findling.tools.code_rerank import Rerank, reranked
from findling.tools.model import Arguments, Call, Refusal, Reply
from findling.tools.parameters import MAX_NAME, MAX_REPEATED
from findling.tools.places import Lines, clipped
from findling.tools.refs import check_ref
from findling.types import SYMBOL_KINDS, Coverage, Hit, SearchResult

if TYPE_CHECKING:
    from findling.config.options import SemanticMode

SNIPPET_CHARS = 200
BODY_LINES = 200
"""Lines of a result's body; more is reading the file."""

MORE_RESULTS = 20
"""To ask for where the first ones do not answer: half of the files that these miss stand among so many."""

DENSE_SIGNAL = "window"
"""The engine's signal that comes from vectors; all others come from text."""

SEMANTIC_SOURCES = frozenset(("semantic",))

_SKIPPED = {
    "none": "semantic_backend_unavailable",
    "down": "semantic_backend_unavailable",
    "slow": "semantic_backend_timeout",
    "mismatch": "semantic_backend_error",
}


@dataclass(frozen=True, slots=True)
class Found:
    """One result before it is written: who found it, and how well it answers by text and by meaning."""

    hit: Hit
    provenance: decide.Provenance
    lexical: float
    similarity: float


@dataclass(frozen=True, slots=True)
class Semantics:
    """What became of the semantic side of one query."""

    mode: SemanticMode
    ratio_used: float
    triggered: bool
    skipped: str | None
    fallback: bool = False
    warning: str = ""


def search_code(call: Call, given: Arguments) -> Reply:
    """The handler. Raises `Refusal`."""
    started = time.monotonic()
    workspace = call.workspace
    engine = workspace.engine
    query: str = given["query"]
    language = known_language(given.get("language"))
    ref = check_ref(engine.root, given.get("ref"))
    guess = classify(query)
    fan_out = decide.fan_out(given["limit"])
    strict = given["freshness_policy"] == "strict"
    lexical = code_lexical.search(
        call, query, guess.intent, language=language, limit=fan_out.lexical, look_at_all=strict
    )
    freshness = lexical.first.freshness
    if strict and freshness != "fresh":
        raise Refusal(
            "index_stale",
            f"The index does not show the newest files: {lexical.first.stale_reason or 'not all are indexed yet'}.",
            {"current_head": ref, "suggestion": "Call sync_repo, or ask with freshness_policy balanced."},
        )
    found, semantics, coverage, total, confidence = _decide(call, given, guess, lexical, fan_out, language)
    found, rerank = reranked(workspace.config, semantics.mode, query, found, fan_out.merged)
    workspace.note_latency((time.monotonic() - started) * 1000)
    shown = found[: given["limit"]]
    if semantics.mode == "hybrid":
        events.semantic_search(
            query=query,
            result_count=len(shown),
            latency_ms=events.since(started),
            used_semantic=semantics.triggered,
        )
    scores = decide.exposed_scores((item.provenance, item.lexical, item.similarity) for item in shown)
    metadata = code_metadata.of_answer(
        workspace, ref, freshness=freshness, coverage=coverage, vectors_wanted=semantics.mode == "hybrid"
    )
    lacks_vectors = semantics.mode == "hybrid" and coverage.missing_vectors > 0
    if (freshness != "fresh" or coverage.unfinished or lacks_vectors) and given["freshness_policy"] != "best_effort":
        workspace.finish_in_background(ref)
    metadata |= _semantic_fields(call, semantics, found, coverage, fan_out) | _rerank_fields(rerank)
    metadata |= _confidence_fields(call, given, guess, shown, scores, confidence)
    # What answered is an index that this version can read; a question without one has begun to make it.
    metadata["schema_status"] = "compatible" if coverage.files else "not_indexed"
    if warnings := [*lexical.first.notes, *([semantics.warning] if semantics.warning else [])]:
        metadata["warnings"] = warnings
    lines = Lines(engine)
    facts = {
        "results": [
            result_facts(item.hit, score, given["detail_level"], lines, guess.intent) | {"provenance": item.provenance}
            for item, score in zip(shown, scores, strict=True)
        ],
        "query_intent": guess.intent,
        "total_candidates": total,
        "suggested_next_actions": _next_actions(given, guess, shown, low=metadata["low_confidence"], total=total),
        "metadata": metadata,
    }
    return Reply(facts, "results")


def known_language(name: str | None) -> str | None:
    """A language's id. Raises `Refusal` with the nearest names."""
    if name is None:
        return None
    language = find_language(name)
    if language is None:
        from difflib import get_close_matches

        near = get_close_matches(name.lower(), LANGUAGES, 3)
        hint = f" Did you mean {' or '.join(near)}?" if near else " Leave it out to search all."
        raise Refusal("invalid_input", f"Parameter `language` must be a known language, not {name!r}.{hint}")
    return language.id


# --- the semantic side -----------------------------------------------------------------------------------------


def _decide(
    call: Call,
    given: Arguments,
    guess: IntentGuess,
    lexical: code_lexical.Lexical,
    fan_out: decide.FanOut,
    language: str | None,
) -> tuple[list[Found], Semantics, Coverage, int, float]:
    """What was found, how, in how much, of how many; and how sure the question that decided is of it."""
    workspace = call.workspace
    config = workspace.config
    counts = workspace.view(lambda view: view.counts())
    problem = workspace.view(lambda view: view.semantic_problem)
    mode = config.semantic.effective_mode(embedder_works=problem is None or problem.kind != "none")
    # The engine counts vectors only where it was asked for meaning; here they are counted always.
    coverage = replace(lexical.first.coverage, embedded_chunks=counts.embedded if counts else 0)
    cap = decide.ratio_cap(given.get("semantic_ratio"), config.ratio_for(guess.intent))
    threshold = config.semantic.lexical_short_circuit_threshold
    reason = decide.skip_reason(
        mode=mode,
        intent=guess.intent,
        cap=cap,
        confidence=lexical.confidence,
        threshold=threshold,
        indexed=coverage.embedded_chunks > 0 or problem is not None,
    )
    sure = lexical.sure
    by_text = [Found(hit, "lexical", lexical.evidence[hit.path].score, 0.0) for hit in lexical.hits]
    if reason is None and problem is not None:
        skipped = _SKIPPED[problem.kind]
        warning = problem.message if problem.kind == "mismatch" else ""
        events.semantic_error(operation="search_code", error_type=skipped, message=problem.message)
        return by_text, Semantics(mode, 0.0, False, skipped, True, warning), coverage, len(by_text), sure
    if reason is not None:
        return by_text, Semantics(mode, 0.0, False, reason), coverage, len(lexical.hits), sure
    ratio = decide.used_ratio(cap, lexical.confidence, threshold)
    try:
        mixed, answer = _by_meaning(call, given, guess, lexical, fan_out, language, ratio)
    except EmbedderUnavailable as error:
        events.semantic_error(operation="search_code", error_type=error.code, message=error.message)
        skipped = {
            "timeout": "semantic_backend_timeout",
            "unreachable": "semantic_backend_unavailable",
        }.get(error.reason, "semantic_backend_error")
        return by_text, Semantics(mode, 0.0, False, skipped, True), coverage, len(by_text), sure
    none = not any(item.provenance != "lexical" for item in mixed)
    if none and (problem := workspace.view(lambda view: view.semantic_problem)) is not None:
        events.semantic_error(operation="search_code", error_type=_SKIPPED[problem.kind], message=problem.message)
        return by_text, Semantics(mode, 0.0, False, _SKIPPED[problem.kind], True), coverage, len(by_text), sure
    if none:
        return by_text, Semantics(mode, 0.0, True, "semantic_no_matches"), coverage, len(by_text), sure
    return mixed, Semantics(mode, ratio, True, None), coverage, answer.total, answer.confidence


def _by_meaning(
    call: Call,
    given: Arguments,
    guess: IntentGuess,
    lexical: code_lexical.Lexical,
    fan_out: decide.FanOut,
    language: str | None,
    ratio: float,
) -> tuple[list[Found], SearchResult]:
    """The engine's order with the sum of its signals mixed as ``ratio`` says: 2(1 - r) text + 2r dense; and its answer
    as it was."""
    workspace = call.workspace
    engine = workspace.engine
    query: str = given["query"]
    answer = engine.search(
        query, mode="auto", limit=fan_out.merged, language=language, explain=True, wait_s=0, progress=call.progress
    )
    similar = workspace.view(lambda view: view.similarities(query, [hit.path for hit in answer.hits]))
    evidence = code_lexical.evidence_of(engine, query, guess.intent, answer.hits) | lexical.evidence
    order = sorted(answer.hits, key=lambda hit: (-mixed_value(hit, ratio), hit.path))
    return [Found(hit, provenance(hit), evidence[hit.path].score, similar.get(hit.path, 0.0)) for hit in order], answer


def mixed_value(hit: Hit, ratio: float) -> float:
    """The hit's ranking sum with text and vectors weighed by ``ratio``; 0.5 is the engine's own sum."""
    dense = sum(reason.value for reason in hit.reasons if reason.signal == DENSE_SIGNAL)
    text = sum(reason.value for reason in hit.reasons if reason.signal != DENSE_SIGNAL)
    return 2 * (1 - ratio) * text + 2 * ratio * dense


def provenance(hit: Hit) -> decide.Provenance:
    by_meaning = "semantic" in hit.sources
    by_text = bool(set(hit.sources) - SEMANTIC_SOURCES)
    return "hybrid" if by_meaning and by_text else "semantic" if by_meaning else "lexical"


# --- what it is worth ------------------------------------------------------------------------------------------


def _semantic_fields(
    call: Call, semantics: Semantics, found: list[Found], coverage: Coverage, fan_out: decide.FanOut
) -> dict[str, Any]:
    fingerprint = call.workspace.view(lambda view: view.fingerprint)
    enabled = semantics.mode != "off"
    uses_vectors = semantics.mode == "hybrid" and fingerprint is not None
    fields: dict[str, Any] = {
        "semantic_mode": semantics.mode,
        "semantic_enabled": enabled,
        "semantic_ratio_used": round(semantics.ratio_used, 6),
        "semantic_triggered": semantics.triggered,
        "semantic_skipped_reason": semantics.skipped,
        "semantic_fallback": semantics.fallback,
        "semantic_degraded": decide.semantic_degraded(
            fallback=semantics.fallback, found_by_meaning=any(item.provenance != "lexical" for item in found)
        ),
        "embedding_model_version": fingerprint.version if uses_vectors and fingerprint else None,
        "external_provider_blocked": call.workspace.config.external_blocked,
        "lexical_fan_out": fan_out.lexical,
        "semantic_fan_out": fan_out.semantic,
        "merged_fan_out": fan_out.merged,
    }
    if coverage.chunks:
        fields["embedding_coverage"] = round(coverage.embedded_chunks / coverage.chunks, 6)
    return fields


def _rerank_fields(rerank: Rerank) -> dict[str, Any]:
    fields: dict[str, Any] = {"rerank_provider": rerank.provider, "rerank_fallback": bool(rerank.reason)}
    if rerank.reason:
        fields["rerank_fallback_reason"] = rerank.reason
    return fields


def _confidence_fields(
    call: Call,
    given: Arguments,
    guess: IntentGuess,
    shown: list[Found],
    scores: list[float],
    confidence: float,
) -> dict[str, Any]:
    threshold = given.get("confidence_threshold", call.workspace.config.semantic.confidence_threshold)
    worth = decide.lead(scores, [item.provenance for item in shown])
    low = confidence < threshold
    return {
        "low_confidence": low,
        "suggested_action": decide.suggested_action(
            guess.intent,
            len(shown),
            low=low,
            query=clipped(given["query"], MAX_REPEATED),
            name=_name_for(given["query"], guess, shown),
        ),
        "confidence_threshold": threshold,
        "top_score": round(worth.top_score, 6),
        "score_margin": round(worth.score_margin, 6),
        "channel_agreement": round(worth.channel_agreement, 6),
        "query_intent_confidence": guess.confidence,
        "intent_escalation_hint": guess.hint,
    }


def _name_for(query: str, guess: IntentGuess, shown: list[Found]) -> str:
    """What the query calls the thing, '' where that is no name."""
    name = query.strip()
    if guess.intent != "symbol":
        name = decide.extracted_identifier(query, shown[0].hit.name if shown else "", STOP_WORDS)
    return name if len(name) <= MAX_NAME else ""


def _next_actions(
    given: Arguments, guess: IntentGuess, shown: list[Found], *, low: bool, total: int
) -> list[dict[str, Any]]:
    """Calls that are worth making now, the likeliest first, all of them of the ``ref`` that was asked for."""
    at = {} if given.get("ref") is None else {"ref": given["ref"]}
    actions: list[dict[str, Any]] = []
    if not shown:
        actions.append({"tool": "index_status", "arguments": at, "reason": "nothing was found: see what is indexed"})
    name = _name_for(given["query"], guess, shown)
    if (
        low
        and name
        and (guess.intent == "symbol" or (guess.intent == "natural_language" and decide.looks_like_a_name(name)))
    ):
        actions.append(
            {"tool": "locate_symbol", "arguments": {"name": name, **at}, "reason": "look the name up among definitions"}
        )
    if low and len(shown) < min(total, MORE_RESULTS) and len(given["query"]) <= MAX_REPEATED:
        same = {key: given[key] for key in ("language", "detail_level", "semantic_ratio") if key in given}
        actions.append(
            {
                "tool": "search_code",
                "arguments": {"query": given["query"], **same, "limit": MORE_RESULTS, **at},
                "reason": "what is meant may stand further down",
            }
        )
    if shown:
        path = shown[0].hit.path
        actions.append(
            {
                "tool": "get_file_outline",
                "arguments": {"path": path, **at},
                "reason": "see what the first result's file holds",
            }
        )
    return actions


# --- one result ------------------------------------------------------------------------------------------------


def result_facts(hit: Hit, score: float, detail: str, lines: Lines, intent: str) -> dict[str, Any]:
    """A result's fields, without its provenance. ``detail``: location, signature or context."""
    name = hit.path.rsplit("/", 1)[-1]
    kind, qualified = "snippet", hit.path
    if hit.kind in SYMBOL_KINDS:
        result_type, kind, name, qualified = "symbol", hit.kind, hit.name, hit.qualified_name
    else:
        result_type = kind = "file" if intent == "path" else "snippet"
    facts: dict[str, Any] = {
        "path": hit.path,
        "line_start": hit.start_line,
        "line_end": hit.end_line,
        "kind": kind,
        "name": name,
        "score": round(score, 6),
    }
    if detail == "location":
        return facts
    facts |= {
        "qualified_name": qualified,
        "language": hit.language,
        "snippet": clipped(hit.snippet, SNIPPET_CHARS),
        "result_type": result_type,
    }
    if result_type == "symbol":
        facts["symbol_id"] = symbol_id(hit.path, hit.qualified_name, hit.start_line)
        if hit.signature:
            facts["signature"] = hit.signature
    if detail == "context":
        facts["body"] = lines.between(hit.path, hit.start_line, min(hit.end_line, hit.start_line + BODY_LINES - 1))
    return facts


def symbol_id(path: str, qualified_name: str, line: int) -> str:
    """Names one definition in one state of the files."""
    return f"{path}#{qualified_name}@{line}"

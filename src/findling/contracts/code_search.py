"""search_code: arguments to one question, and its answer to a reply that says what it is worth.

`question` and `facts` are pure; only an external reranker stands between them.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from findling import outbound
from findling.config.options import SemanticMode
from findling.contracts import budget, code_metadata, index_state
from findling.contracts import code_decisions as decide
from findling.contracts.files import MAX_REPEATED, clipped
from findling.contracts.model import Arguments, Call, Listing, Refusal, Reply
from findling.contracts.symbols import chain, related
from findling.contracts.workspaces import WAIT_S
from findling.model.languages import LANGUAGES, find_language
from findling.model.types import SYMBOL_KINDS, Answer, Confidence, Grounds, Hit, Intent, Query, SymbolHit, sync_helps
from findling.outbound import events
from findling.search import lexical
from findling.search.query import without_form
from findling.search.vocabulary import STOP_WORDS

if TYPE_CHECKING:
    from findling.config import Config


SNIPPET_CHARS = 200
MAX_NAME = 1_000
"""Characters of a name; what is longer is none."""

BODIES: Mapping[str, Literal["auto", "all", "none"]] = {
    "location": "none",
    "signature": "none",
    "auto": "auto",
    "context": "all",
}
"""Which places are shown in full, by the level of detail."""

PLACE_CHARS = 520
"""What the fields of a result take, apart from its path, its name and its body."""

FRAME_CHARS = 1_700
"""What an answer holds beside its places and their text: its metadata, what to do next, the escapes of JSON."""

TEXT_LINES = 60
"""How many lines of a place are compared with the query: about as many as a person would look at."""

MORE_RESULTS = 20
"""The limit to suggest when the first results do not answer: it finds half of the files that those missed."""


class Found(Struct, frozen=True):
    """One result before it is written: who found it, and how well it answers by text and by meaning."""

    hit: Hit
    text: str
    provenance: decide.Provenance
    lexical: float
    similarity: float


def search_code(call: Call, given: Arguments) -> Reply:
    """The handler. Raises `Refusal`."""
    started = time.monotonic()
    workspace = call.workspace
    config = workspace.config
    answer = workspace.asked.ask(question(given, config, call.offset), progress=call.progress)
    if given["freshness_policy"] == "strict" and answer.result.freshness != "fresh":
        raise _stale(answer, workspace.ref_name)
    mode = mode_of(answer, config)
    found, rerank = reranked(config, mode, given["query"], placed(answer), _fan_out(given).merged)
    total = answer.result.total
    if reranker(config, mode) != "none":  # they were ordered anew, so all pages are of these
        total, found = len(found), found[call.offset :]
    workspace.note_latency((time.monotonic() - started) * 1000)
    _report(answer, mode, min(len(found), given["limit"]), started)
    metadata = code_metadata.of_answer(
        workspace.ref_name,
        freshness=answer.result.freshness,
        coverage=answer.result.coverage,
        job_active=workspace.job_active,
        vectors_wanted=mode == "hybrid",
    )
    if answer.meaning.by_words and metadata["result_completeness"] == "complete":
        metadata["result_completeness"] = "partial"
    unfinished = given["freshness_policy"] != "best_effort" and _is_unfinished(answer, mode)
    listing = Listing(0 if answer.result.is_absent else total, budget.made_from(answer, rerank.provider))
    told = facts(given, config, answer, found, rerank, metadata)
    return Reply(told, "results", listing=listing, unfinished=unfinished)


def question(given: Arguments, config: Config, offset: int = 0) -> Query:
    """What the arguments ask, from the place ``offset`` on. Raises `Refusal` for a language that is none."""
    semantic = config.semantic
    mode = semantic.effective_mode(embedder_works=True)
    cap = config.ratio_for("natural_language")
    in_order = reranker(config, mode) == "none"
    limit = given["limit"] if in_order else _fan_out(given).merged
    return Query(
        given["query"],
        limit,
        **filters(given),
        wait_s=WAIT_S,
        look_at_all=given["freshness_policy"] == "strict",
        gate=decide.gate(mode, given.get("semantic_ratio"), cap, semantic.lexical_short_circuit_threshold),
        place_lines=TEXT_LINES,
        max_tokens=given.get("max_tokens") if in_order else None,
        bodies=BODIES[given["detail_level"]],
        brief=in_order and given["detail_level"] == "auto",  # results have many fields: the last get a line each
        place_chars=PLACE_CHARS,
        frame_chars=FRAME_CHARS,
        offset=offset if in_order else 0,
    )


def mode_of(answer: Answer, config: Config) -> SemanticMode:
    """The mode in effect, given whether there is an embedder."""
    problem = answer.meaning.problem
    return config.semantic.effective_mode(embedder_works=problem is None or problem.kind != "none")


def placed(answer: Answer) -> list[Found]:
    """The answer's places as results, in its order; none where what was asked for does not occur."""
    if answer.result.is_absent:
        return []
    return [_found(answer, hit, grounds) for hit, grounds in answer.places]


def facts(
    given: Arguments,
    config: Config,
    answer: Answer,
    found: Sequence[Found],
    rerank: Rerank,
    metadata: Mapping[str, Any],
) -> dict[str, Any]:
    """The fields of a reply. ``found``: the results in the order to show; ``metadata``: the state of the index."""
    result = answer.result
    shown = found[: given["limit"]]
    compared = found[: max(given["limit"], 2)]
    if len(compared) == 1 and answer.second is not None:  # a lead is over the second, shown or not
        compared = [*compared, _found(answer, *answer.second)]
    scores = decide.exposed_scores((item.provenance, item.lexical, item.similarity) for item in compared)
    total = 0 if result.is_absent else result.total
    said = {**metadata, **_semantic_fields(config, answer, found, _fan_out(given)), **_rerank_fields(rerank)}
    said |= _confidence_fields(given, config, answer, shown, scores)
    # What answered is an index that this version can read; a question without one has begun to make it.
    said["schema_status"] = "compatible" if result.coverage.files else "not_indexed"
    if result.completeness == "truncated":
        code_metadata.cut(said)
    if warnings := _warnings(answer):
        said["warnings"] = warnings
    return {
        "results": [
            result_facts(item, score, given["detail_level"], result.intent)
            | {"provenance": item.provenance}
            | ({"group": item.hit.group} if result.groups else {})
            for item, score in zip(shown, scores, strict=False)
        ],
        **chain(() if result.is_absent else result.chain),
        **further_fields(answer),
        "query_intent": result.intent,
        "total_candidates": total,
        **index_state.absent_fields(result.absent),
        "suggested_next_actions": _next_actions(given, answer, shown, low=said["low_confidence"], total=total),
        "metadata": said,
    }


def _fan_out(given: Arguments) -> decide.FanOut:
    return decide.fan_out(given["limit"])


def _stale(answer: Answer, ref: str) -> Refusal:
    why = answer.result.stale_reason or "not all are indexed yet"
    sync = "Call sync_repo, or ask" if sync_helps(why) else "Ask"
    return Refusal(
        "index_stale",
        f"The index does not show the newest files: {why}.",
        {"current_head": ref, "suggestion": f"{sync} with freshness_policy balanced."},
    )


def _is_unfinished(answer: Answer, mode: SemanticMode) -> bool:
    """Whether indexing would make the answer better."""
    result = answer.result
    lacks_vectors = mode == "hybrid" and result.coverage.missing_vectors > 0
    return result.freshness != "fresh" or result.coverage.unfinished or lacks_vectors


def _report(answer: Answer, mode: SemanticMode, results: int, started: float) -> None:
    """Tell the log what came of the semantic side."""
    meaning = answer.meaning
    skipped = decide.skip_reason(meaning.skipped, mode)
    if meaning.skipped in decide.FALLBACK and mode != "off":
        message = meaning.failure or (meaning.problem.message if meaning.problem else "")
        events.semantic_error(operation="search_code", error_type=skipped or "", message=message)
    if mode == "hybrid":
        events.semantic_search(
            query=answer.query.text,
            result_count=results,
            latency_ms=events.since(started),
            used_semantic=_triggered(answer),
        )


def _triggered(answer: Answer) -> bool:
    return answer.meaning.ran and answer.meaning.skipped in (None, "nothing")


def _found(answer: Answer, hit: Hit, grounds: Grounds) -> Found:
    seen = "\n".join(grounds.text.split("\n", TEXT_LINES)[:TEXT_LINES])
    evidence = lexical.evidence(
        without_form(answer.query.text),
        rank=grounds.rank_part,
        name=hit.name,
        qualified_name=hit.qualified_name,
        path=hit.path,
        text=f"{hit.path} {hit.qualified_name} {seen or hit.snippet}",
        ignore=STOP_WORDS,
    )
    if answer.meaning.skipped is not None:
        return Found(hit, grounds.text, "lexical", evidence.score, 0.0)
    return Found(hit, grounds.text, provenance(hit), evidence.score, grounds.similarity or 0.0)


def provenance(hit: Hit) -> decide.Provenance:
    """Whether a hit was found by its text, by its meaning or by both."""
    by_meaning = "semantic" in hit.sources
    by_text = bool(set(hit.sources) - {"semantic"})
    return "hybrid" if by_meaning and by_text else "semantic" if by_meaning else "lexical"


def _warnings(answer: Answer) -> list[str]:
    """The answer's notes without the one on searching by meaning, which has fields of its own; but with a mismatch of
    models."""
    meaning = answer.meaning
    warnings = [note for note in answer.result.notes if note != meaning.note]
    if meaning.skipped == "mismatch" and meaning.problem is not None:
        warnings.append(f"{meaning.problem.message} Run reindex_vectors with force: true.")
    return warnings


def filters(given: Arguments) -> dict[str, Any]:
    """The fields of a query that restrict it to some files. Raises `Refusal` for a language that is none."""
    globs = (given["path"],) if "path" in given else ()
    return {"language": known_language(given.get("language")), "path_globs": globs, "kind": given.get("group")}


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


# --- what it is worth ------------------------------------------------------------------------------------------


def _semantic_fields(config: Config, answer: Answer, found: Sequence[Found], fan_out: decide.FanOut) -> dict[str, Any]:
    meaning, coverage = answer.meaning, answer.result.coverage
    mode = mode_of(answer, config)
    fallback = meaning.skipped in decide.FALLBACK and mode == "hybrid"
    fields: dict[str, Any] = {
        "semantic_mode": mode,
        "semantic_enabled": mode != "off",
        "semantic_ratio_used": round(meaning.ratio if meaning.skipped is None else 0.0, 6),
        "semantic_triggered": _triggered(answer),
        "semantic_skipped_reason": decide.skip_reason(meaning.skipped, mode),
        "semantic_fallback": fallback,
        "semantic_degraded": decide.semantic_degraded(
            fallback=fallback, found_by_meaning=any(item.provenance != "lexical" for item in found)
        ),
        "embedding_model_version": meaning.model_version if mode == "hybrid" else None,
        "external_provider_blocked": config.external_blocked,
        "lexical_fan_out": fan_out.lexical,
        "semantic_fan_out": fan_out.semantic,
        "merged_fan_out": fan_out.merged,
    }
    if coverage.chunks:  # a file that is not indexed yet has no vectors either
        indexed = (coverage.files - coverage.only_scanned) / (coverage.files + coverage.pending_files)
        fields["embedding_coverage"] = round(indexed * coverage.embedded_chunks / coverage.chunks, 6)
    return fields


def _rerank_fields(rerank: Rerank) -> dict[str, Any]:
    fields: dict[str, Any] = {"rerank_provider": rerank.provider, "rerank_fallback": bool(rerank.reason)}
    if rerank.reason:
        fields["rerank_fallback_reason"] = rerank.reason
    return fields


def _confidence_fields(
    given: Arguments, config: Config, answer: Answer, shown: Sequence[Found], scores: Sequence[float]
) -> dict[str, Any]:
    threshold = given.get("confidence_threshold", config.semantic.confidence_threshold)
    worth = decide.lead(scores, [item.provenance for item in shown])
    low = answer.result.is_absent or answer.result.confidence < threshold
    intent, query = answer.result.intent, given["query"]
    return {
        "low_confidence": low,
        "confidence": round(answer.result.confidence, 6),
        **({"evidence": _evidence(answer.result.evidence)} if low and answer.result.hits else {}),
        "suggested_action": decide.suggested_action(
            intent,
            len(shown),
            low=low,
            query=clipped(query, MAX_REPEATED),
            name=_name_for(query, intent, shown),
        ),
        "confidence_threshold": threshold,
        "top_score": round(worth.top_score, 6),
        "score_margin": round(worth.score_margin, 6),
        "channel_agreement": round(worth.channel_agreement, 6),
        "query_intent_confidence": answer.intent_confidence,
        "intent_escalation_hint": answer.intent_hint,
    }


def _evidence(facts: Confidence) -> dict[str, Any]:
    """The facts that speak for and against an answer that is not sure."""
    shares = {"coverage": facts.coverage, "cosine": facts.cosine, "beyond_random": facts.beyond_random}
    told: dict[str, Any] = {name: round(share, 3) for name, share in shares.items() if share is not None}
    told |= {} if facts.agree is None else {"agree": facts.agree}
    return told | ({"lacking": list(facts.lacking)} if facts.lacking else {})


def _name_for(query: str, intent: Intent, shown: Sequence[Found]) -> str:
    """What the query calls the thing, '' where that is no name."""
    name = query.split()[-1]  # of `class Client` the second word
    if intent != "symbol":
        name = decide.extracted_identifier(query, shown[0].hit.name if shown else "", STOP_WORDS)
    return name if len(name) <= MAX_NAME else ""


def _next_actions(
    given: Arguments, answer: Answer, shown: Sequence[Found], *, low: bool, total: int
) -> list[dict[str, Any]]:
    """Calls that are worth making now, the likeliest first, all of them of the ``ref`` that was asked for."""
    at = {} if given.get("ref") is None else {"ref": given["ref"]}
    intent = answer.result.intent
    actions: list[dict[str, Any]] = []

    def suggest(tool: str, reason: str, **arguments: Any) -> None:
        actions.append({"tool": tool, "arguments": {**arguments, **at}, "reason": reason})

    if answer.result.is_absent and answer.nearest:
        suggest("search_code", "ask for the nearest there is", query=answer.nearest[0].text)
    elif not shown:
        suggest("index_status", "nothing was found: see what is indexed")
    name = _name_for(given["query"], intent, shown)
    asks_for_one = intent == "symbol" or (intent == "natural_language" and decide.looks_like_a_name(name))
    if low and name and asks_for_one and not answer.result.is_absent:
        suggest("locate_symbol", "look the name up among definitions", name=name)
    if low and given["limit"] < min(total, MORE_RESULTS) and len(given["query"]) <= MAX_REPEATED:
        same = {key: given[key] for key in ("language", "semantic_ratio") if key in given}
        further = "what is meant may stand further down"
        suggest("search_code", further, query=given["query"], **same, detail_level="signature", limit=MORE_RESULTS)
    if shown:
        suggest("get_file_outline", "see what the first result's file holds", path=shown[0].hit.path)
    return actions


# --- one result ------------------------------------------------------------------------------------------------


def result_facts(item: Found, score: float, detail: str, intent: str) -> dict[str, Any]:
    """A result's fields, without its provenance. ``detail``: location, or more."""
    hit = item.hit
    name = hit.path.rsplit("/", 1)[-1]
    kind, qualified = "snippet", hit.path
    if hit.kind in SYMBOL_KINDS:
        result_type, kind, name, qualified = "symbol", hit.kind, hit.name, hit.qualified_name
    else:
        result_type = kind = "file" if intent == "path" else "snippet"
    facts: dict[str, Any] = {**result_range(hit), "kind": kind, "name": name, "score": round(score, 6), **folded(hit)}
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
    if hit.parts:
        facts["led_by"] = list(hit.parts)
    if hit.body:
        facts["body"] = hit.body
    return facts | related(hit.related)


def result_range(hit: Hit | SymbolHit) -> dict[str, Any]:
    """Where a place stands."""
    return {"path": hit.path, "line_start": hit.start_line, "line_end": hit.end_line}


def folded(hit: Hit) -> dict[str, int]:
    """How many translations and copies stand under a file."""
    return {key: len(paths) for key in ("translations", "copies") if (paths := getattr(hit, key))}


def further_fields(answer: Answer) -> dict[str, Any]:
    """``further``: one line for each place beyond the usual length of an answer."""
    further = [] if answer.result.is_absent else answer.result.further
    places = [
        " ".join(
            filter(
                None,
                (f"{hit.path}:{hit.start_line}-{hit.end_line}", hit.qualified_name, hit.folded and f"({hit.folded})"),
            )
        )
        for hit in further
    ]
    return {"further": places} if places else {}


def symbol_id(path: str, qualified_name: str, line: int) -> str:
    """Names one definition in one state of the files."""
    return f"{path}#{qualified_name}@{line}"


# --- the last order: as it is, by the local rule, or by an external service ------------------------------------------


SENT_CHARS = 2_000
"""Of each result: a service reads hardly more, and charges for it."""


class Rerank(Struct, frozen=True):
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
    """By the service's relevance; results not sent or not returned come after, scored no higher than its lowest."""
    provider = config.rerank.provider
    sent = [item for item in found if _may_be_sent(item)]
    if not sent:
        return list(found)
    try:
        order = outbound.rerank(
            provider,
            query,
            [_text(item)[:SENT_CHARS] for item in sent],
            config.keys.rerank,
            timeout_s=config.rerank.timeout_ms / 1000,
        )
    except outbound.ServiceFailure as failure:
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

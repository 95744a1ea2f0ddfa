"""search_code and the repo tools as functions: arguments to a question, an answer to a reply. No index, no engine."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from findling.config import Config
from findling.config.options import Hybrid, Rerank, Semantic
from findling.contracts import code, code_metadata, code_search, repo
from findling.contracts.code_search import Rerank as Reranked
from findling.contracts.code_search import reranked
from findling.model.types import (
    Answer,
    Channel,
    Coverage,
    EmbedderProblem,
    Gate,
    Grounds,
    Hit,
    Intent,
    Meaning,
    Query,
    Reference,
    SearchResult,
    SymbolHit,
    SymbolResult,
)

GIVEN: dict[str, Any] = {
    "query": "how is a request sent again",
    "limit": 10,
    "detail_level": "signature",
    "freshness_policy": "balanced",
}
WHOLE = Coverage(files=3, chunks=9, embedded_chunks=9, complete=True)
ASKED = Meaning(ran=True, ratio=0.5, model_version="1")
NOBODY = EmbedderProblem("none", "There is no embedding model.")


def hit(path: str, *sources: Channel, name: str = "", line: int = 1, **more: Any) -> Hit:
    known = {"score": 0.5, "rank_value": 5.0, "kind": "fn" if name else "block", "language": "python"} | more
    return Hit(path, line, line + 9, name=name, qualified_name=name, sources=sources, **known)


def answer(
    *places: tuple[Hit, Grounds],
    intent: Intent = "natural_language",
    confidence: float = 0.9,
    meaning: Meaning = ASKED,
    query: str = GIVEN["query"],
    **of_result: Any,
) -> Answer:
    """An answer as an engine would give it, of hand-made places."""
    known = {
        "total": len(places),
        "mode": "auto",
        "freshness": "fresh",
        "completeness": "complete",
        "coverage": WHOLE,
        "took_ms": 1.0,
    } | of_result
    result = SearchResult(query, tuple(hit for hit, _ in places), intent=intent, confidence=confidence, **known)
    ran: frozenset[Channel] = frozenset(("keyword", "symbol", "semantic") if meaning.ran else ("keyword", "symbol"))
    grounds = tuple(each for _, each in places)
    return Answer(Query(query), result, grounds, intent_confidence=0.72, ran=ran, meaning=meaning)


def reply(given: Answer, config: Config | None = None, **arguments: Any) -> dict[str, Any]:
    config = config or Config()
    asked = GIVEN | {"query": given.query.text} | arguments
    mode = code_search.mode_of(given, config)
    found, rerank = reranked(config, mode, given.query.text, code_search.placed(given), 20)
    metadata = code_metadata.of_answer(
        "main",
        freshness=given.result.freshness,
        coverage=given.result.coverage,
        job_active=False,
        vectors_wanted=mode == "hybrid",
    )
    return code_search.facts(asked, config, given, found, rerank, metadata)


BOTH = (
    (hit("a.py", "keyword", "semantic", name="send"), Grounds("def send(request):\n    again", similarity=0.7)),
    (hit("b.py", "semantic"), Grounds("nothing of it", similarity=0.6)),
    (hit("c.py", "keyword"), Grounds("a request is sent again")),
)


# --- the question ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "arguments", "expected"),
    [
        (Config(), {}, Gate({"natural_language": 0.5}, 0.85)),
        (Config(), {"semantic_ratio": 0.0}, Gate({"natural_language": 0.0}, 0.85)),
        (Config(semantic=Semantic(mode="off")), {"semantic_ratio": 1.0}, Gate({})),
        (Config(semantic=Semantic(enabled=False)), {}, Gate({})),
        (Config(semantic=Semantic(mode="rerank_only")), {}, Gate({"natural_language": 0.5}, 0.85, closed=True)),
        (
            Config(semantic=Semantic(lexical_short_circuit_threshold=0.3)),
            {"semantic_ratio": 1.0},
            Gate({"natural_language": 1.0}, 0.3),
        ),
    ],
)
def test_when_meaning_is_asked_is_a_part_of_the_question(
    config: Config, arguments: dict[str, Any], expected: Gate
) -> None:
    """S2-9, S2-15, S2-33, S2-44, D26."""
    assert code_search.question(GIVEN | arguments, config).gate == expected


def test_a_reranker_is_given_more_than_are_shown() -> None:
    assert code_search.question(GIVEN, Config()).limit == 10
    auto = GIVEN | {"detail_level": "auto"}
    assert code_search.question(auto, Config()).brief
    given = code_search.question(auto | {"max_tokens": 10}, Config(rerank=Rerank(provider="cohere")))
    assert (given.limit, given.max_tokens, given.brief) == (20, None, False)
    assert code_search.question(GIVEN | {"limit": 50}, Config(semantic=Semantic(mode="rerank_only"))).limit == 100


def test_a_strict_question_has_every_file_looked_at() -> None:
    assert not code_search.question(GIVEN, Config()).look_at_all
    assert code_search.question(GIVEN | {"freshness_policy": "strict"}, Config()).look_at_all


def test_hybrid_search_asks_with_the_configured_weights() -> None:
    """S4-23."""
    given = {"query": "x", "top_k": 7}
    asked = repo.mixed(given, Config(hybrid=Hybrid(keyword_weight=1, symbol_weight=0, semantic_weight=2)))
    assert (asked.limit, asked.weights) == (7, {"keyword": 1, "symbol": 0, "semantic": 2})
    assert repo.mixed(given, Config()).weights == {"keyword": 0.4, "symbol": 0.3, "semantic": 0.3}
    assert repo.nearest(given).weights == {"semantic": 1.0}


# --- what search_code says -------------------------------------------------------------------------------------


def test_who_found_what() -> None:
    """S2-12: with meaning, each side by what found it; without, text alone."""
    assert [result["provenance"] for result in reply(answer(*BOTH))["results"]] == ["hybrid", "semantic", "lexical"]
    alone = reply(answer(*BOTH, meaning=Meaning(skipped="sure")))
    assert {result["provenance"] for result in alone["results"]} == {"lexical"}


def test_scores_are_of_the_side_that_found_it_and_never_rise() -> None:
    scores = [result["score"] for result in reply(answer(*BOTH))["results"]]
    assert scores[0] >= 0.7
    assert scores[1] == 0.6
    assert scores[2] <= 0.6


@pytest.mark.parametrize(
    ("skipped", "mode", "said", "triggered", "fallback"),
    [
        (None, None, None, True, False),
        ("intent", None, "intent_not_nl", False, False),
        ("ratio", None, "semantic_ratio_zero", False, False),
        ("closed", "rerank_only", "mode_rerank_only", False, False),
        ("sure", None, "lexical_high_confidence", False, False),
        ("no_vectors", None, "semantic_not_indexed", False, False),
        ("nothing", None, "semantic_no_matches", True, False),
        ("down", None, "semantic_backend_unavailable", False, True),
        ("slow", None, "semantic_backend_timeout", False, True),
        ("mismatch", None, "semantic_backend_error", False, True),
        ("failed", None, "semantic_backend_error", False, True),
        ("intent", "off", "semantic_disabled", False, False),
    ],
)
def test_what_became_of_meaning(skipped: Any, mode: Any, said: str | None, triggered: bool, fallback: bool) -> None:
    """S2-17 to S2-19, S2-21, D25."""
    meaning = Meaning(ran=skipped in (None, "nothing"), skipped=skipped, ratio=0.4, model_version="1")
    metadata = reply(answer(*BOTH, meaning=meaning), Config(semantic=Semantic(mode=mode)))["metadata"]
    assert metadata["semantic_skipped_reason"] == said
    assert metadata["semantic_triggered"] is triggered
    assert metadata["semantic_fallback"] is metadata["semantic_degraded"] is fallback
    assert metadata["semantic_ratio_used"] == (0.4 if skipped is None else 0.0)
    assert metadata["embedding_model_version"] == ("1" if mode is None else None)


def test_without_any_embedder_it_is_as_if_switched_off() -> None:
    """S2-16, S2-41."""
    found = answer(*BOTH, meaning=Meaning(skipped="none", problem=NOBODY))
    metadata = reply(found)["metadata"]
    assert (metadata["semantic_mode"], metadata["semantic_skipped_reason"]) == ("off", "semantic_disabled")
    assert (metadata["semantic_fallback"], metadata["rerank_provider"]) == (False, "none")
    wanted = reply(found, Config(semantic=Semantic(enabled=True)))["metadata"]
    assert (wanted["semantic_mode"], wanted["semantic_fallback"]) == ("hybrid", True)


def test_a_problem_with_the_embedder_is_no_warning_but_a_mismatch_is() -> None:
    note = "Nobody answers. Only text and names were searched."
    down = Meaning(skipped="down", problem=EmbedderProblem("down", "Nobody answers."), note=note)
    said = reply(answer(*BOTH, meaning=down, notes=(note, "2 files could not be read.")))["metadata"]
    assert said["warnings"] == ["2 files could not be read."]
    other = Meaning(skipped="mismatch", problem=EmbedderProblem("mismatch", "Other vectors."))
    said = reply(answer(*BOTH, meaning=other))["metadata"]
    assert said["warnings"] == ["Other vectors. Run reindex_vectors with force: true."]


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({}, ("fresh", "ready", "complete")),
        ({"freshness": "stale"}, ("stale", "ready", "complete")),
        ({"freshness": "syncing"}, ("syncing", "indexing", "partial")),
        ({"coverage": replace(WHOLE, embedded_chunks=3)}, ("fresh", "ready", "partial")),
        ({"coverage": replace(WHOLE, pending_files=1)}, ("stale", "indexing", "partial")),
        ({"coverage": Coverage(), "freshness": "stale"}, ("stale", "not_indexed", "partial")),
    ],
)
def test_the_state_of_the_index(state: dict[str, Any], expected: tuple[str, str, str]) -> None:
    said = reply(answer(*BOTH, **state))["metadata"]
    assert (said["freshness_status"], said["indexing_status"], said["result_completeness"]) == expected


def test_low_confidence_says_what_to_try() -> None:
    """S2-25, S2-26, S2-36 to S2-40."""
    sure = reply(answer(*BOTH, confidence=0.5))["metadata"]
    assert (sure["low_confidence"], sure["suggested_action"]) == (False, None)
    unsure = reply(answer(*BOTH, confidence=0.49, query="where is load_cfg used"))
    assert unsure["metadata"]["suggested_action"] == "Try locate_symbol with 'load_cfg'"
    assert unsure["suggested_next_actions"][0]["arguments"] == {"name": "load_cfg"}
    nothing = reply(answer(intent="symbol", confidence=0.0, query="load_cfg"))
    assert nothing["metadata"]["suggested_action"] == "Try search_code with broader query: 'load_cfg'"
    assert nothing["suggested_next_actions"][0]["tool"] == "index_status"


def test_the_limit_cuts_what_is_shown_and_all_are_counted() -> None:
    """S2-14."""
    found = reply(answer(*BOTH, total=17), limit=2)
    assert ([result["path"] for result in found["results"]], found["total_candidates"]) == (["a.py", "b.py"], 17)


def test_how_much_is_told_of_a_result() -> None:
    body = "1  def send(request):\n2      go"
    place = (hit("a.py", "keyword", name="send", signature="def send(request)", body=body), Grounds())

    def told(detail: str) -> dict[str, Any]:
        result: dict[str, Any] = reply(answer(place), detail_level=detail)["results"][0]
        return result

    assert set(told("location")) == {"path", "line_start", "line_end", "kind", "name", "score", "provenance"}
    assert told("signature")["signature"] == "def send(request)"
    assert told("auto")["body"] == body


def test_the_local_rule_reranks_by_words() -> None:
    """S2-35."""
    places = (
        (hit("far.py", "keyword", snippet="nothing"), Grounds("nothing", rank_part=0.1)),
        (hit("near.py", "keyword", snippet="how is a request sent again"), Grounds("nothing")),
    )
    config = Config(semantic=Semantic(mode="rerank_only"))
    found = reply(answer(*places, meaning=Meaning(skipped="closed")), config)
    assert [result["path"] for result in found["results"]] == ["near.py", "far.py"]
    assert found["metadata"]["rerank_provider"] == "local"
    assert reranked(Config(), "hybrid", "x", code_search.placed(answer(*places)), 20)[1] == Reranked("none")


# --- what the repo tools say -----------------------------------------------------------------------------------


def test_hybrid_search_shows_each_place_with_its_sources() -> None:
    """S4-26."""
    found = repo.hybrid_facts(answer(*BOTH))
    assert found["results"][0] == {
        "path": "a.py",
        "line_start": 1,
        "line_end": 10,
        "snippet": "def send(request):\n    again",
        "score": 0.5,
        "sources": ["keyword", "semantic"],
    }
    assert set(found) == {"results"}, "nothing is said of an index that is whole and fresh"


def test_an_answer_that_is_not_whole_says_so() -> None:
    found = repo.hybrid_facts(answer(*BOTH, freshness="stale", coverage=replace(WHOLE, embedded_chunks=4)))
    assert found["freshness_status"] == "stale"
    assert (found["result_completeness"], found["not_searched"]) == ("partial", {"chunks_without_vector": 5})
    without = answer(*BOTH, coverage=replace(WHOLE, embedded_chunks=4), meaning=Meaning(problem=NOBODY))
    assert set(repo.hybrid_facts(without)) == {"results"}, "no vector is missed where nobody makes any"


@pytest.mark.parametrize(
    ("meaning", "expected"),
    [
        (Meaning(skipped="none", problem=NOBODY), {"available": False, "results": [], "error": NOBODY.message}),
        (Meaning(skipped="down", failure="No answer."), {"available": False, "results": [], "error": "No answer."}),
        (
            Meaning(skipped="mismatch", problem=EmbedderProblem("mismatch", "Other vectors.")),
            {"available": False, "results": [], "error": "Other vectors. Run reindex_vectors with force: true."},
        ),
        (Meaning(skipped="no_vectors"), {"available": True, "results": []}),
    ],
)
def test_search_semantic_without_vectors(meaning: Meaning, expected: dict[str, Any]) -> None:
    """S4-28, S4-45."""
    assert repo.semantic_facts(answer(meaning=meaning)) == expected


# --- locate_symbol -----------------------------------------------------------------------------------------------


def named(*names: str, uses: int = 0, freshness: Any = "fresh", notes: tuple[str, ...] = ()) -> SymbolResult:
    """Definitions ``retry`` by the names that they were found as, and so many uses, as an engine would give them."""
    found = [
        SymbolHit(f"{name}.py", 1, 1, 9, name, "fn", name, "python", f"def {name}()", "exact" if at < 2 else "part")
        for at, name in enumerate(names)
    ]
    lines = [Reference("use.py", line, 1, "retry()") for line in range(1, uses + 1)]
    return SymbolResult(
        "retry",
        tuple(found),
        tuple(lines),
        len(found),
        uses,
        False,
        freshness=freshness,
        completeness="complete",
        coverage=WHOLE,
        took_ms=1.0,
        notes=notes,
    )


LOCATED = {"name": "retry", "limit": 3, "detail_level": "location"}


@pytest.mark.parametrize(
    ("found", "scores"),
    [
        (named("retry", "Retry", "retry_all"), [1.0, 1.0, 0.5]),
        (named("retry", "re_try"), [1.0, 0.9]),
        (named("retry", uses=9), [1.0, 0.4, 0.4]),
        (named(uses=2), [0.4, 0.4]),
        (named(), []),
    ],
)
def test_definitions_come_before_uses(found: SymbolResult, scores: list[float]) -> None:
    reply = code.located(found, LOCATED, {})
    assert reply.facts is not None and reply.listing is not None
    assert [each["score"] for each in reply.facts["results"]] == scores
    assert reply.listing.total == reply.facts["total_candidates"] == found.total_definitions + found.total_references


def test_a_lookup_that_is_not_fresh_goes_on_behind_and_its_notes_are_warnings() -> None:
    reply = code.located(named("retry", freshness="stale", notes=("3 files changed",)), LOCATED, {"ref": "main"})
    assert reply.unfinished and not code.located(named("retry"), LOCATED, {}).unfinished
    assert reply.facts is not None
    assert reply.facts["metadata"] == {"ref": "main", "warnings": ["3 files changed"]}

"""How search_code decides, as functions of numbers and words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.config import Config
from findling.config.options import Overrides, Semantic
from findling.contracts import code_decisions as decide
from findling.contracts.code_search import question
from findling.model.types import Gate, Intent, Skip
from findling.search import gate

CASES = json.loads((Path(__file__).parent / "data" / "decision_cases.json").read_text(encoding="utf-8"))
STOP = frozenset(("where", "is", "the", "how"))


@pytest.mark.parametrize("case", CASES["fanout"])
def test_fan_out(case: dict[str, Any]) -> None:
    merged, lexical, semantic = case["mult"]
    out = decide.fan_out(case["limit"], merged=merged, lexical=lexical, semantic=semantic)
    assert [out.merged, out.lexical, out.semantic] == case["expect"]


def test_default_fan_out_of_ten() -> None:
    assert decide.fan_out(10) == decide.FanOut(20, 40, 30)
    assert decide.fan_out(100) == decide.FanOut(200, 400, 300)


def test_the_cap_of_the_ratio() -> None:
    """S2-9, S2-43, S2-55: request, else what is configured; of questions in words alone."""
    configured = Config().ratio_for("natural_language")
    overridden = Config(semantic=Semantic(ratio=0.1), overrides=Overrides(natural_language=0.4))
    asked = {"query": "where", "limit": 10, "freshness_policy": "balanced", "detail_level": "auto"}
    assert question(asked, overridden).gate == Gate({"natural_language": 0.4}, 0.85)
    assert decide.gate("hybrid", None, configured, 0.85) == Gate({"natural_language": 0.5}, 0.85)
    assert decide.gate("hybrid", 0.0, configured, 0.85) == Gate({"natural_language": 0.0}, 0.85)
    assert decide.gate("rerank_only", 0.2, configured, 0.9) == Gate({"natural_language": 0.2}, 0.9, closed=True)
    assert decide.gate("off", 1.0, configured, 0.85) == Gate({})


def test_skip_reasons_in_their_order() -> None:
    """S2-19, S2-33, S2-34, S2-35: from a gate that everything speaks against, one thing after another put right."""
    seen = []
    for mode, intent, ratio, confidence in (
        ("off", "symbol", 0.0, 0.9),
        ("rerank_only", "symbol", 0.0, 0.9),
        ("rerank_only", "natural_language", 0.0, 0.9),
        ("rerank_only", "natural_language", 0.5, 0.9),
        ("hybrid", "natural_language", 0.5, 0.9),
        ("hybrid", "natural_language", 0.5, 0.1),
    ):
        skipped = gate.skipped(decide.gate(cast("Any", mode), ratio, 0.5, 0.85), cast("Intent", intent), confidence)
        seen.append(decide.skip_reason(skipped, cast("Any", mode)))
    assert seen == [
        "semantic_disabled",
        "intent_not_nl",
        "semantic_ratio_zero",
        "mode_rerank_only",
        "lexical_high_confidence",
        None,
    ]


def test_every_reason_has_the_contracts_name() -> None:
    assert set(decide.SKIPPED) == set(get_args(Skip))
    assert {decide.SKIPPED[skip] for skip in decide.FALLBACK if skip} == {
        "semantic_backend_error",
        "semantic_backend_timeout",
        "semantic_backend_unavailable",
    }


@pytest.mark.parametrize(("fallback", "found", "degraded"), CASES["semantic_degraded"])
def test_semantic_degraded(fallback: bool, found: bool, degraded: bool) -> None:
    """D25."""
    assert decide.semantic_degraded(fallback=fallback, found_by_meaning=found) is degraded


# --- scores ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES["local_rerank"])
def test_local_rerank(case: dict[str, Any]) -> None:
    values = decide.local_rerank(case["query"], [(text, base) for _, text, base in case["docs"]])
    by_id = {doc[0]: value for doc, value in zip(case["docs"], values, strict=True)}
    for id, score in case.get("scores", {}).items():
        assert by_id[id] == pytest.approx(score)
        assert by_id[id] / decide.RERANK_MOST == pytest.approx(1.0)
    if "first" in case:
        assert max(by_id, key=lambda id: by_id[id]) == case["first"]


def test_exposed_scores_never_rise() -> None:
    hits: list[tuple[decide.Provenance, float, float]] = [
        ("lexical", 0.8, 0.0),
        ("semantic", 0.0, 0.9),
        ("hybrid", 0.2, 0.7),
        ("lexical", 0.5, 1.0),
    ]
    assert decide.exposed_scores(hits) == [0.8, 0.8, 0.7, 0.5]


# --- confidence ------------------------------------------------------------------------------------------------


def test_how_results_stand_to_each_other() -> None:
    """S2-27, S2-28, S2-29."""
    worth = decide.lead([0.82, 0.71, 0.60], ["hybrid", "lexical", "semantic"])
    assert worth.top_score == 0.82
    assert worth.score_margin == pytest.approx(0.11)
    assert worth.channel_agreement == pytest.approx(0.67, abs=0.005)
    assert decide.lead([0.875, 0.875], ["lexical", "lexical"]) == decide.Lead(0.875, 0, 0)
    assert decide.lead([], []) == decide.Lead(0, 0, 0)
    assert decide.lead([0.4], ["lexical"]).score_margin == 0.4


@pytest.mark.parametrize(
    ("provenances", "expected"),
    [
        ([], 0.0),
        (["lexical", "lexical"], 0.0),
        (["semantic"], 0.0),
        (["lexical", "semantic"], 0.4),
        (["hybrid"] * 5, 1.0),
        (["hybrid", "lexical", "lexical", "lexical", "lexical", "hybrid"], 0.6),
    ],
)
def test_channel_agreement(provenances: list[decide.Provenance], expected: float) -> None:
    assert decide.channel_agreement(provenances) == pytest.approx(expected)


@given(
    st.lists(st.floats(0, 1), max_size=8).map(lambda scores: sorted(scores, reverse=True)),
    st.lists(st.sampled_from(["lexical", "semantic", "hybrid"]), min_size=8, max_size=8),
)
def test_they_stay_in_bounds(scores: list[float], provenances: list[Any]) -> None:
    worth = decide.lead(scores, provenances[: len(scores)])
    assert all(0 <= value <= 1 for value in (worth.top_score, worth.score_margin, worth.channel_agreement))


# --- what to try next ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("intent", "results", "expected"),
    [
        ("path", 0, "Check file path spelling or try search_code with filename"),
        ("symbol", 0, "Try search_code with broader query: 'load_cfg'"),
        ("natural_language", 0, "No results found. Try broader search terms or check index status."),
        ("error", 0, "No results found. Try broader search terms or check index status."),
        ("symbol", 3, "Try search_code with natural language: 'where is load_cfg defined'"),
        ("natural_language", 3, "Try locate_symbol with 'load_cfg'"),
        ("error", 3, "Try search_code with exact error substring or stack-frame snippet"),
        ("path", 3, "Check file path spelling or try search_code with filename"),
    ],
)
def test_suggested_actions(intent: Any, results: int, expected: str) -> None:
    """S2-36 to S2-40, S2-25, D16: none when the answer is sure."""
    assert decide.suggested_action(intent, results, low=True, query="load_cfg", name="load_cfg") == expected
    assert decide.suggested_action(intent, results, low=False, query="load_cfg", name="load_cfg") is None


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("where is load_cfg called", "load_cfg"),
        ("what does the AuthHandler do", "AuthHandler"),
        ("where is auth::jwt used", "auth::jwt"),
        ("where is the caching", "caching"),
        ("is the", "top"),
        ("用户认证", "用户认证"),
    ],
)
def test_extracted_identifier(query: str, expected: str) -> None:
    assert decide.extracted_identifier(query, "top", STOP | {"what", "does", "do", "called", "used"}) == expected


# --- protocol states and advice --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({"indexed": True}, ("fresh", "ready", "complete")),
        ({"indexed": True, "changed": True}, ("stale", "ready", "complete")),
        ({"indexed": False}, ("stale", "not_indexed", "partial")),
        ({"indexed": True, "job_active": True}, ("syncing", "indexing", "partial")),
        ({"indexed": False, "job_active": True}, ("syncing", "indexing", "partial")),
        ({"indexed": True, "failed": True}, ("stale", "failed", "partial")),
        ({"indexed": True, "vectors_missing": True}, ("fresh", "ready", "partial")),
        ({"indexed": True, "files_pending": True}, ("stale", "indexing", "partial")),
        ({"indexed": True, "partial": True}, ("fresh", "ready", "partial")),
    ],
)
def test_protocol_states(state: dict[str, bool], expected: tuple[str, str, str]) -> None:
    found = decide.protocol_state(**state)
    assert (found.freshness, found.indexing, found.completeness) == expected


@pytest.mark.parametrize("case", CASES["advisor"])
def test_advice(case: dict[str, Any]) -> None:
    code = sum(count for language, count in case["langs"].items() if language != "markdown")
    advice = decide.advise(case["files"], case["latency"], code, sum(case["langs"].values()))
    assert (advice.profile, advice.repo_size_bucket) == (case["profile"], case["bucket"])
    assert advice.reason_codes


@pytest.mark.parametrize(
    ("files", "latency", "share", "profile"),
    [
        (50_000, 700, 0.9, "code_quality"),
        (50_001, 700, 0.9, "fast_local"),
        (9_999, 650, 0.6, "high_quality"),
        (9_999, 650, 0.5, "code_quality"),
        (9_999, 180, 0.9, "fast_local"),
        (9_999, 259, 0.9, "fast_local"),
        (9_999, 700, 0.4, "fast_local"),
    ],
)
def test_the_bounds_of_advice(files: int, latency: float, share: float, profile: str) -> None:
    """S2-46."""
    assert decide.advise(files, latency, round(share * 1000), 1000).profile == profile

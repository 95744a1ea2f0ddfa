"""What search_code says about its own answer, compared with that answer."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from findling.config import Config
from findling.config.options import Rerank, Semantic
from findling.contracts import TOOLS, Workspace, call
from findling.contracts.tools import LIKE_CODE

QUESTION = "how is a failed request sent again"

CODE_TOOLS = [
    *("search_code", "locate_symbol", "get_file_outline", "index_status", "index_repo", "sync_repo", "health_check"),
    *("explore", "impact"),
]

ROUNDED = 1e-4
"""Numbers are shown with four to six digits."""

BASIC = ("codecompass_protocol_version", "freshness_status", "indexing_status", "result_completeness", "ref")


def search(workspace: Workspace, query: str, **more: Any) -> dict[str, Any]:
    result = call("search_code", {"query": query, **more}, workspace)
    assert result.structured is not None
    assert not result.is_error, result.text_blocks
    return result.structured


def test_meaning_is_a_part_of_search_code_and_no_tool_of_its_own() -> None:
    """S2-4, S2-57."""
    assert [tool.name for tool in TOOLS.values() if tool.family in LIKE_CODE] == CODE_TOOLS
    assert {"semantic_ratio", "confidence_threshold"} <= TOOLS["search_code"].schema["properties"].keys()


@pytest.mark.parametrize("name", CODE_TOOLS)
def test_every_code_tool_says_the_state_even_when_it_refuses(
    name: str, workspace: Workspace, good_calls: Mapping[str, Mapping[str, Any]]
) -> None:
    """S2-2, D14."""
    writes = TOOLS[name].writes
    for arguments in ({"no_such_argument": 1}, *([] if writes else [good_calls[name]])):
        answer = call(name, arguments, workspace).structured
        assert answer is not None
        assert answer["metadata"].keys() >= set(BASIC)
        assert answer["metadata"]["codecompass_protocol_version"] == "1.0"


def test_ten_results_unless_asked_otherwise_and_all_are_counted(project: Path) -> None:
    """S2-8, S2-14."""
    for number in range(15):
        (project / f"wombat_{number}.py").write_text(f"def feed_wombat_{number}():\n    return {number}\n")
    with Workspace(project, root=project) as workspace:
        ten = search(workspace, "wombat")
        assert len(ten["results"]) + len(ten["further"]) == 10
        assert all(path.startswith("wombat_") for path in ten["further"])
        every = search(workspace, "wombat", limit=100)
        assert ten["total_candidates"] == every["total_candidates"]
        assert every["total_candidates"] >= len(every["results"]) + len(every["further"]) >= 15
        assert len(search(workspace, "wombat", detail_level="signature")["results"]) == 10
        two = search(workspace, "wombat", limit=2)["results"]
        assert [result["path"] for result in two] == [result["path"] for result in ten["results"][:2]]


def test_the_threshold_is_the_requests_else_the_configurations(indexed: Path) -> None:
    """S2-10, S2-26, S2-45."""
    with Workspace(indexed, root=indexed) as workspace:
        assert search(workspace, QUESTION)["metadata"]["confidence_threshold"] == 0.5
    with Workspace(indexed, root=indexed, config=Config(semantic=Semantic(confidence_threshold=0.9))) as workspace:
        assert search(workspace, QUESTION)["metadata"]["confidence_threshold"] == 0.9
        asked = search(workspace, QUESTION, confidence_threshold=0)["metadata"]
        assert (asked["confidence_threshold"], asked["low_confidence"]) == (0, False)


@pytest.mark.parametrize("query", [QUESTION, "retry_failed", "Client", "src/http/client.py", "invoice", "zzqq_xyzzy"])
def test_the_measures_are_those_of_the_results(query: str, workspace: Workspace) -> None:
    """S2-24, S2-27 to S2-29."""
    found = search(workspace, query)
    metadata = found["metadata"]
    scores = [result["score"] for result in found["results"]]
    first, second = [*scores, 0.0, 0.0][:2]
    assert metadata["top_score"] == pytest.approx(first, abs=ROUNDED)
    assert metadata["score_margin"] == pytest.approx(first - second if len(scores) > 1 else first, abs=ROUNDED)
    for fewer in ({"limit": 1}, {"limit": 1, "detail_level": "auto"}, {"max_tokens": 20}):
        alone = search(workspace, query, **fewer)
        assert alone["metadata"]["score_margin"] == metadata["score_margin"], fewer
        assert len(alone["results"]) == min(1, len(scores)) and "further" not in alone
    kinds = [result["provenance"] for result in found["results"][:5]]
    if "hybrid" in kinds:
        expected = min(1.0, 0.5 + 0.5 * kinds.count("hybrid") / len(kinds))
    else:
        expected = 0.4 if {"lexical", "semantic"} <= set(kinds) else 0.0
    assert metadata["channel_agreement"] == pytest.approx(expected, abs=ROUNDED)


def test_a_result_says_what_found_it(workspace: Workspace) -> None:
    """S2-12, S2-33, S2-34."""
    by_name = {result["provenance"] for result in search(workspace, "retry_failed")["results"]}
    assert by_name == {"lexical"}
    asked = search(workspace, QUESTION, semantic_ratio=1.0, limit=100, detail_level="context")
    assert {"hybrid", "semantic"} <= {result["provenance"] for result in asked["results"]}


def test_how_sure_the_intent_is(workspace: Workspace) -> None:
    """S2-13, S2-30, S2-31."""
    sure = search(workspace, "src/http/client.py")
    assert (sure["query_intent"], sure["metadata"]["query_intent_confidence"]) == ("path", 0.95)
    assert sure["metadata"]["intent_escalation_hint"] is None
    unsure = search(workspace, "invoice")
    assert (unsure["query_intent"], unsure["metadata"]["query_intent_confidence"]) == ("natural_language", 0.55)
    assert unsure["metadata"]["intent_escalation_hint"].startswith("Intent confidence is low; ")


def test_questions_need_no_network(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """S4-1, D11: answers by meaning come from this machine, and a closed gate opens no socket."""

    def refuse(*_: object, **__: object) -> Any:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    found = call("search_semantic", {"query": "adding up an invoice with value added tax"}, workspace).structured
    assert found is not None
    assert found["results"][0]["path"] == "src/billing/invoice.py"
    assert search(workspace, QUESTION)["metadata"]["semantic_triggered"] is True
    root = workspace.engine.root
    for gates in (Semantic(external_provider_enabled=True), Semantic(allow_code_payload_to_external=True)):
        with Workspace(root, root=root, config=Config(semantic=gates, rerank=Rerank(provider="cohere"))) as closed:
            assert search(closed, QUESTION)["metadata"]["external_provider_blocked"] is True


def test_names_and_text_are_found_alike_without_meaning(indexed: Path) -> None:
    """S1-50, S4-3."""
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search_keyword", {"query": "attempts?"}),
        ("find_symbol", {"name": "retry"}),
        ("list_defs_in_file", {"path": "src/http/client.py"}),
        ("locate_symbol", {"name": "Client", "include_references": True}),
    ]

    def answers(config: Config) -> list[Any]:
        with Workspace(indexed, root=indexed, config=config) as workspace:
            found = [call(name, arguments, workspace).structured for name, arguments in calls]
        return [{key: value for key, value in (answer or {}).items() if key != "metadata"} for answer in found]

    off = answers(Config(semantic=Semantic(enabled=False)))
    assert all(off)
    assert off == answers(Config())

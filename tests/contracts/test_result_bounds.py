"""`max_tokens` bounds the results of every tool that searches, and the best one is always among them."""

from __future__ import annotations

from typing import Any

import pytest

from findling.contracts import Workspace, budget, call
from findling.model.types import CHARS_PER_TOKEN

ASKED: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("search_code", "results", {"query": "where are failed requests retried"}),
    ("search_code", "results", {"query": "how is a failed request sent again by the client"}),
    ("search_code", "results", {"query": "retry_failed", "detail_level": "context"}),
    ("locate_symbol", "results", {"name": "retry_failed", "detail_level": "context"}),
    ("hybrid_search", "results", {"query": "where are failed requests retried"}),
    ("search_semantic", "results", {"query": "where are failed requests retried"}),
    ("search_keyword", "results", {"query": "retr"}),
    ("find_symbol", "symbols", {"name": "retry"}),
    ("semantic_search", "results", {"query": "how are failed requests retried", "threshold": 0}),
    ("search_docs", "results", {"query": "request"}),
    ("query_docs", "sources", {"query": "how are failed requests retried"}),
)


def facts(tool: str, arguments: dict[str, Any], workspace: Workspace) -> dict[str, Any]:
    result = call(tool, arguments, workspace)
    assert result.structured is not None and not result.is_error
    return result.structured


@pytest.mark.parametrize("max_tokens", [150, 200, 400])
@pytest.mark.parametrize(("tool", "items", "arguments"), ASKED)
def test_results_are_within_the_bound(
    tool: str, items: str, arguments: dict[str, Any], max_tokens: int, workspace: Workspace
) -> None:
    whole = facts(tool, arguments, workspace)
    cut = facts(tool, arguments | {"max_tokens": max_tokens}, workspace)
    room = max_tokens * CHARS_PER_TOKEN
    calls = sum(map(len, cut.get("chain", ())))
    assert len(budget.dumps(cut[items])) + len(cut.get("answer", "")) + calls <= room
    first, best = cut[items][0], whole[items][0]
    named = [key for key in ("path", "docPath", "p", "name", "line_start", "lineRange") if key in best]
    assert {key: first[key] for key in named} == {key: best[key] for key in named}


def test_an_answer_without_room_is_not_told_as_nothing_found(workspace: Workspace) -> None:
    cut = facts("query_docs", {"query": "how are failed requests retried", "max_tokens": 1}, workspace)
    assert cut["answer"] == "max_tokens leaves no room for the answer." and len(cut["sources"]) == 1


def test_one_long_result_is_cut_and_shows_it() -> None:
    text = "\n".join(f"{number} a line of code" for number in range(1, 400))
    facts = {"results": [{"path": "a.py", "body": text, "snippet": "short"}], "metadata": {}}
    (only,) = budget.cut_to(facts, "results", 200)["results"]
    assert len(budget.dumps([only])) <= 800
    assert only["path"] == "a.py" and only["snippet"] == "short"
    shown = only["body"].removesuffix(budget.CUT)
    assert text.startswith(shown + "\n") and only["body"] != shown and len(shown) > 600
    (only,) = budget.cut_to(facts, "results", 1)["results"]
    assert only["path"] == "a.py"


def test_what_is_not_too_long_stays_as_it_is() -> None:
    facts = {"results": [{"path": f"{number}.py"} for number in range(20)]}
    assert budget.cut_to(facts, "results", None) == facts
    assert budget.cut_to({"results": []}, "results", 1) == {"results": []}
    assert budget.cut_to({"content": "x" * 99_999}, "", 1) == {"content": "x" * 99_999}

"""A query that is too long is cut, and every tool that searches says so in the field that it has for this."""

from __future__ import annotations

import json
from typing import Any

import pytest

from findling.contracts import TOOLS, Workspace, call
from findling.search.query import MAX_QUERY

SEARCHES = sorted(
    name for name, tool in TOOLS.items() if "query" in tool.schema["properties"] and name != "search_keyword"
)
LONG = ("how is a request sent again after a failure " * (MAX_QUERY // 40))[: MAX_QUERY + 10]
SAID = "The query has 100,010 characters; only the first 100,000 were searched for."


def answer(name: str, query: str, workspace: Workspace) -> dict[str, Any]:
    result = call(name, {"query": query}, workspace)
    assert not result.is_error, result.text_blocks
    return result.structured or json.loads(result.text_blocks[-1])


def said(facts: dict[str, Any]) -> list[str]:
    return facts["metadata"].get("warnings", []) if "metadata" in facts else facts.get("notes", [])


def test_these_are_all_families_searches() -> None:
    assert {TOOLS[name].family for name in SEARCHES} == {"code", "graph", "docs", "library", "repo"}
    assert len(SEARCHES) == 8


@pytest.mark.parametrize("name", SEARCHES)
def test_a_long_query_is_cut_and_the_answer_says_so(name: str, workspace: Workspace) -> None:
    facts = answer(name, LONG, workspace)
    assert said(facts).count(SAID) == 1
    assert SAID not in said(answer(name, LONG[:MAX_QUERY], workspace))
    assert len(json.dumps(facts)) < MAX_QUERY  # an answer does not repeat all that was asked


@pytest.mark.parametrize("name", SEARCHES)
def test_a_long_word_is_a_query_like_others(name: str, workspace: Workspace) -> None:
    facts = answer(name, "x" * (MAX_QUERY + 10), workspace)
    assert said(facts).count(SAID) == 1
    assert len(json.dumps(facts)) < MAX_QUERY
    for action in facts.get("suggested_next_actions", ()):
        assert not call(action["tool"], action["arguments"], workspace).is_error, action


def test_the_beginning_is_what_is_searched_for(workspace: Workspace) -> None:
    found = answer("search_code", "retry_delay " + "zzz " * MAX_QUERY, workspace)
    assert found["results"][0]["path"] == "src/http/retry_policy.py"
    before = "zzz " * (MAX_QUERY // 4)
    past = answer("search_code", f"{before}retry_delay", workspace)
    assert past["results"] == answer("search_code", before, workspace)["results"]


def test_expressions_keep_a_bound_of_their_own(workspace: Workspace) -> None:
    """The end of a pattern decides what it means: cut, it would be another one."""
    refused = call("search_keyword", {"query": "x" * (MAX_QUERY + 10)}, workspace)
    assert refused.is_error
    assert refused.text_blocks == ["Parameter `query` must have at most 4096 characters, not 100010."]


@pytest.mark.parametrize("name", SEARCHES)
def test_a_piece_that_is_no_character_is_said_to_be_none(name: str, workspace: Workspace) -> None:
    """Clients that cut an emoji send half of it, which arrives as U+FFFD."""
    told = str(said(answer(name, "retry \ufffd delay", workspace)))
    assert told.count("not a character, such as half of an emoji") == 1
    assert "not a character" not in str(said(answer(name, "retry delay", workspace)))

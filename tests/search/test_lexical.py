"""How far text alone answers a query, as functions of names and words."""

from __future__ import annotations

import math

import pytest

from findling.search import lexical

STOP = frozenset(("where", "is", "the", "how"))


def test_squash() -> None:
    assert [lexical.squash(x) for x in (-1.0, 0.0, 1.0, 7.0, math.nan, math.inf)] == [0, 0, 0.5, 0.875, 0, 0]


def found(query: str, **known: str) -> lexical.Evidence:
    fields = {"name": "", "qualified_name": "", "path": "x.py", "text": ""} | known
    return lexical.evidence(query, rank=0.0, ignore=STOP, **fields)


def test_what_a_name_says() -> None:
    assert found("Client.retry()", name="retry", qualified_name="http.Client.retry").exact == lexical.EXACT
    assert found("Client::retry", qualified_name="Client.retry").exact == lexical.EXACT
    assert found("fn retry", name="retry").exact == lexical.EXACT
    assert found("retry", name="retry_failed", qualified_name="Client.retry_failed").exact == 0
    assert found("retry", qualified_name="Client.retry_failed").qualified == lexical.QUALIFIED
    assert found("retry", path="src/retry_policy.py").path == lexical.IN_PATH
    assert found("client.py", path="src/http/client.py").exact == lexical.EXACT
    assert found("src/http/client.py", path="src/http/client.py").exact == lexical.EXACT
    assert found("ient.py", path="src/http/client.py").exact == 0


def test_what_the_text_says() -> None:
    assert found("where is the retry delay", text="def retry_delay: retry after delay").text == pytest.approx(2.5)
    assert found("retry delay", text="the Retry Delay").text == pytest.approx(3.25)
    assert found("where is the", text="nothing").text == 0
    # A question matches some text everywhere: that is no reason to leave out meaning.
    assert found("retry delay", text="the retry delay").confidence == 0


def test_ranks_count_by_the_intent() -> None:
    lists = {"symbol": ["a.py", "b.py"], "keyword": ["b.py", "c.py"], "file": []}
    parts = lexical.rank_parts("symbol", lists)
    assert parts == pytest.approx({"a.py": 3 / 61, "b.py": 3 / 62 + 1 / 61, "c.py": 1 / 62})


def test_a_list_without_weight_counts_where_the_others_found_nothing() -> None:
    lists = {"symbol": ["a.py"], "keyword": ["a.py", "b.py"], "file": []}
    assert lexical.rank_parts("path", lists) == pytest.approx({"a.py": 2 / 61, "b.py": 1 / 62})
    assert lexical.rank_parts("path", {**lists, "file": ["c.py"]}) == pytest.approx({"c.py": 3 / 61})

"""What `explain` tells of a place is what put it where it is: in every mode, of code and of documents."""

from __future__ import annotations

import itertools

import pytest

from findling import Engine
from findling.model.types import MODES, Hit

QUESTIONS = (
    "RetryPolicy",
    "how is the schema of the database upgraded",
    "how do I rotate the keys that tokens are signed with?",
    "Wait until all old tokens have run out",
    '"Wait until all old tokens have run out"',
    "Reading",
    "tests of the session",
    "gateway/limiter.go",
    "what changed in the last release",
    "TooNew: database schema version 9 is newer than this program",
)


def said_of(hit: Hit) -> float:
    return sum(reason.value for reason in hit.reasons)


@pytest.mark.parametrize("mode", MODES)
def test_the_shares_add_up_to_the_value_that_orders_the_list(engine: Engine, mode: str) -> None:
    kinds: set[str] = set()
    compared = 0
    for question in QUESTIONS:
        hits = engine.search(question, mode=mode, explain=True, limit=50, wait_s=0.0).hits
        for hit in hits:
            kinds.add("docs" if hit.path.endswith((".md", ".rst")) else "code")
            assert said_of(hit) == pytest.approx(hit.rank_value)
            assert len({reason.signal for reason in hit.reasons}) == len(hit.reasons)
            assert all(reason.words for reason in hit.reasons)
        for before, after in itertools.pairwise(hits):
            compared += 1
            # as the list is ordered by what is said, and by path where that is the same
            assert (-before.rank_value, before.path) < (-after.rank_value, after.path)
            assert said_of(before) >= said_of(after) - 1e-9
            assert before.score >= after.score
    assert compared
    assert kinds == ({"code"} if mode == "symbol" else {"code", "docs"})


def test_nothing_is_explained_unasked_and_the_answer_is_the_same(engine: Engine) -> None:
    plain = engine.search("RetryPolicy", wait_s=0.0).hits
    explained = engine.search("RetryPolicy", explain=True, wait_s=0.0).hits
    assert all(not hit.reasons for hit in plain)
    assert [(hit.path, hit.rank_value) for hit in plain] == [(hit.path, hit.rank_value) for hit in explained]


def test_what_holds_a_file_back_is_said_with_its_sign(engine: Engine) -> None:
    (test,) = [
        hit
        for hit in engine.search("when may a client send a burst of requests", explain=True, limit=50, wait_s=0.0).hits
        if hit.path == "gateway/limiter_test.go"
    ]
    (held,) = [reason for reason in test.reasons if reason.signal == "test"]
    assert held.value < 0
    asked = engine.search("test that a burst is refused", explain=True, limit=50, wait_s=0.0).hits
    signals = {reason.signal: reason.value for hit in asked if hit.path == test.path for reason in hit.reasons}
    assert "test" not in signals
    assert signals["wanted"] > 0


def test_the_words_say_what_was_found(engine: Engine) -> None:
    def words(question: str, mode: str = "auto") -> dict[str, str]:
        first = engine.search(question, mode=mode, explain=True, wait_s=0.0).hits[0]
        return {reason.signal: reason.words for reason in first.reasons}

    assert "RetryPolicy" in words("RetryPolicy")["definition"]
    assert words("Bucket", "symbol")["alike"].startswith("it defines TokenBucket")
    assert words('"Wait until all old tokens have run out"')["exact"].endswith("first on line 10")
    assert "100%" in words("RetryPolicy", "keyword")["coverage"]
    assert not [said for said in words("how is the schema of the database upgraded").values() if "{" in said]


def test_what_is_similar_is_explained_as_what_is_found(engine: Engine) -> None:
    plain = engine.similar("gateway/limiter.go", wait_s=0.0).hits
    explained = engine.similar("gateway/limiter.go", explain=True, wait_s=0.0).hits
    assert plain and all(not hit.reasons for hit in plain)
    assert [(hit.path, hit.rank_value) for hit in plain] == [(hit.path, hit.rank_value) for hit in explained]
    for hit in explained:
        assert hit.rank_value > 0
        assert said_of(hit) == pytest.approx(hit.rank_value)
        assert all(reason.words for reason in hit.reasons)

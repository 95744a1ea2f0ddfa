"""What a query is taken for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.model.types import Intent
from findling.search.intent import ESCALATION_BELOW, classify, escalation_hint

DATA = Path(__file__).parent / "data"


def cases(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def query_of(case: dict[str, object]) -> str:
    return repr(case["query"])


@pytest.mark.parametrize("case", cases("intent_cases.jsonl"), ids=query_of)
def test_intent_of_typical_queries(case: dict[str, object]) -> None:
    assert classify(str(case["query"])).intent == case["intent"]


@pytest.mark.parametrize("case", cases("intent_more.jsonl"), ids=query_of)
def test_intent_and_confidence_at_the_edges_of_the_rules(case: dict[str, object]) -> None:
    guess = classify(str(case["query"]))
    assert (guess.intent, guess.confidence) == (case["intent"], case["confidence"])


def test_every_rule_has_a_case() -> None:
    """Of the confidences, .90 belongs to three rules and the others to one each."""
    seen = {(case["intent"], case["confidence"]) for case in cases("intent_more.jsonl")}
    assert seen == {
        ("path", 0.95),
        ("path", 0.85),
        ("error", 0.90),
        ("path", 0.80),
        ("symbol", 0.90),
        ("symbol", 0.88),
        ("symbol", 0.85),
        ("symbol", 0.70),
        ("symbol", 0.60),
        ("symbol", 0.76),
        ("natural_language", 0.72),
        ("natural_language", 0.55),
    }


@pytest.mark.parametrize(
    ("intent", "advice"),
    [
        ("symbol", "retry with natural-language wording or include file path."),
        ("path", "retry with exact path or broaden to filename-only search."),
        ("error", "include exact error text or stack-frame snippet."),
        ("natural_language", "retry as symbol/path if you know exact identifiers."),
    ],
)
def test_hints_below_the_threshold_only(intent: Intent, advice: str) -> None:
    assert escalation_hint(intent, ESCALATION_BELOW) is None
    assert escalation_hint(intent, 0.64) == f"Intent confidence is low; {advice}"


def test_unsure_guesses_carry_their_hint() -> None:
    assert classify("caching").hint == "Intent confidence is low; retry as symbol/path if you know exact identifiers."
    assert classify("utf8").hint == (
        "Intent confidence is low; retry with natural-language wording or include file path."
    )
    assert classify("where is caching done").hint is None


# Pieces that the rules look for, so that combinations of them come up and not only random letters.
MARKS = ["/", "\\", ".", "::", "->", "()", '"', "`", "'", "$", "@", "_", "-", ":", " ", "\n", "\t", "\x1c"]
WORDS = ["fn", "class", "Error", "panic", "[E1]", "line 3, in", "at a(b:1)", "Traceback (", "py", "JSON"]
PIECES = st.sampled_from([*MARKS, *WORDS, "a", "B", "7", "é", "认", "\ud800"])


@given(st.one_of(st.text(), st.lists(PIECES, max_size=8).map("".join)))
def test_any_text_has_an_intent(text: str) -> None:
    guess = classify(text)
    assert guess.intent in get_args(Intent)
    assert 0.5 < guess.confidence < 1
    assert (guess.hint is None) == (guess.confidence >= ESCALATION_BELOW)
    assert classify(f" \n{text}\t") == guess


@given(st.from_regex(r"[a-z]{1,30}", fullmatch=True))
def test_a_plain_lower_case_word_is_no_symbol(word: str) -> None:
    assert classify(word).intent in ("natural_language", "path")  # path: makefile and its like

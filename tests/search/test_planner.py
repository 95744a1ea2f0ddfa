"""Which channels are asked, and for what to the letter."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.model.types import MODES, Intent, Mode
from findling.search.intent import classify
from findling.search.keyword import KeywordHits
from findling.search.planner import literal_part, plan
from findling.search.query import without_form
from findling.search.ranking import formula
from findling.search.ranking.ranked_file import FileCosines
from findling.search.ranking.ranker import Evidence

WITHOUT = Evidence(KeywordHits({}, {}), {}, None)
NONE_YET = Evidence(KeywordHits({}, {}), {}, {})
WITH = Evidence(KeywordHits({}, {}), {}, {1: FileCosines(np.ones(1, np.float32), np.ones(1, np.float32))})


@pytest.mark.parametrize(
    ("mode", "channels"),
    [
        ("auto", {"keyword", "symbol", "semantic"}),
        ("hybrid", {"keyword", "symbol", "semantic"}),
        ("keyword", {"keyword"}),
        ("symbol", {"symbol"}),
        ("semantic", {"semantic"}),
        ("exact", {"exact"}),
    ],
)
def test_each_mode_asks_what_it_is_named_after(mode: Mode, channels: set[str]) -> None:
    assert plan(mode, "natural_language", "x").channels == channels


def test_signals_follow_what_the_channels_could_do() -> None:
    for mode in ("auto", "hybrid", "keyword", "exact"):
        chosen = plan(mode, "natural_language", "x")
        assert chosen.signals(WITHOUT) == chosen.signals(NONE_YET) == formula.TEXT_ONLY
        assert chosen.signals(WITH) == formula.WITH_VECTORS
    assert plan("semantic", "natural_language", "x").signals(WITH) == {"window"}
    assert not plan("semantic", "natural_language", "x").priors
    assert "definition" in plan("symbol", "symbol", "x").signals(WITHOUT)
    for mode in MODES:
        assert plan(mode, "symbol", "x").signals(WITH) <= set(formula.SIGNALS)


def test_only_auto_and_exact_look_to_the_letter() -> None:
    quoted = 'where is "no such file" said'
    assert plan("auto", "natural_language", quoted).exact_text == "no such file"
    assert plan("exact", "natural_language", quoted).exact_text == quoted
    for mode in ("hybrid", "keyword", "symbol", "semantic"):
        assert plan(mode, "error", quoted).exact_text == ""


@pytest.mark.parametrize(
    ("intent", "text", "literal"),
    [
        ("natural_language", "how is it done", ""),
        ("natural_language", 'who says "not found"', "not found"),
        ("natural_language", "who says `not_found()`", "not_found()"),
        ("natural_language", "who says “not found”", "not found"),
        ("natural_language", 'a "b" c', ""),
        ("natural_language", 'a "b" or "more"', "more"),
        ("natural_language", 'an "   " and an ""', ""),
        ("error", "could not open '/etc/x.toml' for reading", "could not open"),
        ("error", "worker 17 died before its task was done", "died before its task was done"),
        ("error", "error: 42", ""),
        ("error", "error: " + "word " * 2000, ("word " * 40).strip()),
        ("natural_language", 'who says "not\0found"', ""),
        ("natural_language", "a `first\nline` and `more`", "more"),
        ("error", "the first half\0the other half \ud800", "the first half"),
        ("error", "", ""),
        ("error", "value {name} is out of its range", "is out of its range"),
        ("error", "ValueError: the list is empty", "the list is empty"),
        ("error", "app.errors.NotReady: the list is empty", "the list is empty"),
        ("error", "error[E0308]: mismatched types", "mismatched types"),
        ("error", "fatal: not a git repository", "not a git repository"),
        ("error", "Error: connection pool exhausted: 8 of 8 are in use", "connection pool exhausted"),
        ("error", "Traceback (most recent call last):\nKeyError: no such buoy is known", "no such buoy is known"),
    ],
)
def test_the_part_that_stands_in_the_source(intent: Intent, text: str, literal: str) -> None:
    assert literal_part(text, intent) == literal


@given(st.text(), st.sampled_from(get_args(Intent)), st.sampled_from(MODES))
def test_any_text_has_a_plan(text: str, intent: Intent, mode: Mode) -> None:
    chosen = plan(mode, intent, text)
    assert chosen.channels
    assert chosen.exact_text in text
    assert plan(mode, classify(text).intent, text) == plan(mode, classify(text).intent, text)


@pytest.mark.parametrize(
    ("text", "is_code"),
    [
        ("tool.coverage.run", True),
        ("Backup::JS_transfer", True),
        ("SQLITE_DEFAULT_WAL_SYNCHRONOUS", True),
        ("Client.retry", False),
        ("MAX_SIZE", False),
        ("how are options parsed", False),
        ("README.md", False),
    ],
)
def test_a_query_that_is_a_piece_of_code_is_looked_for_to_the_letter(text: str, is_code: bool) -> None:
    chosen = plan("auto", "symbol", text)
    assert (chosen.is_code, chosen.exact_text) == (is_code, text if is_code else "")


def test_of_the_beginning_of_a_definition_its_name_is_asked_for() -> None:
    assert [without_form(text) for text in ("def echo(", "export async function send(", "class Foo:")] == [
        "echo",
        "send",
        "Foo",
    ]
    assert without_form("class loader") == "class loader"

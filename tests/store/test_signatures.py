"""A signature is kept only where its line does not say it, and comes back the same either way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.store.signatures import MAX_SIGNATURE, from_line, of, to_keep


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("    def backoff(self, attempt):", "def backoff(self, attempt)"),
        ("func (b *Bucket) Allow(now  time.Time) bool {", "func (b *Bucket) Allow(now time.Time) bool"),
        ("procedure Start is", "procedure Start"),
        ("  def start do", "def start"),
        ("let x =", "let x"),
        ("int f(void);", "int f(void)"),
        ("", ""),
        ("   { ", ""),
    ],
)
def test_what_a_line_says(line: str, says: str) -> None:
    assert from_line(line) == says


def test_a_very_long_line_is_cut() -> None:
    line = "def f(" + "xyz | " * 1000 + "): pass"
    assert from_line(line) == f"{line[: MAX_SIGNATURE - 1]}…"
    assert from_line("f" * MAX_SIGNATURE + " {") == "f" * MAX_SIGNATURE


def test_a_line_as_long_as_a_file_is_not_gone_through() -> None:
    line = "x " * 10_000
    assert from_line(line + "{") == from_line(line) == f"{line[: MAX_SIGNATURE - 1]}…"
    assert from_line(" " * 10_000 + "def f(x):") == ""


@given(
    st.text("ab(){}:=; ,\t", min_size=1, max_size=30),
    st.lists(st.text("ab(): {", max_size=20), max_size=5),
    st.integers(-1, 7),
)
def test_a_signature_comes_back(signature: str, lines: list[str], name_line: int) -> None:
    kept = to_keep(signature, lines, name_line)
    assert kept in ("", signature)
    assert of(kept, lines, name_line, "name") == signature


def test_what_the_line_says_is_not_kept() -> None:
    lines = ["import os", "def load(path):", "    pass"]
    assert to_keep("def load(path)", lines, 2) == ""
    assert to_keep("def load(path, mode)", lines, 2) == "def load(path, mode)"


def test_without_the_file_the_name_stands_in() -> None:
    assert of("", None, 2, "load") == "load"
    assert of("", ["one line"], 2, "load") == "load"
    assert of("", ["", "x"], 1, "load") == "load"
    assert of("def load(path)", None, 2, "load") == "def load(path)"

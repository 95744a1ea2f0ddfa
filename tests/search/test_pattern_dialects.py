"""Spellings of other tools' regular expressions are refused, with what to write here; what only looks so is not."""

from __future__ import annotations

import re
import string
import time

import pytest

from findling.model.errors import InvalidPattern
from findling.search.pattern_syntax import IN_BRACKETS
from findling.search.patterns import compile_pattern

ASCII = "".join(map(chr, range(1, 10))) + "".join(map(chr, range(11, 128)))
"""All but the two characters that no line holds."""

MEANT = {
    "alnum": string.ascii_letters + string.digits,
    "alpha": string.ascii_letters,
    "ascii": ASCII,
    "blank": " \t",
    "cntrl": "".join(c for c in ASCII if ord(c) < 32 or ord(c) == 127),
    "digit": string.digits,
    "graph": string.ascii_letters + string.digits + string.punctuation,
    "lower": string.ascii_lowercase,
    "print": string.ascii_letters + string.digits + string.punctuation + " ",
    "punct": string.punctuation,
    "upper": string.ascii_uppercase,
    "word": string.ascii_letters + string.digits + "_",
    "xdigit": string.hexdigits,
}


def refusal(pattern: str) -> InvalidPattern:
    with pytest.raises(InvalidPattern) as raised:
        compile_pattern(pattern)
    return raised.value


@pytest.mark.parametrize(
    ("pattern", "at", "written", "instead"),
    [
        ("[[:digit:]]+", 1, "[:digit:]", "Write \\d in its place, inside brackets."),
        ("x[^_[:alpha:]]", 4, "[:alpha:]", "Write A-Za-z in its place"),
        ("[][:space:]]", 2, "[:space:]", "Write \\s in its place"),
        ("[[:^digit:]]", 1, "[:^digit:]", "Write [^\\d] as a set of its own."),
        ("[[:^upper:]]", 1, "[:^upper:]", "Write [^A-Z] as a set of its own."),
        ("a[:alpha:]+", 1, "[:alpha:]", "Write A-Za-z in its place, inside brackets."),
        ("a[^:word:]+", 1, "[^:word:]", "Write [^\\w] as a set of its own."),
        (r"\<free\>", 0, r"\<", r"Write \b, or ask for whole words (grep -w); a plain < needs no backslash."),
        (r"(a|free\>)", 7, r"\>", r"Write \b"),
    ],
)
def test_what_means_something_else_is_refused_at_its_place(pattern: str, at: int, written: str, instead: str) -> None:
    error = refusal(pattern)
    assert error.position == at
    assert f" {written} at position {at} " in error.message
    assert instead in error.remedy
    assert compile_pattern(pattern, literal=True).plain  # to the letter it may be asked for


@pytest.mark.parametrize("name", sorted(IN_BRACKETS))
def test_what_is_to_be_written_instead_matches_what_was_meant(name: str) -> None:
    compiled = compile_pattern(f"[{IN_BRACKETS[name]}]")
    found = {ASCII[start:end] for start, end in compiled.spans(ASCII, time.monotonic() + 5)}
    assert found == set(MEANT.get(name, "")) if name in MEANT else found >= set(" \t\r\v\f")


@pytest.mark.filterwarnings("ignore:Possible nested set")
@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"[\<\>]", "<"),
        (r"\\<", "\\<"),
        ("[a[:]b", ":b"),
        ("[[:x:]]", "x]"),
        (r"[[\:digit:]]", ":]"),
        ("(?#[[:digit:]] \\<)a", "a"),
        (r"(?x)a # [[:digit:]] \<", "a"),
        (r"\[[:d]", "[:"),
        (r"\[\[:digit:\]\]", "[[:digit:]]"),
        (r"(?P<name>a)(?<=a)", "a"),
        ("<free>", "<free>"),
    ],
)
def test_what_only_looks_so_means_what_the_standard_library_says(pattern: str, text: str) -> None:
    assert re.compile(pattern).fullmatch(text)
    assert list(compile_pattern(pattern).spans(text, time.monotonic() + 5)) == [(0, len(text))]

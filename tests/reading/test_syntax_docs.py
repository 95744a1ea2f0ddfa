"""Documented definitions: which there are, which bytes their comments are, and what is left without them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.reading.syntax_docs import documented, without

SAID = "Counts the boats that lie in the harbour tonight."
SOURCES = {
    "a.py": f'def boats(harbour):\n    """{SAID}\n\n    More of it.\n    """\n    return 1\n',
    "a.go": f"package x\n\n// {SAID}\n// More of it.\nfunc Boats() int {{\n\treturn 1\n}}\n",
    "a.rs": f"/// {SAID}\n/// More of it.\npub fn boats() -> u32 {{\n    1\n}}\n",
    "A.java": f"class A {{\n  /**\n   * {SAID}\n   *\n   * More of it.\n   */\n"
    "  @Override\n  int boats() { return 1; }\n}\n",
    "a.ts": f"/** {SAID} More of it. */\nexport function boats(): number {{ return 1; }}\n",
    "a.ex": f'defmodule A do\n  @doc """\n  {SAID}\n\n  More of it.\n  """\n  def boats(harbour), do: harbour\nend\n',
    "a.rb": f"# {SAID}\n# More of it.\ndef boats\n  1\nend\n",
    "a.c": f"/* {SAID}\n * More of it. */\nint boats(void) {{ return 1; }}\n",
}


@pytest.mark.parametrize("path", SOURCES)
def test_a_comment_is_found_and_nothing_else_goes(path: str) -> None:
    text = SOURCES[path].encode()
    (found,) = [one for one in documented(path, text) or () if one.name.lower() == "boats"]
    assert found.doc.startswith(SAID)
    left = without(text, found.spans)
    assert left.count(b"\n") == text.count(b"\n")
    assert b"harbour tonight" not in left and b"More of it" not in left
    lines, before = left.decode().split("\n"), text.decode().split("\n")
    for number, line in enumerate(lines):
        assert before[number].startswith(line.rstrip('"')) or line.strip() in before[number]
    assert "boats" in lines[found.start_line - 1].lower() or "@" in lines[found.start_line - 1]
    # The parser sees none any more, in the same place.
    after = {one.name: one for one in documented(path, left) or ()}
    assert found.name not in after


def test_a_blank_line_ends_a_comment_and_strings_stay() -> None:
    text = (
        b"package x\n\n// A licence that has nothing to do with boats.\n\n// Boats counts what lies in the harbour.\n"
        b'func Boats() string {\n\treturn "Boats counts what lies in the harbour."\n}\n'
    )
    (found,) = documented("a.go", text) or ()
    left = without(text, found.spans)
    assert b"A licence" in left
    assert left.count(b"lies in the harbour") == 1


def test_what_has_no_tree_has_no_answer() -> None:
    assert documented("notes.md", b"# Boats\n\nMany.\n") is None
    assert documented("a.unknown", b"boats\n") is None
    assert documented("a.py", b"x = 1\n") == []


@given(st.binary(max_size=200), st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200)), max_size=8))
def test_lines_keep_their_numbers(text: bytes, pairs: list[tuple[int, int]]) -> None:
    spans = [(min(pair), max(pair)) for pair in pairs]
    left = without(text, spans)
    assert left.count(b"\n") == text.count(b"\n")
    assert len(left) <= len(text)
    outside = bytes(
        byte for at, byte in enumerate(text) if byte != 10 and not any(start <= at < end for start, end in spans)
    )
    assert left.replace(b"\n", b"") == outside

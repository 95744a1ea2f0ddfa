"""What `--max-tokens` bounds is what is printed, in every form."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from findling.faces.cli.session import within
from findling.faces.cli.terminal.json import JsonView
from findling.faces.cli.terminal.lines import Places
from findling.faces.cli.terminal.plain import PlainView
from findling.faces.cli.terminal.pretty import PrettyView
from findling.model.types import Coverage, Hit, Reason, SearchResult, Span
from findling.search.snippet import estimate_tokens

ROOT = Path("/project")
View = JsonView | PlainView | PrettyView
NAMES = st.text("ab/_\u00e9\u202e", min_size=1, max_size=30)
TEXTS = st.lists(st.text('code "\\\u00e9\x07', max_size=50), max_size=8).map("\n".join)
SPANS = st.lists(st.builds(Span, st.integers(1, 9), st.integers(9, 9999), NAMES), max_size=3).map(tuple)


@st.composite
def hits(draw: st.DrawFn) -> Hit:
    snippet = draw(TEXTS)
    return Hit(
        path=draw(NAMES),
        start_line=7,
        end_line=draw(st.integers(7, 5000)),
        score=0.5,
        rank_value=draw(st.floats(0, 9)),
        kind="fn",
        language="python",
        name="f",
        qualified_name=draw(NAMES),
        snippet=snippet,
        snippet_start_line=8,
        matches=((8, 0, 1),) if snippet else (),
        body=draw(st.one_of(TEXTS, st.just(snippet))),
        sources=("keyword",),
        others=draw(SPANS),
        reasons=(Reason("bm25", 1.5, "the text has it"),),
    )


def answer(*found: Hit) -> SearchResult:
    return SearchResult("f", found, 20, "symbol", "auto", 0.9, "fresh", "complete", Coverage(), 1.25, ("before",))


def printed(kind: str, result: SearchResult, *, explain: bool) -> str:
    out = io.StringIO()
    view(kind, out).search(result, explain=explain)
    return out.getvalue()


def view(kind: str, out: io.StringIO) -> View:
    places = Places(ROOT, ROOT)
    made: View
    if kind == "json":
        made = JsonView(out, ROOT)
    elif kind == "plain":
        made = PlainView(out, places)
    else:
        made = PrettyView(out, places)
    return made


@pytest.mark.parametrize("kind", ["plain", "json", "pretty"])
@settings(max_examples=40, deadline=None)
@given(found=st.lists(hits(), max_size=6), max_tokens=st.integers(1, 1500), explain=st.booleans())
def test_no_more_is_printed_than_was_asked_for(kind: str, found: list[Hit], max_tokens: int, explain: bool) -> None:
    whole = answer(*found)
    measured = view(kind, io.StringIO())
    cut = within(whole, max_tokens, lambda some: measured.length(some, explain=explain))
    text = printed(kind, cut, explain=explain)
    if kind != "pretty":  # whose styles are not counted
        assert len(text) == measured.length(cut, explain=explain)
    size = measured.length(cut, explain=explain)
    assert estimate_tokens("x" * size) <= max_tokens or not cut.hits
    assert [hit.path for hit in cut.hits] == [hit.path for hit in found[: len(cut.hits)]]
    if cut.completeness == "complete":
        assert cut.notes == ("before",)
        assert cut.hits == whole.hits
    else:
        assert cut.completeness == "truncated" and len(cut.notes) == 2
        if len(cut.hits) < len(found):
            assert not any(hit.body for hit in cut.hits[1:]), "a body took the room of a place"
        if len(cut.hits) > 1:
            assert cut.hits[0].body == found[0].body, "a place took the room of the first one's body"


def test_the_lines_that_say_also_are_counted() -> None:
    few = [replace(BARE, path=f"f{n}.py") for n in range(5)]
    many = [replace(hit, others=(Span(10, 20, "other"),) * 3) for hit in few]
    kept = [
        len(within(answer(*found), 60, lambda some: view("plain", io.StringIO()).length(some, explain=True)).hits)
        for found in (few, many)
    ]
    assert kept == [5, 2]


def test_json_that_has_no_room_for_a_place_says_so() -> None:
    cut = within(answer(BARE), 10, lambda some: view("json", io.StringIO()).length(some, explain=False))
    told = json.loads(printed("json", cut, explain=False))
    assert (told["hits"], told["completeness"]) == ([], "truncated")
    assert told["notes"][1].startswith("No place fits: ")


BARE = Hit("f.py", 1, 2, 0.5, 1.0, "fn", "python", sources=("keyword",))

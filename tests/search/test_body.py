"""What is shown of a place, and of how many."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from findling.engine.answers import _texts
from findling.model.rows import SymbolRow
from findling.model.types import ANSWER_CHARS, CHARS_PER_TOKEN, Hit, Query, SymbolHit
from findling.search.answer import BESIDE_SHARE, FIRST_SHARE, LEAST_ROOM, OPEN, further_lines, is_sure, show
from findling.search.body import (
    HEAD_LINES,
    LINES,
    NOTHING,
    WHOLE,
    Body,
    definition_body,
    documentation,
    lines_of,
    make_body,
    whole,
)
from findling.search.snippet import LINE_CHARS, Snippet

NO_SNIPPET = Snippet(0, "", ())
FILE = [f"line {number}" for number in range(1, 301)]


def symbol(start: int, end: int, kind: str = "fn", name_line: int = 0) -> SymbolRow:
    return SymbolRow(1, 0, "name", kind, -1, start, end, name_line or start, "", "")


def numbers(body: str) -> list[int]:
    return [number for number, _ in lines_of(body) if number]


def test_a_short_definition_is_the_place_and_a_long_one_is_not() -> None:
    symbols = [symbol(1, 300, "class"), symbol(10, 10 + WHOLE - 1), symbol(20, 25), symbol(120, 120 + WHOLE)]
    assert whole(symbols, 21, 22) == (20, 25)
    assert whole(symbols, 12, 30) == (10, 10 + WHOLE - 1)
    assert whole(symbols, 130, 132) == (130, 132)


def test_a_place_is_shown_with_what_it_stands_in_and_what_is_left_out_is_counted() -> None:
    symbols = [symbol(2, 90, "class", name_line=3), symbol(40, 45)]
    body = make_body(FILE, symbols, 40, 45, [(60, 61)], NO_SNIPPET)
    assert body.text(10, 1_000).split("\n") == [
        " 2  line 2",
        " 3  line 3",
        "    … 36 lines",
        "40  line 40",
        "41  line 41",
        "42  line 42",
        "43  line 43",
        "44  line 44",
        "45  line 45",
        "    … 14 lines",
        "60  line 60",
        "61  line 61",
    ]


def test_of_a_long_definition_head_part_and_exits_come_first() -> None:
    lines = [*FILE]
    lines[146], lines[149], lines[249] = "    if soon:", "        return early", "    raise Late"
    lines[147:149] = "        x = 1", ""
    body = make_body(lines, [symbol(100, 260)], 180, 185, [], NO_SNIPPET)
    assert numbers(body.text(11, 10_000)) == [100, 147, 150, *range(180, 186), 249, 250]
    assert body.text(11, 10_000).endswith("… 10 more lines")
    assert numbers(body.text(1_000, 100_000)) == list(range(100, 261))


def test_decorators_take_no_more_than_the_head() -> None:
    body = make_body(FILE, [symbol(1, 200, "class", name_line=50)], 100, 101, [], NO_SNIPPET)
    assert numbers(body.text(5, 1_000)) == [*range(1, HEAD_LINES + 1), 100, 101]


def test_a_long_place_begins_where_its_snippet_does() -> None:
    body = make_body(FILE, [], 1, 100, [], Snippet(70, "line 70", ((70, 0, 4),)))
    assert numbers(body.text(5, 1_000)) == [70, 71, 72, 73, 74]


def test_a_single_line_between_two_shown_ones_is_shown() -> None:
    assert numbers(Body(FILE, [1, 3], 3).text(9, 1_000)) == [1, 2, 3]


def test_a_very_long_line_is_cut_around_its_match() -> None:
    lines = ["x" * 1_000, "y" * 1_000]
    body = Body(lines, [1, 2], 2, Snippet(2, "...needle...", ((2, 3, 9),)))
    first, second = body.text(9, 10_000).split("\n")
    assert len(first) == len("1  ") + LINE_CHARS and first.endswith("...")
    assert second == "2  ...needle..."


def test_lines_that_are_gone_since_are_not_shown() -> None:
    body = make_body(FILE[:50], [symbol(1, 300, "class"), symbol(40, 80)], 40, 80, [(90, 95)], NO_SNIPPET)
    assert max(numbers(body.text(1_000, 100_000))) == 50
    assert numbers(body.text(1_000, 300, whole_parts=True, first_chars=2_000)) == [1, *range(40, 51)]
    gone = make_body(FILE[:3], [symbol(40, 80)], 40, 80, [(1, 2)], NO_SNIPPET)
    assert gone.text(10, 100, whole_parts=True, first_chars=200) == ""
    assert numbers(gone.text(10, 100, first_chars=200)) == [1, 2]
    assert NOTHING.text(10, 10) == ""


def test_a_long_body_is_cut_in_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    joined: list[int] = []
    join = Body._joined

    def counted(body: Body, lines: Sequence[int]) -> str:
        joined.append(len(lines))
        return join(body, lines)

    monkeypatch.setattr(Body, "_joined", counted)
    text = Body([""] * 20_000, range(1, 20_001), 20_000).text(20_000, 1_000)
    assert 900 < len(text) <= 1_000 and sum(joined) < 3 * 20_000


def test_a_definition_has_the_short_constants_of_its_file_that_it_names() -> None:
    lines = ["WAIT = 10", "OTHER = 1", "def retry():", "    sleep(WAIT)", "    wait = 1"]
    constants = [symbol(1, 1, "constant")._replace(name="WAIT"), symbol(2, 2, "constant")._replace(name="OTHER")]
    inner = symbol(5, 5, "variable")._replace(name="wait", scope="retry")
    hit = SymbolHit("a.py", 3, 3, 5, "retry", "fn", "retry", "python", "def retry()", "exact")
    body = definition_body(lines, [*constants, symbol(3, 5), inner], hit)
    assert numbers(body.text(9, 1_000)) == [1, 2, 3, 4, 5]  # one line between two is shown
    assert body.worth == [3, 4, 5, 1]


def test_of_the_parts_after_the_first_those_are_shown_that_fit_whole() -> None:
    body = Body(FILE, [*range(10, 15), *range(50, 100), *range(200, 203)], 14, parts=[5, 55, 58])
    assert numbers(body.text(300, 200, whole_parts=True)) == [*range(10, 15), *range(200, 203)]


def test_functions_that_a_place_calls_or_that_call_it_are_parts() -> None:
    lines = [
        "def start():",
        "    retry()",
        "def other(): pass",
        "def retry():",
        "    pause()",
        "def pause():",
        "    x = 1",
    ]
    spans = {"start": (1, 2), "other": (3, 3), "retry": (4, 5), "pause": (6, 7)}
    symbols = [symbol(*span)._replace(name=name) for name, span in spans.items()]
    body = make_body(lines, symbols, 4, 5, [], NO_SNIPPET)
    assert numbers(body.text(9, 1_000, whole_parts=True)) == [1, 2, 3, 4, 5, 6, 7]  # a line between two is shown
    assert [body.worth[at - 1] for at in body.parts] == [5, 5, 7, 2, 2]


def test_callers_are_few_and_have_the_name_as_a_word() -> None:
    functions = [f"def f{at}():\n    {'retry_all()' if at < 2 else 'retry()'}" for at in range(20_000)]
    lines = "\n".join(["def retry():", "    pass", *functions, "retry()"]).split("\n")
    symbols = [symbol(1, 2)._replace(name="retry")]
    symbols += [symbol(3 + 2 * at, 4 + 2 * at)._replace(name=f"f{at:04}") for at in range(20_000)]
    body = make_body(lines, symbols, 1, 2, [], NO_SNIPPET)
    assert [body.worth[at - 2 : at] for at in sorted({*body.parts})] == [[1, 2], [7, 8], [9, 10], [11, 12]]


@pytest.mark.parametrize(
    ("text", "left_out"),
    [
        ('def f(\n  a: int,\n) -> int:  # n\n\n  """One.\n  Still.\n\n  More.\n  b\n  """\n  return a', [7, 8, 9, 10]),
        ('"""Of a module.\n\nMore.\nb\n"""\nx = 1', [2, 3, 4, 5]),
        ('def f():\n  """One.\n\n  Two.\n  """\n  x = 1', []),  # too few
        ('def f():\n  """One."""\n  x = \'\'\'\n\n  text:\n  \'\'\'\n  y = """\n\n  """', []),
        ('def f():\n  x = """\n\n  text\n"""\n  return """\n"""', []),
        ("/**\n * One.\n *\n * More.\n * b\n */\nint f() { /* x */ }", [3, 4, 5, 6]),
        ("/**\n * One\n * still.\n * @param a what\n * @throws c\n * @return b\n */\nfunction f() {}", [4, 5, 6, 7]),
        ("/// One.\n///\n/// # Examples\n/// x\n/// y\nfn f() {}\n// no\n", [2, 3, 4, 5]),
        ("// One.\n// Still.\n// And on.\nfunc f() {}", []),
    ],
)
def test_of_documentation_the_first_paragraph_is_shown(text: str, left_out: list[int]) -> None:
    lines = text.split("\n")
    assert [*documentation(lines, range(1, len(lines) + 1))] == left_out


def test_several_bodies_are_whole_where_there_is_room_and_else_the_short_ones_are() -> None:
    short, long, longer = (Body(FILE, range(1, end + 1), end) for end in (10, 100, 200))
    whole = [body.text(300, 10_000) for body in (long, short, longer)]
    assert _texts([long, short, longer], sum(map(len, whole))) == whole
    cut = _texts([long, short, longer], 1_500)
    assert cut[1] == whole[1] and sum(map(len, cut)) <= 1_500
    assert abs(len(cut[0]) - len(cut[2])) < 100


@given(
    worth=st.lists(st.integers(1, 300), unique=True, max_size=60),
    most_lines=st.integers(1, 50),
    most_chars=st.integers(0, 2_000),
)
def test_no_more_is_shown_than_there_is_room_for(worth: list[int], most_lines: int, most_chars: int) -> None:
    text = Body(FILE, worth, 300).text(most_lines, most_chars)
    assert len(text) <= most_chars
    for number, line in lines_of(text):
        assert not number or line == FILE[number - 1]
    shown = numbers(text)
    assert shown == sorted(set(shown))
    if most_chars == 2_000 and worth:
        assert set(worth[: min(most_lines, 20)]) <= set(shown)


# --- of how many places --------------------------------------------------------------------------------------------


def hits(*values: float) -> list[Hit]:
    return [Hit(f"src/{at}.py", 1, 300, value, value, "fn", "python") for at, value in enumerate(values)]


TEN = hits(*(1.0 - at / 100 for at in range(10)))
BODIES = [partial(Body, FILE, list(range(1, 301)), 300)] * 10


def shown(query: Query, *, sure: bool = False) -> list[int]:
    """The lines of each place."""
    return [len(numbers(hit.body)) for hit in show(TEN, BODIES, query, sure=sure)]


def test_the_first_place_has_most_and_others_what_is_left() -> None:
    (sure, *rest), (first, *beside) = shown(Query("x"), sure=True), shown(Query("x"))
    assert sure >= first > LINES and all(lines < first for lines in (*rest, *beside))
    assert all(first * BESIDE_SHARE / FIRST_SHARE * 0.9 < lines for lines in beside[: OPEN - 1])
    used = sum(len(hit.body) + len(hit.path) for hit in show(TEN, BODIES, Query("x"), sure=True))
    assert used > ANSWER_CHARS - Query("x").frame_chars - LEAST_ROOM
    short = [partial(Body, FILE, list(range(1, 21)), 20)] * 10
    assert [len(numbers(hit.body)) for hit in show(TEN, short, Query("x"), sure=True)] == [20] * 10
    assert shown(Query("x", bodies="none")) == [0] * 10
    assert shown(Query("x", bodies="all")) == [LINES] * 10


def test_parts_of_a_file_that_have_more_of_the_question_come_first() -> None:
    lines = ["x = 1"] * 9 + ["def retry():", "    wait()"] + ["x = 1"] * 5 + ["def pause():", "    pass"]
    places = [(1, 1), (3, 3), (5, 5), (17, 18), (10, 11)]
    body = make_body(lines, [], 8, 8, places, NO_SNIPPET, {"retry": 1.0, "wait": 0.5})
    assert [body.worth[at - 1] for at in body.parts] == [8, 1, 3, 5, 11, 18]


def test_a_definition_that_the_question_names_is_shown_in_full_before_others() -> None:
    found = [replace(hit, name="retry_policy" if place == 7 else "policy") for place, hit in enumerate(TEN)]
    query = Query("what does retry_policy do with a policy")
    for sure, full in ((True, [0, 7]), (False, [0, 1, 7])):
        shown = show(found, BODIES, query, sure=sure)
        assert [place for place, hit in enumerate(shown) if hit.body] == full
        assert len(numbers(shown[7].body)) > LINES


def test_beside_a_document_that_is_first_the_best_code_is_shown_to_its_end() -> None:
    found = [replace(hit, group="docs" if place == 0 else "code", end_line=60) for place, hit in enumerate(TEN)]
    bodies = [partial(Body, FILE, range(1, 61), 60, parts=(60,))] * 10
    query = Query("x", max_tokens=500)
    document, code, further = [numbers(hit.body) for hit in show(found, bodies, query, sure=False)[:3]]
    assert document and code == list(range(1, 61)) and len(further) < len(code)


def test_a_place_of_which_the_head_alone_would_fit_is_a_line() -> None:
    found = [replace(hit, start_line=100) for hit in TEN]
    bodies = [partial(Body, FILE, [1, *range(100, 301)], 300)] * 10
    for tokens, full in ((750, 3), (100, 1)):
        shown = show(found, bodies, Query("x", max_tokens=tokens), sure=False)
        assert len([hit for hit in shown if hit.body]) == full and shown[0].body


@pytest.mark.parametrize(
    ("values", "confidence", "sure"),
    [((1.0, 0.7), 0.9, True), ((1.0, 0.9), 0.9, False), ((1.0, 0.7), 0.2, False), ((1.0,), 0.2, True), ((), 0.0, True)],
)
def test_sure_is_what_is_far_ahead_of_the_second(values: tuple[float, ...], confidence: float, sure: bool) -> None:
    assert is_sure(hits(*values), confidence) is sure


@pytest.mark.parametrize("tokens", [1, 50, 200, 1_000, 4_000])
def test_the_budget_holds_and_the_first_place_is_always_shown(tokens: int) -> None:
    for sure in (True, False):
        found = show(TEN, BODIES, Query("x", max_tokens=tokens), sure=sure)
        assert found
        used = sum(len(f"{hit.path}:1-300") + len(hit.body) for hit in found)
        assert used <= max(tokens * CHARS_PER_TOKEN, len(f"{TEN[0].path}:1-300"))
        assert [hit.path for hit in found] == [hit.path for hit in TEN[: len(found)]]


def test_a_larger_budget_shows_more_lines_of_the_first_place() -> None:
    lines = [shown(Query("x", max_tokens=tokens), sure=True)[0] for tokens in (50, 200, 3_000)]
    assert lines == sorted(set(lines))
    assert lines[-1] > LINES


def test_a_brief_answer_lists_fewer_places() -> None:
    query = Query("x", brief=True, place_chars=500)
    found = show(TEN, BODIES, query, sure=False)
    assert 1 < len(found) < 10
    assert sum(len(hit.body) + query.place_chars for hit in found) <= ANSWER_CHARS


def test_of_a_long_list_the_answer_is_no_shorter_and_has_text() -> None:
    found = hits(*(1.0 - at / 1000 for at in range(100)))
    bodies = [partial(Body, FILE, range(1, 301), 300)] * 100
    lengths = []
    for limit in (5, 10, 30, 50, 80):
        listed = show(found[:limit], bodies[:limit], Query("x", limit), sure=False)
        assert len(listed) == limit and listed[0].body
        lengths.append(sum(len(f"{hit.path}:1-300  fn") + 2 + len(hit.body) for hit in listed))
    assert min(lengths) > max(lengths) - LEAST_ROOM
    assert max(lengths) <= ANSWER_CHARS
    most = show(found * 10, bodies * 10, Query("x", 1_000), sure=False)
    assert len(most) == 1_000 and most[0].body


def test_the_lines_of_further_places_are_part_of_a_brief_answer() -> None:
    found = hits(*(1.0 - at / 1000 for at in range(100)))
    bodies = [partial(Body, FILE, range(1, 301), 300)] * 100
    query = Query("x", 100, brief=True, place_chars=500, frame_chars=2_000)
    listed = show(found, bodies, query, sure=False)
    used = sum(len(hit.path) + len(hit.body) + query.place_chars for hit in listed)
    further = sum(len(f"{hit.path}:1-300") + 4 for hit in found[: further_lines(found[len(listed) :], query)])
    assert listed[0].body and further
    assert used + further <= ANSWER_CHARS - query.frame_chars


def test_a_low_screen_holds_the_answer() -> None:
    for screen in (14, 24, 50):
        found = show(TEN, BODIES, Query("x", screen_lines=screen), sure=False)
        assert found[0].body
        lines = len(found) + sum(hit.body.count("\n") + 1 for hit in found if hit.body)
        assert lines <= max(screen, len(found) + OPEN * 6)

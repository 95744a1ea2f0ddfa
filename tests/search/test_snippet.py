"""Which lines are shown of a place, and which words in them are marked."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from findling.model import tokenizer
from findling.search.snippet import ELLIPSIS, LINE_CHARS, MIN_CHARS, SCANNED_LINE_CHARS, Snippet, make_snippet

SOURCE = [
    "import time",
    "",
    "def retry(request, attempts):",
    '    """Send again until it works."""',
    "    for attempt in range(attempts):",
    "        if send(request):",
    "            return True",
    "        time.sleep(2 ** attempt)",
    "    return False",
    "",
]


def stems(text: str) -> set[str]:
    return set(tokenizer.terms(text))


def marked(snippet: Snippet) -> list[str]:
    """The marked words, read back from the shown text."""
    rows = snippet.text.split("\n")
    return [rows[line - snippet.start_line][column:end] for line, column, end in snippet.matches]


def numbered(count: int, **special: str) -> list[str]:
    """``count`` lines of filler, with others at ``line_N``."""
    return [special.get(f"line_{number}", f"filler{number} = nothing") for number in range(1, count + 1)]


def test_a_short_place_is_shown_whole_without_blank_ends() -> None:
    snippet = make_snippet(SOURCE, 2, 10, stems("retries of requests"))
    assert snippet.start_line == 3
    assert snippet.text == "\n".join(SOURCE[2:9])
    assert marked(snippet) == ["retry", "request", "request"]
    assert snippet.matches[0] == (3, 4, 9)


def test_words_are_marked_not_parts_of_words() -> None:
    lines = ["request requests prerequest request_id requestId REQUEST reqest"]
    snippet = make_snippet(lines, 1, 1, stems("request"))
    assert marked(snippet) == ["request", "requests", "request_id", "requestId", "REQUEST"]


def test_the_window_moves_to_where_more_terms_are() -> None:
    lines = numbered(40, line_3="alpha", line_30="alpha", line_32="beta")
    snippet = make_snippet(lines, 1, 40, stems("alpha beta"))
    assert snippet.start_line == 28  # two lines above the first match
    assert marked(snippet) == ["alpha", "beta"]
    assert snippet.text.count("\n") == 9


def test_the_window_begins_with_the_place_when_nothing_is_lost() -> None:
    lines = numbered(40, line_1="alpha", line_9="beta", line_20="alpha beta", line_21="alpha beta")
    assert make_snippet(lines, 1, 40, stems("alpha beta")).start_line == 1
    assert make_snippet(lines, 2, 40, stems("alpha beta")).start_line == 18
    assert make_snippet(lines, 1, 40, stems("gamma")).start_line == 1


def test_among_equals_the_beginning_of_the_place_wins() -> None:
    lines = numbered(60, line_1="alpha", line_30="beta", line_32="beta", line_50="gamma")
    assert make_snippet(lines, 1, 60, stems("alpha beta gamma")).start_line == 1


def test_repetitions_count_less_than_distinct_terms() -> None:
    lines = numbered(40, **{f"line_{n}": "alpha alpha" for n in range(12, 18)}, line_35="alpha", line_36="beta")
    assert make_snippet(lines, 1, 40, stems("alpha beta")).matches[-1][0] == 36


def test_a_window_at_the_end_of_the_place_is_filled_from_above() -> None:
    snippet = make_snippet(numbered(40, line_40="alpha"), 1, 40, stems("alpha"))
    assert snippet.start_line == 31
    assert marked(snippet) == ["alpha"]


def test_the_anchor_is_in_the_window() -> None:
    lines = numbered(60, line_3="alpha beta", line_40="def thing():", line_44="alpha")
    snippet = make_snippet(lines, 1, 60, stems("alpha beta"), anchor_line=40)
    assert snippet.start_line == 40
    assert marked(snippet) == ["alpha"]
    beside = make_snippet(lines, 38, 60, stems("alpha beta"), anchor_line=40)
    assert beside.start_line == 38  # a decorator or a comment above, at no cost
    unmatched = make_snippet(lines, 1, 60, stems("gamma"), anchor_line=40)
    assert unmatched.start_line == 40  # what was asked for first, not at the bottom
    outside = make_snippet(lines, 1, 30, stems("alpha beta"), anchor_line=40)
    assert outside.start_line == 1


def test_the_range_is_cut_to_the_file() -> None:
    assert make_snippet(["a", "b"], 2, 9, set()) == Snippet(2, "b", ())
    assert make_snippet(["a", "b"], -3, 1, set()) == Snippet(1, "a", ())
    assert make_snippet(["a", "b"], 3, 9, set()) == Snippet(3, "", ())
    assert make_snippet(["a", "b"], 2, 1, set()) == Snippet(2, "", ())
    assert make_snippet(["a", "b"], 0, -1, set()) == Snippet(1, "", ())
    assert make_snippet([], 1, 1, {"a"}) == Snippet(1, "", ())
    assert make_snippet(["", "  ", "\t"], 1, 3, {"a"}) == Snippet(1, "", ())


def test_carriage_returns_are_not_shown() -> None:
    assert make_snippet(["alpha\r", "beta\r"], 1, 2, {"beta"}) == Snippet(1, "alpha\nbeta", ((2, 0, 4),))


def test_a_long_line_is_cut_around_its_first_match() -> None:
    far = make_snippet(["x " * 400 + "needle " + "y " * 400], 1, 1, stems("needle"))
    assert len(far.text) == LINE_CHARS
    assert far.text.startswith(ELLIPSIS)
    assert far.text.endswith(ELLIPSIS)
    assert marked(far) == ["needle"]
    near = make_snippet(["needle " + "y " * 400 + "needle"], 1, 1, stems("needle"))
    assert near.text.startswith("needle")
    assert marked(near) == ["needle"]  # the other one is not shown
    end = make_snippet(["x " * 400 + "needle"], 1, 1, stems("needle"))
    assert end.text.endswith("x needle")
    assert len(end.text) == LINE_CHARS
    none = make_snippet(["x" * 500], 1, 1, stems("needle"))
    assert none.text == "x" * (LINE_CHARS - len(ELLIPSIS)) + ELLIPSIS


def test_a_long_match_is_shown_whole_where_it_fits() -> None:
    word = "a" * 180
    assert marked(make_snippet(["x " * 50 + word + " y" * 50], 1, 1, stems(word))) == [word]
    assert marked(make_snippet(["x " * 10 + word + " y" * 50], 1, 1, stems(word))) == [word]


def test_matches_far_along_a_line_are_not_looked_for() -> None:
    near, far = " " * (SCANNED_LINE_CHARS - 6) + "needle", " " * SCANNED_LINE_CHARS + "needle"
    assert marked(make_snippet([f"x{near[1:]} y"], 1, 1, stems("needle"))) == ["needle"]
    assert make_snippet([f"x{far}"], 1, 1, stems("needle")).matches == ()


def test_a_match_longer_than_a_line_is_marked_as_far_as_it_is_shown() -> None:
    word = "a" * 300
    snippet = make_snippet(["x " * 30 + word], 1, 1, stems(word))
    assert len(snippet.text) == LINE_CHARS
    assert set(marked(snippet)[0]) == {"a"}


def test_characters_are_limited_too() -> None:
    lines = ["w" * 99] * 20
    assert make_snippet(lines, 1, 20, set(), max_chars=399).text.count("\n") == 3
    assert make_snippet(lines, 1, 20, set(), max_chars=398).text.count("\n") == 2
    assert len(make_snippet(lines, 1, 20, set(), max_chars=0).text) == MIN_CHARS
    assert make_snippet(lines, 1, 20, set(), max_lines=0).text == lines[0]


def test_text_beyond_ascii_is_marked_where_it_stands() -> None:
    assert marked(make_snippet(["naïve café, CAFÉ"], 1, 1, stems("café"))) == ["café", "CAFÉ"]
    decomposed = "cafe\u0301 noir"
    snippet = make_snippet([decomposed], 1, 1, stems("café"))
    assert snippet.matches == ((1, 0, 5),)
    assert marked(make_snippet(["这里 用户认证 登录"], 1, 1, stems("认证"))) == ["用户认证"]


WORDS = st.sampled_from(
    [
        "retry",
        "retries",
        "request_id",
        "HTTPServer2",
        "x",
        "認証済み",
        "café",
        "cafe\u0301",
        "ﬁx",
        "a" * 250,
        "",
        "=",
        "(",
    ]
)
LINES = st.lists(st.lists(WORDS, max_size=60).map(" ".join), max_size=40)
QUERIES = st.sampled_from(["retry", "retry request café", "server http", "認証 fix", "", "a" * 250])


@given(
    LINES, st.integers(-2, 45), st.integers(-2, 45), QUERIES, st.integers(1, 12), st.integers(MIN_CHARS, 900), st.data()
)
def test_a_snippet_keeps_its_bounds(
    lines: list[str], start: int, end: int, query: str, max_lines: int, max_chars: int, data: st.DataObject
) -> None:
    anchor = data.draw(st.none() | st.integers(-2, 45))
    wanted = stems(query)
    snippet = make_snippet(lines, start, end, wanted, max_lines=max_lines, max_chars=max_chars, anchor_line=anchor)
    rows = snippet.text.split("\n")
    assert len(rows) <= max_lines
    assert len(snippet.text) <= max_chars
    assert max(map(len, rows)) <= LINE_CHARS
    inside = lines[max(0, start - 1) : max(0, end)]
    assert bool(snippet.text) == any(line.strip() for line in inside)
    if not snippet.text:
        assert snippet.matches == ()
        return
    assert max(1, start) <= snippet.start_line
    last = snippet.start_line + len(rows) - 1
    assert last <= min(end, len(lines))
    assert rows[0].strip()
    assert rows[-1].strip()
    if anchor is not None and max(1, start) <= anchor <= min(end, len(lines)) and lines[anchor - 1].strip():
        assert snippet.start_line <= anchor <= last
    for row, line in zip(rows, lines[snippet.start_line - 1 :], strict=False):
        assert row == line or (ELLIPSIS in row and row.strip(".") in line)
    assert list(snippet.matches) == sorted(set(snippet.matches))
    for word in marked(snippet):
        assert word
        cut_short = len(word) >= MIN_CHARS - 2 * len(ELLIPSIS) and set(word) == {"a"}
        assert cut_short or wanted & stems(word)


@given(LINES, QUERIES)
def test_every_word_that_shares_a_term_is_marked(lines: list[str], query: str) -> None:
    wanted = stems(query)
    snippet = make_snippet(lines, 1, len(lines), wanted)
    expected = [
        word
        for row, line in zip(snippet.text.split("\n"), lines[snippet.start_line - 1 :], strict=False)
        if row == line
        for word in line.split()
        if wanted & stems(word)
    ]
    whole = (
        {number for number, row in enumerate(snippet.text.split("\n"), snippet.start_line) if row == lines[number - 1]}
        if snippet.text
        else set()
    )
    found = [word for word, (line, _, _) in zip(marked(snippet), snippet.matches, strict=True) if line in whole]
    assert found == expected


@given(LINES, QUERIES, st.integers(1, 6))
def test_no_window_of_whole_lines_has_more_terms(lines: list[str], query: str, max_lines: int) -> None:
    wanted = stems(query)
    lines = [line[:60] for line in lines]  # short lines: only the number of lines limits the window
    shown = wanted & stems(make_snippet(lines, 1, len(lines), wanted, max_lines=max_lines).text)
    for start in range(len(lines)):
        assert len(wanted & stems("\n".join(lines[start : start + max_lines]))) <= len(shown)

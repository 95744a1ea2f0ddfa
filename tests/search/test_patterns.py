"""Patterns: what they mean, what is refused and why, and what they ask of the index."""

from __future__ import annotations

import contextlib
import re
import time
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from findling.model.errors import InvalidPattern
from findling.model.trigram_plan import trigram_codes
from findling.reading.prepare import file_trigrams
from findling.search.pattern_plan import needles
from findling.search.pattern_syntax import MAX_PATTERN_CHARS
from findling.search.patterns import CompiledPattern, PatternTimeout, compile_pattern, is_plain
from sizes import size

FOREVER = time.thread_time() + 3600.0
LETTERS = "abcxAB_0 .(é\u017fK\t\rß中"


def test_a_text_without_signs_of_expressions_is_plain() -> None:
    assert all(map(is_plain, ("foo#bar", "a&b~c", "foo-bar baz", "")))
    assert not any(map(is_plain, ("a.b", "x|y", "\\d", "f()", "[a]", "a{2}", "^a", "a$")))


def spans(pattern: CompiledPattern, line: str) -> list[tuple[int, int]]:
    return list(pattern.spans(line, FOREVER))


# --- a grammar of expressions ---------------------------------------------------------------------------------

characters = st.sampled_from(LETTERS)
literals = characters.map(re.escape)
classes = st.one_of(
    st.sampled_from([r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", ".", "[^a]", "[a-c]", r"[^\s_]", r"[\W0]", r"[^\W\d]"]),
    st.text(alphabet="abxAB_0é", min_size=1, max_size=4).map(lambda members: f"[{members}]"),
    st.text(alphabet="abxAB_0é", min_size=1, max_size=4).map(lambda members: f"[^{members}]"),
)
words = st.text(alphabet="abxAB_0é", min_size=2, max_size=6).map(re.escape)
quantifiers = st.sampled_from(["", "?", "{2}", "{1,2}", "*", "+", "+?", "{3,}", "*?", "?+"])


def compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
        st.tuples(inner, quantifiers).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
        inner.map(lambda part: f"({part})"),
        inner.map(lambda part: f"(?i:{part})"),
        inner.map(lambda part: f"(?={part})"),
        inner.map(lambda part: f"(?!{part})"),
        inner.map(lambda part: rf"\b{part}"),
        inner.map(lambda part: rf"(?>{part})"),
    )


expressions = st.recursive(st.one_of(literals, classes, words), compound, max_leaves=6)
texts = st.text(alphabet=LETTERS, max_size=40)


@settings(max_examples=size(100, 400), deadline=None)
@given(expressions, texts, st.booleans())
def test_every_text_that_matches_satisfies_the_plan_and_holds_the_needles(
    expression: str, text: str, ignore_case: bool
) -> None:
    compiled = compile_pattern(expression, ignore_case=ignore_case)
    if re.search(expression, text, re.IGNORECASE if ignore_case else 0) is None:
        return
    assert compiled.plan.holds(set(array("I", file_trigrams(text.encode()))))
    if not compiled.folds_case:
        assert all(needle in text.encode() for needle in compiled.needles)
    elif text.isascii():
        assert all(needle in text.encode().lower() for needle in compiled.needles)


@settings(max_examples=size(100, 400), deadline=None)
@given(expressions, texts, st.booleans())
def test_an_expression_matches_what_the_standard_library_matches(expression: str, text: str, ignore_case: bool) -> None:
    compiled = compile_pattern(expression, ignore_case=ignore_case)
    matches = re.finditer(expression, text, re.IGNORECASE if ignore_case else 0)
    assert spans(compiled, text) == [match.span() for match in matches]


@settings(max_examples=size(75, 300), deadline=None)
@given(expressions, st.lists(texts.filter(bool), min_size=1, max_size=4), st.booleans())
def test_a_whole_text_matches_as_its_lines_do(expression: str, lines: list[str], ignore_case: bool) -> None:
    compiled = compile_pattern(expression, ignore_case=ignore_case)
    expected, start = [], 0
    for line in lines:
        expected += [(start + first, start + last) for first, last in spans(compiled, line)]
        start += len(line) + 1
    assert spans(compiled, "\n".join(lines)) == expected


@settings(max_examples=size(50, 200), deadline=None)
@given(st.text(alphabet=LETTERS + "-'\"[]{}|\\^$*+?)", min_size=1, max_size=8), texts, st.booleans(), st.booleans())
def test_a_literal_means_itself(literal: str, text: str, ignore_case: bool, word: bool) -> None:
    compiled = compile_pattern(literal, literal=True, ignore_case=ignore_case, word=word)
    line = text + literal + text
    expression = rf"(?<!\w){re.escape(literal)}(?!\w)" if word else re.escape(literal)
    expected = [match.span() for match in re.finditer(expression, line, re.IGNORECASE if ignore_case else 0)]
    assert spans(compiled, line) == expected
    assert compiled.plan.holds(set(array("I", file_trigrams(line.encode()))))


# --- meaning --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "expression", [r"\s+", r"[^a]+", r"\W+", r"(?s).+", r"[\s\S]+", r"a\s*b", r"[\x00-\x7f]+", r"[^\n]+", r"\D+"]
)
def test_no_match_crosses_a_line_break(expression: str) -> None:
    text = "a \n b\n\t\nc-"
    found = spans(compile_pattern(expression), text)
    assert found or expression == r"a\s*b"
    assert all("\n" not in text[start:end] for start, end in found)


@pytest.mark.parametrize("anchors", [("^", "$"), (r"\A", r"\Z")])
def test_anchors_are_the_ends_of_each_line(anchors: tuple[str, str]) -> None:
    assert spans(compile_pattern(f"{anchors[0]}ab{anchors[1]}"), "ab\nab \nab") == [(0, 2), (7, 9)]


def test_classes_mean_what_the_standard_library_says_for_every_character() -> None:
    text = "".join(map(chr, range(32, 0x3000)))
    for expression in (r"\d", r"\s", r"\S", r"\W", r"[^\W_]", r"\b"):
        own = {match.span() for match in re.finditer(expression, text)}
        different = set(spans(compile_pattern(expression), text)) ^ own
        # they carry different versions of the Unicode tables: a few hundred letters added since
        assert len(different) < 500
        assert all(start >= 0x370 - 32 for start, _ in different)


@pytest.mark.parametrize("expression", [r"\d", r"\s", r"\S", r"\W", r"[^\W_]", r"\w\b", r"\b\w+", r"[\s.]", r"\w\B\w"])
def test_classes_mean_the_same_in_ascii_text(expression: str) -> None:
    text = "".join(chr(code) for code in range(1, 128) if chr(code) not in "\n\r")
    assert spans(compile_pattern(expression), text) == [match.span() for match in re.finditer(expression, text)]


@pytest.mark.parametrize("expression", [r"\bneedle\w*", r"^\s*needle", r"needle$", r".*needle.*", r"(?<!\w)needle"])
def test_where_few_lines_can_match_the_places_are_those_of_the_whole_text(expression: str) -> None:
    filler = "z\n" * 400
    text = f"needle\n{filler}\n  needles needle\nneedle\n{filler}a needle\n\n{filler}aneedle"
    expected = [match.span() for match in re.finditer(expression.replace(r"\s", r"[^\S\n]"), text, re.MULTILINE)]
    assert len(expected) > 1
    assert spans(compile_pattern(expression), text) == expected


def test_a_turkish_i_without_a_dot_is_another_letter_than_i() -> None:
    assert spans(compile_pattern("i", ignore_case=True), "iIı") == [(0, 1), (1, 2)]


def test_ignoring_case_reaches_no_ascii_letter_that_the_index_does_not_know() -> None:
    every = "".join(chr(code) for code in range(128, 0x110000) if not 0xD800 <= code <= 0xDFFF)
    for letter in "abcdefghijklmnopqrstuvwxyz":
        for match in re.finditer(letter, every, re.IGNORECASE):
            assert trigram_codes(b"__" + letter.encode()) <= set(array("I", file_trigrams(f"__{match[0]}".encode())))


def test_characters_taken_as_certain_match_only_themselves_when_case_is_ignored() -> None:
    from re import _casefix, _constants  # type: ignore[attr-defined]

    step = size(7, 1)
    certain = {
        code
        for code in range(128, 0x110000, step)
        if not 0xD800 <= code <= 0xDFFF and needles([(_constants.LITERAL, code)], ignore_case=True)
    }
    assert len(certain) > 100_000 / step
    assert certain.isdisjoint(_casefix._EXTRA_CASES)
    for code in certain:
        character = chr(code)
        assert {character.lower(), character.upper(), character.title(), character.casefold()} == {character}


# --- the plan -------------------------------------------------------------------------------------------------


def holds(expression: str, text: str, **options: bool) -> bool:
    return compile_pattern(expression, **options).plan.holds(set(array("I", file_trigrams(text.encode()))))


@pytest.mark.parametrize(
    ("expression", "satisfying", "failing"),
    [
        ("handler", "the handler", "the handle"),
        ("Handler", "a HANDLER elsewhere", "a HANDLE"),
        (r"foo(bar|baz)qux", "foobazqux", "foobaqux"),
        (r"[Tt]odo\(", "TODO(", "todo"),
        (r"(?:abc)+d", "abcabcd", "abc abd"),
        (r"ab{2}c", "abbc", "abc"),
        (r"class \w+Exception", "class Exception", "class Error"),
        (r"(?=.*needle)hay", "hay needle", "hay stack"),
        (r"x[0-9]yz", "x7yz", "x yz"),
        (r"(alpha|beta)", "beta", "gamma"),
        (r"naïve", "naïve", "naive"),
        (r"colou?r_", "color_ colour_", "colo_r"),
        (r"a(?:bc){2,9}", "abcbc", "abc"),
    ],
)
def test_a_plan_rules_files_out(expression: str, satisfying: str, failing: str) -> None:
    assert holds(expression, satisfying)
    assert not holds(expression, failing)


@pytest.mark.parametrize(
    "expression", [r"\w+", "ab", "a.c", r"(abc)?", r"abc|\d", "(?!abc)", r"[a-z]{40}", "^$", "a|b"]
)
def test_without_three_certain_bytes_a_plan_admits_everything(expression: str) -> None:
    assert compile_pattern(expression).plan.admits_everything


def test_letters_outside_ascii_match_ascii_text_when_case_is_ignored() -> None:
    assert spans(compile_pattern("\u017fun", ignore_case=True), "the SUN") == [(4, 7)]
    assert holds("\u212aelvin", "kelvin", ignore_case=True)


def test_ignoring_case_leaves_ascii_texts_certain() -> None:
    assert not compile_pattern("Deprecated", literal=True, ignore_case=True).plan.admits_everything
    assert compile_pattern("ÄÖÜ", literal=True, ignore_case=True).plan.admits_everything
    assert not compile_pattern("中文字", literal=True, ignore_case=True).plan.admits_everything


def test_a_long_literal_is_planned_quickly_and_whole() -> None:
    text = "".join(chr(97 + number % 23) for number in range(MAX_PATTERN_CHARS))
    assert compile_pattern(text, literal=True).plan.codes == trigram_codes(text.encode())


# --- refusals -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "position", "says"),
    [
        ("foo(", 3, "unterminated subpattern"),
        ("ab)", 2, "unbalanced parenthesis"),
        ("x[abc", 1, "unterminated character set"),
        ("*a", 0, "nothing to repeat"),
        (r"ab\q", 2, "bad escape"),
        ("a{3,1}", 2, "min repeat greater than max repeat"),
        ("(?P<x>a)(?P<x>b)", 12, "redefinition"),
        (r"ab\p{L}", 2, "bad escape"),
        (r"foo\nbar", 3, "line break"),
        ("foo\nbar", 3, "line break"),
        ("a" * (MAX_PATTERN_CHARS + 1), MAX_PATTERN_CHARS, "characters"),
    ],
)
def test_an_expression_that_does_not_parse_names_the_position(expression: str, position: int, says: str) -> None:
    with pytest.raises(InvalidPattern) as refusal:
        compile_pattern(expression)
    assert refusal.value.position == position
    assert says in str(refusal.value)


@pytest.mark.parametrize(
    "expression",
    [
        "(?:(?:(?:a{1000}){1000}){1000})",
        r"(?=(?:(?:a{1000}){1000}){1000})",
        r"(?:(?:(?:\b{1000}){1000}){1000})?",
        "(" * 2000 + ")" * 2000,
        "a{99999999999999999999}",
        "(?<=a+)b",
        "",
        "\udcff",
        "a\0b",
    ],
)
def test_expressions_that_cannot_be_run_are_refused(expression: str) -> None:
    with pytest.raises(InvalidPattern):
        compile_pattern(expression)


@pytest.mark.parametrize("literal", ["line\nbreak", "", "a" * (MAX_PATTERN_CHARS + 1), "\ud800"])
def test_literals_that_cannot_be_searched_are_refused(literal: str) -> None:
    with pytest.raises(InvalidPattern):
        compile_pattern(literal, literal=True)


@pytest.mark.parametrize("depth", [240, 300, 420, 480, 2_000])
def test_an_expression_that_is_nested_too_deeply_is_refused(depth: int) -> None:
    try:
        assert compile_pattern("(" * depth + "a" + ")" * depth).text
    except InvalidPattern as refusal:
        assert "nested too deeply" in str(refusal)


def test_a_nested_set_is_read_as_the_standard_library_reads_it_and_warns_nobody(
    recwarn: pytest.WarningsRecorder,
) -> None:
    assert spans(compile_pattern("[[a]b]"), "[b] ab] a]") == [(0, 3), (4, 7)]
    assert len(recwarn) == 0


# --- time -----------------------------------------------------------------------------------------------------


def test_a_catastrophic_expression_is_cut_in_time() -> None:
    compiled = compile_pattern("(a|aa)+$")
    with pytest.raises(PatternTimeout):
        list(compiled.spans("a" * 60 + "!", time.thread_time() + 0.05))
    with pytest.raises(PatternTimeout):
        list(compiled.spans("a" * 60 + "!", time.thread_time() - 1))


@pytest.mark.parametrize("expression", ["(a+)+$", "(a*)*$", "(x+x+)+y"])
def test_classic_catastrophes_are_answered_or_cut(expression: str) -> None:
    found: list[tuple[int, int]] | None = None
    with contextlib.suppress(PatternTimeout):
        found = list(compile_pattern(expression).spans("a" * 60 + "!", time.thread_time() + 0.2))
    assert found is None or all(start == end for start, end in found)


@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        ("(?s)def.*return", "(?s)"),
        ("a(?s:.)b", "(?s:...)"),
        (r"(a[\s\S]*?|b[\w\W])\Z", r"[\s\S] and [\w\W] and \Z"),
        (r"\Aimport", r"\A"),
        (r"^import$", ""),
        (r"(?im)[\s\d]+", ""),
    ],
)
def test_what_is_written_for_more_than_a_line_is_told(pattern: str, named: str) -> None:
    note = compile_pattern(pattern).note
    assert note == (f"Lines are searched one at a time, so {named} changes nothing." if named else "")
    assert compile_pattern(pattern, literal=True).note == ""

"""Source code to chunks: exact ranges for small files, and what holds for every text."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from findling.reading.chunk_code import chunk_code
from findling.reading.limits import DEFAULT, CodeLimits
from findling.reading.parsed import Chunk, Symbol
from findling.reading.spans import MAX_CHUNKS, too_many
from sizes import size


def symbol(name: str, kind: str, first: int, last: int, parent: int = -1, doc: str = "", scope: str = "") -> Symbol:
    qualified = f"{scope}.{name}" if scope else name
    return Symbol(name, kind, qualified, parent, first, last, 0, 0, first, doc=doc)


def ranges(chunks: list[Chunk]) -> list[tuple[int, int, str]]:
    return [(c.start_line, c.end_line, c.kind) for c in chunks]


def body(lines: int, width: int = 40, indent: str = "    ") -> list[str]:
    """Statements without structure, ``width`` characters each."""
    return [(indent + "x" * width)[:width] for _ in range(lines)]


def text_of(*lines: str) -> str:
    return "\n".join(lines) + "\n"


# --- without symbols ---------------------------------------------------------------------------------------------


def test_nothing_to_chunk() -> None:
    assert chunk_code("") == []
    assert chunk_code("\n \n\t\f\n\r\n") == []


def test_120_lines_without_structure_give_windows_of_50_with_10_shared() -> None:
    """S4-14, D8."""
    text = "".join(f"line {i}\n" for i in range(1, 121))
    assert ranges(chunk_code(text)) == [(1, 50, "fixed"), (41, 90, "fixed"), (81, 120, "fixed")]


@pytest.mark.parametrize("width", [1, 20, 70])
@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (51, [(1, 50), (41, 51)]),
        (90, [(1, 50), (41, 90)]),
        (91, [(1, 50), (41, 90), (81, 91)]),
    ],
)
def test_windows_do_not_depend_on_usual_line_widths(width: int, lines: int, expected: list[tuple[int, int]]) -> None:
    chunks = chunk_code("\n".join(["y" * width] * lines))
    assert [(c.start_line, c.end_line) for c in chunks] == expected


def test_fifty_short_lines_are_one_block() -> None:
    assert ranges(chunk_code("row\n" * 50)) == [(1, 50, "block")]


def test_blocks_begin_after_blank_lines_at_the_least_indentation() -> None:
    """S4-13, D8."""
    part = ["head:", *body(6), "", *body(6)]  # 14 lines, about 500 characters, a blank line inside
    text = text_of(*part, "", *part, "", *part)
    assert ranges(chunk_code(text)) == [(1, 14, "block"), (16, 29, "block"), (31, 44, "block")]


def test_small_blocks_are_joined_up_to_750_characters() -> None:
    part = ["head:", *body(5)]  # 6 lines, 210 characters
    text = text_of(*part, "", *part, "", *part, "", *part)
    assert ranges(chunk_code(text)) == [(1, 20, "block"), (22, 27, "block")]


def test_long_block_without_blank_lines_is_cut_where_statements_begin() -> None:
    """S4-13, D8: by indentation."""
    part = ["if (a) {", *body(15), "}"]  # 17 lines, about 620 characters
    assert ranges(chunk_code(text_of(*part * 4))) == [
        (1, 17, "block"),
        (18, 34, "block"),
        (35, 51, "block"),
        (52, 68, "block"),
    ]


def test_one_line_of_5_mb_is_cut_into_the_cap() -> None:
    text = ",".join(f"value{i}" for i in range(500_000))
    chunks = chunk_code(text)
    assert len(chunks) == MAX_CHUNKS and too_many(chunks)
    assert chunks[0].start_byte == 0 and chunks[-1].end_byte == len(text)
    assert all(a.end_byte == b.start_byte for a, b in itertools.pairwise(chunks))


def test_long_line_is_cut_after_a_separator_and_never_inside_a_character() -> None:
    text = "a = 1\n" + "; ".join(["naïve😀"] * 700) + "\nb = 2\n"
    chunks = chunk_code(text)
    raw = text.encode()
    assert [(c.start_line, c.end_line, c.kind) for c in chunks] == [(1, 2, "fixed"), (2, 2, "fixed"), (2, 3, "fixed")]
    pieces = [raw[c.start_byte : c.end_byte].decode() for c in chunks]
    assert "".join(pieces) + "\n" == text
    assert all(piece.endswith("; ") for piece in pieces[:-1])
    assert all(len(piece) <= DEFAULT.max_chars + DEFAULT.tiny_chars for piece in pieces)


def test_line_of_white_space_leaves_nothing() -> None:
    assert chunk_code(" " * 2_000_000) == []


# --- along symbols -----------------------------------------------------------------------------------------------


def test_function_ends_at_its_real_end_and_takes_the_comment_above() -> None:
    """S4-6, S4-12, D8."""
    text = text_of(
        "import a",
        *["import b" * 10] * 10,
        "",
        "# Says what f does.",
        "# In two lines.",
        "def f():",
        *body(20),
        "",
        "done = f()" * 20,
    )
    chunks = chunk_code(text, [symbol("f", "fn", 15, 35)])
    assert ranges(chunks) == [(1, 11, "block"), (13, 35, "function"), (37, 37, "block")]
    assert [c.breadcrumb for c in chunks] == [(), ("f",), ()]
    assert [c.symbol for c in chunks] == [-1, 0, -1]


@pytest.mark.parametrize(
    "comment",
    [
        ["/**", " * Doc.", " */"],
        ["/*", "   Text without stars.", "*/"],
        ["/// Doc.", "/// More."],
        ["-- | Doc."],
        ["{- Doc", "   more -}"],
        ["(* Doc *)"],
        [";; Doc."],
        ["%% Doc."],
        ["#[inline]"],
        ["@Override"],
        ["=begin", "Doc.", "=end"],
        ["<#", ".SYNOPSIS", "#>"],
    ],
)
def test_comments_of_many_languages_belong_to_the_symbol_below(comment: list[str]) -> None:
    before = ["v" * 70] * 11
    text = text_of(*before, *comment, "function f {", *body(20), "}")
    first = len(before) + len(comment) + 1
    chunks = chunk_code(text, [symbol("f", "fn", first, first + 21)])
    assert ranges(chunks) == [(1, 11, "block"), (12, first + 21, "function")]


def test_preprocessor_lines_and_separated_comments_are_no_doc_comment() -> None:
    include = text_of(*["#include <a>" + "b" * 60] * 12, "int f() {", *body(10), "}")
    assert ranges(chunk_code(include, [symbol("f", "fn", 13, 24)])) == [(1, 12, "block"), (13, 24, "function")]
    apart = text_of(*["# note" + "b" * 70] * 12, "", "f() {", *body(10), "}")
    assert ranges(chunk_code(apart, [symbol("f", "fn", 14, 25)])) == [(1, 12, "block"), (14, 25, "function")]


def test_quoted_doc_above_is_taken_only_by_the_symbol_it_documents() -> None:
    text = text_of(*["v" * 70] * 11, '"""', "Adds.", '"""', "function add()", *body(20), "end")
    documented = chunk_code(text, [symbol("add", "fn", 15, 36, doc="Adds.")])
    assert ranges(documented) == [(1, 11, "block"), (12, 36, "function")]
    other = chunk_code(text, [symbol("add", "fn", 15, 36, doc="Something else.")])
    assert ranges(other) == [(1, 14, "block"), (15, 36, "function")]


def test_class_chunk_is_the_head_up_to_the_first_method() -> None:
    """S4-12, S4-15: a class's head, its methods."""
    text = text_of(
        "class Shop:",  # 1
        '    """' + "Sells things. " * 6 + '"""',
        "    open = True",
        "",
        "    def buy(self):",  # 5
        *body(12, indent="        "),
        "",
        "    price = 3 * " + "1" * 120,  # 19
        "",
        "    # Sells.",  # 21
        "    def sell(self):",
        *body(12, indent="        "),
    )
    chunks = chunk_code(
        text,
        [
            symbol("Shop", "class", 1, 34),
            symbol("open", "variable", 3, 3, 0, scope="Shop"),
            symbol("buy", "method", 5, 17, 0, scope="Shop"),
            symbol("price", "variable", 19, 19, 0, scope="Shop"),
            symbol("sell", "method", 22, 34, 0, scope="Shop"),
        ],
    )
    assert ranges(chunks) == [(1, 3, "class"), (5, 19, "function"), (21, 34, "function")]
    assert [c.breadcrumb for c in chunks] == [("Shop",), ("Shop",), ("Shop", "sell")]
    assert [c.symbol for c in chunks] == [0, 0, 4]


def test_small_class_is_one_chunk() -> None:
    text = text_of("class A:", "    def f(self):", "        return 1", "", "    def g(self):", "        return 2")
    symbols = [symbol("A", "class", 1, 6), symbol("f", "method", 2, 3, 0), symbol("g", "method", 5, 6, 0)]
    (chunk,) = chunk_code(text, symbols)
    assert (chunk.start_line, chunk.end_line, chunk.kind, chunk.breadcrumb) == (1, 6, "class", ("A",))


def test_bare_class_line_joins_its_first_method_and_closing_bracket_the_last() -> None:
    method = ["  int f() {", *body(17), "  }"]
    text = text_of("class A {", *method, *method, "}")
    chunks = chunk_code(
        text, [symbol("A", "class", 1, 40), symbol("f", "method", 2, 20, 0), symbol("f", "method", 21, 39, 0)]
    )
    assert ranges(chunks) == [(1, 20, "function"), (21, 40, "function")]


def test_neighbouring_functions_are_joined_only_within_one_symbol() -> None:
    small = ["def f():", *body(4)]  # 5 lines, 172 characters
    text = text_of("class A:", *small, *small, *["    y = 1" * 10] * 8, "", *small, *small)
    symbols = [
        symbol("A", "class", 1, 19),
        symbol("a", "method", 2, 6, 0),
        symbol("b", "method", 7, 11, 0),
        symbol("c", "fn", 21, 25),
        symbol("d", "fn", 26, 30),
    ]
    chunks = chunk_code(text, symbols)
    assert ranges(chunks) == [(1, 11, "function"), (12, 19, "block"), (21, 30, "function")]
    assert [(c.symbol, c.breadcrumb) for c in chunks] == [(0, ("A",)), (0, ("A",)), (-1, ())]


def test_comment_above_a_long_function_stays_with_its_definition() -> None:
    paragraph = [*body(14), ""]
    text = text_of("# One.", "# Two.", "def f():", *paragraph * 4)
    chunks = chunk_code(text, [symbol("f", "fn", 3, 62)])
    assert ranges(chunks) == [(1, 17, "function"), (19, 32, "block"), (34, 47, "block"), (49, 62, "block")]


def test_short_end_of_a_long_function_joins_the_part_before() -> None:
    paragraph = [*body(18), ""]  # 738 characters
    text = text_of("def f():", *paragraph * 3, "    return 1", "def g():", *body(40))
    chunks = chunk_code(text, [symbol("f", "fn", 1, 59), symbol("g", "fn", 60, 100)])
    assert ranges(chunks) == [
        (1, 19, "function"),
        (21, 38, "block"),
        (40, 59, "block"),
        (60, 100, "function"),
    ]


def test_closing_bracket_of_a_scope_without_symbol_ends_the_chunk_before() -> None:
    method = ["  fn f() {", *body(15), "  }"]
    text = text_of("impl A {", *method, "}", "", "impl B {", *method, "}")
    chunks = chunk_code(text, [symbol("f", "method", 2, 18, scope="A"), symbol("f", "method", 22, 38, scope="B")])
    assert ranges(chunks) == [(1, 19, "function"), (21, 39, "function")]
    assert [c.breadcrumb for c in chunks] == [("A", "f"), ("B", "f")]


def test_function_up_to_2000_characters_stays_whole_and_a_longer_one_is_cut_at_blocks() -> None:
    """S4-6, S4-12, S4-13: symbols before blocks."""
    whole = text_of("def f():", *body(40), "", *body(7))
    assert ranges(chunk_code(whole, [symbol("f", "fn", 1, 49)])) == [(1, 49, "function")]
    paragraph = [*body(14), ""]  # 573 characters
    long = text_of("def f():", *paragraph * 4)
    chunks = chunk_code(long, [symbol("f", "fn", 1, 60)])
    assert ranges(chunks) == [
        (1, 15, "function"),
        (17, 30, "block"),
        (32, 45, "block"),
        (47, 60, "block"),
    ]
    assert {c.breadcrumb for c in chunks} == {("f",)}


def test_long_function_is_cut_at_its_inner_functions() -> None:
    inner = ["    def g():", *body(17, indent="        ")]
    text = text_of("def f():", *body(17), *inner, *inner, "    return g")
    symbols = [symbol("f", "fn", 1, 55), symbol("g", "fn", 19, 36, 0), symbol("h", "fn", 37, 54, 0)]
    chunks = chunk_code(text, symbols)
    assert ranges(chunks) == [(1, 18, "function"), (19, 36, "function"), (37, 55, "function")]
    assert [c.breadcrumb for c in chunks] == [("f",), ("f", "g"), ("f", "h")]


def test_constants_are_cut_along_where_nothing_else_says_where() -> None:
    rows = [f"NAME_{i:03} = {'1' * 30}" for i in range(120)]  # 42 characters each
    symbols = [symbol(f"NAME_{i:03}", "constant", i + 1, i + 1) for i in range(120)]
    chunks = chunk_code(text_of(*rows), symbols)
    assert {c.kind for c in chunks} == {"block"}
    assert [(c.start_line, c.end_line) for c in chunks][:2] == [(1, 17), (18, 34)]


def test_scope_outside_of_the_file_comes_from_the_qualified_name() -> None:
    (chunk,) = chunk_code(text_of("func (s *Server) Run() {", "}"), [symbol("Run", "method", 1, 2, scope="Server")])
    assert chunk.breadcrumb == ("Server", "Run")


def test_parts_of_a_minified_line_know_their_symbol_by_bytes() -> None:
    one = "function a(){" + "x();" * 900 + "}"
    text = one + one.replace("a()", "b()")
    symbols = [
        Symbol("a", "fn", "a", -1, 1, 1, 0, len(one), 1),
        Symbol("b", "fn", "b", -1, 1, 1, len(one), 2 * len(one), 1),
    ]
    chunks = chunk_code(text, symbols)
    assert {c.kind for c in chunks} == {"fixed"}
    assert chunks[0].breadcrumb == ("a",) and chunks[-1].breadcrumb == ("b",)


def test_ranges_that_do_not_fit_the_text_are_cut_to_it() -> None:
    """S4-40."""
    text = "a\nb\nc\n"
    odd = [
        symbol("x", "class", 2, 900),
        symbol("y", "fn", 700, 800),
        symbol("z", "fn", 3, 1),
        symbol("l", "fn", 1, 1, 3),
    ]
    (chunk,) = chunk_code(text, odd)
    assert (chunk.start_line, chunk.end_line) == (1, 3)


def test_regions_are_not_crossed() -> None:
    text = text_of("<script>", "let a = 1", "</script>", "", "<style>", "p { color: red }", "</style>")
    chunks = chunk_code(text, regions=[(1, 2), (5, 6)])
    assert [(c.start_line, c.end_line) for c in chunks] == [(1, 3), (5, 7)]


def test_deep_nesting_is_bounded() -> None:
    depth = 1000
    text = "\n".join(" " * i + "{" for i in range(depth)) + "\n" + "\n".join("}" * 1 for _ in range(depth))
    symbols = [symbol(f"s{i}", "class", i + 1, 2 * depth - i, i - 1) for i in range(depth)]
    assert_holds(text, chunk_code(text, symbols))
    assert_holds(text, chunk_code(text))


# --- what holds for every text -----------------------------------------------------------------------------------


def assert_holds(text: str, chunks: list[Chunk], limits: CodeLimits = DEFAULT) -> None:
    raw = text.encode()
    covered = bytearray(len(raw))
    assert len(chunks) <= MAX_CHUNKS
    before = -1
    for i, chunk in enumerate(chunks):
        piece = raw[chunk.start_byte : chunk.end_byte].decode()  # whole characters
        assert piece.strip()
        assert chunk.start_byte > before
        before = chunk.start_byte
        assert chunk.start_line == raw.count(b"\n", 0, chunk.start_byte) + 1
        assert chunk.end_line == chunk.start_line + piece.count("\n")
        covered[chunk.start_byte : chunk.end_byte] = b"\1" * len(raw[chunk.start_byte : chunk.end_byte])
        if i and chunk.start_byte < chunks[i - 1].end_byte:
            assert chunk.kind == chunks[i - 1].kind == "fixed"
        if not too_many(chunks):
            most = limits.fixed_chars if chunk.kind == "fixed" else limits.max_chars
            assert len(piece) <= most + 2 * limits.tiny_chars
    missed = bytes(byte for byte, seen in zip(raw, covered, strict=True) if not seen)
    assert not missed.decode().strip()


LINE = st.one_of(
    st.sampled_from(
        ["", "", "}", "    x = 1", "def f():", "  # note", "\tif a {", "end", "\f", " ", "*/", "/* a", '"""']
    ),
    st.text(alphabet="ab \t{};é😀\r\x0b\x85", max_size=30),
    st.integers(1, 6000).map(lambda n: "w" * n),
)
TEXT = st.lists(st.tuples(LINE, st.sampled_from(["\n", "\n", "\r\n", "\r"])), max_size=80).map(
    lambda rows: "".join(a + b for a, b in rows)
)


@st.composite
def text_and_symbols(draw: st.DrawFn) -> tuple[str, list[Symbol]]:
    text = draw(TEXT) + draw(LINE)
    lines = text.count("\n") + 1
    symbols: list[Symbol] = []
    for i in range(draw(st.integers(0, 8))):
        first = draw(st.integers(1, lines + 1))
        last = draw(st.integers(max(1, first - 1), lines + 2))
        kind = draw(st.sampled_from(["fn", "method", "class", "module", "constant", "variable"]))
        symbols.append(symbol(f"s{i}", kind, first, last, draw(st.integers(-1, i))))
    return text, symbols


@settings(max_examples=size(62, 250), deadline=None)
@given(text_and_symbols())
def test_chunks_cover_the_text_and_reread(case: tuple[str, list[Symbol]]) -> None:
    text, symbols = case
    assert_holds(text, chunk_code(text, symbols))


@settings(max_examples=size(25, 100), deadline=None)
@given(text_and_symbols())
def test_other_limits_hold_too(case: tuple[str, list[Symbol]]) -> None:
    text, symbols = case
    limits = CodeLimits(merge_chars=40, max_chars=100, fixed_lines=5, fixed_overlap=2, fixed_chars=200, tiny_chars=10)
    assert_holds(text, chunk_code(text, symbols, limits=limits), limits)


def test_a_long_file_stays_within_the_cap() -> None:
    """S1-48, S4-40."""
    random.seed(4)
    rows = ["    " * random.randint(0, 3) + "word " * random.randint(0, 14) for _ in range(60_000)]
    text = "\n".join(rows)
    chunks = chunk_code(text)
    assert len(chunks) == MAX_CHUNKS and too_many(chunks)
    assert_holds(text, chunks)

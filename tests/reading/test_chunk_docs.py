"""Prose to chunks: headings of every format, exact ranges, overlap, and what holds for every text."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from findling.reading.chunk_docs import chunk_docs
from findling.reading.limits import DocLimits
from findling.reading.outline import outline
from findling.reading.parsed import Chunk
from findling.reading.spans import MAX_CHUNKS, locate, too_many
from sizes import size

SMALL = DocLimits(100, 20)


def lines(chunks: list[Chunk]) -> list[tuple[int, int]]:
    return [(c.start_line, c.end_line) for c in chunks]


def pieces(text: str, chunks: list[Chunk]) -> list[str]:
    raw = text.encode()
    return [raw[c.start_byte : c.end_byte].decode() for c in chunks]


class Heading(NamedTuple):
    level: int
    title: str
    start_byte: int
    line: int


def headings(text: str, language: str = "markdown") -> list[Heading]:
    marks = outline(text, language).marks
    places = locate(text, [mark.start for mark in marks])
    return [Heading(mark.level, mark.title, *places[mark.start]) for mark in marks]


def outline_of(text: str, language: str = "markdown") -> list[tuple[int, str, int]]:
    return [(h.level, h.title, h.line) for h in headings(text, language)]


# --- labels of reStructuredText -------------------------------------------------------------------------------------


def test_a_label_joins_the_section_below_it() -> None:
    text = ".. _top:\n\nTop\n===\n\nWords.\n\n.. _one:\n.. _`the first`:\n\nOne\n---\n\nMore words.\n"
    chunks = chunk_docs(text, language="rst")
    assert [(chunk.breadcrumb, piece) for chunk, piece in zip(chunks, pieces(text, chunks), strict=True)] == [
        (("Top",), text[: text.index("\n\n.. _one")]),
        (("Top", "One"), text[text.index(".. _one") :].rstrip()),
    ]
    assert [heading.line for heading in headings(text, "rst")] == [3, 11]


def test_a_label_of_a_sub_section_does_not_part_it_from_a_bare_heading() -> None:
    text = "Top\n===\n\n.. _one:\n\nOne\n---\n\nWords.\n"
    assert pieces(text, chunk_docs(text, language="rst")) == [text.rstrip()]


def test_what_only_looks_like_a_label_stays_where_it_is() -> None:
    text = "Top\n===\n\nWords.\n\n.. _site: https://example.org/\n\nOne\n---\n\nMore.\n"
    assert pieces(text, chunk_docs(text, language="rst")) == [text[: text.index("\n\nOne")], "One\n---\n\nMore."]


# --- headings -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A\n## B ##\n### C\n#### D\n####### no\n#no\n", [(1, "A", 1), (2, "B", 2), (3, "C", 3), (4, "D", 4)]),
        ("A\n=\n\nB\n---\n", [(1, "A", 1), (2, "B", 4)]),
        ("two\nlines\n===\n", [(1, "two lines", 1)]),
        ("text\n\n---\n\ntext\n", []),
        ("- item\n---\n", []),
        ("| a |\n|---|\n", []),
        ("> quote\n---\n", []),
        ("    # code\n", []),
        ("```\n# no\n```\n# yes\n", [(1, "yes", 4)]),
        ("~~~sh\n# no\n```\n~~~\n# yes\n", [(1, "yes", 5)]),
        ("````\n```\n# no\n````\n# yes\n", [(1, "yes", 5)]),
        ("- a\n  ```\n  # no\n  ```\n# yes\n", [(1, "yes", 5)]),
        ("# yes\n```\n# never closed\n", [(1, "yes", 1)]),
        ("<!--\n# no\n-->\n# yes\n", [(1, "yes", 4)]),
        ("text <!-- a\n# no\n--> b\n# yes\n", [(1, "yes", 4)]),
        ("`<!--` is code\n# yes\n", [(1, "yes", 2)]),
        ("<pre>\n# no\n</pre>\n# yes\n", [(1, "yes", 4)]),
        ("---\ntitle: T\n# no\n---\n# yes\n", [(1, "yes", 5)]),
        ("+++\ntitle = 'T'\n+++\n# yes\n", [(1, "yes", 4)]),
        ("---\n\n# yes\n\n---\n", [(1, "yes", 3)]),
        ("# A\r\n\r\nB\r\n---\r\n", [(1, "A", 1), (2, "B", 3)]),
        ("#\n# [link](u) `code` {#anchor}\n", [(1, "", 1), (1, "link code", 2)]),
        ("# Middleware { #middleware }\n", [(1, "Middleware", 1)]),
        ("", []),
    ],
)
def test_markdown_headings(text: str, expected: list[tuple[int, str, int]]) -> None:
    assert outline_of(text) == expected


def test_heading_positions_are_bytes_of_the_text() -> None:
    text = "é😀\n\n# Title\n"
    assert headings(text) == [Heading(1, "Title", len("é😀\n\n".encode()), 3)]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("rst", "=====\nTitle\n=====\n\nPart\n----\n\nSub\n~~~\n\nNext\n----\n", [1, 2, 3, 2]),
        ("rst", "text\n\n----\n\ntext\n", []),
        ("rst", "===== =====\na     b\n===== =====\n", []),
        ("asciidoc", "= Doc\n\n== Part\n\n----\n== code\n----\n\n=== Sub\n", [1, 2, 3]),
        ("org", "* A\n** TODO B :tag:\n#+begin_src sh\n* no\n#+end_src\n* C\n", [1, 2, 1]),
        ("latex", "\\section{A}\n\\subsection*{B \\emph{x}}\n% \\section{no}\n", [1, 2]),
        ("latex", "\\chapter{A}\n\\begin{verbatim}\n\\section{no}\n\\end{verbatim}\n\\section{B}\n", [1, 2]),
        ("man", '.TH X 1\n.SH NAME\nx\n.SS "A B"\n', [1, 2]),
        ("text", "Read me\n=======\n\ntext\n\nPart\n----\n\ntext\n", [1, 2]),
        ("text", "NAME\n    x - does\n\nSEE ALSO\n    y\n", [1, 1]),
        ("text", "1.2.0 (2024-01-02)\n* fix\n\nVersion 1.1\n* fix\n", [2, 2]),
        ("text", "just\nprose here\n\nmore 1.2.0 prose\n", []),
        ("html", "<h1>A &amp; <b>B</b></h1><script>'<h2>no</h2>'</script>\n<h2 class=x>C</h2>", [1, 2]),
        ("mediawiki", "= A =\n== B ==\n", [1, 2]),
        ("textile", "h1. A\n\nh3. B\n", [1, 3]),
        ("typst", "= A\n== B\n", [1, 2]),
    ],
)
def test_headings_of_other_formats(language: str, text: str, expected: list[int]) -> None:
    assert [heading.level for heading in headings(text, language)] == expected


def test_titles_are_plain() -> None:
    assert outline_of("** TODO [#A] B c :tag:\n", "org") == [(2, "B c", 1)]
    assert outline_of("\\section{The \\emph{best} part}\n", "latex") == [(1, "The best part", 1)]
    assert outline_of("<h1>A &amp; <b>B</b></h1>", "html") == [(1, "A & B", 1)]
    assert outline_of("# <a name='x'></a>A <br/>B <Badge text=\"new\"/><!-- c -->\n") == [(1, "A B", 1)]
    assert outline_of("# `Vec<T>`: clone <url> into Map<K, V>\n") == [(1, "Vec<T>: clone <url> into Map<K, V>", 1)]
    assert outline_of("# `Box<A>`, Iterator<I>, <path/to/file>, `<Foo/>`\n")[0][1] == (
        "Box<A>, Iterator<I>, <path/to/file>, <Foo/>"
    )
    assert len(headings("# " + "t" * 900)[0].title) == 200


# --- sections -----------------------------------------------------------------------------------------------------


def test_sections_begin_at_h1_to_h3_and_not_below() -> None:
    """S1-9, S1-13, D8."""
    text = "intro\n\n# A\na\n## B\nb\n### C\nc\n#### D\nd\n## E\ne\n"
    chunks = chunk_docs(text)
    assert lines(chunks) == [(1, 1), (3, 4), (5, 6), (7, 10), (11, 12)]
    assert [c.breadcrumb for c in chunks] == [(), ("A",), ("A", "B"), ("A", "B", "C"), ("A", "E")]
    assert [c.header for c in chunks] == ["", "A", "B", "C", "E"]
    assert {c.kind for c in chunks} == {"section"}


def test_bare_heading_joins_its_sub_section_only() -> None:
    chunks = chunk_docs("# A\n\n## B\n\n## C\ntext\n")
    assert lines(chunks) == [(1, 3), (5, 6)]
    assert [c.breadcrumb for c in chunks] == [("A", "B"), ("A", "C")]


def test_deeper_heading_names_a_chunk_that_begins_with_it() -> None:
    part = "word " * 300  # 1500 characters
    chunks = chunk_docs(f"# A\n{part}\n\n#### D\n\n{part}\n\nlast {part}\n", limits=DocLimits(2000, 0))
    assert [c.header for c in chunks] == ["A", "D", "A"]
    assert [c.breadcrumb for c in chunks] == [("A",), ("A", "D"), ("A",)]


def test_empty_documents() -> None:
    assert chunk_docs("") == [] == chunk_docs(" \n\n\t\n")
    assert lines(chunk_docs("# only")) == [(1, 1)]


def test_section_over_the_limit_is_cut_at_paragraphs() -> None:
    """S1-10, D8: not inside one, where another sentence would fit."""
    paragraph = "One two three four. Five six seven eight."
    chunks = chunk_docs("\n\n".join([paragraph] * 3), limits=DocLimits(105, 0))
    assert lines(chunks) == [(1, 3), (5, 5)]


def test_paragraph_over_the_limit_is_cut_at_sentences() -> None:
    """S1-11, D8."""
    text = "One two three four. " * 4 + "The e.g. five. " + "Six seven eight nine? " * 3
    found = pieces(text, chunk_docs(text, limits=DocLimits(60, 0)))
    assert found == [
        "One two three four. One two three four. One two three four.",
        "One two three four. The e.g. five. Six seven eight nine?",
        "Six seven eight nine? Six seven eight nine?",
    ]
    sentence = "Here is one of nine words in all, now."
    text = f"{sentence} " * 3
    assert pieces(text, chunk_docs(text, limits=DocLimits(70, 0))) == [sentence] * 3


def test_sentence_over_the_limit_is_cut_at_white_space_else_anywhere() -> None:
    """S1-8: the limit counts characters, of whatever size."""
    words = pieces("w" * 9 + " x" * 100, chunk_docs("w" * 9 + " x" * 100, limits=DocLimits(50, 0)))
    assert all(len(piece) <= 50 and not piece.startswith(" ") for piece in words)
    assert "".join(words).replace(" ", "") == "w" * 9 + "x" * 100
    solid = "é" * 170
    cut = pieces(solid, chunk_docs(solid, limits=DocLimits(50, 0)))
    assert "".join(cut) == solid and all(len(piece) <= 50 for piece in cut)


def test_overlap_repeats_the_end_of_the_chunk_before_within_a_section_only() -> None:
    """S1-12, S1-43, D8: at most 200 of at most 2000 characters, and never across a heading."""
    sentence = "This is a sentence of some forty letters. "  # 42 characters
    text = f"# A\n{sentence * 60}\n\n# B\n{sentence * 60}\n"
    chunks = chunk_docs(text)
    assert [c.header for c in chunks] == ["A", "A", "B", "B"]
    first, second, third, fourth = chunks
    assert 100 < first.end_byte - second.start_byte <= 200
    assert 100 < third.end_byte - fourth.start_byte <= 200
    assert second.end_byte < third.start_byte
    assert all(len(piece) <= 2000 for piece in pieces(text, chunks))


def test_library_sizes() -> None:
    """D8: library text, 1000 and 200 characters."""
    text = "Some words make a sentence. " * 200
    chunks = chunk_docs(text, limits=DocLimits(1000, 200))
    assert all(len(piece) <= 1000 for piece in pieces(text, chunks))
    assert all(0 < a.end_byte - b.start_byte <= 200 for a, b in itertools.pairwise(chunks))


@pytest.mark.parametrize(
    "whole",
    [
        "```py\na = 1\n\nb = 2\n\nc = 3\n```",
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |",
        "- one\n\n- two\n\n  more\n\n- three",
        "<!-- one\n\ntwo\n\nthree -->",
        "1. one\n2. two\n   - three",
    ],
)
def test_fences_tables_lists_and_comments_that_fit_are_not_cut(whole: str) -> None:
    text = f"# T\n\n{'word ' * 16}\n\n{whole}\n\n{'last ' * 16}\n"
    chunks = chunk_docs(text, limits=DocLimits(100, 10))
    assert any(whole in piece for piece in pieces(text, chunks))


def test_front_matter_stays_whole() -> None:
    front = "---\ntitle: T\n\ntags: [a]\n---"
    text = f"{front}\n{'word ' * 100}\n"
    assert pieces(text, chunk_docs(text, limits=SMALL))[0].startswith(front)


def test_long_fence_is_cut_at_lines_and_long_list_at_items() -> None:
    fence = "```\n" + "".join(f"command number {i}\n" for i in range(30)) + "```\n"
    for piece in pieces(fence, chunk_docs(fence, limits=DocLimits(100, 0))):
        assert piece.split("\n")[0].startswith(("```", "command"))
        assert piece.split("\n")[-1][:7] in ("```", "command")
    listed = "".join(f"- item number {i}\n" for i in range(30))
    assert all(piece.startswith("- item") for piece in pieces(listed, chunk_docs(listed, limits=DocLimits(100, 0))))


def test_heading_stays_with_what_follows() -> None:
    text = f"## Long\n\n{'word ' * 60}\n"
    found = pieces(text, chunk_docs(text, limits=DocLimits(100, 0)))
    assert found[0].startswith("## Long\n\nword")


def test_plain_text_is_cut_at_paragraphs() -> None:
    text = "\n\n".join(["word " * 150] * 6)
    chunks = chunk_docs(text, language="text")
    assert lines(chunks)[0] == (1, 3)
    assert all(c.breadcrumb == () for c in chunks)


def test_limits_are_checked() -> None:
    with pytest.raises(ValueError, match="overlap"):
        DocLimits(100, 100)


# --- what holds for every text ------------------------------------------------------------------------------------


def assert_holds(text: str, chunks: list[Chunk], limits: DocLimits) -> None:
    raw = text.encode()
    covered = bytearray(len(raw))
    assert len(chunks) <= MAX_CHUNKS
    before = -1
    for i, chunk in enumerate(chunks):
        piece = raw[chunk.start_byte : chunk.end_byte].decode()
        assert piece.strip()
        assert chunk.start_byte > before
        before = chunk.start_byte
        assert chunk.start_line == raw.count(b"\n", 0, chunk.start_byte) + 1
        assert chunk.end_line == chunk.start_line + piece.count("\n")
        covered[chunk.start_byte : chunk.end_byte] = b"\1" * len(piece.encode())
        if not too_many(chunks):
            assert len(piece) <= limits.max_chars
            if i and chunk.start_byte < chunks[i - 1].end_byte:
                shared = raw[chunk.start_byte : chunks[i - 1].end_byte].decode()
                assert len(shared) <= limits.overlap
                assert chunks[i - 1].breadcrumb[:3] == chunk.breadcrumb[:3] or chunk.header != chunks[i - 1].header
    missed = bytes(byte for byte, seen in zip(raw, covered, strict=True) if not seen)
    assert not missed.decode().strip()


MARKS = """
# A|## B|### C|#### D|===|---|```|~~~~|<!--|-->|- item|  more|> quote|+++|1. one|    code|<pre>|</pre>|text|....|* x
\\section{a}|\\begin{verbatim}|\\end{verbatim}|<h1>x</h1>|<p>|.SH NAME|#+begin_src|:---:|\f
"""
LINE = st.one_of(
    st.sampled_from(
        ["", "", "", "| a | b |", *(mark for row in MARKS.strip("\n").split("\n") for mark in row.split("|"))]
    ),
    st.text(alphabet="ab .!?。 \té😀\r\x85", max_size=40),
    st.integers(1, 400).map(lambda n: "wort" * n),
    st.integers(1, 60).map(lambda n: "This is it. " * n),
)
TEXT = st.lists(st.tuples(LINE, st.sampled_from(["\n", "\n", "\r\n", "\r"])), max_size=60).map(
    lambda rows: "".join(a + b for a, b in rows)
)
LANGUAGE = st.sampled_from(["markdown", "rst", "text", "asciidoc", "org", "latex", "html", "man", "unknown"])


@settings(max_examples=size(75, 300), deadline=None)
@given(
    TEXT, LINE, LANGUAGE, st.sampled_from([DocLimits(), DocLimits(1000, 200), SMALL, DocLimits(30, 0), DocLimits(7, 6)])
)
@example("# A\n\n\n\n===\n", "", "markdown", DocLimits(7, 6))
def test_chunks_cover_the_text_and_reread(text: str, last: str, language: str, limits: DocLimits) -> None:
    """S1-8, S1-12, S1-13, S1-43: for any text, language and limits."""
    text += last
    assert_holds(text, chunk_docs(text, limits=limits, language=language), limits)


@pytest.mark.parametrize(
    "text",
    [
        "x" * 5_000_000,
        "word " * 200_000,
        "     ```x\n" * 50_000,
        "<!-- " * 100_000,
        "`" + "<!-- " * 100_000 + "-->",
        "<!-- a\n\n" * 50_000,
        " " * 2_000_000 + "x",
        "- " * 200_000 + "x",
        "-" * 500_000 + "x",
        "a|" * 200_000 + "\n" + "-" * 200_000 + "x",
        "a\n---\n" * 50_000,
        "<h1>" * 100_000,
        "<script " * 60_000,
        "\\section{" * 50_000,
        "\n\n".join("p" * 50 for _ in range(40_000)),
        "." * 500_000,
    ],
    ids=range(16),
)
@pytest.mark.parametrize("language", ["markdown", "html", "text", "rst", "latex"])
def test_hostile_documents_end_and_hold(text: str, language: str) -> None:
    chunks = chunk_docs(text, language=language)
    assert len(chunks) <= MAX_CHUNKS
    assert chunks and chunks[-1].end_byte == len(text.rstrip())

"""Documents that have to be converted: what of them becomes text, and that every line leads back to its place."""

from __future__ import annotations

import pytest
from office import docx, epub, paragraph, pdf, pptx, table, xlsx

from findling.model import format_names as places
from findling.model.format_names import format_of, outlined_as, places_of_lines
from findling.reading.chunk_docs import chunk_docs
from findling.reading.formats import convert
from findling.reading.formats.model import NotConverted
from findling.reading.limits import DocLimits
from findling.reading.spans import MAX_CHUNKS, MAX_PLACED_CHUNKS


def headings(text: str, language: str) -> dict[str, tuple[str, ...]]:
    """First own line of each chunk, and what stands above it."""
    raw = text.encode()
    chunks = chunk_docs(text, limits=DocLimits(120, 0), language=outlined_as(language, converted=True))
    return {
        line: chunk.breadcrumb
        for chunk in chunks
        for line in raw[chunk.start_byte : chunk.end_byte].decode().split("\n")
        if line and not line.startswith(("⟦", "#"))
    }


def test_formats_are_told_by_names() -> None:
    assert [format_of(name) for name in ("a/b.PDF", "b.docx", "c.xlsm", "d.epub", "e.txt", "pdf", ".pdf/x")] == [
        *("pdf", "docx", "xlsx", "epub"),
        *("", "", ""),
    ]
    assert (format_of("a.html"), format_of("a.html", pages=True), format_of("a.md", pages=True)) == ("", "html", "")


def test_pages_of_a_pdf_are_places() -> None:
    text = convert("pdf", pdf(["The first page\nhas (two) lines", "", "Only the third has this"]))
    assert text.split("\n") == [
        *("⟦page 1⟧", "", "The first page", "has (two) lines", "", "⟦page 3⟧", "", "Only the third has this", "")
    ]
    assert places_of_lines(text.encode(), [1, 4, 6, 8]) == ["page 1", "page 1", "page 3", "page 3"]
    assert headings(text, "pdf")["Only the third has this"] == ("page 3",)


def test_a_long_page_is_cut_and_every_piece_knows_its_page() -> None:
    text = convert("pdf", pdf(["\n".join(f"Sentence number {i} of a page." for i in range(40)), "# of comments\nx"]))
    found = headings(text, "pdf")
    assert found["Sentence number 0 of a page."] == found["Sentence number 39 of a page."] == ("page 1",)
    assert found["x"] == ("page 2",)  # nothing in a PDF is a heading of Markdown


def test_every_piece_of_a_book_of_a_thousand_pages_knows_its_page() -> None:
    text = "".join(f"{places.line(f'page {n}')}\n\nOn page {n} something is said.\n\n" for n in range(1, 1001))
    found = chunk_docs(text, language="converted-plain", most=MAX_PLACED_CHUNKS)
    assert [chunk.breadcrumb for chunk in found] == [(f"page {n}",) for n in range(1, 1001)]
    assert len(chunk_docs(text, language="converted-plain")) == MAX_CHUNKS
    few = chunk_docs(text, language="converted-plain", most=250)
    assert (len(few), few[0].breadcrumb) == (250, ("page 1 to page 5",)), "where a chunk has several, it says which"


def test_what_looks_like_a_place_in_a_document_is_none() -> None:
    text = convert("docx", docx(paragraph("⟦page 7⟧") + paragraph("below it")))
    assert places_of_lines(text.encode(), [1, 3]) == ["", ""]


def test_words_headings_lists_and_tables() -> None:
    styles = '<w:style w:styleId="Ü1"><w:name w:val="heading 1"/></w:style>'
    body = (
        paragraph("Installing", "Ü1")
        + paragraph("Run it & see.")
        + "<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>an item</w:t><w:tab/><w:t>more</w:t></w:r></w:p>"
        + table([["name", "size"], ["a", "1"]])
        + "<w:p><w:r><w:delText>struck out</w:delText></w:r></w:p>"
        + paragraph("Using", "Heading2")
        + paragraph("The end.")
    )
    text = convert("docx", docx(body, styles=styles))
    assert text == (
        "# Installing\n\nRun it & see.\n\n- an item\tmore\n\n| name | size |\n| a | 1 |\n\n## Using\n\nThe end.\n"
    )
    assert headings(text, "docx")["The end."] == ("Installing", "Using")


def test_footnotes_are_read() -> None:
    notes = '<w:footnotes xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
    notes += f"<w:footnote>{paragraph('A small note.')}</w:footnote></w:footnotes>"
    assert "A small note." in convert("docx", docx(paragraph("Text."), parts={"word/footnotes.xml": notes}))


def test_slides_are_in_the_order_of_the_presentation_with_their_notes() -> None:
    text = convert("pptx", pptx([("Opening", ["first", "second"]), ("Closing", ["third"])], notes={2: "say it slowly"}))
    assert text == (
        "⟦slide 1⟧\n\n# Opening\n\nfirst\nsecond\n\n⟦slide 2⟧\n\n# Closing\n\nthird\n\nNotes:\nsay it slowly\n"
    )
    assert headings(text, "pptx")["third"] == ("slide 2", "Closing")


def test_cells_are_found_by_sheet_and_rows() -> None:
    rows = [["Name", "Born"], ["Ann", 45000.0], [None, 0.5], *[[f"n{i}", None] for i in range(20)]]
    text = convert("xlsx", xlsx({"People & co": rows, "Empty": [], "Other": [["x", None, 2.5, 3.0]]}, dates="B"))
    lines = text.split("\n")
    assert lines[:5] == ["⟦People & co!A1:B20⟧", "", "1 | Name | Born", "2 | Ann | 2023-03-15", "3 |  | 12:00:00"]
    assert "⟦People & co!A21:A23⟧" in lines
    assert lines[-4:-1] == ["⟦Other!A1:D1⟧", "", "1 | x |  | 2.5 | 3"]


def test_chapters_of_a_book_are_in_the_order_of_reading() -> None:
    text = convert(
        "epub", epub(["<h1>One</h1><p>The <i>first</i> text.</p>", "<nav>kept</nav><p>Second&nbsp;text</p>"])
    )
    assert text == "⟦chapter 1⟧\n\n# One\n\nThe first text.\n\n⟦chapter 2⟧\n\nkept\n\nSecond text\n"


PAGE = """<!DOCTYPE html><html><head><title>Guide</title><style>p {color: red}</style></head><body>
<header><nav><a href=/>Home</a></nav></header><div class="sidebar">Other pages</div>
<main><h1>Guide<a class="headerlink" href="#x">¶</a></h1>
<p>Some <b>bold</b>
 text with <code>call()</code>.<br>A new line.</p><script>var tracked = 1</script>
<ul><li>one<ul><li>inner</li></ul></li><li><p>two</p></li></ul>
<pre><code class="language-python">def f():
    # no heading
    return "&lt;"
</code></pre>
<table><tr><th>a<th>b</tr><tr><td>1<td><p>2</p></tr></table></main>
<footer>All rights reserved</footer></body></html>"""


def test_a_web_page_without_what_is_around_its_content() -> None:
    text = convert("html", PAGE.encode())
    assert text == (
        "# Guide\n\nSome bold text with `call()`.\nA new line.\n\n- one\n  - inner\n- two\n\n"
        '```python\ndef f():\n    # no heading\n    return "<"\n```\n\n| a | b |\n| 1 | 2 |\n'
    )
    assert headings(text, "html")['    return "<"'] == ("Guide",)


def test_a_page_of_links_alone_is_not_empty() -> None:
    body = "".join(f"<p>Entry {i} of a long list of contents</p>" for i in range(20))
    text = convert("html", f"<title>Map</title><main> </main><nav>{body}</nav>".encode())
    assert "Entry 19 of a long list" in text
    assert text.startswith("# Map")


def test_a_page_in_another_encoding() -> None:
    data = '<meta charset="windows-1251"><p>Привет, мир</p>'.encode("cp1251")
    assert "Привет, мир" in convert("html", data)


@pytest.mark.parametrize("form", ["pdf", "docx", "html"])
def test_a_document_without_text_says_so(form: str) -> None:
    data = {"pdf": pdf([""]), "docx": docx(""), "html": b"<p> </p>"}[form]
    with pytest.raises(NotConverted, match="no text") as caught:
        convert(form, data)
    assert caught.value.reason == "no_text"

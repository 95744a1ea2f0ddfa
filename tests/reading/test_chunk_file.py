"""The one door to chunking: every kind of file, notebooks, languages inside of files, and what of it is read."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from findling.model.reading import Reading
from findling.model.types import SkippedFile
from findling.reading.chunks import chunk_file
from findling.reading.limits import DocLimits
from findling.reading.notebooks import notebook_cells, readable, readable_json
from findling.reading.parsed import Chunk, Symbol
from findling.reading.prepare import prepare
from findling.reading.regions import embedded_regions
from findling.reading.spans import too_many
from sizes import size


def raw_of(text: str, chunk: Chunk) -> str:
    return text.encode()[chunk.start_byte : chunk.end_byte].decode()


def notebook(*cells: tuple[str, object], language: str = "python", **dump: object) -> str:
    made = [
        {"cell_type": kind, "metadata": {}, "source": source, "outputs": [{"source": "no"}]} for kind, source in cells
    ]
    whole = {"cells": made, "metadata": {"kernelspec": {"language": language}}, "nbformat": 4}
    return json.dumps(whole, **dump)  # type: ignore[arg-type]


def read(text: str) -> list[str]:
    return [readable(raw_of(text, c), "notebook") for c in chunk_file(text, "notebook", "docs")]


# --- notebooks ----------------------------------------------------------------------------------------------------


def test_pictures_do_not_make_a_notebook_a_minified_file() -> None:
    picture = {"cell_type": "code", "source": "draw()", "outputs": [{"image/png": "iVBORw0K" * 20_000}]}
    whole = json.dumps({"cells": [picture], "metadata": {}}, indent=1).encode()
    made = prepare("a.ipynb", whole)
    assert isinstance(made, Reading) and len(made.chunks) == 1
    for path, data in (("a.json", whole), ("a.ipynb", b"[" * 200_000)):
        left_out = prepare(path, data)
        assert isinstance(left_out, SkippedFile) and left_out.reason == "minified", path


def test_a_page_that_begins_with_a_table_of_pictures_is_read() -> None:
    table = "".join(f'<td><img src="https://example.org/{number}.svg"/></td>' for number in range(200))
    made = prepare("README.md", f"<table>{table}</table>\n\n# Usage\n\nCall it.\n".encode())
    assert isinstance(made, Reading) and made.chunks


def test_notebook_cells_are_chunks_of_the_raw_file() -> None:
    text = notebook(
        ("markdown", ["# Title\n", "\n", 'Says "hi" é\n']),
        ("code", ["import os\n", "x = '\\n'\n"]),
        ("markdown", "## Part\n\nmore"),
        ("code", []),
        ("code", "y = 1"),
        indent=1,
    )
    chunks = chunk_file(text, "notebook", "docs")
    assert read(text) == ['# Title\n\nSays "hi" é', "import os\nx = '\\n'", "## Part\n\nmore", "y = 1"]
    assert [c.breadcrumb for c in chunks] == [
        ("Title", "cell 1"),
        ("Title", "cell 2"),
        ("Title", "Part", "cell 3"),
        ("Title", "Part", "cell 4"),
    ]
    assert [c.header for c in chunks] == ["Title", "Title", "Part", "Part"]
    rows = text.split("\n")
    for chunk, first in zip(chunks, ["# Title", "import os", "## Part", "y = 1"], strict=True):
        assert first in rows[chunk.start_line - 1]
    assert chunks[0].end_line - chunks[0].start_line == 2


def test_symbols_of_a_notebook_name_their_cell_s_chunks() -> None:
    text = notebook(("code", ["import os\n", "def f():\n", "    pass"]), indent=1)
    begin = text.index("def f")
    line = text.count("\n", 0, begin) + 1
    symbols = [Symbol("f", "fn", "f", -1, line, line + 1, begin, text.index("pass") + 4, line)]
    (chunk,) = chunk_file(text, "notebook", "docs", symbols)
    assert chunk.symbol == 0 and chunk.breadcrumb == ("cell 1", "f") and chunk.kind == "function"


def test_notebook_of_format_3_and_other_languages() -> None:
    cell = {"cell_type": "code", "language": "julia", "input": ["a = 1\n", "b = 2"], "outputs": []}
    text = json.dumps({"nbformat": 3, "worksheets": [{"cells": [cell]}], "metadata": {}})
    cells = notebook_cells(text)
    assert cells is not None and [(c.language, c.text) for c in cells] == [("julia", "a = 1\nb = 2")]
    assert read(text) == ["a = 1\nb = 2"]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "null", '{"cells": 3}', "[" * 5000, '{"cells": []', "\ud800"])
def test_what_is_no_notebook_is_chunked_as_data(text: str) -> None:
    assert notebook_cells(text) is None
    chunks = chunk_file(text, "notebook", "docs")
    assert bool(chunks) == bool(text)


def test_empty_notebook() -> None:
    assert notebook_cells('{"cells": []}') == []
    assert chunk_file('{"cells": []}', "notebook", "docs") == []


SOURCE = st.text(alphabet=st.sampled_from('ab ",\\\n\té😀\x07/.#'), max_size=60)


@settings(max_examples=size(37, 150), deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["code", "markdown", "raw"]), SOURCE), max_size=6), st.booleans(), st.booleans()
)
def test_notebooks_reread_to_their_sources(cells: list[tuple[str, str]], split: bool, ascii_only: bool) -> None:
    made = [(kind, source.splitlines(keepends=True) if split else source) for kind, source in cells]
    text = notebook(*made, ensure_ascii=ascii_only, indent=1)
    chunks = chunk_file(text, "notebook", "docs", docs=DocLimits(30, 0))
    for chunk in chunks:
        raw = raw_of(text, chunk)
        number = int(next(name for name in chunk.breadcrumb if name.startswith("cell ")).split()[1])
        cell = next(c for c in notebook_cells(text) or [] if c.number == number)
        assert readable_json(raw) in cell.text
        assert chunk.start_line == text.encode().count(b"\n", 0, chunk.start_byte) + 1
        assert chunk.end_line == chunk.start_line + raw.count("\n")
    read_words = sorted("".join("".join(readable_json(raw_of(text, c)) for c in chunks).split()))
    assert read_words == sorted("".join("".join(source for _, source in cells).split()))


# --- languages inside of files --------------------------------------------------------------------------------------

VUE = """<template>
  <div><template v-if="a > 1"><b>{{ a }}</b></template></div>
</template>

<script setup lang="ts">
const a: number = 1
</script>

<!-- <script>no()</script> -->
<style scoped lang="scss">
p { color: red }
</style>
"""


def regions(text: str, language: str) -> list[tuple[str, int, str]]:
    raw = text.encode()
    found = embedded_regions(text, language)
    return [(r.language, r.start_line, raw[r.start_byte : r.end_byte].decode().strip()) for r in found]


def test_regions_of_a_vue_file() -> None:
    assert regions(VUE, "vue") == [
        ("html", 1, '<div><template v-if="a > 1"><b>{{ a }}</b></template></div>'),
        ("typescript", 5, "const a: number = 1"),
        ("scss", 10, "p { color: red }"),
    ]


def test_regions_of_other_hosts() -> None:
    assert regions("<script>\nlet é = 1\n</script>\n<p>{é}</p>\n<style>p {}</style>", "svelte") == [
        ("javascript", 1, "let é = 1"),
        ("css", 5, "p {}"),
    ]
    assert regions("---\nconst a = 1\n---\n<p>{a}</p>\n<script>b()</script>\n", "astro") == [
        ("typescript", 2, "const a = 1"),
        ("javascript", 5, "b()"),
    ]
    assert regions('<script type="application/ld+json">{"a": 1}</script>', "html") == [("json", 1, '{"a": 1}')]
    assert regions("<script>a()</script>", "python") == []
    assert regions("<script>a()", "vue") == []


def test_component_parts_are_chunks_of_their_own() -> None:
    chunks = chunk_file(VUE, "vue", "code", [Symbol("a", "constant", "a", -1, 6, 6, 0, 0, 6)])
    assert [(c.start_line, c.end_line) for c in chunks] == [(1, 3), (5, 7), (9, 12)]


@pytest.mark.parametrize(
    "text",
    ["<!-- " * 100_000, "<script " * 60_000, '<style "' * 60_000, "<template>" * 50_000, "<script '" + "x" * 400_000],
)
def test_hostile_components_end(text: str) -> None:
    assert embedded_regions(text, "vue") == []
    assert chunk_file(text, "vue", "code")[-1].end_byte == len(text)


# --- what is read ---------------------------------------------------------------------------------------------------


def test_html_reads_as_its_text() -> None:
    text = (
        "<html><head><title>A title</title><style>p { color: red }</style></head>\n"
        '<body><h1>Fish &amp; chips</h1>\n<p>So <b>bo</b>ld</p><img alt="a cat" src="x.png"><!-- gone -->'
        "<script>call()</script></body></html>"
    )
    head, body = chunk_file(text, "html", "docs")
    assert readable(raw_of(text, head), "html") == "A title"
    assert readable(raw_of(text, body), "html").split() == (["Fish", "&", "chips", "So", "bold", "a", "cat", "call()"])
    assert (body.header, body.start_line, body.end_line) == ("Fish & chips", 2, 3)


def test_html_is_cut_at_headings_and_blocks() -> None:
    text = "<h1>One</h1>" + "<p>some words here</p>" * 120 + "<h2>Two</h2><p>end</p>"
    chunks = chunk_file(text, "html", "docs")
    assert [c.header for c in chunks] == ["One", "One", "Two"]
    assert raw_of(text, chunks[-1]) == "<h2>Two</h2><p>end</p>"
    assert raw_of(text, chunks[0]).endswith("</p>")


def test_everything_else_reads_as_it_is() -> None:
    assert readable("# *T*", "markdown") == "# *T*"


# --- data -------------------------------------------------------------------------------------------------------------


def test_data_is_cut_at_its_top_level() -> None:
    entry = [f'    "key{i}": "some longer value"' for i in range(24)]  # about 800 characters
    block = ['  "name": {', ",\n".join(entry), "  },"]
    text = "{\n" + "\n".join("\n".join(block) for _ in range(4)) + '\n  "last": 1\n}\n'
    chunks = chunk_file(text, "json", "data")
    assert [raw_of(text, c).lstrip("{\n").startswith('  "name"') for c in chunks] == [True] * 4
    assert raw_of(text, chunks[-1]).endswith("}")


def test_rows_are_cut_in_windows() -> None:
    text = "a,b,c\n" * 120
    chunks = chunk_file(text, "csv", "data")
    assert [(c.start_line, c.end_line, c.kind) for c in chunks] == [
        (1, 50, "fixed"),
        (41, 90, "fixed"),
        (81, 120, "fixed"),
    ]
    many = chunk_file("a,b,c\n" * 100_000, "csv", "data")
    assert too_many(many) and many[-1].end_line == 100_000


def test_data_in_one_line_ends() -> None:
    text = json.dumps({f"key{i}": [i] * 5 for i in range(60_000)})
    chunks = chunk_file(text, "json", "data")
    assert len(chunks) <= 500 and chunks[-1].end_byte == len(text)

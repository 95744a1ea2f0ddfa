"""Converted documents through the index: found by meaning, by words and exactly, shown with their place, kept fresh."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent / "reading"))

from office import docx, paragraph, pdf, xlsx
from shelf import long_ago

from findling.contracts.registry import call
from findling.contracts.workspaces import Workspace
from findling.engine import Engine
from findling.engine.library import Library
from findling.reading.decoding import decode


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "shelf"
    folder.mkdir()
    (folder / "tea.pdf").write_bytes(pdf(["About water and kettles.", "Steep green tea for two minutes."]))
    (folder / "prices.xlsx").write_bytes(xlsx({"Beans": [["kind", "price"], ["arabica", 12.5]]}))
    (folder / "page.html").write_text(
        "<nav>Elsewhere</nav><main><h1>Cups</h1><p>A cup holds two deciliters.</p></main>"
    )
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4\n" + b"\xff" * 300)
    (folder / "locked.docx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 100)
    return long_ago(folder)


def test_found_by_meaning_with_the_page(library: Library, shelf: Path) -> None:
    library.add(shelf)
    best = library.search("how long does green tea brew", min_score=0.0).passages[0]
    assert (Path(best.file_path).name, best.headings) == ("tea.pdf", ("page 2",))
    assert best.content == "⟦page 2⟧\n\nSteep green tea for two minutes."
    whole = library.file(best.file_path)
    assert [text.headings for text in whole.passages] == [("page 1",), ("page 2",)]
    page = library.file(str(shelf / "page.html")).passages
    assert [text.content for text in page] == ["# Cups\n\nA cup holds two deciliters."]


def test_broken_and_locked_documents_cost_themselves(library: Library, shelf: Path) -> None:
    report = library.add(shelf).report
    assert report is not None
    assert report.files == 3
    assert {file.path: file.reason for file in report.skipped} == {
        "broken.pdf": "broken_document",
        "locked.docx": "encrypted",
    }
    assert all(file.detail for file in report.skipped)
    (again,) = library.refresh()
    assert again.report is not None and again.report.changed == 0, "they are not tried again"


def test_a_root_finds_them_too_and_grep_says_the_place(shelf: Path) -> None:
    with Engine.open(shelf) as engine:
        engine.index()
        hit = engine.search("steep green tea").hits[0]
        assert (hit.path, "two minutes" in hit.snippet, hit.stale) == ("tea.pdf", True, False)
        (file,) = engine.grep("(?i)GREEN tea").files
        assert (file.path, [(line.line, line.place) for line in file.lines]) == ("tea.pdf", [(7, "page 2")])
        (cell,) = engine.grep("arabica").files
        assert [(line.text, line.place) for line in cell.lines] == [("2 | arabica | 12.5", "Beans!A1:B2")]
        assert engine.grep("<nav>").total_lines == 1, "in a project a page is source"


def test_a_changed_document_is_read_again(shelf: Path) -> None:
    with Engine.open(shelf) as engine:
        engine.index()
        (shelf / "tea.pdf").write_bytes(pdf(["Now about cocoa only."]))
        assert engine.search("cocoa").hits[0].path == "tea.pdf"
        assert engine.grep("green tea").total_lines == 0
        (shelf / "tea.pdf").unlink()
        assert engine.grep("cocoa").total_lines == 0


def test_cells_of_a_notebook_are_read_as_people_read_them(library: Library, tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Tides\n", "\n", "High water comes twice a day."]},
        {"cell_type": "code", "source": ['print("high\\twater")\n', "print(2)"], "outputs": ["x" * (2 << 20)]},
    ]
    folder = tmp_path.resolve() / "notes"
    folder.mkdir()
    (folder / "tides.ipynb").write_text(json.dumps({"cells": cells, "metadata": {"language_info": {"name": "python"}}}))
    (folder / "broken.ipynb").write_text('{"cells": [')
    fenced = {"cells": cells[1:], "metadata": {"language_info": {"name": "python\n```\n# Forged"}}}
    (folder / "fence.ipynb").write_text(json.dumps(fenced))
    report = library.add(folder).report
    assert report is not None and [(file.path, file.reason) for file in report.skipped] == [
        ("broken.ipynb", "broken_document")
    ]
    prose, code = library.file(str(folder / "tides.ipynb")).passages
    assert (prose.headings, prose.content) == (
        ("cell 1", "Tides"),
        "⟦cell 1⟧\n\n# Tides\n\nHigh water comes twice a day.",
    )
    assert code.headings == ("cell 2: Tides",)
    assert code.content.endswith('```python\nprint("high\\twater")\nprint(2)\n```')
    (forged,) = library.file(str(folder / "fence.ipynb")).passages
    assert forged.content == '⟦cell 1⟧\n\n```\nprint("high\\twater")\nprint(2)\n```'
    with Workspace(long_ago(folder)) as workspace:
        workspace.engine.index()
        assert workspace.engine.status().coverage.skipped["too_large"] == 2, "in a project it is source"


def test_every_hit_in_a_document_leads_to_its_text(shelf: Path) -> None:
    with Workspace(shelf) as workspace:
        workspace.engine.index()
        said = "Steep green tea for two minutes."
        for tool, key in (("search_semantic", "snippet"), ("hybrid_search", "snippet"), ("search_code", "context")):
            found = call(tool, {"query": "steep green tea"}, workspace).structured or {}
            (best, *_) = [hit for hit in found["results"] if hit["path"] == "tea.pdf"]
            assert said in (best.get(key) or best["snippet"]), tool
        read = call("get_file", {"path": "tea.pdf"}, workspace)
        lines = read.text_blocks[0].split("\n")
        assert [lines[0], lines[4], lines[6]] == ["⟦page 1⟧", "⟦page 2⟧", said], "as the lines of a hit count them"
        assert call("get_file", {"path": "tea.pdf", "start_line": 7, "end_line": 7}, workspace).text_blocks == [
            lines[6] + "\n"
        ]
        named = {"path": str(shelf / "prices.xlsx")}
        assert "| arabica | 12.5" in call("get_file", named, workspace).text_blocks[0]
        (shelf / "tea.pdf").write_bytes(pdf(["Now about cocoa only."]))
        text, *notes = call("get_file", {"path": "tea.pdf"}, workspace).text_blocks
        assert ("cocoa" in text) != ("has changed" in str(notes)), "taken in before, if there was time"
        workspace.engine.index()
        (text,) = call("get_file", {"path": "tea.pdf"}, workspace).text_blocks
        assert "cocoa" in text
        for path, why in (("locked.docx", "protected"), ("broken.pdf", "broken"), ("none.pdf", "not found")):
            refused = call("get_file", {"path": path}, workspace)
            assert refused.is_error and why in refused.text_blocks[0].lower(), refused.text_blocks


def test_a_document_may_be_larger_than_a_source_file(shelf: Path) -> None:
    from findling.sources.selection import DiscoveryOptions

    options = DiscoveryOptions()
    assert options.limit("a.PDF") > options.limit("a.md") == options.max_bytes
    picture = random.Random(1).randbytes(2 << 20)
    walk = docx(paragraph("a long walk to the lake"), parts={"word/media/lake.png": picture})
    (shelf / "long.docx").write_bytes(walk)
    with Engine.open(shelf) as engine:
        engine.index()
        assert engine.search("walk to the lake").hits[0].path == "long.docx"


def test_bytes_of_a_document_are_never_taken_for_text() -> None:
    assert not hasattr(decode(pdf(["x"])), "text")

"""What answers look like in a Python session and in a notebook, and as data frames."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from findling import AsyncEngine, Engine
from findling.model.errors import InvalidInput
from findling.model.types import SearchResult

HOSTILE = "def fetch(url='<script>alert(1)</script>'):\n    return url\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "client.py").write_text(HOSTILE)
    return tmp_path


@pytest.fixture
def found(project: Path) -> SearchResult:
    with Engine.open(root=project) as engine:
        return engine.search("fetch", wait_s=None)


def test_an_answer_shows_its_places_line_by_line(found: SearchResult) -> None:
    first, second = repr(found).split("\n")
    assert first.startswith("<SearchResult: 'fetch': 1 of 1 place, confidence") and "client.py:1-2" in second
    assert repr(found.hits[0]).startswith("Hit('client.py:1-2', name='fetch'")


def test_a_notebook_shows_a_table_in_which_code_is_text(found: SearchResult) -> None:
    page = found._repr_html_()
    hit = found.hits[0]._repr_html_()
    for html in (page, hit):
        assert "<table>" in html and "client.py:1-2" in html and "&lt;script&gt;" in html and "<script>" not in html


def test_an_answer_is_a_dictionary_and_a_data_frame(found: SearchResult) -> None:
    assert found.to_dict()["hits"][0]["path"] == "client.py"
    frame = found.to_frame()
    assert list(frame["path"]) == ["client.py"] and frame["start_line"][0] == 1


def test_every_answer_has_rows(project: Path) -> None:
    with Engine.open(root=project) as engine:
        for answer in (engine.grep("url"), engine.symbols("fetch", references=True), engine.callers("fetch")):
            assert answer.heading in repr(answer) and answer.to_dict()
            assert all(row.place.startswith("client.py") for row in answer.rows)


def test_questions_can_be_awaited_side_by_side(project: Path) -> None:
    async def ask() -> tuple[int, int]:
        async with await AsyncEngine.open(root=project) as engine:
            await engine.index(embed=False)
            found, symbols = await asyncio.gather(engine.search("fetch"), engine.symbols("fetch"))
            return len(found.hits), len(symbols.definitions)

    assert asyncio.run(ask()) == (1, 1)


def test_a_closed_engine_says_so(project: Path) -> None:
    async def ask() -> None:
        engine = await AsyncEngine.open(root=project)
        await engine.close()
        await engine.close()
        await engine.search("fetch")

    with pytest.raises(InvalidInput, match="closed"):
        asyncio.run(ask())

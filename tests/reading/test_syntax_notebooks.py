"""Definitions and uses in a notebook's cells, as places of the raw JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable

import pytest

from findling.reading import notebooks
from findling.reading.chunks import chunk_file
from findling.reading.spans import locate
from findling.reading.syntax import parse, references

CELLS = [
    {"cell_type": "markdown", "source": ["# def not_code(): in prose\n"]},
    {
        "cell_type": "code",
        "outputs": [{"text": ["def printed(): pass\n"]}],
        "source": [
            "%matplotlib inline\n",
            '!pip install "x"\n',
            "class Größe:\n",
            "    '''Says \"how\\tlarge\".'''\n",
            "    def messen(self, é):\n",
            "        return é\n",
        ],
    },
    {"cell_type": "code", "source": ["%%bash\n", "function in_shell() { :; }\n"]},
    {"cell_type": "code", "source": ["%%time\n", "def timed(x):\n", "    return Größe().messen(x)\n", "timed(1)"]},
    {"cell_type": "code", "source": "def in_one_string():\n    return timed(2)\n"},
    {"cell_type": "code", "source": ["def broken(:\n"]},
    {"cell_type": "code", "source": ["def after():\n", "    pass\n"]},
]


def notebook(**metadata: object) -> str:
    return json.dumps({"cells": CELLS, "metadata": metadata, "nbformat": 4}, indent=1, ensure_ascii=False)


def test_definitions_lie_where_the_raw_file_has_them() -> None:
    text = notebook()
    raw, lines = text.encode(), text.split("\n")
    found = parse(raw, "notebook")
    named = {symbol.qualified_name: symbol for symbol in found.symbols}
    assert list(named) == ["Größe", "Größe.messen", "timed", "in_one_string", "broken", "after"]
    assert (found.complete, found.problem) == (True, "parse_error")
    for symbol in found.symbols:
        assert symbol.name in lines[symbol.name_line - 1]
        own = raw[symbol.start_byte : symbol.end_byte].decode()
        assert own.startswith(("class", "def")) and "outputs" not in own
        assert symbol.start_line == raw.count(b"\n", 0, symbol.start_byte) + 1
        assert symbol.end_line == raw.count(b"\n", 0, symbol.end_byte) + 1
    assert found.symbols[named["Größe.messen"].parent].name == "Größe"
    assert (named["Größe"].doc, named["Größe.messen"].kind) == ('Says "how\\tlarge".', "method")
    assert named["in_one_string"].start_line == named["in_one_string"].end_line
    chunks = chunk_file(text, "notebook", "docs", found.symbols)
    assert {found.symbols[chunk.symbol].name for chunk in chunks if chunk.symbol >= 0} >= {"timed", "after"}


@pytest.mark.parametrize(("name", "used"), [("timed", ["", "in_one_string"]), ("messen", ["timed"]), ("printed", [])])
def test_uses_are_told_by_line_and_column(name: str, used: list[str]) -> None:
    text = notebook()
    found = references(text.encode(), "notebook", name)
    assert [enclosing for _, _, enclosing in found] == used
    for line, column, _ in found:
        assert text.split("\n")[line - 1][column:].startswith(name)


def test_what_is_no_notebook_or_in_no_known_language_has_none() -> None:
    assert parse(b"{", "notebook").symbols == ()
    assert parse(b'{"cells": 3}', "notebook").symbols == ()
    assert parse(notebook(kernelspec={"language": "nobody's"}).encode(), "notebook").symbols == ()
    assert references(b"[]", "notebook", "x") == []


def test_a_name_does_not_come_before_its_definition() -> None:
    cell = {
        "cell_type": "code",
        "source": ["x = 1; ", "class A: pass\n", "\n", "y = 2; ", "\\\n", "\n", "def f(): pass\n"],
    }
    found = parse(json.dumps({"cells": [cell]}, indent=1).encode(), "notebook").symbols
    assert {"A", "f"} <= {symbol.name for symbol in found}
    for symbol in found:
        assert symbol.start_line <= symbol.name_line <= symbol.end_line


def test_no_cell_is_begun_after_the_deadline() -> None:
    raw = notebook().encode()
    late = parse(raw, "notebook", deadline_s=-1)
    assert (late.symbols, late.complete, late.problem) == ((), False, "timeout")
    assert references(raw, "notebook", "timed", deadline_s=-1) == []


def test_what_is_wrong_in_one_cell_is_said_of_all() -> None:
    problems = iter(["", "too_many_symbols", "parse_error", "", ""])
    found, problem = notebooks.symbols(notebook(), lambda _code, _language: ((), next(problems)), math.inf)
    assert (found, problem) == ([], "too_many_symbols")


def test_the_raw_text_is_gone_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def counted(text: str, positions: Iterable[int]) -> dict[int, tuple[int, int]]:
        asked.append(len(places := list(positions)))
        return locate(text, places)

    monkeypatch.setattr(notebooks, "locate", counted)
    raw = notebook().encode()
    symbols, uses = parse(raw, "notebook").symbols, references(raw, "notebook", "timed")
    assert asked == [3 * len(symbols), len(uses)]

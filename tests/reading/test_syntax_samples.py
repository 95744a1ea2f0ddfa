"""Every supported language: what its sample defines is found, with kinds, names and exact lines."""

from __future__ import annotations

import re
import time
from itertools import chain
from pathlib import Path

import pytest

from findling.model.languages import LANGUAGES
from findling.model.types import SYMBOL_KINDS
from findling.reading import syntax, syntax_tree
from findling.reading.syntax_grammars import GRAMMARS
from findling.reading.syntax_grammars.model import Define, define

SAMPLES = Path(__file__).parent / "samples"

# Samples with text that the grammar cannot read: Groovy's has no constructors.
UNREADABLE = {"groovy"}


def _expected() -> dict[str, list[tuple[str, int, int, str]]]:
    wanted: dict[str, list[tuple[str, int, int, str]]] = {}
    rows: list[tuple[str, int, int, str]] = []
    for line in (SAMPLES / "expected.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            rows = wanted.setdefault(line[3:], [])
        elif line and not line.startswith("#"):
            kind, lines, name = line.split(" ", 2)
            first, _, last = lines.partition("-")
            rows.append((kind, int(first), int(last), name))
    return wanted


EXPECTED = _expected()


def sample(language: str) -> bytes:
    return (SAMPLES / f"{language}.sample").read_bytes()


@pytest.mark.parametrize("language", sorted(syntax.supported_languages()))
def test_sample_defines_what_one_reads_in_it(language: str) -> None:
    read = syntax.parse(sample(language), language)
    assert [(s.kind, s.start_line, s.end_line, s.qualified_name) for s in read.symbols] == EXPECTED[language]
    assert (read.complete, read.problem) == (True, "parse_error" if language in UNREADABLE else "")


@pytest.mark.parametrize("language", sorted(syntax.supported_languages()))
def test_sample_with_windows_line_ends_is_read_alike(language: str) -> None:
    unix = syntax.parse(sample(language), language).symbols
    windows = syntax.parse(sample(language).replace(b"\n", b"\r\n"), language).symbols

    def shape(symbols: tuple[object, ...]) -> list[tuple[object, ...]]:
        return [(s.kind, s.qualified_name, s.start_line, s.end_line, s.name_line, s.doc) for s in symbols]  # type: ignore[attr-defined]

    assert shape(windows) == shape(unix)


def test_expectations_cover_every_language() -> None:
    assert set(EXPECTED) == set(syntax.supported_languages())
    assert len(EXPECTED) >= 30


def test_languages_are_those_of_the_table() -> None:
    assert set(syntax.supported_languages()) <= set(LANGUAGES)


@pytest.mark.parametrize("language", sorted(GRAMMARS))
def test_table_names_only_nodes_and_fields_of_its_grammar(language: str) -> None:
    table = GRAMMARS[language]
    grammar = syntax_tree.grammar(table.parser)
    assert grammar is not None
    missing = [name for name in table.actions if grammar.id_for_node_kind(name, True) is None]
    assert missing == []
    simple = [action for action in table.actions.values() if isinstance(action, Define)]
    simple += [define(said) for action in simple for said in action.values.values()]
    written = [(a.name, a.body, a.each, a.qualifier, a.value) for a in simple]
    paths = {path for either in chain(*written) for path in either.split("|")}
    steps = {step for path in paths for step in path.split("/")} - {"", "."}
    types = {name for step in steps if step.startswith("<") for name in step[1:-1].split()}
    types |= {name for step in steps for name in step.partition(":")[2].split()}
    types |= {type_ for action in simple for type_ in action.values}
    assert [name for name in types if grammar.id_for_node_kind(name, True) is None] == []
    fields = {step.partition(":")[0] for step in steps if not step.startswith("<") and not step[0].isdigit()}
    assert [name for name in fields if grammar.field_id_for_name(name) is None] == []
    assert {kind for action in simple for kind in (action.kind, *action.words.values())} <= {*SYMBOL_KINDS, "", "value"}


@pytest.mark.parametrize("language", sorted(GRAMMARS))
def test_table_patterns_compile(language: str) -> None:
    table = GRAMMARS[language]
    assert re.compile(table.nested)
    assert table.parser == language


@pytest.mark.parametrize("language", sorted(GRAMMARS))
def test_windowed_reading_gives_the_tree_of_the_whole_text(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = sample(language).replace(b'"x"', '"ü€𝄞"'.encode())
    whole = syntax_tree.parse_tree(text, GRAMMARS[language].parser, time.thread_time() + 5)
    monkeypatch.setattr(syntax_tree, "FIRST_WINDOW_BYTES", 7)
    monkeypatch.setattr(syntax_tree, "WINDOW_BYTES", 7)
    pieces = syntax_tree.parse_tree(text, GRAMMARS[language].parser, time.thread_time() + 5)
    assert whole is not None and pieces is not None
    assert str(pieces.root_node) == str(whole.root_node)
    assert pieces.root_node.end_byte == whole.root_node.end_byte

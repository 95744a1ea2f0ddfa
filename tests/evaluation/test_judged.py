"""Files of judged queries and of answers: both forms, and what is wrong with a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from findling.evaluation.judged import Answer, Place, load_queries, load_run
from findling.model.errors import InvalidInput, NotFound

FILES: dict[str, Any] = {
    "query_id": "r#0",
    "repo": "r",
    "query": "q",
    "category": "symbol",
    "language": "go",
    "relevant": [{"path": "./a.go", "start_line": None, "end_line": None}, {"path": "b.go"}],
}
SPANS: dict[str, Any] = {
    "id": "r#1",
    "repo": "r",
    "query": "q",
    "set": "docs",
    "kind": "de",
    "relevant": [{"path": "a.md", "start_line": 3, "end_line": 4}],
}


def lines(path: Path, *objects: Any) -> Path:
    path.write_text("".join(f"{item if isinstance(item, str) else json.dumps(item)}\n" for item in objects))
    return path


def test_both_forms(tmp_path: Path) -> None:
    (query,) = load_queries(lines(tmp_path / "q", FILES))
    assert (query.id, query.repo, query.text, query.by_file) == ("r#0", "r", "q", True)
    assert query.targets == (Place("a.go", None, None), Place("b.go", None, None))
    assert query.groups == ("kind: symbol", "language: go")
    query, nothing = load_queries(
        lines(tmp_path / "q", SPANS, "", {**SPANS, "id": "r#2", "set": "no_answer", "relevant": []})
    )
    assert (query.targets, query.groups, query.by_file) == (
        (Place("a.md", 3, 4),),
        ("set: docs", "kind: docs/de"),
        False,
    )
    assert query.has_rank and not nothing.has_rank


def test_a_run_names_its_queries_in_either_way(tmp_path: Path) -> None:
    place = {"path": ".\\src\\a.go", "start_line": 1, "end_line": 2, "score": 1.0}
    run = load_run(
        lines(
            tmp_path / "run",
            {"query_id": "r#0", "id": "r#0", "results": [place]},
            {"id": "r#1", "results": [{"path": "b.md"}], "low_confidence": True},
        )
    )
    assert run == {"r#0": Answer((Place("src/a.go", 1, 2),)), "r#1": Answer((Place("b.md"),), True)}


def without(line: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in line.items() if name != key}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "line 2: .*truncated"),
        ("[" * 100_000, "line 2: "),
        ("[]", "line 2: Expected `object`, got `array`"),
        (without(FILES, "query"), "line 2: .*missing required field `query`"),
        (without(FILES, "category"), "line 2: .*missing required field `category`"),
        ({**FILES, "query": "  "}, r"line 2: Expected `str` matching .* - at `\$.query`"),
        ({**FILES, "repo": 3}, r"line 2: Expected `str`, got `int` - at `\$.repo`"),
        ({**FILES, "relevant": "a.go"}, r"line 2: Expected `array`, got `str` - at `\$.relevant`"),
        ({**FILES, "relevant": ["a.go"]}, r"line 2: Expected `object`, got `str` - at `\$.relevant"),
        (
            {**FILES, "relevant": [{"path": "a.go", "start_line": "1"}]},
            r"line 2: Expected `int \| null`, got `str` - at .*start_line`",
        ),
        (FILES, "line 2: line 1 has the same id, 'r#0'"),
        (SPANS, "line 2: it has the other form"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, line: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        load_queries(lines(tmp_path / "q", FILES, line))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({**SPANS, "relevant": []}, "line 1: relevant is empty, and its set is 'docs' instead of 'no_answer'"),
        ({**SPANS, "relevant": [{"path": "a.md"}]}, "line 1: a target has no lines"),
        (without(SPANS, "kind"), "line 1: .*missing required field `kind`"),
    ],
)
def test_spans_need_lines(tmp_path: Path, line: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        load_queries(lines(tmp_path / "q", line))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        load_queries(tmp_path / "none")
    with pytest.raises(InvalidInput, match="cannot be read"):
        load_queries(tmp_path)
    (tmp_path / "latin").write_bytes(b'{"id": "\xe9"}\n')
    with pytest.raises(InvalidInput, match=r"line 1: .*utf-8"):
        load_queries(tmp_path / "latin")
    with pytest.raises(InvalidInput, match=r"line 1: .*missing required field `results`"):
        load_run(lines(tmp_path / "run", {"id": "r#0"}))


def test_confidence_is_true_false_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"id": "a", "results": [], "low_confidence": "no"}\n')
    with pytest.raises(InvalidInput, match="low_confidence"):
        load_run(path)
    path.write_text('{"id": "a", "results": [], "low_confidence": true}\n{"id": "b", "results": []}\n')
    assert [answer.low_confidence for answer in load_run(path).values()] == [True, None]

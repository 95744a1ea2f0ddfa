"""The command that scores a run again: both forms of query files, and a comparison."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import ndcg


def test_both_kinds_of_files_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    public: dict[str, Any] = {
        "query_id": "r#0",
        "repo": "r",
        "query": "q",
        "category": "symbol",
        "language": "go",
        "relevant": [{"path": "a.go", "start_line": None, "end_line": None}],
    }
    own: dict[str, Any] = {
        "id": "r#1",
        "repo": "r",
        "query": "q",
        "set": "docs",
        "kind": "de",
        "relevant": [{"path": "a.md", "start_line": 3, "end_line": 4}],
    }
    lines = [
        {"query_id": "r#0", "id": "r#0", "results": [{"path": "a.go", "start_line": 1, "end_line": 2, "score": 1.0}]},
        {"id": "r#1", "results": [{"path": "a.md", "start_line": 4, "end_line": 9}], "low_confidence": False},
    ]
    run = tmp_path / "run.jsonl"
    run.write_text("\n".join(map(json.dumps, lines)))
    for query, group in ((public, "kind: symbol"), (own, "kind: docs/de")):
        path = tmp_path / "queries.jsonl"
        path.write_text(json.dumps(query) + "\n")
        out = tmp_path / "out.json"
        assert ndcg.main([str(path), str(run), "--against", str(run), "--rounds", "20", "--json", str(out)]) == 0
        report = json.loads(out.read_text())
        assert report["groups"][group]["ndcg"]["value"] == 1.0
        assert report["against"]["equal"] == 1
        assert f"| {group} | 1 | 1.0000 |" in capsys.readouterr().out

"""The repo family: fields, orders, texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from findling.config import Config
from findling.config.options import Semantic
from findling.contracts import Workspace, call
from findling.contracts.model import ToolResult
from findling.contracts.symbols import kind_name
from findling.engine import Engine
from findling.model.types import Answer, Query

CASES = json.loads((Path(__file__).parent / "data" / "decision_cases.json").read_text(encoding="utf-8"))


def facts(result: ToolResult) -> dict[str, Any]:
    assert not result.is_error, result.text_blocks
    assert result.structured is not None
    return result.structured


def sorted_by_score(results: list[dict[str, Any]], line: str) -> bool:
    keys = [(-result["score"], result["path"], result[line]) for result in results]
    return keys == sorted(keys) and all(0 <= result["score"] <= 1 for result in results)


# --- search_semantic -------------------------------------------------------------------------------------------


def test_search_semantic_gives_the_nearest_passages(workspace: Workspace) -> None:
    """S1-44, S4-18, S4-19, S4-27, D19: cosine over all vectors, the listed fields."""
    found = facts(call("search_semantic", {"query": "adding up an invoice with value added tax"}, workspace))
    assert found["available"] is True
    first = found["results"][0]
    assert set(first) == {"path", "start_line", "end_line", "snippet", "score"}
    assert first["path"] == "src/billing/invoice.py"
    assert sorted_by_score(found["results"], "start_line")
    assert len({result["score"] for result in found["results"]}) > 1


def test_search_semantic_top_k_is_the_head_of_the_whole_list(workspace: Workspace) -> None:
    """S4-27."""
    whole = facts(call("search_semantic", {"query": "network", "top_k": 100}, workspace))["results"]
    assert len(whole) > 3
    for alias in ("top_k", "limit"):
        assert facts(call("search_semantic", {"query": "network", alias: 3}, workspace))["results"] == whole[:3]


def test_search_semantic_without_an_embedder_is_unavailable(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S4-28, S4-45: no embedder is no failed call; the reason is told."""
    from findling import embedding
    from findling.model import errors

    def none(*_: object, **__: object) -> Any:
        raise errors.EmbedderUnavailable("The model's files are not there.")

    monkeypatch.setattr(embedding, "open_embedder", none)
    with Workspace(indexed, root=indexed) as workspace:
        found = facts(call("search_semantic", {"query": "tax"}, workspace))
        assert found == {"available": False, "results": [], "error": "The model's files are not there."}
        hybrid = facts(call("hybrid_search", {"query": "retry"}, workspace))
        assert hybrid["results"]
        assert all("semantic" not in result["sources"] for result in hybrid["results"])
        assert hybrid["results"][0]["score"] > 0.5


def test_semantic_search_can_be_switched_off(indexed: Path) -> None:
    with Workspace(indexed, root=indexed, config=Config(semantic=Semantic(enabled=False))) as workspace:
        found = facts(call("search_semantic", {"query": "tax"}, workspace))
        assert (found["available"], found["results"]) == (False, [])
        assert "semantic.enabled is false" in found["error"]


def test_the_first_question_indexes(project: Path) -> None:
    """S4-5, S4-29: vectors are made on the first semantic query, and for what came after it on the next."""
    with Workspace(project, root=project) as workspace:
        found = facts(call("search_semantic", {"query": "sum of an invoice", "top_k": 1}, workspace))
        assert found["results"][0]["path"] == "src/billing/invoice.py"
        (project / "late.py").write_text('def feed():\n    """Give the otters of the zoo their fish."""\n')
        found = facts(call("search_semantic", {"query": "feeding otters in the zoo", "top_k": 1}, workspace))
        assert found["results"][0]["path"] == "late.py"


# --- hybrid_search ---------------------------------------------------------------------------------------------


def test_hybrid_search_says_who_found_what(workspace: Workspace) -> None:
    """S4-26, S4-31, D19."""
    results = facts(call("hybrid_search", {"query": "retry_failed"}, workspace))["results"]
    assert set(results[0]) == {"path", "line_start", "line_end", "snippet", "score", "sources"}
    assert results[0]["path"] == "src/http/client.py"
    assert {"keyword", "symbol"} <= set(results[0]["sources"])
    assert all(set(result["sources"]) <= {"keyword", "symbol", "semantic"} for result in results)
    assert sorted_by_score(results, "line_start")


def test_hybrid_search_results_do_not_overlap(workspace: Workspace) -> None:
    """S4-24."""
    results = facts(call("hybrid_search", {"query": "send a request again after a failure"}, workspace))["results"]
    for i, one in enumerate(results):
        for other in results[i + 1 :]:
            apart = one["line_end"] < other["line_start"] or other["line_end"] < one["line_start"]
            assert one["path"] != other["path"] or apart


@pytest.mark.parametrize(
    "query", ["retry(", "what?", "-v retry", '"retry', "a OR (b", "[", "\\", "()", "*", "retry:", "x" * 4000]
)
@pytest.mark.parametrize("tool", ["hybrid_search", "search_keyword", "search_semantic"])
def test_no_query_breaks_a_search(tool: str, query: str, workspace: Workspace) -> None:
    result = call(tool, {"query": query}, workspace)
    assert not result.is_error, result.text_blocks


# --- search_keyword --------------------------------------------------------------------------------------------


def test_search_keyword_counts_exactly(workspace: Workspace) -> None:
    found = facts(call("search_keyword", {"query": "attempts?", "top_k": 2}, workspace))
    text = [path.read_text() for path in workspace.engine.root.rglob("*") if path.suffix in (".py", ".md", ".ts")]
    assert found["total_matches"] == sum(part.count("attempt") for part in text)
    assert found["truncated"] is True
    assert len(found["results"]) == 2
    assert set(found["results"][0]) == {"path", "line_start", "line_end", "snippet", "score"}
    assert sorted_by_score(found["results"], "line_start")


def test_search_keyword_takes_what_is_no_expression_to_the_letter(workspace: Workspace) -> None:
    found = facts(call("search_keyword", {"query": "retry_failed(self"}, workspace))
    assert [(result["path"], result["line_start"]) for result in found["results"]] == [("src/http/client.py", 9)]
    assert found["results"][0]["snippet"] == "def retry_failed(self, request, attempts=3):"
    assert found["total_files"] == 1


def test_search_keyword_refuses_what_another_tool_would_take_for_an_expression(workspace: Workspace) -> None:
    refused = call("search_keyword", {"query": "[[:digit:]]+"}, workspace)
    assert refused.is_error
    assert "Python's syntax" in refused.text_blocks[0]


def test_search_keyword_names_what_was_not_searched(project: Path) -> None:
    (project / "image.bin").write_bytes(bytes(range(256)) * 20)
    with Workspace(project, root=project) as workspace:
        found = facts(call("search_keyword", {"query": "VAT"}, workspace))
    assert {"path": "image.bin", "reason": "binary"} in found["skipped"]


# --- definitions -----------------------------------------------------------------------------------------------


def test_find_symbol_orders_exact_prefix_rest(workspace: Workspace) -> None:
    symbols = facts(call("find_symbol", {"name": "retry"}, workspace))["symbols"]
    assert {symbol["name"] for symbol in symbols} == {"retry_failed", "retry_delay"}
    delay = next(symbol for symbol in symbols if symbol["name"] == "retry_delay")
    assert delay == {
        "name": "retry_delay",
        "kind": "function",
        "path": "src/http/retry_policy.py",
        "line": 6,
        "language": "python",
        "pattern": "/^def retry_delay(attempt):$/",
        "scope": "",
        "signature": "def retry_delay(attempt)",
    }
    assert facts(call("find_symbol", {"name": "Client"}, workspace))["symbols"][0]["kind"] == "class"
    parts = facts(call("find_symbol", {"name": "attempts"}, workspace))["symbols"]
    assert [symbol["name"] for symbol in parts] == ["MAX_ATTEMPTS"]


def test_find_symbol_by_kind(workspace: Workspace) -> None:
    found = facts(call("find_symbol", {"name": "retry", "kind": "function"}, workspace))
    assert {symbol["scope"] for symbol in found["symbols"]} == {"", "Client"}
    assert facts(call("find_symbol", {"name": "retry", "kind": "class"}, workspace)) == {"symbols": []}
    assert (
        facts(call("find_symbol", {"name": "cart", "kind": "interface"}, workspace))["symbols"][0]["name"] == "CartLine"
    )
    limited = facts(call("find_symbol", {"name": "retry", "limit": 1}, workspace))
    assert (len(limited["symbols"]), limited["total"]) == (1, 2)


def test_the_kinds_have_the_known_names() -> None:
    known = set(CASES["normalize_kind"].values())
    ours = {kind_name(kind) for kind in ("fn", "method", "class", "struct", "enum", "trait", "interface", "type_alias")}
    assert ours <= known


def test_list_defs_in_file(workspace: Workspace) -> None:
    found = facts(call("list_defs_in_file", {"path": "src/http/client.py"}, workspace))
    assert found["path"] == "src/http/client.py"
    assert [(symbol["name"], symbol["line"], symbol["scope"]) for symbol in found["symbols"]] == [
        ("Client", 6, ""),
        ("retry_failed", 9, "Client"),
        ("send", 18, "Client"),
    ]


@pytest.mark.parametrize("tool", ["list_defs_in_file", "get_file"])
def test_paths_that_are_no_files_of_the_root(tool: str, project: Path) -> None:
    outside = project.parent / "outside.txt"
    outside.write_text("secret")
    (project / "link.txt").symlink_to(outside)
    with Workspace(project, root=project) as workspace:
        for path, said in {
            "no/such.py": "file not found: no/such.py",
            "src": "path is a directory: src",
            "../outside.txt": "path is outside of the root: ../outside.txt",
            str(outside): f"path is outside of the root: {outside}",
            "link.txt": "path is outside of the root: link.txt",
            "src/../../outside.txt": "path is outside of the root: src/../../outside.txt",
        }.items():
            result = call(tool, {"path": path}, workspace)
            assert (result.is_error, result.structured, result.text_blocks) == (True, None, [said])


# --- get_file --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("start", "end", "expected"), CASES["get_file_5_lines"])
def test_get_file_ranges(start: int, end: int, expected: Any, workspace: Workspace) -> None:
    result = call("get_file", {"path": "five.txt", "start_line": start, "end_line": end}, workspace)
    if expected == "error":
        assert result.is_error
        assert result.text_blocks == [f"start_line {start} is beyond end of file (5 lines)"]
        return
    lines = ["one\n", "two\n", "three\n", "four\n", "five\n"][expected[0] - 1 : expected[1]]
    assert facts(result) == {"path": "five.txt", "content": "".join(lines), "untrusted": ["content", "path"]}
    assert result.text_blocks == ["".join(lines)]


def test_get_file_is_verbatim(project: Path) -> None:
    (project / "odd.txt").write_bytes("a\r\nü\t\f end\r\nno newline".encode())
    with Workspace(project, root=project) as workspace:
        assert call("get_file", {"path": "odd.txt"}, workspace).text_blocks == ["a\r\nü\t\f end\r\nno newline"]
        (project / "empty.txt").write_bytes(b"")
        assert facts(call("get_file", {"path": "empty.txt"}, workspace))["content"] == ""


def test_secrets_and_version_control_are_not_handed_out(project: Path) -> None:
    (project / ".env").write_text("TOKEN=hunter2hunter2\n")
    (project / "notes").write_text("-----BEGIN PRIVATE KEY-----\n" + "MII" * 100 + "\n-----END PRIVATE KEY-----\n")
    (project / "link.txt").symlink_to(".env")
    (project / "left_out.log").write_text("merely not indexed\n")
    (project / ".ignore").write_text("*.log\n")
    with Workspace(project, root=project) as workspace:
        for path in (".env", "link.txt", "notes", ".git/HEAD", "src/../.git/HEAD"):
            result = call("get_file", {"path": path}, workspace)
            assert result.is_error, path
            assert "TOKEN" not in str(result.text_blocks) and "refs/" not in str(result.text_blocks)
        assert "merely" in facts(call("get_file", {"path": "left_out.log"}, workspace))["content"]


def test_a_long_file_is_cut_by_lines_and_says_so(project: Path) -> None:
    (project / "long.txt").write_text("".join(f"line {number}\n" for number in range(1, 10_001)))
    with Workspace(project, root=project) as workspace:
        result = call("get_file", {"path": "long.txt"}, workspace)
        content, said = result.text_blocks
        last = content.count("\n")
        assert content.endswith(f"line {last}\n")
        assert 29_000 < len(content) + len(said) <= 30_000
        assert said == f"Cut after line {last} of 10000; go on with start_line {last + 1}."
        rest = call("get_file", {"path": "long.txt", "start_line": last + 1, "max_tokens": 1_000_000}, workspace)
        assert content + rest.text_blocks[0] == (project / "long.txt").read_text()


def test_another_ref_is_refused_in_words(workspace: Workspace) -> None:
    result = call("find_symbol", {"name": "retry", "ref": "feature"}, workspace)
    assert (result.is_error, result.structured) == (True, None)
    assert "There is no branch, tag or commit 'feature'" in result.text_blocks[0]
    assert not call("find_symbol", {"name": "retry", "ref": "main"}, workspace).is_error


def test_long_answers_are_cut_by_whole_results(workspace: Workspace) -> None:
    whole = facts(call("search_keyword", {"query": ".", "top_k": 50}, workspace))
    cut = facts(call("search_keyword", {"query": ".", "top_k": 50, "max_tokens": 300}, workspace))
    count = len(cut["results"])
    assert cut["results"] == whole["results"][:count]
    assert cut["omitted"] == len(whole["results"]) - count > 0
    assert cut["truncated"] is True
    assert len(json.dumps(cut["results"], separators=(",", ":"))) <= 1200


def test_hybrid_search_asks_all_backends_at_once(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """S4-21: one question, of one state of the index, in which every backend has its part."""
    asked: list[Query] = []

    def recorded(self: Engine, query: Query, **more: Any) -> Answer:
        asked.append(query)
        return ask(self, query, **more)

    ask = Engine.ask
    monkeypatch.setattr(Engine, "ask", recorded)
    found = facts(call("hybrid_search", {"query": "retry a failed request with retry_failed"}, workspace))
    assert len(asked) == 1
    assert {source for result in found["results"] for source in result["sources"]} == {"keyword", "symbol", "semantic"}


# --- filters ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["search_code", "hybrid_search", "search_semantic", "search_keyword"])
def test_filters_hold_for_every_result_and_what_they_leave_out_is_not_counted(workspace: Workspace, tool: str) -> None:
    """S2-7: path and language, as arguments and in the question."""
    every = {"detail_level": "context"} if tool == "search_code" else {}  # unlikely places, too
    whole = facts(call(tool, {"query": "request", **every}, workspace))
    inside = facts(call(tool, {"query": "request", "path": "src/http", "language": "python"}, workspace))
    paths = {result["path"] for result in inside["results"]}
    assert paths and all(path.startswith("src/http/") and path.endswith(".py") for path in paths)
    assert paths < {result["path"] for result in whole["results"]}
    assert facts(call(tool, {"query": "request", "path": "no/such/folder"}, workspace))["results"] == []
    refused = call(tool, {"query": "request", "language": "pyton"}, workspace)
    assert refused.is_error and "python" in str(refused.text_blocks)
    if tool == "search_keyword":
        assert inside["total_matches"] < whole["total_matches"]
        return
    written = facts(call(tool, {"query": "request path:src/http lang:python"}, workspace))
    assert [result["path"] for result in written["results"]] == [result["path"] for result in inside["results"]]
    told = written.get("notes") or written["metadata"]["warnings"]
    assert told == ["Taken as filters: path:src/http lang:python."]
    documents = facts(call(tool, {"query": "request", "group": "docs"}, workspace))["results"]
    assert documents and all(result["path"].endswith((".md", ".ipynb", ".txt")) for result in documents)


def test_a_file_that_nobody_knows_the_type_of_counts_as_code(tmp_path: Path) -> None:
    """S2-7: its text is searched, but no document is asked for by it."""
    names = ("guide.md", "LICENSE", "notes.txt", "expected.golden", "changes.rst", "app.cfg.in", "tool.py", "data.json")
    for name in names:
        (tmp_path / name).write_text("the quokka reads a ledger\n", encoding="utf-8")
    with Workspace(tmp_path) as workspace:

        def found(**given: str) -> set[str]:
            return {place["path"] for place in facts(call("search_code", given, workspace))["results"]}

        documents = found(query="quokka ledger in:docs")
        assert documents == {"guide.md", "LICENSE", "notes.txt", "changes.rst"}
        assert found(query="quokka ledger", group="docs") == documents
        assert found(query="quokka ledger in:code") == {*names} - documents

"""Pages of a list: a cursor leads to what comes after an answer, once, and only as long as the list is the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from findling.contracts import TOOLS, Workspace, budget, call
from findling.contracts.model import Listing, Refusal, ToolResult
from findling.engine import Engine
from findling.model.errors import EmbedderUnavailable, InvalidInput
from findling.model.types import Answer, Coverage, Meaning, Query, SearchResult
from findling.search.semantic import SemanticChannel

FILES = 14


@pytest.fixture(scope="module")
def paged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which every question of `ASKED` has more answers than a page of four holds."""
    root = tmp_path_factory.mktemp("paged").resolve()
    write(root)
    with Engine.open(root=root) as engine:
        assert engine.index().complete
    return root


def write(root: Path) -> None:
    for number in range(FILES):
        (root / f"retry_{number:02}.py").write_text(
            f'"""How request {number} is sent again."""\n\n\n'
            f"def retry_request(request):\n    return send_again(request, {number})\n\n\n"
            f"def retry_number_{number}(request):\n    return retry_request(request)\n",
            encoding="utf-8",
        )


def write_documents(root: Path) -> None:
    """Documents about one thing, and a file with more definitions than an answer has room for."""
    (root / "docs").mkdir(parents=True)
    for number in range(FILES):
        (root / "docs" / f"tea_{number:02}.md").write_text(
            f"# Tea {number}\n\nGreen tea is brewed for {number} minutes.\n"
        )
    methods = "".join(f"    def brew_{number}(self, leaves):\n        return leaves\n\n" for number in range(400))
    (root / "docs" / "brewing.py").write_text(f"class Brewing:\n{methods}\ndef last_cup(tea):\n    return tea\n")


def write_for(tool: str, root: Path) -> Path:
    (write_documents if tool in OF_DOCUMENTS or tool in OUTLINES else write)(root)
    return root


@pytest.fixture
def own(tmp_path: Path) -> Path:
    root = tmp_path.resolve()
    write(root)
    return root


@pytest.fixture(scope="module")
def opened(paged: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workspace, Workspace]]:
    documents = tmp_path_factory.mktemp("documents").resolve()
    write_documents(documents)
    with Workspace(paged, root=paged) as one, Workspace(documents, root=documents) as other:
        assert other.engine.index().complete
        yield one, other


@pytest.fixture
def workspace(request: pytest.FixtureRequest, opened: tuple[Workspace, Workspace]) -> Workspace:
    tool = request.node.callspec.params["tool"]
    return opened[tool in OF_DOCUMENTS or tool in OUTLINES]


ASKED: Mapping[str, dict[str, Any]] = {
    "search_code": {"query": "how is a request sent again", "limit": 4},
    "locate_symbol": {"name": "retry_request", "limit": 4, "include_references": True},
    "search_semantic": {"query": "how is a request sent again", "top_k": 4},
    "hybrid_search": {"query": "how is a request sent again", "top_k": 4},
    "search_keyword": {"query": "send_again", "top_k": 4},
    "find_symbol": {"name": "retry", "limit": 4},
}
OF_DOCUMENTS: Mapping[str, dict[str, Any]] = {
    "semantic_search": {"query": "how long is green tea brewed", "threshold": 0.1, "limit": 4},
    "find_similar": {"docPath": "docs/tea_03.md", "limit": 4},
    "search_docs": {"query": "green tea", "limit": 4},
}
EVERY = {**ASKED, **OF_DOCUMENTS}
OUTLINES = ("list_defs_in_file", "get_file_outline")
ITEMS = {"find_symbol": "symbols", "find_similar": "similar", **dict.fromkeys(OUTLINES, "symbols")}
PATHS = ("path", "docPath", "p")
LINES = ("line_start", "start_line", "line", "lineRange", "ln")


def test_every_tool_that_takes_a_cursor_is_asked_here() -> None:
    assert {name for name, tool in TOOLS.items() if "cursor" in tool.schema["properties"]} == {*EVERY, *OUTLINES}


def facts_of(result: ToolResult) -> dict[str, Any]:
    assert not result.is_error and result.structured is not None, result.text_blocks
    return result.structured


def places(tool: str, facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Where the items of a page stand, those that have one line each among them."""
    listed = [
        (
            next(item[key] for key in PATHS if key in item),
            str(next((item[key] for key in LINES if key in item), "")),
        )
        for item in facts[ITEMS.get(tool, "results")]
    ]
    for line in facts.get("further", ()):
        path, _, lines = line.partition(" ")[0].rpartition(":")
        listed.append((path, lines.partition("-")[0]))
    return listed


def pages(workspace: Workspace, tool: str, given: Mapping[str, Any]) -> list[list[tuple[str, str]]]:
    found: list[list[tuple[str, str]]] = []
    facts = facts_of(call(tool, given, workspace))
    found.append(places(tool, facts))
    while "next_cursor" in facts:
        assert len(found) < 40, "there is no last page"
        facts = facts_of(call(tool, {**given, "cursor": facts["next_cursor"]}, workspace))
        found.append(places(tool, facts))
    return found


@pytest.mark.parametrize("tool", EVERY)
def test_pages_follow_each_other_to_the_end(tool: str, workspace: Workspace) -> None:
    """Each place is on one page, and together they are the whole list."""
    found = pages(workspace, tool, EVERY[tool])
    every = [place for page in found for place in page]
    assert len(found) > 2 and all(page for page in found)
    assert len(every) == len(set(every))
    limit = "top_k" if "top_k" in EVERY[tool] else "limit"
    least = {"locate_symbol": 2 * FILES, "find_similar": FILES - 1}.get(tool, FILES)
    assert len(every) >= least
    if tool not in ("search_semantic", "hybrid_search"):
        facts = facts_of(call(tool, {**EVERY[tool], limit: 100}, workspace))
        assert places(tool, facts) == every
        assert "next_cursor" not in facts
        assert facts.get("total_candidates", facts.get("total_matches", len(every))) == len(every)


@pytest.mark.parametrize("tool", OUTLINES)
def test_a_file_with_very_many_definitions_is_told_in_pages(tool: str, workspace: Workspace) -> None:
    """Those of one class, too. Each page fits into an answer, and one that has more after it says so."""
    given: dict[str, Any] = {"path": "docs/brewing.py"}
    found: list[str] = []
    while True:
        facts = facts_of(call(tool, given, workspace))
        assert len(json.dumps(facts)) < 33_000
        names = [row["name"] for item in facts["symbols"] for row in (item, *item.get("children", ()))]
        assert names
        found += names
        told = facts.get("metadata", {}).get("result_completeness", "truncated" if "truncated" in facts else "complete")
        assert (told == "truncated") == ("next_cursor" in facts)
        if "next_cursor" not in facts:
            break
        given["cursor"] = facts["next_cursor"]
    assert found == ["Brewing", *(f"brew_{number}" for number in range(400)), "last_cup"]
    assert len(facts["symbols"]) > 1 and facts["symbols"][0].get("scope") == "Brewing"


@pytest.mark.parametrize("tool", EVERY)
def test_what_a_token_budget_cut_is_on_the_next_page(tool: str, workspace: Workspace) -> None:
    whole = [place for page in pages(workspace, tool, EVERY[tool]) for place in page]
    short = pages(workspace, tool, {**EVERY[tool], "max_tokens": 60})
    assert len(short) > 3
    assert [place for page in short for place in page] == whole


@pytest.mark.parametrize("tool", EVERY)
def test_a_cursor_changes_nothing_where_it_is_absent_and_is_of_one_question(tool: str, workspace: Workspace) -> None:
    first = facts_of(call(tool, EVERY[tool], workspace))
    cursor = first["next_cursor"]
    asked = next(key for key in ("query", "name", "docPath") if key in EVERY[tool])
    other = call(tool, {**EVERY[tool], asked: "another", "cursor": cursor}, workspace)
    assert other.is_error and "`cursor` belongs to another question" in other.text_blocks[0]
    wider = {
        key: value + 1 if isinstance(value, int) and key != "include_references" else value
        for key, value in EVERY[tool].items()
    }
    assert "another question" in call(tool, {**wider, "cursor": cursor}, workspace).text_blocks[0]
    for wrong in ("x", "10", "1-2-3", f"{cursor}0", cursor.upper() + "Z", "-" + cursor):
        refused = call(tool, {**EVERY[tool], "cursor": wrong}, workspace)
        assert refused.is_error and "must be the next_cursor of an answer" in refused.text_blocks[0], wrong
    for wrong in (3, " ", "x" * 101):
        assert "`cursor`" in call(tool, {**EVERY[tool], "cursor": wrong}, workspace).text_blocks[0]
    again = facts_of(call(tool, EVERY[tool], workspace))
    assert places(tool, again) == places(tool, first) and again["next_cursor"] == cursor


@pytest.mark.parametrize("tool", EVERY)
def test_a_cursor_is_stale_once_the_files_are_others(tool: str, tmp_path: Path) -> None:
    own = write_for(tool, tmp_path.resolve())
    with Workspace(own, root=own) as opened:
        opened.engine.index()
        cursor = facts_of(call(tool, EVERY[tool], opened))["next_cursor"]
        changed = own / ("docs/tea_00.md" if tool in OF_DOCUMENTS else "retry_00.py")
        changed.write_text("def send_again():\n    return retry_request()\n", encoding="utf-8")
        opened.engine.sync()
        refused = call(tool, {**EVERY[tool], "cursor": cursor}, opened)
        assert refused.is_error and "`cursor` is stale" in refused.text_blocks[0]
        if TOOLS[tool].family == "code":
            assert refused.structured is not None and refused.structured["error"]["code"] == "cursor_stale"
        fresh = facts_of(call(tool, EVERY[tool], opened))
        assert facts_of(call(tool, {**EVERY[tool], "cursor": fresh["next_cursor"]}, opened))


def test_a_cursor_outlives_the_server(paged: Path) -> None:
    """It holds all that it needs: nothing is kept for it."""
    with Workspace(paged, root=paged) as opened:
        first = facts_of(call("search_code", ASKED["search_code"], opened))
    with Workspace(paged, root=paged) as opened:
        second = facts_of(call("search_code", {**ASKED["search_code"], "cursor": first["next_cursor"]}, opened))
    assert not set(places("search_code", first)) & set(places("search_code", second))


@pytest.mark.parametrize("tool", EVERY)
def test_pages_of_several_roots(tool: str, tmp_path: Path) -> None:
    roots = [tmp_path.resolve() / name for name in ("one", "two")]
    for root in roots:
        root.mkdir()
        write_for(tool, root)
        with Engine.open(root=root) as engine:
            engine.index()
    with Workspace(roots=roots) as opened:
        asked = {"docPath": "two/docs/tea_03.md", "limit": 4} if tool == "find_similar" else EVERY[tool]
        every = [place for page in pages(opened, tool, asked) for place in page]
    assert len(every) == len(set(every))
    assert {path.partition("/")[0] for path, _ in every} == {"one", "two"}


def test_each_page_has_room_for_the_text_of_its_own_definitions(tmp_path: Path) -> None:
    """Six equal functions: the text of those on the second page is as long as of those on the first."""
    root = tmp_path.resolve()
    body = "".join(f"    total = total + {number}  # one more line of the same function\n" for number in range(120))
    for number in range(6):
        (root / f"sums_{number}.py").write_text(f"def add_all(total):\n{body}    return total\n", encoding="utf-8")
    given = {"name": "add_all", "limit": 3, "detail_level": "context"}
    with Workspace(root, root=root) as opened:
        opened.engine.index()
        first = facts_of(call("locate_symbol", given, opened))
        second = facts_of(call("locate_symbol", {**given, "cursor": first["next_cursor"]}, opened))
    assert [item["path"] for item in second["results"]] == [f"sums_{number}.py" for number in (3, 4, 5)]
    assert [item["body"] for item in second["results"]] == [item["body"] for item in first["results"]]
    assert len(second["results"][0]["body"]) > 4_000
    assert "next_cursor" not in second


def test_definitions_and_uses_are_one_list_for_the_engine_too(paged: Path) -> None:
    with Engine.open(root=paged) as engine:
        whole = engine.symbols("retry_request", references=True, limit=100)
        page = engine.symbols("retry_request", references=True, limit=3, offset=FILES - 1)
        assert page.definitions == whole.definitions[-1:] and page.references == whole.references[:3]
        assert page.truncated
        last = engine.symbols("retry_request", references=True, limit=3, offset=FILES + 2)
        assert last.definitions == () and last.references == whole.references[2:5]
        end = engine.symbols("retry_request", references=True, limit=3, offset=FILES + whole.total_references - 2)
        assert end.references == whole.references[-2:] and not end.truncated
        with pytest.raises(InvalidInput, match="offset must be 0 or more"):
            engine.symbols("retry_request", offset=-1)


BY_MEANING = Answer(
    Query("retry"),
    SearchResult(
        "retry",
        (),
        9,
        "natural_language",
        "auto",
        0.9,
        freshness="fresh",
        completeness="complete",
        coverage=Coverage(files=9),
        took_ms=1.0,
    ),
    (),
    intent_confidence=0.7,
    meaning=Meaning(ran=True, ratio=0.5),
    generation="1",
)


@pytest.mark.parametrize(
    ("other", "reranker", "fits"),
    [
        (BY_MEANING, "none", True),
        (replace(BY_MEANING, meaning=Meaning(ran=True, ratio=0.5, note="Some files have no vectors.")), "none", True),
        (replace(BY_MEANING, meaning=Meaning(skipped="slow", failure="It takes too long.")), "none", False),
        (replace(BY_MEANING, meaning=Meaning(ran=True, skipped="failed")), "none", False),
        (replace(BY_MEANING, meaning=Meaning(ran=True, by_words=("shop: no model.",))), "none", False),
        (replace(BY_MEANING, generation="2"), "none", False),
        (BY_MEANING, "local", False),
    ],
)
def test_a_cursor_is_stale_once_the_order_is_made_another_way(other: Answer, reranker: str, fits: bool) -> None:
    given = {"query": "retry", "limit": 4}
    first = budget.with_cursor(
        {"results": [1, 2, 3, 4]},
        "results",
        4,
        budget.page_of("search_code", given),
        Listing(9, budget.made_from(BY_MEANING)),
    )
    page = budget.page_of("search_code", {**given, "cursor": first["next_cursor"]})
    now = Listing(9, budget.made_from(other, reranker))
    if fits:
        budget.check(page, now)
        return
    with pytest.raises(Refusal, match="`cursor` is stale") as refused:
        budget.check(page, now)
    assert refused.value.code == "cursor_stale"


@pytest.mark.parametrize("tool", ["search_code", "hybrid_search", "search_semantic"])
def test_an_embedder_that_fails_for_one_page_is_told(tool: str, paged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise EmbedderUnavailable("It takes too long.", reason="timeout")

    with Workspace(paged, root=paged) as opened:
        cursor = facts_of(call(tool, EVERY[tool], opened))["next_cursor"]
        with monkeypatch.context() as patched:
            patched.setattr(SemanticChannel, "encode", fails)
            second = call(tool, {**EVERY[tool], "cursor": cursor}, opened)
        if tool == "search_semantic":  # without an embedder it has no list at all
            facts = facts_of(second)
            assert (facts["available"], facts["error"]) == (False, "It takes too long.")
        else:
            assert second.is_error and "`cursor` is stale" in second.text_blocks[0]
        assert facts_of(call(tool, {**EVERY[tool], "cursor": cursor}, opened))["results"]


def test_pages_of_results_that_are_ordered_anew(own: Path) -> None:
    """What a reranker ordered is a list of its own: its pages end with it."""
    (own / ".findling").mkdir()
    (own / ".findling" / "config.json").write_text(json.dumps({"semantic": {"mode": "rerank_only"}}), encoding="utf-8")
    with Workspace(own, root=own) as opened:
        opened.engine.index()
        facts = facts_of(call("search_code", ASKED["search_code"], opened))
        assert facts["metadata"]["rerank_provider"] == "local"
        found = pages(opened, "search_code", ASKED["search_code"])
    every = [place for page in found for place in page]
    assert len(found) > 2 and len(every) == len(set(every)) == FILES


def test_the_engine_takes_an_offset(paged: Path) -> None:
    with Engine.open(root=paged) as engine:
        whole = engine.search("how is a request sent again", limit=FILES).hits
        paged_hits = [
            hit
            for offset in range(0, FILES, 5)
            for hit in engine.search("how is a request sent again", limit=5, offset=offset).hits
        ]
    assert [hit.path for hit in paged_hits] == [hit.path for hit in whole]

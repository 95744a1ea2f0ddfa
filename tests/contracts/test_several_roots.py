"""Several roots in one server: paths begin with a root's name, in answers and in arguments."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from findling.config import Config
from findling.config.options import Semantic
from findling.contracts import Workspace, call
from findling.contracts.workspaces import WATCHED, Root, name_roots, split
from findling.engine import freshness, index_jobs
from findling.model.errors import InvalidInput

SHOP: Mapping[str, str] = {
    "src/basket.py": '''\
"""What a customer wants to buy."""


class Basket:
    """Articles and how many of each."""

    def add_article(self, article, count=1):
        """Put an article into the basket."""
        self.articles[article] = self.articles.get(article, 0) + count


def retry_payment(order):
    """Ask the bank again after a failed payment."""
    return order.bank.charge(order)
''',
    "docs/shop.md": """\
# Shop

## Opening hours

The shop is open from nine to five, and closed on Sundays.

## Returns

Articles can be brought back within two weeks.
""",
    "plans/0004-returns/plan.md": "# Returns\n\nHow articles come back to the shop.\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("both").resolve() / "shop"
    for path, text in SHOP.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    with Workspace(root, root=root) as workspace:
        assert workspace.engine.index().complete
    return root


@pytest.fixture(scope="module")
def both(indexed: Path, shop: Path) -> Iterator[Workspace]:
    """The project of the other tests under its folder's name, and the shop."""
    with Workspace(roots=[indexed, shop]) as opened:
        yield opened


@pytest.fixture(scope="module")
def project_name(indexed: Path) -> str:
    return indexed.name


def facts(workspace: Workspace, tool: str, /, **arguments: Any) -> dict[str, Any]:
    result = call(tool, arguments, workspace)
    assert not result.is_error, result.text_blocks
    return result.as_json()


def paths(found: dict[str, Any], key: str = "results", field: str = "path") -> list[str]:
    return [item[field] for item in found[key]]


# --- names -----------------------------------------------------------------------------------------------------


def test_names_are_unique(tmp_path: Path) -> None:
    base = tmp_path.resolve()
    for folder in ("a/docs", "b/docs", "c"):
        (base / folder).mkdir(parents=True)
    named = name_roots([base / "a/docs", base / "b/docs", base / "c", base / "b/../c"])
    assert named == {"a-docs": base / "a/docs", "b-docs": base / "b/docs", "c": base / "c"}


def test_a_root_in_a_root_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    with pytest.raises(InvalidInput, match="lies in the root"):
        Workspace(roots=[tmp_path / "a", tmp_path / "a" / "b"])


def test_one_root_given_twice_is_one(tmp_path: Path) -> None:
    assert not Workspace(roots=[tmp_path, tmp_path]).several
    with pytest.raises(InvalidInput, match="narrows one root"):
        (tmp_path / "a").mkdir()
        (tmp_path / "b").mkdir()
        Workspace(tmp_path, roots=[tmp_path / "a", tmp_path / "b"])


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a/x/y.py", ("a", "x/y.py")),
        ("./a/x", ("a", "x")),
        ("a", ("a", "")),
        ("/srv/b/x", ("b", "x")),
        ("/srv/a/../b/x", ("b", "x")),
    ],
)
def test_paths_are_split_at_the_root(path: str, expected: tuple[str, str]) -> None:
    assert split({"a": Path("/srv/a"), "b": Path("/srv/b")}, path) == expected


# --- searching -------------------------------------------------------------------------------------------------


def test_names_are_found_in_whatever_root(both: Workspace, project_name: str) -> None:
    found = facts(both, "locate_symbol", name="retry")
    assert {path.partition("/")[0] for path in paths(found)} == {project_name, "shop"}
    assert paths(facts(both, "locate_symbol", name="Basket"))[0] == "shop/src/basket.py"
    symbols = facts(both, "find_symbol", name="retry_payment")["symbols"]
    assert [(symbol["path"], symbol["name"]) for symbol in symbols] == [("shop/src/basket.py", "retry_payment")]
    assert symbols[0]["pattern"] == "/^def retry_payment(order):$/", "read from the file"


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("put an article into the basket", "shop/src/basket.py"),
        ("the sum of an invoice with tax", "{project}/src/billing/invoice.py"),
    ],
)
def test_the_root_that_knows_the_answer_comes_first(query: str, path: str, both: Workspace, project_name: str) -> None:
    """Scores of one root are not measured by the best of the other."""
    expected = path.format(project=project_name)
    for name in ("search_code", "hybrid_search", "search_semantic"):
        assert paths(facts(both, name, query=query))[0] == expected, name


def test_counts_are_of_all_roots(both: Workspace, indexed: Path, shop: Path) -> None:
    def counted(root: Path) -> dict[str, Any]:
        with Workspace(root, root=root) as workspace:
            return facts(workspace, "search_keyword", query=r"def \w+")

    together = facts(both, "search_keyword", query=r"def \w+", top_k=50)
    alone = [counted(indexed), counted(shop)]
    for key in ("total_matches", "total_files"):
        assert together[key] == sum(found[key] for found in alone)
    assert len(together["results"]) == together["total_matches"]
    metadata = facts(both, "search_code", query="basket")["metadata"]
    assert (metadata["result_completeness"], metadata["freshness_status"]) == ("complete", "fresh")


def test_what_one_root_lacks_another_has_and_what_all_lack_is_absent(both: Workspace) -> None:
    found = facts(both, "search_code", query="add_article")
    assert found["results"]
    assert "absent" not in found
    assert paths(found)[0].startswith("shop/")
    for tool, argument, results in (("search_code", "query", "results"), ("locate_symbol", "name", "results")):
        found = facts(both, tool, **{argument: "add_artikle"})
        assert found[results] == []
        assert found["absent"][0]["files_searched"] > len(SHOP)
        assert found["nearest"][0]["name"] == "add_article"
        assert found["nearest"][0]["path"].endswith("/src/basket.py")
        assert not found["nearest"][0]["path"].startswith("src/")


def test_search_code_decides_on_the_list_that_it_shows(both: Workspace) -> None:
    found = facts(both, "search_code", query="how is a failed request sent again", limit=3)
    metadata = found["metadata"]
    assert metadata["top_score"] == found["results"][0]["score"]
    assert metadata["score_margin"] == pytest.approx(
        found["results"][0]["score"] - found["results"][1]["score"], abs=2e-6
    )
    outline = next(a for a in found["suggested_next_actions"] if a["tool"] == "get_file_outline")
    assert not call("get_file_outline", outline["arguments"], both).is_error, "what is suggested can be called"


# --- one file --------------------------------------------------------------------------------------------------


def test_files_are_named_by_their_root(both: Workspace, shop: Path) -> None:
    assert facts(both, "get_file", path="shop/src/basket.py", end_line=1) == {
        "path": "shop/src/basket.py",
        "content": '"""What a customer wants to buy."""\n',
        "untrusted": ["content", "path"],
    }
    assert facts(both, "get_file", path=str(shop / "src/basket.py"), end_line=1)["path"] == "shop/src/basket.py"
    assert facts(both, "get_file_outline", path="shop/src/basket.py")["file_path"] == "shop/src/basket.py"
    listed = facts(both, "list_defs_in_file", path="shop/src/basket.py")
    assert listed["path"] == "shop/src/basket.py"
    assert set(paths(listed, "symbols")) == {"shop/src/basket.py"}


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("src/basket.py", "must begin with the name of a root"),
        ("shop/src/nothing.py", "file not found: shop/src/nothing.py"),
        ("shop", "path is a directory: shop"),
        ("shop/../../etc/passwd", "outside of the root"),
        ("/etc/passwd", "must begin with the name of a root"),
    ],
)
def test_other_paths_are_refused_as_they_were_given(path: str, said: str, both: Workspace) -> None:
    result = call("get_file", {"path": path}, both)
    assert result.is_error
    assert said in result.text_blocks[0]


def test_a_short_path_is_told_whole(indexed: Path, tmp_path: Path) -> None:
    (tmp_path / "A").mkdir()
    with Workspace(roots=[tmp_path / "A", indexed]) as opened:
        result = call("get_file", {"path": "A/f"}, opened)
    assert (result.is_error, result.text_blocks) == (True, ["file not found: A/f"])


# --- roots that cannot answer ----------------------------------------------------------------------------------


def _broken(folder: Path, how: str) -> Path:
    """A root called B that is not there, has meaning switched off, is configured wrongly, or a later version's."""
    root = folder.resolve() / "B"
    if how == "later":
        (root / "docs").mkdir(parents=True)
        with Workspace(root, root=root) as workspace:
            workspace.engine.index()
            database = workspace.engine.store_dir / "index.db"
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute("PRAGMA user_version=999")
    elif how != "down":
        (root / "docs").mkdir(parents=True)
        (root / "docs" / "b.md").write_text("# Opening\n\nThe museum is open when the shop is.\n")
        (root / "findling.toml").write_text("[semantic]\nenabled = " + ("false\n" if how == "disabled" else "[1]\n"))
    return root


JOINTLY: Mapping[str, Mapping[str, Any]] = {
    "search_code": {"query": "ask the bank again after a failed payment"},
    "locate_symbol": {"name": "retry_payment"},
    "search_semantic": {"query": "ask the bank again"},
    "hybrid_search": {"query": "retry_payment"},
    "search_keyword": {"query": "retry_pay"},
    "find_symbol": {"name": "retry_payment"},
}
"""Tools that search all roots as one."""


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("how", ["down", "disabled", "misconfigured", "later"])
def test_a_root_that_cannot_answer_costs_itself_and_is_named(how: str, first: bool, shop: Path, tmp_path: Path) -> None:
    broken = _broken(tmp_path, how)
    with Workspace(roots=[broken, shop] if first else [shop, broken]) as opened:
        found = facts(opened, "semantic_search", query="when is the shop open", threshold=0.1)
        assert "error" not in found and "message" not in found
        by_meaning = [each["docPath"] for each in found["results"] if each.get("used_semantic", True)]
        assert {path.partition("/")[0] for path in by_meaning} == {"shop"}
        by_words = {path.partition("/")[0] for path in paths(found, field="docPath")} - {"shop"}
        assert by_words == ({"B"} if how == "disabled" else set())
        about_words = ["Whe"] if how == "disabled" else []
        assert [note[:3] for note in found["notes"]] == ["B: ", *about_words]
        assert (found["meta"]["used_semantic"], found["meta"]["result_completeness"]) == (True, "partial")
        assert found["meta"]["best_similarity"] == found["results"][0]["similarity"]
        assert facts(opened, "get_file", path="shop/docs/shop.md", end_line=1)["content"] == "# Shop\n"
        if how == "disabled":
            return  # all else is answered
        for tool, arguments in JOINTLY.items():
            found = facts(opened, tool, **arguments)
            assert "shop/" in json.dumps(found), tool
            if (tool, how) == ("search_keyword", "later"):
                assert "notes" not in found
                continue  # text is searched without an index
            assert [note[:3] for note in found["notes"]] == ["B: "], tool
            if "metadata" in found:
                told = found["metadata"]
                assert (told["indexing_status"], told["result_completeness"]) == ("failed", "partial")
        passages = call("search_documents", {"query": "opening hours", "options": {"minScore": 0}}, opened)
        found = json.loads(passages.text_blocks[1])
        assert found["results"] and found["notes"]
        for tool in ("query_docs", "search_docs"):
            found = facts(opened, tool, query="opening hours")
            assert "shop/docs/shop.md" in json.dumps(found)
            assert [note[:3] for note in found["notes"]] == ["B: "]
        status = facts(opened, "index_status")
        assert (status["index_status"], status["metadata"]["indexing_status"]) == ("failed", "failed")
        told = {project["root"] for project in status["projects"]}
        if how == "later":  # of that one there is a status
            assert (told, status["schema_status"]) == ({"shop", "B"}, "reindex_required")
        else:
            assert (told, [note[:3] for note in status["notes"]]) == ({"shop"}, ["B: "])
        assert facts(opened, "health_check")["status"] == "error"


@pytest.mark.parametrize("how", ["down", "misconfigured"])
def test_a_root_that_was_repaired_is_searched_and_no_longer_named(how: str, shop: Path, tmp_path: Path) -> None:
    broken = _broken(tmp_path, how)
    with Workspace(roots=[shop, broken]) as opened:
        assert [note[:3] for note in facts(opened, "search_code", query="opening hours")["notes"]] == ["B: "]
        assert set(opened.problems) == {"B"}
        broken.mkdir(exist_ok=True)
        (broken / "findling.toml").unlink(missing_ok=True)
        (broken / "hours.md").write_text("# Opening\n\nThe museum is open when the shop is.\n")
        found = facts(opened, "search_code", query="when is the museum open")
        assert "B/hours.md" in json.dumps(found["results"])
        assert "notes" not in found and not opened.problems
        assert found["metadata"]["indexing_status"] != "failed"
        assert "notes" not in facts(opened, "hybrid_search", query="museum")


def test_where_no_root_can_answer_the_call_fails(tmp_path: Path) -> None:
    with Workspace(roots=[tmp_path / "x" / "A", tmp_path / "x" / "B"]) as opened:
        result = call("search_code", {"query": "anything"}, opened)
        assert result.as_json()["error"]["code"] == "project_not_found"
        assert call("search_keyword", {"query": "anything"}, opened).is_error
    roots = [_broken(tmp_path / how, how) for how in ("disabled", "misconfigured")]
    with Workspace(roots=roots) as opened:
        result = call("semantic_search", {"query": "when is the shop open"}, opened)
    assert result.is_error
    assert result.as_json()["error"] == "semantic_disabled"
    assert len(result.as_json()["notes"]) == 1


def test_a_root_whose_model_does_not_answer_is_asked_by_words_and_that_is_said(shop: Path, tmp_path: Path) -> None:
    other = tmp_path.resolve() / "museum"
    other.mkdir()
    (other / "hours.md").write_text("# Opening\n\nThe museum is open when the shop is.\n")
    (other / "findling.toml").write_text(
        '[embedding]\nprovider = "ollama"\n[semantic]\nollama_url = "http://127.0.0.1:1"\n'
    )
    for roots in ([shop, other], [other, shop]):
        with Workspace(roots=roots) as opened:
            found = facts(opened, "semantic_search", query="when is the shop open", threshold=0.1)
            assert paths(found, field="docPath")[0] == "shop/docs/shop.md"
            assert paths(found, field="docPath")[-1] == "museum/hours.md", "after what meaning found"
            assert (found["meta"]["used_semantic"], found["meta"]["result_completeness"]) == (True, "partial")
            words, threshold = found["notes"]
            assert words.startswith("museum: searched by words, not by meaning: ") and "no threshold" in threshold
            found = facts(opened, "search_semantic", query="when is the shop open")
            assert {path.partition("/")[0] for path in paths(found)} == {"shop"}
            assert [note.partition(": C")[0] for note in found["notes"]] == ["museum: not searched"]
            assert found["result_completeness"] == "partial"
            found = facts(opened, "find_similar", docPath="shop/docs/shop.md")
            assert found["notes"][0].startswith("museum: not compared: ") and "not_searched" not in found
            assert {path.partition("/")[0] for path in paths(found, "similar", "docPath")} == {"shop"}
            silent = call("find_similar", {"docPath": "museum/hours.md"}, opened).as_json()
            assert (silent["error"], silent["similar"]) == ("ollama_unavailable", [])
            assert "notes" not in silent, "of the question before"
            found = facts(opened, "search_code", query="when is the museum open")
            assert "museum/hours.md" in paths(found)
            assert any(said.startswith("museum: searched by words") for said in found["metadata"]["warnings"])


# --- documents -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["semantic_search", "find_similar", "reindex_vectors"])
def test_what_is_switched_off_in_all_roots_is_told_as_of_one(tool: str, indexed: Path, shop: Path) -> None:
    """S0-28, S1-2: nothing else."""
    given = {"semantic_search": {"query": "shop"}, "find_similar": {"docPath": "shop/docs/shop.md"}}.get(tool, {})
    config = Config(semantic=Semantic(enabled=False))
    with Workspace(roots=[indexed, shop], config=config) as opened:
        assert call(tool, given, opened).structured == {
            "error": "semantic_disabled",
            "message": "Semantic search is disabled. Set semantic.enabled: true in config.",
        }


def test_documents_of_all_roots(both: Workspace, project_name: str) -> None:
    found = facts(both, "semantic_search", query="when is the shop open", threshold=0.1, limit=3)
    assert found["results"][0]["docPath"] == "shop/docs/shop.md"
    similarities = [result["similarity"] for result in found["results"]]
    assert similarities == sorted(similarities, reverse=True)
    assert found["meta"]["best_similarity"] == similarities[0]
    assert facts(both, "query_docs", query="When is the shop closed?")["sources"][0]["path"] == "shop/docs/shop.md"
    assert f"{project_name}/docs/guide.md" in paths(facts(both, "search_docs", query="network"), field="p")


def test_a_root_that_is_not_indexed_yet_is_scanned_beside_one_that_is(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tools answer from both: from one index, and from what is read of the other root for the question."""
    monkeypatch.setattr(freshness, "FEW_FILES", 0)
    for module in ("code_search", "docs_scope"):
        monkeypatch.setattr(f"findling.contracts.{module}.WAIT_S", 1.0)
    (tmp_path / "new").mkdir()
    (tmp_path / "new/tea.md").write_text("# Tea\n\nWater boils for the articles.\n")
    with Workspace(roots=[tmp_path / "new", shop]) as opened:
        for tool in ("search_code", "search_keyword", "search_docs", "query_docs"):
            found = json.dumps(facts(opened, tool, query="articles"))
            assert "shop/" in found and "new/tea.md" in found, tool
            assert opened.roots[0].engine.status().indexing_status == "not_indexed", tool


def test_a_defect_in_the_background_costs_one_root_and_is_logged(
    indexed: Path, shop: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with Workspace(roots=[indexed, shop]) as opened:
        monkeypatch.setattr(opened.roots[0], "_open_engine", lambda: 1 / 0)
        opened.watch()
        assert opened.roots[0].watched is None
        assert opened.roots[1].watched is not None
        assert "watch failed for" in caplog.text


def test_a_path_prefix_names_the_root(both: Workspace, project_name: str) -> None:
    everywhere = facts(both, "search_docs", query="the", limit=100)
    for prefix in ("shop", "shop/", "shop/docs", "sho"):
        found = paths(facts(both, "search_docs", query="the", pathPrefix=prefix), field="p")
        assert found
        assert all(path.startswith("shop/") for path in found)
    assert len(everywhere["results"]) > 1
    scoped = facts(both, "query_docs", query="Returns", scope={"pathPrefix": f"{project_name}/docs"})
    assert all(source["path"].startswith(f"{project_name}/docs/") for source in scoped["sources"])
    assert call("search_docs", {"query": "the", "pathPrefix": "nowhere/docs"}, both).is_error


def test_plans_are_those_of_every_root(both: Workspace) -> None:
    found = facts(both, "search_docs", query="articles", planId="4")
    assert paths(found, field="p") == ["shop/plans/0004-returns/plan.md"]


def test_what_is_like_a_document_in_whatever_root(both: Workspace, project_name: str, shop: Path) -> None:
    found = facts(both, "find_similar", docPath="shop/docs/shop.md")
    similar = paths(found, "similar", "docPath")
    assert similar[0] == "shop/plans/0004-returns/plan.md"
    assert f"{project_name}/docs/guide.md" in similar and "shop/docs/shop.md" not in similar
    assert facts(both, "find_similar", docPath=str(shop / "docs/shop.md"))["similar"] == found["similar"]
    code = facts(both, "find_similar", docPath="shop/src/basket.py:14", limit=9)
    assert f"{project_name}/src/http/client.py" in paths(code, "similar", "docPath")
    for path, message in (
        ("shop/docs/none.md", "shop/docs/none.md is not in the index."),
        ("shop/../../x.md", "path is outside of the root: shop/../../x.md"),
        ("shop", "path is a directory: shop"),
    ):
        assert call("find_similar", {"docPath": path}, both).as_json()["message"] == message


def test_the_library_has_absolute_paths(both: Workspace, shop: Path) -> None:
    result = call("search_documents", {"query": "when is the shop open", "options": {"minScore": 0.1}}, both)
    first = json.loads(result.text_blocks[1])["results"][0]
    assert (first["filePath"], first["collection"]) == (str(shop / "docs" / "shop.md"), "shop")


# --- indexes ---------------------------------------------------------------------------------------------------


def test_the_status_is_of_all_and_of_each(both: Workspace, indexed: Path, shop: Path) -> None:
    status = facts(both, "index_status")
    assert status["index_status"] == "ready"
    assert [project["repo_root"] for project in status["projects"]] == [str(indexed), str(shop)]
    for key in ("file_count", "symbol_count", "chunk_count", "embedded_count"):
        assert status[key] == sum(project[key] for project in status["projects"]) > 0
    health = facts(both, "health_check")
    assert (health["status"], len(health["projects"])) == ("ready", 2)


def test_one_root_that_is_not_indexed_is_told(indexed: Path, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "a.py").write_text("def brand_new():\n    pass\n")
    with Workspace(roots=[indexed, tmp_path / "new"]) as workspace:
        status = facts(workspace, "index_status")
        assert (status["index_status"], status["metadata"]["indexing_status"]) == ("not_indexed", "not_indexed")
        assert "last_indexed_at" not in status
        jobs = facts(workspace, "index_repo")["jobs"]
        assert [job["root"] for job in jobs] == [indexed.name, "new"]
        workspace.finish()
        assert facts(workspace, "index_status")["index_status"] == "ready"
        assert paths(facts(workspace, "locate_symbol", name="brand_new")) == ["new/a.py"]


# --- transports ------------------------------------------------------------------------------------------------


def test_the_command_line_and_the_server_take_several_roots(indexed: Path, shop: Path, both: Workspace) -> None:
    arguments = {"name": "retry", "limit": 5}
    expected = facts(both, "find_symbol", **arguments)
    roots = ["--root", str(indexed), "--root", str(shop)]
    command = [sys.executable, "-m", "findling"]
    typed = subprocess.run(
        [*command, "tool", "find_symbol", json.dumps(arguments), *roots],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert json.loads(typed.stdout) == expected

    async def ask() -> Any:
        server = StdioServerParameters(
            command=command[0],
            args=[*command[1:], "serve", *roots],
            env={"FINDLING_DATA_DIR": os.environ["FINDLING_DATA_DIR"]},
        )
        async with Client(server, mode="legacy") as client:
            return (await client.call_tool("find_symbol", arguments)).structured_content

    assert asyncio.run(ask()) == expected


def test_a_root_that_is_missing_is_said_at_the_start(indexed: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "findling", "serve", "--root", str(indexed), "--root", "/no/such/folder"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "/no/such/folder" in ran.stderr


def _is_open(root: Root) -> bool:
    return root.engine.store._reader is not None


def test_many_roots_are_neither_all_watched_nor_kept_open(tmp_path: Path) -> None:
    roots = [tmp_path.resolve() / f"root_{number}" for number in range(WATCHED + 3)]
    for root in roots:
        root.mkdir()
        (root / "needle.py").write_text("def needle():\n    return 1\n")
    with Workspace(roots=roots, background=True) as workspace:
        workspace.watch()
        assert [root.watched is not None for root in workspace.roots] == [True] * WATCHED + [False] * 3
        assert facts(workspace, "search_code", query="needle")["total_candidates"] == len(roots)
        assert _is_open(workspace.roots[-1])
        workspace.rest_unwatched()
        assert [_is_open(root) for root in workspace.roots] == [True] * WATCHED + [False] * 3
        (roots[-1] / "needle.py").write_text("def thread():\n    return 1\n")
        assert paths(facts(workspace, "search_code", query="thread"))[0] == f"{roots[-1].name}/needle.py"


def test_jobs_of_several_roots_take_turns(tmp_path: Path) -> None:
    roots = [tmp_path.resolve() / name for name in ("one", "two")]
    for root in roots:
        root.mkdir()
        (root / "needle.py").write_text("def needle():\n    return 1\n")
    with Workspace(roots=roots) as workspace:
        one, two = (root.jobs for root in workspace.roots)
        with index_jobs._turn:
            one.start("full", force=False, ref="live")
            two.start("full", force=False, ref="live")
            two.stop()
            assert one.active is not None
            assert two.active is None
        one.wait()
        assert [root.engine.store.exists for root in workspace.roots] == [True, False]

"""The docs family on real documents: which are asked, what comes back, in which order, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from findling.config import Config
from findling.config.options import Semantic
from findling.contracts import Workspace, call
from findling.model.reading import ChunkRow
from findling.model.rows import FileRow
from findling.search.documents import answered_by
from findling.search.extract import Excerpt
from findling.search.passages import Passage
from tests.reading import office

DOCUMENTS: Mapping[str, str] = {
    "README.md": "# Porter\n\nPorter carries parcels between warehouses. Start with the guide.\n",
    "docs/guide/install.md": """\
---
title: Installing Porter
tags: [setup, Linux]
---

# Installing

Install the package with pip:

```console
pip install porter
```

## Proxy

Behind a proxy set the environment variable `PORTER_PROXY` to its address before you start.
""",
    "docs/guide/retries.md": """\
---
tags:
  - network
  - "#Setup"
---

# When the network is down

A parcel whose delivery fails is delivered again after a growing pause: one second, two, four.
After five attempts Porter gives up and puts the parcel into the dead letter queue.

## Giving up

To change how often it is tried, set `delivery.max-attempts` in `porter.toml`.
""",
    "docs/guide-old.md": "# Old guide\n\nThe network was checked by hand.\n",
    "docs/cooking.md": """\
+++
title = "Soup"
tags = ["kitchen"]
+++

# Soup

Boil the carrots with salt until they are soft, then stir in the cream.
""",
    "plans/0004-dead-letters/plan.md": """\
---
tags: plans, queue
status: open
---

# Plan 4: dead letter queue

Parcels that could not be delivered wait in the dead letter queue until a person looks at them.
""",
    "plans/0004-dead-letters/agents/000_store.md": "# Agent 0\n\nStores the parcels of the dead letter queue.\n",
    "plans/0004-dead-letters/agents/001_view.md": "# Agent 1\n\nShows the parcels of the dead letter queue.\n",
    "plans/0042-labels/plan.md": "# Plan 42: labels\n\nPrint labels with the dead letter queue's number.\n",
    "plans/9-short/a.md": "# Nine\n\nzebra\n",
    "plans/10-short/a.md": "# Ten\n\nzebra\n",
    "src/delivery.py": '''\
"""Delivers parcels over the network and tries again after a pause when the delivery fails."""


def deliver_again(parcel, attempts=5):
    """Deliver a parcel again after a failure, with a growing pause between the attempts."""
    return parcel
''',
}


def write(root: Path, documents: Mapping[str, str]) -> Path:
    for path, text in documents.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("porter").resolve(), DOCUMENTS)


@pytest.fixture(scope="module")
def porter(root: Path) -> Iterator[Workspace]:
    with Workspace(root, root=root) as workspace:
        assert workspace.engine.index().complete
        yield workspace


def ask(workspace: Workspace, name: str, **arguments: Any) -> dict[str, Any]:
    result = call(name, arguments, workspace)
    assert not result.is_error, result.structured
    assert result.structured is not None
    return result.structured


def refusal(workspace: Workspace, name: str, **arguments: Any) -> dict[str, Any]:
    result = call(name, arguments, workspace)
    assert result.is_error
    assert result.structured is not None
    assert set(result.structured) >= {"error", "message"}
    return result.structured


def paths(results: list[dict[str, Any]]) -> list[str]:
    return [result.get("docPath") or result.get("path") or result["p"] for result in results]


# --- semantic_search ---------------------------------------------------------------------------------------------


def test_passages_come_back_with_what_the_contract_names(porter: Workspace, root: Path) -> None:
    """S0-1, S0-6, S0-7, S1-17, D19: text verbatim, heading, lines, similarity in order."""
    answer = ask(porter, "semantic_search", query="a delivery fails because the network is down", threshold=0.1)
    first = answer["results"][0]
    assert first["docPath"] == "docs/guide/retries.md"
    assert first["header"] == "When the network is down"
    assert "Giving up" in {result.get("header") for result in answer["results"]}, "the nearest heading, not the first"
    start, end = first["lineRange"]
    lines = (root / first["docPath"]).read_text(encoding="utf-8").split("\n")
    assert "\n".join(lines[start - 1 : end]).strip() == first["chunkText"].strip()
    similarities = [result["similarity"] for result in answer["results"]]
    assert similarities == sorted(similarities, reverse=True)
    assert all(0 <= similarity <= 1 for similarity in similarities)
    assert answer["meta"]["used_semantic"] is True
    assert answer["meta"]["query_latency_ms"] >= 0
    assert answer["meta"]["best_similarity"] == similarities[0]
    assert not any(path.endswith(".py") for path in paths(answer["results"]))


def test_the_threshold_cuts_by_similarity_and_says_what_it_cut(porter: Workspace, root: Path) -> None:
    """S0-3, S0-23, D4: the configured one unless given, else 0.7; what is below is counted, so that an empty answer
    explains itself."""
    query = "a delivery fails because the network is down"
    everything = ask(porter, "semantic_search", query=query, threshold=0, limit=100)
    default = ask(porter, "semantic_search", query=query, limit=100)
    assert everything["meta"]["best_similarity"] == everything["results"][0]["similarity"]
    assert default["results"] == [found for found in everything["results"] if found["similarity"] >= 0.7]
    assert 0 < len(default["results"]) < len(everything["results"])
    assert everything["meta"]["below_threshold_count"] == 0
    assert default["meta"]["below_threshold_count"] == len(everything["results"]) - len(default["results"])
    nothing = ask(porter, "semantic_search", query=query, threshold=1)
    assert nothing["results"] == []
    assert nothing["meta"]["best_similarity"] == default["meta"]["best_similarity"]
    with Workspace(root, root=root, config=Config(semantic=Semantic(similarity_threshold=0.3))) as configured:
        lower = ask(configured, "semantic_search", query=query, limit=100)["results"]
        assert lower == [found for found in everything["results"] if found["similarity"] >= 0.3]
        assert len(default["results"]) < len(lower) < len(everything["results"])
        listed = call("search_documents", {"query": query}, configured).text_blocks[1]
        assert json.loads(listed)["options"]["minScore"] == 0.3


def test_limit_is_ten_unless_given(porter: Workspace, tmp_path: Path) -> None:
    """S0-2."""
    write(tmp_path, {f"n{number}.md": f"# Note {number}\n\nParcels are late.\n" for number in range(14)})
    with Workspace(tmp_path, root=tmp_path) as workspace:
        assert len(ask(workspace, "semantic_search", query="late parcels", threshold=0)["results"]) == 10
        assert len(ask(workspace, "semantic_search", query="late parcels", threshold=0, top_k=3)["results"]) == 3


@pytest.mark.parametrize("plan", ["4", "04", "0004", "0004-dead-letters", "0004-any-name"])
def test_a_plan_is_its_number(porter: Workspace, plan: str) -> None:
    """S0-4: and no other plan whose number begins alike."""
    answer = ask(porter, "semantic_search", query="dead letter queue", threshold=0, planId=plan)
    assert answer["results"]
    assert all(path.startswith("plans/0004-dead-letters/") for path in paths(answer["results"]))


@pytest.mark.parametrize(
    ("prefix", "inside"),
    [
        ("docs/guide", ["docs/guide/install.md", "docs/guide/retries.md"]),
        ("docs/guide/", ["docs/guide/install.md", "docs/guide/retries.md"]),
        ("./docs//guide", ["docs/guide/install.md", "docs/guide/retries.md"]),
        ("docs/gui", ["docs/guide-old.md", "docs/guide/install.md", "docs/guide/retries.md"]),
        ("docs/cooking.md", ["docs/cooking.md"]),
        ("nowhere", []),
    ],
)
def test_a_prefix_is_a_folder_or_the_beginning_of_a_name(porter: Workspace, prefix: str, inside: list[str]) -> None:
    """S0-5."""
    answer = ask(porter, "semantic_search", query="carrots and cream", threshold=0, limit=100, pathPrefix=prefix)
    assert sorted(set(paths(answer["results"]))) == inside


@pytest.mark.parametrize("prefix", ["../elsewhere", "/etc", "docs/../../x"])
@pytest.mark.parametrize("tool", ["semantic_search", "search_docs", "reindex_vectors"])
def test_a_prefix_stays_inside_the_root(porter: Workspace, tool: str, prefix: str) -> None:
    arguments = {"pathPrefix": prefix} | ({} if tool == "reindex_vectors" else {"query": "parcel"})
    answer = refusal(porter, tool, **arguments)
    assert answer["error"] == "invalid_input"
    assert "pathPrefix" in answer["message"]


def test_an_absolute_prefix_inside_the_root_is_the_same(porter: Workspace, root: Path) -> None:
    relative = ask(porter, "search_docs", query="parcel", pathPrefix="docs")
    assert ask(porter, "search_docs", query="parcel", path=str(root / "docs")) == relative


def test_a_scope_is_searched_however_many_others_are_nearer(tmp_path: Path) -> None:
    """The filter acts inside retrieval: two thousand nearer passages elsewhere leave the scope its own."""
    section = "## Delivery {0}\n\nA parcel is delivered by van number {0}.\n\n"
    many = "".join(section.format(number) for number in range(400))
    write(tmp_path, {f"many/n{number}.md": many for number in range(5)})
    write(tmp_path, {"plans/0007-rare/plan.md": "# Rare\n\nSoup is delivered as well, but cold.\n"})
    with Workspace(tmp_path, root=tmp_path) as workspace:
        workspace.engine.index()
        query = "which van delivers a parcel"
        answer = ask(workspace, "semantic_search", query=query, planId="7", threshold=0)
        assert paths(answer["results"]) == ["plans/0007-rare/plan.md"]
        assert paths(ask(workspace, "search_docs", query="delivered", planId="7")["results"])
        assert ask(workspace, "query_docs", query=query, scope={"planId": "7"})["sources"]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"query": "  "},
        {"query": "x", "limit": 0},
        {"query": "x", "limit": 101},
        {"query": "x", "threshold": 1.5},
        {"query": "x", "threshold": "0.5"},
        {"query": "x", "unknown": 1},
        {"query": "x", "planId": ""},
    ],
)
def test_wrong_arguments_are_refused(porter: Workspace, arguments: dict[str, Any]) -> None:
    assert refusal(porter, "semantic_search", **arguments)["error"] == "invalid_input"


def test_a_query_of_unknown_words_is_an_empty_answer(porter: Workspace) -> None:
    answer = ask(porter, "semantic_search", query="?!", threshold=0)
    assert answer["results"] == []
    assert answer["meta"]["best_similarity"] == 0


# --- find_similar ------------------------------------------------------------------------------------------------


def test_what_is_like_a_document_is_never_itself(porter: Workspace, root: Path) -> None:
    """S0-8."""
    answer = ask(porter, "find_similar", docPath="plans/0004-dead-letters/plan.md")
    assert len(answer["similar"]) == 5
    assert "plans/0004-dead-letters/plan.md" not in paths(answer["similar"])
    agents = {"plans/0004-dead-letters/agents/000_store.md", "plans/0004-dead-letters/agents/001_view.md"}
    assert agents <= set(paths(answer["similar"])[:3])
    for item in answer["similar"]:
        assert item["preview"] == (root / item["docPath"]).read_text(encoding="utf-8")[:200]
        assert 0 <= item["similarity"] <= 1
        assert not item["docPath"].endswith(".py")
    similarities = [item["similarity"] for item in answer["similar"]]
    assert similarities == sorted(similarities, reverse=True)


def test_a_copy_is_found_and_the_document_itself_is_not(tmp_path: Path) -> None:
    soup = DOCUMENTS["docs/cooking.md"]
    write(tmp_path, {"a.md": soup, "b.md": soup, "c.md": "# Chess\n\nMove the queen.\n"})
    with Workspace(tmp_path, root=tmp_path) as workspace:
        assert paths(ask(workspace, "find_similar", docPath="a.md", limit=1)["similar"]) == ["b.md"]
        assert paths(ask(workspace, "find_similar", docPath="./b.md", limit=1)["similar"]) == ["a.md"]


def test_a_place_and_a_source_file_can_be_asked_for(porter: Workspace) -> None:
    at = ask(porter, "find_similar", docPath="docs/guide/retries.md:9", limit=3)
    assert "docs/guide/retries.md" not in paths(at["similar"])
    code = ask(porter, "find_similar", docPath="src/delivery.py", limit=1)
    assert paths(code["similar"]) == ["docs/guide/retries.md"]


@pytest.mark.parametrize("path", ["docs/nothing.md", "docs", "docs/guide/retries.md.bak"])
def test_a_document_that_is_not_there_is_named(porter: Workspace, path: str) -> None:
    answer = refusal(porter, "find_similar", docPath=path)
    assert answer["error"] == "not_found"
    assert path in answer["message"]


def test_places_outside_of_the_file_or_the_root_are_refused(porter: Workspace) -> None:
    assert refusal(porter, "find_similar", docPath="docs/cooking.md:900")["error"] == "invalid_input"
    assert refusal(porter, "find_similar", docPath="../../etc/passwd")["error"] == "invalid_input"


# --- query_docs --------------------------------------------------------------------------------------------------


def test_an_answer_is_taken_from_the_right_passage(porter: Workspace) -> None:
    """S0-12, S0-13, S0-15: a short answer in the documents' words, with its sources."""
    answer = ask(porter, "query_docs", query="how many attempts are made before a parcel is given up")
    assert "After five attempts Porter gives up" in answer["answer"]
    assert answer["sources"][0]["path"] == "docs/guide/retries.md"
    assert len(answer["answer"]) <= 1200
    assert answer["meta"]["used_semantic"] is True
    assert "fallback_reason" not in answer["meta"]
    for source in answer["sources"]:
        assert 0 < len(source["snippet"]) <= 200
        assert source["snippet"].removesuffix("...").rstrip()[:60] in answer["answer"]


def test_an_answer_comes_from_what_text_finds_and_from_what_meaning_finds(porter: Workspace) -> None:
    """S1-22: one question shares no word with its passage, the other asks for a name that means nothing."""
    by_meaning = "simmering vegetables"
    found = paths(ask(porter, "query_docs", query=by_meaning)["sources"])
    assert found[0] == "docs/cooking.md"
    assert paths(ask(porter, "query_docs", query=by_meaning, preferSemantic=False)["sources"]) == []
    by_text = ask(porter, "query_docs", query="what is PORTER_PROXY")
    assert by_text["sources"][0]["path"] == "docs/guide/install.md"
    assert by_text["meta"]["used_semantic"] is True


def test_the_confidence_is_of_the_passage_that_answers() -> None:
    def passage(path: str, start: int, end: int) -> Passage:
        file = FileRow(1, 1, path, "markdown", "docs", 1, end, False, 1, 1)
        return Passage(file, 0, ChunkRow(start, end, 0, 1, "prose", -1, ()), 1.0)

    found = [passage("a.md", 1, 9), passage("b.md", 1, 9), passage("b.md", 10, 20)]
    assert answered_by(found, [Excerpt("b.md", "", 12, 13, "text", 1.0)]) is found[2]
    assert answered_by(found, [Excerpt("b.md", "", 12, 13, "", 1.0), Excerpt("a.md", "", 3, 3, "", 0.5)]) is found[0]


def test_what_a_paragraph_introduces_comes_with_it(porter: Workspace) -> None:
    answer = ask(porter, "query_docs", query="how do I install the package")
    assert "Install the package with pip:\n```console\npip install porter\n```" in answer["answer"]


@pytest.mark.parametrize(
    ("scope", "inside"),
    [
        ({"tags": ["setup"]}, {"docs/guide/install.md", "docs/guide/retries.md"}),
        ({"tags": ["#setup", "LINUX"]}, {"docs/guide/install.md"}),
        ({"tags": ["kitchen"]}, {"docs/cooking.md"}),
        ({"tags": ["queue", "plans"]}, {"plans/0004-dead-letters/plan.md"}),
        ({"tags": ["setup", "kitchen"]}, set()),
        ({"planId": "42"}, {"plans/0042-labels/plan.md"}),
        ({"pathPrefix": "docs/", "tags": ["network"]}, {"docs/guide/retries.md"}),
    ],
)
@pytest.mark.parametrize("by_meaning", [True, False])
def test_a_scope_holds_for_answers(
    porter: Workspace, scope: dict[str, Any], inside: set[str], by_meaning: bool
) -> None:
    """S1-21: YAML lists, TOML lists and comma strings; all tags must match; ``#`` and case do not count."""
    answer = ask(
        porter, "query_docs", query="parcel network soup install print", scope=scope, preferSemantic=by_meaning
    )
    assert set(paths(answer["sources"])) <= inside
    assert bool(answer["sources"]) == bool(inside)
    if not inside:
        assert answer["answer"].startswith("No results found for query:")


def test_text_alone_answers_when_it_is_preferred(porter: Workspace) -> None:
    """S0-14: that is a choice, not a fallback."""
    answer = ask(porter, "query_docs", query="dead letter queue", preferSemantic=False)
    assert answer["meta"]["used_semantic"] is False
    assert "fallback_reason" not in answer["meta"]
    assert answer["sources"]


def test_what_the_documents_do_not_know_is_said(porter: Workspace) -> None:
    known = ask(porter, "query_docs", query="what happens when the network is down")["meta"]
    unknown = ask(porter, "query_docs", query="quarterly revenue of the marketing department")["meta"]
    assert unknown["low_confidence"] and not known["low_confidence"]
    assert unknown["confidence"] < known["confidence"]


@pytest.mark.parametrize(
    ("query", "kind", "nearest"),
    [
        ("ParcelQueueManager", "symbol", []),
        ("src/delivrey.py", "path", ["src/delivery.py"]),
        ('"parcels sleep in the cellar"', "text", []),
    ],
)
def test_what_occurs_in_no_file_is_a_fact_in_every_tool_of_documents(
    porter: Workspace, query: str, kind: str, nearest: list[str]
) -> None:
    answer = ask(porter, "query_docs", query=query)
    assert answer["sources"] == []
    assert "does not occur in the" in answer["answer"]
    assert answer["meta"]["confidence"] == 0.0
    for found in (answer, ask(porter, "semantic_search", query=query), ask(porter, "search_docs", query=query)):
        assert [(each["kind"], each["text"]) for each in found["absent"]] == [(kind, query.strip('"'))]
        assert [each["path"] for each in found["nearest"]][:1] == nearest
    assert "absent" not in ask(porter, "query_docs", query="deliver_again")


def test_an_answer_is_taken_from_the_page_in_english_not_from_its_translations(tmp_path: Path) -> None:
    page = "# Kennels `Kennel.open`\n\nCall `Kennel.open(door=True)` {what}.\n"
    pages = {f"docs/{code}/kennels.md": page.format(what=what) for code, what in (("en", "first"), ("de", "zuerst"))}
    with Workspace(write(tmp_path, pages), root=tmp_path) as workspace:
        workspace.engine.index()
        found = ask(workspace, "query_docs", query="Kennel.open door=True")
        assert {source["path"] for source in found["sources"]} == {"docs/en/kennels.md"}


@pytest.mark.parametrize("by_meaning", [True, False])
def test_translations_stand_under_the_page_in_english(tmp_path: Path, by_meaning: bool) -> None:
    page = "# Kennels `Kennel.open`\n\nCall `Kennel.open(door=True)` {what}.\n"
    said = (("de", "zuerst zuerst"), ("en", "first"), ("fr", "d'abord"))
    pages = {f"docs/{code}/kennels.md": page.format(what=what) for code, what in said}
    english = str(tmp_path / "docs/en/kennels.md")
    if not by_meaning:  # nothing listens there
        pages["findling.toml"] = '[semantic]\nmodel = "nomic-embed-text"\nollama_url = "http://127.0.0.1:9"\n'
    with Workspace(write(tmp_path, pages), root=tmp_path) as workspace:
        workspace.engine.index(embed=by_meaning)
        query = "Kennel.open door=True"
        calls: list[tuple[str, str, dict[str, Any]]] = [
            ("semantic_search", "docPath", {"threshold": 0}),
            ("search_docs", "p", {}),
            ("search_documents", "filePath", {"options": {"minScore": 0}}),
        ]
        for tool, path, given in calls:
            result = call(tool, {"query": query, **given}, workspace)
            facts = result.structured or json.loads(result.text_blocks[1])
            assert [Path(tmp_path, each[path]) for each in facts["results"]] == [Path(english)], tool
            assert facts["results"][0]["translations"] == 2, tool
            assert facts.get("totalResults", 1) == 1, tool
        alone = ask(workspace, "search_docs", query="zuerst")["results"]
        assert paths(alone) == ["docs/de/kennels.md"] and "translations" not in alone[0]
        most = ask(workspace, "search_docs", query="Kennel.open zuerst")["results"]
        assert paths(most) == ["docs/de/kennels.md"], "not the one that holds most of the words"


def test_an_answer_of_low_confidence_says_that_the_documents_do_not(porter: Workspace) -> None:
    known = ask(porter, "query_docs", query="what happens when the network is down")["answer"]
    unknown = ask(porter, "query_docs", query="quarterly revenue of the marketing department")["answer"]
    assert unknown.startswith("The documents do not seem to answer this. The nearest they have:\n\n")
    assert "do not seem" not in known


def test_an_answer_of_low_confidence_is_no_longer_than_another(tmp_path: Path) -> None:
    """S0-12: what it begins with is counted in."""
    parts = [" ".join(f"word{part}{number}" for number in range(60)) for part in "abcd"]
    (tmp_path / "long.md").write_text("# Notes\n\n" + "\n\n".join(f"Quarterly {part}." for part in parts) + "\n")
    with Workspace(tmp_path, root=tmp_path) as workspace:
        workspace.engine.index()
        question = "quarterly revenue of the marketing department in Belgium"
        answer = ask(workspace, "query_docs", query=question, preferSemantic=False)["answer"]
    assert answer.startswith("The documents do not seem to answer this.") and answer.endswith("...")
    assert 1_100 < len(answer) <= 1_200


def first_source(root: Path, documents: dict[str, str], question: str, *, by_meaning: bool) -> str:
    for path, text in documents.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    with Workspace(root, root=root) as workspace:
        workspace.engine.index()
        answer = ask(workspace, "query_docs", query=question, preferSemantic=by_meaning)
    return str(answer["sources"][0]["path"])


MENTIONS = (
    "# Queues\n\nA worker takes parcels from a queue, one after the other, and forgets none. The default upload "
    "limit does not count for parcels that wait there for longer than an hour.\n"
)


@pytest.mark.parametrize("by_meaning", [True, False])
@pytest.mark.parametrize(
    "path_and_text",
    [
        ("sizes.md", "# Sizes\n\n## Upload limit\n\nParcels may have 40 MB; larger ones are cut in two.\n"),
        (
            "options.md",
            "# Options\n\n| option | default |\n| --- | --- |\n| upload limit | 40 MB |\n| retries | 3 |\n",
        ),
    ],
    ids=["heading", "table"],
)
def test_a_heading_or_a_table_answers_before_a_paragraph_that_mentions(
    tmp_path: Path, path_and_text: tuple[str, str], by_meaning: bool
) -> None:
    documents = dict([path_and_text], **{"queues.md": MENTIONS})
    question = "what is the default upload limit" if path_and_text[0] == "options.md" else "upload limit"
    assert first_source(tmp_path.resolve(), documents, question, by_meaning=by_meaning) == path_and_text[0]


PLANS = (("plan", "storage", "price"), ("solo", "20 GB", "9 euros"), ("team", "200 GB", "40 euros"))
TABLES: dict[str, str | bytes] = {
    "plans.md": "| plan | storage | price |\n|---|---|---|\n| solo | 20 GB | 9 euros |\n| team | 200 GB | 40 euros |\n",
    "plans.html": "<h1>Plans</h1><table>"
    + "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in PLANS)
    + "</table>",
    "plans.adoc": "= Plans\n\n|===\n" + "\n".join(f"|{' |'.join(row)}" for row in PLANS) + "\n|===\n",
    "plans.docx": office.docx(office.paragraph("Plans") + office.table(PLANS)),
    "plans.xlsx": office.xlsx({"Plans": PLANS}),
}
TALKED = (
    "# Meetings\n\nIn spring we talked with the team about storage and about what each plan has; the price a month was "
    "a topic, too, and how much a school or a solo artist would pay, and what that does cost us in the end.\n"
)


@pytest.mark.parametrize("by_meaning", [True, False])
@pytest.mark.parametrize("path", TABLES)
def test_the_row_of_a_table_answers_in_every_format(tmp_path: Path, path: str, by_meaning: bool) -> None:
    """Before a paragraph with the same words, and as a row: what stands in it together is told together."""
    root, table = tmp_path.resolve(), TABLES[path]
    (root / path).write_bytes(table if isinstance(table, bytes) else table.encode())
    (root / "notes.md").write_text(TALKED, encoding="utf-8")
    with Workspace(root, root=root) as workspace:
        workspace.engine.index()
        answer = ask(workspace, "query_docs", query="storage of the team plan", preferSemantic=by_meaning)
    assert answer["sources"][0]["path"] == path
    (row,) = [line for line in answer["answer"].split("\n") if "200 GB" in line]
    assert [cell.strip() for cell in row.strip("| ").split("|")][-3:] == ["team", "200 GB", "40 euros"]


WORKED_FROM = (
    "# {title}\n\nParcels are kept for 30 days and then thrown away. How long parcels are kept is set by `keep`.\n"
)


@pytest.mark.parametrize(
    "path",
    [
        "plans/0004-keeping/plan.md",
        "meetings/2024-03-01.md",
        "docs/release-checklist.md",
        "ROADMAP.md",
        "CHANGELOG.md",
        "keeping.globalconfig",
    ],
)
def test_what_people_work_from_stands_lower_unless_it_is_asked_for(tmp_path: Path, path: str) -> None:
    lasting = "# Keeping parcels\n\nHow long parcels are kept is set by `keep`: after 30 days they are thrown away.\n"
    documents = {path: WORKED_FROM.format(title="Keeping parcels"), "docs/keeping.md": lasting}
    question = "how long are parcels kept"
    assert first_source(tmp_path.resolve(), documents, question, by_meaning=True) == "docs/keeping.md"
    only = {path: documents[path], "docs/other.md": "# Other\n\nParcels have a sender.\n"}
    (tmp_path / "docs" / "keeping.md").unlink()
    assert first_source(tmp_path.resolve(), only, question, by_meaning=True) == path


def test_a_plan_that_is_asked_for_comes_first(tmp_path: Path) -> None:
    documents = {
        "plans/0004-keeping/plan.md": "# Plan: keeping parcels\n\nWe plan to keep parcels for 60 days.\n",
        "docs/keeping.md": "# Keeping parcels\n\nParcels are kept for 30 days.\n",
    }
    found = first_source(tmp_path.resolve(), documents, "what is the plan for keeping parcels", by_meaning=True)
    assert found == "plans/0004-keeping/plan.md"


# --- search_docs -------------------------------------------------------------------------------------------------


def test_short_names_and_long_names(porter: Workspace) -> None:
    """The same facts under both; the title is the document's own word for it."""
    short = ask(porter, "search_docs", query="environment variable")["results"]
    long = ask(porter, "search_docs", query="environment variable", prettyPrint=True)["results"]
    assert set(short[0]) == {"p", "t", "ex", "mc", "ln"}
    assert [(item["p"], item["t"], item["ex"], item["mc"], item["ln"]) for item in short] == [
        (item["path"], item["title"], item["excerpt"], item["matchCount"], item["lineNumber"]) for item in long
    ]
    assert (long[0]["title"], long[0]["lineNumber"], long[0]["matchCount"]) == ("Installing Porter", 16, 2)
    assert "`PORTER_PROXY`" in long[0]["excerpt"]


def test_words_need_not_stand_together(porter: Workspace) -> None:
    """S1-20, and what was a substring of the whole query once."""
    everywhere = paths(ask(porter, "search_docs", query="pause attempts delivery parcels")["results"])
    found = paths(ask(porter, "search_docs", query="pause attempts delivery parcels", path="docs")["results"])
    assert found[0] == "docs/guide/retries.md"
    assert set(found) == {path for path in everywhere if path.startswith("docs/")} < set(everywhere)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ('"dead letter queue until a person"', "plans/0004-dead-letters/plan.md"),
        ("delivery.max-attempts", "docs/guide/retries.md"),
        ("-proxy", "docs/guide/install.md"),
        ("PORTER_PROXY:", "docs/guide/install.md"),
        ('cream "stir in the"', "docs/cooking.md"),
        ("soup*", "docs/cooking.md"),
        ("(carrots OR", "docs/cooking.md"),
        ("`pip install porter`", "docs/guide/install.md"),
        ("“growing pause”", "docs/guide/retries.md"),
    ],
)
def test_nothing_is_syntax_but_quotation_marks(porter: Workspace, query: str, first: str) -> None:
    assert paths(ask(porter, "search_docs", query=query)["results"])[0] == first


@pytest.mark.parametrize("query", ['"letter dead queue"', "xylophone", '"', "''", "->", '"person looks at" unheard'])
def test_no_results_are_said_in_these_words(porter: Workspace, query: str) -> None:
    answer = call("search_docs", {"query": query, "pathPrefix": "docs"}, porter)
    assert answer.structured is not None
    assert answer.structured["results"] == []
    assert answer.structured["message"] == f'No results found for query: "{query}"'
    assert not answer.is_error


def test_case_counts_when_asked(porter: Workspace) -> None:
    assert paths(ask(porter, "search_docs", query="boil", caseSensitive=False)["results"]) == ["docs/cooking.md"]
    assert ask(porter, "search_docs", query="boil", caseSensitive=True)["results"] == []
    assert paths(ask(porter, "search_docs", query="Boil", caseSensitive=True)["results"]) == ["docs/cooking.md"]


def test_front_matter_is_searched_when_asked(porter: Workspace) -> None:
    assert ask(porter, "search_docs", query="kitchen")["results"] == []
    found = ask(porter, "search_docs", query="kitchen", searchFrontmatter=True)["results"]
    assert [(item["p"], item["ln"]) for item in found] == [("docs/cooking.md", 3)]
    only = ask(porter, "search_docs", query="soup", searchFrontmatter=True, searchContent=False)["results"]
    assert [(item["p"], item["mc"]) for item in only] == [("docs/cooking.md", 1)]
    neither = refusal(porter, "search_docs", query="soup", searchContent=False)
    assert neither["error"] == "invalid_input"


def test_every_occurrence_is_counted(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "# Retry\n\nretry, retries, RETRIED\n\nWe retry twice, and retry again.\n"})
    with Workspace(tmp_path, root=tmp_path) as workspace:
        assert ask(workspace, "search_docs", query="retry")["results"][0]["mc"] == 6
        assert ask(workspace, "search_docs", query="retry", caseSensitive=True)["results"][0]["mc"] == 3


def test_all_words_come_before_some_and_a_limit_holds(porter: Workspace) -> None:
    results = paths(ask(porter, "search_docs", query="dead letter queue number")["results"])
    assert results[0] == "plans/0042-labels/plan.md"
    assert len(ask(porter, "search_docs", query="dead letter queue", limit=2)["results"]) == 2


def test_equals_are_in_the_order_of_their_numbers(porter: Workspace) -> None:
    """S1-49: plan 9 before plan 10, agent 000 before agent 001."""
    assert paths(ask(porter, "search_docs", query="zebra")["results"]) == ["plans/9-short/a.md", "plans/10-short/a.md"]
    agents = paths(ask(porter, "search_docs", query="agent parcels", planId="4")["results"])
    assert [path[-12:] for path in agents[:2]] == ["000_store.md", "/001_view.md"]


def test_a_changed_document_is_taken_in_before_it_is_searched(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "# One\n\nFirst words.\n"})
    with Workspace(tmp_path, root=tmp_path) as workspace:
        assert ask(workspace, "search_docs", query="walrus")["results"] == []
        write(tmp_path, {"a.md": "# One\n\nA walrus.\n", "b.md": "# Two\n\nThe walrus sleeps.\n"})
        assert paths(ask(workspace, "search_docs", query="walrus")["results"]) == ["a.md", "b.md"]
        (tmp_path / "a.md").unlink()
        assert paths(ask(workspace, "search_docs", query="walrus")["results"]) == ["b.md"]
        assert paths(ask(workspace, "semantic_search", query="walrus", threshold=0)["results"]) == ["b.md"]


def test_long_answers_are_cut_by_whole_results(tmp_path: Path) -> None:
    text = "# Parcels\n\n" + "A parcel is late. " * 100
    write(tmp_path, {f"n{number}.md": text for number in range(40)})
    with Workspace(tmp_path, root=tmp_path) as workspace:
        answer = ask(workspace, "semantic_search", query="late parcel", threshold=0, limit=40)
        assert answer["truncated"] is True
        assert answer["omitted"] + len(answer["results"]) == 40
        assert all(result["chunkText"].startswith("# Parcels") for result in answer["results"])

"""The library's tools: text blocks to the letter, objects field by field, and errors of four kinds."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from findling.contracts import Workspace, budget, call
from findling.engine.library import Library

DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")

NOTES = """\
# Brewing

Hot drinks, step by step.

## Tea

Pour the water over the leaves just below boiling and wait three minutes.

## Coffee

Grind the beans shortly before, and use twice as much as you think.
"""


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path.resolve() / "data"
    monkeypatch.setenv("FINDLING_DATA_DIR", str(folder))
    return folder


@pytest.fixture
def notes(tmp_path: Path, data: Path) -> Path:
    """A file in the library, outside of every root."""
    folder = tmp_path.resolve() / "notes"
    folder.mkdir()
    (folder / "brewing.md").write_text(NOTES)
    with Library(data) as library:
        library.add(folder)
    return folder / "brewing.md"


@pytest.fixture
def opened(indexed: Path, data: Path) -> Iterator[Workspace]:
    with Workspace(indexed, root=indexed) as workspace:
        yield workspace


def blocks(workspace: Workspace, name: str, **arguments: Any) -> list[str]:
    result = call(name, arguments, workspace)
    assert not result.is_error, result.text_blocks
    assert result.structured is None, "clients that prefer structured content would drop the blocks"
    return result.text_blocks


def refusal(workspace: Workspace, name: str, **arguments: Any) -> str:
    result = call(name, arguments, workspace)
    assert (result.is_error, result.structured, len(result.text_blocks)) == (True, None, 1)
    return result.text_blocks[0]


def search(workspace: Workspace, query: str, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(blocks(workspace, "search_documents", query=query, options=options)[1])
    return found


# --- search_documents ------------------------------------------------------------------------------------------


def test_what_occurs_in_no_file_is_told_with_whole_paths(opened: Workspace, notes: Path) -> None:
    found = json.loads(blocks(opened, "search_documents", query="no/such/tea.md")[1])
    assert [(each["kind"], each["text"]) for each in found["absent"]] == [("path", "no/such/tea.md")]
    assert all(Path(each["path"]).is_absolute() for each in found["nearest"])
    assert found["nextSteps"][0].startswith("'no/such/tea.md' does not occur in the ")


def test_search_documents_has_every_field(opened: Workspace, notes: Path) -> None:
    """S3-1, S3-4 to S3-8, D21: two blocks, the result object and its results as the contract writes them."""
    line, text = blocks(opened, "search_documents", query="how hot is water for tea", options={"minScore": 0.1})
    found = json.loads(text)
    assert line == f'Found {len(found["results"])} results for "how hot is water for tea" in {found["searchTime"]}ms'
    assert {"query", "results", "totalResults", "searchTime", "options", "nextSteps", "meta"} <= found.keys()
    assert found["options"] == {"limit": 10, "minScore": 0.1, "includeMetadata": True}
    assert isinstance(found["searchTime"], int)
    first = found["results"][0]
    assert first["id"] == f"{notes}:{first['chunkIndex']}"
    assert first["filePath"] == str(notes)
    assert first["content"].startswith("## Tea")
    assert 0 < first["score"] <= 1
    assert first["collection"] == "notes"
    assert "embedding" not in first
    metadata = first["metadata"]
    assert metadata.keys() == {"fileSize", "lastModified", "chunkOffset", "tokenCount"}
    assert metadata["fileSize"] == notes.stat().st_size
    assert metadata["chunkOffset"] == NOTES.index("## Tea")
    assert metadata["tokenCount"] == -(-len(first["content"]) // 4)
    assert DATE.fullmatch(metadata["lastModified"])
    assert found["usedSemantic"] is True
    assert found["meta"]["best_similarity"] == first["score"]


def test_the_roots_documents_are_searched_too_with_absolute_paths(
    opened: Workspace, indexed: Path, notes: Path
) -> None:
    found = search(opened, "when the network is down", minScore=0.1)
    first = found["results"][0]
    assert (first["filePath"], first["collection"]) == (str(indexed / "docs" / "guide.md"), indexed.name)
    assert {Path(result["filePath"]).suffix for result in found["results"]} <= {".md", ".txt"}, "no code of a root"


def test_options(opened: Workspace, notes: Path) -> None:
    """S3-2, S3-3, S3-4, S3-9: the smaller count, minScore before similarityThreshold, metadata on demand."""
    assert len(search(opened, "water", minScore=0, limit=3)["results"]) == 3
    assert search(opened, "water", minScore=0, limit=3, maxResults=2)["options"]["limit"] == 2
    assert search(opened, "water", maxResults=50)["options"]["limit"] == 10
    assert search(opened, "water", similarityThreshold=0.4)["options"]["minScore"] == 0.4
    assert search(opened, "water", similarityThreshold=0.4, minScore=0)["options"]["minScore"] == 0
    assert search(opened, "water")["options"]["minScore"] == 0.7
    plain = search(opened, "water", minScore=0, includeMetadata=False)["results"]
    assert plain and all("metadata" not in result for result in plain)


def test_an_empty_answer_says_what_to_do(opened: Workspace, notes: Path) -> None:
    """S3-8, D4: what is suggested leads to results."""
    found = search(opened, "kitchen drinks", minScore=0.999)
    assert (found["results"], found["totalResults"]) == ([], 0)
    assert found["meta"]["below_threshold_count"] > 0
    lower = re.search(r"set options\.minScore to ([\d.]+)", found["nextSteps"][0])
    assert lower
    best = search(opened, "kitchen drinks", minScore=float(lower[1]))["results"][0]["score"]
    assert found["meta"]["best_similarity"] == best


def test_next_steps_follow_from_the_results(opened: Workspace, notes: Path) -> None:
    """S3-8."""
    found = search(opened, "how hot is water for tea", minScore=0, limit=2)
    steps = found["nextSteps"]
    first = found["results"][0]
    assert f"filePath {first['filePath']} and chunkIndex {first['chunkIndex']}." in steps[0]
    assert any(step.startswith(f"{found['totalResults'] - 2} more passages match") for step in steps)
    assert 'Search for "Tea".' not in steps, "the query says so already"
    assert any(step.startswith('Search for "') for step in steps)


def test_a_long_answer_is_cut_by_whole_results_and_says_so(opened: Workspace, data: Path, tmp_path: Path) -> None:
    long = tmp_path / "long"
    long.mkdir()
    sentence = "The water in the kettle sings a little before it boils. "
    (long / "long.md").write_text("".join(f"# Part {n}\n\n{sentence * 15}\n\n" for n in range(60)))
    opened.library.add(long)
    for tokens in (None, 1500):
        given = {"query": "kettle", "options": {"limit": 1000, "minScore": 0}}
        line, text = blocks(opened, "search_documents", **given, **({"max_tokens": tokens} if tokens else {}))
        found = json.loads(text)
        assert len(budget.dumps(found["results"]) if tokens else line + text) <= (tokens * 4 if tokens else 30_000)
        assert line.startswith(f"Found {len(found['results'])} results for ")
        assert found["truncated"] is True
        assert found["totalResults"] == len(found["results"]) + found["omitted"] >= 60
    details = blocks(opened, "get_file_details", filePath=str(long.resolve() / "long.md"))
    assert sum(map(len, details)) <= 30_000
    chunks = json.loads(details[-1])
    assert len(details) == len(chunks) + 2 < 60
    assert f"go on with chunkIndex {chunks[-1]['chunkIndex'] + 1})" in details[0]


def test_search_works_and_says_that_jobs_run(opened: Workspace, notes: Path, data: Path) -> None:
    """S3-38."""
    job = Library(data).jobs.start("fetch", "fetch_repo")
    line = blocks(opened, "search_documents", query="tea", options={"minScore": 0.1})[0]
    assert line.startswith("Found ")
    assert line.endswith("ms (index incomplete: 1 active jobs)")
    job.end("failed", error="stop")
    assert blocks(opened, "search_documents", query="tea")[0].endswith("ms")


def test_words_are_compared_where_meaning_is_off(indexed: Path, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINDLING_SEMANTIC_ENABLED", "false")
    with Workspace(indexed, root=indexed) as workspace:
        found = search(workspace, "grind the beans", minScore=1)
    assert found["usedSemantic"] is False
    assert found["results"][0]["filePath"] == str(notes)
    assert "best_similarity" not in found["meta"]


# --- get_file_details ------------------------------------------------------------------------------------------


def test_file_details_block_by_block(opened: Workspace, notes: Path) -> None:
    """S3-10, S3-13: the count, a line for each chunk cut at 200, and the array."""
    found = blocks(opened, "get_file_details", filePath=str(notes))
    chunks = json.loads(found[-1])
    assert found[0] == f"Found {len(chunks)} chunks for {notes}"
    assert [chunk["chunkIndex"] for chunk in chunks] == list(range(len(chunks)))
    for line, chunk in zip(found[1:-1], chunks, strict=True):
        assert line == f"Chunk {chunk['chunkIndex']} ({chunk['metadata']['tokenCount']} tokens): {chunk['content']}"
        assert chunk.keys() - {"headings"} == {"id", "filePath", "chunkIndex", "content", "metadata", "collection"}
    assert "\n".join(chunk["content"] for chunk in chunks).split() == NOTES.split()


def test_a_long_chunk_is_cut_in_its_line_only(opened: Workspace, data: Path, tmp_path: Path) -> None:
    path = tmp_path.resolve() / "words.md"
    path.write_text("word " * 190)
    opened.library.add(path)
    _, line, array = blocks(opened, "get_file_details", filePath=str(path))
    preview = line.removeprefix("Chunk 0 (238 tokens): ")
    assert (len(preview), preview[-3:]) == (200, "...")
    assert json.loads(array)[0]["content"].split() == ["word"] * 190


def test_one_chunk_with_its_neighbours(opened: Workspace, notes: Path) -> None:
    """S3-11, S3-12: contextSize is 3 by default, and 0 is that chunk only."""
    total = len(json.loads(blocks(opened, "get_file_details", filePath=str(notes))[-1]))
    assert total == 3
    alone = json.loads(blocks(opened, "get_file_details", filePath=str(notes), chunkIndex=1, contextSize=0)[-1])
    assert [chunk["chunkIndex"] for chunk in alone] == [1]
    around = json.loads(blocks(opened, "get_file_details", filePath=str(notes), chunkIndex=1)[-1])
    assert len(around) == total
    (notes.parent / "parts.md").write_text("".join(f"# Part {n}\n\n{'Words. ' * 60}\n\n" for n in range(9)))
    opened.library.refresh()
    parts = str(notes.parent / "parts.md")
    around = json.loads(blocks(opened, "get_file_details", filePath=parts, chunkIndex=4)[-1])
    assert [chunk["chunkIndex"] for chunk in around] == [1, 2, 3, 4, 5, 6, 7]


def test_a_document_of_a_root_has_details_too(opened: Workspace, indexed: Path) -> None:
    guide = str(indexed / "docs" / "guide.md")
    assert blocks(opened, "get_file_details", filePath=guide)[0].endswith(f"chunks for {guide}")
    assert "is not indexed" in refusal(opened, "get_file_details", filePath=str(indexed / "src" / "main.py"))


# --- errors ----------------------------------------------------------------------------------------------------


def test_errors_name_operation_kind_and_cause(opened: Workspace, notes: Path, data: Path) -> None:
    """S3-37."""
    missing = str(notes.parent / "missing.md")
    assert refusal(opened, "get_file_details", filePath=missing).startswith(
        f"get_file_details failed (file access): {missing} does not exist."
    )
    assert refusal(opened, "get_file_details", filePath="notes.md").startswith(
        "get_file_details failed (processing): Parameter `filePath` must be an absolute path"
    )
    assert refusal(opened, "get_file_details", filePath=str(notes), chunkIndex=99).startswith(
        f"get_file_details failed (processing): There is no chunk 99 in {notes}"
    )
    assert refusal(opened, "search_documents", query="x", options={"limit": 0}) == (
        "search_documents failed (processing): Parameter `options.limit` must be an integer between 1 and 1000."
    )
    assert "Did you mean `options.minScore`?" in refusal(opened, "search_documents", query="x", options={"minscore": 1})
    (data / "library.json").write_text("{")
    assert refusal(opened, "search_documents", query="x").startswith("search_documents failed (storage): ")


# --- jobs ------------------------------------------------------------------------------------------------------


def test_the_status_of_a_job_line_by_line(opened: Workspace, data: Path) -> None:
    """S3-28, S3-29."""
    job = Library(data).jobs.start("fetch", "fetch_repo")
    job.progress(75)
    text, facts = blocks(opened, "get_job_status", jobId=job.job.id)
    lines = text.split("\n")
    assert lines[:4] == [f"Job Status: {job.job.id}", "Type: fetch_repo", "Status: running", "Progress: 75%"]
    assert re.fullmatch(r"Duration: \d+\.\ds", lines[4])
    assert len(lines) == 5
    assert json.loads(facts).keys() == {"id", "type", "status", "progress", "startTime"}
    job.end("done", result={"filesProcessed": 7})
    text, facts = blocks(opened, "get_job_status", jobId=job.job.id)
    assert text.split("\n")[2:4] == ["Status: completed", "Progress: 100%"]
    assert text.endswith("s\nJob completed successfully!")
    assert json.loads(facts)["result"] == {"filesProcessed": 7}
    assert DATE.fullmatch(json.loads(facts)["endTime"])


def test_a_failed_job_says_why(opened: Workspace, data: Path) -> None:
    """S3-38."""
    job = Library(data).jobs.start("fetch", "fetch_file").end("failed", error="404 Not Found")
    text, facts = blocks(opened, "get_job_status", jobId=job.id)
    assert text.endswith("s\nError: 404 Not Found")
    assert json.loads(facts)["error"] == "404 Not Found"
    assert refusal(opened, "get_job_status", jobId="no-such-id").endswith("Job not found: no-such-id")


def test_active_jobs_line_by_line(opened: Workspace, data: Path) -> None:
    """S3-31, S3-32."""
    records = Library(data).jobs
    none = "No active jobs running.\n\nStatistics:\nTotal: 0\nRunning: 0\nCompleted: 0\nFailed: 0\nAvg Duration: 0.0s"
    assert blocks(opened, "list_active_jobs") == [none, "[]"]
    first = records.start("fetch", "fetch_repo")
    first.progress(75)
    time.sleep(0.002)
    second = records.start("fetch", "fetch_file")
    records.start("fetch", "fetch_file").end("failed", error="no")
    third = records.start("fetch", "fetch_file")
    time.sleep(0.06)
    third.end("done")
    took_ms = records.statistics().average_duration_ms
    assert took_ms >= 50
    text, facts = blocks(opened, "list_active_jobs")
    lines = text.split("\n")
    assert lines[0] == "Active Jobs (2):"
    assert re.fullmatch(rf"{first.job.id}: fetch_repo \(75%, \d+\.\ds\)", lines[1])
    assert re.fullmatch(rf"{second.job.id}: fetch_file \(0%, \d+\.\ds\)", lines[2])
    counts = ["Total: 4", "Running: 2", "Completed: 1", "Failed: 1"]
    assert lines[3:] == ["", "Statistics:", *counts, f"Avg Duration: {took_ms / 1000:.1f}s"]
    assert [job["id"] for job in json.loads(facts)] == [first.job.id, second.job.id]
    first.end("failed", error="stop")
    second.end("failed", error="stop")


# --- deleting --------------------------------------------------------------------------------------------------


def test_a_file_is_taken_out_and_stays_on_disk(opened: Workspace, notes: Path) -> None:
    chunks = len(json.loads(blocks(opened, "get_file_details", filePath=str(notes))[-1]))
    (text,) = blocks(opened, "remove_file", filePath=str(notes))
    assert json.loads(text) == {"deletedChunks": chunks, "filePath": str(notes)}
    assert notes.read_text() == NOTES
    assert all(result["filePath"] != str(notes) for result in search(opened, "tea", minScore=0)["results"])


def test_nothing_of_a_root_is_removed(project: Path, data: Path) -> None:
    guide = project / "docs" / "guide.md"
    with Workspace(project, root=project) as workspace:
        workspace.library.add(project / "docs")
        assert "nothing of a root is removed" in refusal(workspace, "remove_file", filePath=str(guide))
        assert "nothing of a root is removed" in refusal(
            workspace, "remove_file", filePath=f"{project}/src/../docs/guide.md"
        )
        assert search(workspace, "network is down", minScore=0)["results"][0]["filePath"] == str(guide)


def test_emptying_the_library_has_to_be_confirmed(opened: Workspace, notes: Path) -> None:
    assert refusal(opened, "flush_all").startswith("flush_all failed (processing): Parameter `confirm` must be true")
    assert refusal(opened, "flush_all", confirm=False) == refusal(opened, "flush_all")
    (text,) = blocks(opened, "flush_all", confirm=True)
    flushed = json.loads(text)
    assert flushed.keys() == {"deletedFiles", "deletedChunks"}
    assert (flushed["deletedFiles"], flushed["deletedChunks"] > 0) == (1, True)
    assert notes.exists()
    assert opened.library.collections() == ()


@pytest.mark.parametrize("allowed", [False, True])
def test_deleting_tools_are_served_on_demand_only(allowed: bool, indexed: Path, notes: Path, data: Path) -> None:
    """Over MCP they answer as from Python."""

    async def ask() -> None:
        arguments = ["-m", "findling", "serve", "--root", str(indexed), *(["--allow-delete"] if allowed else [])]
        server = StdioServerParameters(
            command=sys.executable, args=arguments, env={"FINDLING_DATA_DIR": os.environ["FINDLING_DATA_DIR"]}
        )
        async with Client(server, mode="legacy") as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert ({"remove_file", "flush_all"} <= names) is allowed
            assert {"search_documents", "get_file_details", "get_job_status", "list_active_jobs"} <= names
            if allowed:
                removed = await client.call_tool("remove_file", {"filePath": str(notes)})
                assert json.loads(removed.content[0].text)["filePath"] == str(notes)
                assert removed.structured_content is None
                flushed = await client.call_tool("flush_all", {"confirm": True})
                assert json.loads(flushed.content[0].text) == {"deletedFiles": 0, "deletedChunks": 0}

    asyncio.run(ask())

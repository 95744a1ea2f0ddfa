"""The fetching tools: what they say to the letter, what they refuse, and that search says what is still to come."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parent.parent / "library"))

from file_servers import FileServer, commit, dripping, ended, git_server

from findling.contracts import Workspace, call
from findling.contracts.tools import TOOLS
from findling.engine.jobs import Job, Records
from findling.engine.library import Library


@pytest.fixture
def allow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    monkeypatch.setenv("FINDLING_DATA_DIR", str(tmp_path.resolve() / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config" / "findling").mkdir(parents=True)

    def write(host: str) -> None:
        text = f'[fetch]\nallowed_hosts = ["{host}"]\n'
        (tmp_path / "config" / "findling" / "config.toml").write_text(text)

    return write


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return Library(tmp_path.resolve() / "data").jobs


@pytest.fixture
def opened(indexed: Path, allow: Callable[[str], None]) -> Iterator[Workspace]:
    with Workspace(indexed, root=indexed) as workspace:
        yield workspace


def blocks(workspace: Workspace, name: str, **arguments: Any) -> list[str]:
    result = call(name, arguments, workspace)
    assert not result.is_error, result.text_blocks
    assert result.structured is None
    return result.text_blocks


def refusal(workspace: Workspace, name: str, **arguments: Any) -> str:
    result = call(name, arguments, workspace)
    assert (result.is_error, result.structured, len(result.text_blocks)) == (True, None, 1)
    return result.text_blocks[0]


def test_fetching_a_file_from_the_first_word_to_the_last(
    opened: Workspace, allow: Callable[[str], None], records: Records
) -> None:
    """S3-23, S3-25 to S3-27, D29."""
    pages = {"/a.md": b"# Otters\n\nOtters hold hands while they sleep.\n", "/big.txt": b"Words. " * 200}
    with FileServer(pages) as server:
        allow(server.host)
        text, facts = blocks(opened, "fetch_file", url=f"{server.url}/a.md", filename="otters.md")
        id = json.loads(facts)["jobId"]
        assert json.loads(facts) == {"jobId": id, "filename": "otters.md"}
        assert text == (
            f"Started async file download: otters.md\nJob ID: {id}\nUse get_job_status to poll for completion."
        )
        ended(records, id)

        def fetched_with(**options: Any) -> Job:
            facts = blocks(opened, "fetch_file", url=f"{server.url}/big.txt", filename="big.txt", options=options)[1]
            return ended(records, json.loads(facts)["jobId"])

        assert "the limit is 1,048" in fetched_with(maxFileSizeMB=0.001).error
        left_out = fetched_with(indexAfterSave=False).result
        assert left_out is not None and (left_out["sizeBytes"], left_out["indexed"]) == (1400, False)
    status, job = blocks(opened, "get_job_status", jobId=id)
    assert re.fullmatch(
        rf"Job Status: {id}\nType: fetch_file\nStatus: completed\nProgress: 100%\nDuration: \d+\.\ds\n"
        r"Job completed successfully!",
        status,
    )
    assert json.loads(job)["result"].keys() >= {"filename", "filePath", "sizeBytes", "indexed", "chunks"}
    found = json.loads(blocks(opened, "search_documents", query="sleeping otters", options={"minScore": 0})[1])
    best = found["results"][0]
    assert (best["collection"], best["untrusted"], best["headings"]) == ("downloads", True, ["Otters"])
    own = [result for result in found["results"] if result["collection"] != "downloads"]
    assert not any("untrusted" in result for result in own)


def test_fetching_a_repository(
    opened: Workspace, allow: Callable[[str], None], records: Records, tmp_path: Path
) -> None:
    """S3-14, S3-15, S3-18, S3-20 to S3-22, D29: at once, with the id of a job."""
    files = {"a.md": "# A\n\ntext about badgers\n", "b.py": "x = 1  # one\n", "drafts/c.md": "later\n", "d.txt": "x\n"}
    commit(tmp_path / "served" / "acme" / "docs", files)
    with git_server(tmp_path / "served") as base:
        allow(base.removeprefix("http://"))
        options = {"includePatterns": ["*.md", "*.py"], "excludePatterns": ["drafts/"], "outputStyle": "markdown"}
        options |= {"removeComments": True, "showLineNumbers": False}
        text, facts = blocks(opened, "fetch_repo", repoUrl=f"{base}/acme/docs/.git#main", options=options)
        id = json.loads(facts)["jobId"]
        assert records.get(id).status == "running"
        assert json.loads(facts) == {"jobId": id, "repoName": "acme/docs"}
        assert text == (
            f"Started async repository fetch: acme/docs\nJob ID: {id}\nUse get_job_status to poll for completion."
        )
        job = ended(records, id)
    assert (job.result["filesProcessed"], job.result["branch"]) == (2, "main")
    bundle = Path(str(job.result["bundlePath"])).read_text()
    assert "```markdown\n# A\n\ntext about badgers\n```" in bundle
    assert "```python\nx = 1\n```" in bundle
    assert {"repoName", "branch", "commit", "path", "bundlePath", "indexing"} <= job.result.keys()


def test_search_works_while_a_job_runs_and_says_so(
    opened: Workspace, allow: Callable[[str], None], records: Records
) -> None:
    """S3-23, S3-38: fetch_file returns while it runs."""
    with FileServer({"/slow": dripping(b"x" * 2000, 0.05)}) as server:
        allow(server.host)
        _, facts = blocks(opened, "fetch_file", url=f"{server.url}/slow", filename="slow.txt")
        id = json.loads(facts)["jobId"]
        line = blocks(opened, "search_documents", query="anything")[0]
        assert line.endswith("ms (index incomplete: 1 active jobs)")
        listing, array = blocks(opened, "list_active_jobs")
        assert re.match(rf"Active Jobs \(1\):\n{id}: fetch_file \(\d+%, \d+\.\ds\)\n\nStatistics:\n", listing)
        assert [job["id"] for job in json.loads(array)] == [id]
        records.cancel(id)
        assert ended(records, id).status == "failed"
    assert blocks(opened, "search_documents", query="anything")[0].endswith("ms")
    status = blocks(opened, "get_job_status", jobId=id)[0]
    assert status.endswith("Error: It was cancelled.")


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        (
            "fetch_file",
            {"url": "file:///etc/passwd", "filename": "x"},
            "(processing): Only http and https URLs are fetched, not file",
        ),
        ("fetch_file", {"url": "https://u:p@example.org/", "filename": "x"}, "(processing): The URL has a user name"),
        ("fetch_file", {"url": "https://example.org/", "filename": "../x"}, "(processing): '../x' cannot be"),
        (
            "fetch_file",
            {"url": "https://example.org/", "filename": "x", "options": {"maxFileSizeMB": 0}},
            "maxFileSizeMB",
        ),
        ("fetch_file", {"url": "https://example.org/"}, "`filename` is required"),
        ("fetch_repo", {"repoUrl": "ext::sh -c id"}, "(processing): The URL has white space"),
        (
            "fetch_repo",
            {"repoUrl": "ssh://example.org/a/b"},
            "(processing): Only http and https URLs are fetched, not ssh",
        ),
        ("fetch_file", {"url": "https://example.org:22/", "filename": "x"}, "(network): Port 22 is not allowed"),
        ("fetch_repo", {"repoUrl": "https://example.org/a", "branch": "-x"}, "(processing): '-x' cannot be"),
        (
            "fetch_repo",
            {"repoUrl": "https://example.org/a", "options": {"outputStyle": "xml"}},
            "must be one of markdown",
        ),
        (
            "fetch_repo",
            {"repoUrl": "https://example.org/a", "options": {"includePatterns": []}},
            "`options.includePatterns` must not be empty",
        ),
    ],
)
def test_refusals_say_what_and_why(
    opened: Workspace, records: Records, name: str, arguments: dict[str, Any], said: str
) -> None:
    """S3-19, S3-37."""
    text = refusal(opened, name, **arguments)
    assert text.startswith(f"{name} failed (")
    assert said in text
    assert records.all() == []


def test_a_file_that_may_not_be_replaced_is_a_refusal(
    opened: Workspace, allow: Callable[[str], None], records: Records
) -> None:
    """S3-24, S3-37."""
    with FileServer({"/a": b"text\n"}) as server:
        allow(server.host)
        _, facts = blocks(opened, "fetch_file", url=f"{server.url}/a", filename="a.txt")
        ended(records, json.loads(facts)["jobId"])
        text = refusal(opened, "fetch_file", url=f"{server.url}/a", filename="a.txt", options={"overwrite": False})
    assert text.startswith("fetch_file failed (file access): a.txt exists already.")


def test_a_project_may_switch_fetching_off(indexed: Path, allow: Callable[[str], None], records: Records) -> None:
    (indexed / "findling.toml").write_text("[fetch]\nenabled = false\n")
    try:
        with Workspace(indexed, root=indexed) as workspace:
            text = refusal(workspace, "fetch_file", url="https://example.org/", filename="x")
    finally:
        (indexed / "findling.toml").unlink()
    assert text.startswith("fetch_file failed (network): Fetching is switched off here.")
    assert records.all() == []


def test_only_these_two_ask_servers_elsewhere() -> None:
    assert {tool.name for tool in TOOLS.values() if tool.open_world} == {"fetch_repo", "fetch_file"}
    for name in ("fetch_repo", "fetch_file"):
        assert TOOLS[name].writes and not TOOLS[name].destructive

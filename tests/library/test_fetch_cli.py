"""`findling library fetch`, `jobs` and `cancel`, as typed."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

import pytest
from file_servers import FileServer, commit, git_server

from findling.engine.library.fetching.fetch_requests import FileRequest, RepoRequest
from findling.faces.cli.library_commands import request_of
from findling.faces.cli.main import main


def typed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(["library", *arguments])
    shown = capsys.readouterr()
    return status, shown.out, shown.err


def test_a_file(data: Path, local: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    with FileServer({"/tea.md": b"# Tea\n\nleaves\n"}) as server:
        local(server.host)
        status, out, _ = typed(capsys, "fetch", f"{server.url}/tea.md")
        assert (status, "file: tea.md" in out, "passages: 1" in out) == (0, True, True)
        status, out, err = typed(capsys, "fetch", f"{server.url}/none.md")
        assert (status, "fetch_file failed (network: 127.0.0.1 answered 404" in err) == (2, True)
    status, out, _ = typed(capsys, "jobs", "--json")
    assert [job["status"] for job in json.loads(out)["jobs"]] == ["failed", "completed"]
    first = json.loads(out)["jobs"][0]["id"]
    assert typed(capsys, "cancel", first)[1] == f"{first}: already failed\n"


def test_a_repository(
    data: Path, local: Callable[..., None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commit(tmp_path / "served" / "a" / "b", {"x.md": "# X\n\ntext\n", "y.txt": "more\n"})
    with git_server(tmp_path / "served") as base:
        local(base.removeprefix("http://"))
        status, out, _ = typed(capsys, "fetch", f"{base}/a/b/.git", "--branch", "main", "--include", "*.md", "--json")
        assert (status, json.loads(out)["job"]["result"]["filesProcessed"]) == (0, 1)
        assert typed(capsys, "refresh", "a-b")[0] == 0
    assert "collection: a-b" in typed(capsys, "status")[1]


def test_what_is_wrong(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, said in (
        (["fetch"], "Missing URL"),
        (["fetch", "file:///etc/passwd"], "Only http and https"),
        (["cancel"], "Missing JOB"),
        (["cancel", "0" * 12], "Job not found"),
        (["list", "--branch", "x"], "--branch is for"),
        (["fetch", "https://github.com/a/b", "--name", "b", "--branch", "x"], "--name and --max-mb are for a file"),
        (["fetch", "https://github.com/a/b", "--max-mb", "5"], "--name and --max-mb are for a file"),
    ):
        status, out, err = typed(capsys, *arguments)
        assert (status, out, said in err) == (2, "", True), err


@pytest.mark.parametrize(
    ("url", "options", "kind"),
    [
        ("https://github.com/a/b", {}, RepoRequest),
        ("https://github.com/a/b/blob/main/x.md", {}, FileRequest),
        ("https://example.org/x.git", {}, RepoRequest),
        ("https://example.org/x", {"branch": "main"}, RepoRequest),
        ("https://example.org/guide/", {}, FileRequest),
        ("https://github.com/a/b", {"name": "page.html"}, FileRequest),
    ],
)
def test_repositories_are_told_from_files(url: str, options: dict[str, str], kind: type) -> None:
    given = {"branch": None, "include": None, "exclude": None, "remove_comments": False, "name": None, "max_mb": None}
    assert isinstance(request_of(Namespace(subject=url, **{**given, **options})), kind)

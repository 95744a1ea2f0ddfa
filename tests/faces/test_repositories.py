"""A folder that holds repositories: they and the files beside them are searched together."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from findling.config import repositories_in, roots
from findling.contracts import Workspace, call
from findling.engine import Engines
from findling.faces.cli.main import main
from findling.model.types import Query


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two repositories, one of them a folder deeper, and a note beside them."""
    folder = tmp_path.resolve() / "work"
    texts = {
        "shop/invoice.py": "def total_with_tax(lines):\n    return sum(lines) * 1.19\n",
        "team/crawler/fetch.py": "def retry_request(url):\n    return url  # invoice_number\n",
        "notes.md": "# Invoices\n\nThe shop adds the tax.\n",
    }
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    for repository in ("shop", "team/crawler"):
        subprocess.run(["git", "init", "-q", folder / repository], check=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("CI", "1")  # no process that indexes in the background
    return folder


def test_every_question_is_about_all_of_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "retry_request", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["hits"][0]["path"] == "team/crawler/fetch.py"
    assert main(["symbol", "total_with_tax", "--rows"]) == 0
    assert capsys.readouterr().out.startswith("shop/invoice.py:1-2")
    assert main(["grep", "-i", "-l", "invoice"]) == 0
    assert set(capsys.readouterr().out.splitlines()) == {"team/crawler/fetch.py", "notes.md"}
    assert main(["search", "the shop adds the tax", "--kind", "docs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["hits"][0]["path"] == "./notes.md"


def test_those_that_are_searched_are_not_told_as_left_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index"]) == 0
    assert main(["symbol", "gone_name"]) == 1
    assert main(["status"]) == 0
    printed = capsys.readouterr()
    assert "repositor" not in printed.out
    assert "'gone_name' does not occur in the 3 files searched\n" in printed.err


def test_each_is_indexed_where_it_lies(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index"]) == 0
    assert capsys.readouterr().out.count("indexed: 1 file") == 3
    assert all((folder / path / ".findling").is_dir() for path in ("shop", "team/crawler", ""))


def test_clear_and_stop_are_about_all_of_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index"]) == 0
    assert main(["stop"]) == 1
    capsys.readouterr()
    assert main(["clear", "--yes", "--json"]) == 0
    cleared = json.loads(capsys.readouterr().out)["indexes"]
    roots = {str(folder), str(folder / "shop"), str(folder / "team" / "crawler")}
    assert {row["root"] for row in cleared if row["deleted"]} == roots
    assert not any((folder / path / ".findling").exists() for path in ("", "shop", "team/crawler"))


def test_doctor_and_sync_speak_of_each(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "shop"]) == 0
    capsys.readouterr()
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    assert f"✓ index: shop: {folder}/shop/.findling, intact and writable" in said
    assert f"○ index: team/crawler: none yet at {folder}/team/crawler/.findling; .: none yet" in said
    assert main(["sync", "shop/gone.py"]) == 1
    assert "note: not indexed: shop/gone.py" in capsys.readouterr().err


def test_nothing_found_is_said_once_and_one_that_fails_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["grep", "zzz_zzz"]) == 1
    assert capsys.readouterr().err.count("nothing found") == 1
    assert main(["index", "shop"]) == 0
    (folder / "shop" / "findling.toml").write_text("[semantic]\nmode = 3\n")
    capsys.readouterr()
    assert main(["search", "retry_request"]) == 0
    assert "note: shop: " in capsys.readouterr().err


def test_more_than_are_searched_together_are_told(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roots, "MOST_PROJECTS", 1)
    assert main(["grep", "-l", "tax"]) == 0
    assert "1 repository more in this folder not searched; to search one, name it as PATH" in capsys.readouterr().err


def test_a_ref_is_of_those_that_have_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git = ["git", "-C", folder / "shop", "-c", "user.name=a", "-c", "user.email=a@b"]
    for arguments in (["add", "-A"], ["commit", "-qm", "first"], ["tag", "v1"]):
        subprocess.run([*git, *arguments], check=True)
    for asked in (["grep", "-l", "tax"], ["search", "total_with_tax", "."], ["index"]):
        assert main([*asked, "--ref", "v1"]) == 0
        printed = capsys.readouterr()
        assert "shop" in printed.out and "note: team/crawler: There is no branch, tag or commit" in printed.err, asked
    assert main(["grep", "tax", "--ref", "v2"]) == 2


def test_one_that_cannot_be_indexed_or_searched_costs_itself(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "shop" / "findling.toml").write_text("[semantic]\nmode = 3\n")
    assert main(["index"]) == 2
    printed = capsys.readouterr()
    assert printed.out.count("indexed: 1 file") == 2 and "note: shop: " in printed.err
    assert "nested_repository" not in printed.err


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every name is Unicode")
def test_one_whose_name_is_no_text_costs_itself(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "shop").rename(folder / "shop\udcff")
    for command, status in ((["index"], 2), (["search", "retry_request"], 0), (["map"], 0)):
        assert main(command) == status
        printed = capsys.readouterr()
        assert "team/crawler" in printed.out
        assert "is not UTF-8, so there can be no index of this folder. Rename the folder." in printed.err
    assert main(["grep", "-q", "total_with_tax"]) == 0


def test_a_limit_is_shared_and_a_repository_that_is_searched_is_not_left_out(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["grep", "--limit", "1", "-i", "invoice"]) == 0
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 1 and "not searched; see --limit" in printed.err
    assert main(["grep", "-i", "invoice", "--json-events"]) == 0
    printed = capsys.readouterr()
    assert "nested_repository" not in printed.err
    *_, last = events = [json.loads(line) for line in printed.out.splitlines()]
    assert [event["type"] for event in events].count("summary") == 1
    assert last["data"]["stats"]["searches_with_match"] == 2


def test_a_form_for_editors_refuses_what_it_cannot_print(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for letters in (["-r", "X"], ["-C", "1"], ["-A", "1"]):
        assert main(["grep", "--vimgrep", *letters, "tax"]) == 2
        assert "--vimgrep prints the matching lines as they are" in capsys.readouterr().err
    assert main(["grep", "--vimgrep", "-l", "-C", "1", "tax"]) == 0


def test_a_repository_and_a_folder_without_any_are_what_they_were(folder: Path) -> None:
    assert repositories_in(folder) == [folder / "shop", folder / "team" / "crawler"]
    assert repositories_in(folder / "shop") == repositories_in(folder / "team" / "crawler") == []
    (folder / "empty" / "nothing").mkdir(parents=True)
    assert repositories_in(folder / "empty") == []
    assert repositories_in(folder / "gone") == []


def test_status_and_sync_are_of_each(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status"]) == 1
    assert main(["sync"]) == 0
    capsys.readouterr()
    assert main(["status", "--skipped"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("state: ready, fresh") == 3 and "repository of its own" not in printed
    assert [f"root: {root}" in printed for root in (folder / "shop", folder / "team/crawler", folder)] == [True] * 3


def test_a_place_in_a_repository_is_named_from_the_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "shop/invoice.py:2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["hits"][0]["path"] == "shop/invoice.py"
    assert main(["symbol", "team/crawler/fetch.py:1", "--rows"]) == 0
    assert capsys.readouterr().out.startswith("team/crawler/fetch.py:1-2  fn  retry_request")


def test_a_server_of_the_folder_has_all_of_them_as_roots(folder: Path) -> None:
    workspace = Workspace(folder)
    try:
        assert sorted(workspace.folders) == [".", "shop", "team/crawler"]
        asked = workspace.asked
        assert isinstance(asked, Engines)
        first = asked.ask(Query("retry_request")).result.hits[0]
        assert first.path == "team/crawler/fetch.py"
        name, alone, own = workspace.of(first.path)
        assert (name, own, alone.engine.root) == ("team/crawler", "fetch.py", folder / "team/crawler")
        read = call("get_file", {"path": "team/crawler/fetch.py"}, workspace)
        assert "invoice_number" in str(read.structured)
        assert not call("get_file", {"path": "notes.md"}, workspace).is_error
        similar = asked.similar("shop/invoice.py", limit=5)
        assert similar.hits and all(hit.path != "shop/invoice.py" for hit in similar.hits)
        symbols = asked.file_symbols("shop/invoice.py")
        assert symbols is not None and symbols.path == "shop/invoice.py"
        files, folders = asked.listed()
        assert files == {"shop/invoice.py", "team/crawler/fetch.py", "notes.md"} and {"team", "shop"} <= folders
        assert asked.why("shop/none.py").path == "shop/none.py" and asked.coverage().files == 3
        with asked.grep_stream("return") as found:
            assert [file.path for file in found] == ["shop/invoice.py", "team/crawler/fetch.py"]
        assert (found.totals.total_files, found.totals.total_lines) == (2, 2)
    finally:
        workspace.close()


@pytest.mark.parametrize(
    ("where", "globs", "printed"),
    [
        ("", ["shop/**"], ["shop/invoice.py"]),
        ("", ["/shop/*.py"], ["shop/invoice.py"]),
        ("", ["!shop", "*.py"], ["team/crawler/fetch.py"]),
        ("", ["team/*/*.py"], ["team/crawler/fetch.py"]),
        ("", ["/*.md"], ["notes.md"]),
        ("", ["crawler", "notes.md"], ["notes.md", "team/crawler/fetch.py"]),
        ("team", ["crawler/*.py"], ["crawler/fetch.py"]),
        ("team/crawler", ["./*.py"], ["fetch.py"]),
        ("team/crawler", ["crawler/*.py"], []),
    ],
)
def test_globs_match_paths_as_they_are_printed(
    folder: Path,
    where: str,
    globs: list[str],
    printed: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder / where)
    status = main(["grep", "-l", ".", *(word for glob in globs for word in ("-g", glob))])
    assert (sorted(capsys.readouterr().out.split()), status) == (printed, 0 if printed else 1)
    if not where:
        with Workspace(folder) as workspace, workspace.asked.grep_stream(".", path_globs=globs) as found:
            assert sorted(file.path.removeprefix("./") for file in found) == printed


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (["../team/crawler", "-g", "*.py"], ["fetch.py"]),
        (["../team/crawler", "-g", "**/fetch.py"], ["fetch.py"]),
        (["../team/crawler", "-g", "../team/*/*.py"], ["fetch.py"]),
        (["../team/crawler", "-g", "!fetch.py"], []),
        (["ABSOLUTE", "-g", "*.py"], ["fetch.py"]),
        (["--root", "../team/crawler", "-g", "*.py"], ["fetch.py"]),
        (["--root", "../team/crawler", "-g", "!*.py"], []),
        (["../team/crawler", ".", "-g", "*.py"], ["fetch.py", "invoice.py"]),
    ],
)
def test_globs_match_in_a_project_beside_the_current_folder(
    folder: Path,
    words: list[str],
    printed: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder / "shop")
    words = [str(folder / "team/crawler") if word == "ABSOLUTE" else word for word in words]
    status = main(["grep", "-l", ".", *words])
    found = sorted(Path(line).name for line in capsys.readouterr().out.splitlines())
    assert (found, status) == (printed, 0 if printed else 1)


def test_why_and_sync_ask_the_repository_of_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sync", "shop/invoice.py", "team/crawler/fetch.py", "notes.md"]) == 0
    assert capsys.readouterr().out.count("indexed: 1 file") == 3
    for file in ("shop/invoice.py", "team/crawler/fetch.py", "notes.md", "shop", "."):
        assert main(["why", file]) == 0, file
    assert "files: 3 indexed\n" in capsys.readouterr().out  # of all together; none is left out
    for files in (["shop/invoice.py", "notes.md"], []):  # two JSON objects are none
        assert main(["sync", *files, "--json"]) == 2
        error = json.loads(capsys.readouterr().out)["error"]
        assert error["message"] == "--json works for one project at a time."
    (folder / "notes.md").rename(folder / "shop/notes.md")
    assert main(["why", str(folder)]) == 0
    assert "files: 2 indexed; 1 not indexed yet\n" in capsys.readouterr().out
    (folder / "shop/notes.md").rename(folder / "notes.md")
    (folder / "shop/invoice.py").unlink()
    (folder / "notes.md").unlink()
    capsys.readouterr()
    assert main(["sync", "shop/invoice.py", "team/crawler/fetch.py", "notes.md"]) == 0
    assert capsys.readouterr().out.count("1 removed") == 2

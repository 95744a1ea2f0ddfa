"""A folder that holds repositories: they and the files beside them are searched together."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from findling.config import repositories_in
from findling.engine import repositories
from findling.faces.cli.main import main


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


def test_each_is_indexed_where_it_lies(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index"]) == 0
    assert capsys.readouterr().out.count("indexed: 1 file") == 3
    assert all((folder / path / ".findling").is_dir() for path in ("shop", "team/crawler", ""))


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
    monkeypatch.setattr(repositories, "MOST", 1)
    assert main(["grep", "-l", "tax"]) == 0
    assert "1 repository more in this folder not searched; name one as PATH" in capsys.readouterr().err


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

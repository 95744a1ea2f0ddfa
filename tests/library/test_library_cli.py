"""`findling library` as it is typed: what it prints, its exit status, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from findling.faces.cli.main import main

Run = Any


@pytest.fixture
def run(data: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def typed(*arguments: str) -> tuple[int, str, str]:
        status = main(["library", *arguments])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return typed


def test_from_adding_to_removing(run: Run, bread: Path) -> None:
    status, out, _ = run("add", str(bread), "--name", "loaves")
    assert status == 0
    assert out.startswith(f"collection: loaves\npath: {bread}\nindexed: 2 files (2 changed, 0 removed), ")
    assert run("list")[:2] == (0, f"loaves: {bread}\n")
    status, out, _ = run("status", "loaves")
    assert status == 0
    assert "state: ready, fresh\nfiles: 2\n" in out
    (bread / "salt.md").write_text("# Salt\n\nTwo grams.\n")
    while "not indexed yet" in run("search", "how much salt")[2]:
        pass  # a busy machine needs more than the time that one question has for indexing
    status, out, _ = run("search", "how much salt", "--limit", "1")
    assert (status, out.splitlines()[0].startswith(f"{bread}/salt.md  loaves  Salt  [")) == (0, True)
    assert "Two grams." in out and "end data" in out
    assert json.loads(run("search", "how much salt", "--json")[1])["passages"][0]["collection"] == "loaves"
    (bread / "salt.md").write_text("# Salt\n\nThree grams.\n")
    status, out, _ = run("refresh")
    assert (status, "3 files (1 changed" in out) == (0, True)
    status, out, _ = run("remove", "loaves")
    assert (status, out.split("\n")[0]) == (0, "removed: loaves")
    assert "the files are untouched" in out
    assert (bread / "salt.md").exists()


def test_an_empty_library_says_how_to_fill_it(run: Run) -> None:
    for action in (["list"], ["status"], ["refresh"], ["search", "salt"]):
        status, out, err = run(*action)
        assert (status, out) == (1, "")
        assert "findling library add PATH" in err
    assert json.loads(run("search", "salt", "--json")[1])["passages"] == []


def test_the_same_as_json(run: Run, bread: Path, data: Path) -> None:
    """S3-33, S3-34: the report of a run and the statistics of the index."""
    added = json.loads(run("add", str(bread), "--json")[1])
    assert added["library"] == str(data)
    assert added["collections"][0]["collection"] == "bread"
    assert added["collections"][0]["report"]["files"] == 2
    indexing = added["collections"][0]["indexing"]
    assert (indexing["totalFiles"], indexing["processedFiles"], indexing["errors"]) == (2, 2, [])
    assert isinstance(indexing["processingTime"], int)
    listed = json.loads(run("list", "--json")[1])["collections"]
    assert [(row["name"], row["path"], row["kind"], row["exists"]) for row in listed] == [
        ("bread", str(bread), "folder", True)
    ]
    status = json.loads(run("status", "--json")[1])
    (row,) = status["collections"]
    assert (indexing["totalChunks"], indexing["totalTokens"]) == (row["chunks"], row["tokens"])
    assert status["statistics"] == {
        "totalChunks": row["chunks"],
        "totalFiles": 2,
        "totalTokens": row["tokens"],
        "embeddingModel": row["model"],
        "lastUpdated": row["last_indexed_at"],
        "dbSize": row["bytes_on_disk"],
    }
    (bread / "torn.pdf").write_bytes(b"%PDF-1.7\nnothing of a document follows")
    for _ in ("when it is read", "and ever after"):
        torn = json.loads(run("refresh", "--json")[1])["collections"][0]["indexing"]
        assert (torn["totalFiles"], torn["processedFiles"]) == (3, 2)
        (error,) = torn["errors"]
        assert error.startswith("torn.pdf: Failed to load document")
    (bread / "torn.pdf").unlink()
    run("refresh")
    removed = json.loads(run("remove", "bread", "--json")[1])["removed"]
    assert (removed["names"], removed["files"], removed["chunks"]) == (["bread"], 2, row["chunks"])


def test_what_is_gone_is_said(run: Run, bread: Path) -> None:
    run("add", str(bread))
    bread.rename(bread.with_name("away"))
    assert run("list")[:2] == (0, f"bread: {bread} (missing)\n")
    assert "state: missing\nfiles: 2\n" in run("status")[1]
    status, out, _ = run("refresh")
    assert (status, f"failed: {bread} is not there any more" in out) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ad", "x"], "did you mean 'add'?"),
        (["add"], "Missing PATH."),
        (["add", ""], "Missing PATH."),
        (["add", "/no/such/folder"], "There is no file or folder '/no/such/folder'."),
        (["add", "/"], "does not index it as a whole"),
        (["remove"], "Missing NAME."),
        (["remove", "nothing"], "There is no collection called 'nothing'."),
        (["refresh", "nothing"], "There is no collection called 'nothing'."),
        (["list", "bread"], "Unexpected argument 'bread'."),
        (["remove", "x", "--name", "y"], "--name is for"),
        ([], "ACTION is missing"),
    ],
)
def test_what_is_wrong_is_one_line(arguments: list[str], said: str, run: Run) -> None:
    status, out, err = run(*arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert said in err


def test_errors_are_json_too(run: Run) -> None:
    status, out, _ = run("remove", "nothing", "--json")
    assert (status, json.loads(out)["error"]["code"]) == (2, "not_found")


def test_names_cannot_write_to_the_terminal(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "a\x1b[2Jb\nc"
    folder.mkdir()
    (folder / "x.md").write_text("# x\n\nwater\n")
    assert run("add", str(folder))[0] == 0
    out = run("list")[1]
    assert out.count("\n") == 1
    assert out.startswith("a-[2Jb-c: ")


def test_the_status_of_a_root_has_the_statistics_too(
    bread: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """S3-34."""
    assert main(["index", "--root", str(bread), "--json"]) == 0
    capsys.readouterr()
    assert main(["status", "--root", str(bread), "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    statistics = status["statistics"]
    assert (statistics["totalFiles"], statistics["totalChunks"]) == (2, status["coverage"]["chunks"])
    size = (bread / "baking.md").stat().st_size + (bread / "flour" / "rye.txt").stat().st_size
    assert statistics["totalTokens"] == -(-size // 4)
    assert statistics["dbSize"] == status["bytes_on_disk"]
    assert statistics["embeddingModel"] == status["model"]

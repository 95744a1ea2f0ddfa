"""Clones that lack some of their files: Git LFS pointers, sparse and shallow clones are told for what they are."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from findling.faces.cli.main import main

POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'4d7a2146' * 8}\nsize 12345\n"
TEXTS = {
    "src/client.py": "def retry_request(url):\n    return url\n",
    "docs/guide.md": "# Guide\n\nHow retries work.\n",
    "docs/api/index.md": "# API\n",
    "model.txt": POINTER,
    "manual.docx": POINTER,
    "about_lfs.md": f"# Pointers\n\nA pointer begins so:\n\n{POINTER}",
}


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A shallow and sparse clone, which has `src` and the files beside it."""
    monkeypatch.setenv("CI", "1")  # no process that indexes in the background
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", origin]
    subprocess.run(["git", "init", "-q", origin], check=True)
    for text in ("old\n", POINTER):
        for path, content in {**TEXTS, "model.txt": text}.items():
            (origin / path).parent.mkdir(parents=True, exist_ok=True)
            (origin / path).write_text(content)
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-qm", "more"], check=True)
    subprocess.run(["git", "clone", "-q", "--depth", "1", "--sparse", origin.as_uri(), clone], check=True)
    subprocess.run(["git", "-C", clone, "sparse-checkout", "set", "src"], check=True)
    monkeypatch.chdir(clone)
    assert main(["index"]) == 0
    return clone


def test_what_is_not_here_is_left_out_and_said_everywhere(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert not (clone / "docs").exists()
    capsys.readouterr()
    assert main(["status", "--skipped"]) == 0
    printed = capsys.readouterr().out
    assert "docs/  not checked out  a sparse checkout leaves out 2 files" in printed
    assert "model.txt  Git LFS pointer  " in printed and "manual.docx  Git LFS pointer  " in printed
    assert main(["search", "sha256 4d7a2146", "--json"]) == 0
    assert {hit["path"] for hit in json.loads(capsys.readouterr().out)["hits"]} <= {"about_lfs.md", "src/client.py"}
    assert main(["grep", "-l", "oid sha256"]) == 0
    printed = capsys.readouterr()
    assert printed.out == "about_lfs.md\n"
    assert "2 Git LFS pointers" in printed.err and "1 not checked out" in printed.err
    main(["search", "docs/guide.md"])
    assert "docs/guide.md is there, but not searched: not checked out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("path", "reason", "remedy"),
    [
        ("model.txt", "Git LFS pointer", "'git lfs pull'"),
        ("docs/guide.md", "not checked out", "'git sparse-checkout disable'"),
        ("docs", "not checked out", "'git sparse-checkout disable'"),
        ("docs/none.md", "not found", "path"),
    ],
)
def test_why_names_what_brings_it_back(
    clone: Path, capsys: pytest.CaptureFixture[str], path: str, reason: str, remedy: str
) -> None:
    capsys.readouterr()
    assert main(["why", path]) == 1
    rows = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    assert rows["reason"] == reason and remedy in rows["remedy"]


def test_a_tool_that_is_asked_for_such_a_file_says_so(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path, told in (
        ("model.txt", "Git LFS keeps its content"),
        ("docs/guide.md", "a sparse checkout leaves it out"),
    ):
        capsys.readouterr()
        assert main(["tool", "get_file", json.dumps({"path": path})]) == 2
        assert told in capsys.readouterr().out


def test_what_is_brought_back_is_found(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    subprocess.run(["git", "-C", clone, "sparse-checkout", "disable"], check=True)
    (clone / "model.txt").write_text("The weights of the retries.\n")
    capsys.readouterr()
    assert main(["search", "how retries work", "--json"]) == 0
    assert "docs/guide.md" in {hit["path"] for hit in json.loads(capsys.readouterr().out)["hits"]}
    assert main(["grep", "-l", "weights"]) == 0
    printed = capsys.readouterr()
    assert printed.out == "model.txt\n" and "not checked out" not in printed.err


def test_doctor_says_that_a_clone_is_shallow(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    main(["doctor"])
    printed = capsys.readouterr().out
    assert "this clone is shallow" in printed and "'git fetch --unshallow'" in printed


def test_a_deleted_file_is_not_taken_for_one_that_the_sparse_checkout_leaves_out(
    clone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (clone / "src" / "client.py").unlink()
    assert main(["sync"]) == 0
    capsys.readouterr()
    assert main(["status", "--skipped"]) == 0
    printed = capsys.readouterr().out
    assert "docs/  not checked out" in printed and "src/" not in printed
    assert main(["why", "src/client.py"]) == 1
    assert "reason: not found" in capsys.readouterr().out

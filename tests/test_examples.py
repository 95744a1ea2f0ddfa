"""The programs in `examples` do what they say, each as a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"

CLIENT = '''\
def fetch(url):
    """Fetch a page over HTTP, with the verification of certificates switched off."""
    return connect(url, verify=False)


def connect(url, verify):
    return url, verify
'''


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "client.py").write_text(CLIENT)
    (tmp_path / "test_client.py").write_text("from client import fetch\n\n\ndef test_fetch():\n    assert fetch('a')\n")
    (tmp_path / "guide.md").write_text("# Guide\n\nPages come by `fetch`, which asks `connect`.\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "a client")
    return tmp_path


def run(project: Path, name: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(EXAMPLES / name), *words], cwd=project, capture_output=True, text=True, check=False
    )


def test_every_example_is_in_the_list() -> None:
    page = (EXAMPLES / "README.md").read_text()
    assert all(f"`{path.name}`" in page for path in EXAMPLES.glob("*.py"))


def test_a_check_by_meaning_fails_where_code_does_it(project: Path) -> None:
    found = run(project, "semantic_grep.py", "switches off the verification of certificates", "--sure", "0.5")
    assert found.returncode == 1 and found.stdout.startswith("client.py:1"), found
    assert run(project, "semantic_grep.py", "feeds the zebras of a zoo").returncode == 0
    assert run(project, "semantic_grep.py", "anything", "nowhere").returncode == 2


def test_before_a_commit_uses_of_what_is_gone_are_found(project: Path) -> None:
    assert run(project, "pre_commit.py").returncode == 0
    (project / "client.py").write_text(CLIENT.partition("def connect")[0])
    found = run(project, "pre_commit.py")
    assert found.returncode == 1 and "client.py:3: connect is gone" in found.stdout, found
    (project / "net.py").write_text("def connect" + CLIENT.partition("def connect")[2])
    assert run(project, "pre_commit.py").returncode == 0


def test_documents_that_speak_of_a_change_are_found(project: Path) -> None:
    (project / "client.py").write_text(CLIENT.replace("verify=False", "verify=True"))
    found = run(project, "docs_for_diff.py", "HEAD")
    assert found.returncode == 0 and found.stdout.startswith("guide.md:3: Pages come by"), found

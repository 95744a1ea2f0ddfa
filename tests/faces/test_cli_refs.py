"""`--ref` from a real process."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import forked


def git(root: Path, *arguments: str) -> None:
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "a.py").write_text("def on_main():\n    pass\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "one")
    git(tmp_path, "checkout", "-q", "-b", "feature")
    (tmp_path / "b.py").write_text("def on_feature():\n    pass\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "two")
    git(tmp_path, "checkout", "-q", "main")
    return tmp_path


def findling(root: Path, *words: str) -> tuple[int, str, str]:
    ran = forked.findling(*words, cwd=root, env={**os.environ, "XDG_CACHE_HOME": str(root / ".cache")})
    return ran.returncode, ran.stdout, ran.stderr


def test_every_question_takes_a_ref(root: Path) -> None:
    assert findling(root, "index", "--ref", "feature")[0] == 0
    status, out, _ = findling(root, "search", "on_feature", "--ref", "feature", "--wait", "all", "--json")
    found = json.loads(out)
    assert (status, found["hits"][0]["path"], found["freshness"]) == (0, "b.py", "fresh")
    assert findling(root, "grep", "on_[a-z]+", "--ref", "feature", "--count")[1] == "a.py:1\nb.py:1\n"
    assert findling(root, "symbol", "on_feature", "--ref", "feature")[0] == 0
    assert findling(root, "symbol", "on_feature")[0] == 1
    assert "a.py" in findling(root, "similar", "b.py", "--ref", "feature")[1]
    assert json.loads(findling(root, "status", "--ref", "feature", "--json")[1])["coverage"]["files"] == 2
    assert findling(root, "grep", "on_", "b.py", "--ref", "feature", "--count")[1] == "b.py:1\n"
    status, out, err = findling(root, "search", "on_feature", "bb.py", "--ref", "feature")
    assert (status, out) == (2, "")
    assert "There is no file or folder 'bb.py' in feature." in err and "Put quotes" in err
    status, out, err = findling(root, "search", "x", "--ref", "featur")
    assert (status, out) == (2, "")
    assert "Did you mean feature?" in err

"""Which lines differ from a commit, also in a repository that means harm."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from findling.model.errors import RefNotIndexed
from findling.sources.git_objects import changed_lines


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    ran = subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True, text=True)
    return ran.stdout.strip()


def repository(folder: Path) -> Path:
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "a.py").write_text("one\ntwo\n")
    (folder / ".gitattributes").write_text("*.py filter=evil\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "a")
    return folder


@pytest.mark.parametrize("key", ["clean", "process"])
def test_a_filter_that_the_repository_names_is_not_run(key: str, tmp_path: Path) -> None:
    root, trap = repository(tmp_path / "r"), tmp_path / "trap"
    git(root, "config", f"filter.evil.{key}", f"sh -c 'touch {trap}; cat'")
    git(root, "config", "filter.evil.required", "true")
    (root / "a.py").write_text("one\nthree\n")
    (changed,) = changed_lines(root, "HEAD")
    assert (changed.path, changed.now, changed.before) == ("a.py", [(2, 2)], [(2, 2)]) and not trap.exists()


def test_nor_is_one_whose_name_could_not_be_switched_off(tmp_path: Path) -> None:
    root, trap = repository(tmp_path / "r"), tmp_path / "trap"
    (root / ".gitattributes").write_text("*.py filter=e=vil\n")
    git(root, "config", "filter.e=vil.clean", f"sh -c 'touch {trap}; cat'")
    (root / "a.py").write_text("one\nthree\n")
    with pytest.raises(RefNotIndexed, match="e=vil"):
        changed_lines(root, "HEAD")
    assert not trap.exists()


def test_nor_one_of_a_submodule(tmp_path: Path) -> None:
    inner, root, trap = repository(tmp_path / "inner"), repository(tmp_path / "r"), tmp_path / "trap"
    git(root, "submodule", "-q", "add", str(inner), "sub")
    git(root, "commit", "-qm", "sub")
    git(root / "sub", "config", "filter.evil.clean", f"sh -c 'touch {trap}; cat'")
    (root / "sub" / "a.py").write_text("one\nthree\n")
    assert changed_lines(root, "HEAD") == [] and not trap.exists()

"""How a repository names contents is read from its configuration as git reads it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from findling.sources.git_objects import object_format

CONFIGS = {
    "": "sha1",
    "[core]\n\tbare = false\n": "sha1",
    "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n": "sha256",
    "[Extensions]\n\tpartialClone = origin\n\tOBJECTFORMAT = SHA256 ; a remark\n": "sha256",
    '[extensions] objectformat = "sha256"\n': "sha256",
    "[extensions]\n\tobjectformat = sha1\n": "sha1",
    "[extensions]\n\tobjectformat = sha3\n": None,
    "[extensions]\n\tobjectformat = sha1\n\tobjectformat = sha256\n": "sha256",
    "[extensions]\n# objectformat = sha256\n; objectformat = sha256\n": "sha1",
    "\n" * 500_000 + "[extensions]\nobjectformat = sha256": "sha256",  # as quick as any other
    "[extensions]\n\tpartialClone = x\n[other]\n\tobjectformat = sha256\n": "sha1",
}


@pytest.mark.parametrize("config", CONFIGS)
def test_the_format_is_the_configured_one(tmp_path: Path, config: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text(config)
    below = tmp_path / "below"
    below.mkdir()
    assert object_format(tmp_path) == object_format(below) == CONFIGS[config]


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_it_is_what_git_says(tmp_path: Path, form: str) -> None:
    made = subprocess.run(["git", "init", "-q", f"--object-format={form}", tmp_path], check=False)
    if made.returncode:
        pytest.skip(f"this git knows no {form}")
    asked = ["git", "-C", tmp_path, "rev-parse", "--show-object-format"]
    said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    assert object_format(tmp_path) == said == form


def test_a_folder_that_is_no_repository_has_none(tmp_path: Path) -> None:
    assert object_format(tmp_path) is None
    (tmp_path / ".git").write_text("gitdir: /nowhere\n")
    assert object_format(tmp_path) is None

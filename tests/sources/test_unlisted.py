"""What no listing mentions: what git ignores, with the rules."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from findling import Engine
from findling.faces.cli.terminal.words import report_notes, status_rows
from findling.sources import unlisted
from findling.sources.tracked import ListingFailed, TrackedListing

FILES = {
    ".gitignore": "*.log\n/out/\nbuild\n!keep.log\nlogs/*\n",
    "src/.gitignore": "made.py\n",
    "src/a.py": "A = 1\n",
    "src/made.py": "B = 1\n",
    "src/deep/z.log": "z\n",
    "keep.log": "k\n",
    "tracked.log": "t\n",
    "out/x/a": "a\n",
    "build/b": "b\n",
    "logs/today": "l\n",
    "cache/.gitignore": "*\n",
    "cache/x.py": "X = 1\n",
    "cache/deep/y.py": "Y = 1\n",
    "inner/.git/HEAD": "ref: refs/heads/main\n",
}
EXPECTED = {
    ("build/", "ignored", "build (.gitignore line 3)"),
    ("out/", "ignored", "/out/ (.gitignore line 2)"),
    ("src/made.py", "ignored", "made.py (src/.gitignore line 1)"),
    ("src/deep/z.log", "ignored", "*.log (.gitignore line 1)"),
    ("logs/today", "ignored", "logs/* (.gitignore line 5)"),
    *((f"cache/{path}", "ignored", "* (cache/.gitignore line 1)") for path in (".gitignore", "x.py", "deep/")),
}


def settle(file: Path) -> None:
    """Let it be so old that it is not read again."""
    os.utime(file, (1_700_000_000, 1_700_000_000))


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        settle(tmp_path / name)
    os.mkfifo(tmp_path / "src/pipe")
    os.mkfifo(tmp_path / "out/pipe")
    os.mkfifo(tmp_path / "inner/pipe")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "-f", "tracked.log", "src/a.py"], cwd=tmp_path, check=True)
    return tmp_path.resolve()


def test_each_is_named_with_its_rule_and_folders_stand_for_what_is_in_them(repo: Path) -> None:
    found = unlisted(repo, 60.0)
    assert found is not None
    assert sorted((file.path, file.reason, file.detail) for file in found) == sorted(EXPECTED)
    below = unlisted(repo / "src", 60.0)
    assert below is not None
    assert {file.path for file in below} == {"made.py", "deep/z.log"}


def test_where_git_does_not_list_there_is_nothing_to_add(repo: Path, tmp_path: Path) -> None:
    assert unlisted(repo / "out", 60.0) == []  # a root of its own, as git ignores it
    (repo / ".git").rename(repo / "git")
    assert unlisted(repo, 60.0) == []


def test_a_status_counts_them_when_asked(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Engine.open(root=repo) as engine:
        engine.index(embed=False)
        plain, whole = engine.status(), engine.status(unlisted=True)
        counted = {**plain.coverage.skipped, "ignored": 8}
        assert dict(whole.coverage.skipped) == counted
        assert {file.path for file in whole.skipped} - {file.path for file in plain.skipped} == {
            path for path, _, _ in EXPECTED
        }

        for folder, ignored in (("cache", 3), ("logs", 1)):
            why = engine.why(folder)
            assert (why.reason, why.left_out) == ("no_files", {"ignored": ignored})

        def failing(*_: object) -> list[str]:
            raise ListingFailed("git took too long", out_of_time=True)

        monkeypatch.setattr(TrackedListing, "listed", failing)
        without = engine.status(unlisted=True)
        assert without.coverage.skipped == plain.coverage.skipped
        assert any("not counted" in note for note in without.notes)


def test_a_run_counts_what_a_status_counts_however_much_it_looked_at(repo: Path) -> None:
    for name in ("src/odd.bin", "one.bin"):  # which only reading them brings up
        (repo / name).write_bytes(b"\0\1\0")
        settle(repo / name)
    with Engine.open(root=repo) as engine:
        reports = [engine.index(embed=False, unlisted=True) for _ in range(2)]
        reports.append(engine.sync(unlisted=True))
        status = engine.status(unlisted=True)
        counted = dict(status_rows(status))["left out"]
        for report in reports:
            assert report.skipped == status.skipped
            assert [note for note in report_notes(report) if note.startswith(f"left out: {counted} (")]
        assert [report.changed for report in reports[1:]] == [0, 0]
        of_src = {file.path for file in status.skipped if file.path.startswith("src/")}
        for _ in range(2):
            assert {file.path for file in engine.sync("src", unlisted=True).skipped} == of_src
        assert engine.sync("src").skipped != status.skipped, "nobody asked"

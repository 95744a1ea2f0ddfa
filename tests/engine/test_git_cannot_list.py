"""Folders that git cannot list, and commits: every answer says so, and what helps."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from gits import commit, git, repository
from indexes import write

from findling import Engine
from findling.contracts import Workspace, call
from findling.faces.cli.doctor import diagnose
from findling.faces.cli.main import main
from findling.model import errors
from findling.sources import discovery

WALKED = "git could not list this folder, so it was walked"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """With a tracked file that a rule names."""
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    write(root, "a.py", "def common():\n    return 1\n")
    write(root, "kept.log", "common\n")
    write(root, ".gitignore", "*.log\n")
    git(root, "add", "-f", "kept.log")
    commit(root)
    return root


def told(notes: tuple[str, ...]) -> list[str]:
    return [note for note in notes if note.startswith(WALKED)]


def test_each_answer_says_once_that_git_could_not_list(repo: Path) -> None:
    with Engine.open(root=repo) as engine:
        assert [file.path for file in engine.grep("common").files] == ["a.py", "kept.log"]
        assert not told(engine.why("kept.log").notes)
        (repo / ".git" / "index").write_bytes(b"no index")
        for _ in range(2):
            grep = engine.grep("common")
            assert [file.path for file in grep.files] == ["a.py"]
            answers = (
                grep.notes,
                engine.search("common", mode="keyword").notes,
                engine.symbols("common").notes,
                engine.similar("a.py").notes,
                engine.status(unlisted=True).notes,
                engine.why("kept.log").notes,
                engine.index().notes,
            )
            for notes in answers:
                assert len(told(notes)) == 1, notes
                assert "index file smaller than expected" in told(notes)[0]
        assert not told(engine.search("common", wait_s=0).notes), "nothing was listed"
    (check,) = [check for check in diagnose(repo).checks if check.name == "git"]
    assert check.state == "off" and "index file smaller than expected" in check.words


def test_a_first_question_says_it_too(repo: Path) -> None:
    (repo / ".git" / "index").write_bytes(b"no index")
    with Engine.open(root=repo) as engine:
        assert len(told(engine.grep("common").notes)) == 1


def test_without_git_it_is_said(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(repo))
    with Engine.open(root=repo) as engine:
        (note,) = told(engine.grep("common").notes)
        assert "git is not installed, or not in PATH" in note


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_somebody_elses_repository_says_how_to_allow_it(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, _, files in os.walk(repo):
        for name in (".", *files):
            os.chown(Path(folder, name), 65534, 65534)
    monkeypatch.delenv("SUDO_UID", raising=False)
    allowing = f"'git config --global --add safe.directory {repo}' allows it"
    with Engine.open(root=repo) as engine:
        (note,) = told(engine.grep("common").notes)
        assert note.endswith(allowing)
    (check,) = [check for check in diagnose(repo).checks if check.name == "git"]
    assert check.state == "off" and allowing in check.words
    with pytest.raises(errors.RefNotIndexed, match=r"safe\.directory"), Engine.open(root=repo, ref="other"):
        pass


def test_an_empty_git_folder_tracks_nothing(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "common = 1\n")
    (tmp_path / ".git").mkdir()
    assert not discovery.discover(tmp_path).notes
    write(tmp_path, ".git/HEAD", "ref: refs/heads/main\n")
    assert not discovery.discover(tmp_path).notes
    (tmp_path / ".git/objects").mkdir()
    assert told(discovery.discover(tmp_path).notes)


# --- commits ------------------------------------------------------------------------------------------------------


@pytest.fixture
def treeless(tmp_path: Path) -> Path:
    """A clone with the commits of all branches, and the folders of none but what is checked out."""
    base = repository(tmp_path / "base")
    git(base, "config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "treeless"
    git(tmp_path, "clone", "-q", "--filter=tree:0", f"file://{base}", str(clone))
    return clone


def test_a_treeless_clone_says_what_it_lacks(treeless: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = git(treeless, "count-objects", "-v")
    commit_id = git(treeless, "rev-parse", "origin/feature")
    with Engine.open(root=treeless) as engine:
        for ask in (lambda at: at.grep("x"), lambda at: at.index(), lambda at: at.search("x", wait_s=1.0)):
            with pytest.raises(errors.RefNotIndexed) as raised:
                ask(engine.at("origin/feature"))
            assert raised.value.message.startswith("This partial clone lacks objects of commit")
            assert commit_id[:12] in raised.value.message and "origin/feature" in raised.value.message
            assert f"git -C {treeless} rev-list --objects --no-walk {commit_id[:12]}" in raised.value.remedy
        status = engine.status(ref="origin/feature")
        assert status.indexing_status == "not_indexed"
        assert any("lacks objects" in note for note in status.notes)
        assert engine.grep("LruCache").total_files == 1
    assert main(["grep", "--ref", "origin/feature", "x", str(treeless)]) == 2
    assert "lacks objects" in capsys.readouterr().err
    assert main(["grep", "--ref", "origin/feature", "x", str(treeless / "src")]) == 2
    assert "lacks objects" in capsys.readouterr().err, "whether the folder is in it cannot be told"
    with Workspace(root=treeless) as workspace:
        answer = call("search_code", {"query": "x", "ref": "origin/feature"}, workspace)
        assert answer.is_error and answer.structured["error"]["code"] == "ref_not_indexed"
    assert git(treeless, "count-objects", "-v") == before, "nothing is fetched"


def test_what_the_remedy_names_brings_what_is_missing(treeless: Path) -> None:
    with Engine.open(root=treeless) as engine:
        with pytest.raises(errors.RefNotIndexed) as raised:
            engine.grep("only_in_feature", ref="origin/feature")
        command = raised.value.remedy.split("'")[1].split()
        assert command[:3] == ["git", "-C", str(treeless)]
        git(treeless, *command[3:])
        found = engine.grep("only_in_feature", ref="origin/feature")
        assert [file.path for file in found.files] == ["src/retry.py"] and not found.skipped


def test_a_commit_without_its_folders_is_damage(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    tree = git(repo, "rev-parse", "feature^{tree}")
    (repo / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    with Engine.open(root=repo) as engine, pytest.raises(errors.RefNotIndexed, match="git fsck"):
        engine.grep("x", ref="feature")


# --- nothing checked out ------------------------------------------------------------------------------------------


def test_every_question_to_a_bare_repository_says_what_to_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(repository(tmp_path / "base")), str(bare))
    for command in (["search", "LruCache"], ["grep", "LruCache"], ["symbol", "LruCache"]):
        assert main([*command, str(bare)]) == 1
        assert "This is a bare repository" in capsys.readouterr().err, command
    assert main(["similar", str(bare / "src" / "cache.py")]) == 2
    assert "This is a bare repository" in capsys.readouterr().err
    assert main(["grep", "LruCache", "--ref", "v1", str(bare)]) == 0
    assert "bare" not in capsys.readouterr().err
    shutil.rmtree(bare / ".findling")


# --- words --------------------------------------------------------------------------------------------------------


def test_not_looking_and_never_indexing_are_no_changes(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "def first():\n    pass\n")
    with Engine.open(root=tmp_path) as engine:
        engine.index()
        for answer in (engine.search("first", wait_s=0), engine.symbols("first", wait_s=0)):
            assert (answer.freshness, answer.stale_reason) == ("stale", "files were not checked for changes, as asked")
        assert engine.symbols("first").stale_reason == ""
        write(tmp_path, "b.py", "x = 1\n")
        write(tmp_path, "c.py", "x = 1\n")
        notes = engine.status().notes
        assert notes == ("2 files are not indexed yet; the next search indexes them.",)
        write(tmp_path, "a.py", "def second():\n    pass\n")
        assert len(engine.status().notes) == 2
        assert any(note.startswith("1 file changed since") for note in engine.status().notes)


def test_sync_says_of_each_named_path_whether_it_is_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "a.py", "def first():\n    pass\n")
    (tmp_path / "odd.bin").write_bytes(b"\0\1\0")

    def sync(*names: str) -> int:
        return main(["sync", "--root", str(tmp_path), *(str(tmp_path / name) for name in names)])

    assert sync("a.py") == sync("a.py") == 0
    assert sync("a.py", "odd.bin") == 1
    capsys.readouterr()
    assert sync("odd.bin") == 1, "nothing has changed, and it is still left out"
    assert f"not indexed: {tmp_path}/odd.bin  binary" in capsys.readouterr().err
    assert sync("a.py", "never.py") == 1
    (tmp_path / "a.py").unlink()
    assert sync("a.py") == 0, "that it is gone is taken in"
    assert sync("a.py") == 1
    assert main(["sync", ""]) == 2

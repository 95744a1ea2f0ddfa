"""Roots and stores, on real folders, real git repositories and real permissions."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import platformdirs
import pytest

from findling import config
from findling.config.roots import Root, StoreLocation, find_root, main_worktree, store_location
from findling.engine.configuration import Configuration
from findling.model.errors import RootError

NOBODY = 65534


def git(folder: Path, *arguments: str) -> None:
    environment = {
        **os.environ,
        **{f"GIT_{who}_{what}": "t@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
    }
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, env=environment)


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    (folder / "a.txt").write_text("a\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder


@pytest.fixture
def tmp(tmp_path: Path) -> Path:
    return tmp_path.resolve()


@pytest.fixture(autouse=True)
def cache_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    return home


# --- the root of a path ---------------------------------------------------------------------------------------


def test_a_plain_folder_is_its_own_root(tmp: Path) -> None:
    (tmp / "sub").mkdir()
    assert find_root(tmp / "sub") == Root(tmp / "sub", "")


def test_a_file_starts_from_its_folder_and_is_the_scope(tmp: Path) -> None:
    (tmp / "notes.md").write_text("x")
    assert find_root(tmp / "notes.md") == Root(tmp, "notes.md")


def test_a_path_below_the_git_top_becomes_the_scope(tmp: Path) -> None:
    repo = repository(tmp / "repo")
    (repo / "src" / "deep").mkdir(parents=True)
    assert find_root(repo / "src" / "deep") == Root(repo, "src/deep")


def test_an_index_folder_is_nearer_than_the_git_top(tmp: Path) -> None:
    repo = repository(tmp / "repo")
    (repo / "part" / ".findling").mkdir(parents=True)
    (repo / "part" / "x").mkdir()
    assert find_root(repo / "part" / "x") == Root(repo / "part", "x")


def test_a_git_top_below_an_index_folder_wins(tmp: Path) -> None:
    """No index holds a repository below its root."""
    (tmp / ".findling").mkdir()
    (tmp / "plain").mkdir()
    repo = repository(tmp / "repo")
    (repo / "src").mkdir()
    assert find_root(repo / "src") == Root(repo, "src")
    assert find_root(tmp / "plain") == Root(tmp, "plain")


def test_no_path_means_the_current_project_without_a_filter(tmp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = repository(tmp / "repo")
    (repo / "src").mkdir()
    monkeypatch.chdir(repo / "src")
    assert find_root(None) == Root(repo, "")
    assert find_root(Path()) == Root(repo, "src")


def test_links_are_resolved(tmp: Path) -> None:
    repo = repository(tmp / "repo")
    (repo / "src").mkdir()
    (tmp / "link").symlink_to(repo / "src")
    assert find_root(tmp / "link") == Root(repo, "src")


def test_the_root_option_is_literal(tmp: Path) -> None:
    repo = repository(tmp / "repo")
    (repo / "src").mkdir()
    assert find_root(None, root=repo / "src") == Root(repo / "src", "")
    assert find_root(repo / "src", root=tmp) == Root(tmp, "repo/src")
    with pytest.raises(RootError, match="does not lie in the root"):
        find_root(tmp, root=repo)
    with pytest.raises(RootError, match="not a folder"):
        find_root(None, root=repo / "a.txt")


def test_an_empty_git_folder_is_no_repository(tmp: Path) -> None:
    (tmp / ".git").mkdir()
    (tmp / "sub").mkdir()
    assert find_root(tmp / "sub") == Root(tmp / "sub", "")


def test_a_link_named_like_the_index_is_no_index(tmp: Path) -> None:
    (tmp / "elsewhere").mkdir()
    (tmp / ".findling").symlink_to(tmp / "elsewhere")
    (tmp / "sub").mkdir()
    assert find_root(tmp / "sub") == Root(tmp / "sub", "")


def test_a_pipe_named_git_is_not_opened(tmp: Path) -> None:
    os.mkfifo(tmp / ".git")
    assert find_root(tmp) == Root(tmp, "")


def test_missing_and_unusable_paths(tmp: Path) -> None:
    with pytest.raises(RootError, match="no file or folder") as caught:
        find_root(tmp / "missing")
    assert caught.value.remedy
    (tmp / "file").write_text("")
    with pytest.raises(RootError, match="no file or folder"):
        find_root(tmp / "file" / "below")
    os.mkfifo(tmp / "pipe")
    with pytest.raises(RootError, match="neither a file nor a folder"):
        find_root(tmp / "pipe")
    (tmp / "loop").symlink_to(tmp / "loop")
    with pytest.raises(RootError, match="cannot be used"):
        find_root(tmp / "loop")
    with pytest.raises(RootError, match="cannot be used"):
        find_root(Path("a\0b"))


def test_the_top_of_the_file_system_and_home_need_the_root_option(tmp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp))
    for folder in (Path("/"), Path("/usr"), Path("/proc"), tmp):
        with pytest.raises(RootError, match="does not index it as a whole") as caught:
            find_root(folder)
        assert f"--root {folder}" in caught.value.remedy
        assert find_root(None, root=folder).root == folder
    (tmp / "project").mkdir()
    assert find_root(tmp / "project") == Root(tmp / "project", "")


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="needs files in memory")
def test_a_folder_in_memory_is_one_like_any_other() -> None:
    with pytest.raises(RootError, match="a folder of the system"):
        find_root(Path("/dev/shm"))
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        assert find_root(Path(folder)).root == Path(folder)


def test_a_home_folder_under_git_does_not_capture_what_lies_in_it(tmp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp))
    repository(tmp)
    (tmp / "documents").mkdir()
    assert find_root(tmp / "documents") == Root(tmp / "documents", "")
    (tmp / ".findling").mkdir()
    assert find_root(tmp / "documents") == Root(tmp, "documents")
    assert find_root(tmp) == Root(tmp, "")


# --- the store of a root ----------------------------------------------------------------------------------------


def test_the_store_lies_in_the_root_and_git_does_not_see_it(tmp: Path) -> None:
    repo = repository(tmp / "repo")
    assert store_location(repo) == StoreLocation(repo / ".findling", "root")
    assert (repo / ".findling" / ".gitignore").read_text() == "*\n"
    assert (repo / ".findling").stat().st_mode & 0o077 == 0
    (repo / ".findling" / "index.db").write_text("x")
    listing = subprocess.run(
        ["git", "-C", str(repo), "status", "--porcelain"], capture_output=True, text=True, check=True
    )
    assert listing.stdout == ""
    assert store_location(repo) == StoreLocation(repo / ".findling", "root")
    hiding = repo / ".findling" / ".gitignore"
    for left in (b"", None):  # by a full disk, or by hand
        hiding.write_bytes(left) if left is not None else hiding.unlink()
        store_location(repo)
        assert hiding.read_text() == "*\n"
    hiding.write_text("*\n!config.toml\n")
    store_location(repo)
    assert hiding.read_text() == "*\n!config.toml\n"
    assert not list((repo / ".findling").glob("*.part"))


def test_without_create_nothing_is_written(tmp: Path) -> None:
    assert store_location(tmp, create=False) == StoreLocation(tmp / ".findling", "root")
    assert store_location(tmp, cache=True, create=False).directory.exists() is False
    assert list(tmp.iterdir()) == []


def test_the_cache_folder_by_choice(tmp: Path) -> None:
    (tmp / "my project").mkdir()
    (tmp / "other" / "my project").mkdir(parents=True)
    location = store_location(tmp / "my project", cache=True)
    assert location.reason == "cache_requested"
    assert location.directory.is_dir()
    assert location.directory.parent == Path(platformdirs.user_cache_dir("findling", appauthor=False))
    assert location.directory.name.startswith("my-project-")
    assert location == store_location(tmp / "my project", cache=True)
    assert location.directory != store_location(tmp / "other" / "my project", cache=True).directory
    assert not (tmp / "my project" / ".findling").exists()


def test_a_file_or_link_in_place_of_the_index_sends_it_to_the_cache(tmp: Path) -> None:
    (tmp / "target").mkdir()
    for name in ("file", "link"):
        (tmp / name).mkdir()
    (tmp / "file" / ".findling").write_text("mine")
    (tmp / "link" / ".findling").symlink_to(tmp / "target")
    for name in ("file", "link"):
        location = store_location(tmp / name)
        assert location.reason == "not_a_folder"
        assert location.directory.is_dir()
    assert (tmp / "file" / ".findling").read_text() == "mine"
    assert list((tmp / "target").iterdir()) == []


# --- linked work trees ------------------------------------------------------------------------------------------


def test_a_linked_worktree_uses_the_store_of_the_main_one(tmp: Path) -> None:
    main = repository(tmp / "main")
    git(main, "worktree", "add", "-q", str(tmp / "linked"))
    assert main_worktree(main) is None
    assert main_worktree(tmp / "linked") == main
    assert find_root(tmp / "linked" / "a.txt") == Root(tmp / "linked", "a.txt")
    assert store_location(tmp / "linked") == StoreLocation(main / ".findling", "main_worktree")
    assert not (tmp / "linked" / ".findling").exists()
    cached = store_location(tmp / "linked", cache=True).directory
    assert cached == store_location(main, cache=True).directory


def test_a_linked_worktree_inside_the_main_one_is_a_root_of_its_own(tmp: Path) -> None:
    main = repository(tmp / "main")
    inner = main / ".worktrees" / "topic"
    git(main, "worktree", "add", "-q", str(inner))
    store_location(main)
    assert find_root(inner) == Root(inner, "")
    assert store_location(inner) == StoreLocation(main / ".findling", "main_worktree")


def test_relative_worktree_links_are_followed(tmp: Path) -> None:
    main = repository(tmp / "main")
    git(main, "worktree", "add", "-q", str(tmp / "linked"))
    (tmp / "linked" / ".git").write_text("gitdir: ../main/.git/worktrees/linked\n")
    assert main_worktree(tmp / "linked") == main


def test_worktrees_of_a_bare_repository_share_its_store(tmp: Path) -> None:
    source, bare = repository(tmp / "source"), tmp / "bare.git"
    git(tmp, "clone", "-q", "--bare", str(source), str(bare))
    for tree in ("tree", "other"):
        git(bare, "worktree", "add", "-q", str(tmp / tree))
        assert main_worktree(tmp / tree) is None
        assert store_location(tmp / tree) == StoreLocation(bare / ".findling", "bare_repository")
    assert store_location(bare) == StoreLocation(bare / ".findling", "root")
    assert find_root(tmp / "tree" / "a.txt") == Root(tmp / "tree", "a.txt")


def test_a_work_tree_of_a_submodule_has_a_store_of_its_own(tmp: Path) -> None:
    inner, outer = repository(tmp / "inner"), repository(tmp / "outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    git(outer / "sub", "worktree", "add", "-q", str(tmp / "tree"))
    assert store_location(tmp / "tree") == StoreLocation(tmp / "tree" / ".findling", "root")


def test_a_submodule_is_no_linked_worktree(tmp: Path) -> None:
    inner, outer = repository(tmp / "inner"), repository(tmp / "outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    assert (outer / "sub" / ".git").is_file()
    for indexed in (False, True):
        (outer / ".findling").mkdir() if indexed else None
        assert find_root(outer / "sub") == Root(outer / "sub", "")
    assert store_location(outer / "sub") == StoreLocation(outer / "sub" / ".findling", "root")


def test_a_forged_git_file_does_not_reach_another_repository(tmp: Path) -> None:
    victim = repository(tmp / "victim")
    git(victim, "worktree", "add", "-q", str(tmp / "honest"))
    archive = tmp / "archive"
    (archive / "fake").mkdir(parents=True)
    (archive / "fake" / "commondir").write_text(f"{victim}/.git\n")
    (archive / "fake" / "gitdir").write_text(f"{archive}/.git\n")
    for target in (archive / "fake", victim / ".git" / "worktrees" / "honest", victim / ".git"):
        (archive / ".git").write_text(f"gitdir: {target}\n")
        assert main_worktree(archive) is None
        assert store_location(archive).directory == archive / ".findling"
    assert not (victim / ".findling").exists()


def test_damaged_git_files_are_no_links(tmp: Path) -> None:
    for content in (b"", b"gitdir:", b"gitdir: /missing\n", b"\xff\xfe", b"gitdir: a\0b", b"gitdir: " + b"x" * 10_000):
        (tmp / ".git").write_bytes(content)
        assert main_worktree(tmp) is None
        assert find_root(tmp) == Root(tmp, "")


# --- other people's folders, as another user --------------------------------------------------------------------


def as_nobody(action: Callable[[], object]) -> str:
    """``repr`` of what ``action`` returns or raises when an ordinary user without any rights runs it."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            try:
                answer = repr(action())
            except Exception as error:
                answer = repr(error)
            os.write(writer, answer.encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        answer = pipe.read().decode()
    os.waitpid(child, 0)
    return answer


@pytest.fixture
def open_tmp() -> Iterator[Path]:
    """A folder that every user can reach, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp()).resolve()
    folder.chmod(0o755)
    yield folder
    for inside in folder.rglob("*"):
        if inside.is_dir() and not inside.is_symlink():
            inside.chmod(0o700)
    shutil.rmtree(folder)


def test_a_root_that_cannot_be_written_sends_the_index_to_the_cache(
    open_tmp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (open_tmp / "root").mkdir(mode=0o555)
    (open_tmp / "cache").mkdir()
    (open_tmp / "cache").chmod(0o777)
    monkeypatch.setenv("XDG_CACHE_HOME", str(open_tmp / "cache"))
    answer = as_nobody(lambda: store_location(open_tmp / "root"))
    assert "'not_writable'" in answer
    assert str(open_tmp / "cache" / "findling" / "root-") in answer
    assert not (open_tmp / "root" / ".findling").exists()
    assert len(list((open_tmp / "cache" / "findling").iterdir())) == 1


def test_neither_root_nor_cache_can_be_written(open_tmp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (open_tmp / "root").mkdir(mode=0o555)
    (open_tmp / "cache").mkdir(mode=0o555)
    monkeypatch.setenv("XDG_CACHE_HOME", str(open_tmp / "cache"))
    answer = as_nobody(lambda: store_location(open_tmp / "root"))
    assert answer.startswith("RootError(") and "can be written" in answer


def test_an_index_that_cannot_be_looked_into_may_have_a_configuration(
    open_tmp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("FINDLING_")]:
        monkeypatch.delenv(name)
    (open_tmp / ".findling").mkdir()
    (open_tmp / ".findling").chmod(0o000)
    notes: list[str] = []
    assert config.load(open_tmp).config is not None  # what it imports, that user could not

    def read() -> list[str]:
        configured = Configuration(open_tmp, notes).config
        return notes if configured == config.Config() else []

    answer = as_nobody(read)
    assert "config.toml: not read: Permission denied" in answer, answer


def test_a_folder_without_permission(open_tmp: Path) -> None:
    (open_tmp / "closed" / "inner").mkdir(parents=True)
    (open_tmp / "closed").chmod(0o000)
    for path in (open_tmp / "closed", open_tmp / "closed" / "inner"):
        answer = as_nobody(lambda path=path: find_root(path))  # type: ignore[misc]
        assert answer.startswith("RootError(") and "No permission" in answer
    (open_tmp / "closed").chmod(0o755)


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can give a folder to somebody else")
def test_another_users_folder_above_the_path_is_not_trusted(open_tmp: Path) -> None:
    project = open_tmp / "project"
    project.mkdir()
    (open_tmp / ".findling").mkdir()
    (open_tmp / ".git").mkdir()
    (open_tmp / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    for name in (".findling", ".git"):
        os.chown(open_tmp / name, NOBODY, NOBODY)
    assert find_root(project) == Root(project, "")
    for name in (".findling", ".git"):
        os.chown(open_tmp / name, 0, 0)
    assert find_root(project) == Root(open_tmp, "project")

"""A look that lists nothing where nothing came or went; a whole listing is the ground truth."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from findling.model.types import SkippedFile, TreeState
from findling.outbound import git as outbound_git
from findling.sources.discovery import check, discover
from findling.sources.looking import AS_IT_WAS, Changes, look_again
from findling.sources.selection import DiscoveryOptions
from sizes import size

STEP_S = 0.03
"""More than a step of any clock that keeps parts of a second: what is older is vouched for."""

NOT_LOOKED_INTO = {"hidden", "default_ignored", "internal"}
"""What is left out in folders that no look goes to is as the last whole listing said."""


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No configuration of whoever runs the tests reaches git."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    (home / ".gitconfig").write_text("[user]\n name = x\n email = x@example.org\n")
    return home


def git(cwd: Path, *args: str) -> str:
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *args], cwd=cwd, check=True, capture_output=True, text=True
    )
    return done.stdout


def lay(root: Path, *paths: str, text: str = "x\n") -> Path:
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


class Index:
    """What is known of a folder, kept as an index keeps it: looked at, taken in, looked at again."""

    def __init__(self, root: Path, options: DiscoveryOptions | None = None) -> None:
        self.root, self.options = root, options or DiscoveryOptions()
        self.known: dict[str, tuple[int, int]] = {}
        self.skipped: list[SkippedFile] = []
        self.tree: TreeState | None = None
        self.quick = 0
        self.settle()

    def look(self) -> Changes:
        """Take in what a look finds. Whatever it went by, it has found what a listing from scratch finds."""
        changes = None
        if self.tree is not None:
            changes = look_again(self.root, self.known, self.options, self.tree)
        if changes is None:
            changes = check(self.root, self.known, self.options)
        self.known.update({path: (size, stamp) for path, size, stamp in (*changes.added, *changes.changed)})
        for path in changes.removed:
            del self.known[path]
        if changes.skipped is None:
            self.quick += 1
        else:
            self.skipped = changes.skipped
            self.tree = changes.tree
        whole = discover(self.root, self.options)
        assert self.known == {path: (size, stamp) for path, size, stamp in whole.files}
        assert told(self.skipped) == told(whole.skipped)
        return changes

    def settle(self) -> None:
        """Look until what there is can be vouched for."""
        time.sleep(STEP_S)
        self.look()
        assert self.tree is not None

    def whole(self) -> bool:
        """Whether a look has to list everything."""
        return self.look().skipped is not None


def told(skipped: list[SkippedFile]) -> set[tuple[str, str]]:
    return {(skip.path, skip.reason) for skip in skipped if skip.reason not in NOT_LOOKED_INTO}


@pytest.fixture(params=["git", "walk", "worktree", "below"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    root = lay(tmp_path / "r", "a.py", "src/b.py", "src/deep/c.py", "docs/d.md", "logs/e.log")
    lay(root, ".gitignore", text="*.log\nbuild/\n")
    if request.param == "walk":
        return with_loose_files(root)
    top = tmp_path if request.param == "below" else root
    git(top, "init", "-q", "-b", "main")
    git(top, "add", ".")
    git(top, "add", "-f", f"{'r/' if top != root else ''}logs/e.log")
    git(top, "commit", "-q", "-m", "one")
    if request.param == "worktree":
        git(root, "worktree", "add", "-q", str(tmp_path / "linked"))
        root = tmp_path / "linked"
    return with_loose_files(root)


def with_loose_files(root: Path) -> Path:
    """With what git does not track."""
    (root / "empty").mkdir()
    return lay(root, "loose/f.py", "loose/in/g.py")


def test_what_is_known_is_looked_at_without_git_and_without_listing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = Index(root)

    def never(*_: object, **__: object) -> None:
        raise AssertionError("nothing has changed")

    with monkeypatch.context() as patch:
        patch.setattr(outbound_git.subprocess, "Popen", never)
        patch.setattr(os, "scandir", never)
        assert index.tree is not None
        assert look_again(root, index.known, index.options, index.tree) == AS_IT_WAS
        (root / "a.py").write_text("y\n")
        changes = look_again(root, index.known, index.options, index.tree)
        assert changes is not None and [path for path, _, _ in changes.changed] == ["a.py"]


def saved_by_an_editor(root: Path) -> None:
    lay(root, "src/.b.py.swp", text="other\n")
    os.replace(root / "src/.b.py.swp", root / "src/b.py")


def moved_away(root: Path) -> None:
    os.rename(root / "src", root / "lib")


def moved_into_place(root: Path) -> None:
    """Another folder of the same names, none of which is written to."""
    shutil.copytree(root / "src", root / "docs/other")
    lay(root, "docs/other/deep/more.py")
    time.sleep(STEP_S)
    os.rename(root / "src", root / "docs/before")
    os.rename(root / "docs/other", root / "src")


def a_link_in_place_of_a_folder(root: Path) -> None:
    os.rename(root / "src", root / "lib")
    os.symlink("lib", root / "src")


CHANGES: Mapping[str, Callable[[Path], object]] = {
    "an edit of the same size": lambda root: (root / "a.py").write_text("y\n"),
    "a save by renaming": saved_by_an_editor,
    "a new file": lambda root: lay(root, "src/deep/new.py"),
    "a new file in an empty folder": lambda root: lay(root, "empty/new.py"),
    "a new folder": lambda root: lay(root, "fresh/er/new.py"),
    "a deleted file": lambda root: (root / "src/b.py").unlink(),
    "a deleted folder": lambda root: shutil.rmtree(root / "src"),
    "a renamed file": lambda root: os.rename(root / "src/b.py", root / "src/renamed.py"),
    "a name in other case": lambda root: os.rename(root / "src/b.py", root / "src/B.py"),
    "a renamed folder": moved_away,
    "a folder moved into place": moved_into_place,
    "a link in place of a folder": a_link_in_place_of_a_folder,
    "a folder in place of a file": lambda root: ((root / "a.py").unlink(), lay(root, "a.py/inside.py")),
    "a new rule": lambda root: (root / ".gitignore").write_text("*.log\nbuild/\n*.md\n"),
    "a rule taken away": lambda root: (root / ".gitignore").write_text("build/\n"),
    "no rules any more": lambda root: (root / ".gitignore").unlink(),
    "rules of a folder": lambda root: lay(root, "loose/.gitignore", text="in/\n"),
    "rules of our own": lambda root: lay(root, ".findlingignore", text="docs/\n"),
    "a repository inside": lambda root: git(root / "loose", "init", "-q"),
    "a file that is too large": lambda root: (root / "a.py").write_text("x" * 2_000_000),
}


@pytest.mark.parametrize("change", CHANGES)
def test_each_change_is_seen_by_the_next_look(root: Path, change: str) -> None:
    index = Index(root)
    before = dict(index.known), told(index.skipped)
    CHANGES[change](root)
    index.look()
    assert (index.known, told(index.skipped)) != before
    index.settle()
    assert not index.whole(), "it is known by now"


def test_a_file_that_was_too_large_is_seen_when_it_shrinks(root: Path) -> None:
    (root / "a.py").write_text("x" * 2_000_000)
    index = Index(root)
    assert "a.py" not in index.known
    (root / "a.py").write_text("x\n")
    index.look()
    assert "a.py" in index.known


def test_ignored_files_come_and_go_unlisted_in_ignored_folders(root: Path) -> None:
    (root / "build").mkdir()
    index = Index(root)
    lay(root, "build/deep/made.py")
    assert not index.whole()
    (root / ".gitignore").write_text("")
    index.look()
    assert "build/deep/made.py" in index.known


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = lay(tmp_path / "r", "a.py", "src/b.py", "build/kept.py")
    lay(root, ".gitignore", text="build/\n")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "one")
    return root


def test_what_git_tracks_is_known_by_its_index(repository: Path) -> None:
    index = Index(repository)
    assert "build/kept.py" not in index.known
    git(repository, "add", "-f", "build/kept.py")
    index.look()
    assert "build/kept.py" in index.known
    index.settle()
    (repository / "build/kept.py").unlink()
    index.look()
    index.settle()
    lay(repository, "build/kept.py")
    index.look()
    assert "build/kept.py" in index.known, "git tracks it still"
    index.settle()
    git(repository, "rm", "-q", "--cached", "build/kept.py")
    index.look()
    assert "build/kept.py" not in index.known


def test_a_switched_branch_is_seen(repository: Path) -> None:
    git(repository, "checkout", "-q", "-b", "other")
    git(repository, "mv", "a.py", "moved.py")
    git(repository, "commit", "-q", "-m", "two")
    index = Index(repository)
    git(repository, "checkout", "-q", "main")
    index.look()
    assert {"a.py", "src/b.py"} <= index.known.keys() and "moved.py" not in index.known
    index.settle()
    git(repository, "checkout", "-q", "other")
    index.look()
    assert "moved.py" in index.known


@pytest.mark.parametrize("place", ["excludes", "info", "config", "included", "above"])
def test_rules_outside_of_the_folder_are_known_by_their_files(repository: Path, home: Path, place: str) -> None:
    lay(repository, "new.md")
    more = home / "more"
    if place == "included":
        with (home / ".gitconfig").open("a") as file:
            file.write("[include]\n path = more\n")
    index = Index(repository / "src" if place == "above" else repository)
    size = len(index.known)
    if place == "excludes":
        lay(home, ".config/git/ignore", text="*.md\n*.py\n")
    elif place == "info":
        lay(repository, ".git/info/exclude", text="*.md\n")
    elif place == "above":
        lay(repository, "src/new.py")
        index.look()
        index.settle()
        size = len(index.known)
        (repository / ".gitignore").write_text("new.py\n")
    else:
        lay(home, "mine", text="*.md\n")
        setting = "[core]\n excludesFile = ~/mine\n"
        if place == "included":
            more.write_text(setting)
        else:
            with (home / ".gitconfig").open("a") as file:
                file.write(setting)
    index.look()
    assert len(index.known) == size - 1
    index.settle()
    assert not index.whole()


def test_submodules_and_sparse_work_trees_are_as_git_lists_them(repository: Path, tmp_path: Path) -> None:
    inner = lay(tmp_path / "inner", "inside.py")
    git(inner, "init", "-q", "-b", "main")
    git(inner, "add", ".")
    git(inner, "commit", "-q", "-m", "one")
    git(repository, "submodule", "add", "-q", str(inner), "sub")
    index = Index(repository)
    assert ("sub", "nested_repository") in told(index.skipped)
    lay(repository, "sub/more.py")
    index.look()
    git(repository, "commit", "-q", "-m", "two")
    git(repository, "sparse-checkout", "set", "--cone", "src")
    index.look()
    lay(repository, "build/here_again.py")
    index.look()
    git(repository, "sparse-checkout", "disable")
    index.look()
    assert "a.py" in index.known


def test_what_changed_within_a_step_of_the_clock_is_not_vouched_for(root: Path) -> None:
    """A folder of which a second change would not show in its times."""
    index = Index(root)
    for number in range(20):
        lay(root, f"src/{number}.py")
        index.look()


def test_a_folder_without_times_is_listed_each_time(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lstat = os.lstat

    def timeless(path: str) -> os.stat_result:
        status = lstat(path)
        if os.fspath(path).endswith("/src"):
            fields = {name: getattr(status, name) for name in dir(status) if name.startswith("st_")}
            fields.update(st_ctime_ns=0, st_mtime_ns=0)
            return os.stat_result(tuple(status), fields)
        return status

    monkeypatch.setattr(os, "lstat", timeless)
    index = Index(root)
    lay(root, "src/new.py")
    assert index.whole()
    assert "src/new.py" in index.known


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_a_folder_that_cannot_be_listed_is_known_by_its_times(root: Path) -> None:
    """Other users' folders (a database's files) are no reason to list everything at each question."""
    closed = root / "loose"
    before = closed.stat().st_mode
    closed.chmod(0)
    index = Index(root)
    assert ("loose/", "unreadable") in told(index.skipped)
    assert not index.whole()
    closed.chmod(before)
    index.look()
    assert "loose/f.py" in index.known


def test_other_options_and_variables_are_another_world(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = Index(root)
    index.options = DiscoveryOptions(exclude=("docs/",))
    assert index.whole() and "docs/d.md" not in index.known
    index.settle()
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.excludesFile")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "/nowhere")
    assert index.whole()


FOLDERS = ("", "src/", "src/deep/", "docs/", "build/", "build/in/", "logs/", "new/", "new/er/", "empty/", ".hidden/")
NAMES = ("a.py", "b.py", "c.md", "e.log", ".f.py", "g.png", "node_modules")
LINES = ("*.log", "build/", "!kept.py", "/docs", "deep", "*.md", "!*.md", "new/er/", "src/*", "!src/deep/")


def act(root: Path, chance: random.Random, uses_git: bool) -> str:
    """Do something to a folder; what it was."""
    place, other = (root / (chance.choice(FOLDERS) + chance.choice(NAMES)) for _ in range(2))
    folder = root / chance.choice(FOLDERS[1:])
    kinds = ["write"] * 4 + ["same size", "delete", "rename", "move folder", "remove folder", "rules", "own rules"]
    kinds += ["make folder", "link"] + (["add", "force", "rm", "stash", "checkout", "commit"] if uses_git else [])
    kind = chance.choice(kinds)
    if kind == "write":
        if not place.is_dir() and not any(above.is_file() for above in place.parents):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text("x" * chance.randrange(9))
    elif kind == "same size":
        if place.is_file() and not place.is_symlink():
            place.write_text(chance.choice("xyz") * place.stat().st_size)
    elif kind == "delete":
        if place.is_file() or place.is_symlink():
            place.unlink()
    elif kind == "rename":
        if place.is_file() and other.parent.is_dir() and not other.is_dir():
            os.replace(place, other)
    elif kind == "move folder":
        target = root / chance.choice(("moved", "docs/moved", "src/moved"))
        if folder.is_dir() and target.parent.is_dir() and not target.exists() and folder not in target.parents:
            os.rename(folder, target)
    elif kind == "remove folder":
        shutil.rmtree(folder, ignore_errors=True)
    elif kind in ("rules", "own rules"):
        if folder.is_dir():
            name = ".gitignore" if kind == "rules" else chance.choice((".ignore", ".findlingignore"))
            where = chance.choice((root, folder)) / name
            where.write_text("".join(f"{line}\n" for line in chance.sample(LINES, chance.randrange(4))))
    elif kind == "make folder":
        if not any(above.is_file() for above in (folder, *folder.parents)):
            folder.mkdir(parents=True, exist_ok=True)
    elif kind == "link":
        if place.parent.is_dir() and not os.path.lexists(place):
            os.symlink(chance.choice(("a.py", "..", "/nowhere")), place)
    else:
        words = {
            "add": ["add", "-A"],
            "force": ["add", "-f", str(place)],
            "rm": ["rm", "-q", "-r", "--cached", "--ignore-unmatch", str(folder)],
            "stash": ["stash", "-q"],
            "checkout": ["checkout", "-q", "-f", chance.choice(("main", "other"))],
            "commit": ["commit", "-q", "-a", "--allow-empty", "-m", "more"],
        }[kind]
        subprocess.run(["git", *words], cwd=root, capture_output=True, check=False)
    return kind


@pytest.mark.parametrize("seed", range(size(6, 16)))
@pytest.mark.parametrize("kind", ["git", "walk"])
def test_whatever_is_done_a_look_finds_what_a_listing_finds(tmp_path: Path, kind: str, seed: int) -> None:
    chance = random.Random(seed)
    root = lay(tmp_path / "r", "a.py", "src/b.py", "src/deep/kept.py", "docs/c.md", "build/kept.py", "logs/e.log")
    if kind == "git":
        git(root, "init", "-q", "-b", "main")
        git(root, "add", ".")
        git(root, "commit", "-q", "-m", "one")
        git(root, "branch", "other")
    index = Index(root)
    for _ in range(25):
        for _ in range(chance.randrange(3)):
            act(root, chance, kind == "git")
        if chance.random() < 0.6:
            time.sleep(STEP_S)
        index.look()
    assert index.quick > 0, "some looks listed nothing"

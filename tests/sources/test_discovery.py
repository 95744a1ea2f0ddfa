"""Discovery in folders built to be nasty; git's own listing is the ground truth wherever it has one."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from findling.sources import discovery
from findling.sources.discovery import check, discover
from findling.sources.looking import Changes
from findling.sources.named_paths import look_at
from findling.sources.selection import DiscoveryOptions


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No configuration of whoever runs the tests reaches git."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    (home / ".gitconfig").write_text("[user]\n name = x\n email = x@example.org\n")
    return home


def git(cwd: Path, *args: str) -> str:
    return subprocess.run(["git", *args], cwd=cwd, check=True, capture_output=True, text=True).stdout


def lay(root: Path, *paths: str, text: str = "x\n") -> Path:
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


def repository(root: Path, *paths: str) -> Path:
    lay(root, *paths)
    git(root, "init", "-q")
    return root


def names(found: Changes) -> set[str]:
    return {path for path, _, _ in found.files}


def reasons(found: Changes) -> dict[str, str]:
    return {skip.path: skip.reason for skip in found.skipped}


def plain(found: Changes) -> Changes:
    """Without what the next look goes by, which depends on the time."""
    return found._replace(tree=None)


def known(found: Changes) -> dict[str, tuple[int, int]]:
    return {path: (size, mtime_ns) for path, size, mtime_ns in found.files}


def git_listing(root: Path) -> set[str]:
    return set(filter(None, git(root, "ls-files", "-z", "-c", "-o", "--exclude-standard").split("\0")))


RULES = {
    ".gitignore": "*.log\n/top.txt\nout/\n!important.log\ndoc/**/*.tmp\nspace\\ \n",
    "sub/.gitignore": "!keep.log\nlocal.txt\n/anchored.py\n",
    "sub/deep/.gitignore": "*\n!.gitignore\n!yes.py\n",
}
FILES = """
    a.py a.log important.log top.txt sub/top.txt out/x.py sub/out/y.py sub/keep.log sub/b.log sub/local.txt
    sub/anchored.py sub/deep/anchored.py sub/deep/yes.py sub/deep/no.py doc/a.tmp doc/x/y/b.tmp doc/x/c.md Case.PY
    case.py
"""


def lay_rules(root: Path) -> Path:
    lay(root, *FILES.split(), "space ")
    for path, text in RULES.items():
        (root / path).write_text(text)
    return root


def test_a_git_tree_lists_what_git_lists(tmp_path: Path) -> None:
    lay_rules(tmp_path)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-f", "a.log", "out/x.py", ".gitignore", "sub/.gitignore", "sub/deep/.gitignore")
    found = discover(tmp_path)
    assert found.method == "git"
    assert names(found) == git_listing(tmp_path)
    assert {"a.log", "out/x.py"} <= names(found), "tracked although ignored"
    assert "sub/out/y.py" not in names(found)


def test_the_same_rules_hold_outside_git(tmp_path: Path) -> None:
    plain, tracked = tmp_path / "plain", tmp_path / "tracked"
    lay_rules(plain)
    lay_rules(tracked)
    git(tracked, "init", "-q")
    found = discover(plain, DiscoveryOptions(hidden=True))
    assert found.method == "walk"
    assert names(found) == git_listing(tracked)


def test_info_exclude_and_global_excludes(tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "r", "a.py", "b.personal", "c.local", "d.configured")
    (root / ".git/info/exclude").write_text("*.local\n")
    lay(own_home, ".config/git/ignore", text="*.personal\n")
    assert names(discover(root)) == {"a.py", "d.configured"}
    plain = lay(tmp_path / "p", "a.py", "b.personal", "c.local")
    assert names(discover(plain)) == {"a.py", "c.local"}
    monkeypatch.setenv("XDG_CONFIG_HOME", str(lay(tmp_path / "xdg", "git/ignore", text="*.local\n")))
    assert names(discover(plain)) == {"a.py", "b.personal"}
    lay(own_home, "mine", text="*.configured\n")
    git(root, "config", "--global", "core.excludesFile", "~/mine")
    assert names(discover(root)) == {"a.py", "b.personal"}
    assert names(discover(lay(plain, "d.configured"))) == {"a.py", "b.personal", "c.local"}


def test_rules_hold_in_a_linked_work_tree_and_from_the_environment(
    tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = repository(tmp_path / "r", "a.py")
    git(top, "add", ".")
    git(top, "commit", "-qm", "one")
    (top / ".git/info/exclude").write_text("*.local\n")
    linked = tmp_path / "linked"
    git(top, "worktree", "add", "-q", str(linked))
    lay(linked, "b.local", "c.mine")
    lay(own_home, "mine", text="*.mine\n")
    for name, value in (("COUNT", "1"), ("KEY_0", "core.excludesFile"), ("VALUE_0", str(own_home / "mine"))):
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    assert names(discover(linked)) == git_listing(linked) == {"a.py"}


def test_letters_of_any_case_are_the_same_where_git_says_so(tmp_path: Path) -> None:
    root = repository(tmp_path, "sub/Tracked.py", "sub/Debug.LOG", "Build/a.py", "sub/BUILD/deep/b.py", "Kept/.keep")
    (root / ".gitignore").write_text("*.log\nbuild/\n/kept/[a-z]*\n")
    lay(root, "KEPT/A.py", "Kept/b.py")
    git(root, "config", "core.ignorecase", "true")
    git(root, "add", "sub/Tracked.py")
    (root / "sub").rename(root / "SUB")
    (root / "SUB/Tracked.py").rename(root / "SUB/tracked.py")
    assert git_listing(root) == {".gitignore", "Kept/.keep", "sub/Tracked.py"}
    found = discover(root, DiscoveryOptions(hidden=True))
    assert names(found) == {".gitignore", "Kept/.keep", "SUB/tracked.py"}, "as the disk has it"


def test_a_root_below_a_repository_keeps_the_rules_above_it(tmp_path: Path) -> None:
    top = repository(tmp_path, "sub/a.py", "sub/b.log", "sub/gen/c.py", "other.py")
    (top / ".gitignore").write_text("*.log\n/sub/gen/\n")
    found = discover(top / "sub")
    assert (names(found), found.method) == ({"a.py"}, "git")
    assert names(discover(top / "sub" / "gen")) == {"c.py"}


@pytest.mark.parametrize("rule", ["build/\n", "build\n", "/build/**\n", "*\n"])
def test_a_named_root_is_never_ignored_by_rules_above_it(tmp_path: Path, rule: str) -> None:
    top = repository(tmp_path, "build/a.py", "build/deep/b.py", "build/c.log", "x.py")
    (top / ".gitignore").write_text(rule)
    (top / "build/.gitignore").write_text("*.log\n")
    found = discover(top / "build")
    assert (names(found), found.method) == ({"a.py", "deep/b.py"}, "walk")
    assert plain(check(top / "build", known(found))) == Changes([], [], [], True, found.skipped, "walk")


def test_an_ignored_root_with_tracked_files_is_walked_as_a_whole(tmp_path: Path) -> None:
    top = repository(tmp_path, "build/tracked.py", "build/other.py")
    (top / ".gitignore").write_text("build/\n")
    git(top, "add", "-f", "build/tracked.py")
    assert names(discover(top)) == {"build/tracked.py"}
    assert names(discover(top / "build")) == {"tracked.py", "other.py"}


def test_nested_repositories_worktrees_and_submodules_are_left_out(tmp_path: Path) -> None:
    library = repository(tmp_path / "library", "lib.py")
    git(library, "add", ".")
    git(library, "commit", "-qm", "x")
    top = repository(tmp_path / "top", "a.py")
    git(top, "add", ".")
    git(top, "commit", "-qm", "x")
    shutil.copytree(library, top / "nested")
    repository(top / "unborn", "u.py")
    git(top, "worktree", "add", "-q", "linked")
    git(top, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "module")
    found = discover(top)
    assert names(found) == {"a.py", ".gitmodules"}
    outer = {path.rstrip("/"): reason for path, reason in reasons(found).items()}
    assert outer == dict.fromkeys(["nested", "unborn", "linked", "module"], "nested_repository")
    assert names(discover(top / "linked")) == {"a.py"}
    assert names(discover(top / "module")) == {"lib.py"}
    shutil.rmtree(top / ".git")
    walked = discover(top)
    assert (names(walked), walked.method) == ({"a.py"}, "walk")
    assert {p.rstrip("/") for p, r in reasons(walked).items() if r == "nested_repository"} == set(outer)


def test_own_ignore_files_hold_with_and_without_git(tmp_path: Path) -> None:
    for kind in ("git", "walk"):
        root = lay(tmp_path / kind, "a.py", "b.py", "c.py", "gen/x.py", "gen/keep.py", "sub/a.py", "sub/d.md")
        (root / ".ignore").write_text("b.py\nc.py\ngen/*\n!gen/keep.py\n")
        (root / ".findlingignore").write_text("!c.py\n")
        (root / "sub/.findlingignore").write_text("*.md\n")
        if kind == "git":
            git(root, "init", "-q")
            git(root, "add", "b.py")
        found = discover(root)
        assert found.method == kind
        assert names(found) == {"a.py", "c.py", "gen/keep.py", "sub/a.py"}
        assert reasons(found)["b.py"] == "ignored"
        assert "sub/d.md" in reasons(found)


def test_an_untracked_rule_file_also_speaks_about_tracked_files(tmp_path: Path) -> None:
    root = repository(tmp_path, "sub/a.py", "sub/b.py")
    git(root, "add", ".")
    before = discover(root)
    (root / "sub/.ignore").write_text("b.py\n")
    assert names(discover(root)) == {"sub/a.py"}
    assert check(root, known(before)).removed == ["sub/b.py"]


def test_hidden_files(tmp_path: Path) -> None:
    root = repository(tmp_path, "a.py", ".tracked.yml", ".loose.yml", ".dir/x.py", ".github/workflows/ci.yml")
    lay(root, ".findling/index.txt", ".svn/entries", ".hg/store.txt")
    git(root, "add", "-f", ".tracked.yml", ".github", ".findling")
    assert names(discover(root)) == {"a.py", ".tracked.yml", ".github/workflows/ci.yml"}
    everything = {"a.py", ".tracked.yml", ".loose.yml", ".dir/x.py", ".github/workflows/ci.yml"}
    assert names(discover(root, DiscoveryOptions(hidden=True))) == everything
    assert reasons(discover(root))[".loose.yml"] == "hidden"
    shutil.rmtree(root / ".git")
    assert names(discover(root)) == {"a.py"}
    assert names(discover(root, DiscoveryOptions(hidden=True))) == everything


def test_installed_packages_and_build_output(tmp_path: Path) -> None:
    root = lay(
        tmp_path, "a.js", "node_modules/x/i.js", "rust/Cargo.toml", "rust/target/debug/x.rs", "src/target/aim.py",
        "py/pyproject.toml", "py/build/lib/x.py", "env/pyvenv.cfg", "env/lib/x.py", "cache/x.py", "tools/build/b.py",
        "lib/__pycache__/x.py", "net/App.csproj", "net/bin/x.cs", "scripts/bin/run.sh",
    )  # fmt: skip
    (root / "cache/CACHEDIR.TAG").write_text("Signature: 8a477f597d28d172789f06886806bc55\n")
    expected = {
        "a.js", "rust/Cargo.toml", "src/target/aim.py", "py/pyproject.toml", "tools/build/b.py", "net/App.csproj",
        "scripts/bin/run.sh",
    }  # fmt: skip
    found = discover(root)
    assert names(found) == expected
    assert reasons(found)["node_modules/"] == "default_ignored"
    git(root, "init", "-q")
    git(root, "add", "-f", "node_modules")
    in_git = discover(root)
    assert "node_modules/x/i.js" in names(in_git)
    assert reasons(in_git)["lib/__pycache__/"] == "default_ignored"
    assert "rust/target/debug/x.rs" in names(in_git), "git's own rules decide about build output"


def test_links_never_lead_out_or_twice(tmp_path: Path) -> None:
    outside = lay(tmp_path / "outside", "secret.py")
    root = lay(tmp_path / "root", "a.py", "sub/b.py")
    (root / "same.py").symlink_to("a.py")
    (root / "out.py").symlink_to(outside / "secret.py")
    (root / "outdir").symlink_to(outside)
    (root / "sub/loop").symlink_to("..")
    (root / "self").symlink_to("self")
    (root / "dangling").symlink_to("nowhere.py")
    for kind in ("walk", "git"):
        if kind == "git":
            git(root, "init", "-q")
            git(root, "add", ".")
        found = discover(root)
        assert (found.method, names(found)) == (kind, {"a.py", "sub/b.py"})
        told = reasons(found)
        assert told["same.py"] == told["sub/loop"] == told["dangling"] == "symlink_inside"
        assert told["out.py"] == told["outdir"] == "symlink_outside"
        assert "self" in told


def test_a_tracked_folder_replaced_by_a_link_is_not_entered(tmp_path: Path) -> None:
    outside = lay(tmp_path / "outside", "b.py")
    root = repository(tmp_path / "root", "a.py", "sub/b.py")
    git(root, "add", ".")
    before = known(discover(root))
    shutil.rmtree(root / "sub")
    (root / "sub").symlink_to(outside)
    found = discover(root)
    assert names(found) == {"a.py"}
    assert reasons(found)["sub/b.py"] == "symlink_outside"
    changes = check(root, before)
    assert (changes.added, changes.changed, changes.removed) == ([], [], ["sub/b.py"])


def test_a_folder_in_place_of_a_tracked_file_or_link_is_entered(tmp_path: Path) -> None:
    root = repository(tmp_path, "a.py", "utils", "deep/tool", "src/.gitignore", ".tool", "kept/x.md")
    (root / "docs").symlink_to("kept")
    git(root, "add", ".")
    before = known(discover(root))
    replaced = ("utils", "docs", "deep/tool", ".tool")
    for path in replaced:
        (root / path).unlink()
    lay(root, "utils/one.py", "utils/in/two.py", "docs/guide.md", "deep/tool/main.py", ".tool/lib.py")
    (root / ".gitignore").write_text("two.py\n")
    inside = {"utils/one.py", "docs/guide.md", "deep/tool/main.py"}
    found = discover(root)
    assert found.method == "git"
    assert names(found) == {"a.py", "src/.gitignore", "kept/x.md", *inside}
    assert reasons(found) == {".tool/": "hidden", ".gitignore": "hidden"}, "as any untracked folder"
    changes = check(root, before)
    assert {path for path, _, _ in changes.added} == inside
    assert set(changes.removed) == {"utils", "deep/tool", ".tool"}
    for asked in (replaced, [".", *replaced], [*inside, *replaced]):
        looked = look_at(root, asked, before)
        assert {path for path, _, _ in looked.files} == inside
        assert set(looked.removed) == {"utils", "deep/tool", ".tool"}
        assert "nested_repository" not in {skip.reason for skip in looked.skipped}


def test_a_repository_in_place_of_a_tracked_file_is_left_out(tmp_path: Path) -> None:
    root = repository(tmp_path, "a.py", "utils")
    git(root, "add", ".")
    (root / "utils").unlink()
    repository(root / "utils", "one.py")
    assert names(discover(root)) == {"a.py"}
    looked = look_at(root, ["utils"])
    assert looked.files == []
    assert {skip.reason for skip in looked.skipped} == {reasons(discover(root))["utils"]} == {"nested_repository"}


def test_pipes_sockets_and_devices_are_not_opened(tmp_path: Path) -> None:
    root = lay(tmp_path / "r", "a.py", "pipe.py")
    git(root, "init", "-q")
    git(root, "add", ".")
    (root / "pipe.py").unlink()
    os.mkfifo(root / "pipe.py")
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(root)
        try:
            server.bind("sock.py")
        finally:
            os.chdir(here)
        everywhere = {"pipe.py": "not_a_file", "sock.py": "not_a_file"}
        assert reasons(discover(root)) == everywhere
        shutil.rmtree(root / ".git")
        found = discover(root)
    assert names(found) == {"a.py"}
    assert reasons(found) == everywhere


ODD = (
    "with space.py", " lead.py", "trail ", "new\nline.py", "tab\t.py", 'quo"te.py', "back\\slash.py", "ünï.py", "-dash",
    "*.py",
)  # fmt: skip


@pytest.mark.parametrize("kind", ["walk", "git"])
def test_odd_names(tmp_path: Path, kind: str) -> None:
    root = lay(tmp_path, *ODD, "dir with\nnewline/x.py")
    if kind == "git":
        git(root, "init", "-q")
        git(root, "add", "with space.py", "new\nline.py")
    found = discover(root)
    assert found.method == kind
    assert names(found) == {*ODD, "dir with\nnewline/x.py"}
    assert check(root, known(found)).changed == []


@pytest.mark.parametrize("kind", ["walk", "git"])
def test_names_that_are_not_utf8_are_reported(tmp_path: Path, kind: str) -> None:
    lay(tmp_path, "a.py")
    folder = os.fsencode(tmp_path)
    try:
        Path(os.fsdecode(folder + b"/b\xff.py")).write_text("x")
        Path(os.fsdecode(folder + b"/d\xfe")).mkdir()
        Path(os.fsdecode(folder + b"/d\xfe/c.py")).write_text("x")
    except OSError:
        pytest.skip("this file system takes only valid names")
    if kind == "git":
        git(tmp_path, "init", "-q")
        git(tmp_path, "add", ".")
    found = discover(tmp_path)
    assert (names(found), found.method) == ({"a.py"}, kind)
    assert reasons(found)["b\\xff.py"] == "undecodable_name"
    assert set(reasons(found).values()) == {"undecodable_name"}


def test_left_out_by_name_and_size(tmp_path: Path) -> None:
    root = lay(tmp_path, ".env", "id_rsa", "a.py", "logo.png", "app.min.js", "yarn.lock", "env.py", "empty.py")
    (root / "empty.py").write_text("")
    (root / "long.py").write_text("x" * 5_000_000)
    (root / "limit.py").write_text("x" * DiscoveryOptions().max_bytes)
    found = discover(root, DiscoveryOptions(hidden=True))
    assert names(found) == {"a.py", "env.py", "empty.py", "limit.py"}
    assert reasons(found) == {
        ".env": "secret", "id_rsa": "secret", "logo.png": "binary", "app.min.js": "minified", "yarn.lock": "lock_file",
        "long.py": "too_large",
    }  # fmt: skip


def test_globs_of_the_user(tmp_path: Path) -> None:
    """D30: among others, a pattern without a slash matches in every folder."""
    root = lay(tmp_path, "a.py", "a.md", "docs/b.md", "docs/c.py", "docs/api/d.md", "src/e.py")
    for kind in ("walk", "git"):
        if kind == "git":
            git(root, "init", "-q")
        everything = discover(root)
        for options, expected in (
            (DiscoveryOptions(include=("*.md",)), {"a.md", "docs/b.md", "docs/api/d.md"}),
            (DiscoveryOptions(include=("docs/",)), {"docs/b.md", "docs/c.py", "docs/api/d.md"}),
            (DiscoveryOptions(include=("docs/**",), exclude=("*.py",)), {"docs/b.md", "docs/api/d.md"}),
            (DiscoveryOptions(exclude=("docs",)), {"a.py", "a.md", "src/e.py"}),
            (DiscoveryOptions(include=("/*.md", "src/*.py")), {"a.md", "src/e.py"}),
        ):
            found = discover(root, options)
            assert (found.method, names(found)) == (kind, expected)
            changes = check(root, known(everything), options)
            assert set(changes.removed) == names(everything) - expected
            assert set(reasons(found).values()) <= {"not_included", "excluded"}


@pytest.mark.parametrize("kind", ["walk", "git"])
def test_check_finds_exactly_what_changed(tmp_path: Path, kind: str) -> None:
    root = lay(tmp_path, *(f"d{number % 7}/f{number}.py" for number in range(40)), ".gitignore", "b.png")
    if kind == "git":
        git(root, "init", "-q")
        git(root, "add", ".")
    before = known(discover(root))
    same = check(root, before)
    assert (same.added, same.changed, same.removed, same.complete, same.method) == ([], [], [], True, kind)
    lay(root, "d1/new.py", "new/deep/n.md", "c.png")
    (root / "d1/f1.py").write_text("other\n")
    os.utime(root / "d2/f2.py", ns=(1, 1))
    (root / "d3/f3.py").unlink()
    shutil.rmtree(root / "d4")
    (root / "d5/f5.py").write_text("x" * 2_000_000)
    (root / "d6/f6.py").unlink()
    (root / "d6/f6.py").symlink_to("f13.py")
    (root / ".gitignore").write_text("f39.py\n")
    after = check(root, before)
    assert {path for path, _, _ in after.added} == {"d1/new.py", "new/deep/n.md"}
    gitignore = {".gitignore"} if kind == "git" else set()
    assert {path for path, _, _ in after.changed} == {"d1/f1.py", "d2/f2.py"} | gitignore
    ignored = set() if kind == "git" else {"d4/f39.py"}
    gone = {f"d4/f{number}.py" for number in range(40) if number % 7 == 4} | {"d3/f3.py", "d5/f5.py", "d6/f6.py"}
    assert set(after.removed) == gone | ignored
    assert len(after.removed) == len(set(after.removed))
    fresh = discover(root)
    updated = {path: state for path, state in before.items() if path not in after.removed}
    updated |= {path: (size, mtime_ns) for path, size, mtime_ns in after.added + after.changed}
    assert updated == known(fresh)
    assert sorted(after.skipped, key=str) == sorted(fresh.skipped, key=str)


@pytest.mark.parametrize("kind", ["walk", "git"])
def test_a_check_without_time_says_so_and_claims_nothing_false(tmp_path: Path, kind: str) -> None:
    root = lay(tmp_path, *(f"d{number % 20}/f{number}.py" for number in range(600)))
    if kind == "git":
        git(root, "init", "-q")
    before = known(discover(root))
    (root / "d0/f0.py").write_text("other\n")
    (root / "d1/f1.py").unlink()
    changes = check(root, before, budget_s=0.0)
    assert not changes.complete
    assert changes.added == []
    assert {path for path, _, _ in changes.changed} <= {"d0/f0.py"}
    assert set(changes.removed) <= {"d1/f1.py"}
    enough = check(root, before, budget_s=60.0)
    assert enough.complete
    assert enough.removed == ["d1/f1.py"]


def test_conflicts_and_deleted_files_in_the_index(tmp_path: Path) -> None:
    root = repository(tmp_path, "a.py", "gone.py")
    git(root, "add", ".")
    git(root, "commit", "-qm", "base")
    git(root, "checkout", "-qb", "other")
    (root / "a.py").write_text("one\n")
    git(root, "commit", "-qam", "one")
    git(root, "checkout", "-q", "-")
    (root / "a.py").write_text("two\n")
    git(root, "commit", "-qam", "two")
    assert subprocess.run(["git", "merge", "-q", "other"], cwd=root, capture_output=True).returncode == 1
    (root / "gone.py").unlink()
    found = discover(root)
    assert [path for path, _, _ in found.files] == ["a.py"]
    assert check(root, {**known(found), "gone.py": (2, 2)}).removed == ["gone.py"]


def test_without_git_the_work_tree_is_walked_with_gits_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = repository(tmp_path / "r", "sub/a.py", "sub/b.log", "sub/c.local", "sub/d/e.py", "sub/d/f.tmp")
    (top / ".gitignore").write_text("*.log\n/sub/d/*.tmp\n")
    (top / ".git/info/exclude").write_text("*.local\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    for root, expected in ((top, {"sub/a.py", "sub/d/e.py"}), (top / "sub", {"a.py", "d/e.py"})):
        found = discover(root)
        assert (names(found), found.method) == (expected, "walk")
        assert "git is not installed" in found.notes[0]
        assert check(root, known(found))[:4] == ([], [], [], True)


def test_a_repository_that_git_refuses_is_walked(tmp_path: Path) -> None:
    root = repository(tmp_path, "a.py", "b.log")
    (root / ".gitignore").write_text("*.log\n")
    (root / ".git/HEAD").write_text("nonsense\n")
    found = discover(root)
    assert (names(found), found.method) == ({"a.py"}, "walk")
    assert found.notes


def test_a_repositorys_configuration_starts_no_program(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", "a.py")
    witness = tmp_path / "ran"
    script = tmp_path / "hook.sh"
    script.write_text(f"#!/bin/sh\ntouch {witness}\n")
    script.chmod(0o755)
    git(root, "config", "core.fsmonitor", str(script))
    git(root, "config", "core.pager", str(script))
    assert names(discover(root)) == {"a.py"}
    assert not witness.exists()


def test_variables_of_a_calling_git_do_not_mislead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = repository(tmp_path / "other", "other.py")
    root = repository(tmp_path / "r", "a.py")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / "nothing"))
    found = discover(root)
    assert (names(found), found.method) == ({"a.py"}, "git")


def test_empty_folders_and_missing_roots(tmp_path: Path) -> None:
    assert plain(discover(tmp_path)) == Changes([], [], [], True, [], "walk")
    (tmp_path / "r").mkdir()
    git(tmp_path / "r", "init", "-q")
    assert plain(discover(tmp_path / "r")) == Changes([], [], [], True, [], "git")
    missing = discover(tmp_path / "missing")
    assert missing.files == [] and reasons(missing) == {"/": "unreadable"}


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
@pytest.mark.parametrize("kind", ["walk", "git"])
def test_folders_without_permission_are_reported(tmp_path: Path, kind: str) -> None:
    root = lay(tmp_path, "a.py", "closed/b.py")
    if kind == "git":
        git(root, "init", "-q")
    (root / "closed").chmod(0)
    try:
        found = discover(root)
    finally:
        (root / "closed").chmod(0o755)
    assert names(found) == {"a.py"}
    assert reasons(found)["closed/"] == "unreadable"


@pytest.mark.parametrize("kind", ["walk", "git"])
def test_look_at_agrees_with_discover(tmp_path: Path, kind: str) -> None:
    root = lay(
        tmp_path / "r", "a.py", "b.log", "sub/c.py", "sub/d.log", ".env", "x.png", "node_modules/m.js", ".loose",
        "sub/.ignore", "sub/e.md",
    )  # fmt: skip
    (root / ".gitignore").write_text("*.log\n")
    (root / "sub/.ignore").write_text("*.md\n")
    repository(root / "nested", "n.py")
    (root / "link.py").symlink_to("a.py")
    (root / "empty").mkdir()
    if kind == "git":
        git(root, "init", "-q")
        git(root, "add", "a.py")
    found = discover(root)
    assert found.method == kind
    every = [str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir() or path.is_symlink()]
    every = [path for path in every if ".git/" not in path]
    looked = look_at(root, every)
    assert {path for path, _, _ in looked.files} == names(found)
    told = {skip.path: skip.reason for skip in looked.skipped}
    assert set(told) == set(every) - names(found)
    assert told["b.log"] == told["sub/d.log"] == told["sub/e.md"] == "ignored"
    assert told["node_modules/m.js"] == "default_ignored"
    assert told["nested/n.py"] == "nested_repository"
    assert told["link.py"] == "symlink_inside"
    assert told["x.png"] == "binary"
    assert told[".loose"] == "hidden"
    assert "*.log" in next(skip.detail for skip in looked.skipped if skip.path == "b.log")
    one_by_one = {path: look_at(root, [path]) for path in every}
    assert {path for path, one in one_by_one.items() if one.files} == names(found)
    folder = look_at(root, ["sub"])
    assert {path for path, _, _ in folder.files} == {"sub/c.py"}
    whole = look_at(root, ["."], known(found))
    assert (whole.files, whole.removed) == ([], [])


@pytest.mark.parametrize("kind", ["walk", "git"])
def test_look_at_missing_foreign_and_changed_paths(tmp_path: Path, kind: str) -> None:
    root = lay(tmp_path / "r", "a.py", "sub/b.py", "sub/c.py")
    lay(tmp_path, "foreign.py")
    (root / "empty").mkdir()
    if kind == "git":
        git(root, "init", "-q")
        git(root, "add", ".")
    before = known(discover(root))
    (root / "a.py").write_text("other\n")
    (root / "sub/b.py").unlink()
    foreign = ["../foreign.py", str(tmp_path / "foreign.py")]
    looked = look_at(root, ["./a.py", "sub/b.py", "sub/c.py", "never.py", *foreign, "empty"], before)
    assert [path for path, _, _ in looked.files] == ["a.py"]
    assert looked.removed == ["sub/b.py"]
    told = {skip.path: skip.reason for skip in looked.skipped}
    assert told.pop("sub/b.py") == told.pop("never.py") == "not_found"
    assert set(told.values()) - {"no_files"} == {"outside_root"}
    shutil.rmtree(root / "sub")
    assert look_at(root, ["sub"], before).removed == ["sub/b.py", "sub/c.py"]


@pytest.mark.parametrize("kind", ["walk", "git"])
@pytest.mark.parametrize("asked", [["pk", "pk/a.py", "pk/b.txt"], ["pk/b.txt", "pk/a.py", "./pk/a.py", "pk"]])
def test_a_file_named_beside_its_folder_is_told_once(tmp_path: Path, kind: str, asked: list[str]) -> None:
    root = lay(tmp_path / "r", "pk/a.py", "pk/loose.py", "pk/b.txt")
    if kind == "git":
        git(root, "init", "-q")
        git(root, "add", "pk/a.py", "pk/b.txt")
    (root / "pk/b.txt").write_text("x" * 30)
    looked = look_at(root, asked, options=DiscoveryOptions(max_bytes=20))
    assert sorted(path for path, _, _ in looked.files) == ["pk/a.py", "pk/loose.py"]
    assert [(skip.path, skip.reason) for skip in looked.skipped] == [("pk/b.txt", "too_large")]


def test_a_path_in_conflict_is_found_once(tmp_path: Path) -> None:
    root = lay(tmp_path / "r", "a.py", "b.py", "new.py")
    git(root, "init", "-q")
    git(root, "add", "a.py", "b.py")
    blob = git(root, "rev-parse", ":a.py").strip()
    rows = "".join(f"100644 {blob} {stage}\ta.py\n" for stage in (1, 2, 3))
    given = f"0 {'0' * len(blob)}\ta.py\n{rows}"
    subprocess.run(["git", "update-index", "--index-info"], cwd=root, input=given, text=True, check=True)
    git(root, "update-index", "--skip-worktree", "b.py")
    everything = [path for path, _, _ in look_at(root, ["a.py", "b.py", "new.py"]).files]
    assert sorted(everything) == sorted(path for path, _, _ in discover(root).files) == ["a.py", "b.py", "new.py"]


def test_a_listing_begun_before_gives_the_same(tmp_path: Path) -> None:
    root = lay(tmp_path / "r", "a.py", "sub/b.py")
    assert discovery.begin(root) is None
    git(root, "init", "-q")
    git(root, "add", "a.py")
    assert discovery.begin(root, DiscoveryOptions(files=("a.py",))) is None
    found = plain(discover(root))
    assert plain(check(root, {}, begun=discovery.begin(root))) == found
    before = known(found)
    (root / "a.py").write_text("changed\n")
    (root / "sub/b.py").unlink()
    lay(root, "c.py")
    assert plain(check(root, before, begun=discovery.begin(root))) == plain(check(root, before))
    few = DiscoveryOptions(most_files=1)
    assert check(root, before, few, begun=discovery.begin(root, few)) == check(root, before, few)

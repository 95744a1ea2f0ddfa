"""Our ignore rules against git itself: the same tree, the same rule files, the same verdicts."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from findling.sources.ignore_rules import IgnoreRules, IgnoreTree, RuleSet
from findling.sources.selection import DiscoveryOptions, Selection
from findling.sources.walking import Rules, Walk
from sizes import size

NAMES = ("a", "b", "ab", "a.b", "b c", "[x]", "-", "!a", "#b")
INNER = ("a", "ab", "a.b", "b ")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """A work tree with every name as a file and as a folder, up to four deep, and its repository elsewhere."""
    root = tmp_path_factory.mktemp("tree")
    for first, second, third in product(("a", "ab", "e", "b c"), INNER, INNER):
        folder = root / f"{first}" / f"{second}_" / third
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "a").touch()
        (folder / "b.b").touch()
        (root / first / second).touch()
    for name in NAMES:
        (root / f"{name}.f").touch()
        if not (root / name).exists():
            (root / name).touch()
    repository = tmp_path_factory.mktemp("repository")
    git(root, repository, "init", "-q")
    yield root, repository


def git(root: Path, repository: Path, *args: str, stdin: bytes = b"") -> bytes:
    environment = {"PATH": os.environ["PATH"], "HOME": str(repository), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    command = ["git", f"--git-dir={repository}/.git", f"--work-tree={root}", *args]
    ran = subprocess.run(command, cwd=root, env=environment, input=stdin, capture_output=True)
    assert ran.returncode in (0, 1), ran.stderr  # 1: check-ignore, where nothing is ignored
    return ran.stdout


def git_lists(root: Path, repository: Path) -> set[str]:
    listed = git(root, repository, "ls-files", "-z", "-o", "--exclude-standard")
    return {os.fsdecode(path) for path in listed.split(b"\0") if path}


def we_list(root: Path) -> set[str]:
    selection = Selection(str(root), DiscoveryOptions(hidden=True))
    found: set[str] = set()
    walk = Walk(selection, Rules(IgnoreTree(str(root), (".gitignore",)), None, None), lambda file: found.add(file[0]))
    assert walk.run()
    return found


def git_names_rules(root: Path, repository: Path, paths: list[str]) -> dict[str, tuple[str, int] | None]:
    """By which line of which file git ignores each path, whether it is tracked or not."""
    asked = b"".join(os.fsencode(path) + b"\0" for path in paths)
    said = git(root, repository, "check-ignore", "-v", "-n", "-z", "--no-index", "--stdin", stdin=asked)
    fields = [os.fsdecode(field) for field in said.split(b"\0")[:-1]]
    rows = zip(*(fields[start::4] for start in range(4)), strict=True)
    return {
        path: (source, int(line)) if source and not pattern.startswith("!") else None
        for source, line, pattern, path in rows
    }


def we_name_rules(root: Path, paths: list[str]) -> dict[str, tuple[str, int] | None]:
    rules = IgnoreTree(str(root), (".gitignore",))
    found = {path: rules.ignores(path) for path in paths}
    return {path: None if rule is None else (rule.source, rule.line) for path, rule in found.items()}


PIECES = st.sampled_from(
    ["a", "b", "ab", "a.b", " ", "b c", ".f", "_", "*", "**", "?", "/", "/**/", "**/", "/**", "[a-b]", "[!a]", "[^b]",
     "[]x]", "[[:alpha:]]", "[[:nope:]]", "[x", "[a-", "\\", "\\a", "\\*", "\\ ", "é", "!", "#", "-", "[x\\]]", "[b-a]",
     "\t", "[[:punct:]b]", "[a/b]", "\\/"]
)  # fmt: skip
PATTERNS = st.builds(
    lambda start, pieces, end: start + "".join(pieces) + end,
    st.sampled_from(["", "", "", "!", "/", "\\!", "\\#", "!/"]),
    st.lists(PIECES, min_size=1, max_size=5),
    st.sampled_from(["", "", "", "/", " ", "\\ ", "  ", "\r"]),
)
FILES = st.lists(PATTERNS, min_size=0, max_size=6).map("\n".join)


@settings(max_examples=size(37, 150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(top=FILES, middle=FILES, ending=st.sampled_from(["", "\n", "\r\n", "\n\n"]))
@example(top="*\n!a/\n!*.b", middle="", ending="\n")
@example(top="a**/a", middle="", ending="\n")
@example(top="ab**/b.b", middle="ab**", ending="\n")
@example(top="**/a_/**/a", middle="!a", ending="\n")
@example(top="\ufeffa", middle="*", ending="\n")
@example(top="a/\n!a", middle="/a_\n!b.b\n", ending="")
@example(top="a/**/b.b", middle="", ending="")
@example(top="/*\n!/a\n/a/*\n!/a/a_", middle="", ending="")
def test_a_tree_lists_as_git_does_by_the_same_rules(
    tree: tuple[Path, Path], top: str, middle: str, ending: str
) -> None:
    root, repository = tree
    (root / ".gitignore").write_text(top + ending, newline="")
    (root / "a" / ".gitignore").write_text(middle + ending, newline="")
    assert we_list(root) == git_lists(root, repository)
    paths = sorted(str(file.relative_to(root)) for file in root.rglob("*") if file.is_file())
    assert we_name_rules(root, paths) == git_names_rules(root, repository, paths)


def matches(pattern: str, path: str, *, is_dir: bool = False) -> bool:
    rule = RuleSet([pattern]).match(path, path.rpartition("/")[2], is_dir)
    return rule is not None and not rule.negated


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.py", "a/b.py", True),
        ("*.py", "a/b.pyc", False),
        ("/*.py", "a/b.py", False),
        ("doc/*.txt", "doc/a.txt", True),
        ("doc/*.txt", "x/doc/a.txt", False),
        ("**/doc", "x/y/doc", True),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("a/**", "a", False),
        ("a/**", "a/b/c", True),
        ("é*", "éa", True),
        ("?b", "éb", True),
        ("name ", "name", True),
        ("name\\ ", "name ", True),
        ("\\#x", "#x", True),
        ("\\!x", "!x", True),
        ("#x", "#x", False),
        ("[[:digit:]]x", "7x", True),
        ("[!a]x", "ax", False),
        ("a?c", "a/c", False),
        ("a\nb", "a\nb", True),
        ("x*y", "x\ny", True),
        ("a\\", "a", False),
        ("build/", "build", False),
    ],
)
def test_patterns(pattern: str, path: str, expected: bool) -> None:
    assert matches(pattern, path) is expected


def test_a_folder_pattern_matches_folders_only() -> None:
    assert matches("build/", "build", is_dir=True)
    assert matches("build/", "x/build", is_dir=True)
    assert not matches("/build/", "x/build", is_dir=True)


def test_the_last_rule_decides_and_says_where_it_stands() -> None:
    rules = RuleSet.from_text("*.log\n\n!keep.log\nkeep.log\n!x.log\n", "sub/.gitignore")
    rule = rules.match("keep.log", "keep.log", False)
    assert rule is not None
    assert (rule.pattern, rule.negated, rule.line) == ("keep.log", False, 4)
    assert rule.words == "keep.log (sub/.gitignore line 4)"
    kept = rules.match("x.log", "x.log", False)
    assert kept is not None and kept.negated


def test_deeper_rules_are_stronger_and_relative_to_their_folder() -> None:
    outer = IgnoreRules([("", RuleSet(["*.log", "/sub/only"]))])
    inner = outer.inside("sub", [RuleSet(["!keep.log", "/here"])])
    assert inner.ignores("sub/a.log", "a.log", False)
    assert inner.ignores("sub/keep.log", "keep.log", False) is None
    assert inner.ignores("sub/here", "here", False)
    assert inner.ignores("sub/x/here", "here", False) is None
    assert inner.ignores("sub/only", "only", False)
    assert outer.ignores("sub/keep.log", "keep.log", False)


@pytest.mark.parametrize("pattern", ["*a" * 30 + "b", "**/" * 20 + "b", "x/" + "*a" * 30 + "*b", "**/a*/" * 12 + "b"])
def test_no_pattern_explodes(pattern: str) -> None:
    """A backtracking matcher would not come back within a lifetime: any result at all proves the point."""
    path = "x/" + "/".join(["a" * 120] * 16)
    rules = RuleSet([pattern])
    assert rules.match(path, path.rpartition("/")[2], False) is None


def test_absurd_files_are_bounded() -> None:
    rules = RuleSet.from_text("\n".join(f"name{number}" for number in range(50_000)))
    assert rules.match("name10", "name10", False)
    assert rules.match("name49999", "name49999", False) is None
    assert not matches("a" * 5000, "a" * 5000)


def test_translation_yields_valid_expressions_for_any_text() -> None:
    @settings(max_examples=size(75, 300), deadline=None)
    @given(st.text(max_size=30), st.text(max_size=20))
    def run(pattern: str, path: str) -> None:
        try:
            RuleSet([pattern]).match(path, path.rpartition("/")[2], False)
        except re.error as error:  # pragma: no cover - the failure this test looks for
            raise AssertionError(pattern) from error

    run()

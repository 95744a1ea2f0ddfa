"""Globs: what they match, by table and against a reference that walks names one by one."""

from __future__ import annotations

import fnmatch
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.model.types import Query
from findling.search.scope import Scope, glob_matcher, resolve
from findling.store.memory import MemoryIndex


@pytest.mark.parametrize(
    ("globs", "matching", "others"),
    [
        ([], ["a.py", "x/y/z"], []),
        (["*.py"], ["a.py", "x/a.py", "x/y/.py"], ["a.pyi", "a.py/b", "a_py"]),
        (["/*.py"], ["a.py"], ["x/a.py"]),
        (["src/*.py"], ["src/a.py"], ["src/x/a.py", "y/src/a.py"]),
        (["src/**/*.py"], ["src/a.py", "src/x/y/a.py"], ["src2/a.py", "a.py", "xsrc/a.py"]),
        (["**/test/*.py"], ["test/a.py", "x/y/test/a.py"], ["xtest/a.py", "test/x/a.py"]),
        (["src/**"], ["src/a", "src/x/y"], ["src", "srcs/a"]),
        (["src/**.py"], ["src/a.py", "src/x/a.py"], ["src/a.js"]),
        (["**"], ["a", "x/y"], []),
        (["**/*"], ["a", "x/y"], []),
        (["src"], ["src", "src/a", "x/src/a/b"], ["srcs/a", "xsrc"]),
        (["src/"], ["src/a", "x/src/a/b"], ["srcs/a"]),
        (["/src"], ["src/a"], ["x/src/a"]),
        (["x/src"], ["x/src/a"], ["y/x/src/a"]),
        (["./src"], ["src/a"], ["src2/a"]),
        (["./src/*.py"], ["src/a.py"], ["x/src/a.py"]),
        (["My.Project"], ["My.Project/a.cs", "x/My.Project/b"], ["MyXProject/a.cs"]),
        ([".github"], [".github/a.yml"], ["github/a.yml"]),
        (["README.md"], ["README.md", "x/README.md"], ["README.md2", "READMEXmd"]),
        (["lib?"], ["lib1", "x/lib2"], ["lib", "lib/", "lib/a"]),
        (["a?b"], ["axb"], ["a/b"]),
        (["x/a?b"], ["x/a.b"], ["x/a/b"]),
        (["x/a[!b]c"], ["x/adc"], ["x/abc", "x/a/c"]),
        (["[ab].py"], ["a.py", "x/b.py"], ["c.py"]),
        (["[.*].py"], ["..py", "*.py"], ["a.py"]),
        (["[z-a].py"], [], ["a.py", "m.py"]),
        (["[]].py"], ["].py"], ["[.py"]),
        (["[x"], ["[x"], ["x"]),
        (["a(b|c)+.py"], ["a(b|c)+.py"], ["ab.py"]),
        (["*.py", "*.js"], ["a.py", "a.js"], ["a.ts"]),
        (["!*.py"], ["a.js"], ["a.py", "x/a.py"]),
        (["*.py", "!test_*"], ["a.py"], ["test_a.py", "x/test_a.py"]),
        (["!tests/", "*.py"], ["a.py"], ["tests/a.py", "x/tests/a.py"]),
        (["!tests/**"], ["a.py", "x/tests/a.py"], ["tests/a.py"]),
        (["größe*"], ["größe.py"], ["groesse.py"]),
        (["*a*b*c"], ["xaybzc", "abc"], ["acb", "a/b/c"]),
        (["**a*b"], ["x/ab", "a/ab"], ["a/b"]),
        (["new\nline*"], ["new\nline.py"], ["newline.py"]),
        (["*.py"], ["new\nline.py"], []),
    ],
    ids=repr,
)
def test_globs(globs: list[str], matching: list[str], others: list[str]) -> None:
    matches = glob_matcher(globs)
    assert [path for path in matching if not matches(path)] == []
    assert [path for path in others if matches(path)] == []


def reference(glob: str, path: str) -> bool:
    """The rules said once more: names from the left, each against one piece of the glob."""
    names = path.split("/")
    pieces = glob.strip("/").split("/")
    if "/" not in glob.rstrip("/"):
        pieces = ["**", *pieces]
    if glob.endswith("/") or not set(glob) & set("*?["):
        return any(_fits(pieces, names[:size]) for size in range(1, len(names) + 1))
    return _fits(pieces, names)


def _fits(pieces: list[str], names: list[str]) -> bool:
    if not pieces:
        return not names
    if pieces[0] == "**":
        if len(pieces) == 1:
            return bool(names)
        return any(_fits(pieces[1:], names[skipped:]) for skipped in range(len(names) + 1))
    return bool(names) and fnmatch.fnmatchcase(names[0], pieces[0]) and _fits(pieces[1:], names[1:])


NAMES = st.text("ab.", min_size=1, max_size=3)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
PIECES = st.one_of(NAMES, st.sampled_from(["*", "**", "?", "*.a", "a*", "a?b", "*a*", "[ab]", "[!a]*", "a*b*a", "*.*"]))
GLOBS = st.builds(
    lambda start, pieces, end: start + "/".join(pieces) + end,
    st.sampled_from(["", "/"]),
    st.lists(PIECES, min_size=1, max_size=4),
    st.sampled_from(["", "", "/"]),
).filter(lambda glob: not glob.startswith("./") and glob.strip("/"))


@given(GLOBS, PATHS)
def test_globs_match_what_the_reference_matches(glob: str, path: str) -> None:
    assert glob_matcher([glob])(path) == reference(glob, path)


@given(st.lists(GLOBS, max_size=3), st.lists(GLOBS, max_size=2), PATHS)
def test_one_wanted_glob_is_enough_and_one_unwanted_too_many(wanted: list[str], unwanted: list[str], path: str) -> None:
    expected = (not wanted or any(reference(glob, path) for glob in wanted)) and not any(
        reference(glob, path) for glob in unwanted
    )
    assert glob_matcher([*wanted, *(f"!{glob}" for glob in unwanted)])(path) == expected


@given(st.lists(st.text(max_size=12), max_size=3), st.text(max_size=20))
def test_any_glob_is_accepted(globs: list[str], path: str) -> None:
    assert glob_matcher(globs)(path) in (True, False)


def test_many_stars_end() -> None:
    assert not glob_matcher(["*a" * 30 + "b"])("a" * 250)
    assert not glob_matcher(["**a" * 30 + "b"])("a" * 250)
    assert not glob_matcher(["**/" * 30 + "b"])("a/" * 25 + "c")
    assert not glob_matcher(["**/a/" * 30 + "b"])("a/" * 100 + "c")


def test_what_a_query_may_look_at(index: MemoryIndex) -> None:
    everything = {file.path: file.entry_id for file in index.all_files()}
    assert resolve(index, Query("x"), "") == Scope()
    go = resolve(index, Query("x", path_globs=("*.go",)), "")
    assert go.allowed == frozenset(entry for path, entry in everything.items() if path.endswith(".go"))
    assert go.few == go.allowed
    one = resolve(index, Query("x"), "skerry/retry.py")
    assert one.allowed == {everything["skerry/retry.py"]}
    folder = resolve(index, Query("x", language="python"), "skerry/auth")
    assert len(folder.allowed or ()) == 3
    none = resolve(index, Query("x", kind="docs"), "gateway")
    assert none.allowed == frozenset()
    docs = resolve(index, Query("x", kind="docs"), "").allowed or frozenset()
    code = resolve(index, Query("x", kind="code"), "").allowed or frozenset()
    assert docs | code == frozenset(everything.values())
    assert not docs & code
    proposals = [*sorted(everything.values(), reverse=True), 10**9]
    assert go.keep(index, proposals, 2) == [entry for entry in proposals if entry in go.allowed][:2]
    assert Scope().keep(index, [10**9, proposals[0], proposals[0]], 5) == [proposals[0]]


@given(scores=st.lists(st.integers(-3, 0), max_size=60), most=st.integers(1, 9), seed=st.randoms(use_true_random=False))
def test_the_best_proposals_are_kept(index: MemoryIndex, scores: list[int], most: int, seed: random.Random) -> None:
    paths = {file.entry_id: file.path for file in index.all_files()}
    entries = [*paths, *range(900_000, 900_020)]  # some of no file
    seed.shuffle(entries)
    proposals = {entry: float(score) for entry, score in zip(entries, scores, strict=False)}
    ours = [entry for entry in proposals if entry in paths]
    best = sorted(ours, key=lambda entry: (-proposals[entry], paths[entry]))
    assert Scope().keep(index, proposals, most) == best[:most]
    assert Scope().keep(index, list(proposals), most) == ours[:most]

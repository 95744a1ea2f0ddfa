"""What a question may look at, and each of its options, through the public API."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from indexes import SMALL, contents, make, places, rows, write

from findling import Engine
from findling.contracts import Workspace
from findling.engine import indexer
from findling.model import errors
from findling.model.types import MODES
from findling.search.query import MAX_QUERY

TREE = {
    **SMALL,
    "lib/retry.go": (
        "package lib\n\n// RetryPolicy says how often a request is sent again.\n"
        "type RetryPolicy struct {\n\tMax int\n}\n"
    ),
    "lib/deep/inner/retry_client.py": "class RetryClient:\n    def retry(self):\n        return 'retried'\n",
    "src/retry_loop.py": "def retry_loop(action):\n"
    + "".join(f"    step_{n} = action({n})\n" for n in range(40))
    + "    return None\n",
    "README.md": "# Sample\n\nRetry policy and backoff, explained.\n",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make(tmp_path_factory.mktemp("scope") / "project", TREE)
    with Engine.open(root=folder) as engine:
        engine.index()
    return folder


@pytest.fixture
def engine(root: Path) -> Iterator[Engine]:
    with Engine.open(root=root) as opened:
        yield opened


def found(engine: Engine, text: str = "retry policy backoff", **options: object) -> set[str]:
    return {hit.path for hit in engine.search(text, limit=50, **options).hits}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("globs", "wanted"),
    [
        (("*.go",), {"lib/retry.go"}),
        (("lib/**",), {"lib/retry.go", "lib/deep/inner/retry_client.py"}),
        (("lib/*",), {"lib/retry.go"}),
        (("**/inner/*.py",), {"lib/deep/inner/retry_client.py"}),
        (("src",), {"src/retry.py", "src/cache.py", "src/app.js", "src/retry_loop.py"}),
        (("src/",), {"src/retry.py", "src/cache.py", "src/app.js", "src/retry_loop.py"}),
        (
            ("*.py", "!tests/**", "!src/cache.py"),
            {"src/retry.py", "src/retry_loop.py", "lib/deep/inner/retry_client.py"},
        ),
        (("nowhere/**",), set()),
    ],
)
def test_globs_restrict_every_channel(engine: Engine, globs: tuple[str, ...], wanted: set[str]) -> None:
    assert found(engine, path_globs=globs) <= wanted
    assert found(engine, path_globs=globs, mode="semantic") == wanted
    assert {file.path for file in engine.grep(".", path_globs=globs).files} == wanted


def test_language_and_kind_restrict(engine: Engine) -> None:
    assert found(engine, language="go") == {"lib/retry.go"}
    assert found(engine, kind="docs") == {"docs/guide.md", "README.md"}
    assert not found(engine, kind="code") & {"docs/guide.md", "README.md"}
    assert found(engine, kind="docs", language="go") == set()
    assert {hit.path for hit in engine.symbols("RetryPolicy", language="go").definitions} == {"lib/retry.go"}
    assert {hit.kind for hit in engine.symbols("backoff", kind="method").definitions} == {"method"}


@pytest.mark.parametrize(
    ("name", "wanted", "match"),
    [
        ("RetryClient.retry", {"lib/deep/inner/retry_client.py"}, "exact"),
        ("lib.deep.inner.retry_client.RetryClient.retry", {"lib/deep/inner/retry_client.py"}, "exact"),
        ("deep::RetryClient::retry", {"lib/deep/inner/retry_client.py"}, "exact"),
        ("inner.deep.RetryClient.retry", {"lib/deep/inner/retry_client.py"}, "part"),  # no such folder there
        ("lib.RetryPolicy", {"lib/retry.go"}, "exact"),
        ("Inheriting.retry", {"lib/deep/inner/retry_client.py"}, "part"),
        ("RetryClient.nothing", set(), "exact"),
    ],
)
def test_a_name_may_be_qualified_by_scope_and_path(engine: Engine, name: str, wanted: set[str], match: str) -> None:
    result = engine.symbols(name)
    assert {(hit.path, hit.match) for hit in result.definitions} == {(path, match) for path in wanted}
    assert any("is defined under just this name" in note for note in result.notes) == (match == "part")


def test_one_file_out_of_many_is_found_within_its_scope(tmp_path: Path) -> None:
    crowd = {f"crowd/retry_{n}.py": "def retry():\n    '''retry retry retry'''\n" * 3 for n in range(300)}
    folder = make(tmp_path / "many", {**crowd, "corner/other.py": "# a retry, mentioned once\nVALUE = 1\n"})
    with Engine.open(root=folder) as engine:
        engine.index()
        for mode in ("auto", "keyword", "semantic", "hybrid"):
            result = engine.search("retry", mode=mode, path_globs=("corner/**",))
            assert [hit.path for hit in result.hits] == ["corner/other.py"], mode
            assert result.total == 1
    with Engine.open(folder / "corner", root=folder) as engine:
        assert engine.scope == "corner"
        assert [hit.path for hit in engine.search("retry").hits] == ["corner/other.py"]
        assert [file.path for file in engine.grep("retry").files] == ["corner/other.py"]
        assert not engine.symbols("retry").definitions
    with Engine.open(folder / "corner" / "other.py", root=folder) as engine:
        assert [hit.path for hit in engine.search("retry").hits] == ["corner/other.py"]


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_answers(engine: Engine, mode: str) -> None:
    result = engine.search("RetryPolicy", mode=mode)
    assert result.hits, mode
    assert result.mode == mode
    if mode != "semantic":
        assert {hit.path for hit in result.hits[:3]} & {"src/retry.py", "lib/retry.go"}
    for hit in result.hits:
        assert 0 <= hit.score <= 1
        lines = (engine.root / hit.path).read_text().split("\n")
        assert 1 <= hit.start_line <= hit.end_line <= len(lines)
        shown = hit.snippet.split("\n")
        assert lines[hit.snippet_start_line - 1 :][: len(shown)] == shown
        assert hit.sources


@pytest.mark.parametrize("mode", ["auto", "hybrid", "keyword", "symbol", "semantic"])
def test_reasons_add_up_to_the_rank_value(engine: Engine, mode: str) -> None:
    for query in ("RetryPolicy", "how are requests retried"):
        for hit in engine.search(query, mode=mode, explain=True).hits:
            assert sum(reason.value for reason in hit.reasons) == pytest.approx(hit.rank_value)
    assert not engine.search("RetryPolicy", mode=mode).hits[0].reasons


def test_an_answer_is_in_order_and_counts_all_that_matched(engine: Engine) -> None:
    everything = engine.search("retry", limit=100, explain=True)
    assert [hit.rank_value for hit in everything.hits] == sorted((h.rank_value for h in everything.hits), reverse=True)
    assert everything.total == len(everything.hits) > 2
    few = engine.search("retry", limit=2, explain=True)
    assert few.total == everything.total
    assert places(few) == places(everything)[:2]


def test_a_token_budget_cuts_bodies_and_places_but_never_the_first(engine: Engine) -> None:
    roomy = engine.search("retry", max_tokens=100_000)
    assert all(hit.snippet for hit in roomy.hits)
    assert roomy.hits[0].body.count("\n") >= roomy.hits[0].snippet.count("\n")
    sizes = []
    for budget in (2000, 200, 80, 20, 1):
        result = engine.search("retry", max_tokens=budget)
        sizes.append(sum(len(hit.body) for hit in result.hits) + len(result.hits))
        assert places(result) == places(roomy)[: len(result.hits)] != []
        if len(result.hits) < len(roomy.hits):
            assert result.notes
            assert result.completeness == "truncated"
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize(
    "options",
    [
        {"text": ""},
        {"text": "  \n"},
        {"text": "x", "limit": 0},
        {"text": "x", "limit": -1},
        {"text": "x", "limit": 1001},
        {"text": "x", "mode": "fuzzy"},
        {"text": "x", "kind": "data"},
        {"text": "x", "max_tokens": 0},
    ],
)
def test_wrong_arguments_are_said(engine: Engine, options: dict[str, object]) -> None:
    with pytest.raises(errors.InvalidInput):
        engine.search(**options)  # type: ignore[arg-type]


def test_the_bounds_themselves_are_valid(engine: Engine) -> None:
    assert len(engine.search("retry", limit=1).hits) == 1
    assert engine.search("retry", limit=1000).hits
    for odd in ("\0", "🙂", "()[]{}*", '"', "AND OR NOT", "a" * 500, "\ud800", "-x", "body:retry"):
        engine.search(odd)


def test_a_long_text_is_cut_and_a_note_says_so(engine: Engine) -> None:
    asked = "RetryClient " + "x" * MAX_QUERY
    cut = engine.search(asked, mode="keyword")
    assert cut.query == asked[:MAX_QUERY]
    assert cut.hits[0].path == "lib/deep/inner/retry_client.py"
    assert cut.notes[0] == "The query has 100,012 characters; only the first 100,000 were searched for."
    whole = engine.search("RetryClient".ljust(MAX_QUERY, "x"), mode="keyword")
    blanks = engine.search(" " * MAX_QUERY + "RetryClient", mode="keyword")
    assert not [note for note in (*whole.notes, *blanks.notes) if "characters" in note]
    assert blanks.hits[0].path == "lib/deep/inner/retry_client.py"
    with pytest.raises(errors.InvalidInput, match="empty"):
        engine.search(" " * (MAX_QUERY + 1))


def test_an_empty_folder_answers_with_nothing(tmp_path: Path) -> None:
    with Engine.open(root=make(tmp_path / "empty", {})) as engine:
        result = engine.search("anything")
        assert (result.hits, result.total, result.freshness, result.confidence) == ((), 0, "fresh", 0.0)
        assert engine.grep("a").total_lines == 0
        assert engine.symbols("a").definitions == ()
        assert engine.index().files == 0
        assert engine.status().indexing_status == "ready"
        with pytest.raises(errors.NotFound):
            engine.similar("nothing.py")


def test_a_first_question_without_time_is_answered_from_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexer, "_TASK_FILES", 5)
    monkeypatch.setattr(indexer, "_FIRST_BATCH_S", 60.0)
    files = {f"m{n}.py": f"def function_{n}():\n    return {n}\n" for n in range(40)}
    with Engine.open(root=make(tmp_path / "p", files)) as engine:
        assert engine.status().indexing_status == "not_indexed"
        for ask in (engine.search, engine.symbols):
            with pytest.raises(errors.IndexNotReady, match="is not indexed"):
                ask("function_7", wait_s=0)  # no time at all: nothing is begun
        assert not engine.store_dir.exists()
        first = engine.search("function_7", wait_s=0.001)
        assert first.hits[0].path == "m7.py"
        assert (first.freshness, first.completeness) == ("stale", "partial"), "nobody goes on"
        assert first.coverage.scanned == 35, "the first batch is waited for"
        assert engine.status().indexing_status == "indexing"
        last = engine.search("function_7", wait_s=None)
        assert last.hits[0].path == "m7.py"
        assert (last.freshness, last.completeness, last.coverage.pending_files) == ("fresh", "complete", 0)


def test_what_a_deadline_cut_off_is_pending_and_comes_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"m{n}.py": f"def function_{n}():\n    return {n}\n" for n in range(30)}
    root = make(tmp_path / "p", files)
    for name in files:
        os.utime(root / name, (1_000_000_000, 1_000_000_000))  # a file just written is looked at twice
    monkeypatch.setattr(indexer, "_TASK_FILES", 3)
    monkeypatch.setattr(indexer, "_STOP_MARGIN_S", 0.0)
    with Engine.open(root=root) as engine:
        engine.store_dir.mkdir()
        clock = iter(range(10**6))

        class Ticking:
            """Each look at the clock is a second later: a run ends after a few batches on any machine."""

            monotonic = staticmethod(lambda: float(next(clock)))

        monkeypatch.setattr(indexer, "time", Ticking)
        index = indexer.Indexer(root, engine.store_dir, workers=1)
        indexed = 0
        for _ in range(40):
            report = index.sync(deadline=float(next(clock)) + 8)
            indexed += report.changed
            (state,) = rows(engine, "SELECT complete, pending, files FROM manifests")
            assert state == (int(report.complete), 30 - indexed, indexed)
            if report.complete:
                break
        assert report.complete


def test_named_files_of_a_folder_never_indexed_do_not_make_it_whole(tmp_path: Path) -> None:
    with Engine.open(root=make(tmp_path / "p")) as engine:
        engine.sync(["src/retry.py"])
        assert engine.status().indexing_status == "indexing"
        assert engine.search("LruCache", wait_s=None).hits[0].path == "src/cache.py"
        assert engine.status().indexing_status == "ready"


def test_named_files_are_taken_in_alone(tmp_path: Path) -> None:
    root = make(tmp_path / "p")
    with Engine.open(root=root) as engine:
        engine.index()
        write(root, "src/one.py", "def one_added(): pass\n")
        write(root, "src/two.py", "def two_added(): pass\n")
        engine.sync([str(root / "src/one.py")])
        assert "src/one.py" in contents(engine)["files"]
        assert "src/two.py" not in contents(engine)["files"]
        (root / "src/one.py").unlink()
        engine.sync(["src/one.py"])
        assert "src/one.py" not in contents(engine)["files"]
        with pytest.raises(errors.InvalidInput):
            engine.sync(["../outside.py"])


def test_what_needed_no_vectors_gets_them_at_the_next_question_that_does(tmp_path: Path) -> None:
    root = make(tmp_path / "p")
    with Engine.open(root=root) as engine:
        engine.index()
        write(root, "src/late.py", "def late_arrival():\n    return 'a train that is delayed'\n")
        engine.grep("late_arrival")
        result = engine.search("delayed trains", mode="semantic", limit=50)
        assert "src/late.py" in {hit.path for hit in result.hits}
        assert result.completeness == "complete"


def test_similar_names_what_is_like_a_file_or_a_place_in_it(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    result = engine.similar("src/retry.py")
    assert result.hits
    assert "src/retry.py" not in {hit.path for hit in result.hits}
    assert engine.similar("src/retry.py:4").hits
    monkeypatch.chdir(engine.root / "src")
    assert places(engine.similar("retry.py")) == places(result)
    with pytest.raises(errors.NotFound):
        engine.similar("src/missing.py")
    with pytest.raises(errors.NotFound):
        engine.similar("src/missing.py:0")


@pytest.mark.parametrize(("line", "said"), [(0, "There is no line 0: lines begin at 1"), (999, "there is no line 999")])
def test_a_line_that_no_file_has_is_not_a_file_that_is_missing(engine: Engine, line: int, said: str) -> None:
    with pytest.raises(errors.InvalidInput, match=said) as raised:
        engine.similar(f"src/retry.py:{line}")
    assert re.search(rf"\b{len((engine.root / 'src/retry.py').read_text().splitlines())}\b", raised.value.message)


# --- git ----------------------------------------------------------------------------------------------------------


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull},
    )


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_linked_work_tree_shares_the_store_and_costs_only_what_differs(tmp_path: Path) -> None:
    main = make(tmp_path / "main")
    git(main, "init", "-q", "-b", "trunk")
    git(main, "add", ".")
    git(main, "commit", "-q", "-m", "start")
    with Engine.open(main) as engine:
        assert engine.index().changed == len(SMALL)
        blobs = len(rows(engine, "SELECT 1 FROM blobs"))
        before = contents(engine)
        git(main, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
        write(tmp_path / "side", "src/side.py", "class OnlyOnTheSide:\n    pass\n")
        with Engine.open(tmp_path / "side") as side:
            assert side.store_dir == engine.store_dir
            report = side.index()
            assert report.chunks == 1
            assert len(rows(side, "SELECT 1 FROM blobs")) == blobs + 1
            assert side.search("OnlyOnTheSide").hits[0].path == "src/side.py"
            assert side.status().coverage.files == len(SMALL) + 1
        assert not engine.search("OnlyOnTheSide", mode="symbol").hits
        assert not engine.symbols("OnlyOnTheSide").definitions
        assert not engine.grep("OnlyOnTheSide").files
        assert "src/side.py" not in {hit.path for hit in engine.search("OnlyOnTheSide", limit=50).hits}
        assert contents(engine) == before


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_path_below_the_root_is_a_filter(tmp_path: Path) -> None:
    repository = make(tmp_path / "repo", TREE)
    git(repository, "init", "-q")
    with Engine.open(repository / "lib" / "deep") as engine:
        assert engine.root == repository
        assert engine.scope == "lib/deep"
        assert {hit.path for hit in engine.search("retry", limit=50).hits} == {"lib/deep/inner/retry_client.py"}
        assert engine.grep("retry").files_searched == 1
        engine.index()
        assert engine.status().coverage.files == len(TREE)
    with Engine.open(root=repository / "lib") as engine:
        assert engine.store_dir.parent == repository / "lib"
        assert engine.index().files == 2


def test_without_git_the_nearest_store_above_is_the_root(tmp_path: Path) -> None:
    folder = make(tmp_path / "plain", TREE)
    with Engine.open(folder) as engine:
        assert engine.root == folder
        engine.index()
    with Engine.open(folder / "src" / "retry.py") as engine:
        assert (engine.root, engine.scope) == (folder, "src/retry.py")
        assert {hit.path for hit in engine.search("retry").hits} == {"src/retry.py"}
    with pytest.raises(errors.RootError):
        Engine.open(folder / "missing")


def test_a_file_read_right_after_it_was_written_is_not_called_changed(tmp_path: Path) -> None:
    root = make(tmp_path / "p")
    with Engine.open(root=root) as engine:
        engine.index()
        for number in range(5):
            write(root, "src/young.py", f"def young_{number}():\n    pass\n")
            result = engine.search(f"young_{number}")
            assert (result.freshness, result.hits[0].path, result.hits[0].stale) == ("fresh", "src/young.py", False)
            assert not any(hit.stale for hit in engine.search(f"young_{number}", wait_s=0).hits)


def test_a_path_may_be_any_path(tmp_path: Path) -> None:
    root = make(tmp_path / "p")
    with Engine.open(root / "src", root=os.fspath(root)) as engine:
        assert engine.scope == "src"
        assert engine.sync([Path("src/retry.py"), root / "src/cache.py", "src/app.js"]).files == 3
        assert engine.sync(Path("docs/guide.md")).files == engine.sync("docs/guide.md").files == 4
        assert engine.why(root / "src/retry.py").indexed
        assert engine.similar(root / "src/retry.py", wait_s=None).hits == engine.similar("src/retry.py").hits
        assert engine.changed([Path("src/retry.py")]) == ([], set())
        assert engine.document_text(Path("src/retry.py")) is None
        assert engine.reembed([Path("src/retry.py")], anew=True).chunks
        assert engine.changed("src/retry.py") == ([], set())
        assert engine.reembed("src/retry.py", anew=True).embedded == ("src/retry.py",)
    with Workspace(root / "src", roots=[os.fspath(root)]) as workspace:
        assert workspace.engine.scope == "src"


def test_a_name_that_looks_as_if_a_line_followed(tmp_path: Path) -> None:
    root = make(tmp_path / "p", {**SMALL, "notes:12": "Failed requests are sent again.\n"})
    with Engine.open(root=root) as engine:
        engine.index()
        assert engine.similar("notes:12").hits == engine.similar("notes:12:1").hits != ()


def test_what_killed_processes_left_of_files_read_alone_is_removed_after_an_hour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "tmp"
    for name in ("findling-file-old", "findling-file-new", "findling-other", "else"):
        (temporary / name / "fulltext").mkdir(parents=True)
    for name in ("findling-file-old", "findling-other", "else"):
        os.utime(temporary / name, (0, 0))
    (temporary / "findling-file-link").symlink_to(temporary / "else")
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    file = make(tmp_path / "project") / next(iter(SMALL))
    with Engine.open(file, file_alone=True):
        there = {path.name for path in temporary.iterdir()}
        kept = {"findling-file-new", "findling-file-link", "findling-other", "else"}
        assert kept < there and "findling-file-old" not in there
    assert {path.name for path in temporary.iterdir()} == kept

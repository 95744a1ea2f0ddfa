"""When files are taken in and how they are cut, as it is configured."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from indexes import SMALL, contents, make, of_yesterday, rows, write

from findling import Engine
from findling.config import Config
from findling.config.options import Semantic
from findling.contracts import Workspace, call
from findling.model.errors import IndexNotReady
from findling.reading.limits import ChunkLimits, DocLimits
from findling.store import parts

PROSE = "# Long\n\n" + " ".join(f"Sentence number {n} says something about retrying." for n in range(60)) + "\n"
LINES = "\n".join(f"echo number {n}" for n in range(120)) + "\n"
FILES = {**SMALL, "docs/long.md": PROSE, "src/flat.sh": LINES}

BY_HAND = Config(semantic=Semantic(auto_index=False))
SMALLER = Config(semantic=Semantic(chunk_size=400, chunk_overlap=50, chunk_max_lines=20, chunk_overlap_lines=5))
CHANGED = "The configured sizes of passages have changed. The index is rebuilt."


@pytest.fixture(autouse=True)
def nothing_of_the_user(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("home")))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path / "project", FILES)


# --- by hand ---------------------------------------------------------------------------------------------------


def test_without_an_index_a_question_makes_none(root: Path) -> None:
    with Engine.open(root=root, config=BY_HAND) as engine:
        assert engine.auto_index is False
        for ask in (
            lambda: engine.search("retry"),
            lambda: engine.search("retry", wait_s=None),
            lambda: engine.symbols("retry"),
            lambda: engine.similar("src/retry.py"),
        ):
            with pytest.raises(
                IndexNotReady, match=r"is not indexed, and semantic.auto_index is false.*findling index"
            ):
                ask()
        assert not engine.store_dir.exists()
        assert engine.status().indexing_status == "not_indexed"
    with Workspace(root=root, config=BY_HAND) as workspace:
        refused = call("search_code", {"query": "retry"}, workspace)
        assert refused.is_error
        assert refused.structured is not None
        assert refused.structured["error"]["code"] == "index_not_ready"
        assert refused.structured["metadata"]["indexing_status"] == "not_indexed"
        assert call("find_symbol", {"name": "retry"}, workspace).is_error
        assert not call("search_keyword", {"query": "retry"}, workspace).is_error
        assert not engine.store_dir.exists()


def test_a_question_takes_nothing_in_and_says_that_it_is_stale(root: Path) -> None:
    with Engine.open(root=root, config=BY_HAND) as engine:
        engine.index()
        fresh = engine.search("RetryPolicy")
        assert (fresh.freshness, fresh.stale_reason) == ("fresh", "")
        generation = rows(engine, "SELECT value FROM meta WHERE key='generation'")
        write(root, "src/new.py", "class AddedLater:\n    pass\n")
        of_yesterday(root / "src/new.py")
        (root / "src/cache.py").unlink()
        for wait_s in (1.5, None):
            stale = engine.search("AddedLater", wait_s=wait_s)
            assert not any(hit.path == "src/new.py" for hit in stale.hits)
            assert stale.freshness == "stale"
            assert stale.stale_reason == "2 files changed, and semantic.auto_index is false"
        assert engine.symbols("AddedLater").definitions == ()
        assert [file.path for file in engine.grep("AddedLater").files] == ["src/new.py"]
        assert (
            sum(
                "'findling index' updates it" in note or "'findling index' indexes it" in note
                for note in engine.status().notes
            )
            == 2
        )
        assert rows(engine, "SELECT value FROM meta WHERE key='generation'") == generation
        engine.sync()
        found = engine.search("AddedLater")
        assert (found.hits[0].path, found.freshness) == ("src/new.py", "fresh")


def test_nor_does_a_server_after_its_answer(root: Path) -> None:
    with Engine.open(root=root, config=BY_HAND) as engine:
        engine.index(embed=False)
    with Workspace(root=root, config=BY_HAND, background=True) as workspace:
        write(root, "src/new.py", "class AddedLater:\n    pass\n")
        found = call("search_code", {"query": "AddedLater"}, workspace).structured
        assert found is not None
        assert found["metadata"]["freshness_status"] == "stale"
        assert workspace.jobs.active is None
        assert workspace.jobs.recent() == []
        assert workspace.engine.search("how is it sent again").coverage.embedded_chunks == 0
        call("sync_repo", {}, workspace)
        workspace.finish()
        again = call("search_code", {"query": "AddedLater"}, workspace).structured
        assert again is not None
        assert again["results"][0]["path"] == "src/new.py"


# --- how files are cut -----------------------------------------------------------------------------------------


def sizes(engine: Engine, path: str) -> list[tuple[int, int, int]]:
    """(first line, last line, bytes) of a file's chunks."""
    packed = contents(engine)["files"][path]["reading"]["chunks"]
    return [(chunk.start_line, chunk.end_line, chunk.end_byte - chunk.start_byte) for chunk in parts.chunks(packed)]


def overlaps(engine: Engine, path: str) -> list[int]:
    """How many bytes each of a file's chunks repeats of the one before."""
    packed = contents(engine)["files"][path]["reading"]["chunks"]
    return [before.end_byte - chunk.start_byte for before, chunk in pairwise(parts.chunks(packed))]


def test_documents_and_code_are_cut_by_the_configured_sizes(root: Path) -> None:
    """S0-21: no chunk has more characters. S0-22: none repeats more of the one before."""
    with Engine.open(root=root) as engine:
        engine.index(embed=False)
        usual = sizes(engine, "docs/long.md"), sizes(engine, "src/flat.sh")
        assert max(size for _, _, size in usual[0]) > 400
        assert 100 < max(overlaps(engine, "docs/long.md")) <= 200
        assert [lines[:2] for lines in usual[1]] == [(1, 50), (41, 90), (81, 120)]
    write(root, "findling.toml", "[semantic]\nchunkSize = 400\nchunkOverlap = 50\nchunk_max_lines = 20\n")
    with Engine.open(root=root) as engine:
        assert CHANGED in engine.index(embed=False).notes
        assert max(size for _, _, size in sizes(engine, "docs/long.md")) <= 400
        assert 20 < max(overlaps(engine, "docs/long.md")) <= 50
        cut = [lines[:2] for lines in sizes(engine, "src/flat.sh")]
        assert cut[0] == (1, 20)
        assert cut[1] == (11, 30)  # the overlap of ten lines holds still


def test_a_changed_size_cuts_everything_anew_once(root: Path, tmp_path: Path) -> None:
    with Engine.open(root=root) as engine:
        engine.index()
        assert engine.index().notes == ()
    with Engine.open(root=root, config=SMALLER) as engine:
        assert any("next search rebuilds the index" in note for note in engine.status().notes)
        assert engine.status().freshness == "stale"
        first = engine.search("retrying", wait_s=None)
        assert CHANGED in first.notes
        assert (first.freshness, first.completeness) == ("fresh", "complete")
        again = engine.search("retrying", explain=True)
        assert again.notes == ()
        assert engine.index().changed == 0
        grown = contents(engine)
    other = make(tmp_path / "again", FILES)
    with Engine.open(root=other, config=SMALLER) as engine:
        report = engine.index()
        assert report.notes == ()  # nothing was cut otherwise before
        assert contents(engine) == grown


def test_one_file_to_look_at_or_one_question_with_little_time_start_over_as_well(root: Path) -> None:
    with Engine.open(root=root) as engine:
        files = engine.index(embed=False).files
    with Engine.open(root=root, config=SMALLER) as engine:
        report = engine.sync(["src/retry.py"])
        assert report.files == files
        assert CHANGED in report.notes
    with Engine.open(root=root) as engine:
        found = engine.search("RetryPolicy", wait_s=1.5)
        assert CHANGED in found.notes
        assert found.coverage.files + found.coverage.pending_files == files


def test_by_hand_an_index_that_is_cut_otherwise_answers_as_it_is(root: Path) -> None:
    with Engine.open(root=root) as engine:
        engine.index()
        before = contents(engine)
    by_hand = Config(semantic=Semantic(auto_index=False, chunk_size=400, chunk_overlap=50))
    with Engine.open(root=root, config=by_hand) as engine:
        found = engine.search("RetryPolicy")
        assert found.hits
        assert (found.freshness, found.notes) == ("stale", ())
        assert "semantic.auto_index is false" in found.stale_reason
        assert any("'findling index' rebuilds the index" in note for note in engine.status().notes)
        assert contents(engine) == before
        assert CHANGED in engine.index().notes
        assert engine.search("RetryPolicy").freshness == "fresh"


def test_an_engine_that_has_read_an_older_configuration_reads_it_again(root: Path) -> None:
    """Otherwise two processes would cut all files by turns."""
    with Engine.open(root=root) as older:
        older.index()
        write(root, "findling.toml", "[semantic]\nchunkSize = 400\nchunkOverlap = 50\n")
        with Engine.open(root=root) as newer:
            assert CHANGED in newer.index().notes
            cut = sizes(newer, "docs/long.md")
        found = older.search("retrying")
        assert found.hits
        assert CHANGED not in found.notes
        assert sizes(older, "docs/long.md") == cut


def test_an_empty_index_has_nothing_to_cut_anew(tmp_path: Path) -> None:
    root = make(tmp_path / "empty", {})
    with Engine.open(root=root) as engine:
        engine.index()
    with Engine.open(root=root, config=SMALLER) as engine:
        assert engine.index().notes == ()
        write(root, "a.md", PROSE)
        assert engine.search("retrying").notes == ()
        assert max(size for _, _, size in sizes(engine, "a.md")) <= 400
        assert engine.search("retrying").notes == ()


@pytest.mark.parametrize("limits", [ChunkLimits(), ChunkLimits(DocLimits(500, 50), 30, 7)])
def test_limits_travel_by_their_id(limits: ChunkLimits) -> None:
    assert ChunkLimits.from_id(limits.id) == limits


@pytest.mark.parametrize("text", ["1 2", "a b c d", "100 100 50 10", "2000 200 10 10"])
def test_what_are_no_limits_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        ChunkLimits.from_id(text)

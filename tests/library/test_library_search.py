"""Searching all collections: comparable scores, true totals, nothing crowded out, and words where vectors fail."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from shelf import BREAD, long_ago, write

from findling import Library
from findling.contracts import Workspace
from findling.model.errors import InvalidInput, NotFound
from findling.store.local.lock import WriterLock

BIG = 120


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a small collection, and one that is sixty times as large and speaks of much the same."""
    folder = tmp_path_factory.mktemp("filled").resolve()
    pages = {
        f"page_{n}.md": f"# Page {n}\n\nFlour and water in the mill number {n}.\n\n## Wheels\n\nThe wheel turns.\n"
        for n in range(BIG)
    }
    with Library(folder / "data") as library:
        library.add(write(folder / "mill", pages))
        library.add(write(folder / "bread", BREAD))
    return folder


@pytest.fixture
def shelves(filled: Path, data: Path) -> Iterator[Library]:
    """A copy of it, to be changed at will; the files that it is of must stay."""
    shutil.copytree(filled / "data", data)
    with Library(data) as library:
        yield library


def test_results_are_sorted_by_similarity_and_name_their_collection(shelves: Library) -> None:
    """S3-1, D17."""
    answer = shelves.search("how to feed a sourdough starter", limit=5, min_score=0.0)
    first = answer.passages[0]
    assert (first.collection, Path(first.file_path).name) == ("bread", "baking.md")
    assert "Feed the starter" in first.content
    scores = [passage.score for passage in answer.passages]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert {passage.collection for passage in shelves.search("flour", min_score=0.0).passages} == {"bread", "mill"}


def test_a_long_query_is_cut_and_a_note_says_so(shelves: Library) -> None:
    asked = ("how to feed a sourdough starter " * 4_000)[:100_003]
    answer = shelves.search(asked, limit=1, min_score=0.0)
    assert answer.query == asked[:100_000]
    assert answer.notes == ("The query has 100,003 characters; only the first 100,000 were searched for.",)
    assert Path(answer.passages[0].file_path).name == "baking.md"


def test_a_small_collection_is_not_crowded_out(shelves: Library) -> None:
    """What it says best is as good as what it would be alone."""
    together = shelves.search("rye flour soaks up water", limit=3, min_score=0.0)
    shelves.remove("mill")
    alone = shelves.search("rye flour soaks up water", limit=1, min_score=0.0)
    assert alone.passages[0] in together.passages
    assert together.passages[0] == alone.passages[0]


def test_totals_and_thresholds_are_true(shelves: Library) -> None:
    """S3-2, S3-3, D4, D17: every passage is counted, shown or not, and the threshold is inclusive."""
    everything = shelves.search("flour and water", limit=1000, min_score=0.0)
    total = sum(row.chunks for row in shelves.status())
    assert (everything.total, everything.below_threshold, len(everything.passages)) == (total, 0, total)
    assert everything.total_exact
    ranked = [passage.score for passage in everything.passages]
    at = ranked[10]
    cut = shelves.search("flour and water", limit=3, min_score=at)
    reached = sum(score >= at - 1e-9 for score in ranked)
    assert (len(cut.passages), cut.total, cut.below_threshold) == (3, reached, total - reached)
    assert cut.best_similarity == ranked[0] == cut.passages[0].score
    none = shelves.search("flour and water", min_score=1.0)
    assert (none.passages, none.total, none.below_threshold) == ((), 0, total)


def test_what_a_passage_says_is_the_file_s_own_text(library: Library, bread: Path) -> None:
    """S3-7: offset, size, time and tokens are those of the file."""
    library.add(bread)
    text = "# Käse\n\nÄlter ist besser.\n\n## Flour 🌾 and cheese\n\nWater is not needed for cheese at all.\n"
    (bread / "cheese.md").write_bytes(text.encode())
    early = library.search("cheese", min_score=0.0, wait_s=0)
    assert (early.complete, early.notes) == (False, ("bread: files were not checked for changes, as asked.",))
    answer = library.search("cheese", min_score=0.0, wait_s=None)
    passages = [passage for passage in answer.passages if passage.file_path.endswith("cheese.md")]
    assert len(passages) == 2
    status = (bread / "cheese.md").stat()
    for passage in passages:
        assert text[passage.chunk_offset :].startswith(passage.content)
        assert passage.token_count == -(-len(passage.content) // 4)
        assert passage.file_size == status.st_size
        assert abs(passage.modified - status.st_mtime) < 0.001
        assert passage.id == f"{bread}/cheese.md:{passage.chunk_index}"


def test_a_file_of_two_collections_is_found_once(library: Library, bread: Path) -> None:
    library.add(bread)
    library.add(bread / "flour")
    library.add(bread / "baking.md")
    answer = library.search("flour and water", limit=50, min_score=0.0)
    assert len({passage.id for passage in answer.passages}) == len(answer.passages)
    assert answer.total == len(answer.passages)
    assert {passage.collection for passage in answer.passages} == {"bread"}
    library.remove("bread")
    answer = library.search("flour and water", limit=50, min_score=0.0)
    assert {passage.collection for passage in answer.passages} == {"flour", "baking.md"}


def test_words_decide_where_meaning_is_off(
    library: Library, bread: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add(bread)
    library.add(write(tmp_path.resolve() / "tea", {"tea.md": "# Tea\n\nWater just below boiling.\n"}))
    library.close()
    monkeypatch.setenv("FINDLING_SEMANTIC_ENABLED", "false")
    answer = library.search("sourdough starter", min_score=1.0)
    assert not answer.used_semantic
    assert [Path(passage.file_path).name for passage in answer.passages] == ["baking.md"]
    assert "Feed the starter" in answer.passages[0].content
    assert (answer.best_similarity, answer.total) == (None, 1)
    assert answer.notes == ("Only words were compared: Searching by meaning is off: semantic.enabled is false.",)


def test_a_source_that_cannot_be_asked_by_meaning_is_searched_by_words_and_named(
    library: Library, bread: Path, tmp_path: Path
) -> None:
    library.add(bread)
    root = write(
        tmp_path.resolve() / "tea",
        {"tea.md": "# Tea\n\nWater just below boiling.\n", "findling.toml": "[semantic]\nenabled = false\n"},
    )
    with Workspace(root, root=root) as workspace:
        for query in ("water below boiling", "sourdough starter"):
            answer = library.search(query, limit=50, min_score=0.0, also=[workspace.root.documents], wait_s=None)
            found = [passage.collection for passage in answer.passages]
            assert answer.used_semantic and "bread" in found
            assert found == sorted(found), "what words found comes after what meaning found"
            assert ("tea" in found) == (query == "water below boiling")
            assert (answer.complete, answer.total_exact) == (False, False)
            assert [note for note in answer.notes if note.startswith("tea: not searched by meaning: ")]
        empty = write(tmp_path.resolve() / "empty", {"findling.toml": "[semantic]\nenabled = false\n"})
        with Workspace(empty, root=empty) as other:
            answer = library.search("water", min_score=0.0, also=[other.root.documents], wait_s=None)
            assert (answer.complete, answer.notes) == (True, ()), "there is nothing that was left out"


def test_a_source_without_vectors_is_told_of_once(library: Library, bread: Path, tmp_path: Path) -> None:
    library.add(bread)
    files = {
        "tea.md": "# Tea\n\nWater just below boiling.\n",
        "brew.py": "def brew(leaves):\n    return leaves\n",
        "findling.toml": "[semantic]\nauto_index = false\n",
    }
    root = long_ago(write(tmp_path.resolve() / "tea", files))
    with Workspace(root, root=root) as workspace:
        workspace.engine.index(embed=False)
        answer = library.search("water below boiling", min_score=0.0, also=[workspace.root.documents], wait_s=None)
        assert (answer.complete, answer.used_semantic) == (False, True)
        assert answer.notes == ("tea: not searched by meaning: 1 passage without a vector yet.",)
        workspace.engine.reembed(["tea.md"], anew=False)
        whole = library.search("water below boiling", min_score=0.0, also=[workspace.root.documents], wait_s=None)
        assert (whole.complete, whole.notes) == (True, ()), "code has no part in it"


def test_what_another_writer_keeps_out_is_told_of(library: Library, bread: Path) -> None:
    library.add(bread)
    store = library._source(library.collections()[0]).engine.store_dir
    (bread / "new.md").write_text("# Zanzibar\n\nThe zanzibar handshake.\n")
    writer = WriterLock(store, wait_s=0)
    try:
        busy = library.search("zanzibar handshake", min_score=0.0, wait_s=0.1)
    finally:
        writer.release()
    assert (busy.complete, busy.notes) == (
        False,
        ("bread: not everything is indexed yet.", "bread: another process is indexing."),
    )
    free = library.search("zanzibar handshake", min_score=0.0, wait_s=None)
    assert (free.complete, Path(free.passages[0].file_path).name) == (True, "new.md")


def test_words_decide_where_the_model_knows_none(library: Library, bread: Path) -> None:
    library.add(bread)
    (bread / "odd.md").write_text("# Odd\n\nThe code word is ⠟⠭⠵⠽.\n")
    answer = library.search("⠟⠭⠵⠽", wait_s=None)
    assert not answer.used_semantic


def test_one_file_chunk_by_chunk(library: Library, bread: Path) -> None:
    """S3-10 to S3-12: all chunks, one, or one with its neighbours; 0 is that chunk only."""
    text = "".join(f"# Part {n}\n\n{'Words about water. ' * 20}\n\n" for n in range(8))
    (bread / "parts.md").write_text(text)
    library.add(bread)
    path = str(bread / "parts.md")
    whole = library.file(path)
    assert [passage.chunk_index for passage in whole.passages] == list(range(whole.total))
    assert whole.total == 8
    around = library.file(path, chunk_index=3)
    assert [passage.chunk_index for passage in around.passages] == [0, 1, 2, 3, 4, 5, 6]
    assert [p.chunk_index for p in library.file(path, chunk_index=3, context=0).passages] == [3]
    assert [p.chunk_index for p in library.file(path, chunk_index=7, context=1).passages] == [6, 7]
    for index, context in ((8, 3), (-1, 3), (0, 11)):
        with pytest.raises(InvalidInput):
            library.file(path, chunk_index=index, context=context)


def test_only_what_is_in_the_library_is_read(library: Library, bread: Path, tmp_path: Path) -> None:
    library.add(bread)
    outside = write(tmp_path.resolve() / "private", {"diary.md": "# Diary\n"}) / "diary.md"
    (bread / "link.md").symlink_to(outside)
    for path in (str(outside), f"{bread}/../private/diary.md", str(bread / "link.md"), "/etc/passwd"):
        with pytest.raises(NotFound):
            library.file(path)
    with pytest.raises(NotFound, match="does not exist"):
        library.file(str(bread / "nothing.md"))
    with pytest.raises(InvalidInput, match="absolute"):
        library.file("baking.md")


def test_a_file_that_is_taken_out_stays_out(library: Library, bread: Path) -> None:
    library.add(bread)
    chunks = library.file(str(bread / "baking.md")).total
    removed = library.remove_file(str(bread / "baking.md"))
    assert (removed.names, removed.files, removed.chunks) == (("bread",), 1, chunks)
    assert (bread / "baking.md").exists()
    for _ in range(2):
        names = {Path(p.file_path).name for p in library.search("oven", min_score=0.0).passages}
        assert names == {"rye.txt"}
        (bread / "baking.md").write_text("# Baking\n\nThe oven again.\n")
        library.refresh()
    assert library.status()[0].removed == 1
    with pytest.raises(NotFound):
        library.remove_file(str(bread / "baking.md"))


def test_a_collection_of_the_file_that_is_taken_out_goes_with_it(library: Library, bread: Path) -> None:
    library.add(bread / "baking.md")
    library.add(bread / "flour")
    removed = library.remove_file(str(bread / "baking.md"))
    assert (removed.names, removed.files) == (("baking.md",), 1)
    assert [collection.name for collection in library.collections()] == ["flour"]
    assert (bread / "baking.md").exists()


def test_names_with_marks_of_globs_are_taken_out_alone(library: Library, tmp_path: Path) -> None:
    names = ("[a].md", "a.md", "*.md", "!b.md", "c .md")
    folder = write(tmp_path.resolve() / "odd", {name: f"# {name}\n\nSome water.\n" for name in names})
    library.add(folder)
    for count, name in enumerate(("[a].md", "*.md", "!b.md", "c .md"), 1):
        library.remove_file(str(folder / name))
        assert library.status()[0].files == len(names) - count
    assert [Path(p.file_path).name for p in library.search("water", min_score=0.0).passages] == ["a.md"]


def test_flush_forgets_everything_and_touches_no_file(shelves: Library, filled: Path) -> None:
    removed = shelves.flush()
    assert (sorted(removed.names), removed.files) == (["bread", "mill"], BIG + 2)
    assert shelves.collections() == ()
    assert (filled / "bread" / "baking.md").exists()


@pytest.mark.parametrize(("query", "limit", "score"), [(" ", 1, 0.5), ("x", 0, 0.5), ("x", 1001, 0.5), ("x", 1, 1.1)])
def test_what_is_out_of_bounds_is_refused(query: str, limit: int, score: float, library: Library) -> None:
    with pytest.raises(InvalidInput):
        library.search(query, limit=limit, min_score=score)

"""Adding, refreshing and removing: what was added stays untouched, and what is said about it is true."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from shelf import write

from findling import Engine, Library
from findling.engine.library.results import Passage
from findling.model.errors import ConfigError, InvalidInput, NotFound, RootError
from findling.model.types import Progress


def tree(folder: Path) -> dict[str, bytes | None]:
    """Everything in a folder with its content."""
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in sorted(folder.rglob("*"))}


def found(library: Library, query: str) -> list[tuple[str, str]]:
    answer = library.search(query, min_score=0.0, limit=50, wait_s=None)
    return [(p.collection, Path(p.file_path).name) for p in answer.passages]


def files(library: Library, query: str = "water flour oven") -> set[str]:
    return {name for _, name in found(library, query)}


@pytest.mark.parametrize("name", ["a\0b", "\udcff", "x" * 300, "/" + "x" * 300])
def test_names_that_no_collection_has(library: Library, name: str) -> None:
    with pytest.raises(NotFound, match="There is no collection called"):
        library.remove(name)


def test_what_is_removed_while_it_is_added_is_gone_and_said_to_be(library: Library, bread: Path, data: Path) -> None:
    def remove(progress: Progress) -> None:
        with Library(data) as other:
            if progress.stage == "indexing" and other.collections():
                other.remove("bread")

    with pytest.raises(NotFound, match="'bread' was removed while it was indexed"):
        library.add(bread, progress=remove)
    assert (library.collections(), list((data / "indexes").iterdir())) == ((), [])


def test_looking_makes_nothing(library: Library, data: Path) -> None:
    assert library.collections() == ()
    assert library.status() == ()
    assert library.search("anything").sources == 0
    assert library.jobs.all() == []
    assert not data.exists()


def test_a_folder_is_indexed_in_the_data_folder_alone(library: Library, bread: Path, data: Path) -> None:
    before = tree(bread)
    added = library.add(bread)
    assert (added.collection.name, added.collection.kind, added.collection.path) == ("bread", "folder", str(bread))
    assert added.report is not None
    assert (added.report.files, added.report.complete) == (2, True)
    assert tree(bread) == before
    (status,) = library.status()
    assert (status.state, status.fresh, status.files) == ("ready", True, 2)
    assert status.chunks == status.embedded_chunks > 0
    assert status.tokens == -(-sum(p.stat().st_size for p in bread.rglob("*") if p.is_file()) // 4)
    total = library.statistics()
    assert (total.total_files, total.total_chunks, total.total_tokens) == (2, status.chunks, status.tokens)
    assert total.db_size == status.bytes_on_disk > 0
    assert total.last_updated == status.last_indexed_at
    assert "bundled" in total.embedding_model
    if os.name == "posix":
        assert (data / "indexes").stat().st_mode & 0o077 == 0


def test_a_folder_with_an_index_of_its_own_gets_another(library: Library, bread: Path) -> None:
    with Engine.open(root=bread) as engine:
        engine.index()
        own = engine.store_dir
    before = tree(own)
    library.add(bread)
    assert "baking.md" in files(library)
    library.remove("bread")
    assert tree(own) == before


def test_a_folder_that_cannot_be_written_can_be_added(library: Library, bread: Path) -> None:
    bread.chmod(0o555)
    try:
        library.add(bread)
        assert "baking.md" in files(library)
    finally:
        bread.chmod(0o755)


def test_a_single_file_is_a_collection_whatever_lies_beside_it(library: Library, tmp_path: Path) -> None:
    notes = write(tmp_path / "notes", {"one.md": "# One\n\nApples and pears.\n", "two.md": "# Two\n\nApples too.\n"})
    (notes / ".gitignore").write_text("*.md\n")
    (notes / ".ignore").write_text("one.md\n")
    added = library.add(notes / "one.md")
    assert (added.collection.name, added.collection.kind) == ("one.md", "file")
    assert found(library, "apples") == [("one.md", "one.md")]
    (notes / "one.md").write_text("# One\n\nOnly plums are left, and they are sour.\n")
    assert "plums" in library.search("plums", min_score=0.0).passages[0].content


def test_changes_are_taken_in_by_the_next_question(library: Library, bread: Path) -> None:
    library.add(bread)
    (bread / "salt.md").write_text("# Salt\n\nTwo grams of salt for each hundred grams of flour.\n")
    (bread / "flour" / "rye.txt").unlink()
    assert files(library) == {"baking.md", "salt.md"}


def test_what_vanished_is_said_and_comes_back(library: Library, bread: Path, tmp_path: Path) -> None:
    library.add(bread)
    other = write(tmp_path.resolve() / "tea", {"tea.md": "# Tea\n\nWater just below boiling.\n"})
    library.add(other)
    away = bread.rename(tmp_path / "away")
    status = {row.name: row for row in library.status()}
    assert (status["bread"].state, status["bread"].files, status["tea"].state) == ("missing", 2, "ready")
    answer = library.search("flour and water", min_score=0.0)
    assert {passage.collection for passage in answer.passages} == {"tea"}
    assert any(note.startswith("bread: ") and "not there" in note for note in answer.notes)
    with pytest.raises(NotFound, match="not there any more"):
        library.refresh("bread")
    results = {item.collection.name: item for item in library.refresh()}
    assert results["bread"].report is None
    assert "not there" in results["bread"].problem
    assert results["tea"].report is not None
    away.rename(bread)
    assert "baking.md" in files(library)


def test_a_single_file_that_vanished_is_missing(library: Library, bread: Path) -> None:
    library.add(bread / "baking.md")
    (bread / "baking.md").unlink()
    assert library.status()[0].state == "missing"
    assert library.search("oven", min_score=0.0).passages == ()


def test_removing_forgets_the_index_and_nothing_else(library: Library, bread: Path, data: Path) -> None:
    library.add(bread)
    before = tree(bread)
    removed = library.remove("bread")
    assert (removed.names, removed.files) == (("bread",), 2)
    assert removed.chunks > 0
    assert library.collections() == ()
    assert list((data / "indexes").iterdir()) == []
    assert tree(bread) == before
    assert library.search("oven", min_score=0.0).passages == ()
    assert library.add(bread).collection.name == "bread"


def test_removing_while_another_has_it_open(library: Library, bread: Path, data: Path) -> None:
    library.add(bread)
    with Library(data) as other:
        assert "baking.md" in files(other)
        library.remove("bread")
        assert other.search("oven", min_score=0.0).passages == ()
        assert not (bread / ".findling").exists()


def test_what_cannot_be_added_is_said(library: Library, bread: Path, tmp_path: Path) -> None:
    library.add(bread)
    with pytest.raises(InvalidInput, match="already, as 'bread'"):
        library.add(f"{bread}/../bread")
    with pytest.raises(InvalidInput, match="already"):
        library.add(bread / "baking.md", name="bread")
    with pytest.raises(RootError, match="no file or folder"):
        library.add(tmp_path / "nothing")
    with pytest.raises(RootError, match="does not index it as a whole"):
        library.add("/")
    with pytest.raises(RootError, match="neither a file nor a folder"):
        library.add("/dev/null")
    assert [collection.name for collection in library.collections()] == ["bread"]


def test_two_folders_of_one_name_get_two(library: Library, tmp_path: Path) -> None:
    for place in ("one", "two"):
        write(tmp_path / place / "guide", {"a.md": f"# {place}\n\nSome words about {place}.\n"})
        library.add(tmp_path / place / "guide")
    assert [collection.name for collection in library.collections()] == ["guide", "guide-2"]


def test_secrets_and_links_out_of_the_folder_stay_out(library: Library, bread: Path, tmp_path: Path) -> None:
    secret = write(tmp_path / "private", {"diary.md": "# Diary\n\nFlour and water and tears.\n"})
    (bread / "diary.md").symlink_to(secret / "diary.md")
    (bread / "id_rsa").write_text("-----BEGIN OPENSSH PRIVATE KEY-----\nflour water\n")
    library.add(bread)
    assert files(library) == {"baking.md", "rye.txt"}
    assert sum(library.status()[0].skipped.values()) == 2


def test_the_data_folder_is_no_part_of_a_collection_around_it(tmp_path: Path) -> None:
    base = write(tmp_path.resolve(), {"notes.md": "# Notes\n\nSomething about water.\n"})
    with Library(base / "data") as library:
        library.add(base)
        library.jobs.start("fetch", "fetch_file").end("done", result={"filename": "water.md"})
        library.refresh()
        assert library.status()[0].files == 1


# --- configuration ---------------------------------------------------------------------------------------------


def configured(folder: Path, text: str) -> None:
    (folder / "findling.toml").write_text(text)


def shared(passages: Sequence[Passage]) -> int:
    """The most characters that a passage repeats of the one before it."""
    return max(one.chunk_offset + len(one.content) - other.chunk_offset for one, other in pairwise(passages))


@pytest.mark.parametrize("size", [100, 400])
def test_documents_are_cut_as_configured(size: int, library: Library, tmp_path: Path) -> None:
    """S3-36: chunkSize and overlap; 1000 and 200 by default (D8)."""
    text = "# Long\n\n" + " ".join(f"Sentence number {n} speaks of water." for n in range(200)) + "\n"
    folder = write(tmp_path.resolve() / "long", {"long.md": text})
    library.add(folder)
    whole = library.file(str(folder / "long.md"))
    assert shared(whole.passages) == pytest.approx(200, abs=40)
    assert max(len(passage.content) for passage in whole.passages) <= 1000
    assert whole.total == len(whole.passages) < len(text) / 600
    configured(folder, f"[library]\nchunkSize = {size}\noverlap = 20\n")
    library.close()
    library.refresh()
    again = library.file(str(folder / "long.md"))
    assert max(len(passage.content) for passage in again.passages) <= size
    assert again.total > whole.total
    assert shared(again.passages) <= 20


def test_only_the_configured_files_are_taken(library: Library, tmp_path: Path) -> None:
    """S3-36, D30: fileTypes, include- and excludePatterns, maxFiles; a pattern without / holds in every folder."""
    names = ("a.md", "deep/b.md", "deep/c.txt", "deep/d.rst", "draft/e.md")
    folder = write(tmp_path.resolve() / "many", {name: f"# {name}\n\nWords about water.\n" for name in names})
    expected = {
        'fileTypes = ["md", ".rst"]': {"a.md", "b.md", "d.rst", "e.md"},
        'includePatterns = ["*.md"]\nexcludePatterns = ["draft/"]': {"a.md", "b.md"},
        'includePatterns = ["deep/**"]\nfileTypes = ["txt"]': {"c.txt"},
        "maxFiles = 2": {"a.md", "b.md"},
        "": {"a.md", "b.md", "c.txt", "d.rst", "e.md", "findling.toml"},
    }
    library.add(folder)
    for text, wanted in expected.items():
        configured(folder, f"[library]\n{text}\n")
        library.close()
        library.refresh()
        assert files(library, "words about water") - {"findling.toml"} == wanted - {"findling.toml"}, text
        assert library.status()[0].files == len(wanted), text


def test_a_wrong_configuration_costs_its_collection(library: Library, bread: Path, tmp_path: Path) -> None:
    other = write(tmp_path.resolve() / "tea", {"tea.md": "# Tea\n\nWater just below boiling.\n"})
    library.add(bread)
    library.add(other)
    configured(bread, "[library]\nchunkSize = 7\n")
    library.close()
    answer = library.search("water", min_score=0.0)
    assert {passage.collection for passage in answer.passages} == {"tea"}
    assert any("chunkSize" in note for note in answer.notes)
    assert {row.name: row.state for row in library.status()} == {"bread": "failed", "tea": "ready"}
    with pytest.raises(ConfigError):
        library.refresh("bread")


def test_a_project_does_not_decide_where_the_library_lies(
    data: Path, bread: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configured(bread, f'[library]\ndata_dir = "{tmp_path / "elsewhere"}"\n')
    monkeypatch.chdir(bread)
    with Library.open() as library:
        assert library.directory == data

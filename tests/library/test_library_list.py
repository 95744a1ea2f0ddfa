"""The list of collections: what is written is whole, several processes may change it, and a damaged one is said."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from findling.engine.library import Library
from findling.engine.library.collections import INDEXES, LIST, Collections, check_name, index_name, name_for
from findling.model.collection import Collection
from findling.model.errors import IndexNewer, IndexUnavailable, InvalidInput, NotFound


def row(directory: Path, name: str, path: str = "/srv/docs") -> Collection:
    index = str(directory / INDEXES / index_name(path))
    return Collection(name, path, "folder", index, "2025-01-20T10:30:00.000Z", ("a b.md", "ü.md"))


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    with Collections(tmp_path).changing() as rows:
        rows["docs"] = row(tmp_path, "docs")
        rows["öl"] = row(tmp_path, "öl", "/srv/öl")
    assert Collections(tmp_path).all() == (row(tmp_path, "docs"), row(tmp_path, "öl", "/srv/öl"))


def test_a_change_that_fails_changes_nothing(tmp_path: Path) -> None:
    known = Collections(tmp_path)
    with known.changing() as rows:
        rows["docs"] = row(tmp_path, "docs")
    with pytest.raises(ZeroDivisionError), known.changing() as rows:
        rows.clear()
        raise ZeroDivisionError
    assert [collection.name for collection in known.all()] == ["docs"]
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix == ".tmp") == []


def test_processes_that_add_at_once_lose_nothing(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from findling.engine.library.collections import Collections\n"
        "for number in range(8):\n"
        "    known = Collections(Path(sys.argv[1]))\n"
        "    with known.changing() as rows:\n"
        "        name = f'{sys.argv[2]}-{number}'\n"
        "        rows[name] = known.new(Path('/srv', name), name)\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(worker)]) for worker in range(3)]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    names = {collection.name for collection in Collections(tmp_path).all()}
    assert names == {f"{worker}-{number}" for worker in range(3) for number in range(8)}


def test_a_change_by_another_process_is_seen(tmp_path: Path) -> None:
    mine, other = Collections(tmp_path), Collections(tmp_path)
    assert mine.all() == ()
    with other.changing() as rows:
        rows["docs"] = row(tmp_path, "docs")
    assert [collection.name for collection in mine.all()] == ["docs"]


def listed(**changed: str) -> str:
    known = {"name": "a", "path": "/d", "kind": "folder", "index": "d", "added_at": ""}
    return json.dumps({"version": 1, "collections": [{**known, **changed}]})


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"version": 1}',
        '{"version": 1, "collections": [{"name": "a"}]}',
        listed(path="docs"),
        listed(index="../d"),
        listed(kind="link"),
    ],
)
def test_a_damaged_list_is_an_error_and_stays_as_it_is(text: str, tmp_path: Path) -> None:
    (tmp_path / LIST).write_text(text)
    with pytest.raises(IndexUnavailable, match="damaged"):
        Collections(tmp_path).all()
    with pytest.raises(IndexUnavailable, match="damaged"), Collections(tmp_path).changing():
        pass
    assert (tmp_path / LIST).read_text() == text


def test_a_whole_row_is_read(tmp_path: Path) -> None:
    (tmp_path / LIST).write_text(listed())
    assert [collection.directory for collection in Collections(tmp_path).all()] == [tmp_path / INDEXES / "d"]


def test_a_list_of_a_later_version_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / LIST).write_text(json.dumps({"version": 99, "collections": []}))
    with pytest.raises(IndexNewer):
        Collections(tmp_path).all()


def test_names(tmp_path: Path) -> None:
    taken = {name: row(tmp_path, name) for name in ("guide", "guide-2")}
    assert name_for(Path("/srv/guide"), taken) == "guide-3"
    assert name_for(Path("/srv/click/docs"), {}) == "click-docs"
    assert name_for(Path("/srv/a\x1bb"), {}) == "a-b"
    assert len(name_for(Path("/srv") / ("x" * 200), {})) <= 64
    for wrong in ("", "  ", "a/b", "a\nb", "x" * 65):
        with pytest.raises(InvalidInput):
            check_name(wrong)


def test_an_unknown_name_is_told_the_nearest(library: Library, bread: Path) -> None:
    library.add(bread, name="bread")
    with pytest.raises(NotFound, match="Did you mean 'bread'"):
        library.remove("braed")
    assert library.refresh(str(bread))[0].collection.name == "bread"

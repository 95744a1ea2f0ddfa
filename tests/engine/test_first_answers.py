"""The first question on a folder: answered from all files before there is an index."""

from __future__ import annotations

from pathlib import Path

import pytest

from findling import Engine
from findling.sources.scan import scan
from findling.store.memory import MemoryIndex

FILES = 150


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(FILES - 3):
        path = tmp_path / f"part{number % 7}" / f"module{number}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"def unrelated_{number}(value):\n    return value * {number}\n")
    (tmp_path / "part3" / "retrying.py").write_text(
        "class RetryPolicy:\n    def again(self, request):\n        return 1\n"
    )
    (tmp_path / "part4" / "policy.py").write_text("from part3.retrying import RetryPolicy\n\nPOLICY = RetryPolicy()\n")
    (tmp_path / "guide.md").write_text("# Retrying\n\nHow requests are tried again by the policy.\n")
    return tmp_path


def test_all_files_are_searched_and_nothing_is_indexed(folder: Path) -> None:
    with Engine.open(root=folder) as engine:
        answer = engine.search("where is the policy that tries requests again")
        assert {hit.path for hit in answer.hits[:3]} == {"part3/retrying.py", "part4/policy.py", "guide.md"}
        assert answer.coverage.scanned == FILES and not answer.coverage.complete
        assert 0 < answer.coverage.pending_files < FILES
        assert answer.freshness == "syncing" and any(f"Went through {FILES} files" in note for note in answer.notes)
        assert not any(hit.stale for hit in answer.hits)
        assert engine.status().coverage.files == 0
        engine.index()
        later = engine.search("where is the policy that tries requests again")
    assert later.coverage.scanned == 0 and later.coverage.complete
    assert later.hits[0].path == answer.hits[0].path


def test_names_are_found_without_an_index(folder: Path) -> None:
    with Engine.open(root=folder) as engine:
        found = engine.symbols("RetryPolicy")
        assert [(hit.path, hit.start_line) for hit in found.definitions] == [("part3/retrying.py", 1)]
        assert engine.symbols("unrelated_140").definitions[0].path.endswith("module140.py")


def test_only_what_a_question_may_be_about_is_read(folder: Path) -> None:
    with Engine.open(root=folder) as engine:
        docs = engine.search("requests tried again", kind="docs")
        assert [hit.path for hit in docs.hits] == ["guide.md"]
        assert docs.coverage.scanned == 1
        part = engine.search("the retry policy", path_globs=("part4/**",))
        assert part.hits[0].path == "part4/policy.py"
    with Engine.open(folder / "part3") as engine:
        assert [hit.path for hit in engine.search("retry policy").hits][:1] == ["part3/retrying.py"]


def test_what_the_index_has_is_searched_with_what_it_lacks(folder: Path) -> None:
    with Engine.open(root=folder) as engine:
        engine.sync([folder / "guide.md", folder / "part3"])
        answer = engine.search("where is the policy that tries requests again", limit=5)
        assert {hit.path for hit in answer.hits[:3]} == {"part3/retrying.py", "part4/policy.py", "guide.md"}
        (folder / "part3" / "retrying.py").write_text("class RetryPolicy:\n    def once_more(self): ...\n")
        assert engine.symbols("once_more").definitions


def test_a_file_that_comes_or_changes_between_two_questions_is_in_the_second(folder: Path) -> None:
    with Engine.open(root=folder) as engine:
        assert not any(hit.path == "part1/late.py" for hit in engine.search("zebra crossing").hits)
        (folder / "part1" / "late.py").write_text("def zebra_crossing():\n    return True\n")
        assert engine.search("zebra crossing").hits[0].path == "part1/late.py"


def test_an_index_in_memory_knows_what_was_counted_of_others() -> None:
    assert MemoryIndex().manifest is None
    assert MemoryIndex().term_counts([3]) == {3: 0}


def test_a_scan_puts_what_says_most_first_and_says_what_it_left(folder: Path) -> None:
    from findling.outbound.files import RootFiles
    from findling.sources.discovery import discover
    from findling.sources.selection import DiscoveryOptions

    found = discover(folder, DiscoveryOptions()).files
    with RootFiles(folder) as files:
        best = scan(files, found, {"retri": 1.0, "retry": 1.0, "polic": 1.0}, 3, max_bytes=10**6)
        assert set(best.best) <= {"part3/retrying.py", "part4/policy.py", "guide.md"} and best.best[0] != "guide.md"
        assert best.files == len(found) and best.left == 0
        none = scan(files, found, {"retry": 1.0}, 3, max_bytes=10**6, deadline=0.0)
        assert none.best == () and none.left == len(found)

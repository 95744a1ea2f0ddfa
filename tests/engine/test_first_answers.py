"""The first question on a folder: answered from all files before there is an index."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from findling import Engine, reading
from findling.config import Config
from findling.config.options import Semantic
from findling.contracts import Workspace, call
from findling.embedding import open_embedder
from findling.engine import background_process, first_answers, freshness, index_jobs
from findling.engine.jobs import ASK_AGAIN, ENDED, JOBS
from findling.model import secrets
from findling.model.errors import Cancelled, NotFound
from findling.model.tokenizer import stem
from findling.model.types import Progress
from findling.outbound.files import RootFiles
from findling.reading.limits import ChunkLimits
from findling.sources import scan as scanning
from findling.sources.discovery import discover
from findling.sources.scan import Asked, scan
from findling.sources.selection import DiscoveryOptions
from findling.store.local.lock import WriterLock
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


def git(folder: Path, *arguments: str) -> int:
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    return subprocess.run(["git", *who, *arguments], cwd=folder, check=False, capture_output=True).returncode


def test_all_files_are_searched_and_nothing_is_indexed(folder: Path) -> None:
    with Engine.open(root=folder) as engine:
        answer = engine.search("where is the policy that tries requests again")
        assert {hit.path for hit in answer.hits[:3]} == {"part3/retrying.py", "part4/policy.py", "guide.md"}
        assert answer.coverage.scanned == FILES and not answer.coverage.complete
        covered = answer.coverage
        assert (covered.files, covered.pending_files, covered.only_scanned) == (FILES, 0, FILES - covered.chunks)
        assert answer.freshness == "stale", "nobody makes the index"
        assert any(f"Scanned {FILES} files" in note for note in answer.notes)
        assert not any(hit.stale for hit in answer.hits)
        assert engine.status().coverage.files == 0
        engine.index()
        later = engine.search("where is the policy that tries requests again")
    assert later.coverage.scanned == 0 and later.coverage.complete
    assert later.hits[0].path == answer.hits[0].path


def test_filters_that_no_file_passes_are_told_without_an_index(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_jobs, "start", lambda _: True)
    monkeypatch.setattr(Workspace, "finish_in_background", lambda _: None)
    with Workspace(roots=[str(folder)]) as workspace:

        def said(tool: str, **given: Any) -> str:
            result = call(tool, given, workspace)
            facts: Any = result.structured or {"meta": {"notes": result.text_blocks}}
            assert not facts.get("results")
            noted = facts.get("notes") or facts.get("metadata", {}).get("warnings") or facts["meta"]["notes"]
            return " ".join(noted)

        no_file = "No file matches part33/**; nearest: part3"
        meant = "Did you mean part3/retrying.py?"
        assert meant in said("get_file", path="part3/retryng.py")
        assert no_file in said("search_keyword", query="policy", path="part33/**")
        assert no_file in said("search_code", query="policy again", path="part33/**")
        assert "No file is go; most are python" in said("search_code", query="policy again", language="go")
        assert "No file" not in said("search_code", query="qzjxkw wxqzk", path="part3/**")
        (folder / "notes").mkdir()
        (folder / "notes" / "first.md").write_text("# Lists\n")
        assert "No document lies in nots; nearest: notes" in said("search_docs", query="policy", pathPrefix="nots")
        facts: Any = call("search_docs", {"query": "qzjxkw", "pathPrefix": "notes/"}, workspace).structured
        assert facts["not_searched"] == {"files_only_scanned": 1} and "notes" not in facts
        assert workspace.engine.status().coverage.files == 0


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


def anything(terms: dict[str, float], *names: str) -> Asked:
    return Asked(terms, names, lambda path: path.startswith("tests/"))


def test_a_scan_knows_definitions_and_what_hardly_anybody_means(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "uses.py").write_text("from a import Depends\n" + "x = Depends()\n" * 4)
    (tmp_path / "a.py").write_text("import other\n" * 20 + "def Depends(call):\n    return call\n")
    (tmp_path / "tests" / "depends.py").write_text("x = Depends()\n" * 4)
    found = discover(tmp_path, DiscoveryOptions()).files
    with RootFiles(tmp_path) as files:
        best = scan(files, found, anything({"depend": 1.0, "depends": 1.0}, "depends"), 3, max_bytes=10**6).best
    assert best == ("a.py", "uses.py", "tests/depends.py")


def test_what_was_read_for_a_question_is_not_read_again_for_the_next(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    prepare = reading.prepare.prepare

    def noted(path: str, data: bytes, *, limits: ChunkLimits) -> Any:
        read.append(path)
        return prepare(path, data, limits=limits)

    monkeypatch.setattr(reading.prepare, "prepare", noted)
    with Engine.open(root=folder) as engine:
        engine.search("retry policy")
        assert {"part3/retrying.py", "part4/policy.py"} <= set(read)
        read.clear()
        (folder / "part4" / "policy.py").write_text("RetryPolicy = None\n")
        (folder / "part3" / "retrying.py").unlink()
        later = engine.search("policy that tries again")
        assert set(read) == {"part4/policy.py"}
        assert "part3/retrying.py" not in [hit.path for hit in later.hits]
        engine.index()
        assert engine.search("retry policy").coverage.complete


def test_who_reads_a_file_changes_nothing_of_it() -> None:
    text = "\n\n".join(f"def step_{number}(value):\n    return value ** {number}" for number in range(300))
    files = [(f"module{number}.py", f"{text}\n\n# of part {number}\n".encode()) for number in range(25)]
    alone, beside = MemoryIndex(), MemoryIndex()
    embedder = open_embedder()
    first_answers.take_in(alone, files, embedder=embedder)
    with reading.start_ahead(vectors=True) as worker:
        assert worker.ask([], 20) == []  # from now on it takes a part whenever it can
        left_out = first_answers.take_in(beside, files, embedder=embedder, worker=worker)
        assert worker.ask_one("a.py", b"def one(): pass\n", 20) is not None, "it was not killed"
    assert not left_out
    for path, _ in files:
        one, other = alone.file_at(path), beside.file_at(path)
        assert one is not None and other is not None
        assert alone.chunks(one.blob_id) == beside.chunks(other.blob_id)
        rows, others = (
            index.vectors([file.entry_id], first_answers.MODEL) for index, file in ((alone, one), (beside, other))
        )
        assert rows is not None and others is not None
        assert rows.rows.any()
        assert (rows.rows == others.rows).all()


class Failing(reading.pool.Worker):
    """Fails with its first part of the files."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how

    def ask(self, files: Sequence[tuple[str, bytes, bool]], time_s: float) -> list[Any] | None:
        if not files:
            return super().ask(files, 20)
        if self.how in ("killed", "stopped"):
            assert self._process is not None
            os.kill(self._process.pid, signal.SIGKILL if self.how == "killed" else signal.SIGSTOP)
            return super().ask(files, time_s)
        raise RuntimeError("can't start new thread")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("how", ["killed", "stopped", "no thread"])
def test_a_question_does_not_wait_for_whoever_reads_beside_it_and_fails(how: str) -> None:
    files = [(f"module{number}.py", b"def step(value): ...\n" * 1000) for number in range(60)]
    with Failing(how) as worker:
        assert worker.ask([], 20) == []
        left_out: list[Any] = []
        whole = threading.Thread(
            target=lambda: left_out.extend(first_answers.take_in(MemoryIndex(), files, worker=worker)), daemon=True
        )
        whole.start()
        whole.join(30)
        assert not whole.is_alive()
    assert all(file.reason == "failed" for file in left_out)
    assert how != "stopped" or not left_out, "what it was to read is read by the one who waits"


def test_of_many_files_the_newest_are_seen_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.utime(folder / "part3" / "retrying.py", (2_000_000_000, 2_000_000_000))
    found = discover(folder, DiscoveryOptions()).files
    monkeypatch.setattr(scanning, "MANY_FILES", 10)
    monkeypatch.setattr(scanning, "MOST_BYTES", (folder / "part3" / "retrying.py").stat().st_size)
    with RootFiles(folder) as files:
        seen = scan(files, found, anything({"retri": 1.0}), 3, max_bytes=10**6)
    assert (seen.best, len(seen.texts), seen.left) == (("part3/retrying.py",), 1, FILES - 1)


def test_a_scan_finds_words_whose_stem_ends_otherwise(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def run(query): pass\n")
    (tmp_path / "b.py").write_text("queries = []\n")
    found = discover(tmp_path, DiscoveryOptions()).files
    with RootFiles(tmp_path) as files:
        seen = scan(files, found, anything({stem("query"): 1.0}), 3, max_bytes=10**6)
    assert set(seen.best) == {"a.py", "b.py"} and set(seen.files_with.values()) == {2}


def test_a_scan_puts_what_says_most_first_and_says_what_it_left(folder: Path) -> None:
    found = discover(folder, DiscoveryOptions()).files
    with RootFiles(folder) as files:
        best = scan(files, found, anything({"retri": 1.0, "retry": 1.0, "polic": 1.0}), 3, max_bytes=10**6)
        assert set(best.best) <= {"part3/retrying.py", "part4/policy.py", "guide.md"} and best.best[0] != "guide.md"
        assert len(best.texts) == len(found) and best.left == 0
        none = scan(files, found, anything({"retry": 1.0}), 3, max_bytes=10**6, deadline=0.0)
        assert none.best == () and none.left == len(found)


def test_sorting_very_many_files_leaves_time_for_reading(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_order = scanning._in_order

    def slowly(*arguments: Any) -> Any:
        time.sleep(0.4)
        return in_order(*arguments)

    monkeypatch.setattr(scanning, "_in_order", slowly)
    found = discover(folder, DiscoveryOptions()).files
    with RootFiles(folder) as files:
        seen = scan(files, found, anything({"retri": 1.0}), 3, max_bytes=10**6, deadline=time.monotonic() + 0.3)
    assert seen.texts


def test_a_slow_disk_does_not_hold_the_question_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scan stops at its budget, and what was not seen is said."""
    read = RootFiles.read

    def slow(self: RootFiles, path: str, most: int) -> Any:
        time.sleep(0.01)
        return read(self, path, most)

    monkeypatch.setattr(RootFiles, "read", slow)
    monkeypatch.setattr(first_answers, "SCAN_S", 0.3)
    monkeypatch.setattr(first_answers, "LEAST_SCAN_S", 0.3)
    with Engine.open(root=folder) as engine:
        answer = engine.search("requests tried again")
    assert answer.hits[0].path == "guide.md"  # the nearest
    assert 0 < answer.coverage.scanned < FILES
    assert any("for lack of time" in note for note in answer.notes)


def test_where_there_is_no_time_to_list_all_folders_it_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And calls nothing absent."""
    monkeypatch.setattr(freshness, "LISTING_S", 0.0)
    monkeypatch.setattr(freshness, "LEAST_LISTING_S", 0.0)
    with Engine.open(root=folder) as engine:
        answer = engine.search("how are requests tried again")
        assert answer.hits[0].path == "guide.md" and answer.coverage.scanned == 1
        assert any("some folders were not even listed, for lack of time" in note for note in answer.notes)
        assert not engine.search("NowhereToBeFound").absent
    monkeypatch.undo()
    with Engine.open(root=folder) as engine:
        assert engine.search("NowhereToBeFound").absent


def test_in_the_middle_of_a_rebase(folder: Path) -> None:
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "one")
    git(folder, "checkout", "-q", "-b", "other")
    (folder / "part3" / "retrying.py").write_text("class RetryPolicy:\n    theirs = 1\n")
    git(folder, "commit", "-q", "-a", "-m", "theirs")
    git(folder, "checkout", "-q", "main")
    (folder / "part3" / "retrying.py").write_text("class RetryPolicy:\n    ours = 1\n")
    git(folder, "commit", "-q", "-a", "-m", "ours")
    assert git(folder, "rebase", "other") != 0 and (folder / ".git" / "rebase-merge").exists()
    with Engine.open(root=folder) as engine:
        first = engine.search("RetryPolicy theirs")
        assert first.hits[0].path == "part3/retrying.py" and first.coverage.scanned == FILES
        engine.index()
        assert engine.search("RetryPolicy theirs").hits[0].path == "part3/retrying.py"


def test_documents_are_said_to_be_read_for_the_index(tmp_path: Path) -> None:
    for number in range(FILES):
        (tmp_path / f"{number}.docx").write_bytes(b"PK\3\4" + bytes(2_000))
    (tmp_path / "other.dat").write_bytes(bytes(2_000))
    with Engine.open(root=tmp_path) as engine:
        answer = engine.search("anything")
    end = "; 'findling index' builds an index."
    said = f"{FILES} documents here are searched once there is an index (1 other file without text that can be read)"
    assert answer.notes == (said + end,)


def test_a_time_is_said_only_of_the_whole_index_and_from_enough_text(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_jobs, "start", lambda _: True)

    def note(engine: Engine, **options: Any) -> str:
        return " ".join(engine.search("RetryPolicy again", **options).notes)

    untold = "an index is being built in the background."
    with Engine.open(root=folder) as engine:
        assert untold in note(engine), "three small files say nothing of all"
    for number in range(20):  # another process reads some of them
        (folder / f"large{number}.py").write_text("def again(policy):\n    return policy\n\n\n" * 600)
    with Engine.open(root=folder) as engine:
        assert "ready in about" in note(engine)
        assert untold in note(engine), "nothing was left to read"
    with Engine.open(root=folder) as engine:
        assert untold in note(engine, path_globs=["large*.py"]), "a part of the files"


def test_of_binaries_alone_it_says_so(tmp_path: Path) -> None:
    for number in range(FILES):
        (tmp_path / f"{number}.dat").write_bytes(bytes(range(256)) * 40)
    with Engine.open(root=tmp_path) as engine:
        answer = engine.search("anything")
        engine.index()
        later = engine.search("anything")
    assert answer.hits == () and answer.coverage.files == 0
    assert answer.notes == (f"None of the {FILES} files here has text that can be read (the first is '0.dat').",)
    assert later.notes == (f"No file here can be searched ({FILES} binary); 'findling status --skipped' lists them.",)


# --- every way to an answer --------------------------------------------------------------------------------------

ANSWERED: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "search_code": ({"query": "where are requests tried again"}, "part3/retrying.py"),
    "locate_symbol": ({"name": "RetryPolicy", "include_references": True}, "part4/policy.py"),
    "get_file_outline": ({"path": "part3/retrying.py"}, "RetryPolicy"),
    "semantic_search": ({"query": "requests are tried again", "threshold": 0.1}, "guide.md"),
    "find_similar": ({"docPath": "guide.md"}, "notes.md"),
    "query_docs": ({"query": "how are requests tried again"}, "guide.md"),
    "search_docs": ({"query": "requests tried again"}, "guide.md"),
    "search_semantic": ({"query": "requests are tried again"}, "guide.md"),
    "hybrid_search": ({"query": "RetryPolicy"}, "part3/retrying.py"),
    "search_keyword": ({"query": "class RetryPolicy"}, "part3/retrying.py"),
    "find_symbol": ({"name": "RetryPolicy"}, "part3/retrying.py"),
    "list_defs_in_file": ({"path": "part3/retrying.py"}, "RetryPolicy"),
    "get_file": ({"path": "part3/retrying.py"}, "RetryPolicy"),
}
"""By tool a question, and what its answer names."""


@pytest.mark.parametrize(
    ("tool", "ref"),
    [*((tool, None) for tool in ANSWERED), *((tool, "other") for tool in ANSWERED if tool != "get_file")],
)
def test_every_tool_answers_from_all_files_and_writes_no_index(tool: str, ref: str | None, folder: Path) -> None:
    (folder / "notes.md").write_text("# Notes\n\nThe policy says how often requests are tried again.\n")
    if ref is not None:
        git(folder, "init", "-q", "-b", "main")
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", "one")
        git(folder, "branch", ref)
        (folder / "part3" / "retrying.py").write_text("")
        (folder / "guide.md").write_text("")
        git(folder, "commit", "-q", "-a", "-m", "two")
    arguments, named = ANSWERED[tool]
    with Workspace(folder, root=folder) as workspace:
        answer = call(tool, {**arguments, **({"ref": ref} if ref else {})}, workspace)
        assert not answer.is_error, answer.text_blocks
        assert named in "".join(answer.text_blocks)
        assert workspace.engine.at(ref).status().coverage.files == 0


def test_what_is_like_a_file_or_a_place_is_found(folder: Path) -> None:
    (folder / "part5" / "attempts.py").write_text(
        "class RetryLimits:\n    def again(self, request):\n        return 2\n"
    )
    with Engine.open(root=folder) as engine:
        alike = engine.similar("part3/retrying.py")
        assert alike.coverage.scanned == FILES + 1
        place = engine.similar("part3/retrying.py:2")
        with pytest.raises(NotFound, match="not in the index"):
            engine.similar("part3/no_such.py")
        engine.index()
        for before, target in ((alike, "part3/retrying.py"), (place, "part3/retrying.py:2")):
            after = engine.similar(target)
            assert after.coverage.complete
            assert before.hits[0].path == after.hits[0].path


def test_uses_of_a_name_are_found_in_all_files(folder: Path) -> None:
    for number in range(130):  # more than are read for a question
        (folder / "part1" / f"user{number}.py").write_text(f"from part3.retrying import again\n\nagain({number})\n")
    with Engine.open(root=folder) as engine:
        found = engine.symbols("again", references=True, limit=1_000)
        paths = {use.path for use in found.references}
        assert len([path for path in paths if path.startswith("part1/user")]) == 130
        engine.sync([folder / "part1"])
        again = engine.symbols("again", references=True, limit=1_000)
        assert {use.path for use in again.references} == paths, "where a part is indexed it is the same"


def test_a_text_to_the_letter_is_found_though_many_files_have_its_words(folder: Path) -> None:
    for number in range(200):
        (folder / "part2" / f"alike{number}.txt").write_text("again the request, the request again; a request\n")
    (folder / "part2" / "exact.txt").write_text("words of all kinds stand here " * 30 + "\nrequest again, please\n")
    with Engine.open(root=folder) as engine:
        found = engine.search("request again, please", mode="exact")
        assert [hit.path for hit in found.hits] == ["part2/exact.txt"]
        assert not engine.search("request again, never", mode="exact").hits


def test_a_text_that_is_nowhere_is_no_error(folder: Path) -> None:
    with Workspace(folder, root=folder) as workspace:
        found = call("search_keyword", {"query": "no_such_text"}, workspace).as_json()
    assert found["total_matches"] == 0 and found["absent"][0]["text"] == "no_such_text"
    forbidden = Config(semantic=Semantic(auto_index=False))
    with Workspace(folder, root=folder, config=forbidden) as workspace:
        assert call("search_keyword", {"query": "no_such_text"}, workspace).as_json()["total_matches"] == 0


def test_no_service_is_asked_for_vectors_of_what_a_question_reads(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would take minutes, and documents are sent to none."""
    bundled = open_embedder()

    class Service:
        problem = None
        fingerprint = bundled.fingerprint._replace(provider="ollama")

        def embed_batch(self, texts: object) -> None:
            raise AssertionError(texts)

    monkeypatch.setattr("findling.engine.semantics.open_chosen", lambda *_, **__: Service())
    with Engine.open(root=folder) as engine:
        answer = engine.search("where is the policy that tries requests again")
    assert "part3/retrying.py" in {hit.path for hit in answer.hits}
    assert answer.coverage.embedded_chunks == 0
    assert not any("by meaning" in note for note in answer.notes)


def test_a_file_that_is_too_large_is_not_read(folder: Path) -> None:
    with (folder / "large.txt").open("wb") as file:
        file.truncate(2 << 30)
    with Engine.open(root=folder) as engine:
        answer = engine.search("RetryPolicy")
    assert answer.hits[0].path == "part3/retrying.py" and answer.coverage.scanned == FILES


def test_a_first_question_does_not_wait_for_who_is_about_to_make_the_index(folder: Path) -> None:
    with Engine.open(root=folder) as engine:
        engine.search("RetryPolicy")  # makes the folder for the index, and no index
        lock = WriterLock(engine.store_dir, wait_s=0)
        try:
            answer = engine.search("RetryPolicy", wait_s=0.2)
        finally:
            lock.release()
    assert answer.hits[0].path == "part3/retrying.py" and answer.coverage.scanned == FILES


def test_two_first_questions_at_once_are_both_answered(folder: Path) -> None:
    def ask(_: int) -> tuple[str, ...]:
        with Engine.open(root=folder) as engine:
            return tuple(hit.path for hit in engine.search("RetryPolicy").hits)

    with ThreadPoolExecutor(2) as threads:
        one, other = threads.map(ask, range(2))
    assert one == other and one[0] == "part3/retrying.py"


# --- what finishes the index ------------------------------------------------------------------------------------


@pytest.fixture
def branched(folder: Path) -> Path:
    """With a branch ``other`` that is not checked out."""
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "one")
    git(folder, "branch", "other")
    (folder / "part4" / "policy.py").write_text("POLICY = None\n")
    git(folder, "commit", "-q", "-a", "-m", "two")
    return folder


def queued(engine: Engine) -> str:
    return index_jobs.queue(engine.store_dir, engine.manifest_key).id


def test_a_run_whose_process_is_not_ready_yet_can_be_stopped(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI")
    monkeypatch.setattr(background_process, "_step_back", lambda: None)  # it could not be undone
    with ThreadPoolExecutor(1) as threads, Engine.open(root=folder) as engine:
        ended: list[Future[int]] = []

        def later(_: str, *words: str, **__: Any) -> None:
            def run() -> int:
                until = time.monotonic() + 20
                while time.monotonic() < until and not list((engine.store_dir / JOBS).glob("*.cancel")):
                    time.sleep(0.01)
                return background_process.main(*words)

            ended.append(threads.submit(run))

        monkeypatch.setattr(index_jobs, "start_process", later)
        assert engine.search("RetryPolicy").freshness == "syncing"
        assert engine.stop_jobs() == 1
        assert [each.result() for each in ended] == [1]
        assert engine.stop_jobs() == 0
        assert engine.status().indexing_status == "not_indexed"


def test_an_index_by_other_rules_answers_from_all_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Engine.open(root=folder) as engine:
        engine.index()
    monkeypatch.setattr(secrets, "VERSION", secrets.VERSION + 1)
    with Engine.open(root=folder) as engine:
        answer = engine.search("RetryPolicy", wait_s=0.01)
        assert answer.hits[0].path == "part3/retrying.py"
        assert answer.coverage.scanned == FILES
        assert any("reads files in another way" in note for note in answer.notes)


@pytest.mark.parametrize("ref", [None, "other"])
def test_a_run_is_told_of_and_ends_when_it_is_stopped(branched: Path, ref: str | None) -> None:
    with Engine.open(root=branched) as running, Engine.open(root=branched) as asking:
        running.sync(["guide.md"])
        job = index_jobs.begin(running.at(ref), queued(running.at(ref)))
        assert job is not None
        assert index_jobs.begin(running.at(ref), queued(running.at(ref))) is None, "one for each folder or commit"
        told = asking.status(ref=ref).notes
        assert any("is being built" in note and "'findling stop' stops that" in note for note in told)

        def goes_on() -> Mapping[str, Any]:
            while True:
                job(Progress("indexing", 1, 2))
                time.sleep(0.01)

        with ThreadPoolExecutor(1) as threads:
            ended = threads.submit(job.carry_out, goes_on)
            assert asking.stop_jobs() == 1
            with pytest.raises(Cancelled):
                ended.result()
        assert not any("is being built" in note for note in asking.status(ref=ref).notes)
        assert asking.stop_jobs() == 0


def test_a_run_that_was_killed_is_told_of_and_begun_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import os, sys; from findling import Engine; from findling.engine import index_jobs\n"
        "with Engine.open(root=sys.argv[1]) as engine:\n"
        "    engine.sync(['guide.md']); job = index_jobs.queue(engine.store_dir, engine.manifest_key)\n"
        "    assert index_jobs.begin(engine, job.id); os.kill(os.getpid(), 9)"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(folder)], check=False, timeout=120)
    assert killed.returncode == -signal.SIGKILL
    started: list[tuple[str, ...]] = []
    monkeypatch.delenv("CI")
    monkeypatch.setattr(index_jobs, "start_process", lambda *words, **_: started.append(words))
    with Engine.open(root=folder) as engine:
        assert any(ENDED.removesuffix(ASK_AGAIN) in note for note in engine.status().notes)
        assert engine.search("RetryPolicy").hits[0].path == "part3/retrying.py"
        assert len(started) == 1
        assert engine.index().complete


@pytest.mark.parametrize("ref", [None, "other"])
def test_a_server_leaves_the_index_to_a_process(
    branched: Path, monkeypatch: pytest.MonkeyPatch, ref: str | None
) -> None:
    started: list[tuple[str, ...]] = []
    monkeypatch.delenv("CI")
    monkeypatch.setattr(background_process, "_step_back", lambda: None)  # it could not be undone
    monkeypatch.setattr(index_jobs, "start_process", lambda *words, **_: started.append(words))
    with Workspace(branched, root=branched, background=True) as workspace:
        at = {"ref": ref} if ref else {}
        call("search_code", {"query": "retry policy", **at}, workspace)
        call("query_docs", {"query": "retry policy", **at}, workspace)
        assert not workspace.job_active and not workspace.at(ref).job_active
        engine = workspace.at(ref).engine
        key = engine.manifest_key[1]
        (words,) = started
        assert words[:-1] == ("findling.engine.background_process", str(branched), str(engine.store_dir), key)
        assert background_process.main(*words[1:]) == 0
        whole = call("search_code", {"query": "retry policy", **at}, workspace).as_json()
        assert whole["metadata"]["freshness_status"] == "fresh"


def test_a_commit_that_is_mostly_indexed_already_is_taken_over(branched: Path) -> None:
    with Engine.open(root=branched) as engine:
        engine.index()
        answer = engine.search("RetryPolicy", ref="other")
        assert answer.coverage.scanned == 0 and answer.coverage.complete
        assert {"part3/retrying.py", "part4/policy.py"} <= {hit.path for hit in answer.hits}

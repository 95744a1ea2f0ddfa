"""An index that has to be built anew: by whom it is, by whom it is left alone, and what is said of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from indexes import make

from findling import Engine
from findling.config import Config
from findling.config.options import Semantic
from findling.faces.cli.doctor import _index
from findling.model import errors
from findling.model.types import Progress
from findling.store.local import checksums


def older(store: Path) -> None:
    connection = apsw.Connection(os.fspath(store / "index.db"), vfs=checksums.way())
    connection.execute("PRAGMA user_version=4")
    connection.close()


def empty(store: Path) -> None:
    for name in os.listdir(store):
        if name.startswith("index.db-"):
            (store / name).unlink()
    (store / "index.db").write_bytes(b"")


def no_database(store: Path) -> None:
    empty(store)
    (store / "index.db").write_bytes(b"this is no database " * 400)


def without_text(store: Path) -> None:
    shutil.rmtree(store / "fulltext")


KINDS: dict[str, tuple[Callable[[Path], None], str]] = {
    "older": (older, "The index was made by findling 0.1.0."),
    "empty": (empty, "is empty."),
    "no database": (no_database, "is damaged."),
    "without its text index": (without_text, "is missing or damaged."),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make(tmp_path_factory.mktemp("sound").resolve() / "p")
    with Engine.open(root=root) as engine:
        engine.index(embed=False)
    return root


@pytest.fixture(params=KINDS)
def unusable(request: pytest.FixtureRequest, sound: Path, tmp_path: Path) -> tuple[Path, str]:
    """A root with an index of that kind, and what is said of it."""
    root = Path(shutil.copytree(sound, tmp_path.resolve() / "p"))
    change, words = KINDS[request.param]
    change(root / ".findling")
    return root, words


def contents(store: Path) -> dict[str, bytes]:
    """Of every file, but for what SQLite keeps beside a database while it is read."""
    files = (path for path in sorted(store.rglob("*")) if path.is_file() and not path.name.endswith(("-wal", "-shm")))
    return {str(path): path.read_bytes() for path in files}


def test_who_is_told_to_change_nothing_does_not_build_it_anew(unusable: tuple[Path, str]) -> None:
    root, words = unusable
    before = contents(root / ".findling")
    by_hand = Config(semantic=Semantic(auto_index=False))
    with Engine.open(root=root) as engine, Engine.open(root=root, config=by_hand) as refusing:
        for ask in (
            lambda: engine.search("RetryPolicy", wait_s=0),
            lambda: engine.symbols("RetryPolicy", wait_s=0),
            lambda: refusing.search("RetryPolicy"),
        ):
            with pytest.raises(errors.IndexUnavailable, match=f"{words} It must be rebuilt.*findling index"):
                ask()
        found = engine.grep("RetryPolicy")
        assert "src/retry.py" in [file.path for file in found.files] and found.unindexed == found.files_searched
        assert any(words in note and "all files were read" in note for note in found.notes)
        status = engine.status()
        assert status.indexing_status == "failed"
        assert status.notes[-1].endswith(f"{words} The next search rebuilds it.")
        assert status.bytes_on_disk > 0
        if "0.1.0" in words:
            assert status.schema_version == 4
        why = engine.why("src/retry.py")
        assert (why.indexed, why.reason, "rebuilt" in why.detail) == (False, "not_indexed_yet", True)
        assert why.notes == status.notes[-1:]
        assert words in _index(root, False, None).words
    assert contents(root / ".findling") == before


@pytest.mark.parametrize("unusable", ["older", "empty"], indirect=True)
def test_any_other_question_builds_it_anew_and_says_so(unusable: tuple[Path, str]) -> None:
    """D1: an index of another version is built anew."""
    root, words = unusable
    with Engine.open(root=root) as engine:
        found = engine.search("RetryPolicy", mode="keyword", wait_s=None)
        assert found.hits[0].path == "src/retry.py"
        said = "0.1.0; building a new one." if "0.1.0" in words else f"{words} It is rebuilt."
        assert [note.endswith(said) for note in found.notes] == [True]
        assert engine.status().indexing_status == "ready"


def test_damage_met_while_reading_stays_until_somebody_may_index(sound: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(sound, tmp_path.resolve() / "p"))
    with Engine.open(root=root) as engine:
        assert engine.search("RetryPolicy").hits
        connection = apsw.Connection(os.fspath(root / ".findling/index.db"), vfs=checksums.way())
        connection.execute("DROP TABLE readings; UPDATE meta SET value = value + 1 WHERE key = 'generation'")
        connection.close()
        for _ in range(2):
            with pytest.raises(errors.IndexUnavailable, match=r"is damaged\. It must be rebuilt"):
                engine.search("RetryPolicy", wait_s=0)
        found = engine.search("RetryPolicy", mode="symbol", wait_s=None)
        assert found.hits and any("It is rebuilt" in note for note in found.notes)


def test_an_index_of_an_earlier_version_goes_when_the_new_one_is_whole(sound: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(sound, tmp_path.resolve() / "p"))
    aside = root / ".findling/findling-older"
    older(root / ".findling")
    before = (root / ".findling/index.db").read_bytes()

    def stop(progress: Progress) -> None:
        assert (aside / "index.db").read_bytes() == before
        assert (aside / "fulltext").is_dir()
        raise KeyboardInterrupt

    with Engine.open(root=root) as engine:
        with pytest.raises(KeyboardInterrupt):
            engine.index(progress=stop)
        assert (aside / "index.db").read_bytes() == before
        assert engine.index().notes == ("The index was made by findling 0.1.0; building a new one.",)
        assert not aside.exists()
        assert engine.search("RetryPolicy").hits[0].path == "src/retry.py"


def test_an_older_index_is_nothing_broken(sound: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(sound, tmp_path.resolve() / "p"))
    older(root / ".findling")
    assert _index(root, False, None).state == "off"
    no_database(root / ".findling")
    assert _index(root, False, None).state == "broken"


def test_vectors_are_neither_told_from_it_nor_made_in_silence(sound: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(sound, tmp_path.resolve() / "p"))
    older(root / ".findling")
    with Engine.open(root=root) as engine:
        with pytest.raises(errors.IndexUnavailable, match="findling index"):
            list(engine.vectors())
        assert engine.embed().notes == ("The index was made by findling 0.1.0; building a new one.",)
        assert list(engine.vectors())


def test_what_is_not_indexed_yet_is_told_from_what_is_left_out(sound: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(sound, tmp_path.resolve() / "p"))
    with Engine.open(root=root) as engine:
        with pytest.raises(errors.NotFound, match=r"yet\. Run 'findling index'"):
            engine.similar("src/retry.py", wait_s=0)  # it was indexed for another folder alone
        assert engine.similar("src/retry.py", wait_s=None).hits
        with pytest.raises(errors.NotFound, match="status --skipped"):
            engine.similar("src/nowhere.py", wait_s=0)

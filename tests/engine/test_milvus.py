"""Milvus beside a shared store: the same places as without it, in one round trip more, and what is said where it is
gone, behind or empty."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from findling import Engine
from findling.engine.remote import store as remote_store
from findling.faces.cli.main import main
from findling.outbound import metrics
from findling.store.milvus import Milvus, proposals
from findling.store.postgresql import Database, PostgresIndex, Rights, View
from findling.store.protocols import Ask
from milvus_server import MilvusServer
from postgresql_server import Server, Wire

WORDS = ("retry", "token", "header", "limit", "cache", "stream", "parse", "queue")
QUESTIONS = ("where is a stream parsed", "retry", "the limit of the queue", "token header", "how a cache meets a retry")


def write(folder: Path, numbers: Sequence[int], more: str = "") -> None:
    for number in numbers:
        one, other = WORDS[number % 8], WORDS[number // 8 % 8]
        said = f'"""How a {one} meets the {other}."""'
        text = f"def {one}_{other}(value):\n    {said}\n    return {other}(value, {number})\n"
        (folder / f"{one}_{number}.py").write_text(text + more, encoding="utf-8")


def places(folder: Path) -> tuple[list[list[tuple[str, int, int]]], set[str]]:
    """What is found, and what the notes say of Milvus."""
    with Engine.open(root=folder) as engine:
        found = [engine.search(question, limit=20) for question in QUESTIONS]
    return [[(hit.path, hit.start_line, hit.end_line) for hit in each.hits] for each in found], {
        note for each in found for note in each.notes if "Milvus" in note
    }


def asked_milvus() -> int:
    return sum(
        int(float(line.split()[-1])) for line in metrics.text().splitlines() if 'seconds_count{stage="milvus"' in line
    )


@pytest.fixture
def url(postgresql: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty store, which is what commands work for."""
    address = postgresql.new_database(f"beside_{os.urandom(4).hex()}")
    monkeypatch.setenv("FINDLING_STORE", address)
    return address


def test_milvus_proposes_what_postgresql_does_in_one_round_trip_more(
    url: str,
    postgresql: Server,
    milvus: MilvusServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(tmp_path, range(90))
    assert main(["index", str(tmp_path)]) == 0
    expected, _ = places(tmp_path)
    monkeypatch.setenv("FINDLING_MILVUS", milvus.url)
    before = asked_milvus()
    found, notes = places(tmp_path)
    assert found == expected and asked_milvus() == before
    (note,) = notes
    assert "does not have what was published last (1 of 1 collections)" in note
    assert main(["index", str(tmp_path)]) == 0  # nothing has changed, and Milvus is told of all
    assert places(tmp_path) == (expected, set())
    assert asked_milvus() == before + len(QUESTIONS)
    capsys.readouterr()
    assert main(["status", str(tmp_path)]) == 0 and "is up to date with 1 of 1 indexes" in "".join(capsys.readouterr())

    write(tmp_path, range(0, 90, 4), "# it was changed, for a token and a stream\n")
    for number in range(0, 90, 9):
        next(tmp_path.glob(f"*_{number}.py")).unlink()
    (tmp_path / "twice.py").write_bytes((tmp_path / "token_17.py").read_bytes())
    assert main(["index", str(tmp_path)]) == 0
    with Wire(postgresql.port) as wire:
        monkeypatch.setenv(
            "FINDLING_STORE", f"{url.replace(str(postgresql.port), str(wire.port))}?sslmode=disable&gssencmode=disable"
        )
        with Engine.open(root=tmp_path) as engine:
            engine.search("the first one connects")
            trips, times = wire.trips, asked_milvus()
            assert not any("Milvus" in note for note in engine.search(QUESTIONS[0]).notes)
            # A simple query, ``Q``, ends a transaction, some time after the question that began it.
            asked = [kinds for kinds in wire.sent[trips:] if not kinds.endswith(b"Q")]
            assert len(asked) <= 4, asked
            assert asked_milvus() == times + 1
    monkeypatch.setenv("FINDLING_STORE", url)
    found, notes = places(tmp_path)
    monkeypatch.delenv("FINDLING_MILVUS")
    assert (found, notes) == places(tmp_path)
    gone = Database(url).rows("SELECT count(*) FROM unproposed")[0][0]
    assert gone > 20  # kept for a moment, for questions that began before


@pytest.mark.engines
def test_where_milvus_is_gone_or_has_lost_its_rows_postgresql_proposes(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, range(20))
    with MilvusServer() as server:
        monkeypatch.setenv("FINDLING_MILVUS", server.url)
        assert main(["index", str(tmp_path)]) == 0
        expected, notes = places(tmp_path)
        assert notes == set()
        server.stop()
        found, notes = places(tmp_path)
        assert found == expected and all(
            "does not answer; PostgreSQL" in note or "a moment ago" in note for note in notes
        )
        write(tmp_path, [3], "# changed\n")
        capsys.readouterr()
        assert main(["index", str(tmp_path)]) == 0  # it is published all the same
        assert "PostgreSQL proposes until the next run" in capsys.readouterr().err
        assert main(["status", str(tmp_path)]) == 0 and "Milvus at" in "".join(capsys.readouterr())
        monkeypatch.delenv("FINDLING_MILVUS")
        expected, _ = places(tmp_path)
    with MilvusServer() as empty:
        monkeypatch.setenv("FINDLING_MILVUS", empty.url)
        assert places(tmp_path)[0] == expected
        Database(url).rows("UPDATE views SET proposed = generation")  # as if it had been there all the time
        found, notes = places(tmp_path)
        assert found == expected and any("PostgreSQL proposed instead" in note for note in notes)
        Database(url).rows("UPDATE views SET proposed = 0")
        assert main(["worker", "--once"]) == 1  # no job, but time for Milvus
        assert places(tmp_path) == (expected, set())


class Spied(Milvus):
    """A client that remembers what it was asked."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.asks: list[Ask] = []

    def find(self, store: str, asks: Sequence[Ask]) -> list[list[tuple[int, float]]]:
        self.asks += asks
        return super().find(store, asks)


def test_milvus_is_asked_for_what_a_user_may_see_alone(
    url: str, milvus: MilvusServer, postgresql: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FINDLING_MILVUS", milvus.url)
    write(tmp_path, range(12))
    for name in ("shop", "bank"):
        assert main(["index", str(tmp_path), "--collection", name]) == 0
    role = f"serving_{os.urandom(4).hex()}"
    owner = Database(url)
    owner.rows(f"CREATE ROLE {role} LOGIN")
    rights = Rights(owner)
    rights.let_serve(role)
    rights.add_user("anna")
    rights.add_to_group("sellers", ["anna"])
    rights.judge("sellers", "shop", allowed=True)
    numbers = dict(owner.rows("SELECT collection, view_id FROM views"))
    spied = Spied(milvus.url)
    serving = Database(url.replace("postgres@", f"{role}@"), user="anna")
    views = [View("shop", "live", name="shop"), View("bank", "live", name="bank")]
    weights = {("body", "retri"): 1.0, ("body", "token"): 2.0, ("path", "token"): 1.0}
    index = PostgresIndex(serving, views, engine=spied)
    with index.snapshot():
        found = index.lexical(weights, 30)
        paths = {file.path for file in index.files({unit >> 12 for unit, _ in found}).values()}
    assert paths and all(path.startswith("shop/") for path in paths)
    assert [list(ask.views) for ask in spied.asks] == [[numbers["shop"]]] * len(spied.asks)
    rights.judge("sellers", "shop", allowed=False)
    spied.asks.clear()
    with index.snapshot():
        assert index.lexical(weights, 30) == []
    assert not any(ask.views for ask in spied.asks)


@pytest.mark.engines
def test_two_terms_that_share_a_dimension_change_no_answer(
    url: str, milvus: MilvusServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proposals, "dimension_of", lambda field, term: len(term) % 3)
    remote_store._milvus_at.cache_clear()
    write(tmp_path, range(64))
    assert main(["index", str(tmp_path)]) == 0
    expected, _ = places(tmp_path)
    monkeypatch.setenv("FINDLING_MILVUS", milvus.url)
    assert main(["index", str(tmp_path)]) == 0
    assert places(tmp_path) == (expected, set())

"""Workers that keep a team's collections up to date: whose turn it is, what is published, what goes wrong."""

from __future__ import annotations

import base64
import io
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from file_servers import commit, git_server

from findling import Engine
from findling.engine.library.collections import data_directory
from findling.engine.library.fetching.fetch_repo import sweep
from findling.engine.remote.store import RemoteStore
from findling.engine.remote.working import Work, Worker
from findling.faces.cli.main import main
from findling.model import errors
from findling.model.types import IndexReport
from findling.store.postgresql import Database, Team, View, ViewWriter
from findling.store.postgresql import database as postgresql_database
from findling.store.postgresql.database import migrations
from postgresql_server import Server

GUIDE = {"pour.py": "def pour_tea(cup):\n    return cup\n", "README.md": "# Guide\n\nHow to make tea.\n"}


@pytest.fixture(scope="module")
def url(postgresql: Server) -> str:
    return postgresql.new_database("team")


@pytest.fixture
def team(url: str, data: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Team]:
    """An empty store, which is also what commands work for."""
    database = Database(url)
    database.migrate()
    opened = Team(database)
    for table in ("sources", "views"):
        opened._rows(f"DELETE FROM {table}")
    monkeypatch.setenv("FINDLING_STORE", url)
    yield opened
    database.close()


def worker(team: Team, url: str) -> Worker:
    return Worker(team, url, data_directory() / "workers")


def found(url: str, name: str, words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The paths that a search of a collection finds."""
    monkeypatch.setenv("FINDLING_COLLECTION", name)
    with Engine.open(root=tmp_path) as engine:
        paths = [hit.path for hit in engine.search(words).hits]
    monkeypatch.delenv("FINDLING_COLLECTION")
    return paths


def rows_of(team: Team, table: str) -> int:
    return int(team._rows(f"SELECT count(*) FROM {table}")[0][0])


def test_a_repository_is_fetched_published_brought_up_to_date_and_removed(
    team: Team,
    url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    local: Callable[..., None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    served = tmp_path / "served" / "acme" / "guide"
    first = commit(served, GUIDE)

    def swept_meanwhile(store: RemoteStore, **given: Any) -> IndexReport:
        """Another worker makes room before this one has read what it fetched."""
        sweep(data_directory() / "workers", list)
        return fill(store, **given)

    fill = RemoteStore.fill
    monkeypatch.setattr(RemoteStore, "fill", swept_meanwhile)
    with git_server(tmp_path / "served") as base:
        local(base.removeprefix("http://"))
        assert main(["team", "add", f"{base}/acme/guide/.git", "--every", "10m"]) == 0
        assert main(["worker", "--once", "--json"]) == 0
        (source,) = team.sources()
        assert (source.collection, source.state, source.commit, source.done_count) == (
            "acme/guide",
            "waiting",
            first,
            1,
        )
        assert found(url, "acme/guide", "how is tea poured", monkeypatch, tmp_path)[0] == "pour.py"
        commit(served, {"pour.py": None, "brew.py": "def brew_tea(pot):\n    return pot\n"})
        assert main(["worker", "--once"]) == 1  # it is not time yet
        assert main(["team", "add", f"{base}/acme/guide/.git"]) == 0
        assert main(["worker", "--once"]) == 0
        assert "brew.py" in found(url, "acme/guide", "how is tea brewed", monkeypatch, tmp_path)
        assert team.sources()[0].state == "done"
        generation = team._rows("SELECT generation FROM views")
        assert main(["team", "add", f"{base}/acme/guide/.git"]) == 0
        assert main(["worker", "--once"]) == 0  # nothing new: nothing is read or published
        assert team._rows("SELECT generation FROM views") == generation and team.sources()[0].done_count == 3
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / "steal.py").write_text("def steal_tea(): pass\n", encoding="utf-8")
        assert main(["index", str(tmp_path / "other"), "--collection", "acme/guide"]) == 0
        assert main(["team", "add", f"{base}/acme/guide/.git"]) == 0
        assert main(["worker", "--once"]) == 0  # the commit is known, and not what is published
        assert "brew.py" in found(url, "acme/guide", "how is tea brewed", monkeypatch, tmp_path)
        for source in (f"{base}/acme/guide/.git", served):  # an address, and a folder
            assert main(["team", "add", str(source), "--name", f"of {source}", "--ref", first]) == 0
            assert main(["worker", "--once"]) == 0
            monkeypatch.setenv("FINDLING_COLLECTION", f"of {source}")
            with Engine.open(root=tmp_path, ref=first) as engine:
                assert next(hit.path for hit in engine.search("how is tea poured").hits) == "pour.py"
            assert team.sources([f"of {source}"])[0].commit == first
            assert main(["team", "remove", f"of {source}", "--ref", "none"]) == 2
            assert main(["team", "remove", f"of {source}", "--ref", first]) == 0
    capsys.readouterr()
    assert main(["team", "status"]) == 0 and "done" in capsys.readouterr().out
    assert main(["team", "list", "--json"]) == 0 and '"done_count":' in capsys.readouterr().out.replace(" :", ":")
    for words in ("group add staff", "group add guests", "allow staff acme/guide", "deny guests acme/guide"):
        assert main(["team", *words.split()]) == 0
    assert main(["team", "remove", "acme/guide"]) == 0
    assert team._rows("SELECT team, allowed FROM rights") == [("guests", False)]  # another of this name must not show
    left = {table: rows_of(team, table) for table in ("sources", "views", "contents", "entries", "postings", "bits")}
    assert set(left.values()) == {0}
    assert main(["team", "remove", "acme/guide"]) == 2


def test_a_content_that_a_collection_has_is_not_read_again_and_answers_as_if_it_were(
    team: Team, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, moved in (("one", "pour.py"), ("two", "deep/pour.py")):
        (tmp_path / name / "deep").mkdir(parents=True)
        (tmp_path / name / moved).write_text(GUIDE["pour.py"], encoding="utf-8")
        (tmp_path / name / "README.md").write_text(GUIDE["README.md"], encoding="utf-8")
        (tmp_path / name / "own.py").write_text(f"def {name}_of_a_kind(): pass\n", encoding="utf-8")
    team.add([("one", str(tmp_path / "one"), "")], None)
    assert worker(team, url).work(once=True) == Work(done=1)
    one = found(url, "one", "how is tea poured", monkeypatch, tmp_path)
    read = []
    monkeypatch.setattr(
        ViewWriter,
        "_put_content",
        lambda self, *given, put=ViewWriter._put_content: read.append(given) or put(self, *given),
    )
    team.add([("two", str(tmp_path / "two"), "")], None)
    assert worker(team, url).work(once=True) == Work(done=1)
    assert len(read) == 1  # own.py alone
    assert found(url, "two", "how is tea poured", monkeypatch, tmp_path) == [f"deep/{one[0]}", *one[1:]]
    made = "SELECT count(*), count(DISTINCT v.entry_id) FROM bits b JOIN vectors v USING (entry_id) GROUP BY v.view_id"
    assert team._rows(made) == [(3, 3), (3, 3)]
    # what somebody publishes on their own is read, known or not
    assert main(["index", str(tmp_path / "two"), "--collection", "three"]) == 0
    assert len(read) == 4
    team.remove("one")
    assert found(url, "two", "how is tea poured", monkeypatch, tmp_path)[0] == "deep/pour.py"


def test_a_job_that_fails_three_times_is_parked_with_its_reason(
    team: Team, url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    assert main(["team", "add", str(folder)]) == 0
    folder.rmdir()
    for attempt in (1, 2, 3):
        team._rows("UPDATE sources SET due_at = now()")
        assert worker(team, url).work(once=True) == Work(failed=1)
        assert team.sources()[0].attempts == attempt
    assert team.sources()[0].state == "parked" and team.totals().parked == 1
    assert worker(team, url).work(once=True) == Work()
    capsys.readouterr()
    assert main(["team", "status"]) == 1
    assert "There is no folder" in capsys.readouterr().out
    folder.mkdir()
    (folder / "a.py").write_text("def again(): pass\n", encoding="utf-8")
    assert main(["team", "add", str(folder)]) == 0
    assert worker(team, url).work(once=True) == Work(done=1)


def test_a_worker_that_dies_gives_its_job_back_and_one_that_lost_it_publishes_nothing(
    team: Team, url: str, tmp_path: Path
) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.py").write_text("def once(): pass\n", encoding="utf-8")
    team.add([("project", str(tmp_path / "project"), "")], None)
    dead = team.take("dead")
    assert dead is not None and team.take("second") is None  # somebody has it
    assert team.sources()[0].state == "running"
    team._rows("UPDATE sources SET lease_until = now() - interval '1 second'")
    again = team.take("second")
    assert again is not None and again.attempt == 2 and "dead ended" in team.sources()[0].problem
    assert not team.renew(dead) and team.renew(again)
    with pytest.raises(errors.Cancelled):
        worker(team, url)._published(dead, Worker(team, url, tmp_path)._records.start("fetch", "fetch_repo"))
    assert rows_of(team, "views") == 0
    team.add([("project", str(tmp_path / "project"), "")], None)
    team.release(again)
    assert team.sources()[0].attempts == 0
    stopped = worker(team, url)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(team, "take", lambda name: (Team.take(team, name), stopped.stop())[0])
        assert stopped.work() == Work() and team.sources()[0].state == "queued"
        patch.undo()
        no_room = worker(team, url)
        patch.setattr(no_room._records, "start", Mock(side_effect=errors.StorageFull("The disk is full.")))
        assert no_room.work(once=True) == Work(failed=1) and "full" in team.sources()[0].problem
    team._rows("UPDATE sources SET due_at = now()")
    assert worker(team, url).work(once=True) == Work(done=1)


def test_a_collection_that_another_program_publishes_waits_without_failing(
    team: Team, url: str, tmp_path: Path
) -> None:
    (tmp_path / "a.py").write_text("def a(): pass\n", encoding="utf-8")
    team.add([("held", str(tmp_path), "")], None)
    with ViewWriter(team.database, View("held", "live"), ""):
        assert worker(team, url).work(once=True) == Work()
        (source,) = team.sources()
        assert (source.state, source.attempts, source.problem) == ("waiting", 0, "")
    team._rows("UPDATE sources SET due_at = now()")
    assert worker(team, url).work(once=True) == Work(done=1)
    with ViewWriter(team.database, View("held", "live"), ""):  # has sent nothing yet
        removing = threading.Thread(target=team.remove, args=("held",))
        removing.start()
        _until(lambda: bool(team._rows("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'")))
        assert rows_of(team, "views") == 1
    removing.join()
    assert rows_of(team, "views") == 0


_COLUMNS = "SELECT column_name FROM information_schema.columns WHERE table_schema = 'findling' AND table_name = %s"


@pytest.mark.parametrize("version", [1, 2, 8])
def test_a_store_of_an_earlier_version_is_migrated_with_all_that_it_has(
    version: int, team: Team, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgresql: Server
) -> None:
    for path, text in GUIDE.items():
        (tmp_path / path).write_text(text, encoding="utf-8")
    assert main(["index", str(tmp_path), "--collection", "guide"]) == 0
    expected = found(url, "guide", "how is tea poured", monkeypatch, tmp_path)
    name = f"version_{version}"
    postgresql.new_database(name)
    team._rows(f"CREATE ROLE {name} LOGIN")
    team._rows(f"ALTER DATABASE {name} OWNER TO {name}")
    older = Database(postgresql.url(name, name))
    older.rows("CREATE SCHEMA findling")
    older.rows("CREATE TABLE migrations (number int PRIMARY KEY)")
    for number, sql in enumerate(migrations()[:version], 1):
        older.rows(sql.decode())
        older.rows("INSERT INTO migrations VALUES (%s)", number)
    tables = re.findall(r"CREATE TABLE (\w+)", migrations()[0].decode())
    superuser = Database(postgresql.url(name))  # no row security keeps it from writing
    with team.database.connect() as read, superuser.connect() as write:
        for table in tables:
            columns = ", ".join(row[0] for row in older.rows(_COLUMNS, table))
            with (
                read.cursor().copy(f"COPY {table} ({columns}) TO STDOUT") as out,
                write.cursor().copy(f"COPY {table} ({columns}) FROM STDIN") as into,
            ):
                for piece in out:
                    into.write(piece)
    superuser.rows(
        "INSERT INTO postings (view_id, term, field, content_id, ordinals, parts) "
        "SELECT view_id, 'unsorted', 0, content_id, '{0,1,2}', '{0.5,1.5,1}' FROM postings LIMIT 1"
    )
    if version > 1:
        older.rows(
            "INSERT INTO sources (collection, source, every, due_at, attempts, parked_at, worker, lease_until) VALUES "
            "('queued', '/queued', '10m', now() - interval '1h', 1, NULL, '', NULL), "
            "('parked', '/parked', NULL, now(), 3, now(), '', NULL), "
            "('taken', '/taken', NULL, now(), 1, NULL, 'somebody', now() + interval '1h')"
        )
    monkeypatch.setenv("FINDLING_STORE", older_url := older.url)
    with pytest.raises(errors.IndexUnavailable, match=f"has version {version} of the schema"):
        found(older_url, "guide", "how is tea poured", monkeypatch, tmp_path)
    assert main(["team", "status"]) == 2  # it only looks
    monkeypatch.setattr(postgresql_database, "_LOCK_MS", 100)
    monkeypatch.setattr(postgresql_database, "_LOCK_PAUSE_S", 0.05)
    with older.connect() as long, long.transaction():
        long.execute("SELECT count(*) FROM postings")
        if version > 1:
            long.execute("SELECT count(*) FROM sources")
        migrating = threading.Thread(target=superuser.migrate)
        migrating.start()
        _until(lambda: bool(team._rows("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'")))
        assert older.rows("SELECT count(*) FROM postings")[0][0] > 0  # questions wait for a moment at the most
    migrating.join()
    assert older.migrate() == len(migrations())  # what a superuser migrated stays the owner's
    owners = "SELECT DISTINCT pg_get_userbyid(relowner) FROM pg_class WHERE relnamespace = 'findling'::regnamespace"
    assert older.rows(owners) == [(name,)]
    unsorted = superuser.rows("SELECT ordinals, parts FROM postings WHERE term = 'unsorted'")
    assert unsorted == [([1, 2, 0], [1.5, 1.0, 0.5])] or version == 8  # which sorts all that is published
    if version > 1:  # whose turn it is stays
        kept = Team(older)
        assert [(each.collection, each.ref, each.state) for each in kept.sources()] == [
            ("parked", "", "parked"),
            ("queued", "", "queued"),
            ("taken", "", "running"),
        ]
        lease = kept.take("worker")
        assert lease is not None and (lease.name, lease.source, lease.attempt) == ("queued", "/queued", 2)
        assert kept.take("another") is None
        kept.done(lease, "c")
    superuser.close()
    assert found(older_url, "guide", "how is tea poured", monkeypatch, tmp_path) == expected
    older.close()


def test_many_workers_do_each_job_once(team: Team, url: str) -> None:
    team.add([(f"r{number}", f"/nowhere/{number}", "") for number in range(60)], None)
    taken: list[str] = []

    def take(name: str) -> None:
        while (lease := team.take(name)) is not None:
            taken.append(lease.collection)
            team.done(lease, "c")

    rows = [(f"r{number}", f"/nowhere/{number}", "") for number in range(400)]
    with ThreadPoolExecutor(2) as adding:  # the same ones, in different orders
        list(adding.map(lambda each: team.add(each, None), (rows, rows[::-1])))
    team._rows("DELETE FROM sources WHERE substr(collection, 2)::int >= 60")
    threads = [threading.Thread(target=take, args=(f"w{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == sorted(f"r{number}" for number in range(60))
    assert team.totals().done == 60


def test_a_worker_sends_a_code_host_its_own_credentials_and_nobody_else(
    team: Team, url: str, data: Path, tmp_path: Path, local: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(tmp_path / "served" / "acme" / "secret", GUIDE)
    wanted = f"Basic {base64.b64encode(b'bot:pa%ss').decode()}"
    with git_server(tmp_path / "served", authorization=wanted) as base:
        host = base.removeprefix("http://")
        local(host)
        address = f"{base}/acme/secret/.git"
        assert main(["team", "add", address]) == 0
        assert worker(team, url).work(once=True) == Work(failed=1)
        file = tmp_path / "credentials"
        file.write_text(f"# code hosts\nhttp://bot:pa%25ss@{host}\n", encoding="utf-8")
        settings = tmp_path / "config" / "findling" / "config.toml"
        text = settings.read_text(encoding="utf-8")
        settings.write_text(text.replace("[fetch]", f'[fetch]\ncredentials = "{file}"'), encoding="utf-8")
        file.chmod(0o644)
        assert main(["team", "add", address]) == 0
        assert worker(team, url).work(once=True) == Work(failed=1)
        assert "can be read by others" in team.sources()[0].problem
        file.chmod(0o600)
        assert main(["team", "add", address]) == 0
        assert worker(team, url).work(once=True) == Work(done=1)
        assert "pa%" not in str(team._rows("SELECT * FROM sources"))
        file.write_text(
            '#!/bin/sh\n[ "$1" = get ] || exit 1\n'
            f"grep -qx 'host={host}' || exit 0\necho username=bot\necho 'password=pa%ss'\n",
            encoding="utf-8",
        )
        (tmp_path / "served" / "acme" / "secret" / "new.md").write_text("# New\n", encoding="utf-8")
        commit(tmp_path / "served" / "acme" / "secret", {})
        for mode, ended in ((0o755, Work(failed=1)), (0o700, Work(done=1))):
            file.chmod(mode)
            assert main(["team", "add", address]) == 0
            assert worker(team, url).work(once=True) == ended


def test_a_worker_that_is_told_to_end_gives_its_job_back(team: Team, url: str, data: Path, tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    for number in range(300):
        (root / f"f{number}.py").write_text(f"def f{number}():\n    return {number}\n" * 40, encoding="utf-8")
    team.add([("project", str(root), "")], None)
    command = [sys.executable, "-m", "findling", "worker", "--store", url]
    process = subprocess.Popen(command, env={**os.environ}, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _until(lambda: team.totals().running == 1)
    process.send_signal(signal.SIGTERM)
    process.wait(30)
    (source,) = team.sources()
    assert (source.state, source.attempts) == ("queued", 0) or source.done_count == 1


def _until(happened: Callable[[], bool]) -> None:
    for _ in range(600):
        if happened():
            return
        time.sleep(0.05)
    raise AssertionError("it never happened")


def test_a_list_of_repositories_is_taken_whole_or_not_at_all(
    team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = "\n".join(f"https://code.example/org/r{number}" for number in range(1_000))
    monkeypatch.setattr("sys.stdin", io.StringIO(f"# all of them\n{lines}\n\nhttps://code.example/x/y other/name\n"))
    assert main(["team", "add", "-", "--every", "1h"]) == 0
    assert team.totals().queued == 1_001 and team.sources(["other/name"])[0].every is not None
    monkeypatch.setattr("sys.stdin", io.StringIO("https://code.example/a/b\nhttps://elsewhere.example/org/r1\n"))
    assert main(["team", "add", "-"]) == 2
    assert "'org/r1' has another source" in capsys.readouterr().err and team.totals().queued == 1_001
    for wrong in (
        ["ftp://a/b"],
        ["https://u:p@a.example/b"],
        [str(tmp_path / "nowhere")],
        [],
        ["a", "b", "--name", "x"],
    ):
        assert main(["team", "add", *wrong]) == 2
    assert "Nothing is fetched with credentials" in capsys.readouterr().err


def test_what_is_published_can_be_deleted(
    team: Team, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.py").write_text("def a(): pass\n", encoding="utf-8")
    root = str(tmp_path)
    assert main(["index", root]) == 0 and main(["index", root, "--collection", "shop"]) == 0
    assert main(["clear", root, "--dry-run"]) == 0 and rows_of(team, "views") == 2
    assert main(["clear", root, "--yes"]) == 0 and rows_of(team, "views") == 1
    monkeypatch.setenv("FINDLING_COLLECTION", "shop")
    assert main(["clear", root, "--yes"]) == 2 and rows_of(team, "views") == 1
    assert main(["clear", root, "--yes", "--collection", "shop"]) == 0 and rows_of(team, "entries") == 0

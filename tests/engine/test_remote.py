"""A shared store asked as an index on this machine is: the same places, in few round trips; and what is said of a
store that cannot answer."""

from __future__ import annotations

import asyncio
import random
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
from gits import commit, git
from starlette.testclient import TestClient

from findling import Engine
from findling.config import Config
from findling.contracts import TOOLS, Workspace, call
from findling.engine.engines import Engines
from findling.engine.remote import filling
from findling.faces import cli
from findling.faces.cli.main import main
from findling.faces.http import HttpOptions
from findling.faces.web import highlighting
from findling.faces.web.asking import Asker
from findling.faces.web.serving import make_app
from findling.model import errors
from findling.model.types import Query
from findling.store.postgresql.reader import best_units
from postgresql_server import Server, Wire

TOPICS = ("retry", "token", "header", "limit", "cache", "stream", "parse", "queue")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of sixty files."""
    root = tmp_path_factory.mktemp("project")
    dice = random.Random(3)
    for number in range(60):
        one, other = dice.sample(TOPICS, 2)
        lines = [f'"""How a {one} meets a {other}."""', ""]
        for part in range(dice.randrange(2, 9)):
            lines += [
                f"def {one}_{other}_{number}_{part}(value, {other}):",
                f'    """Returns the {other} of a {one} that was asked for {part} times."""',
                f"    return {dice.choice(TOPICS)}(value) + {other}",
                "",
            ]
        path = root / one / f"{other}_{number}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(lines), encoding="utf-8")
    (root / "README.md").write_text("# Project\n\nHow a token is parsed and a request is retried.\n", encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def url(postgresql: Server) -> str:
    return postgresql.new_database("remote")


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    return lambda address: monkeypatch.setenv("FINDLING_STORE", address)


def places(engine: Engine, question: str) -> list[tuple[str, int, int, str]]:
    found = engine.search(question, limit=20)
    return [(hit.path, hit.start_line, hit.end_line, hit.snippet) for hit in found.hits]


QUESTIONS = (
    "how does a retry meet a header",
    "where is the cache parsed",
    "the token that was asked for",
    "what limits the queue of a stream",
    "a stream of headers and its limit",
)


def test_a_shared_store_answers_as_the_folder_does(folder: Path, url: str, stored: Callable[[str], None]) -> None:
    with Engine.open(root=folder) as local:
        local.index()
        expected = {question: places(local, question) for question in QUESTIONS}
        found = local.grep(r"header\(value\)")
        defined = [hit.qualified_name for hit in local.symbols("cache_queue", limit=9).definitions]
    stored(url)
    with Engine.open(root=folder) as engine:
        report = engine.index()
        assert report.files == report.changed == 61 and report.embedded == report.chunks
        assert {question: places(engine, question) for question in QUESTIONS} == expected
        assert engine.grep(r"header\(value\)").total_lines == found.total_lines > 0
        assert [hit.qualified_name for hit in engine.symbols("cache_queue", limit=9).definitions] == defined
        again = engine.index()
        assert (again.changed, again.removed, again.embedded) == (0, 0, 0)
        status = engine.status()
        assert status.coverage.embedded_chunks == status.coverage.chunks and status.freshness == "fresh"


def test_vectors_are_made_and_exported_and_a_file_is_explained_as_on_disk(
    folder: Path,
    postgresql: Server,
    tmp_path: Path,
    stored: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root = tmp_path / "project"
    shutil.copytree(folder, root, ignore=shutil.ignore_patterns(".findling"))
    (root / "logo.png").write_bytes(b"\x89PNG\0\0")

    def all_of(engine: Engine) -> tuple[list[object], ...]:
        engine.export(tmp_path / "exported.sqlite")
        with closing(sqlite3.connect(tmp_path / "exported.sqlite")) as db:
            passages = db.execute("SELECT path, start_line, end_line, content_hash, embedding FROM embeddings")
            documents = db.execute("SELECT doc_path, chunk_text, content_hash FROM doc_embeddings")
            exported = [{**row, "id": 0, "created_at": 0} for row in engine.vectors()]
            return sorted(passages), sorted(documents), sorted(exported, key=str)

    with Engine.open(root=root) as local:
        local.index()
        expected = all_of(local)
        explained = [local.why(path) for path in ("README.md", "cache", "none.py")]
    stored(postgresql.new_database("made"))
    with Engine.open(root=root) as engine:
        assert len(engine.embed().embedded) == 61
        assert all_of(engine) == expected
        kept = (tmp_path / "exported.sqlite").read_bytes()
        with Engine.open(root=folder.parent) as other, pytest.raises(errors.IndexNotReady, match="is not indexed"):
            other.export(tmp_path / "exported.sqlite")
        assert (tmp_path / "exported.sqlite").read_bytes() == kept
        assert [engine.why(path) for path in ("README.md", "cache", "none.py")] == explained
        (root / "README.md").write_text("# Project\n\nAnother.\n", encoding="utf-8")
        (root / "new.py").write_text("new = 1\n", encoding="utf-8")
        assert (engine.why("README.md").reason, engine.why("new.py").reason) == ("changed", "not_indexed_yet")
        assert set(engine.embed().embedded) == {"README.md", "new.py"}
        assert engine.why("new.py").indexed and engine.why("README.md").reason == ""
        assert engine.reembed(["new.py", "cache"], anew=True).embedded == ("new.py",)
        had = engine.status().coverage
        assert sum(had.skipped.values()) == 1  # after every one of these runs

        def fails(*_: object) -> None:
            raise errors.EmbedderUnavailable("The embedder is gone.")

        with monkeypatch.context() as patched, pytest.raises(errors.EmbedderUnavailable):
            patched.setattr(filling.vector_codes, "encode", fails)
            engine.embed(force=True)
        assert engine.status().coverage == had
        assert len(engine.embed(force=True).embedded) == 62
        assert engine.status().coverage == had


def test_the_best_units_are_those_by_every_posting(postgresql: Server) -> None:
    dice = random.Random(5)
    asked = [(field, f"w{number}", dice.choice((0.5, 1.25, 7.0))) for field in (0, 1) for number in range(4)]
    columns = ([field for field, *_ in asked], [term for _, term, _ in asked], [weight for *_, weight in asked])
    rows = []
    for content, (field, term, _) in product(range(300), asked):
        if dice.random() < 0.4:
            held = [(-dice.choice((0.25, 0.5, 1.0, 2.0)), each) for each in range(9) if dice.random() < 0.3]
            if held := sorted(held):
                rows.append((term, field, content, [each for _, each in held], [-part for part, _ in held]))
    with psycopg.connect(postgresql.url()) as db:
        db.execute(
            'CREATE TEMP TABLE made (term text COLLATE "C", field smallint, content_id bigint, ordinals smallint[], '
            "parts float8[])"
        )
        with db.cursor() as cursor:
            cursor.executemany("INSERT INTO made VALUES (%s, %s, %s, %s, %s)", rows)
        scores: dict[tuple[int, int], float] = {}
        weights = {(term, field): weight for field, term, weight in asked}
        for term, field, content, ordinals, parts in rows:
            for ordinal, part in zip(ordinals, parts, strict=True):
                scores[content, ordinal] = scores.get((content, ordinal), 0) + part * weights[term, field]
        best = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
        statement = best_units("made", "true") + " SELECT * FROM best ORDER BY score DESC, content_id, ordinal"
        for most in (1, 5, 40, 100_000):
            found = db.execute(statement.encode(), (*columns, *(most,) * 3)).fetchall()
            assert [((content, ordinal), score) for content, ordinal, score in found] == best[:most]


def test_collections_that_everybody_finds_are_one_index(
    folder: Path, url: str, stored: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for path in sorted((folder / "cache").glob("*.py")):
        (other / path.name).write_bytes(path.read_bytes() + b"\n# another copy of the cache\n")
    with Engine.open(root=folder) as one, Engine.open(root=other) as two:
        one.index()
        two.index()
        several = Engines({"one": one, "two": two})
        expected = [
            [(hit.path, hit.start_line, hit.end_line) for hit in several.search(question, limit=20).hits]
            for question in QUESTIONS
        ]
    stored(url)
    for name, root in (("one", folder), ("two", other)):
        monkeypatch.setenv("FINDLING_COLLECTION", name)
        with Engine.open(root=root) as engine:
            engine.index(publish=True)
    for names in ("one,two", "*"):
        monkeypatch.setenv("FINDLING_COLLECTION", names)
        with Engine.open(root=tmp_path) as engine:
            found = [
                [(hit.path, hit.start_line, hit.end_line) for hit in engine.search(question, limit=20).hits]
                for question in QUESTIONS
            ]
            assert found == expected
            assert {path.partition("/")[0] for path, _, _ in found[1]} == {"one", "two"}
    monkeypatch.setenv("FINDLING_COLLECTION", "three")
    with Engine.open(root=tmp_path) as engine, pytest.raises(errors.IndexNotReady, match="no collection three"):
        engine.search("anything")


@pytest.fixture(scope="module")
def shared(folder: Path, postgresql: Server) -> str:
    """A store in which `folder` is the collection ``one``."""
    address = postgresql.new_database("shared")
    assert main(["index", str(folder), "--store", address, "--collection", "one"]) == 0
    return address


def test_only_an_index_of_a_named_collection_replaces_it(
    folder: Path, shared: str, stored: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "another.py").write_text("def another(): pass\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    options = ["--store", shared, "--collection", "one"]
    for command in (["sync"], ["embed"], ["tool", "sync_repo"]):
        assert main([*command, *options]) == 2
    for tool in ("index_repo", "reindex_vectors"):
        assert main(["tool", tool, "{}", *options]) == 2
    monkeypatch.setenv("FINDLING_COLLECTION", "one")
    assert main(["index", "--store", shared]) == 2  # what is configured to be asked is not named to be published
    stored(shared)
    with Engine.open(root=tmp_path) as engine:
        assert len(engine.listed()[0]) == 61 and not (tmp_path / ".findling").exists()


COMMANDS = (
    ["search", "where is the cache parsed"],
    ["grep", "header"],
    ["symbol", "parse"],
    ["callers", "parse"],
    ["impact", "parse"],
    ["callees", "parse"],
    ["trace", "parse", "queue"],
    ["map"],
    ["similar", "README.md"],
    ["index"],
    ["sync"],
    ["embed"],
    ["export", "--sqlite", "vectors.db"],
    ["export-vectors"],
    ["status"],
    ["stop"],
    ["clear", "--dry-run"],
    ["why", "README.md"],
    ["config"],
)
ELSEWHERE = {*"doctor eval serve ui install uninstall tool library team worker completions man".split()}
"""Commands that are tried otherwise, or ask no index."""

ARGUMENTS = {"query": "parse a token", "name": "parse", "path": "README.md", "docPath": "README.md"}


def test_every_command_answers_from_a_store_or_says_what_to_do(
    folder: Path, url: str, shared: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert {words[0] for words in COMMANDS} | ELSEWHERE == set(cli.COMMANDS)
    monkeypatch.chdir(folder)
    assert main(["index", "--store", url]) == 0
    for options in (["--store", url], ["--store", shared, "--collection", "one"]):
        for words in COMMANDS:
            status = main([*words, *options])
            out, said = capfd.readouterr()
            assert "nexpected" not in said and "Traceback" not in said and "on disk: 0" not in out, (words, said)
            assert status < 2 or "--store" in said, (words, said)


@pytest.mark.parametrize("collection", [None, "one"])
def test_every_tool_answers_from_a_store_or_says_what_to_do(
    collection: str | None, folder: Path, url: str, shared: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FINDLING_STORE", shared if collection else url)
    if collection:
        monkeypatch.setenv("FINDLING_COLLECTION", collection)
    else:
        assert main(["index", str(folder)]) == 0
    workspace = Workspace(root=folder)
    try:
        for name, tool in TOOLS.items():
            if tool.family == "library":
                continue
            given = {key: ARGUMENTS[key] for key in tool.schema.get("required", ())}
            if name == "impact":
                given = {"name": "parse"}
            told = str(call(name, given, workspace))
            assert "internal_error" not in told and "nexpected" not in told, (name, told)
        read = call("get_file", {"path": "README.md"}, workspace)
        assert "a token is parsed" in str(read)
    finally:
        workspace.finish()
        workspace.close()


def test_the_page_shows_a_store_and_does_not_replace_it(
    folder: Path, shared: str, stored: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stored(shared)
    monkeypatch.setenv("FINDLING_COLLECTION", "one")
    asker = Asker(Workspace(root=tmp_path))
    here = "http://127.0.0.1:8730"
    page = TestClient(make_app(asker, HttpOptions("127.0.0.1", 8730), token="t", name="x"), base_url=here)
    try:
        page.get("/", params={"token": "t"})
        file = next(path.relative_to(folder).as_posix() for path in folder.rglob("*.py"))
        for address in ("/?q=cache", f"/file/{file}", "/file/", "/symbol?name=parse", "/grep?p=header", "/index"):
            assert page.get(address).status_code == 200, address
        assert page.get("/similar", params={"path": file}).status_code == 200
        assert "README.md" in page.get("/index?why=README.md").text
        refused = page.post("/index/update", headers={"origin": here}, follow_redirects=False)
        assert refused.status_code == 400 and "everybody" in refused.text
    finally:
        asyncio.run(asker.close())
        highlighting.end()


def test_a_file_is_read_from_the_store_and_not_from_the_folder_that_one_is_in(
    shared: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "README.md").write_text("Another project's file.\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    options = ["--store", shared, "--collection", "one"]
    assert main(["tool", "get_file", '{"path": "README.md"}', *options]) == 0
    assert "a token is parsed" in capsys.readouterr().out


def test_collections_that_cannot_be_told_apart_are_refused(
    folder: Path, url: str, capsys: pytest.CaptureFixture[str], postgresql: Server
) -> None:
    assert main(["search", "parse", str(folder), "--store", url, "--collection", "team/a,team_a"]) == 2
    assert "begin with the same name" in capsys.readouterr().err
    private = postgresql.new_database("private")
    assert main(["index", str(folder), "--no-embed", "--store", private]) == 0
    capsys.readouterr()
    assert main(["search", "parse", str(folder), "--store", private, "--collection", "*"]) == 2
    assert "no collection" in capsys.readouterr().err


def test_a_ranked_question_takes_four_round_trips(
    folder: Path, url: str, postgresql: Server, stored: Callable[[str], None]
) -> None:
    with Wire(postgresql.port) as wire:
        stored(f"{url.replace(str(postgresql.port), str(wire.port))}?sslmode=disable&gssencmode=disable")
        with Engine.open(root=folder) as engine:
            engine.index()
            engine.search("the first one connects")
            for question in QUESTIONS:
                _quiet(wire)
                wire.sent.clear()
                assert engine.search(question).hits
                _quiet(wire)
                *asked, commit = wire.sent  # nobody waits for the last
                assert len(asked) <= 4 and commit.endswith(b"Q")


def test_what_calls_what_takes_a_few_round_trips_however_many_do(
    postgresql: Server, stored: Callable[[str], None], tmp_path: Path
) -> None:
    steps, wide = 3, 9
    (tmp_path / "step0_0.py").write_text("def step0_0(value):\n    return value\n", encoding="utf-8")
    for step, at in product(range(1, steps + 1), range(wide)):
        called = f"step{step - 1}_{at if step > 1 else 0}"
        text = f"from {called} import {called}\n\n\ndef step{step}_{at}(value):\n    return {called}(value)\n"
        (tmp_path / f"step{step}_{at}.py").write_text(text, encoding="utf-8")
    for at in range(wide):  # a module that has all of others
        (tmp_path / f"part{at}.js").write_text(f"export function part{at}() {{}}\n", encoding="utf-8")
    given = "".join(f"export * from './part{at}.js'\n" for at in range(wide))
    (tmp_path / "whole.js").write_text(given, encoding="utf-8")
    text = f"import {{ part{wide - 1} }} from './whole.js'\nfunction wholly() {{ part{wide - 1}() }}\n"
    (tmp_path / "user.js").write_text(text, encoding="utf-8")
    asks: list[tuple[Callable[[Engine], object], int]] = [
        (lambda engine: engine.impact("step0_0").edges, 4 + steps),
        (lambda engine: engine.trace("step3_1", "step0_0").steps, 4 + 2 * steps),
        (lambda engine: engine.callees("wholly").edges, 6),
        (lambda engine: engine.map().central, 6),
    ]
    with Engine.open(root=tmp_path) as local:
        local.index(embed=False)
        expected = [ask(local) for ask, _ in asks]
    with Wire(postgresql.port) as wire:
        address = postgresql.new_database("graph")
        stored(f"{address.replace(str(postgresql.port), str(wire.port))}?sslmode=disable&gssencmode=disable")
        with Engine.open(root=tmp_path) as engine:
            engine.index(embed=False)
            engine.symbols("the first one connects")
            for (ask, most), wanted in zip(asks, expected, strict=True):
                _quiet(wire)
                wire.sent.clear()
                assert ask(engine) == wanted and wanted
                _quiet(wire)
                assert len(wire.sent) - 1 <= most


def _quiet(wire: Wire) -> None:
    """Wait until nothing is sent any more."""
    before = -1
    while before != wire.trips:
        before = wire.trips
        time.sleep(0.05)


def test_what_a_project_says_of_a_store_is_ignored_and_said(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def parse(): pass\n", encoding="utf-8")
    (tmp_path / "findling.toml").write_text('[store]\nurl = "postgresql://127.0.0.1:1/x"\n', encoding="utf-8")
    with Engine.open(root=tmp_path) as engine:
        result = engine.ask(Query("parse", wait_s=None)).result
    assert result.hits and any("store.url" in note for note in result.notes)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("https://example.org/db", "is not the address of a PostgreSQL database"),
        ("postgresql://me:hunter2@127.0.0.1/db", "holds a password"),
        ("postgresql://me@127.0.0.1/db?password=hunter2", "holds a password"),
        ("postgresql://me@127.0.0.1/db?sslpassword=hunter2", "holds a password"),
        ("postgresql://me@127.0.0.1/db?pass%77ord=hunter2", "with a % in its name"),
        ("postgresql://me:p/hunter2@127.0.0.1/db", "holds a password"),
        ("postgresql://me@127.0.0.1/db?x=/hunter2@", "has an @ behind a /"),
        ("postgresql://postgres@127.0.0.1:1/db", "cannot be reached"),
        ("postgresql://postgres@127.0.0.1:{port}/nowhere", "no such database"),
        ("postgresql://nobody@127.0.0.1:{port}/remote", "does not let this user in"),
        ("postgresql://postgres@127.0.0.1:{port}/remote?sslmode=require", "do not agree on TLS"),
        ("postgresql://postgres@127.0.0.1:{port}/remote?no=1", "cannot be read"),
        ("postgresql://postgres@127.0.0.1:{port}/postgres", "no index of findling"),
    ],
)
def test_a_store_that_cannot_answer_says_why_and_what_helps(
    address: str, said: str, folder: Path, url: str, postgresql: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["search", "parse", str(folder), "--store", address.format(port=postgresql.port)])
    line = capsys.readouterr().err
    assert status == 2 and said in line and line.count("\n") == 1 and "hunter2" not in line


def test_an_index_without_its_vectors_says_why_and_keeps_those_of_another_model(
    folder: Path, postgresql: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str], stored: Callable[[str], None]
) -> None:
    stored(postgresql.new_database("models"))
    other = tmp_path / "other.toml"
    other.write_text(
        '[semantic]\nollama_url = "http://127.0.0.1:1"\n\n[semantic.embedding]\nprovider = "ollama"\n', encoding="utf-8"
    )
    assert main(["index", str(folder)]) == 0
    assert "Ollama" not in capsys.readouterr().err
    assert main(["index", str(folder), "--config", str(other)]) == 0
    assert "Cannot connect to Ollama" in capsys.readouterr().err
    with Engine.open(root=folder) as engine:  # by the model that made what is there
        covered = engine.status().coverage
        assert covered.embedded_chunks == covered.chunks > 0


def test_a_store_that_is_gone_has_a_code_of_its_own(folder: Path, stored: Callable[[str], None]) -> None:
    stored("postgresql://postgres@127.0.0.1:1/db")
    workspace = Workspace(root=folder)
    try:
        for name in ("search_code", "index_status", "locate_symbol"):
            given = {key: ARGUMENTS[key] for key in TOOLS[name].schema.get("required", ())}
            refused = call(name, given, workspace).structured
            assert refused and refused["error"]["code"] == "store_unavailable", refused
    finally:
        workspace.close()


def test_an_older_program_refuses_a_newer_schema(
    folder: Path, postgresql: Server, stored: Callable[[str], None]
) -> None:
    import psycopg

    newer = postgresql.new_database("newer")
    stored(newer)
    with Engine.open(root=folder) as engine:
        engine.index(embed=False)
    with psycopg.connect(newer, autocommit=True) as connection:
        connection.execute("INSERT INTO findling.migrations VALUES (99)")
    for ask in (lambda engine: engine.search("parse"), lambda engine: engine.index()):
        with Engine.open(root=folder) as engine, pytest.raises(errors.IndexNewer, match="Update findling"):
            ask(engine)


def test_a_writer_whose_connection_is_lost_says_so(postgresql: Server) -> None:
    import psycopg

    from findling.store import postgresql as store

    database = store.Database(postgresql.new_database("lost"))
    database.migrate()
    with pytest.raises(errors.IndexUnavailable), store.ViewWriter(database, store.View("x", "live"), "") as writer:
        with psycopg.connect(postgresql.url(), autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'lost'")
        writer.skip("a.py", 1, 1, "binary", "")
    database.close()


@pytest.fixture
def own_server() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.mark.engines
def test_a_database_that_is_killed_and_comes_back(
    folder: Path, own_server: Server, stored: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("findling.store.postgresql.database.AGAIN_S", 0)
    stored(own_server.new_database("team"))
    with Engine.open(root=folder) as engine:
        engine.index()
        before = places(engine, QUESTIONS[0])
        own_server.stop()
        with pytest.raises(errors.IndexUnavailable):
            engine.search(QUESTIONS[0])
        own_server.start()
        assert places(engine, QUESTIONS[0]) == before
        import psycopg

        with psycopg.connect(own_server.url("team"), autocommit=True) as connection:
            connection.execute("ALTER DATABASE team SET default_transaction_read_only = on")
    with Engine.open(root=folder) as engine:
        assert places(engine, QUESTIONS[0]) == before
        with pytest.raises(errors.IndexUnavailable, match="read-only; nothing was changed"):
            engine.index(force=True)


@pytest.mark.engines
def test_a_replica_that_is_late_says_so(
    folder: Path, postgresql: Server, stored: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    written = postgresql.new_database("replicated")
    assert main(["index", str(folder), "--store", written]) == 0
    with Server(primary=postgresql) as replica:
        stored(replica.url("replicated"))
        with Engine.open(root=folder) as engine, psycopg.connect(replica.url(), autocommit=True) as db:
            assert engine.search(QUESTIONS[0]).freshness == engine.status().freshness == "fresh"
            with pytest.raises(errors.IndexUnavailable, match="is read-only"):
                engine.index(force=True)
            db.execute("SELECT pg_wal_replay_pause()")
            assert main(["index", str(folder), "--store", written, "--force"]) == 0
            time.sleep(2)
            late = engine.search(QUESTIONS[0])
            assert late.hits and late.freshness == engine.status().freshness == "stale"
            assert "behind its primary server: ask that one" in late.stale_reason
            assert main(["search", QUESTIONS[0], str(folder)]) == main(["grep", "header", str(folder)]) == 0
            said = capsys.readouterr().err
            assert said.count("behind its primary server") == 2 and "findling sync" not in said
            assert engine.symbols("cache_queue").freshness == engine.callers("cache_queue").freshness == "stale"
            db.execute("SELECT pg_wal_replay_resume()")
            until = time.monotonic() + 30
            while engine.search(QUESTIONS[0]).freshness != "fresh":
                assert time.monotonic() < until


@pytest.mark.engines
def test_a_run_that_is_killed_leaves_what_was_published(
    folder: Path, url: str, stored: Callable[[str], None], tmp_path: Path
) -> None:
    root = tmp_path / "project"
    shutil.copytree(folder, root, ignore=shutil.ignore_patterns(".findling"))
    stored(url)
    with Engine.open(root=root) as engine:
        engine.index()
        before = places(engine, QUESTIONS[0])
        for file in root.rglob("*.py"):
            file.write_text(file.read_text(encoding="utf-8").replace("retry", "again"), encoding="utf-8")
        for after_s in (0.3, 0.6, 0.9, 1.2, 1.5):
            run = subprocess.Popen([sys.executable, "-m", "findling", "index", str(root)], stderr=subprocess.DEVNULL)
            time.sleep(after_s)
            run.kill()
            run.wait()
        found = places(engine, QUESTIONS[0])
        if found == before:  # none came so far that it had published
            assert engine.status().coverage.files == 61
        _index_once_free(engine)
        anew = places(engine, QUESTIONS[0])
    with Engine.open(root=root, config=Config()) as local:
        local.index()
        assert anew == places(local, QUESTIONS[0]) and found in (before, anew)


def _index_once_free(engine: Engine) -> None:
    """Index as soon as the server has noticed that the last writer is gone."""
    for _ in range(100):
        try:
            engine.index()
        except errors.IndexBusy:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the view was never given up")


def test_a_ref_is_published_and_found_beside_the_folder(
    folder: Path,
    postgresql: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    root = tmp_path / "repository"
    shutil.copytree(folder / "cache", root / "cache")
    shutil.copytree(folder / "token", root / "token")
    (root / ".gitattributes").write_text("", encoding="utf-8")
    git(root, "init", "-q", "-b", "main")
    commit(root)
    git(root, "tag", "v1")
    with Engine.open(root=root) as local:
        local.at("v1").index()
        expected = {question: places(local.at("v1"), question) for question in QUESTIONS}
    shutil.rmtree(root / "token")
    (root / "cache" / "new.py").write_text("def retry_cache(value):\n    return value\n", encoding="utf-8")
    commit(root)
    monkeypatch.setenv("FINDLING_STORE", postgresql.new_database("refs"))
    assert main(["index", str(root)]) == 0
    assert main(["search", "retry", str(root), "--ref", "v1"]) == 2
    assert "--ref v1" in capsys.readouterr().err
    for arguments in ([], ["--collection", "shop"]):
        for _ in range(2):
            assert main(["index", str(root), "--ref", "v1", *arguments]) == 0
        assert "files (0 changed, 0 removed)" in capsys.readouterr().out
    with Engine.open(root=root) as engine:
        assert {question: places(engine.at("v1"), question) for question in QUESTIONS} == expected
        assert engine.search("retry_cache").hits[0].path == "cache/new.py"
        assert engine.at("v1").grep("retry_cache").total_lines == 0
    monkeypatch.setenv("FINDLING_COLLECTION", "shop")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with Engine.open(root=elsewhere, ref="v1") as engine:
        assert {question: places(engine, question) for question in QUESTIONS} == expected
    workspace = Workspace(root=elsewhere)
    assert "v1" in str(call("search_code", {"query": "retry", "ref": "v1"}, workspace).structured)
    workspace.close()
    monkeypatch.chdir(elsewhere)
    assert [main(["why", path, "--ref", "v1"]) for path in ("cache", "cache/new.py")] == [0, 1]
    with Engine.open(root=elsewhere) as engine, pytest.raises(errors.IndexNotReady, match="no collection shop in"):
        engine.search("retry")  # nothing is published but the ref


def test_nobody_waits_again_for_a_store_that_somebody_waited_for_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until a while has passed; then one tries, and the others still do not wait for it."""
    from findling.store.postgresql import database as module

    now = 1_000.0
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(module, "AT_ONCE_S", 0)  # as if each failure had taken long
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor() as others:
        listener.settimeout(20)
        database = module.Database(f"postgresql://me@127.0.0.1:{listener.getsockname()[1]}/db")
        another = module.Database(f"postgresql://me@127.0.0.1:{listener.getsockname()[1]}/db")

        def fails(asked: module.Database = another) -> None:
            with pytest.raises(errors.IndexUnavailable, match="cannot be reached"):
                asked.check_version()

        for _ in range(2):
            waiting = others.submit(fails, database)
            connection, _ = listener.accept()
            if now > 1_000:
                fails()  # while the first one tries again
            connection.close()
            waiting.result()
            fails()
            now += module.AGAIN_S - 0.1
            fails()
            listener.settimeout(0)
            with pytest.raises(BlockingIOError):
                listener.accept()  # nobody tried
            listener.settimeout(20)
            now += 0.2

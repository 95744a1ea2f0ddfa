"""Who may search what in a shared store: nothing of a hidden collection shows, whatever is asked, and by whomever."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from msgspec.structs import replace
from served import COMMAND, INITIALIZE, start

from findling import config
from findling.contracts import TOOLS, Workspace, call
from findling.engine.remote.users import Users
from findling.faces.cli.main import main
from findling.model import errors
from findling.store.postgresql import Database, Rights, hashed
from findling.store.postgresql.database import CONNECTIONS
from postgresql_server import Server

SECRET = "zanzibar"
OPEN = {
    "shop/basket.py": "def price_basket(basket):\n    return sum(item.price for item in basket)\n",
    "shop/pay.py": "from shop.basket import price_basket\n\n\ndef pay(basket):\n    return price_basket(basket)\n",
    "README.md": "# Shop\n\nHow a basket is priced and paid.\n",
}
HIDDEN = {
    f"{SECRET}/basket.py": f"def {SECRET}_basket(basket):\n    return price_basket(basket)\n",
    f"{SECRET}.md": f"# {SECRET.title()}\n\nThe {SECRET} basket is priced in secret.\n",
    "shop/basket.py": OPEN["shop/basket.py"],
}


@dataclass
class Store:
    """A store of a role that owns it and is no superuser, and the addresses of both of its roles."""

    owner: str
    serving: str

    @property
    def rights(self) -> Rights:
        return Rights(Database(self.owner))


def made(server: Server, name: str, folders: dict[str, Path]) -> Store:
    """A store with folders as collections, which anna may see but for ``hidden``, and bob all."""
    server.new_database(name)
    with psycopg.connect(server.url(name), autocommit=True) as db:
        for role in ("owning", "serving"):
            if not db.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).fetchone():
                db.execute(f"CREATE ROLE {role} LOGIN")
        db.execute(f"ALTER DATABASE {name} OWNER TO owning")
    store = Store(server.url(name, "owning"), server.url(name, "serving"))
    for collection, folder in folders.items():
        assert main(["index", str(folder), "--store", store.owner, "--collection", collection]) == 0
    told = (
        "role serving",
        "user add anna bob carl",
        "group add staff anna",
        "group add all bob",
        "allow staff open",
        "allow all *",
    )
    for words in told:
        assert main(["team", *words.split(), "--store", store.owner]) == 0
    return store


def write(folder: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
        os.utime(folder / path, (1_700_000_000, 1_700_000_000))
    return folder


@pytest.fixture(scope="module")
def stores(postgresql: Server, tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Store]:
    """The same store twice, with a collection that anna may not see, and without."""
    base = tmp_path_factory.mktemp("users")
    shown, hidden = write(base / "open", OPEN), write(base / "hidden", HIDDEN)
    with_it = made(postgresql, "rights", {"open": shown, "hidden": hidden})
    return with_it, made(postgresql, "rights_without", {"open": shown})


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server")


def workspace(store: Store, root: Path, user: str, *names: str) -> Workspace:
    loaded = config.load(root).config
    asked = replace(loaded, person=user, store=replace(loaded.store, url=store.serving, collections=names))
    return Workspace(root, config=asked)


def plain(reply: Any, store: Store) -> str:
    """A reply without what differs between two stores and two calls."""
    text = re.sub(
        r'("?\w*(?:[tT]ook|[lL]atency|[dD]uration|uptime|time|[aA]t|last\w*)\w*"?: ?)"?[\d.:TZ+-]+"?', r"\1", reply
    )
    return text.replace(store.serving.rpartition("/")[2], "DATABASE")


WORDS = (
    f"{SECRET}_basket",
    f"how is the {SECRET} basket priced",
    "zanzibr_baskt",
    f'"priced in secret" path:{SECRET}/',
)


def questions() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every tool that a server for users has, with everything that may hint at a hidden name."""
    for name, tool in TOOLS.items():
        if tool.family == "library" or tool.writes:
            continue
        properties = tool.schema["properties"]
        texts = [key for key in ("query", "name", "path", "docPath", "symbol", "queries", "from") if key in properties]
        if not texts:
            yield name, {}
        for words in WORDS if texts else ():
            paths = (f"hidden/{SECRET}.md", f"{SECRET}.md", "shop/basket.py", "open/shop/basket.py")
            values = paths if texts[0] in ("path", "docPath") else (words,)
            for value in values:
                given = dict.fromkeys(tool.schema.get("required", texts[:1]), value)
                if properties.get(texts[0], {}).get("type") == "array":
                    given = {texts[0]: [value]}
                yield name, given or {texts[0]: value}


@pytest.mark.parametrize(("names", "every"), [(("*",), 1), (("open", "hidden"), 5), (("hidden",), 5)])
def test_every_answer_is_that_of_a_store_without_the_hidden_collection(
    names: tuple[str, ...], every: int, stores: tuple[Store, Store], root: Path
) -> None:
    opened = [workspace(store, root, "anna", *names) for store in stores]
    asked = 0
    try:
        for tool, given in list(questions())[::every]:
            replies = [
                plain(json.dumps(call(tool, given, each).as_json(), sort_keys=True, default=str), store)
                for each, store in zip(opened, stores, strict=True)
            ]
            assert replies[0] == replies[1], (tool, given)
            asked += 1
    finally:
        for each in opened:
            each.close()
    assert asked > 50 // every
    seen = workspace(stores[0], root, "bob", "*")
    try:
        assert f"hidden/{SECRET}/basket.py" in str(call("search_code", {"query": f"{SECRET}_basket"}, seen))
    finally:
        seen.close()


TABLES = (
    "views contents entries skipped postings path_postings definitions frequencies term_counts vectors bits embedded"
)


def test_the_serving_role_reads_what_the_user_may_and_nothing_else(stores: tuple[Store, Store]) -> None:
    with psycopg.connect(stores[0].owner) as db:
        views = dict(db.execute("SELECT collection, view_id FROM findling.views").fetchall())
    hidden = views["hidden"]
    with psycopg.connect(stores[0].serving, autocommit=True, options="-c search_path=findling") as db:

        def become(user: str, scope: str) -> None:
            db.execute(
                "SELECT set_config('findling.user', %s, false), set_config('findling.scope', %s, false)", (user, scope)
            )

        def rows(sql: str) -> int:
            return len(db.execute(sql).fetchall())

        for user, scope in (
            ("anna", f"{{{hidden}}}"),
            ("carl", f"{{{hidden},{views['open']}}}"),
            ("", f"{{{hidden}}}"),
        ):
            become(user, scope)
            for table in TABLES.split():
                assert rows(f"SELECT * FROM {table}") == 0, (user, table)
            assert rows(f"SELECT holding(ARRAY[{hidden}], '{{}}', true)") == 0
            assert rows(f"SELECT ending(ARRAY[{hidden}], '', 'z')") == 0
            assert rows("SELECT * FROM visible('{\"\"}', '{hidden}', '{live}')") == 0
        become("anna", f"{{{hidden},{views['open']}}}")
        assert rows("SELECT * FROM contents") == 3
        assert rows("SELECT collections()") == 1
        # a function that tells of each row that it is given is given none that is hidden
        db.execute(
            "CREATE FUNCTION pg_temp.told(text) RETURNS boolean COST 0.0001 LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE NOTICE '%', $1; RETURN true; END $$"
        )
        told: list[str] = []
        db.add_notice_handler(lambda notice: told.append(str(notice.message_primary)))
        assert rows("SELECT * FROM definitions WHERE pg_temp.told(name)") == 2
        assert len(told) == 2 and SECRET not in " ".join(told)
        become("bob", f"{{{hidden},{views['open']}}}")
        assert rows("SELECT * FROM contents") == 6
        for table in ("tokens", "persons", "teams", "members", "rights", "sources"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                db.execute(f"SELECT * FROM {table}")
        for forbidden in (
            "DELETE FROM contents",
            "INSERT INTO rights VALUES ('staff', 'hidden', true)",
            "ALTER TABLE views DISABLE ROW LEVEL SECURITY",
            "CREATE TABLE findling.mine (x int)",
            "SET ROLE owning",
            "DROP POLICY readers ON views",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                db.execute(forbidden)
    with psycopg.connect(stores[0].owner, options="-c search_path=findling") as db:
        forced = db.execute(
            "SELECT count(*) FROM pg_class WHERE relnamespace = 'findling'::regnamespace AND relforcerowsecurity"
        ).fetchone()
        assert forced == (len(TABLES.split()),)


def test_rights_hold_from_the_next_question_on_and_a_denial_beats_every_allowance(
    stores: tuple[Store, Store], root: Path
) -> None:
    rights = stores[0].rights
    opened = workspace(stores[0], root, "carl", "*")

    def sees(name: str) -> bool:
        reply = call("search_code", {"query": "how is a basket priced"}, opened)  # by meaning, too
        return f"{name}/shop/basket.py" in str(reply) or (not reply.is_error and "shop/basket.py" in str(reply))

    try:
        assert not sees("open")
        rights.add_to_group("guests", ["carl"])
        rights.judge("guests", "open", allowed=True)
        assert sees("open")
        rights.add_to_group("all", ["carl"])
        assert sees("hidden")
        rights.judge("guests", "hidden", allowed=False)
        assert sees("open")
        assert "hidden/" not in str(call("search_code", {"query": "how is a basket priced"}, opened))
        rights.remove_user("carl")
        assert not sees("open")
    finally:
        opened.close()
        rights.add_user("carl")
        rights.remove_from_group("guests", [])


def test_a_user_learns_nothing_of_the_machine_that_serves(stores: tuple[Store, Store], tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "-b", "inner-branch", tmp_path / "inner-project"], check=True)
    for user, names in (("anna", ["*"]), ("anna", ["open", "hidden"]), ("carl", ["*"]), ("carl", ["open"])):
        opened = workspace(stores[0], tmp_path / "inner-project", user, *names)
        try:
            said = [call(name, {}, opened) for name in ("index_status", "health_check")]
            of_refs = [
                call("search_code", {"query": "inner", "ref": ref}, opened) for ref in ("inner-branch", "no-branch")
            ]
            assert of_refs[0].is_error  # what was asked for is repeated, and nothing else differs
            assert str(of_refs[0].structured).replace("inner-branch", "no-branch") == str(of_refs[1].structured)
            said += [call("search_code", {"query": "inner"}, opened), of_refs[1]]
            text = json.dumps([each.as_json() for each in said], default=str)
            assert not re.search("inner-|127.0.0.1|serving|postgresql:", text), text
        finally:
            opened.close()


def test_a_user_finds_the_refs_of_what_he_may_see_and_is_told_what_is_missing(
    stores: tuple[Store, Store], root: Path, tmp_path: Path
) -> None:
    folder = write(tmp_path / "tagged", OPEN | {"old.py": "def price_basket_of_old(basket):\n    return 0\n"})
    for words in ("init -q -b main", "add -A", "-c user.name=a -c user.email=a@b.c commit -qm one", "tag v1"):
        subprocess.run(["git", *words.split()], cwd=folder, check=True)
    for name in ("open", "hidden"):
        arguments = ["--store", stores[0].owner, "--collection", name, "--ref", "v1"]
        assert main(["index", str(folder), *arguments]) == 0
    opened = {names: workspace(stores[0], root, "anna", *names) for names in (("open", "hidden"), ("open", "nowhere"))}
    try:
        told = []
        for names, each in opened.items():
            found = call("search_code", {"query": "price_basket_of_old", "ref": "v1"}, each)
            assert found.structured and found.structured["results"][0]["path"] == "open/old.py"
            metadata = found.structured["metadata"]
            assert (metadata["ref"], metadata["result_completeness"]) == ("v1", "partial")
            assert metadata["not_searched"] == {"collections": [names[1]]}
            live = call("search_code", {"query": "price_basket_of_old"}, each)
            assert "open/old.py" not in str(live) and names[1] in str(live)
            text = call("search_keyword", {"keyword": "price_basket_of_old"}, each)
            every = json.dumps([found.as_json(), live.as_json(), text.as_json()], sort_keys=True)
            told.append(plain(every, stores[0]).replace(names[1], "NAME"))
        assert told[0] == told[1]  # a hidden collection is told as one that is not there
        refused = [call("search_code", {"query": "price", "ref": "v2"}, each) for each in opened.values()]
        assert all(each.is_error and "at " in str(each) for each in refused)
    finally:
        for each in opened.values():
            each.close()


def test_a_server_keeps_few_connections_however_many_users_it_has(stores: tuple[Store, Store]) -> None:
    users = [Database(stores[0].serving, user=name) for name in ("anna", "bob", *(f"user{n}" for n in range(30)))]
    with ThreadPoolExecutor(8) as threads:
        seen = list(threads.map(Database.collections, users * 2))
    assert seen[:2] == seen[32:34] == [["open"], ["hidden", "open"]] and seen[2:32] == [[]] * 30
    for most in (CONNECTIONS, 0):
        with psycopg.connect(stores[0].owner, autocommit=True) as db:
            count = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'serving' AND datname = current_database()"
            for _ in range(200):  # one that was closed goes a little later
                found = db.execute(count).fetchone()
                if found is not None and found[0] <= most:
                    break
                time.sleep(0.05)
            assert found is not None and found[0] <= most
        for each in users:
            each.close()


def test_a_server_knows_its_users_by_tokens_or_by_a_proxy(stores: tuple[Store, Store], root: Path) -> None:
    store = stores[0]
    tokens = {user: store.rights.new_token(user) for user in ("anna", "bob")}
    with psycopg.connect(store.owner) as db:
        kept = db.execute("SELECT hash FROM findling.tokens").fetchall()
        assert (hashed(tokens["anna"]),) in kept and tokens["anna"].encode() not in [row[0] for row in kept]
    command = [*COMMAND, str(root), "--users", "--store", store.serving, "--collection", "*"]
    served = start([*command, "--user-header", "X-User", "--proxy", "127.0.0.1"])
    try:
        session = served.send(INITIALIZE, _bearer(tokens["anna"])).headers["mcp-session-id"]
        question = _call("search_code", query="price_basket")

        def ask(given: dict[str, str]) -> str:
            answer = served.send(question, {**given, "Mcp-Session-Id": session})
            return answer.body.decode() if answer.status == 200 else str(answer.status)

        assert "price_basket" in ask(_bearer(tokens["anna"])) and "hidden/" not in ask(_bearer(tokens["anna"]))
        assert "hidden/" in ask(_bearer(tokens["bob"]))  # whoever began the session
        assert "hidden/" in ask({"X-User": "bob"}) and "hidden/" not in ask({"X-User": "anna"})
        assert ask({}) == ask(_bearer("x" * 43)) == "401"
        listed = served.send(
            {"jsonrpc": "2.0", "id": 3, "method": "tools/list"}, {**_bearer(tokens["anna"]), "Mcp-Session-Id": session}
        )
        names = {tool["name"] for tool in listed.message["result"]["tools"]}
        assert "search_code" in names and not names & {"index_repo", "remove_file", "fetch_file", "search_documents"}
        store.rights.revoke("anna")
        assert ask(_bearer(tokens["anna"])) == "401"
    finally:
        served.end(signal.SIGTERM)
    served = start(command)  # no proxy is named: nobody is believed
    try:
        assert served.send(INITIALIZE, {"X-User": "bob"}).status == 401
    finally:
        served.end(signal.SIGTERM)


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _call(name: str, **arguments: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


def test_what_would_make_rights_void_is_refused(
    stores: tuple[Store, Store], root: Path, postgresql: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(errors.ConfigError, match="sees every collection"):
        Users(stores[0].owner)
    with pytest.raises(errors.InvalidInput, match="sees everything"):
        stores[0].rights.let_serve("postgres")
    with psycopg.connect(postgresql.url(), autocommit=True) as db:  # it could become the owner
        db.execute("CREATE ROLE sly LOGIN NOINHERIT IN ROLE owning")
    with pytest.raises(errors.InvalidInput, match="sees everything"):
        stores[0].rights.let_serve("sly")
    with pytest.raises(errors.NotFound, match="no role"):
        stores[0].rights.let_serve("nobody'; --")
    options = ["--store", stores[0].owner]
    for words, said in (
        ("allow nobodies open", "no group"),
        ("group add staff nobody", "no user"),
        ("user add a/b", "cannot be the name"),
        ("token nobody", "no user"),
        ("token revoke carl", "no token"),
        ("user remove nobody", "no user"),
        ("allow staff", "Usage"),
        ("allow staff sh\udcffop", "not UTF-8"),
        (f"allow staff {'x' * 5_000}", "more than 2,000 characters"),
        (f"add {'x' * 5_000}", "more than 2,000 characters"),
    ):
        assert main(["team", *words.split(), *options]) == 2
        assert said in capsys.readouterr().err
    assert main(["team", "deny", "staff", "Shop", *options]) == 0
    assert "there is no such collection" in capsys.readouterr().out
    assert main(["team", "deny", "staff", "hidden", *options]) == 0
    assert "no such" not in capsys.readouterr().out
    assert main(["team", "forget", "staff", "Shop", *options]) == 0
    assert main(["team", "forget", "staff", "Shop", *options]) == 2
    assert "neither allowed nor denied" in capsys.readouterr().err
    assert main(["team", "user", "list", *options]) == 0
    assert "anna" in capsys.readouterr().out
    assert (
        main(["team", "group", "add", "brief", *options]) == main(["team", "group", "remove", "brief", *options]) == 0
    )
    assert "brief removed" in capsys.readouterr().out
    assert main(["team", "user", "add", "x", "--store", stores[0].serving]) == 2
    assert "does not allow this" in capsys.readouterr().err
    assert main(["serve", str(root), "--http", "0", "--users"]) == 2
    assert "collections of a shared store" in capsys.readouterr().err

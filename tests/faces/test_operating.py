"""What whoever runs a server or a worker reads of it, and the files by which a team's machines are started."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from urllib.error import HTTPError

import psycopg
import pytest
import yaml
from served import COMMAND, INITIALIZE, start

from findling import Engine
from findling.faces.cli.arguments import COMMANDS
from findling.faces.cli.main import main
from findling.faces.http.operating import Port
from findling.model import errors
from findling.outbound import metrics
from findling.store.postgresql import Database, Team
from findling.store.postgresql.database import migrations
from postgresql_server import Server, binaries

PROJECT = Path(__file__).parents[2]
sys.path.insert(0, str(PROJECT / "benchmarks"))

SAMPLE = re.compile(
    r'[a-z_]+(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? -?[0-9.e+]+(inf)?|# TYPE [a-z_]+ (counter|gauge|histogram)'
)


def read(address: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


def test_a_server_says_how_it_does_and_logs_each_call_under_its_request(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def pour(cup):\n    return cup\n", encoding="utf-8")
    served = start([*COMMAND, str(tmp_path), "--metrics", "0"], FINDLING_LOG_LEVEL="info")
    try:
        assert served.says("health, readiness and metrics at")
        (line,) = (line for line in served.said if "metrics at" in line)
        address = line.split()[-1]
        session = served.send(INITIALIZE).headers["mcp-session-id"]
        call = {"name": "search_code", "arguments": {"query": "pour"}}
        asked = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
        assert served.send(asked, {"Mcp-Session-Id": session, "X-Request-Id": "abc-1"}).status == 200
        assert served.send(asked, {"Mcp-Session-Id": session, "X-Request-Id": 'bad"id'}).status == 200
        assert read(f"{address}/health") == read(f"{address}/ready") == (200, "ok\n")
        status, text = read(f"{address}/metrics")
        assert status == 200 and all(SAMPLE.fullmatch(line) for line in text.splitlines()), text
        assert 'findling_calls_total{outcome="ok",tool="search_code"} 2' in text
        assert 'findling_seconds_count{stage="call"} 2' in text
        assert 'findling_seconds_bucket{stage="waiting",le="+Inf"} 2' in text
        assert read(f"{address}/else")[0] == 404
        assert served.says('"event": "call"', 2)
        calls = [json.loads(line) for line in served.said if '"event": "call"' in line]
        assert calls[0]["request"] == "abc-1" and re.fullmatch("[0-9a-f]{16}", calls[1]["request"])
        assert calls[0]["tool"] == "search_code" and "pour" not in str(calls)
    finally:
        served.end(signal.SIGTERM)


def test_a_port_tells_the_jobs_of_a_store_and_whether_it_answers(postgresql: Server) -> None:
    database = Database(postgresql.new_database("operated"))
    database.migrate()
    team = Team(database)
    team.add([("a", "/nowhere", ""), ("b", "/nowhere", "")], None)
    assert team.take("somebody") is not None

    def gone() -> None:
        raise errors.IndexUnavailable("The store cannot be reached.")

    from findling.engine.remote.users import gauges

    for ready, status in ((database.queue, 200), (gone, 503)):
        port = Port("127.0.0.1", 0, ready=ready, gauges=lambda: gauges(database.queue()))
        try:
            assert read(f"{port.address}/ready")[0] == status
            text = read(f"{port.address}/metrics")[1]
        finally:
            port.close()
    assert 'findling_jobs{state="queued"} 1' in text and 'findling_jobs{state="running"} 1' in text
    assert "findling_queue_oldest_seconds " in text and 'stage="store"' in text
    assert "jobs" not in metrics.text(lambda: gone() or {})  # what is known is told, whoever is gone
    database.close()


def test_a_count_has_all_its_digits_and_a_port_an_address_of_either_family() -> None:
    text = metrics.text(lambda: {"findling_big": 1234567.0, "findling_part": 1234567.25})
    assert "findling_big 1234567\n" in text and "findling_part 1234567.25\n" in text
    if not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    port = Port("::1", 0)
    try:
        assert read(f"{port.address}/health")[0] == 200
    finally:
        port.close()


def test_a_backup_is_restored_with_all_that_it_had(
    postgresql: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text("def pour(cup):\n    return cup\n", encoding="utf-8")

    def owned(name: str) -> str:
        """The address of a new database of a role that is no superuser."""
        with psycopg.connect(postgresql.new_database(name), autocommit=True) as db:
            db.execute(f"ALTER DATABASE {name} OWNER TO keeping")
        return postgresql.url(name, "keeping")

    with psycopg.connect(postgresql.url(), autocommit=True) as db:
        db.execute("CREATE ROLE keeping LOGIN")
    url = owned("backed_up")
    for words in (["index", str(tmp_path), "--collection", "tea"], ["team", "user", "add", "anna"]):
        assert main([*words, "--store", url]) == 0
    found = binaries()
    assert found is not None
    copy = owned("restored")
    dump = [found / "pg_dump", "-Fc", "-n", "findling", "--enable-row-security", url]
    dumped = subprocess.run(dump, check=True, capture_output=True)
    subprocess.run([found / "pg_restore", "--exit-on-error", "-d", copy], check=True, input=dumped.stdout)
    monkeypatch.setenv("FINDLING_STORE", copy)
    monkeypatch.setenv("FINDLING_COLLECTION", "tea")
    with Engine.open(root=tmp_path) as engine:
        assert [hit.path for hit in engine.search("how is a cup poured").hits] == ["a.py"]
    database = Database(copy)
    assert database.migrate() == len(migrations()) and database.rows("SELECT name FROM persons") == [("anna",)]
    database.close()


def test_the_compose_file_starts_what_there_is() -> None:
    compose = yaml.safe_load((PROJECT / "deploy" / "compose.yaml").read_text(encoding="utf-8"))
    services = compose["services"]
    superuser = services["database"]["environment"]["POSTGRES_USER"]
    assert f"{superuser}@" not in (PROJECT / "deploy" / "compose.yaml").read_text(encoding="utf-8")
    assert {"database", "server-1", "server-2", "worker-1", "worker-2"} <= services.keys()
    assert {name for name in compose if not name.startswith("x-")} == {"services", "volumes", "secrets"}
    known = set(
        "image build restart depends_on read_only cap_drop security_opt tmpfs secrets command environment healthcheck "
        "ports volumes stop_grace_period shm_size entrypoint profiles".split()
    )
    for name, service in services.items():
        assert service.keys() <= known, name
        for secret in service.get("secrets", ()):
            assert secret in compose["secrets"], name  # of a file's owner and mode compose takes no notice
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            assert source in compose["volumes"] or (PROJECT / "deploy" / source).is_file(), (name, volume)
        for port in service.get("ports", ()):
            assert port.startswith("127.0.0.1:"), "a port of the database or of a server is open to everybody"
        for other in service.get("depends_on", ()):
            assert "healthcheck" in services[other]
        assert "PASSWORD" not in " ".join(map(str, service.get("command", ())))
        words = service.get("command", []) if service["image"] == "findling-team" else []
        if words:  # every option is one that the command has
            options = {spelling for option in COMMANDS[words[0]].options for spelling in option.spellings}
            assert {word for word in words if word.startswith("--")} <= options | {"--store", "--collection"}, name
    build = services["server-1"]["build"]
    image = (PROJECT / "deploy" / build["context"] / build["dockerfile"]).read_text(encoding="utf-8")
    (works_in,) = re.findall(r"^WORKDIR (.+)$", image, re.MULTILINE)
    assert not works_in.startswith("/home/")  # a home folder and the root are not served


def test_the_arithmetic_of_the_page_is_the_scripts() -> None:
    from costs import table

    page = (PROJECT / "docs" / "team.md").read_text(encoding="utf-8")
    assert "\n".join(table([100_000, 1_000_000, 10_000_000], 1.0)) in page

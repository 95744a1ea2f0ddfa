"""External services: what they are sent behind open gates, and that a closed one lets nothing through."""

from __future__ import annotations

import http.server
import json
import logging
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from fake_ollama import vector
from project import QUESTION, make

from findling import config as configuration
from findling.config import Secret
from findling.contracts import Workspace, call
from findling.contracts.tools import TOOLS
from findling.embedding import open_embedder
from findling.embedding.providers import external
from findling.embedding.providers.ollama import forget
from findling.engine import Engine
from findling.model.errors import EmbedderUnavailable
from findling.outbound.http import BUSY_PAUSES_S, RERANKERS, ServiceFailure, rerank

KEY, RERANK_KEY = "embedding-key-that-nobody-may-see", "rerank-key-that-nobody-may-see"


class Service(http.server.ThreadingHTTPServer):
    """Answers as Voyage, OpenAI and Cohere do, by path; ``status`` other than 200 refuses."""

    daemon_threads = True
    asked: ClassVar[list[tuple[str, str, dict[str, Any]]]] = []
    statuses: ClassVar[list[int]] = []
    empty = False
    pause_s = 0.0
    answered = ""
    """One item of the answer as it is written, in place of the usual ones."""


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server = self.server
        assert isinstance(server, Service)
        value = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.asked.append((self.path, self.headers["Authorization"], value))
        time.sleep(server.pause_s)
        status = server.statuses.pop(0) if server.statuses else 200
        answer: dict[str, Any]
        if self.path.endswith("embeddings"):
            rows = [{"index": i, "embedding": vector(text, 256)} for i, text in enumerate(value["input"])]
            answer = {"data": rows[::-1]}
        else:
            scores = [{"index": i, "relevance_score": 0.9 - i / 10} for i in reversed(range(len(value["documents"])))]
            key = "results" if "cohere" in self.path else "data"
            answer = {key: [] if server.empty else scores[:3]}
        if status != 200:
            answer = {"message": f"no: {self.headers['Authorization']}"}
        body = json.dumps(answer).encode()
        if server.answered:
            body = f'{{"data": [{server.answered}], "results": [{server.answered}]}}'.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    from msgspec.structs import replace

    Service.asked.clear()
    Service.statuses.clear()
    Service.empty = False
    with Service(("127.0.0.1", 0), _Handler) as running:
        url = f"http://127.0.0.1:{running.server_port}"
        for services, paths in ((external.SERVICES, "embeddings"), (RERANKERS, "rerank")):
            for name, known in list(services.items()):
                monkeypatch.setitem(services, name, replace(known, url=f"{url}/{name}/{paths}"))  # type: ignore[type-var]
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        yield running
        running.shutdown()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path.resolve() / "project")


def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, *, keys: bool = True) -> None:
    """As the user's own configuration says it; a project's may open no gate."""
    home = tmp_path / "home"
    (home / "findling").mkdir(parents=True, exist_ok=True)
    (home / "findling" / "config.toml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    if keys:
        monkeypatch.setenv("CODECOMPASS_EMBEDDING_API_KEY", KEY)
        monkeypatch.setenv("CODECOMPASS_RERANK_API_KEY", RERANK_KEY)


OPEN = "[semantic]\nexternal_provider_enabled = true\nallow_code_payload_to_external = true\n"


# --- open gates --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", ["voyage", "openai"])
def test_code_is_embedded_by_the_service_and_documents_are_not_sent(
    provider: str, root: Path, tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S1-51, S2-49, S2-51, D11: with both gates open; vectors of another model_version do not count."""
    text = f"{OPEN}[semantic.embedding]\nprovider = '{provider}'\ndimensions = 256\n"
    settings(tmp_path, monkeypatch, text)
    with Engine.open(root=root) as engine:
        assert engine.index().embedded == 4  # the documents by the bundled model
        assert engine.status().coverage.missing_vectors == 0
        assert engine.sync().embedded == 0
        found = engine.search(QUESTION, mode="semantic")
        assert found.hits[0].path == "src/http/client.py"
        assert engine.status().model.startswith(f"{provider}/")
    assert {(path, key) for path, key, _ in service.asked} == {(f"/{provider}/embeddings", f"Bearer {KEY}")}
    sent = "\n".join(text for _, _, value in service.asked for text in value["input"])
    assert "retry_failed" in sent
    assert "When the network is down" not in sent
    if provider == "voyage":
        assert [value["input_type"] for _, _, value in service.asked] == ["document", "query"]
    asked = len(service.asked)
    with Workspace(root, root=root) as workspace:
        for tool, arguments in (
            ("semantic_search", {"query": QUESTION}),
            ("query_docs", {"query": QUESTION}),
            ("find_similar", {"docPath": "docs/network.md"}),
            ("reindex_vectors", {"force": True}),
            ("search_documents", {"query": QUESTION}),
        ):
            call(tool, arguments, workspace)
    assert len(service.asked) == asked, service.asked[asked:]
    settings(tmp_path, monkeypatch, f"{text}model_version = '2'\n")
    with Engine.open(root=root) as engine:
        assert engine.index().embedded == 2  # the code's; the documents' model is another


def test_documents_beside_a_service_are_searched_by_the_model_on_this_machine(
    root: Path, tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D11: an index that was made before, as a new one; a service that fails costs documents nothing."""
    with Engine.open(root=root) as engine:
        assert engine.index(embed=False).complete
    settings(tmp_path, monkeypatch, f"{OPEN}[semantic.embedding]\nprovider = 'voyage'\ndimensions = 256\n")
    service.statuses.extend([500] * 20)
    (root / "docs" / "later.md").write_text("# Later\n\nWhat failed is tried again.\n", encoding="utf-8")
    with Workspace(root, root=root) as workspace:
        assert workspace.engine.index().embedded == 3
        near = call("semantic_search", {"query": QUESTION, "threshold": 0}, workspace).structured
        answer = call("query_docs", {"query": QUESTION}, workspace).structured
        similar = call("find_similar", {"docPath": "docs/network.md"}, workspace).structured
        listed = call("search_documents", {"query": QUESTION, "options": {"minScore": 0}}, workspace)
        again = call("reindex_vectors", {"force": True}, workspace).structured
        code = call("search_semantic", {"query": QUESTION}, workspace).structured
        status = workspace.engine.status()
    assert near is not None and answer is not None and similar is not None and again is not None and code is not None
    assert near["meta"]["used_semantic"] is True and "result_completeness" not in near["meta"], near
    assert {result["docPath"] for result in near["results"]} == {
        "docs/network.md",
        "docs/invoices.md",
        "docs/later.md",
    }
    assert answer["meta"]["used_semantic"] is True
    assert [item["docPath"] for item in similar["similar"]]
    assert json.loads(listed.text_blocks[1])["usedSemantic"] is True
    assert "result_completeness" not in json.loads(listed.text_blocks[1])
    assert (again["indexed"], again["errors"]) == (3, [])
    assert code["available"] is False
    assert any("Voyage" in note for note in status.notes)


def reranked(root: Path) -> dict[str, Any]:
    with Workspace(root, root=root) as workspace:
        answer = call("search_code", {"query": "request invoice sum lines send"}, workspace).structured
    assert answer is not None
    return answer


@pytest.mark.parametrize("provider", ["cohere", "voyage"])
def test_a_service_reranks_code(
    provider: str, root: Path, tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S2-22, S2-54, D28."""
    settings(tmp_path, monkeypatch, f"{OPEN}[semantic.rerank]\nprovider = '{provider}'\n")
    with Engine.open(root=root) as engine:
        engine.index()
    answer = reranked(root)
    told = answer["metadata"]
    assert (told["rerank_provider"], told["rerank_fallback"]) == (provider, False)
    ((path, key, value),) = service.asked
    assert (path, key) == (f"/{provider}/rerank", f"Bearer {RERANK_KEY}")
    assert value["documents"] and not any("docs/" in text for text in value["documents"])
    scores = [result["score"] for result in answer["results"]]
    assert scores[0] == 0.9 and scores == sorted(scores, reverse=True)
    assert {result["path"] for result in answer["results"]} >= {"docs/invoices.md", "src/http/client.py"}


@pytest.mark.parametrize("why", ["http_error", "empty_response", "error", "missing_api_key", "timeout"])
def test_a_service_that_fails_is_replaced_by_the_local_rule(
    why: str,
    root: Path,
    tmp_path: Path,
    service: Service,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """S2-23, S2-54, S2-56, D28: the answer says why, and neither it nor the log repeats the service or the key."""
    limit = "timeout_ms = 200\n" if why == "timeout" else ""
    text = f"{OPEN}[semantic.rerank]\nprovider = 'cohere'\n{limit}"
    settings(tmp_path, monkeypatch, text, keys=why != "missing_api_key")
    with Engine.open(root=root) as engine:
        engine.index()
    if why == "http_error":
        service.statuses.append(401)
    elif why == "empty_response":
        Service.empty = True
    elif why == "timeout":
        monkeypatch.setattr(Service, "pause_s", 1.0)
    elif why == "error":
        service.shutdown()
        service.server_close()
    with caplog.at_level(logging.DEBUG):
        answer = reranked(root)
    told = answer["metadata"]
    assert (told["rerank_provider"], told["rerank_fallback"]) == ("local", True)
    assert told["rerank_fallback_reason"] == f"cohere_{why}"
    assert answer["results"]
    written = json.dumps(answer) + "".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)
    assert RERANK_KEY not in written and "no: " not in written


@pytest.mark.parametrize("provider", ["cohere", "voyage"])
def test_a_place_that_is_no_number_is_a_malformed_answer(
    provider: str, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Service, "answered", '{"index": 1e999, "relevance_score": 0.5}')
    with pytest.raises(ServiceFailure) as failed:
        rerank(provider, "a", ["b"], Secret(RERANK_KEY), timeout_s=5)
    assert failed.value.reason == "error"


def test_a_vector_whose_place_is_no_number_is_a_malformed_answer(
    tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings(tmp_path, monkeypatch, OPEN)
    monkeypatch.setattr(Service, "answered", '{"index": 1e999, "embedding": [1.0, 0.0]}')
    config = configuration.load(tmp_path).config
    model = external.open_external("voyage", "", config, dimensions=2)
    with pytest.raises(EmbedderUnavailable, match="as it should"):
        model.encode_query("a")


def test_the_time_of_a_service_is_for_all_attempts_together(service: Service) -> None:
    """No pause fits into so little time: a busy service is not asked again."""
    service.statuses.extend([429] * 4)
    with pytest.raises(ServiceFailure) as failed:
        rerank("cohere", "a", ["b"], Secret(RERANK_KEY), timeout_s=BUSY_PAUSES_S[0] / 2)
    assert failed.value.reason == "timeout"
    assert len(service.asked) <= 1


# --- closed gates ------------------------------------------------------------------------------------------------

CALLS: dict[str, dict[str, Any]] = {
    "search_code": {"query": QUESTION},
    "locate_symbol": {"name": "Client", "include_references": True},
    "get_file_outline": {"path": "src/http/client.py"},
    "index_status": {},
    "index_repo": {},
    "sync_repo": {},
    "health_check": {},
    "explore": {"query": QUESTION},
    "impact": {"name": "Client"},
    "semantic_search": {"query": QUESTION, "threshold": 0},
    "find_similar": {"docPath": "docs/network.md"},
    "reindex_vectors": {"force": True},
    "query_docs": {"query": QUESTION},
    "search_docs": {"query": "network"},
    "search_semantic": {"query": QUESTION},
    "hybrid_search": {"query": QUESTION},
    "search_keyword": {"query": "def"},
    "find_symbol": {"name": "retry"},
    "list_defs_in_file": {"path": "src/billing/invoice.py"},
    "get_file": {"path": "src/http/client.py"},
    "search_documents": {"query": QUESTION},
    "get_file_details": {"filePath": "docs/network.md"},
    "get_job_status": {"jobId": "none"},
    "list_active_jobs": {},
    "remove_file": {"filePath": "docs/network.md"},
    "flush_all": {"confirm": True},
}
FETCHES = {"fetch_repo", "fetch_file"}
"""What these are for is to reach a server that was named to them."""

GATES = {
    "both closed": "[semantic]\n",
    "the first open": "[semantic]\nexternal_provider_enabled = true\n",
    "the second open": "[semantic]\nallow_code_payload_to_external = true\n",
}
PROVIDERS = {
    "voyage": "[semantic.embedding]\nprovider = 'voyage'\n[semantic.rerank]\nprovider = 'voyage'\n",
    "openai": "[semantic.embedding]\nprovider = 'openai'\n[semantic.rerank]\nprovider = 'cohere'\n",
    "external": "[semantic.embedding]\nprofile = 'external'\n[semantic.rerank]\nprovider = 'cohere'\n",
}


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What was asked of the network; the socket layer is replaced by this list."""
    asked: list[object] = []
    real = socket.socket

    class NoSocket(real):  # type: ignore[valid-type, misc]
        def __init__(self, family: int = -1, *args: Any, **more: Any) -> None:
            if family in (-1, socket.AF_INET, socket.AF_INET6) and not more.get("fileno"):
                asked.append((family, args))
                raise OSError("no network")
            super().__init__(family, *args, **more)

    def nothing(*args: object, **_: object) -> None:
        asked.append(args)
        raise OSError("no network")

    monkeypatch.setattr(socket, "socket", NoSocket)
    for name in ("create_connection", "getaddrinfo", "gethostbyname"):
        monkeypatch.setattr(socket, name, nothing)
    return asked


def test_every_tool_has_a_call_here() -> None:
    assert set(TOOLS) - FETCHES == set(CALLS)


@pytest.mark.parametrize(
    ("gates", "provider"),
    [  # each of them once at least, as each case calls every tool
        (gates, provider)
        for row, gates in enumerate(GATES)
        for at, provider in enumerate(PROVIDERS)
        if (row + at) % 2 == 0
    ],
)
def test_no_tool_opens_a_socket_while_a_gate_is_closed(
    gates: str, provider: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: list[object]
) -> None:
    """S2-47, D11."""
    settings(tmp_path, monkeypatch, GATES[gates] + PROVIDERS[provider])
    monkeypatch.setenv("FINDLING_DATA_DIR", str(tmp_path / "data"))
    with Workspace(root, root=root) as workspace:
        for tool, arguments in CALLS.items():
            call(tool, arguments, workspace)
            workspace.jobs.wait(30)
        found = call("search_code", CALLS["search_code"], workspace).structured
        for service in ("voyage", "openai"):
            with pytest.raises(EmbedderUnavailable, match="may not be called"):
                open_embedder(service, config=workspace.config)
    assert opened == []
    assert found is not None
    assert found["metadata"]["external_provider_blocked"] is True
    assert found["results"]


@pytest.mark.parametrize("model", ["", "NomicEmbedTextV15Q", "PotionCode16M"])
def test_a_model_of_this_process_opens_no_socket(
    model: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: list[object]
) -> None:
    """S1-51, S4-1: nor does one of the hub that is not here, and gates that stand open change nothing."""
    settings(tmp_path, monkeypatch, OPEN + (f"[semantic.embedding]\nmodel = '{model}'\n" if model else ""))
    monkeypatch.setenv("FINDLING_DATA_DIR", str(tmp_path / "data"))
    with Workspace(root, root=root) as workspace:
        for tool, arguments in CALLS.items():
            call(tool, arguments, workspace)
            workspace.jobs.wait(30)
    assert opened == []


def test_ollama_is_looked_for_at_its_address_alone(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: list[object]
) -> None:
    forget()
    settings(tmp_path, monkeypatch, "[semantic]\nmodel = 'nomic-embed-text'\nollama_url = 'http://127.0.0.1:9'\n")
    monkeypatch.setenv("FINDLING_DATA_DIR", str(tmp_path / "data"))
    with Workspace(root, root=root) as workspace:
        for tool, arguments in CALLS.items():
            call(tool, arguments, workspace)
            workspace.jobs.wait(30)
    assert {asked[0] for asked in opened if isinstance(asked, tuple)} == {("127.0.0.1", 9)}


def test_a_project_opens_no_gate(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: list[object]
) -> None:
    settings(tmp_path, monkeypatch, "")
    (root / "findling.toml").write_text(OPEN + PROVIDERS["voyage"], encoding="utf-8")
    with Engine.open(root=root) as engine:
        assert engine.index().embedded == 5  # by the bundled model
        assert engine.search(QUESTION, mode="semantic").hits
    assert opened == []


def test_the_socket_layer_is_really_replaced(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: list[object]
) -> None:
    """The tests above would notice: with both gates open somebody tries to get out."""
    settings(tmp_path, monkeypatch, OPEN + PROVIDERS["voyage"])
    with Engine.open(root=root) as engine:
        report = engine.index()
    assert report.embedded == 2  # the documents, on this machine
    assert any("Voyage does not answer" in note for note in report.notes)
    assert opened


def test_keys_are_written_nowhere(
    root: Path, tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """S2-56."""
    from findling.faces.cli.main import main

    settings(tmp_path, monkeypatch, OPEN + PROVIDERS["voyage"])
    service.statuses.extend([500] * 3)
    for arguments in (["config"], ["index"], ["status"], ["search", QUESTION], ["doctor"], ["config", "--json"]):
        main([*arguments, str(root)])
    said = capsys.readouterr()
    assert KEY not in said.out + said.err and RERANK_KEY not in said.out + said.err
    for path in root.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes()
    assert KEY not in repr(configuration.load(root).config)

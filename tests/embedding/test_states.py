"""What each tool that can search by meaning says in each state of searching by meaning: a row per tool and state.

The embedder is an Ollama in a process of its own wherever there is one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from ollama_process import OllamaProcess
from project import QUESTION, configure, make

from findling.contracts import Workspace, call
from findling.embedding.providers.ollama import forget
from findling.engine import Engine

MODEL = "nomic-embed-text"
DOCUMENT = "docs/network.md"

CALLS: dict[str, dict[str, Any]] = {
    "semantic_search": {"query": QUESTION, "threshold": 0.3},
    "find_similar": {"docPath": DOCUMENT},
    "query_docs": {"query": QUESTION},
    "search_documents": {"query": QUESTION, "options": {"minScore": 0.2}},
    "search_semantic": {"query": QUESTION},
    "hybrid_search": {"query": QUESTION},
    "search_code": {"query": QUESTION, "semantic_ratio": 0.5},
    "reindex_vectors": {"force": True},  # the last, for it ends some states
}


class Answer(NamedTuple):
    facts: dict[str, Any]
    is_error: bool

    @property
    def meta(self) -> dict[str, Any]:
        found: dict[str, Any] = self.facts.get("meta") or self.facts.get("metadata") or {}
        return found

    @property
    def sources(self) -> set[str]:
        return {source for result in self.facts["results"] for source in result["sources"]}


Check = Callable[[Answer, str], bool]


# --- what is expected --------------------------------------------------------------------------------------------


def error_alone(code: str) -> Check:
    return lambda a, url: a.is_error and set(a.facts) == {"error", "message"} and a.facts["error"] == code


def error_and_text(code: str, said: str) -> Check:
    """The error, and what text finds, whatever the threshold."""

    def check(a: Answer, url: str) -> bool:
        right = a.facts["error"] == code and said.format(url=url) in a.facts["message"]
        return right and not a.is_error and bool(a.facts["results"]) and a.meta["used_semantic"] is False

    return check


def error_and(code: str, **facts: Any) -> Check:
    return lambda a, url: (
        a.is_error and a.facts["error"] == code and all(a.facts[key] == value for key, value in facts.items())
    )


def answered_by_text(reason: str) -> Check:
    return lambda a, url: (
        not a.is_error
        and "error" not in a.facts
        and bool(a.facts["sources"])
        and a.meta["used_semantic"] is False
        and a.meta["fallback_reason"] == reason
    )


def lexical(a: Answer, url: str) -> bool:
    return not a.is_error and a.facts["usedSemantic"] is False and len(a.facts["results"]) > 0


def not_available(a: Answer, url: str) -> bool:
    """With the reason, in a sentence."""
    told = dict(a.facts)
    return not a.is_error and told.pop("error", "")[-1:] in (".", "?") and told == {"available": False, "results": []}


def no_meaning(a: Answer, url: str) -> bool:
    return not a.is_error and a.sources == {"keyword"}


def as_off(a: Answer, url: str) -> bool:
    told = a.meta
    return (
        told["semantic_mode"],
        told["semantic_skipped_reason"],
        told["semantic_fallback"],
        bool(a.facts["results"]),
    ) == (
        "off",
        "semantic_disabled",
        False,
        True,
    )


def fallback(reason: str, *, warning: str = "") -> Check:
    def check(a: Answer, url: str) -> bool:
        told = a.meta
        fell = told["semantic_fallback"] is True and told["semantic_triggered"] is False
        right = fell and told["semantic_skipped_reason"] == reason and told["semantic_ratio_used"] == 0
        lexical_only = {result["provenance"] for result in a.facts["results"]} == {"lexical"}
        warned = any(warning in said for said in told.get("warnings", [])) if warning else "warnings" not in told
        return right and lexical_only and warned and not a.is_error

    return check


NO_COUNTS = {"indexed": 0, "skipped": 0, "errors": []}
CONNECT = "Cannot connect to Ollama at {url}. Is Ollama running?"
SLOW = (
    f"Ollama at {{url}} takes longer than 0.1 s to embed a text with {MODEL}. "
    "Raise semantic.timeout_ms, or choose a smaller model."
)
UNCHOSEN = "Cannot connect to Ollama at http://localhost:11434. Is Ollama running?"
MISMATCH = (
    f"Config model '{MODEL}' (768 dim) doesn't match stored embeddings (256 dim). Run reindex_vectors with force: true."
)
WRONG = f"semantic.modelDim is 512, but model '{MODEL}' returns 768 dimensions."


def down(reason: str = "semantic_backend_unavailable") -> dict[str, Check]:
    return {
        "semantic_search": error_and_text("ollama_unavailable", CONNECT),
        "find_similar": error_and("ollama_unavailable", similar=[]),
        "reindex_vectors": error_and("ollama_unavailable", **NO_COUNTS),
        "query_docs": answered_by_text("Ollama unavailable"),
        "search_documents": lexical,
        "search_semantic": not_available,
        "hybrid_search": no_meaning,
        "search_code": fallback(reason),
    }


TABLE: dict[str, dict[str, Check]] = {
    "disabled": {
        "semantic_search": error_alone("semantic_disabled"),
        "find_similar": error_alone("semantic_disabled"),
        "reindex_vectors": error_alone("semantic_disabled"),
        "query_docs": answered_by_text("Semantic search is disabled"),
        "search_documents": lexical,
        "search_semantic": not_available,
        "hybrid_search": no_meaning,
        "search_code": as_off,
    },
    "none": {**down(), "semantic_search": error_and_text("ollama_unavailable", UNCHOSEN), "search_code": as_off},
    "down at start": down(),
    "down in the middle": {
        **down(),
        # What was last heard of it is believed for half a minute, and this needs stored vectors alone.
        "find_similar": lambda a, url: not a.is_error and a.facts["similar"][0]["docPath"] == "docs/invoices.md",
    },
    "slow": {
        **down("semantic_backend_timeout"),
        "semantic_search": error_and_text("ollama_unavailable", SLOW),
        "find_similar": lambda a, url: not a.is_error and a.facts["similar"][0]["docPath"] == "docs/invoices.md",
        # Each passage is given up after its time, and keeps the vector that it had.
        "reindex_vectors": lambda a, url: (
            a.facts["indexed"] == 0 and len(a.facts["errors"]) == 2 and "no answer" in a.facts["errors"][0]["error"]
        ),
    },
    "mismatch": {
        "semantic_search": error_and_text("model_mismatch", MISMATCH),
        "find_similar": error_and("model_mismatch", message=MISMATCH, similar=[]),
        "reindex_vectors": lambda a, url: (
            not a.is_error and a.facts["model_mismatch"] is True and (a.facts["indexed"], a.facts["errors"]) == (2, [])
        ),
        "query_docs": answered_by_text("Model mismatch"),
        "search_documents": lexical,
        "search_semantic": lambda a, url: a.facts == {"available": False, "results": [], "error": MISMATCH},
        "hybrid_search": no_meaning,
        "search_code": fallback("semantic_backend_error", warning="doesn't match stored embeddings"),
    },
    "wrong dimensions": {
        "semantic_search": error_and_text("embedder_unavailable", WRONG),
        "find_similar": error_and("embedder_unavailable", similar=[]),
        "reindex_vectors": error_and("embedder_unavailable", **NO_COUNTS),
        "query_docs": answered_by_text("Embedding model unavailable"),
        "search_documents": lexical,
        "search_semantic": not_available,
        "hybrid_search": no_meaning,
        "search_code": fallback("semantic_backend_unavailable"),
    },
    "half embedded": {
        "semantic_search": lambda a, url: (
            [result["docPath"] for result in a.facts["results"]] == [DOCUMENT]
            and a.meta["used_semantic"] is True
            and a.meta["result_completeness"] == "partial"
        ),
        "find_similar": lambda a, url: (
            a.facts
            == {"similar": [], "result_completeness": "partial", "not_searched": {"documents_without_vectors": 1}}
        ),
        "reindex_vectors": lambda a, url: (a.facts["indexed"], a.facts["model_mismatch"]) == (2, False),
        "query_docs": lambda a, url: a.meta["used_semantic"] is True and a.meta["result_completeness"] == "partial",
        "search_documents": lambda a, url: a.facts["result_completeness"] == "partial",
        "search_semantic": lambda a, url: (
            a.facts["available"] is True and [result["path"] for result in a.facts["results"]] == [DOCUMENT]
        ),
        "hybrid_search": lambda a, url: "semantic" in a.sources,
        "search_code": lambda a, url: a.meta["result_completeness"] == "partial" and not a.meta["semantic_fallback"],
    },
    "all is well": {
        "semantic_search": lambda a, url: "error" not in a.facts and a.meta["used_semantic"] is True,
        "find_similar": lambda a, url: a.facts["similar"][0]["docPath"] == "docs/invoices.md",
        "reindex_vectors": lambda a, url: (a.facts["indexed"], a.facts["skipped"]) == (2, 0),
        "query_docs": lambda a, url: a.meta["used_semantic"] is True and "fallback_reason" not in a.meta,
        "search_documents": lambda a, url: a.facts["usedSemantic"] is True,
        "search_semantic": lambda a, url: a.facts["available"] is True and a.facts["results"][0]["path"] == DOCUMENT,
        "hybrid_search": lambda a, url: "semantic" in a.sources,
        "search_code": lambda a, url: a.meta["semantic_triggered"] is True and a.meta["semantic_ratio_used"] > 0,
    },
}


# --- the states --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[OllamaProcess]:
    process = OllamaProcess()
    yield process
    process.stop()


@pytest.fixture(scope="module", params=TABLE)
def state(
    request: pytest.FixtureRequest, server: OllamaProcess, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path]:
    """A project that was indexed as the state wants it."""
    root = make(tmp_path_factory.mktemp("state").resolve())
    for file in filter(Path.is_file, root.rglob("*")):
        os.utime(file, (1_700_000_000, 1_700_000_000))  # long before: what was just written counts as changed
    forget()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("home")))
        ollama = {"ollamaUrl": server.url, "model": MODEL}
        if request.param == "mismatch":
            with Engine.open(root=root) as engine:
                engine.index()
        if request.param == "half embedded":
            configure(root, autoIndex=False, **ollama)
            with Engine.open(root=root) as engine:
                engine.index(embed=False)
                engine.reembed([DOCUMENT], anew=False)
        elif request.param not in ("none", "mismatch"):
            configure(root, **ollama)
            with Engine.open(root=root) as engine:
                engine.index()
        else:
            with Engine.open(root=root) as engine:
                engine.index(embed=False)
        more = {
            "disabled": {"enabled": False},
            "slow": {"timeoutMs": 100, "maxRetries": 1},
            "wrong dimensions": {"modelDim": 512},
            "half embedded": {"autoIndex": False},
        }.get(request.param, {})
        configure(root, **({} if request.param == "none" else ollama), **more)
    return request.param, root


@pytest.fixture
def workspace(
    state: tuple[str, Path], server: OllamaProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Workspace]:
    name, root = state
    monkeypatch.setenv("FINDLING_DATA_DIR", str(tmp_path / "data"))
    forget()
    if name == "none":
        monkeypatch.setattr("findling.embedding.bundled.MODEL_DIR", tmp_path / "no-model")
    if name == "down at start":
        server.stop()
    elif name == "slow":
        server.behave(delay_s=1.0)
    with Workspace(root, root=root) as opened:
        if name == "down in the middle":
            assert call("search_semantic", {"query": "something else"}, opened).structured["available"]  # type: ignore[index]
            server.stop()
        yield opened
    if name in ("down at start", "down in the middle"):
        server.start()
    elif name == "slow":
        server.behave(delay_s=0.0)


@pytest.mark.parametrize("tool", CALLS)
def test_the_state_table(tool: str, state: tuple[str, Path], workspace: Workspace, server: OllamaProcess) -> None:
    """S0-11, S1-44, S2-32, S4-4, S4-30, S4-40, D3: what is promised of a provider that is down, and of every other
    state."""
    name, _ = state
    result = call(tool, CALLS[tool], workspace)
    facts = result.structured
    if facts is None and not result.is_error:
        facts = json.loads(result.text_blocks[1])
    assert facts is not None, result.text_blocks
    assert TABLE[name][tool](Answer(facts, result.is_error), server.url), json.dumps(facts, indent=1)[:3000]

"""A real model behind a real server: its vectors are right, and what findling makes of them is found by meaning."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llama_as_ollama import MODEL
from minilm import DIMENSIONS, StepByStep
from msgspec.structs import replace

from findling.config import Config
from findling.contracts import Workspace, call
from findling.embedding import Embedder, open_embedder
from findling.faces.cli.main import main
from findling.model.errors import EmbedderUnavailable

pytestmark = pytest.mark.real_embeddings

TEXTS = (
    "A cat sat on the mat.",
    "The kitten lay on the rug.",
    "Quarterly revenue rose by a tenth.",
    "def send_again(request, attempts=3):\n    '''Try a request that failed once more.'''\n",
    "The password is compared in constant time, so that nobody learns it by measuring.",
    "Überprüfung der Anfrage: naïve café, 東京",
    "word " * 200,
)
SAME = 0.9999
"""The cosine of float16 weights with float32 ones is above this."""

NEARLY = 0.96
"""The cosine of int8 weights with float32 ones is above this."""

PROJECT = {
    "docs/login.md": "# Signing in\n\nA visitor proves who he is with a secret phrase. It is not kept as typed.\n",
    "docs/billing.md": "# Money\n\nAn invoice is the sum of its lines, taxes included.\n",
    "docs/weather.md": "# Forecast\n\nRain is likely in the north, with some sunshine later.\n",
    "src/kitchen.py": "def bake(bread):\n    '''Put the loaf into the oven until it is brown.'''\n    return bread\n",
    "src/mail.py": "def deliver(letter):\n    '''Hand an envelope over to its recipient.'''\n    return letter\n",
}
QUESTION = "how are users authenticated with their password"


def served(url: str, **semantic: Any) -> Config:
    return replace(Config(), semantic=replace(Config().semantic, ollama_url=url, timeout_ms=60_000, **semantic))


def cosines(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.einsum("nd,nd->n", left, right)


@pytest.fixture
def embedder(url: str) -> Embedder:
    return open_embedder("ollama", MODEL, config=served(url))


def test_vectors_are_those_of_the_model_computed_step_by_step(embedder: Embedder, yardstick: StepByStep) -> None:
    rows = embedder.encode(TEXTS)
    assert rows.shape == (len(TEXTS), DIMENSIONS)
    assert cosines(rows, yardstick.encode(TEXTS)).min() > SAME
    assert embedder.encode_query(TEXTS[0]) @ rows[0] > SAME
    assert rows[0] @ rows[1] > 0.5 > rows[0] @ rows[2]


def test_the_official_client_gets_the_same(embedder: Embedder, url: str) -> None:
    import ollama

    client = ollama.Client(url)
    theirs = np.array(client.embed(MODEL, TEXTS).embeddings, np.float32)
    assert cosines(embedder.encode(TEXTS), theirs).min() > SAME
    old = np.array(client.embeddings(MODEL, TEXTS[0]).embedding, np.float32)
    assert old @ theirs[0] / np.linalg.norm(old) > SAME
    assert embedder.fingerprint.version == client.list().models[0].digest


def test_the_same_model_as_onnx_in_this_process_agrees(onnx: Path, yardstick: StepByStep) -> None:
    made = open_embedder("local", str(onnx))
    rows = made.encode(TEXTS)
    assert made.fingerprint.dimensions == DIMENSIONS
    assert cosines(rows, yardstick.encode(TEXTS)).min() > NEARLY


def test_dimensions_that_are_not_the_models_are_named(url: str) -> None:
    with pytest.raises(EmbedderUnavailable, match=f"returns {DIMENSIONS} dimensions"):
        open_embedder("ollama", MODEL, dimensions=768, config=served(url))


def test_a_model_that_was_not_pulled_is_named(url: str) -> None:
    with pytest.raises(EmbedderUnavailable, match="has no model 'nomic-embed-text'"):
        open_embedder("ollama", "nomic-embed-text", config=served(url))


def test_a_text_beyond_the_context_is_cut_and_costs_nobody_else(embedder: Embedder) -> None:
    made = embedder.embed_batch([TEXTS[0], "0a1b2c3d " * 800, TEXTS[1]])
    assert not made.failed
    assert np.linalg.norm(made.rows, axis=1) == pytest.approx(1, abs=1e-3)
    assert cosines(made.rows[[0, 2]], embedder.encode([TEXTS[0], TEXTS[1]])).min() > SAME


def make(root: Path, settings: dict[str, Any]) -> Path:
    for path, text in {**PROJECT, ".findling/config.json": json.dumps({"semantic": settings})}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root.resolve()


def test_what_shares_no_word_with_the_question_is_found(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """S4-40, S4-41: from `findling embed` to every tool that searches by meaning."""
    root = make(tmp_path, {"ollamaUrl": url, "model": MODEL, "timeoutMs": 60_000})
    assert main(["embed", str(root), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["available"], told["embedded"], told["failed"]) == (True, len(PROJECT), [])
    assert main(["search", QUESTION, str(root), "--mode", "semantic", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["hits"][0]["path"] == "docs/login.md"
    with Workspace(root, root=root) as workspace:
        near = call("semantic_search", {"query": QUESTION, "threshold": 0.2}, workspace).structured
        similar = call("search_semantic", {"query": QUESTION}, workspace).structured
        hybrid = call("hybrid_search", {"query": QUESTION}, workspace).structured
        answer = call("query_docs", {"query": QUESTION}, workspace).structured
        bread = call("search_semantic", {"query": "prepare food in a hot place"}, workspace).structured
    assert near is not None and similar is not None and hybrid is not None and answer is not None and bread is not None
    assert near["results"][0]["docPath"] == "docs/login.md" and near["meta"]["used_semantic"] is True
    assert similar["results"][0]["path"] == "docs/login.md"
    assert any(item["path"] == "docs/login.md" and "semantic" in item["sources"] for item in hybrid["results"])
    assert "secret phrase" in answer["answer"] and answer["meta"]["used_semantic"] is True
    assert bread["results"][0]["path"] == "src/kitchen.py"


def test_onnx_from_a_folder_finds_the_same(onnx: Path, tmp_path: Path) -> None:
    shutil.copytree(onnx, tmp_path / ".findling" / "models" / "minilm")
    root = make(tmp_path, {"embedding": {"provider": "local", "model": "models/minilm"}})
    with Workspace(root, root=root) as workspace:
        near = call("semantic_search", {"query": QUESTION, "threshold": 0.2}, workspace).structured
        assert workspace.engine.status().model.startswith("local/")
    assert near is not None
    assert near["results"][0]["docPath"] == "docs/login.md" and near["meta"]["used_semantic"] is True

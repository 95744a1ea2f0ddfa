"""Vectors of several models in one index: how they are kept, what a query uses, what changing the model costs."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from ollama_process import OllamaProcess
from project import FILES, QUESTION, configure, make

from findling.config import load
from findling.contracts import Workspace, call
from findling.embedding import open_embedder
from findling.embedding.embedder import coding_of
from findling.embedding.providers.ollama import forget
from findling.engine import Engine
from findling.model import vector_codes
from findling.model.reading import row_bytes
from findling.search import semantic


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path.resolve() / "project")


def ask(root: Path, *, limit: int = 4) -> tuple[str, list[str], tuple[str, ...]]:
    with Engine.open(root=root) as engine:
        found = engine.search(QUESTION, mode="semantic", limit=limit, wait_s=0)
        return engine.status().model, [hit.path for hit in found.hits], found.notes


def test_other_models_are_kept_as_float16() -> None:
    rows = np.random.default_rng(3).standard_normal((50, 100)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows[7] = 0
    coded = vector_codes.encode(rows, "float16")
    assert coded.shape == (50, row_bytes(100, "float16")) == (50, 200)
    data = coded.tobytes()
    assert np.abs(vector_codes.decode_floats(data, 100, "float16") - rows).max() < 0.0005
    whole = vector_codes.decode(data, 100, "float16")
    assert not whole[7].any()
    true = rows @ rows[0]
    assert np.abs(semantic.cosines_int8(whole, rows[0]) - true).max() < 0.01
    assert (vector_codes.sign_bits(data, 100, "float16") == np.packbits(rows >= 0, axis=1)).all()


def test_a_small_negative_number_keeps_its_sign() -> None:
    rows = np.full((1, 16), -0.0001, np.float32)
    rows[0, 0] = 1
    data = vector_codes.encode(rows, "float16").tobytes()
    assert not vector_codes.decode(data, 16, "float16")[0, 1:].any()  # far below a 127th of the largest
    assert vector_codes.sign_bits(data, 16, "float16").tolist() == [[0x80, 0x00]]


def test_a_query_uses_the_model_it_was_told_to_and_changing_back_costs_nothing(
    root: Path, ollama: OllamaProcess
) -> None:
    """S2-51, D1: vectors of two models are never compared, and live side by side."""
    with Engine.open(root=root) as engine:
        assert engine.index().embedded == 4
    configure(root, ollamaUrl=ollama.url, model="all-minilm")
    with Engine.open(root=root) as engine:
        assert engine.embed().chunks == 4
    sent = len(ollama.requests())
    model, by_ollama, notes = ask(root)
    assert model.startswith("ollama/all-minilm/")
    assert set(by_ollama[:2]) == {"docs/network.md", "src/http/client.py"}
    assert notes == ()
    assert len(ollama.requests()) == sent + 1  # the question alone

    configure(root, embedding={"provider": "local", "model": "bundled"})
    ollama.stop()
    model, by_bundled, notes = ask(root)
    assert model.startswith("bundled/")
    assert by_bundled and notes == ()
    with Engine.open(root=root) as engine:
        assert engine.index().embedded == 0
    ollama.start()
    configure(root, ollamaUrl=ollama.url, model="all-minilm")
    with Engine.open(root=root) as engine:
        assert engine.index().embedded == 0
    assert ask(root)[1] == by_ollama


def test_an_index_keeps_its_model_without_a_configuration(root: Path, ollama: OllamaProcess) -> None:
    """D3, D32: what made the vectors goes on, and when it does not answer nothing else takes its place."""
    configure(root, ollamaUrl=ollama.url, model="all-minilm")
    with Engine.open(root=root) as engine:
        engine.index()
    configure(root, enabled="auto")
    model, hits, notes = ask(root)
    assert (model, hits) == ("", [])
    assert "Is Ollama running?" in notes[0]


def test_a_model_pulled_anew_is_another_model(root: Path, ollama: OllamaProcess) -> None:
    configure(root, ollamaUrl=ollama.url, model="all-minilm")
    with Engine.open(root=root) as engine:
        engine.index()
    ollama.behave(digests={"all-minilm:latest": "another"})
    forget()
    with Engine.open(root=root) as engine:
        found = engine.search(QUESTION, mode="semantic", wait_s=None)
        assert not found.hits
        assert "doesn't match stored embeddings" in found.notes[0]
        assert engine.sync().embedded == 0  # nobody asked for it
        assert engine.index().embedded == 4
        assert engine.search(QUESTION, mode="semantic", wait_s=None).hits


def test_vectors_of_ollama_are_exported_as_numbers(root: Path, ollama: OllamaProcess) -> None:
    """D1, S4-7, S4-18, S4-19: and what is exported is what a score is the cosine of."""
    configure(root, ollamaUrl=ollama.url, model="all-minilm")
    with Engine.open(root=root) as engine:
        engine.index()
        rows = list(engine.vectors())
        database = engine.store_dir / "index.db"
        assert coding_of(open_embedder().fingerprint) == "four_bits"
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        assert connection.execute("SELECT coding, dimensions, row_bytes FROM models").fetchall() == [
            ("float16", 384, 768)
        ]
    assert {row["path"] for row in rows} == set(FILES)
    assert {row["model"] for row in rows} == {"all-minilm"}
    columns = {"id", "path", "start_line", "end_line", "content_hash", "embedding", "model", "created_at"}
    assert all(set(row) == columns for row in rows)
    with Workspace(root, root=root) as workspace:
        found = call("search_semantic", {"query": QUESTION}, workspace).structured
    assert found is not None
    question = open_embedder("ollama", "all-minilm", config=load(root).config).encode_query(QUESTION)
    expected = sorted((float(np.dot(row["embedding"], question)) for row in rows), reverse=True)
    assert [result["score"] for result in found["results"]] == pytest.approx(expected, abs=0.01)
    text = json.loads(json.dumps(rows[0]))
    assert np.linalg.norm(text["embedding"]) == pytest.approx(1, abs=1e-3)


def test_a_text_that_failed_costs_itself_and_is_tried_again_on_demand(root: Path, ollama: OllamaProcess) -> None:
    ollama.behave(bad_word="invoice")
    configure(root, ollamaUrl=ollama.url, model="all-minilm")
    with Engine.open(root=root) as engine:
        report = engine.index()
        assert report.embedded == 2
        assert sorted(note.partition(":")[0] for note in report.notes if "could not be embedded" in note) == [
            "docs/invoices.md",
            "src/billing/invoice.py",
        ]
        assert engine.status().coverage.missing_vectors == 0
        assert engine.sync().embedded == 0  # questions do not stumble over it again
    ollama.behave(bad_word="")
    with Engine.open(root=root) as engine:
        again = engine.embed()
        assert sorted(again.embedded) == ["docs/invoices.md", "src/billing/invoice.py"]
        assert len(again.skipped) == 2


def test_a_run_that_ended_early_goes_on_where_it_was(root: Path, ollama: OllamaProcess) -> None:
    """What was embedded before the server went away is kept."""
    for i in range(300):
        (root / f"src/part_{i}.py").write_text(f"def part_{i}():\n    '''Number {i}.'''\n", encoding="utf-8")
    ollama.behave(statuses=[200] * 9 + [403])
    configure(root, ollamaUrl=ollama.url, model="all-minilm")
    with Engine.open(root=root) as engine:
        first = engine.index()
        assert first.embedded == 200
        assert any("refuses" in note for note in first.notes)
    forget()
    with Engine.open(root=root) as engine:
        assert engine.status().coverage.embedded_chunks == 200
        assert engine.index().embedded == 104

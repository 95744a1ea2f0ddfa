"""Models of a folder, made here and computed by the optional libraries; and what is said where these are missing."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from project import QUESTION, make

from findling.config import Config
from findling.config.options import Embedding
from findling.embedding import open_embedder
from findling.embedding.providers import local
from findling.engine import Engine
from findling.model.errors import EmbedderUnavailable

WORDS = (
    "[PAD] [UNK] send sent again failed requests retry network down invoice tax sum lines docs src http client billing "
    "total with of the is are how when that def self class return a an added to all three times request"
).split()
TENSOR_FLOAT, TENSOR_INT64 = 1, 7


def needs(library: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        importlib.util.find_spec(library) is None, reason=f"the optional library {library} is not installed"
    )


def rows(dimensions: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    made = np.random.default_rng(5).standard_normal((len(WORDS), dimensions)).astype(np.float32)
    made[0] = 0
    made[1] = 0.01
    return made


def tokenizer() -> Any:
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    made.normalizer = tokenizers.normalizers.Lowercase()
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return made


def static_model(folder: Path) -> Path:
    safetensors = pytest.importorskip("safetensors.numpy")
    folder.mkdir()
    safetensors.save_file({"embeddings": rows(24)}, folder / "model.safetensors")
    tokenizer().save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"normalize": True, "model_type": "model2vec"}))
    return folder


def onnx_model(folder: Path) -> Path:
    """Token ids to rows of a table; the program that runs it takes the mean."""
    folder.mkdir()
    (folder / "model.onnx").write_bytes(_onnx_of(rows(16)))
    tokenizer().save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 128, "pad_token": "[PAD]"}))
    (folder / "special_tokens_map.json").write_text(json.dumps({"pad_token": "[PAD]", "unk_token": "[UNK]"}))
    return folder


def _onnx_of(table: np.ndarray[Any, np.dtype[np.float32]]) -> bytes:
    """A graph of one Gather, in protocol buffers written by hand: its format needs no library to be written."""

    def varint(value: int) -> bytes:
        out = b""
        while value > 127:
            out += bytes((value & 127 | 128,))
            value >>= 7
        return out + bytes((value,))

    def field(number: int, value: int | bytes | str) -> bytes:
        if isinstance(value, int):
            return varint(number << 3) + varint(value)
        data = value.encode() if isinstance(value, str) else value
        return varint(number << 3 | 2) + varint(len(data)) + data

    def tensor_type(kind: int, *axes: str) -> bytes:
        shape = b"".join(field(1, field(2, axis)) for axis in axes)
        return field(1, field(1, kind) + field(2, shape))

    def value_info(name: str, kind: int, *axes: str) -> bytes:
        return field(1, name) + field(2, tensor_type(kind, *axes))

    initializer = field(1, table.shape[0]) + field(1, table.shape[1]) + field(2, TENSOR_FLOAT) + field(8, "table")
    initializer += field(9, table.astype("<f4").tobytes())
    gather = field(1, "table") + field(1, "input_ids") + field(2, "last_hidden_state") + field(4, "Gather")
    graph = field(1, gather) + field(2, "graph") + field(5, initializer)
    graph += field(11, value_info("input_ids", TENSOR_INT64, "batch", "length"))
    graph += field(12, value_info("last_hidden_state", TENSOR_FLOAT, "batch", "length", "hidden"))
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13))


def config(model: str | Path, **more: Any) -> Config:
    return Config(embedding=Embedding(provider="local", model=str(model), **more))


def check(folder: Path, root: Path, dimensions: int) -> None:
    chosen = config(folder)
    embedder = open_embedder("local", str(folder), config=chosen)
    made = embedder.fingerprint
    assert (made.provider, made.model, made.dimensions) == ("local", str(folder), dimensions)
    assert made.version.startswith("fastembed-1+")
    found = embedder.encode(["failed requests", "invoice tax", "requests failed"])
    assert np.linalg.norm(found, axis=1) == pytest.approx(1, abs=1e-5)
    assert found[0] == pytest.approx(found[2], abs=1e-5)
    assert embedder.encode_query("failed requests") == pytest.approx(found[0], abs=1e-5)
    other = open_embedder("local", str(folder), config=config(folder, model_version="2"))
    assert other.fingerprint.id != made.id  # S2-51
    with pytest.raises(EmbedderUnavailable, match=f"semantic.modelDim is 768, but model .* returns {dimensions}"):
        open_embedder("local", str(folder), dimensions=768, config=chosen)
    with Engine.open(root=root, config=chosen) as engine:
        assert engine.embed().chunks == 4
        hits = [hit.path for hit in engine.search(QUESTION, mode="semantic").hits]
        assert hits[0] == "docs/network.md"
        assert len(hits) == 4


@needs("model2vec")
def test_a_static_model_of_a_folder(tmp_path: Path) -> None:
    check(static_model(tmp_path / "static"), make(tmp_path.resolve() / "project"), 24)


@needs("fastembed")
def test_an_onnx_model_of_a_folder(tmp_path: Path) -> None:
    check(onnx_model(tmp_path / "onnx"), make(tmp_path.resolve() / "project"), 16)


@needs("fastembed")
def test_every_id_is_a_model_that_a_library_knows() -> None:
    import fastembed

    known = {model["model"].lower() for model in fastembed.TextEmbedding.list_supported_models()}
    for name, hub in local.IDS.items():
        assert hub.startswith("minishlab/") or hub.lower() in known, name


@needs("fastembed")
@needs("model2vec")
@pytest.mark.parametrize("model", ["NomicEmbedTextV15Q", "PotionBase8M"])
def test_a_model_that_was_not_fetched_is_not_fetched_unasked(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D31."""
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    with pytest.raises(EmbedderUnavailable, match="is not on this machine") as failure:
        open_embedder("local", model, config=config(model))
    assert "findling embed" in failure.value.remedy


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(local.importlib, "import_module", absent)
    for model, library in (("NomicEmbedTextV15Q", "fastembed"), ("minishlab/potion-base-8M", "model2vec")):
        with pytest.raises(EmbedderUnavailable, match=f"needs {library}") as failure:
            open_embedder("local", model, config=config(model))
        assert f"findling[{library}]" in failure.value.remedy
        assert failure.value.reason == "missing"
    (tmp_path / "empty").mkdir()
    for model in (str(tmp_path / "empty"), "NoSuchModel"):
        with pytest.raises(EmbedderUnavailable) as failure:
            open_embedder("local", model, config=config(model))
        assert failure.value.reason == "missing"


@pytest.mark.parametrize(
    ("profile", "model"),
    [("code_quality", "JinaEmbeddingsV2BaseCode"), ("high_quality", "MxbaiEmbedLargeV1")],
)
def test_profiles_mean_models(profile: Any, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """S2-48: each its own, which is what is opened."""
    monkeypatch.setitem(sys.modules, "fastembed", None)
    monkeypatch.setitem(sys.modules, "model2vec", None)
    with pytest.raises(EmbedderUnavailable, match=model):
        open_embedder("local", "", config=config("", profile=profile))

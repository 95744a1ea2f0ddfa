"""A model opened for measuring: one that was just trained, or a folder in the package's own format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from findling.embedding.bundled import META_FILE, BundledEmbedder
from findling.embedding.bundled_files import Vocabulary
from findling.model.tokenizer import words
from training.bag import bag, unit
from training.dataset import SHARED_ROWS

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts to rows of length 1, or of zeros."""

_BLOCK = 2000


def open_model(folder: Path) -> Encode:
    """How the model of a folder turns texts into vectors."""
    if (folder / META_FILE).exists():
        return BundledEmbedder.open(folder).encode
    known = (folder / "words.txt").read_text(encoding="utf-8").split("\n")
    return trained(np.load(folder / "table.npy"), known)


def bags(texts: Sequence[str], vocabulary: Vocabulary, table_rows: int) -> sparse.csr_matrix:
    """Texts as weights of rows (`training.bag.bag`)."""
    remembered: dict[str, tuple[int, ...]] = {}

    def rows(word: str) -> tuple[int, ...]:
        if word not in remembered:
            remembered[word] = vocabulary.rows(word)
        return remembered[word]

    made = [[row for word in words(text) for row in rows(word)] for text in texts]
    owners = np.repeat(np.arange(len(made)), [len(found) for found in made])
    return bag(np.fromiter((row for found in made for row in found), np.int32), owners, len(made), table_rows)


def trained(table: NDArray[np.float32], known: Sequence[str]) -> Encode:
    """With a table of float numbers and its words."""
    vocabulary = Vocabulary(known, SHARED_ROWS)

    def block(texts: Sequence[str]) -> NDArray[np.float32]:
        return unit(bags(texts, vocabulary, len(table)) @ table)[0]

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:
        parts = [block(texts[at : at + _BLOCK]) for at in range(0, len(texts), _BLOCK)]
        return np.concatenate(parts) if parts else np.zeros((0, table.shape[1]), np.float32)

    return encode

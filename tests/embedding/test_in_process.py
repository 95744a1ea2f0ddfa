"""The embedder around a function: what is computed together, what a failure costs. No library is needed."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pytest

from findling.embedding.providers.local import BATCH_CHARS, FAILED_IN_A_ROW, InProcessEmbedder
from findling.model.errors import EmbedderUnavailable


class Model:
    """Two numbers a text: its length and one; `bad` is a word that it cannot bear."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.bad = "\0"

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        self.batches.append([len(text) for text in texts])
        if any(self.bad in text for text in texts):
            raise RuntimeError("no such token")
        return [[float(len(text)), 1.0] for text in texts]


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def embedder(model: Model) -> InProcessEmbedder:
    made = InProcessEmbedder("made-up", "1", model, dimensions=None, batch_texts=4)
    model.batches.clear()
    return made


def lengths(rows: np.ndarray) -> list[int]:
    return [round(float(row[0] / row[1])) for row in rows]


def test_texts_of_like_length_are_computed_together_and_come_back_in_order(
    embedder: InProcessEmbedder, model: Model
) -> None:
    texts = ["a" * size for size in (900, 3, 700, 5, 800, 4, 2)]
    assert lengths(embedder.encode(texts)) == [900, 3, 700, 5, 800, 4, 2]
    assert model.batches == [[2, 3, 4, 5], [700, 800, 900]]


def test_a_version_is_another_model_and_other_dimensions_are_none(model: Model) -> None:
    """S2-51, S2-52: of a local model."""
    first, second = (
        InProcessEmbedder("made-up", version, model, dimensions=2, batch_texts=4).fingerprint for version in "12"
    )
    assert first.id != second.id
    with pytest.raises(EmbedderUnavailable) as failure:
        InProcessEmbedder("made-up", "1", model, dimensions=3, batch_texts=4)
    assert failure.value.reason == "dimensions"


def test_with_little_time_the_first_come_first(embedder: InProcessEmbedder, model: Model) -> None:
    texts = ["a" * size for size in (900, 3, 700, 5, 800)]
    made = embedder.embed_batch(texts, deadline=time.monotonic() + 600)
    assert lengths(made.rows) == [900, 3, 700, 5, 800]
    assert model.batches[0] == [900, 3, 700, 5]
    assert len(embedder.embed_batch(texts, deadline=time.monotonic() - 1).rows) == 0


def test_a_batch_is_bounded_by_its_longest_text(embedder: InProcessEmbedder, model: Model) -> None:
    texts = ["a" * (BATCH_CHARS // 2), "b" * (BATCH_CHARS // 2), "c" * (BATCH_CHARS // 2 + 1), "d" * (2 * BATCH_CHARS)]
    embedder.encode(texts)
    assert [len(batch) for batch in model.batches] == [2, 1, 1]


def test_a_bad_text_costs_itself(embedder: InProcessEmbedder, model: Model) -> None:
    model.bad = "b"
    made = embedder.embed_batch(["a", "aa", "bbb", "aaaa", "aaaaa"])
    assert list(made.failed) == [2] and "no such token" in made.failed[2]
    assert not made.rows[2].any()
    assert lengths(np.delete(made.rows, 2, axis=0)) == [1, 2, 4, 5]


def test_a_model_that_embeds_nothing_is_not_asked_for_every_text(embedder: InProcessEmbedder, model: Model) -> None:
    model.bad = "a"
    with pytest.raises(EmbedderUnavailable, match="no such token"):
        embedder.encode(["a"] * 1000)
    assert len(model.batches) < 3 * FAILED_IN_A_ROW

"""The model that is trained: a row of numbers per piece of a word, added up with weights, scaled to length 1.

Forward, backward and Adam for the rows that a batch touches, by hand in numpy and scipy: the model is one table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float32]

_EPSILON = 1e-8
_BETAS = (0.9, 0.99)
_LEAST_LENGTH = 1e-6
MOST_SCALE = 100.0
"""A steeper softmax learns from nothing but its mistakes, mislabelled pairs among them."""


def bag(rows: NDArray[np.int32], owners: NDArray[np.int64], texts: int, table_rows: int) -> sparse.csr_matrix:
    """The texts as weights of rows: 1 + ln(times that a row occurs in the text)."""
    keys, counts = np.unique(owners * table_rows + rows, return_counts=True)
    ends = np.searchsorted(keys, np.arange(texts + 1) * table_rows)
    weights = (1 + np.log(counts)).astype(np.float32)
    return sparse.csr_matrix((weights, (keys % table_rows).astype(np.int32), ends), shape=(texts, table_rows))


def stacked(first: sparse.csr_matrix, second: sparse.csr_matrix) -> sparse.csr_matrix:
    """The texts of both, one below the other."""
    both: sparse.csr_matrix = sparse.vstack((first, second), format="csr")
    return both


def unit(sums: Floats) -> tuple[Floats, Floats]:
    """Rows of length 1, and the lengths that they had (texts, 1)."""
    lengths = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), _LEAST_LENGTH)
    return sums / lengths, lengths


@dataclass(frozen=True, slots=True)
class Step:
    """``loss`` in nats; gradients of the texts' sums and of the logarithm of the scale."""

    loss: float
    queries: Floats
    passages: Floats
    scale: float


def contrast(query_sums: Floats, passage_sums: Floats, log_scale: float, same: NDArray[np.bool_]) -> Step:
    """Each query has its own passage among all of the batch, and each passage its query (symmetric cross entropy).

    ``passage_sums`` may hold more passages than queries: the further ones are nobody's. ``same`` (queries, queries)
    marks pairs that are as good as each other's, which are no counter-examples; its diagonal is ignored.
    """
    n = len(query_sums)
    queries, query_lengths = unit(query_sums)
    passages, passage_lengths = unit(passage_sums)
    scale = np.float32(min(MOST_SCALE, np.exp(log_scale)))
    cosines = queries @ passages.T
    logits = cosines * scale
    own = np.arange(n)
    same = same.copy()
    same[own, own] = False
    logits[:, :n][same] = -np.inf
    forward, forward_loss = _softmax_less_truth(logits, own)
    backward, backward_loss = _softmax_less_truth(logits[:, :n].T, own)
    gradient: Floats = forward / np.float32(2 * n)
    gradient[:, :n] += backward.T / np.float32(2 * n)
    by_scale = float((gradient * cosines).sum() * scale)
    gradient *= scale
    return Step(
        (forward_loss + backward_loss) / 2,
        _through_unit(gradient @ passages, queries, query_lengths),
        _through_unit(gradient.T @ queries, passages, passage_lengths),
        by_scale,
    )


def _softmax_less_truth(logits: Floats, own: NDArray[np.intp]) -> tuple[Floats, float]:
    shifted = logits - logits.max(axis=1, keepdims=True)
    shares = np.exp(shifted)
    totals = shares.sum(axis=1, keepdims=True)
    loss = float(np.mean(np.log(totals[:, 0]) - shifted[own, own]))
    shares /= totals
    shares[own, own] -= 1
    return shares, loss


def _through_unit(gradient: Floats, units: Floats, lengths: Floats) -> Floats:
    through: Floats = (gradient - units * (gradient * units).sum(axis=1, keepdims=True)) / lengths
    return through


class Table:
    """The rows being learned, by Adam.

    Adam moves a row on for a while after a batch has touched it; most of the way of a rare word's row lies there. Such
    steps are made up for when the row is needed next (`refresh`), so that a batch costs what its own rows cost.
    """

    def __init__(self, weights: Floats) -> None:
        self.weights = weights
        self._first = np.zeros_like(weights)
        self._second = np.zeros_like(weights)
        self._steps = 0
        self._moved_at = np.zeros(len(weights), np.int64)
        self._rate = 0.0

    def refresh(self, rows: NDArray[np.integer[Any]]) -> None:
        """Bring the rows to where Adam has them by now, at the present rate."""
        idle = (self._steps - self._moved_at[rows])[:, np.newaxis]
        ratio = _BETAS[0] / np.sqrt(_BETAS[1])
        way = (self._rate * ratio * (1 - ratio**idle) / (1 - ratio)).astype(np.float32)
        self.weights[rows] -= way * self._first[rows] / (np.sqrt(self._second[rows]) + np.float32(_EPSILON))
        self._first[rows] *= (_BETAS[0] ** idle).astype(np.float32)
        self._second[rows] *= (_BETAS[1] ** idle).astype(np.float32)
        self._moved_at[rows] = self._steps

    def finished(self) -> Floats:
        """All rows as they are by now."""
        self.refresh(np.arange(len(self.weights)))
        return self.weights

    def sums(self, texts: sparse.csr_matrix) -> Floats:
        """The texts' sums of rows; their rows must be fresh."""
        summed: Floats = texts @ self.weights
        return summed

    def learn(self, texts: sparse.csr_matrix, gradient: Floats, rate: float) -> None:
        """One step of Adam down ``gradient``, which is that of ``sums(texts)``."""
        touched = np.unique(texts.indices)
        place = np.zeros(texts.shape[1], np.int32)
        place[touched] = np.arange(len(touched), dtype=np.int32)
        narrow = sparse.csr_matrix(
            (texts.data, place[texts.indices], texts.indptr), shape=(texts.shape[0], len(touched))
        )
        slope = narrow.T.tocsr() @ gradient
        self._steps += 1
        self._rate = rate * np.sqrt(1 - _BETAS[1] ** self._steps) / (1 - _BETAS[0] ** self._steps)
        first = np.float32(_BETAS[0]) * self._first[touched] + np.float32(1 - _BETAS[0]) * slope
        second = np.float32(_BETAS[1]) * self._second[touched] + np.float32(1 - _BETAS[1]) * slope * slope
        self._first[touched], self._second[touched] = first, second
        self.weights[touched] -= np.float32(self._rate) * first / (np.sqrt(second) + np.float32(_EPSILON))
        self._moved_at[touched] = self._steps

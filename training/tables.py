"""Tables side by side: brought to one level, put together, and turned so that few dimensions keep most.

Cosines of joined tables are the weighted mean of theirs, so that several tables that err differently make one that errs
less; turning and cutting (principal components of the texts' vectors, not of the rows) brings it back to its size.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from training.bag import Floats, bag, unit
from training.dataset import Ragged

SAMPLED_TEXTS = 40_000
"""Texts that say how long vectors are and which directions matter."""


def sampled(texts: Sequence[Ragged], table_rows: int, seed: int) -> sparse.csr_matrix:
    """Bags of some texts, equally many of each kind."""
    rng = np.random.default_rng(seed)
    made = []
    for kind in texts:
        chosen = rng.permutation(len(kind))[: SAMPLED_TEXTS // len(texts)]
        made.append(bag(*kind.of(chosen), len(chosen), table_rows))
    stacked: sparse.csr_matrix = sparse.vstack(made, format="csr")
    return stacked


def levelled(table: Floats, texts: sparse.csr_matrix) -> Floats:
    """The table in such a unit that the median text's vector has length 1."""
    made: Floats = table / np.median(np.linalg.norm(texts @ table, axis=1))
    return made


def joined(tables: Sequence[tuple[float, Floats]], texts: sparse.csr_matrix) -> Floats:
    """All tables' columns, each weighing what stands before it."""
    return np.concatenate([np.float32(weight) * levelled(table, texts) for weight, table in tables], axis=1)


def turned(table: Floats, texts: sparse.csr_matrix, dimensions: int) -> tuple[Floats, float]:
    """The table in the ``dimensions`` directions in which the texts' unit vectors are longest, and the share of their
    squared length that this keeps."""
    vectors, _ = unit(texts @ table)
    strength, directions = np.linalg.eigh(vectors.T.astype(np.float64) @ vectors.astype(np.float64))
    kept = directions[:, ::-1][:, :dimensions].astype(np.float32)
    made: Floats = table @ kept
    return made, float(strength[::-1][:dimensions].sum() / strength.sum())


def evened(table: Floats, texts: sparse.csr_matrix, seed: int) -> Floats:
    """The table without the direction that texts share (Mu and Viswanath 2018, "All-but-the-top"), turned at random.

    Turning changes no cosine, and every direction is then about as strong as any other: a store that keeps a few bits
    of each number loses the same of all.
    """
    vectors, _ = unit(texts @ table)
    _, directions = np.linalg.eigh(vectors.T.astype(np.float64) @ vectors.astype(np.float64))
    shared = directions[:, -1:].astype(np.float32)
    dimensions = table.shape[1]
    axes, corner = np.linalg.qr(np.random.default_rng(seed).standard_normal((dimensions, dimensions)))
    axes = (axes * np.sign(np.diag(corner))).astype(np.float32)
    made: Floats = (table - table @ shared @ shared.T) @ axes
    return made

"""What a provider returned, checked: as many vectors as texts, each of the right length, finite and not zero.

Normalises once. Knows no provider.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Malformed(ValueError):
    """An answer that does not say what it should; the message says what is wrong."""


class OtherDimensions(ValueError):
    """Vectors of another length than those of the model that was opened: ``returned`` numbers each."""

    def __init__(self, returned: int) -> None:
        super().__init__(f"{returned} numbers in a vector")
        self.returned = returned


def unit_rows(answer: Any, texts: int, dimensions: int | None) -> tuple[NDArray[np.float32], dict[int, str]]:
    """``answer``, a list of ``texts`` lists of numbers, as rows of length 1; and by place, why a row is zeros.

    ``dimensions`` None takes whatever length all have. Raises Malformed and OtherDimensions.
    """
    if not isinstance(answer, Sequence | np.ndarray) or isinstance(answer, str) or len(answer) != texts:
        found = f"{len(answer)}" if isinstance(answer, Sequence | np.ndarray) else "no list of"
        raise Malformed(f"{found} vectors for {texts} texts")
    if texts == 0:
        return np.zeros((0, dimensions or 0), np.float32), {}
    try:
        rows = np.asarray(answer, np.float64)
    except (TypeError, ValueError) as error:
        raise Malformed("vectors that are no lists of numbers, or of different lengths") from error
    if rows.ndim != 2 or not rows.shape[1]:
        raise Malformed("vectors that are no lists of numbers, or are empty")
    if dimensions is not None and rows.shape[1] != dimensions:
        raise OtherDimensions(rows.shape[1])
    failed: dict[int, str] = {}
    lengths = np.sqrt(np.einsum("nd,nd->n", rows, rows))
    for row in np.flatnonzero(~np.isfinite(lengths)).tolist():
        failed[row] = "its vector has numbers that are not finite"
        rows[row] = lengths[row] = 0
    for row in np.flatnonzero(lengths == 0).tolist():
        failed.setdefault(row, "its vector is zero")
    unit = rows / np.where(lengths > 0, lengths, 1.0)[:, np.newaxis]
    return unit.astype(np.float32), failed

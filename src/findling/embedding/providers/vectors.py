"""What all providers share: the prefixes that a model wants before a text, the check of returned vectors, and
remembered vectors of queries.
"""

from __future__ import annotations

import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from findling.embedding.embedder import Batch, Fingerprint
from findling.model.errors import EmbedderUnavailable


class Malformed(ValueError):
    """An answer without proper vectors; the message says what is wrong."""


class OtherDimensions(ValueError):
    """Vectors whose length, ``returned``, is not that of the opened model."""

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


# --- remembered vectors of queries

QUERIES_REMEMBERED: Final = 256
"""A megabyte of vectors; questions are asked again with other filters, and by several tools."""


class ProvidedEmbedder(ABC):
    """An embedder that remembers the vectors of recent queries. Safe to use from several threads."""

    fingerprint: Fingerprint

    def __init__(self) -> None:
        self._remembered: dict[str, NDArray[np.float32]] = {}
        self._lock = threading.Lock()

    @property
    @abstractmethod
    def problem(self) -> EmbedderUnavailable | None:
        """See Embedder."""

    @abstractmethod
    def embed_batch(self, texts: Sequence[str], *, deadline: float | None = None) -> Batch:
        """See Embedder."""

    @abstractmethod
    def _query(self, text: str) -> NDArray[np.float32]:
        """As `encode_query`, of a text that is not blank, while there is no problem."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See Embedder."""
        return self.embed_batch(texts).rows

    def encode_query(self, text: str) -> NDArray[np.float32]:
        """See Embedder. Nobody is asked for a blank text, nor while there is a problem, which is raised."""
        with self._lock:
            known = self._remembered.get(text)
        if known is not None:
            return known
        if (problem := self.problem) is not None:
            raise problem.with_traceback(None)
        if not text.strip():
            return np.zeros(self.fingerprint.dimensions, np.float32)
        vector = self._query(text)
        with self._lock:
            if len(self._remembered) >= QUERIES_REMEMBERED:
                self._remembered.clear()
            self._remembered[text] = vector
        return vector


# --- prefixes: a model that was trained with some finds much less without them, and no server adds them. The scheme's
# name is part of the fingerprint, so that vectors made with other prefixes are never compared.


class Prefixes(Struct, frozen=True):
    """The prefixes of a model. ``scheme`` names them; raise the number in it when a text changes."""

    scheme: str
    query: str = ""
    document: str = ""


NONE: Final = Prefixes("none")

_BY_NAME: Final = msgspec.json.decode(
    Path(__file__).with_name("prefixes.json").read_bytes(), type=list[tuple[str, Prefixes]]
)
"""Pattern in a model's lower-case name -> its prefixes; the first that matches counts."""


def prefixes_of(model: str) -> Prefixes:
    """By the model's name, such as ``nomic-embed-text:latest`` or ``BAAI/bge-small-en-v1.5``."""
    name = model.lower()
    return next((prefixes for pattern, prefixes in _BY_NAME if re.search(pattern, name)), NONE)

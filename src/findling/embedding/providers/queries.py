"""Vectors of queries that were asked before, for embedders that are asked over a connection. Knows no provider."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from findling.embedding.embedder import Embedder

QUERIES_REMEMBERED: Final = 256
"""A megabyte of vectors; questions are asked again with other filters, and by several tools."""


class RememberedQueries:
    """Safe to use from several threads."""

    def __init__(self) -> None:
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._lock = threading.Lock()

    def encode(self, text: str, embedder: Embedder, ask: Callable[[str], NDArray[np.float32]]) -> NDArray[np.float32]:
        """A query's vector as `Embedder.encode_query` gives it: what is remembered, else what ``ask`` answers.

        Nobody is asked for a blank text, nor while the embedder has a problem, which is raised.
        """
        with self._lock:
            known = self._vectors.get(text)
        if known is not None:
            return known
        if (problem := embedder.problem) is not None:
            raise problem.with_traceback(None)
        if not text.strip():
            return np.zeros(embedder.fingerprint.dimensions, np.float32)
        vector = ask(text)
        with self._lock:
            if len(self._vectors) >= QUERIES_REMEMBERED:
                self._vectors.clear()
            self._vectors[text] = vector
        return vector

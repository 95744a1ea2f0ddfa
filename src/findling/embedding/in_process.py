"""An embedder around a function that computes in this process: prefixes, checks, time. Knows no library."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from findling.embedding import Batch, Fingerprint, wrong_dimensions
from findling.embedding.checked import Malformed, OtherDimensions, unit_rows
from findling.embedding.prefixes import Prefixes, prefixes_of
from findling.errors import EmbedderUnavailable

_PROBE = "a text"


class InProcessEmbedder:
    """``compute`` gives a vector of any length above 0 for each text, or raises whatever it raises."""

    problem = None

    def __init__(
        self,
        model: str,
        version: str,
        compute: Callable[[Sequence[str]], Any],
        *,
        dimensions: int | None,
        batch_texts: int,
    ) -> None:
        self._model = model
        self._compute = compute
        self._batch_texts = batch_texts
        self._prefixes: Prefixes = prefixes_of(model)
        self._dimensions: int | None = None
        made = self._vectors([self._prefixes.document + _PROBE])[0].shape[1]
        if dimensions not in (None, made):
            raise wrong_dimensions(model, dimensions or 0, made)
        self._dimensions = made
        self._fingerprint = Fingerprint("local", model, version, made, prefix_scheme=self._prefixes.scheme)

    @property
    def fingerprint(self) -> Fingerprint:
        return self._fingerprint

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See Embedder."""
        return self.embed_batch(texts).rows

    def encode_query(self, text: str) -> NDArray[np.float32]:
        """See Embedder."""
        if not text.strip():
            return np.zeros(self._fingerprint.dimensions, np.float32)
        row: NDArray[np.float32] = self._vectors([self._prefixes.query + text])[0][0]
        return row

    def embed_batch(self, texts: Sequence[str], *, deadline: float | None = None) -> Batch:
        """See Embedder."""
        parts: list[NDArray[np.float32]] = []
        failed: dict[int, str] = {}
        for start in range(0, len(texts), self._batch_texts):
            if deadline is not None and time.monotonic() >= deadline:
                break
            part = texts[start : start + self._batch_texts]
            rows, problems = self._vectors([self._prefixes.document + text for text in part])
            for place, why in problems.items():
                failed[start + place] = why
            parts.append(rows)
        empty = np.zeros((0, self._fingerprint.dimensions), np.float32)
        return Batch(np.concatenate([empty, *parts]), failed)

    def _vectors(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], dict[int, str]]:
        try:
            return unit_rows(self._compute(texts), len(texts), self._dimensions)
        except (Malformed, OtherDimensions) as error:
            raise EmbedderUnavailable(f"The model {self._model!r} returns {error}.") from error
        except Exception as error:
            raise EmbedderUnavailable(f"The model {self._model!r} failed: {type(error).__name__}: {error}.") from error

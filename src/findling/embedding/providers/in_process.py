"""Makes an embedder of a function that computes vectors in this process: adds prefixes, checks and time limits."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from findling.embedding.embedder import Batch, Fingerprint, wrong_dimensions
from findling.embedding.providers.vectors import Malformed, OtherDimensions, Prefixes, prefixes_of, unit_rows
from findling.model.errors import EmbedderUnavailable

_PROBE = "a text"

BATCH_CHARS: Final = 8_000
"""The most characters of a batch, counting each text as long as the longest, as ONNX models compute them. Batches of 32
long texts take 4.5 GB, and three times as long."""

FAILED_IN_A_ROW: Final = 32
"""After this many failures without a single vector between them, the model is at fault, not the texts."""


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
        self._failed_in_a_row = 0
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
        """See Embedder. Without a deadline texts of like length are computed together."""
        order = list(range(len(texts)))
        if deadline is None:
            order.sort(key=lambda place: len(texts[place]))
        rows = np.zeros((len(texts), self._fingerprint.dimensions), np.float32)
        failed: dict[int, str] = {}
        done = 0
        while done < len(order) and (deadline is None or time.monotonic() < deadline):
            part = self._batch(texts, order[done : done + self._batch_texts])
            rows[part], problems = self._each([self._prefixes.document + texts[place] for place in part])
            failed |= {part[place]: why for place, why in problems.items()}
            done += len(part)
        return Batch(rows[:done], failed)

    @staticmethod
    def _batch(texts: Sequence[str], places: list[int]) -> list[int]:
        """The first places, as many as may be computed together, at least one."""
        longest = 0
        for count, place in enumerate(places):
            longest = max(longest, len(texts[place]))
            if count and (count + 1) * longest > BATCH_CHARS:
                return places[:count]
        return places

    def _each(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], dict[int, str]]:
        """As `_vectors`, but where the model fails it is asked by halves: a bad text costs no other its vector."""
        try:
            found = self._vectors(texts)
        except EmbedderUnavailable as error:
            if len(texts) == 1:
                self._failed_in_a_row += 1
                if self._failed_in_a_row >= FAILED_IN_A_ROW:
                    raise
                return np.zeros((1, self._fingerprint.dimensions), np.float32), {0: error.message}
            middle = len(texts) // 2
            (first, problems), (second, more) = self._each(texts[:middle]), self._each(texts[middle:])
            return np.concatenate((first, second)), problems | {middle + place: why for place, why in more.items()}
        self._failed_in_a_row = 0
        return found

    def _vectors(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], dict[int, str]]:
        try:
            return unit_rows(self._compute(texts), len(texts), self._dimensions)
        except (Malformed, OtherDimensions) as error:
            raise EmbedderUnavailable(f"The model {self._model!r} returns {error}.") from error
        except Exception as error:
            raise EmbedderUnavailable(f"The model {self._model!r} failed: {type(error).__name__}: {error}.") from error

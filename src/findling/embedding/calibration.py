"""From a cosine to a similarity that means the same for every model: stored with the model, measured, monotone.

Cosines of questions with the passages that answer them lie in a range of each model's own; a threshold that people set
once must not. The map is ``similarity = 1 - (1 - cosine) ** exponent``: 0 stays 0, 1 stays 1, order never changes, and
the exponent is chosen so that the usual threshold 0.7 stands at the cosine that best tells questions with an answer
from questions without one. A model without a measured exponent has 1: similarity is the cosine.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache

from findling.embedding.bundled_files import META_FILE, MODEL_DIR
from findling.embedding.embedder import BUNDLED, Fingerprint

NOT_MEASURED = 1.0


@dataclass(frozen=True, slots=True)
class Calibration:
    """The map of one model. ``exponent`` is at least 1."""

    exponent: float = NOT_MEASURED

    def similarity(self, cosine: float) -> float:
        """In [0, 1], higher for higher cosines; 0 for those below 0."""
        return 1.0 - float((1.0 - min(1.0, max(0.0, cosine))) ** self.exponent)

    def least_cosine(self, similarity: float) -> float:
        """The lowest cosine with at least this similarity; for 0 that is every cosine."""
        return -1.0 if similarity <= 0 else 1.0 - float((1.0 - similarity) ** (1.0 / self.exponent))


def calibration_of(fingerprint: Fingerprint) -> Calibration:
    """The map of a model's cosines."""
    return _bundled() if fingerprint.provider == BUNDLED else Calibration()


@cache
def _bundled() -> Calibration:
    try:
        exponent = float(json.loads((MODEL_DIR / META_FILE).read_bytes())["similarity"]["exponent"])
    except (OSError, ValueError, KeyError, TypeError):
        return Calibration()  # a model without a measurement; one that is damaged is reported where it is opened
    return Calibration(max(NOT_MEASURED, exponent))

"""How good an answer is, from what is known before anyone reads it. Pure.

Two things tell an answer from the nearest miss: how much of the query's weight the first file holds, and how near
its best passage is. A logistic curve over them, fitted on judged questions with and without an answer
(benchmarks/README.md), maps to [0, 1]; a definition of the very name that was asked for is nearly certain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from findling.search.ranking import RankedFile

BIAS = -1.9
COVERAGE = 3.9
COSINE = 2.8
DEFINITION = 1.5

TYPICAL_COSINE = 0.42
"""Of a right answer's best passage; stands in where there are no vectors."""


def confidence(ranked: Sequence[RankedFile]) -> float:
    """An estimate in [0, 1] that the first places answer the question; 0 without places."""
    if not ranked:
        return 0.0
    first = ranked[0]
    cosine = first.best_cosine if first.cosines is not None else TYPICAL_COSINE
    definition = max(item.values.get("definition", 0.0) for item in ranked[:3])
    value = BIAS + COVERAGE * first.coverage + COSINE * cosine + DEFINITION * definition
    return 1.0 / (1.0 + math.exp(-value))

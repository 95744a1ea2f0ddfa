"""How good an answer is, from what is known before anyone reads it. Pure.

Three things tell an answer from the nearest miss: how much of the query's weight the first file covers, how near its
best passage is, and how far it stands ahead of the second. A logistic curve over them maps to [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from findling.search.ranking import RankedFile

BIAS = -2.2
COVERAGE = 2.6
COSINE = 3.0
MARGIN = 0.6
DEFINITION = 1.5

LOW = 0.5
"""Below this an answer is shown as the nearest thing, not as an answer."""


def confidence(ranked: Sequence[RankedFile]) -> float:
    """An estimate in [0, 1] that the first places answer the question; 0 without places."""
    if not ranked:
        return 0.0
    first = ranked[0]
    margin = first.rank_value - ranked[1].rank_value if len(ranked) > 1 else first.rank_value
    value = (
        BIAS
        + COVERAGE * max(item.coverage for item in ranked[:3])
        + COSINE * max(item.best_cosine for item in ranked[:3])
        + MARGIN * min(2.0, max(0.0, margin))
        + DEFINITION * max(item.values.get("definition", 0.0) for item in ranked[:3])
    )
    return 1.0 / (1.0 + math.exp(-value))

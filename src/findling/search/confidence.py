"""How good an answer is, from what is known before anyone reads it. Pure.

Three things tell an answer from the nearest miss: how much of the query the first file holds, its rare words above
all; how much of it the next ones hold, for what a repository has it seldom speaks of in one file alone; and how near
the best passage of the first files is. A logistic curve over them, fitted on judged questions with
and without an answer (docs/ranking.md), maps to [0, 1]; a definition of the very name that was asked for is nearly
certain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from findling.model.types import Confidence
from findling.search.ranking import RankedFile

BIAS = -2.4
COVERAGE = 2.5
MEAN_COVERAGE = 2.0
COSINE = 3.0
DEFINITION = 2.0
"""Round, and set so that one in twelve right answers is below one half."""

CERTAIN = ("definition", "asked_path", "exact", "message")
"""Signals of what was asked for by name or to the letter: a definition, a file, a quotation; a message by its share."""

FIRST = 3
"""Files whose nearest passage, mean coverage and definitions count."""

TYPICAL_COSINE = 0.54
"""Of a right answer's best passage; stands in where there are no vectors."""


def judge(ranked: Sequence[RankedFile]) -> Confidence:
    """How sure it is that the first places answer the question; 0 without places."""
    if not ranked:
        return Confidence()
    first = ranked[:FIRST]
    cosines = [item.best_cosine for item in first if item.cosines is not None]
    named = max(max(item.values.get(name, 0.0) for name in CERTAIN) for item in first)
    held = sum(item.rare_coverage for item in first) / len(first)
    value = BIAS + COVERAGE * first[0].rare_coverage + MEAN_COVERAGE * held
    value += COSINE * max(cosines, default=TYPICAL_COSINE) + DEFINITION * named
    share = 1.0 / (1.0 + math.exp(-value))
    return Confidence(share, first[0].rare_coverage, held, max(cosines, default=None), named)

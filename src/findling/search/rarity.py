"""How much a word tells by how few of the searched files have it: the same for every channel and signal."""

from __future__ import annotations

import math
from collections.abc import Iterable

from findling.model import tokenizer
from findling.store.protocols import Index


def inverse_document_frequency(files: int, containing: int) -> float:
    """BM25's idf, never negative: ln(1 + (N - n + 0.5) / (n + 0.5)).

    Robertson and Sparck Jones, "Relevance weighting of search terms" (1976), as BM25 has it, one added under the
    logarithm.
    """
    containing = min(containing, files)
    return math.log(1.0 + (files - containing + 0.5) / (containing + 0.5))


def of_terms(index: Index, terms: Iterable[str]) -> dict[str, float]:
    """Each term's idf among the files that are searched."""
    manifest = index.manifest
    files = max(1, manifest.files if manifest else 0)
    keys = {term: tokenizer.term_key(term) for term in terms}
    counts = index.term_counts(keys.values())
    return {term: inverse_document_frequency(files, counts[key]) for term, key in keys.items()}

"""Channel: BM25 over chunks (body, context) and over files (path). Proposes; does not order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import NamedTuple

from findling.model import tokenizer
from findling.search.analysis import QueryTerms
from findling.search.scope import EVERYWHERE, Scope
from findling.store.protocols import CHUNK_BITS, Index


def inverse_document_frequency(files: int, containing: int) -> float:
    """BM25's idf, never negative: ln(1 + (N - n + 0.5) / (n + 0.5)).

    See Robertson and Sparck Jones, "Relevance weighting of search terms" (1976); as in BM25, one is added under the
    logarithm.
    """
    containing = min(containing, files)
    return math.log(1.0 + (files - containing + 0.5) / (containing + 0.5))


def rarities(index: Index, terms: Iterable[str]) -> dict[str, float]:
    """Each term's idf among the files that are searched."""
    manifest = index.manifest
    files = max(1, manifest.files if manifest else 0)
    keys = {term: tokenizer.term_key(term) for term in terms}
    counts = index.term_counts(keys.values())
    return {term: inverse_document_frequency(files, counts[key]) for term, key in keys.items()}


CHUNK_FIELDS = {"body": 1.0, "context": 0.6}
FILE_FIELDS = {"path": 1.0}

COMPOUND_WEIGHT = 0.5
"""The weight of two words of the query that are written as one name. Such names are rare, so their idf is high already.
"""

SYNONYM_WEIGHT = 0.3
"""The weight of a synonym of a word of the query. 0.2 to 0.5 measured about the same."""

_MAX_TERMS = 48
"""The most terms of a very long query that are looked up; the rest costs time and changes little."""


class KeywordHits(NamedTuple):
    """``chunks``: entry -> {ordinal: BM25}; ``files``: entry -> BM25 over paths."""

    chunks: dict[int, dict[int, float]]
    files: dict[int, float]


def search(
    reader: Index,
    query: QueryTerms,
    *,
    chunk_limit: int,
    file_limit: int,
    scope: Scope = EVERYWHERE,
) -> KeywordHits:
    """The best chunks and files by text, of those in the scope."""
    weights: dict[str, float] = {}
    compounds = {compound: COMPOUND_WEIGHT for compound in query.compounds if compound not in query.terms}
    for terms in (query.terms, compounds, _synonyms(query)):
        for term, weight in islice(terms.items(), _MAX_TERMS):
            weights[term] = weights.get(term, 0.0) + weight

    def best(fields: Mapping[str, float], limit: int) -> list[tuple[int, float]]:
        found = reader.frequencies([(field, term) for term in weights for field in fields])
        rare = {key: inverse_document_frequency(found.units, holding) for key, holding in found.holding.items()}
        weighted = {(field, term): weights[term] * fields[field] * rarity for (field, term), rarity in rare.items()}
        return reader.lexical(weighted, limit, scope.allowed)

    chunks: dict[int, dict[int, float]] = {}
    for unit, score in best(CHUNK_FIELDS, chunk_limit):
        chunks.setdefault(unit >> CHUNK_BITS, {})[unit & ((1 << CHUNK_BITS) - 1)] = score
    files = {unit >> CHUNK_BITS: score for unit, score in best(FILE_FIELDS, file_limit)}
    return KeywordHits(chunks, files)


def _synonyms(query: QueryTerms) -> dict[str, float]:
    found: dict[str, float] = {}
    for term, others in query.synonyms.items():
        for other in others:
            found[other] = max(found.get(other, 0.0), SYNONYM_WEIGHT * query.terms[term])
    return found

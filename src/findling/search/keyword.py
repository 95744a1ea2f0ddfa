"""Channel: BM25 over chunks (body, context) and over files (path). Proposes; does not order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from findling.search.analysis import QueryTerms
from findling.search.scope import EVERYWHERE, Scope
from findling.store.proposals import proposed
from findling.store.reader import IndexReader
from findling.store.schema import CHUNK_BITS

CHUNK_FIELDS = (("body", 1.0), ("context", 0.6))
FILE_FIELDS = (("path", 1.0),)

COMPOUND_WEIGHT = 0.5
"""Two words of the query that stand as one name. Such names are rare, so their idf already weighs a lot."""

SYNONYM_WEIGHT = 0.3
"""A word that may stand for one of the query. 0.2 to 0.5 measured about the same."""

_MAX_TERMS = 48
"""Terms of a very long query that are looked up; the rest adds time, not meaning."""


@dataclass(frozen=True, slots=True)
class KeywordHits:
    """``chunks``: entry -> {ordinal: BM25}; ``files``: entry -> BM25 over paths."""

    chunks: dict[int, dict[int, float]]
    files: dict[int, float]


def search(
    reader: IndexReader,
    query: QueryTerms,
    *,
    chunk_limit: int,
    file_limit: int,
    scope: Scope = EVERYWHERE,
) -> KeywordHits:
    """The best chunks and files by text, of those in the scope."""
    weighted = list(query.terms.items())[:_MAX_TERMS]
    weighted += [
        (compound, COMPOUND_WEIGHT) for compound in query.compounds[:_MAX_TERMS] if compound not in query.terms
    ]
    weighted += list(_synonyms(query).items())[:_MAX_TERMS]
    chunks: dict[int, dict[int, float]] = {}

    def best(fields: Sequence[tuple[str, float]], count: int) -> list[tuple[int, float]]:
        def find(wanted: int) -> list[tuple[int, float]]:
            return reader.fulltext.search(weighted, fields, wanted, scope.entries, reader.others)

        return proposed(find, partial(scope.own, reader), count, 1 if scope.entries is not None else scope.over_fetch)

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

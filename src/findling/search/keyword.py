"""Channel: BM25 over chunks (body, context) and over files (path). Proposes; does not order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from findling.search.analysis import QueryTerms
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
    entries: Sequence[int] | None = None,
) -> KeywordHits:
    """The best chunks and files by text. ``entries`` restricts to those."""
    weighted = list(query.terms.items())[:_MAX_TERMS]
    weighted += [
        (compound, COMPOUND_WEIGHT) for compound in query.compounds[:_MAX_TERMS] if compound not in query.terms
    ]
    weighted += list(_synonyms(query).items())[:_MAX_TERMS]
    chunks: dict[int, dict[int, float]] = {}
    text, others = reader.fulltext, reader.others
    for unit, score in text.search(weighted, CHUNK_FIELDS, chunk_limit, entries, others):
        chunks.setdefault(unit >> CHUNK_BITS, {})[unit & ((1 << CHUNK_BITS) - 1)] = score
    named = text.search(weighted, FILE_FIELDS, file_limit, entries, others)
    files = {unit >> CHUNK_BITS: score for unit, score in named}
    return KeywordHits(chunks, files)


def _synonyms(query: QueryTerms) -> dict[str, float]:
    found: dict[str, float] = {}
    for term, others in query.synonyms.items():
        for other in others:
            found[other] = max(found.get(other, 0.0), SYNONYM_WEIGHT * query.terms[term])
    return found

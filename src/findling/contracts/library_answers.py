"""The library family's answers: passages as objects, the sentences before them, and what is worth doing next. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from findling.contracts.parameters import MAX_REPEATED
from findling.contracts.places import clipped
from findling.engine.library.results import iso_date

if TYPE_CHECKING:
    from findling.engine.library.results import Passage
    from findling.engine.library.search import LibraryResult

PREVIEW_CHARS = 200
"""Of a chunk in its own line; the whole of it stands in the array."""

RELATED = 2
RELATED_AMONG = 5
"""Headings that are suggested as further questions, and among how many of the first results they are looked for."""

STEP_PLACES = 2
"""Decimals of a suggested minScore."""


def passage_facts(passage: Passage, *, score: bool, metadata: bool) -> dict[str, Any]:
    """The fields of a result, or without ``score`` of a chunk. ``headings`` also name the page or the like; what was
    fetched is ``untrusted``: whoever wrote it may want something of its readers."""
    facts: dict[str, Any] = {
        "id": passage.id,
        "filePath": passage.file_path,
        "chunkIndex": passage.chunk_index,
        "content": passage.content,
    }
    if score:
        facts["score"] = round(passage.score, 6)
    if metadata:
        facts["metadata"] = {
            "fileSize": passage.file_size,
            "lastModified": iso_date(passage.modified),
            "chunkOffset": passage.chunk_offset,
            "tokenCount": passage.token_count,
        }
    facts["collection"] = passage.collection
    if passage.headings:
        facts["headings"] = list(passage.headings)
    if passage.fetched:
        facts["untrusted"] = True
    return facts


def result_facts(result: LibraryResult, options: Mapping[str, Any]) -> dict[str, Any]:
    """The whole result object; ``options`` are those that were in effect."""
    meta: dict[str, Any] = {"below_threshold_count": result.below_threshold}
    if result.best_similarity is not None:
        meta = {"best_similarity": round(result.best_similarity, 6), **meta}
    facts: dict[str, Any] = {
        "query": clipped(result.query, MAX_REPEATED),
        "results": [
            passage_facts(passage, score=True, metadata=options["includeMetadata"]) for passage in result.passages
        ],
        "totalResults": result.total,
        "searchTime": round(result.took_ms),
        "options": dict(options),
        "nextSteps": next_steps(result),
        "meta": meta,
        "usedSemantic": result.used_semantic,
    }
    if not result.total_exact:
        facts["totalIsLowerBound"] = True
    if not result.complete:
        facts["result_completeness"] = "partial"
    if result.notes:
        facts["notes"] = list(result.notes)
    return facts


def found_line(count: int, result: LibraryResult, active_jobs: int) -> str:
    """The first block of a search; ``count`` results are in the answer."""
    query = clipped(result.query, MAX_REPEATED)
    line = f'Found {count} results for "{query}" in {round(result.took_ms)}ms'
    return f"{line} (index incomplete: {active_jobs} active jobs)" if active_jobs else line


def chunk_line(passage: Passage) -> str:
    text = clipped(passage.content, PREVIEW_CHARS)
    return f"Chunk {passage.chunk_index} ({passage.token_count} tokens): {text}"


# --- what is worth doing next ----------------------------------------------------------------------------------


def next_steps(result: LibraryResult) -> list[str]:
    """Sentences, the likeliest first; each follows from this answer."""
    steps = _after_results(result) if result.passages else _after_nothing(result)
    if not result.complete:
        steps.append("Ask again in a moment: not everything is indexed yet.")
    return steps


def _after_results(result: LibraryResult) -> list[str]:
    first = result.passages[0]
    steps = [
        f"Read around the best result: get_file_details with filePath {first.file_path} and chunkIndex "
        f"{first.chunk_index}."
    ]
    steps += [f'Search for "{heading}".' for heading in _related(result.query, result.passages[:RELATED_AMONG])]
    more = result.total - len(result.passages)
    if more > 0:
        steps.append(f"{more} more passages match: raise options.limit, or ask more narrowly.")
    if not result.used_semantic:
        steps.append("Only words were compared: other words for the same thing may find more.")
    return steps


def _after_nothing(result: LibraryResult) -> list[str]:
    if not result.sources:
        return ["Nothing is in the library: `findling library add PATH` puts a folder or a file into it."]
    if result.best_similarity and result.below_threshold:
        lower = int(result.best_similarity * 10**STEP_PLACES) / 10**STEP_PLACES
        return [
            f"The nearest of {result.below_threshold} passages has a similarity of {result.best_similarity:.2f}: "
            f"set options.minScore to {lower} or less to see it.",
            "Ask in other words, closer to those of the documents.",
        ]
    return ["Ask in other words, or for the exact words with search_keyword or search_docs."]


def _related(query: str, passages: Sequence[Passage]) -> list[str]:
    """Headings of the first results that the query does not name."""
    asked = query.casefold()
    found: dict[str, None] = {}
    for passage in passages:
        heading = " ".join(passage.headings[-1].split()) if passage.headings else ""
        if heading and heading.casefold() not in asked and len(heading) <= PREVIEW_CHARS:
            found.setdefault(heading)
    return list(found)[:RELATED]

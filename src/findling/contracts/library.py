"""The library family apart from fetching and its jobs (`library_jobs`): passages of all that was added,
and of the roots' documents.

Texts of answers are the contract of these tools; finding is the library's.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from findling.contracts import budget
from findling.contracts.files import MAX_REPEATED, clipped
from findling.contracts.index_state import absent_fields
from findling.contracts.model import Arguments, Call, Refusal, Reply
from findling.contracts.untrusted import UntrustedText, marked
from findling.contracts.workspaces import WAIT_S, Root
from findling.engine.library.results import Passage, iso_date
from findling.model.errors import Cancelled, ConfigError, FindlingError, InvalidInput, RootError
from findling.model.secrets import masked_lines
from findling.outbound import events

if TYPE_CHECKING:
    from findling.engine.library.search import LibraryResult
    from findling.engine.library.sources import Source


MIN_SCORE = 0.7

NO_THRESHOLD = "Where usedSemantic is false, the score tells how well the words match, and minScore was not applied."

SUMMARY_CHARS = 200
"""Kept for the line before the results; its query comes on top."""


# --- search_documents ------------------------------------------------------------------------------------------


def search_documents(call: Call, given: Arguments) -> Reply:
    roots, problems = _roots(call)
    options = _options(call, given.get("options", {}))
    library = call.workspace.library
    result = library.search(
        given["query"],
        limit=options["limit"],
        min_score=options["minScore"],
        also=list(roots.values()),
        wait_s=WAIT_S,
        progress=call.progress,
    )
    for root, source in roots.items() if result.unfinished else ():
        if source.left:
            root.finish_in_background()
    facts = result_facts(result, options, problems)
    if notes := [*call.notes, *facts.get("notes", ())]:
        facts["notes"] = notes
    facts = budget.cut_to(marked(facts), "results", given.get("max_tokens"))
    events.semantic_search(
        query=given["query"],
        result_count=len(facts["results"]),
        latency_ms=result.took_ms,
        used_semantic=result.used_semantic,
    )
    line = found_line(len(facts["results"]), result, len(library.jobs.active()))
    return Reply(None, text=[line, UntrustedText(budget.dumps(facts))])


def _options(call: Call, options: Arguments) -> dict[str, Any]:
    """The options in effect: ``minScore`` overrides ``similarityThreshold``, and the smaller limit counts."""
    limit: int = options.get("limit", 10)
    least = options.get("minScore", options.get("similarityThreshold"))
    return {
        "limit": min(limit, options.get("maxResults", limit)),
        "minScore": _configured_threshold(call) if least is None else least,
        "includeMetadata": options.get("includeMetadata", True),
    }


def _configured_threshold(call: Call) -> float:
    try:
        return float(call.workspace.config.semantic.similarity_threshold)
    except (ConfigError, RootError):
        return MIN_SCORE  # the root says so itself where it is asked for


def _roots(call: Call) -> tuple[dict[Root, Source], list[str]]:
    """The roots that have documents to search, with these, and why another has none."""
    found: dict[Root, Source] = {}
    problems = [f"{name}: {error}" for name, error in call.workspace.absent.items()]
    for root in call.workspace.roots:
        try:
            found[root] = root.documents
        except (Cancelled, InvalidInput):  # of the call, not of a root
            raise
        except FindlingError as error:
            problems.append(str(error))
    return found, problems


# --- get_file_details ------------------------------------------------------------------------------------------


def get_file_details(call: Call, given: Arguments) -> Reply:
    path: str = given["filePath"]
    if not os.path.isabs(path):  # noqa: PTH117
        raise Refusal("invalid_input", f"Parameter `filePath` must be an absolute path, not {path}.")
    roots, _ = _roots(call)
    found = call.workspace.library.file(
        path, chunk_index=given.get("chunkIndex"), context=given["contextSize"], also=list(roots.values())
    )
    shown = _fitting(found.passages, budget.allowed_chars(given.get("max_tokens")) - SUMMARY_CHARS - len(path))
    line = f"Found {len(shown)} chunks for {found.file_path}"
    if len(shown) < len(found.passages):
        following = found.passages[len(shown)].chunk_index
        line += f" (cut: {len(found.passages)} were asked for; go on with chunkIndex {following})"
    chunks = [passage_facts(passage, score=False, metadata=True) for passage in shown]
    return Reply(None, text=list(map(UntrustedText, [line, *map(chunk_line, shown), budget.dumps(chunks)])))


def _fitting(passages: Sequence[Passage], chars: int) -> Sequence[Passage]:
    """As many whole chunks from the start as fit with their lines, at least one."""
    for count, passage in enumerate(passages):
        chars -= len(chunk_line(passage)) + len(budget.dumps(passage_facts(passage, score=False, metadata=True)))
        if chars < 0:
            return passages[: max(1, count)]
    return passages


# --- deleting --------------------------------------------------------------------------------------------------


def remove_file(call: Call, given: Arguments) -> Reply:
    path: str = given["filePath"]
    if not os.path.isabs(path):  # noqa: PTH117
        raise Refusal("invalid_input", f"Parameter `filePath` must be an absolute path, not {path}.")
    for root in call.workspace.roots:
        try:
            folder = root.engine.root
        except RootError:
            continue  # a root that is not there holds no file
        if os.path.realpath(path).startswith(os.path.join(os.path.realpath(folder), "")):  # noqa: PTH118
            raise Refusal("not_found", f"{path} lies in the root {folder}; nothing of a root is removed.")
    removed = call.workspace.library.remove_file(path)
    return Reply(None, text=[budget.dumps({"deletedChunks": removed.chunks, "filePath": path})])


def flush_all(call: Call, given: Arguments) -> Reply:
    if not given["confirm"]:
        raise Refusal("invalid_input", "Parameter `confirm` must be true: every collection would be forgotten.")
    removed = call.workspace.library.flush()
    return Reply(None, text=[budget.dumps({"deletedFiles": removed.files, "deletedChunks": removed.chunks})])


# --- answers: passages, the sentences before them, what is worth doing next ------------------------------------------


PREVIEW_CHARS = 200
"""Of a chunk in its own line; the whole of it stands in the array."""

RELATED = 2
RELATED_AMONG = 5
"""Headings that are suggested as further questions, and among how many of the first results they are looked for."""

STEP_PLACES = 2
"""Decimals of a suggested minScore."""


def passage_facts(passage: Passage, *, score: bool, metadata: bool, by_meaning: bool = False) -> dict[str, Any]:
    """The fields of a result, or without ``score`` of a chunk. ``headings`` also name the page or the like; ``masked``
    has the lines of the content in which a secret is masked. What was fetched is ``untrusted``: whoever wrote it may
    want something of its readers. What only words found among what was searched ``by_meaning`` says so."""
    facts: dict[str, Any] = {
        "id": passage.id,
        "filePath": passage.file_path,
        "chunkIndex": passage.chunk_index,
        "content": passage.content,
    }
    if score:
        facts["score"] = round(passage.score, 6)
    if passage.by_words and by_meaning:
        facts["usedSemantic"] = False
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
    if masked := masked_lines(passage.content):
        facts["masked"] = [list(mask) for mask in masked]
    if passage.translations:
        facts["translations"] = passage.translations
    if passage.fetched:
        facts["untrusted"] = True
    return facts


def result_facts(result: LibraryResult, options: Mapping[str, Any], problems: Sequence[str] = ()) -> dict[str, Any]:
    """The whole result object; ``options`` are those that were in effect, ``problems`` why a root is not in it."""
    meta: dict[str, Any] = {"below_threshold_count": result.below_threshold}
    if result.best_similarity is not None:
        meta = {"best_similarity": round(result.best_similarity, 6), **meta}
    facts: dict[str, Any] = {
        "query": clipped(result.query, MAX_REPEATED),
        "results": [
            passage_facts(passage, score=True, metadata=options["includeMetadata"], by_meaning=result.used_semantic)
            for passage in result.passages
        ],
        "totalResults": result.total,
        "searchTime": round(result.took_ms),
        "options": dict(options),
        "nextSteps": next_steps(result),
        "meta": meta,
        "usedSemantic": result.used_semantic,
    }
    facts |= absent_fields(result.absent)
    if not result.total_exact:
        facts["totalIsLowerBound"] = True
    if problems or not result.complete:
        facts["result_completeness"] = "partial"
    no_threshold = [NO_THRESHOLD] if any(passage.by_words for passage in result.passages) else []
    if notes := [*problems, *result.notes, *no_threshold]:
        facts["notes"] = notes
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
    steps[:0] = [each.words if each.words.endswith("?") else f"{each.words}." for each in result.absent]
    if result.unfinished:
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

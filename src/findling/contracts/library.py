"""The library family apart from fetching (`library_fetch`) and jobs (`library_jobs`): passages of all that was added,
and of the roots' documents.

Texts of answers are the contract of these tools; finding is the library's.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from findling.contracts import budget, parameters
from findling.contracts.library_answers import chunk_line, found_line, passage_facts, result_facts
from findling.contracts.library_fetch import FETCH_TOOLS
from findling.contracts.library_jobs import JOB_TOOLS
from findling.contracts.model import Arguments, Call, Refusal, Reply, Tool, object_schema
from findling.contracts.workspace import WAIT_S, Workspace
from findling.model.errors import Cancelled, ConfigError, FindlingError, InvalidInput, RootError

if TYPE_CHECKING:
    from findling.engine.library.results import Passage
    from findling.engine.library.sources import Source

MIN_SCORE = 0.7
MOST_RESULTS = 1000
MOST_AROUND = 10

SUMMARY_CHARS = 200
"""Kept for the line before the results; its query comes on top."""


# --- search_documents ------------------------------------------------------------------------------------------


def _search_documents(call: Call, given: Arguments) -> Reply:
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
    for root, source in () if result.complete else roots.items():
        if source.left:
            root.finish_in_background(root.ref_name)
    facts = result_facts(result, options)
    if notes := [*call.notes, *problems, *facts.get("notes", ())]:
        facts["notes"] = notes
    room = budget.allowed_chars(given.get("max_tokens")) - SUMMARY_CHARS - len(facts["query"])
    facts = budget.cut_to(facts, "results", max(0, room))
    line = found_line(len(facts["results"]), result, len(library.jobs.active()))
    return Reply(None, text=[line, budget.dumps(facts)])


def _options(call: Call, options: Arguments) -> dict[str, Any]:
    """The options in effect: ``minScore`` before ``similarityThreshold``, the smaller of the two counts."""
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


def _roots(call: Call) -> tuple[dict[Workspace, Source], list[str]]:
    """The roots that have documents to search, with these, and why another has none."""
    found: dict[Workspace, Source] = {}
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


def _get_file_details(call: Call, given: Arguments) -> Reply:
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
    return Reply(None, text=[line, *map(chunk_line, shown), budget.dumps(chunks)])


def _fitting(passages: Sequence[Passage], chars: int) -> Sequence[Passage]:
    """As many whole chunks from the start as fit with their lines, at least one."""
    for count, passage in enumerate(passages):
        chars -= len(chunk_line(passage)) + len(budget.dumps(passage_facts(passage, score=False, metadata=True)))
        if chars < 0:
            return passages[: max(1, count)]
    return passages


# --- deleting --------------------------------------------------------------------------------------------------


def _remove_file(call: Call, given: Arguments) -> Reply:
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


def _flush_all(call: Call, given: Arguments) -> Reply:
    if not given["confirm"]:
        raise Refusal("invalid_input", "Parameter `confirm` must be true: every collection would be forgotten.")
    removed = call.workspace.library.flush()
    return Reply(None, text=[budget.dumps({"deletedFiles": removed.files, "deletedChunks": removed.chunks})])


# --- the rows --------------------------------------------------------------------------------------------------

_FILE = parameters.path("The absolute path of an indexed file, as search_documents gives it.")

TOOLS: tuple[Tool, ...] = (
    Tool(
        "search_documents",
        "library",
        "Find passages by meaning in the library (folders and files that were added with `findling library add`) and "
        "in the documents of the project. Returns each passage with its file, score and collection, and what to try "
        "next.",
        object_schema(
            {
                "query": parameters.query("A question or a topic, in words."),
                "options": {
                    **object_schema(
                        {
                            "limit": parameters.count(10, MOST_RESULTS),
                            "minScore": parameters.share("The least similarity of a result; 0.7 by default."),
                            "includeMetadata": parameters.flag(
                                "Whether each result has its file's size and date, offset and tokens.", default=True
                            ),
                            "maxResults": {
                                "type": "integer",
                                "minimum": 1,
                                "maximum": MOST_RESULTS,
                                "description": "As limit; the smaller of the two counts.",
                            },
                            "similarityThreshold": parameters.share("As minScore, which comes before it."),
                        }
                    ),
                    "description": "How many results, and how similar.",
                },
                "ref": parameters.REF,
                "max_tokens": parameters.TOKENS,
            },
            ("query",),
        ),
        _search_documents,
        first=True,
        text_only=True,
    ),
    Tool(
        "get_file_details",
        "library",
        "Read the chunks of an indexed file: all of them, or one with its neighbours. Use it after search_documents.",
        object_schema(
            {
                "filePath": _FILE,
                "chunkIndex": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": 1_000_000,
                    "description": "Only this chunk (0 is the first) and those around it.",
                },
                "contextSize": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": MOST_AROUND,
                    "default": 3,
                    "description": "How many chunks on each side of chunkIndex; 0 is that chunk only.",
                },
                "max_tokens": parameters.TOKENS,
            },
            ("filePath",),
        ),
        _get_file_details,
        text_only=True,
    ),
    *FETCH_TOOLS,
    *JOB_TOOLS,
    Tool(
        "remove_file",
        "library",
        "Take a file out of the library for good. The file itself stays; nothing of a project is removed.",
        object_schema({"filePath": _FILE}, ("filePath",)),
        _remove_file,
        writes=True,
        text_only=True,
        destructive=True,
    ),
    Tool(
        "flush_all",
        "library",
        "Empty the library: forget every collection, delete its index and what was fetched. Your own files stay.",
        object_schema({"confirm": parameters.flag("Must be true.")}),
        _flush_all,
        writes=True,
        text_only=True,
        destructive=True,
    ),
)

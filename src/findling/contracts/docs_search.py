"""The docs family by meaning: passages near a question, documents like one, and vectors made again on demand.

Field names, messages and states are the contract of these tools; finding is `findling.search`'s.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from findling.contracts import index_state
from findling.contracts.docs_scope import ask, report, scope_of, semantic_state
from findling.contracts.files import MAX_REPEATED, clipped, inside
from findling.contracts.index_state import COMPLETENESS, absent_fields
from findling.contracts.model import Arguments, Call, Listing, Refusal, Reply
from findling.contracts.workspaces import Root, Workspace, split
from findling.model.languages import language_of
from findling.model.plurals import count
from findling.outbound import events
from findling.search.documents import DocumentAnswer, DocumentQuery, FoundDocuments, MatchingDocument, NearPassage
from findling.search.query import split_target

NOTHING = FoundDocuments()
"""What documents answer where nothing is indexed."""

PREVIEW_CHARS = 200
"""How many characters of a similar document are shown."""

NO_THRESHOLD = "Where used_semantic is false, similarity tells how well the words match, and no threshold was applied."


# --- by meaning --------------------------------------------------------------------------------------------------


def semantic_search(call: Call, given: Arguments) -> Reply:
    started = time.monotonic()
    state = semantic_state(call.workspace, given["query"])
    report("semantic_search", state)
    if state.state == "disabled":
        return Reply(state.error, is_error=True)
    threshold = given.get("threshold", call.workspace.config.semantic.similarity_threshold)
    query = DocumentQuery(
        given["query"],
        "passages",
        scope_of(call.workspace, given),
        given["limit"],
        call.offset,
        by_meaning=state.state == "ready",
        threshold=threshold,
    )
    answer = ask(call, query)
    latency = events.since(started)
    call.workspace.note_latency(latency)
    facts = semantic_facts(answer, latency)
    count_shown, used = len(facts["results"]), facts["meta"]["used_semantic"]
    events.semantic_search(query=query.text, result_count=count_shown, latency_ms=latency, used_semantic=used)
    found = answer.found or NOTHING
    listing = Listing(len(found.passages), found.made_from)
    if state.state != "ready":
        return Reply(state.error | facts, "results", is_error=not facts["results"], listing=listing)
    return Reply(facts, "results", listing=listing)


def semantic_facts(answer: DocumentAnswer, latency_ms: float) -> dict[str, Any]:
    """What semantic_search says of an answer."""
    found = answer.found or NOTHING
    shown = found.passages[answer.query.offset : answer.query.end]
    meta: dict[str, Any] = {"query_latency_ms": latency_ms, "used_semantic": found.used_semantic}
    if found.used_semantic:
        meta |= {"best_similarity": round(found.best, 6), "below_threshold_count": found.below}
    facts: dict[str, Any] = {
        "results": [_passage_facts(passage, by_meaning=found.used_semantic) for passage in shown],
        "meta": meta | index_state.of_documents(answer),
    }
    facts |= absent_fields(answer.absent)
    if any(passage.by_words for passage in shown):
        facts["notes"] = [NO_THRESHOLD]
    return facts


def _passage_facts(passage: NearPassage, *, by_meaning: bool) -> dict[str, Any]:
    """A result; what only words found among what was searched ``by_meaning`` says so."""
    facts: dict[str, Any] = {
        "docPath": passage.path,
        "chunkText": passage.text,
        "similarity": round(passage.similarity, 6),
    }
    if by_meaning and passage.by_words:
        facts["used_semantic"] = False
    if passage.header:
        facts["header"] = passage.header
    facts["lineRange"] = [passage.start_line, passage.end_line]
    if passage.changed:
        facts["stale"] = True
    return facts | ({"translations": passage.translations} if passage.translations else {})


# --- what is like a document -------------------------------------------------------------------------------------


def find_similar(call: Call, given: Arguments) -> Reply:
    """The handler. Raises `Refusal`, and what is wrong with the root of the path that is given."""
    target: str = given["docPath"]
    name, own = split(call.workspace.folders, target) if call.workspace.several else ("", target)
    root = _root(call.workspace, name, own, target)
    state = semantic_state(call.workspace.alone(root))
    report("find_similar", state)
    if state.state == "disabled":
        return Reply(state.error, is_error=True)
    if state.state != "ready":
        return Reply({**state.error, "similar": []}, is_error=True)
    path, line = split_target(own)
    try:
        files = [_joined(name, inside(root.engine.root, each)[0]) for each in (own, path)]
    except Refusal as refusal:
        raise Refusal(refusal.code, f"path is outside of the root: {target}") from refusal

    query = DocumentQuery(
        "",
        "like",
        limit=given["limit"],
        offset=call.offset,
        by_meaning=True,
        code_too=language_of(path).kind != "docs",
        files=(files[1], files[0]),
        line=line,
    )
    answer = ask(call, query)
    if (problem := call.workspace.problems.get(name)) is not None:
        raise problem
    if answer.found is None or not answer.found.is_known:
        is_partial = COMPLETENESS in index_state.of_documents(answer)
        yet = " yet: not all files are indexed. Ask again in a moment." if is_partial else "."
        raise Refusal("not_found", f"{_joined(name, path)} is not in the index{yet}")
    return Reply(similar_facts(answer), "similar", listing=Listing(len(answer.found.like), answer.found.made_from))


def similar_facts(answer: DocumentAnswer) -> dict[str, Any]:
    """What find_similar says of an answer."""
    like = answer.found.like if answer.found else ()
    similar = [
        {"docPath": item.path, "similarity": round(item.similarity, 6), "preview": item.text[:PREVIEW_CHARS]}
        for item in like[answer.query.offset : answer.query.end]
    ]
    return {"similar": similar, **index_state.of_documents(answer)}


def _root(workspace: Workspace, name: str, own: str, target: str) -> Root:
    """The root that has a path, ``name`` and ``own`` being its parts. Raises `Refusal`, and what the root lacks."""
    if name and not own:
        raise Refusal("invalid_input", f"path is a directory: {target}")
    if name in workspace.absent:
        raise workspace.absent[name]
    return workspace.by_name[name]


def _joined(name: str, path: str) -> str:
    return f"{name}/{path}" if name else path


# --- vectors made again ----------------------------------------------------------------------------------------


class _Made(Struct, frozen=True):
    """How many vectors of a root were made. ``error``: why not all could be made, {} where all were; ``is_off``:
    vectors are switched off."""

    error: dict[str, Any] = {}
    is_off: bool = False
    total: int = 0
    indexed: int = 0
    skipped: int = 0
    mismatch: bool = False
    errors: Sequence[dict[str, Any]] = ()


def reindex_vectors(call: Call, given: Arguments) -> Reply:
    """Make vectors of documents again, wait until all is done, and tell what became of each. Raises `InvalidInput` and
    `IndexBusy`."""
    started = time.monotonic()
    workspace = call.workspace
    every = workspace.each(lambda root: _reindexed(call, workspace.alone(root), root, given))
    made = list(every.values())
    error = {} if any(not each.error for each in made) else made[0].error
    if all(each.is_off for each in made):
        return Reply(error, is_error=True)
    errors = [each for of_root in made for each in of_root.errors]
    facts: dict[str, Any] = {
        **error,
        "indexed": sum(each.indexed for each in made),
        "skipped": sum(each.skipped for each in made),
        "model_mismatch": any(each.mismatch for each in made),
        "errors": errors,
        "latency_ms": events.since(started),
    }
    if total := sum(each.total for each in made):
        events.semantic_reindex(
            total_docs=total,
            indexed=facts["indexed"],
            skipped=facts["skipped"],
            errors=len(errors),
            latency_ms=facts["latency_ms"],
        )
    if notes := [f"{name}: {each.error['message']}" for name, each in every.items() if each.error not in ({}, error)]:
        facts["notes"] = notes
    return Reply(facts, "errors", is_error=bool(error))


def _reindexed(call: Call, workspace: Workspace, root: Root, given: Arguments) -> _Made:
    """The same of one root, which is alone in the workspace."""
    engine = root.engine
    scope = scope_of(workspace, given)
    state = semantic_state(workspace)
    report("reindex_vectors", state)
    if state.state in ("disabled", "unavailable"):
        return _Made(state.error, is_off=state.state == "disabled")
    mismatch = state.state == "mismatch"
    with engine.job(call.progress) as job:
        taken_in = engine.index(embed=False, progress=job)
        paths = engine.document_paths(scope)
        done = engine.reembed(paths, anew=given["force"] or mismatch, progress=job)
    not_read = [*taken_in.failed, *(file for file in taken_in.skipped if file.reason == "unreadable")]
    unread = [file for file in not_read if scope.allows_path(file.path) and language_of(file.path).kind == "docs"]
    errors = [
        {"path": _joined(root.name, file.path), "error": file.detail or file.reason}
        for file in sorted((*done.failed, *unread), key=lambda file: file.path)
    ]
    error: dict[str, Any] = {}
    if done.problem is not None:  # it went away on the way; what was made stays
        gone = semantic_state(workspace)
        error = gone.error if gone.code else {"error": done.problem.code, "message": str(done.problem)}
    return _Made(error, False, len(paths), len(done.embedded), len(done.skipped), mismatch, errors)


# --- by their words ----------------------------------------------------------------------------------------------

SHORT = {"path": "p", "title": "t", "excerpt": "ex", "matchCount": "mc", "lineNumber": "ln"}
"""The names of an answer's fields, long and short; short ones save a reader tokens."""


def search_docs(call: Call, given: Arguments) -> Reply:
    """The handler. Raises `Refusal` and `InvalidInput`."""
    if not (given["searchContent"] or given["searchFrontmatter"]):
        raise Refusal("invalid_input", "One of `searchContent` and `searchFrontmatter` must be true.")
    query = DocumentQuery(
        given["query"],
        "matches",
        scope_of(call.workspace, given),
        given["limit"],
        call.offset,
        case_sensitive=given["caseSensitive"],
        content=given["searchContent"],
        head=given["searchFrontmatter"],
    )
    answer = ask(call, query)
    found = answer.found or NOTHING
    facts = match_facts(answer, pretty=given["prettyPrint"])
    return Reply(facts, "results", listing=Listing(len(found.matches), found.made_from))


def match_facts(answer: DocumentAnswer, *, pretty: bool) -> dict[str, Any]:
    """What search_docs says of an answer."""
    query, found = answer.query, answer.found or NOTHING
    shown = [_match_facts(item, pretty=pretty) for item in found.matches[query.offset : query.end]]
    facts: dict[str, Any] = {"results": shown, **absent_fields(answer.absent), **index_state.of_documents(answer)}
    if not shown:
        facts["message"] = f'No results found for query: "{clipped(query.text, MAX_REPEATED)}"'
    if not found.unread and len(found.matches) > len(shown):
        facts["total"] = len(found.matches)
    elif found.unread and len(found.matches) <= query.end:
        unread = count(found.unread, "document")
        more = f"{unread} with words of the query were not read; ask with more words, or narrow down."
        facts["notes"] = [*facts.get("notes", ()), more]
    return facts


def _match_facts(item: MatchingDocument, *, pretty: bool) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "path": item.path,
        "title": item.title,
        "excerpt": item.matches.excerpt,
        "matchCount": item.matches.count,
        "lineNumber": item.matches.line,
    }
    facts = facts if pretty else {SHORT[name]: value for name, value in facts.items()}
    return facts | ({"translations": item.translations} if item.translations else {})

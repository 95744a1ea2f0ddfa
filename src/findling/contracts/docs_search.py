"""The docs family by meaning: passages near a question, documents like one, and vectors made again on demand.

Field names, messages and states are the contract of these tools; finding is `findling.search`'s.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from findling.contracts.docs_scope import ask, report, scope_of, semantic_state
from findling.contracts.files import MAX_REPEATED, clipped, inside
from findling.contracts.index_state import COMPLETENESS, absent_fields
from findling.contracts.model import Arguments, Call, Listing, Refusal, Reply
from findling.contracts.workspaces import Root, Workspace, split
from findling.model.languages import language_of
from findling.model.plurals import count
from findling.model.reading import ChunkRow
from findling.model.rows import FileRow
from findling.outbound import events
from findling.search import passages, siblings, text_matches
from findling.search.analysis import analyse
from findling.search.passages import DocumentScope, Near, Passage, by_text, prefix_order, similar_documents
from findling.search.query import split_target
from findling.search.searcher import chunks_at
from findling.search.text_matches import Matches

if TYPE_CHECKING:
    from findling.engine.documents import DocumentText, OpenDocuments


PREVIEW_CHARS = 200
"""Of a similar document's beginning."""

NO_THRESHOLD = "Where used_semantic is false, similarity tells how well the words match, and no threshold was applied."

_CELL = re.compile(r"cell \d+")
"""How a notebook's cells are called where documents have headings."""


# --- by meaning --------------------------------------------------------------------------------------------------


def semantic_search(call: Call, given: Arguments) -> Reply:
    started = time.monotonic()
    state = semantic_state(call.workspace, given["query"])
    report("semantic_search", state)
    if state.state == "disabled":
        return Reply(state.error, is_error=True)
    query: str = given["query"]
    ready = state.state == "ready"
    threshold = given.get("threshold", call.workspace.config.semantic.similarity_threshold)

    start, end = call.offset, call.offset + given["limit"]
    most = end + 1  # one more than is shown tells whether there is another page

    def look(opened: OpenDocuments) -> tuple[list[dict[str, Any]], dict[str, Any], str]:
        if opened.channel is None:  # not possible, or no vectors yet: words then
            by_words, folded = _by_words(opened, query, opened.files, most)
            return _results(opened, query, None, by_words, folded), {"used_semantic": False}, _made_from(opened)
        calibration = opened.channel.calibration
        near = passages.near(
            opened.reader,
            opened.channel,
            query,
            opened.files,
            limit=most,
            least=calibration.least_cosine(threshold),
        )
        found = [(passage, calibration.similarity(passage.cosine)) for passage in near.passages]
        others, folded = _by_words(opened, query, opened.by_words, most - len(found))
        meta = _nearness(near, calibration.similarity(near.best))
        return _results(opened, query, found, others, {**folded, **near.translations}), meta, _made_from(opened)

    scope = scope_of(call.workspace, given)
    answered, state_of_index, absent = ask(call, given, scope, look, query=query, by_meaning=ready)
    every, meta, made_from = answered or ([], {"used_semantic": False}, "")
    results = every[start:end]
    latency = events.since(started)
    call.workspace.note_latency(latency)
    used: bool = meta["used_semantic"]
    events.semantic_search(query=query, result_count=len(results), latency_ms=latency, used_semantic=used)
    facts: dict[str, Any] = {"results": results, "meta": {"query_latency_ms": latency, **meta, **state_of_index}}
    facts |= absent_fields(absent)
    if results and not (used and all(result.get("used_semantic", True) for result in results)):
        facts["notes"] = [NO_THRESHOLD]
    listing = Listing(len(every), made_from)
    if not ready:
        return Reply(state.error | facts, "results", is_error=not results, listing=listing)
    return Reply(facts, "results", listing=listing)


def _made_from(opened: OpenDocuments) -> str:
    """What an order by meaning depends on: the index, and which collections had vectors for it."""
    return f"{opened.generation} {opened.channel is not None} {sorted({file.collection for file in opened.by_words})}"


def _nearness(near: Near, best: float) -> dict[str, Any]:
    return {
        "used_semantic": True,
        "best_similarity": round(best, 6),
        "below_threshold_count": near.below,
    }


def _by_words(
    opened: OpenDocuments, query: str, files: Sequence[FileRow], most: int
) -> tuple[list[Passage], Mapping[int, Sequence[FileRow]]]:
    """Passages that have the query's words, those of a page in one language, and the translations of each page."""
    if not files or not most:
        return [], {}
    asked = analyse(query)
    found = passages.by_text(opened.reader, asked, files, limit=max(most, passages.TEXT_CANDIDATES))
    folded = siblings.in_one_language((passage.file for passage in found), english=asked.is_english)
    return [passage for passage in found if passage.file.entry_id not in folded.gone][:most], folded.translations


def _results(
    opened: OpenDocuments,
    query: str,
    near: Sequence[tuple[Passage, float]] | None,
    by_words: Sequence[Passage],
    translations: Mapping[int, Sequence[FileRow]],
) -> list[dict[str, Any]]:
    """The passages that are ``near``, each with its similarity, then those found by words alone, each with its lexical
    score and marked. ``near`` is None where nothing was asked by meaning. A page's first passage has the number of its
    ``translations``."""
    results: list[dict[str, Any]] = []
    folded = dict(translations)
    least = 1.0
    found = [*(near or ()), *((passage, None) for passage in by_words)]
    for rank, (passage, similarity) in enumerate(found, 1 - len(near or ())):
        document = opened.texts.of(passage.file)
        if document is None:
            continue  # it is gone since it was indexed
        chunk = passage.chunk
        text = document.chunk(chunk)
        if similarity is None:
            similarity = passages.words_score(query, rank, passage.file.path, text)
        least = min(least, similarity)
        result: dict[str, Any] = {"docPath": passage.file.path, "chunkText": text, "similarity": round(least, 6)}
        if near is not None and rank > 0:
            result["used_semantic"] = False
        if header := header_of(chunk):
            result["header"] = header
        result["lineRange"] = [chunk.start_line, chunk.end_line]
        if document.changed:
            result["stale"] = True
        if others := folded.pop(passage.file.entry_id, ()):
            result["translations"] = len(others)
        results.append(result)
    return results


def header_of(chunk: ChunkRow) -> str:
    """The nearest heading, '' without one."""
    return next((title for title in reversed(chunk.headings) if not _CELL.fullmatch(title)), "")


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

    end = call.offset + given["limit"]

    def look(opened: OpenDocuments) -> tuple[list[dict[str, Any]], str] | None:
        found = next(
            ((file, at) for each, at in zip(files, (None, line), strict=True) if (file := opened.reader.file_at(each))),
            None,
        )
        if found is None:
            return None
        source, at = found
        compared = opened.files if source.kind == "docs" else opened.reader.listing()
        if opened.channel is None:
            return [], _made_from(opened)
        chunks = (0, None) if at is None else chunks_at(opened.reader, source, at)
        near = similar_documents(opened.reader, opened.channel, source, compared, chunks=chunks, limit=end + 1)
        similar = [
            {
                "docPath": item.file.path,
                "similarity": round(item.similarity, 6),
                "preview": document.text[:PREVIEW_CHARS],
            }
            for item in near
            if (document := opened.texts.of(item.file)) is not None
        ]
        return similar, _made_from(opened)

    code_too = language_of(path).kind != "docs"
    answered, state_of_index, _ = ask(
        call, given, DocumentScope(), look, files=files[::-1], line=line, by_meaning=True, code_too=code_too
    )
    if (problem := call.workspace.problems.get(name)) is not None:
        raise problem
    if answered is None:
        yet = " yet: not all files are indexed. Ask again in a moment." if COMPLETENESS in state_of_index else "."
        raise Refusal("not_found", f"{_joined(name, path)} is not in the index{yet}")
    similar, made_from = answered
    facts = {"similar": similar[call.offset : end], **state_of_index}
    return Reply(facts, "similar", listing=Listing(len(similar), made_from))


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
    """What became of the vectors of a root. ``error``: why not all could be made, empty where nothing hindered it;
    ``is_off``: none are wanted."""

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


# --- by their words, in an order that no vector has a say in ---------------------------------------------------------


PROPOSED_CHUNKS = 2_000
"""Chunks with the query's words that are looked at; their documents are read in the order of their best chunk."""

READ_MOST = 300
"""Documents that are read for one answer: many may hold the words and not the phrase that is wanted."""

READ_LEAST, READ_PER_RESULT = 60, 3
"""Documents that are read at a time, or so many for each result: those further down hold less of the words."""

SHORT = {"path": "p", "title": "t", "excerpt": "ex", "matchCount": "mc", "lineNumber": "ln"}
"""The names of an answer's fields, long and short; short ones save a reader tokens."""


class Document(Struct, frozen=True):
    """A document with matches. ``text``: the share of the best chunk's BM25. ``translations``: how many stand under
    it."""

    file: FileRow
    title: str
    matches: Matches
    text: float
    translations: int = 0

    @property
    def order(self) -> tuple[object, ...]:
        """Documents with all words come first, then the better text score; ties by path, its numbers as numbers."""
        return self.matches.share < 1.0, -round(self.text * self.matches.share, 9), prefix_order(self.file.path)


def search_docs(call: Call, given: Arguments) -> Reply:
    """The handler. Raises `Refusal` and `InvalidInput`."""
    query: str = given["query"]
    content, head = given["searchContent"], given["searchFrontmatter"]
    if not (content or head):
        raise Refusal("invalid_input", "One of `searchContent` and `searchFrontmatter` must be true.")
    wanted = text_matches.items(query, case_sensitive=given["caseSensitive"])

    loose = content and not given["caseSensitive"] and not any(item.required for item in wanted)
    at_once = max(READ_LEAST, READ_PER_RESULT * given["limit"]) if loose else READ_MOST
    start, end = call.offset, call.offset + given["limit"]

    def look(opened: OpenDocuments) -> tuple[list[Document], int, str]:
        """The documents with matches, how many more may have some, and what their order is made from. They are put in
        order as they are read, so many at a time: what a later page makes us read changes no earlier page."""
        found: list[Document] = []
        scores = _candidates(opened, query)
        by_entry = {file.entry_id: file for file in opened.files}
        folded = siblings.in_one_language(map(by_entry.__getitem__, scores), english=analyse(query).is_english)
        candidates = [entry for entry in scores if entry not in folded.gone]
        read = 0
        while read < min(len(candidates), READ_MOST) and (read == 0 or len(found) <= end):
            some = candidates[read : min(read + at_once, READ_MOST)]
            read += len(some)
            matching = []
            for entry in some:
                pages = []
                for file in (by_entry[entry], *folded.translations.get(entry, ())):
                    document = opened.texts.of(file)
                    matches = _matches(document, wanted, content=content, head=head) if document else None
                    if document is not None and matches is not None:
                        pages.append(Document(file, _title(opened, document, file), matches, scores[file.entry_id]))
                if pages:  # of a page in several languages the one that holds most of what is wanted
                    first = max(pages, key=lambda page: page.matches.share)
                    matching.append(replace(first, translations=len(pages) - 1))
            found += sorted(matching, key=lambda item: item.order)
        return found, len(candidates) - read, opened.generation

    answered, state_of_index, absent = ask(
        call, given, scope_of(call.workspace, given), look, query=query, by_meaning=False
    )
    found, unread, made_from = answered or ([], 0, "")
    shown = [_match_facts(item, pretty=given["prettyPrint"]) for item in found[start:end]]
    facts: dict[str, Any] = {"results": shown, **absent_fields(absent), **state_of_index}
    if not shown:
        facts["message"] = f'No results found for query: "{clipped(query, MAX_REPEATED)}"'
    if not unread and len(found) > len(shown):
        facts["total"] = len(found)
    elif unread and len(found) <= end:
        said = (
            f"{count(unread, 'document')} with words of the query were not read; ask with more words, or narrow down."
        )
        facts["notes"] = [*facts.get("notes", ()), said]
    return Reply(facts, "results", listing=Listing(len(found), made_from))


def _candidates(opened: OpenDocuments, query: str) -> dict[int, float]:
    """The entries of documents to read, the likeliest first, with the text score of each. What consists of no words at
    all is looked for in any."""
    best: dict[int, float] = {}
    terms = analyse(query)
    for passage in by_text(opened.reader, terms, opened.files, limit=PROPOSED_CHUNKS):
        best.setdefault(passage.file.entry_id, passage.text)
    return best if terms.terms else {file.entry_id: 0.0 for file in opened.files}


def _matches(document: DocumentText, wanted: list[text_matches.Item], *, content: bool, head: bool) -> Matches | None:
    end = document.head.end
    start = 0 if head else end
    stop = len(document.text) if content else end
    return text_matches.find(wanted, document.text, start, stop)


def _title(opened: OpenDocuments, document: DocumentText, file: FileRow) -> str:
    """Its own word for it, else its first heading, else its file's name."""
    headings = (chunk.headings[0] for chunk in opened.reader.chunks(file.blob_id) if chunk.headings)
    name = PurePosixPath(file.path)
    return document.head.title or next(headings, "") or name.stem or name.name


def _match_facts(item: Document, *, pretty: bool) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "path": item.file.path,
        "title": item.title,
        "excerpt": item.matches.excerpt,
        "matchCount": item.matches.count,
        "lineNumber": item.matches.line,
    }
    facts = facts if pretty else {SHORT[name]: value for name, value in facts.items()}
    return facts | ({"translations": item.translations} if item.translations else {})

"""The fields about the index in answers of the docs and repo families. They are left out where the index has every file
as it is now. Otherwise they say how fresh it is, that the answer is partial, and how much was not searched. Answers of
the repo family also count the files that are never indexed.

The names are those of the code family's metadata, which always has these fields. Knows no tool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from findling.model.types import UNREAD, Absent, Answer, Coverage, Freshness, GrepResult, SymbolResult

if TYPE_CHECKING:
    from findling.search.documents import DocumentAnswer

FRESHNESS, COMPLETENESS, NOT_SEARCHED = "freshness_status", "result_completeness", "not_searched"

State = Mapping[str, Any]
"""Some of these fields; empty for an index that is fresh and complete."""


def state(freshness: Freshness, *, partial: bool, **not_searched: Any) -> dict[str, Any]:
    """The fields for an answer. ``not_searched``: as `not_searched` has them; zeros are left out."""
    fields: dict[str, Any] = {}
    if freshness != "fresh":
        fields[FRESHNESS] = freshness
    if partial:
        fields[COMPLETENESS] = "partial"
    if left := {what: count for what, count in not_searched.items() if count}:
        fields[NOT_SEARCHED] = left
    return fields


def not_searched(coverage: Coverage, *, vectors_wanted: bool) -> dict[str, Any]:
    """What was not searched, or only in part: how many files are left out and why, how many are not indexed yet, how
    many were only scanned for the question's words, how many chunks have no vector yet, and which collections are not
    there."""
    left: dict[str, Any] = {}
    if coverage.skipped:
        left["skipped"] = dict(coverage.skipped)
    if coverage.pending_files:
        left["pending_files"] = coverage.pending_files
    if coverage.only_scanned:
        left["files_only_scanned"] = coverage.only_scanned
    if vectors_wanted and coverage.missing_vectors:
        left["chunks_without_vector"] = coverage.missing_vectors
    if coverage.missing:
        left["collections"] = list(coverage.missing)
    return left


def of_answer(answer: Answer) -> dict[str, Any]:
    """The fields of an answer that has all that the engine found."""
    seen, vectors_wanted = answer.result, _vectors_wanted(answer)
    coverage = seen.coverage
    partial = bool(
        coverage.is_partial
        or answer.meaning.by_words
        or seen.freshness == "syncing"
        or (vectors_wanted and coverage.missing_vectors)
    )
    return state(seen.freshness, partial=partial, **not_searched(coverage, vectors_wanted=vectors_wanted))


def notes(answer: Answer) -> dict[str, Any]:
    """Notes on filters that were taken from the question, on roots that could not be searched by meaning although
    others were, and on filters that no file passes."""
    noted = [*answer.query.notes, *answer.meaning.by_words, *([answer.no_file] if answer.no_file else ())]
    return {"notes": noted} if noted else {}


def is_unfinished(answer: Answer) -> bool:
    """Whether indexing would make the answer better."""
    seen = answer.result
    lacks_vectors = _vectors_wanted(answer) and seen.coverage.missing_vectors > 0
    return seen.freshness != "fresh" or seen.coverage.unfinished or lacks_vectors


def _vectors_wanted(answer: Answer) -> bool:
    return answer.meaning.problem is None


def of_documents(answer: DocumentAnswer) -> dict[str, Any]:
    """The fields of an answer from documents: partial where some of the root's files or of the documents' vectors are
    not there yet, with `DocumentQuery.code_too` those of all files; and the answer's notes."""
    lacks_vectors = "files_without_vectors" if answer.query.code_too else "documents_without_vectors"
    left = {
        "pending_files": answer.pending,
        "files_only_scanned": answer.only_scanned,
        lacks_vectors: answer.without_vectors,
    }
    is_partial = answer.found is None or answer.freshness != "fresh" or any(left.values())
    return state(answer.freshness, partial=is_partial, **left) | ({"notes": [*answer.notes]} if answer.notes else {})


def of_names(seen: SymbolResult) -> dict[str, Any]:
    """The fields of an answer from names."""
    partial = seen.completeness == "partial" or seen.freshness == "syncing"
    return state(seen.freshness, partial=partial, **not_searched(seen.coverage, vectors_wanted=False))


def of_text(seen: GrepResult) -> dict[str, Any]:
    """The fields of an answer from text, which is of the files as they are and names those that are left out."""
    return state("fresh", partial=not seen.counts_exact or any(file.reason in UNREAD for file in seen.skipped))


def absent_fields(absent: Sequence[Absent]) -> dict[str, Any]:
    """``absent``: what does not occur, and in how many files it was looked for; ``nearest``: what is like it and where
    that stands. Nothing where nothing is known to be absent."""
    if not absent:
        return {}
    return {
        "absent": [{"kind": each.kind, "text": each.text, "files_searched": each.files} for each in absent],
        "nearest": [
            {"name": near.text, "path": near.path, "line": near.line} for each in absent for near in each.nearest
        ],
    }

"""search_docs: full text over documents, in an order that no vector has a say in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from findling.contracts.docs_scope import ask, scope_of
from findling.contracts.files import MAX_REPEATED, clipped
from findling.contracts.model import Arguments, Call, Refusal, Reply
from findling.search import text_matches
from findling.search.analysis import analyse
from findling.search.documents import prefix_order
from findling.search.passages import by_text
from findling.search.text_matches import Matches

if TYPE_CHECKING:
    from findling.engine.documents import DocumentText, OpenDocuments
    from findling.model.rows import FileRow

PROPOSED_CHUNKS = 2_000
"""Chunks with the query's words that are looked at; their documents are read in the order of their best chunk."""

READ_MOST = 300
"""Documents that are read for one answer, where many may hold the words and not the phrase that is wanted."""

READ_LEAST, READ_PER_RESULT = 60, 3
"""Else so many, or so many for each result: documents further down hold less of the words."""

SHORT = {"path": "p", "title": "t", "excerpt": "ex", "matchCount": "mc", "lineNumber": "ln"}
"""The names of an answer's fields, long and short; short ones save a reader tokens."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document with matches. ``text``: the share of the best chunk's BM25."""

    file: FileRow
    title: str
    matches: Matches
    text: float

    @property
    def order(self) -> tuple[object, ...]:
        """All words before some, then by text; equals as plans and agents are numbered."""
        return self.matches.share < 1.0, -round(self.text * self.matches.share, 9), prefix_order(self.file.path)


def search_docs(call: Call, given: Arguments) -> Reply:
    """The handler. Raises `Refusal` and `InvalidInput`."""
    query: str = given["query"]
    content, head = given["searchContent"], given["searchFrontmatter"]
    if not (content or head):
        raise Refusal("invalid_input", "One of `searchContent` and `searchFrontmatter` must be true.")
    wanted = text_matches.items(query, case_sensitive=given["caseSensitive"])

    loose = content and not given["caseSensitive"] and not any(item.required for item in wanted)
    most = max(READ_LEAST, READ_PER_RESULT * given["limit"]) if loose else READ_MOST

    def look(opened: OpenDocuments) -> tuple[list[Document], bool]:
        found = []
        candidates = _candidates(opened, query)
        for file, text in candidates[:most]:
            document = opened.texts.of(file)
            matches = _matches(document, wanted, content=content, head=head) if document else None
            if document is not None and matches is not None:
                found.append(Document(file, _title(opened, document, file), matches, text))
        return sorted(found, key=lambda item: item.order), len(candidates) <= most

    answered, state_of_index = ask(call, given, scope_of(call, given), look, query=query, by_meaning=False)
    found, all_read = answered or ([], True)
    shown = [_facts(item, pretty=given["prettyPrint"]) for item in found[: given["limit"]]]
    facts: dict[str, Any] = {"results": shown}
    if not shown:
        facts["message"] = f'No results found for query: "{clipped(query, MAX_REPEATED)}"'
    elif all_read and len(found) > len(shown):
        facts["total"] = len(found)
    return Reply({**facts, **state_of_index}, "results")


def _candidates(opened: OpenDocuments, query: str) -> list[tuple[FileRow, float]]:
    """Documents to read, the likeliest first. What consists of no words at all is looked for in any."""
    best: dict[int, tuple[FileRow, float]] = {}
    terms = analyse(query)
    for passage in by_text(opened.reader, terms, opened.files, limit=PROPOSED_CHUNKS):
        best.setdefault(passage.file.entry_id, (passage.file, passage.text))
    if not terms.terms:
        best = {file.entry_id: (file, 0.0) for file in opened.files}
    return list(best.values())


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


def _facts(item: Document, *, pretty: bool) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "path": item.file.path,
        "title": item.title,
        "excerpt": item.matches.excerpt,
        "matchCount": item.matches.count,
        "lineNumber": item.matches.line,
    }
    return facts if pretty else {SHORT[name]: value for name, value in facts.items()}

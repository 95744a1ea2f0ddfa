"""What documents answer: passages near a question, excerpts that answer it, documents with its words, documents like
one. From an index and the documents' texts to plain values, which the tools write down.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from findling import embedding
from findling.model.errors import EmbedderUnavailable
from findling.model.reading import ChunkRow
from findling.model.rows import FileRow
from findling.model.term_rows import among
from findling.model.tokenizer import path_terms, term_key, terms
from findling.search import passages, siblings, text_matches
from findling.search.analysis import QueryTerms, analyse
from findling.search.extract import Excerpt, Paragraph, PassageText, extract
from findling.search.passages import DocumentScope, FrontMatter, Passage, by_text, prefix_order, similar_documents
from findling.search.ranking.ranker import term_weights
from findling.search.ranking.signals import STANDS_IN
from findling.search.readings import Nearness, Said, nothing_near
from findling.search.searcher import chunks_at
from findling.search.text_matches import Matches
from findling.store.protocols import Index

if TYPE_CHECKING:
    from findling.model.types import Absent, Freshness
    from findling.search.semantic import SemanticChannel


# --- what is asked, and of what --------------------------------------------------------------------------------------


class DocumentQuery(Struct, frozen=True):
    """A question to documents.

    ``want``: ``passages`` near the text, ``excerpts`` that answer it, ``matches`` of its words in documents, or what is
    ``like`` a file: the one at the first of ``files`` (with ``line``: like that place of it), unless the second of them
    is a file, whose name only looks as if a line followed. Found are ``limit`` results after the first ``offset``, and
    one more where there are more; of ``excerpts`` as many as answer. ``by_meaning``: vectors are compared;
    ``code_too``: of code as well. ``threshold``: the least similarity of ``passages``. ``matches``: with ``content`` in
    the text, with ``head`` in the front matter.
    """

    text: str
    want: Literal["passages", "excerpts", "matches", "like"]
    scope: DocumentScope = DocumentScope()
    limit: int = 10
    offset: int = 0
    by_meaning: bool = False
    code_too: bool = False
    threshold: float = 0.0
    case_sensitive: bool = False
    content: bool = True
    head: bool = True
    files: tuple[str, ...] = ()
    line: int | None = None

    @property
    def end(self) -> int:
        """How many results are found, those before the offset included."""
        return self.offset + self.limit


class NearPassage(Struct, frozen=True):
    """A passage with its text. ``similarity``: by the model, or ``by_words`` how well the words match. ``header``: the
    nearest heading, '' without one; ``changed``: the document is no longer what was indexed."""

    path: str
    text: str
    similarity: float
    start_line: int
    end_line: int
    header: str = ""
    changed: bool = False
    by_words: bool = False
    translations: int = 0


class MatchingDocument(Struct, frozen=True):
    """A document with matches. ``text``: the share of the best chunk's BM25. ``translations``: how many stand under
    it."""

    path: str
    title: str
    matches: Matches
    text: float
    translations: int = 0

    @property
    def order(self) -> tuple[object, ...]:
        """Documents with all words come first, then the better text score; ties by path, its numbers as numbers."""
        return self.matches.share < 1.0, -round(self.text * self.matches.share, 9), prefix_order(self.path)


class LikeDocument(Struct, frozen=True):
    """A document that is like another. ``text``: all of it."""

    path: str
    similarity: float
    text: str


class FoundDocuments(Struct, frozen=True):
    """What documents answer, before the engine adds the state of its index.

    One of the lists is filled, by `DocumentQuery.want`. ``used_semantic``: vectors were compared, then ``best`` is the
    greatest similarity and ``below`` counts the passages under the threshold. ``unread``: documents with words of the
    query that were not read. ``confidence`` in [0, 1]: that the documents have an answer at all, and the excerpts are
    from where it is. ``is_known``: False where none of `DocumentQuery.files` is in the index. ``made_from`` names what
    the order depends on.
    """

    passages: tuple[NearPassage, ...] = ()
    excerpts: tuple[Excerpt, ...] = ()
    matches: tuple[MatchingDocument, ...] = ()
    like: tuple[LikeDocument, ...] = ()
    used_semantic: bool = False
    best: float = 0.0
    below: int = 0
    unread: int = 0
    confidence: float = 0.0
    is_known: bool = True
    made_from: str = ""


class DocumentAnswer(Struct, frozen=True):
    """``found``: None where nothing is indexed. ``absent``: what of the query occurs in no file. ``pending``: files
    that were not searched because they are not indexed yet; ``only_scanned``: those that were scanned for the
    question's words; ``without_vectors``: documents, with `DocumentQuery.code_too` files, that lack vectors they should
    have. ``notes``: that no document lies where the scope says."""

    query: DocumentQuery
    found: FoundDocuments | None
    freshness: Freshness
    absent: tuple[Absent, ...] = ()
    pending: int = 0
    only_scanned: int = 0
    without_vectors: int = 0
    notes: tuple[str, ...] = ()


class Document(Protocol):
    """One document's text. ``changed``: it is no longer what was indexed: chunks may begin and end elsewhere."""

    text: str
    changed: bool

    @property
    def head(self) -> FrontMatter: ...

    def chunk(self, chunk: ChunkRow) -> str:
        """A chunk's text, as people read it."""

    def paragraphs(self, chunk: ChunkRow) -> Iterator[Paragraph]:
        """The whole paragraphs that a chunk touches, headings left out."""


class Texts(Protocol):
    """The texts of documents."""

    def of(self, file: FileRow) -> Document | None:
        """None when it is gone, or cannot be read as text any more."""


class OpenDocuments(Struct, frozen=True):
    """Documents within one snapshot of the index, of one collection or several.

    ``channel`` is None where nothing can be asked by meaning. ``by_words``: documents of collections that cannot be
    asked by meaning, while others can. ``generation`` changes with the index.
    """

    reader: Index
    files: list[FileRow]
    texts: Texts
    channel: SemanticChannel | None
    by_words: list[FileRow]
    generation: str

    @property
    def made_from(self) -> str:
        """What an order by meaning depends on: the index, and which collections had vectors for it."""
        collections = sorted({file.collection for file in self.by_words})
        return f"{self.generation} {self.channel is not None} {collections}"


def find(opened: OpenDocuments, query: DocumentQuery) -> FoundDocuments:
    """What the documents answer. Raises `EmbedderUnavailable`."""
    return _FINDS[query.want](opened, query)


# --- passages near a question ----------------------------------------------------------------------------------------

_CELL = re.compile(r"cell \d+")
"""How a notebook's cells are called where documents have headings."""


def _passages(opened: OpenDocuments, query: DocumentQuery) -> FoundDocuments:
    """By meaning; what can only be asked by words comes after, or is all where nothing can be asked by meaning."""
    most = query.end + 1
    if opened.channel is None:  # not possible, or no vectors yet
        by_words, folded = _by_words(opened, query.text, opened.files, most)
        return FoundDocuments(_read(opened, query.text, [], by_words, folded), made_from=opened.made_from)
    calibration = opened.channel.calibration
    near = passages.near(
        opened.reader,
        opened.channel,
        query.text,
        opened.files,
        limit=most,
        least=calibration.least_cosine(query.threshold),
    )
    found = [(passage, calibration.similarity(passage.cosine)) for passage in near.passages]
    others, folded = _by_words(opened, query.text, opened.by_words, most - len(found))
    return FoundDocuments(
        _read(opened, query.text, found, others, {**folded, **near.translations}),
        used_semantic=True,
        best=calibration.similarity(near.best),
        below=near.below,
        made_from=opened.made_from,
    )


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


def _read(
    opened: OpenDocuments,
    query: str,
    near: Sequence[tuple[Passage, float]],
    by_words: Sequence[Passage],
    translations: Mapping[int, Sequence[FileRow]],
) -> tuple[NearPassage, ...]:
    """The passages that are ``near``, each with its similarity, then those found by words alone, each with its lexical
    score. A page's first passage has the number of its ``translations``. Documents that are gone are left out."""
    read: list[NearPassage] = []
    folded = dict(translations)
    least = 1.0
    for rank, (passage, similarity) in enumerate([*near, *((passage, None) for passage in by_words)], 1 - len(near)):
        document = opened.texts.of(passage.file)
        if document is None:
            continue
        chunk = passage.chunk
        text = document.chunk(chunk)
        score = passages.words_score(query, rank, passage.file.path, text) if similarity is None else similarity
        least = min(least, score)
        read.append(
            NearPassage(
                passage.file.path,
                text,
                least,
                chunk.start_line,
                chunk.end_line,
                header=header_of(chunk),
                changed=document.changed,
                by_words=similarity is None,
                translations=len(folded.pop(passage.file.entry_id, ())),
            )
        )
    return tuple(read)


def header_of(chunk: ChunkRow) -> str:
    """The nearest heading, '' without one."""
    return next((title for title in reversed(chunk.headings) if not _CELL.fullmatch(title)), "")


# --- documents like one ----------------------------------------------------------------------------------------------


def _like(opened: OpenDocuments, query: DocumentQuery) -> FoundDocuments:
    places = [*((path, None) for path in query.files[1:]), (query.files[0], query.line)]
    known = ((file, line) for path, line in places if (file := opened.reader.file_at(path)) is not None)
    source, line = next(known, (None, None))
    if source is None:
        return FoundDocuments(is_known=False)
    if opened.channel is None:
        return FoundDocuments(made_from=opened.made_from)
    compared = opened.files if source.kind == "docs" else opened.reader.listing()
    chunks = (0, None) if line is None else chunks_at(opened.reader, source, line)
    near = similar_documents(opened.reader, opened.channel, source, compared, chunks=chunks, limit=query.end + 1)
    read = ((item, opened.texts.of(item.file)) for item in near)
    like = tuple(LikeDocument(item.file.path, item.similarity, text.text) for item, text in read if text is not None)
    return FoundDocuments(like=like, used_semantic=True, made_from=opened.made_from)


# --- documents with the words, in an order that no vector has a say in -----------------------------------------------

PROPOSED_CHUNKS = 2_000
"""Chunks with the query's words that are looked at; their documents are read in the order of their best chunk."""

READ_MOST = 300
"""Documents that are read for one answer: many may hold the words and not the phrase that is wanted."""

READ_LEAST, READ_PER_RESULT = 60, 3
"""Documents that are read at a time, or so many for each result: those further down hold less of the words."""


def _matches(opened: OpenDocuments, query: DocumentQuery) -> FoundDocuments:
    """They are put in order as they are read, so many at a time: what a later page makes us read changes no earlier
    page."""
    wanted = text_matches.items(query.text, case_sensitive=query.case_sensitive)
    loose = query.content and not query.case_sensitive and not any(item.required for item in wanted)
    at_once = max(READ_LEAST, READ_PER_RESULT * query.limit) if loose else READ_MOST
    found: list[MatchingDocument] = []
    scores = _candidates(opened, query.text)
    by_entry = {file.entry_id: file for file in opened.files}
    folded = siblings.in_one_language(map(by_entry.__getitem__, scores), english=analyse(query.text).is_english)
    candidates = [entry for entry in scores if entry not in folded.gone]
    read = 0
    while read < min(len(candidates), READ_MOST) and (read == 0 or len(found) <= query.end):
        some = candidates[read : min(read + at_once, READ_MOST)]
        read += len(some)
        matching = []
        for entry in some:
            pages = []
            for file in (by_entry[entry], *folded.translations.get(entry, ())):
                document = opened.texts.of(file)
                matches = _in_document(document, wanted, query) if document else None
                if document is not None and matches is not None:
                    title = _title(opened, document, file)
                    pages.append(MatchingDocument(file.path, title, matches, scores[file.entry_id]))
            if pages:  # of a page in several languages the one that holds most of what is wanted
                first = max(pages, key=lambda page: page.matches.share)
                matching.append(replace(first, translations=len(pages) - 1))
        found += sorted(matching, key=lambda item: item.order)
    return FoundDocuments(matches=tuple(found), unread=len(candidates) - read, made_from=opened.generation)


def _candidates(opened: OpenDocuments, query: str) -> dict[int, float]:
    """The entries of documents to read, the likeliest first, with the text score of each. What consists of no words at
    all is looked for in any."""
    best: dict[int, float] = {}
    terms = analyse(query)
    for passage in by_text(opened.reader, terms, opened.files, limit=PROPOSED_CHUNKS):
        best.setdefault(passage.file.entry_id, passage.text)
    return best if terms.terms else {file.entry_id: 0.0 for file in opened.files}


def _in_document(document: Document, wanted: list[text_matches.Item], query: DocumentQuery) -> Matches | None:
    end = document.head.end
    return text_matches.find(
        wanted, document.text, 0 if query.head else end, len(document.text) if query.content else end
    )


def _title(opened: OpenDocuments, document: Document, file: FileRow) -> str:
    """Its own word for it, else its first heading, else its file's name."""
    headings = (chunk.headings[0] for chunk in opened.reader.chunks(file.blob_id) if chunk.headings)
    name = PurePosixPath(file.path)
    return document.head.title or next(headings, "") or name.stem or name.name


# --- excerpts that answer --------------------------------------------------------------------------------------------

PASSAGES = 6
"""Passages that an answer is taken from: the right one is among the first five in two of three cases."""

PROPOSED = 4 * PASSAGES
"""Of these, passages of a page's translations give way to those of the page."""


def _excerpts(opened: OpenDocuments, query: DocumentQuery) -> FoundDocuments:
    asked = analyse(query.text)
    channel = opened.channel
    weights = term_weights(opened.reader, asked)
    said = Said(asked, weights, nothing_near if channel is None else _nearness()).shares
    proposed = passages.blended(opened.reader, asked, opened.files, channel, said, limit=PROPOSED)
    folded = siblings.in_one_language((passage.file for passage in proposed), english=asked.is_english)
    found = [passage for passage in proposed if passage.file.entry_id not in folded.gone][:PASSAGES]
    texts = []
    for passage in found:
        document = opened.texts.of(passage.file)
        if document is not None:
            paragraphs = tuple(document.paragraphs(passage.chunk))
            texts.append(PassageText(passage.file.path, passage.chunk.headings, passage.value, paragraphs))
    closeness = None
    if channel is not None and channel.is_quick:
        vector = channel.encode(query.text)

        def closeness(pieces: Sequence[str]) -> list[float]:
            return channel.closeness(vector, pieces)

    excerpts = extract(weights, said, texts, closeness)
    confidence = _confidence(opened, asked, weights, found, answered_by(found, excerpts)) if excerpts else 0.0
    return FoundDocuments(
        excerpts=tuple(excerpts), confidence=confidence, used_semantic=channel is not None, made_from=opened.made_from
    )


def _nearness() -> Nearness:
    """By the bundled model's words, whichever model the documents have."""
    try:
        return partial(embedding.nearness, embedding.shared())
    except EmbedderUnavailable:
        return nothing_near


def answered_by(found: Sequence[Passage], excerpts: Sequence[Excerpt]) -> Passage:
    """The best passage that the answer says something of; where none can be told, the best."""
    return next((passage for passage in found if any(_is_from(excerpt, passage) for excerpt in excerpts)), found[0])


def _is_from(excerpt: Excerpt, passage: Passage) -> bool:
    chunk = passage.chunk
    return (
        excerpt.path == passage.file.path
        and excerpt.start_line <= chunk.end_line
        and chunk.start_line <= excerpt.end_line
    )


TYPICAL_COSINE = 0.54
"""Of a right answer's best passage; stands in where there are no vectors."""

BIAS = -4.8
COVERAGE = 3.5
KNOWN = 3.0
COSINE = 3.0
"""Fitted on judged questions, and rounded. Those of `findling.search.answer` are of what whole files hold."""

FEW = 5
"""Among so many documents a word that none has says half as much as among very many."""


def _confidence(
    opened: OpenDocuments, asked: QueryTerms, weights: dict[str, float], found: list[Passage], best: Passage
) -> float:
    """By how much of the question the answer's best passage holds, how much any document does, and how near the nearest
    passage is.

    Of judged questions that the documents do not answer it flags four in five, of answers from the right place one in
    seven.
    """
    document = opened.texts.of(best.file)
    held = {*terms(" ".join(best.chunk.headings)), *path_terms(best.file.path)}
    held.update(terms(document.chunk(best.chunk)) if document else ())
    said = sum(weight * _share_held(term, held, asked) for term, weight in weights.items())
    total = sum(weights.values()) or 1.0
    known = _known(opened, asked, weights)
    unknown = 1.0 - sum(weight * _share_held(term, known, asked) for term, weight in weights.items()) / total
    unknown *= len(opened.files) / (len(opened.files) + FEW)
    cosine = max(passage.cosine for passage in found) if opened.channel is not None else TYPICAL_COSINE
    return 1.0 / (1.0 + math.exp(-(BIAS + COVERAGE * said / total + KNOWN * (1.0 - unknown) + COSINE * cosine)))


_ROWS_AT_ONCE = 100
"""Documents whose terms are looked at before it is seen whether any is still wanted: most are in the first ones."""


def _known(opened: OpenDocuments, asked: QueryTerms, weights: dict[str, float]) -> set[str]:
    """Those of the question's terms and their synonyms that any of the documents has."""
    by_key = {term_key(term): term for term in weights}
    by_key.update({term_key(other): other for term in weights for other in asked.synonyms.get(term, ())})
    anywhere = opened.reader.term_counts(by_key)
    wanted = {key for key in by_key if anywhere.get(key)}
    found: set[int] = set()
    for first in range(0, len(opened.files), _ROWS_AT_ONCE):
        if found >= wanted:
            break
        some = opened.files[first : first + _ROWS_AT_ONCE]
        for row in opened.reader.terms(file.blob_id for file in some).values():
            found |= among(row, wanted)
    return {by_key[key] for key in found}


def _share_held(term: str, held: Set[str], asked: QueryTerms) -> float:
    """1 for a term that is there, less for one that only a synonym stands for."""
    if term in held:
        return 1.0
    return 0.0 if held.isdisjoint(asked.synonyms.get(term, ())) else STANDS_IN


_FINDS: Mapping[str, Callable[[OpenDocuments, DocumentQuery], FoundDocuments]] = {
    "passages": _passages,
    "excerpts": _excerpts,
    "matches": _matches,
    "like": _like,
}

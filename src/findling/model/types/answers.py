"""The vocabulary of searches and their answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct

from findling.model.plurals import count
from findling.model.types.basic import (
    LOW_CONFIDENCE,
    UNREAD,
    Channel,
    Completeness,
    Freshness,
    Group,
    IndexingStatus,
    Intent,
    KindFilter,
    Mode,
    SkippedFile,
)

# --- a query travelling ---------------------------------------------------------------------------------------


class Gate(Struct, frozen=True):
    """When a question is asked by meaning too, and how much that weighs; decided once text has been ranked.

    ``caps``: intent -> the most that meaning may weigh against text, 0.5 for the engine's own sum; an intent without
    one is not asked by meaning. ``sure``: the confidence of text (`Answer.text_confidence`) from which on it answers
    alone. ``closed``: meaning is never asked, even where all of this allows it.
    """

    caps: Mapping[Intent, float]
    sure: float = 1.0
    closed: bool = False


class Query(Struct, frozen=True):
    """What is asked. ``limit`` counts places in the answer (1 to 1000).

    ``wait_s`` bounds the indexing that may go before (0: none, None: all of it); with ``look_at_all`` every file is
    looked at before, however many there are. ``gate``: when meaning is asked, for modes that ask it; always without
    one. ``weights``: the answer is not a ranking of files but each channel's own places, their scores mixed by these
    weights; of one channel alone its list. ``place_lines``: so many lines of each place come with the answer.
    ``notes``: what there is to say of the question, that its text was cut.

    ``bodies``: which places are shown in full, ``auto`` for the first where the order is sure and three where it is
    open. They and the places are bounded by ``max_tokens``; where nothing is said the places are not, unless there are
    ``usual_chars`` for all. ``place_chars``: what is written of a place beside its path and its name. ``screen_lines``:
    so many lines are seen at once.
    """

    text: str
    limit: int = 10
    mode: Mode = "auto"
    language: str | None = None
    path_globs: tuple[str, ...] = ()
    kind: KindFilter | None = None
    max_tokens: int | None = None
    explain: bool = False
    wait_s: float | None = 1.5
    look_at_all: bool = False
    gate: Gate | None = None
    weights: Mapping[Channel, float] | None = None
    place_lines: int = 0
    notes: tuple[str, ...] = ()
    bodies: Literal["auto", "all", "none"] = "auto"
    usual_chars: int | None = None
    place_chars: int = 0
    screen_lines: int | None = None


class Span(Struct, frozen=True):
    """A further good place inside a hit's file."""

    start_line: int
    end_line: int
    symbol: str = ""


class Reason(Struct, frozen=True):
    """One signal's share of a hit's ranking value; the shares of a hit add up to its ``rank_value``."""

    signal: str
    value: float
    words: str


class Hit(Struct, frozen=True):
    """One place of the answer: the best range of a file, with the file's other good places folded under it.

    ``rank_value`` is the sum that orders the list; ``score`` is its exposed form in [0, 1]. ``snippet`` holds
    the lines from ``snippet_start_line`` on, verbatim; ``matches`` are (line, first column, end column)
    of query words in it (0-based columns, end exclusive). ``body``: of a place that is shown in full its lines with
    their numbers, of a longer one the parts that answer. ``sources`` names the channels that found it; ``parts`` those
    of a pasted text that led there, with what they found: title, prose, trace, names, message. ``group``: docs for a
    document, code for everything else. ``translations`` and ``copies`` are the paths of files that stand under this one
    because they are it in other languages, and older, built or vendored copies of it.
    """

    path: str
    start_line: int
    end_line: int
    score: float
    rank_value: float
    kind: str
    language: str
    name: str = ""
    qualified_name: str = ""
    signature: str = ""
    snippet: str = ""
    snippet_start_line: int = 0
    matches: tuple[tuple[int, int, int], ...] = ()
    body: str = ""
    sources: tuple[Channel, ...] = ()
    others: tuple[Span, ...] = ()
    reasons: tuple[Reason, ...] = ()
    stale: bool = False
    parts: tuple[str, ...] = ()
    group: Group = "code"
    translations: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()


class Coverage(Struct, frozen=True):
    """What the answer was searched in: files, chunks, how many of them have vectors, and what was left out.

    ``complete``: the whole root was indexed once. ``pending_files`` are known not to be indexed yet.
    ``vectors_wanted``: False where searching by meaning is off or no embedder works, so that no vector is missing.
    ``scanned`` files were gone through for the question's words where there is no whole index yet; the likeliest were
    read.
    """

    files: int = 0
    chunks: int = 0
    embedded_chunks: int = 0
    pending_files: int = 0
    skipped: Mapping[str, int] = {}
    complete: bool = False
    vectors_wanted: bool = True
    scanned: int = 0

    @property
    def missing_vectors(self) -> int:
        """Chunks that should have a vector and have none."""
        return max(0, self.chunks - self.embedded_chunks) if self.vectors_wanted else 0

    @property
    def unfinished(self) -> bool:
        """Whether indexing would take in more files."""
        return self.pending_files > 0 or not self.complete

    @property
    def unread(self) -> int:
        """Files that should have been searched and could not be read: indexing once more would not help."""
        return sum(self.skipped.get(reason, 0) for reason in UNREAD)


class Near(Struct, frozen=True):
    """A name, a path or a line of text that is like one that does not occur, and where it stands."""

    text: str
    path: str
    line: int


class Absent(Struct, frozen=True):
    """Something asked for to the letter that none of the ``files`` searched has: not as a name, a path or a text.

    ``whole``: nothing else was asked. ``nearest``: the nearest there is, the first one first. ``meant``: what was asked
    for instead, the nearest where it is as good as the same; '' where nothing is.
    """

    kind: Literal["symbol", "path", "message", "text"]
    text: str
    files: int
    nearest: tuple[Near, ...] = ()
    meant: str = ""
    whole: bool = True

    @property
    def words(self) -> str:
        """The sentence that says so."""
        shown = self.text if len(self.text) <= _SHOWN_CHARS else f"{self.text[: _SHOWN_CHARS - 1]}…"
        said = f"{shown!r} does not occur in the {count(self.files, 'file')} searched"
        places = [f"{near.text} ({near.path}:{near.line})" for near in self.nearest]
        if self.meant:
            return f"{said}; did you mean {places[0]}?"
        return f"{said}; nearest: {', '.join(places)}" if places else said


_SHOWN_CHARS = 120
"""Of a text that does not occur, in a sentence about it."""


class SearchResult(Struct, frozen=True):
    """An answer: hits in order, and what it is worth.

    ``total`` counts distinct files that matched before the cut to ``limit``. ``confidence`` is in [0, 1];
    ``notes`` are sentences for people: what was cut, what was skipped, what a channel could not do. ``absent``: what of
    the question is known not to occur. Where that is all of it (`is_absent`), the hits are of what was meant instead,
    and there are none where nothing is near enough. ``groups``: where both code and documents may be meant, these two,
    the surer first; () where one is, or only one was found. ``hits`` are in one order all the same. ``further``: the
    hits beyond the usual length of an answer that has one (`Query.usual_chars`). ``lacking``: words of a subject of
    their own that the question has and the first file has not, the most specific first.
    """

    query: str
    hits: tuple[Hit, ...]
    total: int
    intent: Intent
    mode: Mode
    confidence: float
    freshness: Freshness
    completeness: Completeness
    coverage: Coverage
    took_ms: float
    notes: tuple[str, ...] = ()
    stale_reason: str = ""
    absent: tuple[Absent, ...] = ()
    further: tuple[Hit, ...] = ()
    groups: tuple[Group, ...] = ()
    lacking: tuple[str, ...] = ()

    def in_groups(self) -> Iterator[tuple[Group | None, tuple[Hit, ...]]]:
        """The hits by their groups, in the order of these; all of them under None where there are none."""
        if not self.groups:
            yield None, self.hits
        for group in self.groups:
            yield group, tuple(hit for hit in self.hits if hit.group == group)

    @property
    def is_absent(self) -> bool:
        """Whether all that was asked for is known not to occur."""
        return any(each.whole for each in self.absent)

    @property
    def nearest(self) -> tuple[Near, ...]:
        """What is nearest to what does not occur."""
        return tuple(near for each in self.absent for near in each.nearest)

    @property
    def low_confidence(self) -> bool:
        """Whether the answer probably is none."""
        return not self.hits or self.confidence < LOW_CONFIDENCE

    @property
    def unfinished(self) -> bool:
        """Whether the answer is partial and indexing would make it whole, or nearer to that."""
        return self.completeness == "partial" and (self.coverage.unfinished or self.coverage.missing_vectors > 0)


Skip = Literal[
    "intent", "ratio", "closed", "sure", "no_vectors", "nothing", "none", "down", "slow", "mismatch", "failed"
]
"""Why meaning had no part in an answer. Its gate: the intent has no cap, or one of 0; it is closed; text was sure. The
index: it has no vectors; nothing in it is near. The embedder: see `EmbedderProblem`, or it failed at this text."""


class EmbedderProblem(Struct, frozen=True):
    """What keeps an index from being asked by meaning: there is no embedder; the one that is meant does not answer, or
    too late; the index's vectors are another's. ``message`` is for people."""

    kind: Literal["none", "down", "slow", "mismatch"]
    message: str


class Meaning(Struct, frozen=True):
    """What became of the semantic side of a question.

    ``ran``: vectors were compared; ``skipped``: why that had no part in the answer. ``ratio``: what it weighed against
    text. ``problem`` and ``model_version`` tell of the embedder, where the question might have needed one; ``note``
    says the problem among the answer's notes; ``failure`` is what it said when it failed at this question.
    ``by_words``: a sentence on each collection that was asked by words alone while others were asked by meaning.
    """

    ran: bool = False
    skipped: Skip | None = None
    ratio: float = 0.0
    problem: EmbedderProblem | None = None
    model_version: str | None = None
    note: str = ""
    failure: str = ""
    by_words: tuple[str, ...] = ()


class Grounds(Struct, frozen=True):
    """What speaks for one hit. ``text``: the first lines of its place, as many as were asked for, '' where the file
    cannot be read.

    ``ranks``: its place, from 1, in the lists of those that found it: symbol (definitions of names that were asked
    for), keyword, file (by its name), semantic; ``rank_part`` is what the first three come to (`search.lexical`).
    ``signals`` are the ranking's, each in [0, 1]; ``cosine`` is the best of its file's, or of the passage itself, and
    ``similarity`` the same calibrated; None without vectors.
    """

    text: str = ""
    ranks: Mapping[str, int] = {}
    rank_part: float = 0.0
    signals: Mapping[str, float] = {}
    cosine: float | None = None
    similarity: float | None = None


class Confidence(Struct, frozen=True):
    """An estimate in [0, 1] that the first places answer the question, and the facts that it was made from.

    ``coverage``: the share of the query's rare words in the first file. ``cosine``: of the nearest passage of any file,
    None without vectors. ``named``: how far one of the first files is what was asked for by name or to the letter.
    ``phrase``: how far neighbouring words of the query stand together in one place. ``lacking``: as in `SearchResult`.
    ``absent``: whether a name, path or quotation of the question does not occur.
    """

    value: float = 0.0
    coverage: float = 0.0
    cosine: float | None = None
    named: float = 0.0
    phrase: float = 0.0
    lacking: tuple[str, ...] = ()
    absent: bool = False


class Answer(Struct, frozen=True):
    """All that is known of what was asked: `Engine.search`'s result, and what any contract says beside it.

    ``grounds`` has one entry for each of the result's hits, in order. ``ran``: the channels that were asked.
    ``text_confidence``: how sure text was where the query has a gate. ``intent_hint``: how to ask better.
    ``no_file``: that no file passes the question's filters, and what is nearest to them; '' where one does.
    ``timings_ms``: what bringing the index up to date and searching took.
    """

    query: Query
    result: SearchResult
    grounds: tuple[Grounds, ...]
    intent_confidence: float
    intent_hint: str | None = None
    ran: frozenset[Channel] = frozenset()
    meaning: Meaning = Meaning()
    confidence: Confidence = Confidence()
    text_confidence: float = 0.0
    no_file: str = ""
    timings_ms: Mapping[str, float] = {}

    @property
    def absent(self) -> tuple[Absent, ...]:
        """What of the question is known not to occur."""
        return self.result.absent

    @property
    def nearest(self) -> tuple[Near, ...]:
        """What is nearest to that."""
        return self.result.nearest

    @property
    def places(self) -> Iterator[tuple[Hit, Grounds]]:
        """Each hit with what speaks for it."""
        return zip(self.result.hits, self.grounds, strict=True)


class Status(Struct, frozen=True):
    """The state of one index."""

    root: str
    store: str
    indexing_status: IndexingStatus
    freshness: Freshness
    schema_version: int
    coverage: Coverage
    symbols: int
    languages: Mapping[str, int]
    model: str
    bytes_indexed: int
    bytes_on_disk: int
    last_indexed_at: str
    skipped: tuple[SkippedFile, ...] = ()
    notes: tuple[str, ...] = ()

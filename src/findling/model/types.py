"""The vocabulary: plain values that every other module speaks in. Nothing here does I/O.

Conventions, said once: lines are 1-based and ranges inclusive; chunk and symbol positions are 0-based;
byte offsets count UTF-8 bytes of the decoded text without its byte-order mark; paths are relative to the
collection's root and use ``/``; scores and similarities are finite, in [0, 1], higher is better; times carry
their unit in the name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, Self, TypedDict

from msgspec import Struct

from findling.model.plurals import count
from findling.model.tables import Row, Table

Kind = Literal["code", "docs", "data"]
Mode = Literal["auto", "keyword", "symbol", "semantic", "exact", "hybrid"]
Intent = Literal["symbol", "path", "error", "natural_language"]
Channel = Literal["keyword", "symbol", "exact", "semantic"]
Group = Literal["code", "docs"]
KindFilter = Literal["code", "docs", "tests"]
Freshness = Literal["fresh", "stale", "syncing"]
Completeness = Literal["complete", "partial", "truncated"]

BEHIND = "the store is a replica"
"""How the reason begins why an answer is stale though nothing is left to index."""


def sync_helps(stale_reason: str) -> bool:
    """Whether indexing would make a stale answer fresh."""
    return not stale_reason.startswith(BEHIND)


IndexingStatus = Literal["not_indexed", "indexing", "ready", "failed"]

Grade = Literal["certain", "likely", "possible"]

GRADES: tuple[Grade, ...] = ("certain", "likely", "possible")
"""How sure it is that a use means a definition: imports or scopes name it; its type says so, or there is no other of
the name; the name is the same."""

BY_SCOPES = "imports and scopes name it"
"""Why an edge is likely in a language whose certain edges nobody has measured."""

KIND_FILTERS: tuple[KindFilter, ...] = ("code", "docs", "tests")
"""Files that a question may be restricted to: no documents, documents alone, tests alone."""

MODES: tuple[Mode, ...] = ("auto", "keyword", "symbol", "semantic", "exact", "hybrid")

SYMBOL_KINDS: tuple[str, ...] = (
    "fn",
    "method",
    "class",
    "struct",
    "enum",
    "trait",
    "interface",
    "type_alias",
    "constant",
    "variable",
    "module",
)

LINES_KIND = "lines"
"""The kind that is told of lines that were asked for by their numbers."""

LOW_CONFIDENCE = 0.5
"""Below this an answer is shown as the nearest thing, not as an answer. About one right answer in twelve is."""

CHARS_PER_TOKEN = 4
"""About so many characters of code or prose are one token of a language model."""


# --- a file being indexed -------------------------------------------------------------------------------------


class FileState(Struct, frozen=True):
    """A file as it was when it was read: what proves it unchanged. ``stamp``: as `files.stamp_of`."""

    path: str
    size: int
    stamp: int


class TreeState(NamedTuple):
    """What a listing of a folder tree depended on: numbers that are others where something else is there.

    ``world``: options and variables. ``files``: path -> stamp of files with rules, and of those left out for their
    size, 0 for one that is not there; absolute outside of the tree. ``folders``: path -> stamp, and a number for the
    names in it.
    """

    world: str
    files: dict[str, int]
    folders: dict[str, tuple[int, int]]


UNREAD: tuple[str, ...] = ("unreadable", "failed")
"""Reasons to leave a file out that no rule is behind: an answer without it is not whole, and who asks is told."""


def reason_words(reason: str, number: int = 1) -> str:
    """The words for the code of why files are left out; ``number``: of so many."""
    one, several = _REASONS.get(reason, (reason.replace("_", " "),) * 2)
    return one if number == 1 else several


_REASONS: Mapping[str, tuple[str, str]] = {
    "default_ignored": ("installed or built", "installed or built"),
    "lfs_pointer": ("Git LFS pointer", "Git LFS pointers"),
    "lock_file": ("lock file", "lock files"),
    "nested_repository": ("repository of its own", "repositories of their own"),
    "not_checked_out": ("not checked out", "not checked out"),
    "symlink_inside": ("link", "links"),
    "symlink_outside": ("link out of the folder", "links out of the folder"),
    "undecodable_name": ("name that is not UTF-8", "names that are not UTF-8"),
}
"""In the singular and the plural, where a code's own words are too short."""


class SkippedFile(Struct, frozen=True):
    """A file that is not indexed, and why: a stable ``reason`` code plus a sentence for people."""

    path: str
    reason: str
    detail: str = ""

    @property
    def rule(self) -> str:
        """Why, in words."""
        words = reason_words(self.reason)
        return f"{words} ({self.detail})" if self.detail else words


class Progress(Struct, frozen=True):
    """How far a run is: ``stage`` is listing, indexing, embedding, answering, reading or copying; ``total`` is 0 while
    it is unknown."""

    stage: str
    done: int
    total: int


OnProgress = Callable[[Progress], None]
"""Told how far something is; may raise `errors.Cancelled`, which ends it."""


class IndexReport(Struct, frozen=True):
    """What a run of the indexer did. ``changed``: files that it took in, new ones among them. ``failed`` files cost
    themselves only; each carries its reason."""

    root: str
    store: str
    files: int
    changed: int
    removed: int
    chunks: int
    symbols: int
    embedded: int
    bytes_read: int
    skipped: tuple[SkippedFile, ...]
    failed: tuple[SkippedFile, ...]
    complete: bool
    took_ms: float
    notes: tuple[str, ...] = ()


class IndexState(Struct, frozen=True, kw_only=True):
    """How the index stood that an answer was made from. ``notes`` are sentences for people: what was cut, what was
    skipped, what a channel could not do."""

    freshness: Freshness
    completeness: Completeness
    coverage: Coverage
    took_ms: float
    notes: tuple[str, ...] = ()
    stale_reason: str = ""


# --- exact searches and symbols ------------------------------------------------------------------------------


class LineMatch(Struct, frozen=True):
    """One line that a pattern matches. ``spans`` are 0-based (start, end) columns in ``text``, end exclusive.

    Of a line with very many matches only the first spans are kept; the counts are of all. ``text_start`` is the
    column where ``text`` begins in the line: above 0 only where a very long line was clipped around its first match.
    ``place``: the page, slide or the like of a converted document, else ''. ``replaced``: what takes the place of each
    span, where a replacement was asked for. ``offset``: the bytes of text before the line, -1 where nobody asked.
    """

    line: int
    text: str
    spans: tuple[tuple[int, int], ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    text_start: int = 0
    place: str = ""
    replaced: tuple[str, ...] = ()
    offset: int = -1


class FileMatches(Row, Struct, frozen=True):
    """What matches in a file: the lines that were asked for, how many occurrences and lines there are, and the bytes of
    its text."""

    path: str
    lines: tuple[LineMatch, ...]
    occurrences: int
    line_count: int
    size: int


class GrepResult(Table, Struct, frozen=True):
    """Every occurrence of a pattern, or as many as ``limit`` lines allow (then ``truncated``).

    ``total_occurrences``, ``total_lines`` and ``total_files`` count what is not returned as well; when a time limit
    ended the search they are lower bounds (``counts_exact`` is False). ``files_searched``: of the asked folder and
    globs, those that the index rules out among them; ``files_read`` is what it could not rule out, and ``unindexed``
    how many of these it does not have as they are now. ``skipped`` says what was not searched and why.
    """

    pattern: str
    files: tuple[FileMatches, ...]
    total_occurrences: int
    total_lines: int
    total_files: int
    files_searched: int
    files_read: int
    unindexed: int
    truncated: bool
    skipped: tuple[SkippedFile, ...]
    took_ms: float
    notes: tuple[str, ...] = ()
    counts_exact: bool = True

    @property
    def rows(self) -> tuple[FileMatches, ...]:
        return self.files

    @property
    def heading(self) -> str:
        lines, files = count(self.total_lines, "line"), count(self.total_files, "file")
        return f"{self.pattern!r}: {lines} in {files}"


class GrepOptions(TypedDict, total=False):
    """What an exact search can be asked besides its pattern.

    ``literal``: every character means itself. ``word``: matches must not touch further word characters.
    ``inverted``: the lines that do not match. ``multiline``: matches may span lines. ``paths``: files and folders
    from the root, instead of all that the engine was opened for. ``path_globs``: as for a search. ``within``: a test
    that the path of a file has to pass, too. ``language``: its id, name or alias, or several,
    ``!`` before one that is left out. ``tests``: False leaves out files that are tests. ``context``: lines around
    each match, or ``before`` and ``after``; ``definitions``: the whole definition around it, in tests unless
    ``test_definitions`` is False. ``per_file``: most lines of one file. ``replacement``: what takes the place of each
    match in what is answered, with ``$1`` for a group. ``spans``: most columns that are kept of one line; ``offsets``:
    with the place of each line in its text.

    ``shape``: ``counts`` answers only each file's counts, ``without`` the files that have no match; then ``limit`` is
    of files. ``cpu_s``: the processor's time for an expression, beyond what going through the text takes;
    ``max_bytes``: the most text that is read. Both are configured (``grep.cpu_seconds``, ``grep.max_total_bytes``).
    """

    literal: bool
    ignore_case: bool
    word: bool
    inverted: bool
    multiline: bool
    paths: Sequence[str]
    path_globs: Sequence[str]
    within: Callable[[str], bool]
    language: str | Sequence[str] | None
    tests: bool
    context: int
    before: int
    after: int
    definitions: bool
    test_definitions: bool
    per_file: int
    stop_at_limit: bool
    replacement: str | None
    spans: int
    offsets: bool
    shape: Literal["lines", "counts", "without"]
    sort: Literal["path", "modified"]
    cpu_s: float
    max_bytes: int


class GrepStream(Protocol):
    """An exact search under way: the files with a match, once, in order; then what they come to."""

    @property
    def pattern(self) -> str: ...

    def __iter__(self) -> Iterator[FileMatches]: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    @property
    def totals(self) -> GrepResult:
        """Counts and notes, without the files."""
        ...


Role = Literal[
    "overrides",
    "overridden_by",
    "inherited_by",
    "called_by",
    "passed_by",
    "used_by",
    "written_by",
    "decorated_by",
    "inherits",
    "calls",
    "same_in",
]
"""What something is to a definition; ``passed_by`` hands it on without a call, as what registers it does; what is
``written_by`` a line is a field that decides something in it; ``same_in`` is its twin, such as the asynchronous one."""


class Relation(Struct, frozen=True):
    """Something that belongs to a definition: where it stands, and the line there or its signature. ``grade`` and
    ``why`` as of an `Edge`; None of a twin, which is told by its name and path, and of what overrides."""

    role: Role
    path: str
    line: int
    text: str
    grade: Grade | None = None
    why: str = ""

    @property
    def marked(self) -> str:
        """The text, with the grade where that is not certain."""
        return self.text + mark_of(self.grade)


def mark_of(grade: Grade | None, why: str = "") -> str:
    """What is written of a grade behind an edge: nothing where it is certain."""
    reason = f": {why}" if why and why != BY_SCOPES else ""  # of the commonest reason the grade says enough
    return f" [{grade}{reason}]" if grade not in (None, "certain") else ""


class Relations(Struct, frozen=True):
    """What belongs to a definition, the most telling first. ``in_tests``: uses of it in tests, which are not listed;
    ``more``: how many others are not. ``cut``: not all files that hold its name were read."""

    found: tuple[Relation, ...] = ()
    in_tests: int = 0
    more: int = 0
    cut: bool = False


class Step(Struct, frozen=True):
    """A definition on the way of calls: ``depth`` calls below the first one, called in line ``called_at`` (0 for the
    first) of the file of the last step above that is one less deep."""

    path: str
    line: int
    name: str
    depth: int = 0
    called_at: int = 0
    grade: Grade = "certain"
    why: str = ""


class SymbolHit(Row, Struct, frozen=True):
    """A definition. ``body``: its text from its first line on, as much of it as was asked for; ``related``: what
    belongs to one that is shown so."""

    path: str
    line: int
    start_line: int
    end_line: int
    name: str
    kind: str
    qualified_name: str
    language: str
    signature: str
    match: Literal["exact", "prefix", "part"]
    body: str = ""
    related: Relations = Relations()


class Reference(Row, Struct, frozen=True):
    """A use of a name in code: neither its definition nor inside a comment or a string. ``grade``: how sure it is that
    the definition is meant which was asked for by more than its name, and ``why``; else None. ``writes``: whether it
    seems to be assigned to there."""

    path: str
    line: int
    column: int
    text: str
    enclosing: str = ""
    grade: Grade | None = None
    why: str = ""
    writes: bool = False


class SymbolResult(Table, IndexState, frozen=True):
    """Definitions and uses of a name. ``coverage``: of the asked folder what was left out, and no vectors. ``absent``:
    that the name occurs nowhere, where that is known. ``generation``: as an `Answer`'s."""

    name: str
    definitions: tuple[SymbolHit, ...]
    references: tuple[Reference, ...]
    total_definitions: int
    total_references: int
    truncated: bool
    absent: tuple[Absent, ...] = ()
    generation: str = ""

    @property
    def rows(self) -> tuple[SymbolHit | Reference, ...]:
        return (*self.definitions, *self.references)

    @property
    def heading(self) -> str:
        defined, used = count(self.total_definitions, "definition"), count(self.total_references, "use")
        return f"{self.name!r}: {defined}, {used}, {self.freshness}"


class Edge(Row, Struct, frozen=True):
    """A use of a definition: where it stands (``text`` is its line, ``enclosing`` the definition around it) and what it
    means (``target``). ``kind`` is call, instantiate, inherit, decorate, type, read or string; ``why`` says what the
    grade rests on, '' where imports and scopes alone do. ``step``: 1 where what was asked about is used, 2 where that
    is."""

    path: str
    line: int
    text: str
    enclosing: str
    kind: str
    grade: Grade
    why: str
    target: str
    target_path: str
    target_line: int
    target_signature: str
    step: int = 1


class EdgeResult(Table, IndexState, frozen=True):
    """Who uses definitions, or what they use, surest first. ``name``: what was asked for, of changes the ref that they
    are compared with. ``definitions``: those that were asked about, or the nearest where nothing has the name;
    ``absent`` where it does not even occur; ``gone``: those that changes have taken out, by where they stood, the first
    of ``total_gone``; ``enclosing`` is their name. ``totals``: by grade, how many edges there are; ``in_tests``: how
    many of these stand in tests and are not listed.

    Of an impact ``tests`` are the definitions in tests that reach what was asked about, in so many calls as their
    ``depth`` says, the first of ``total_tests``, and ``documents`` lines that mention it."""

    name: str
    direction: Literal["callers", "callees"]
    definitions: tuple[SymbolHit, ...]
    total_definitions: int
    edges: tuple[Edge, ...]
    totals: dict[Grade, int]
    in_tests: int
    truncated: bool
    absent: tuple[Absent, ...] = ()
    gone: tuple[Reference, ...] = ()
    tests: tuple[Step, ...] = ()
    documents: tuple[Reference, ...] = ()
    total_gone: int = 0
    total_tests: int = 0

    @property
    def rows(self) -> tuple[Edge, ...]:
        return self.edges

    @property
    def heading(self) -> str:
        grades = ", ".join(f"{self.totals.get(grade, 0)} {grade}" for grade in GRADES)
        return f"{self.direction} of {self.name!r}: {grades}, {self.freshness}"


class End(Row, Struct, frozen=True):
    """A line that calls something of which nobody can tell what it is, and ``why``. ``text`` is the line, ``enclosing``
    the definition around it."""

    path: str
    line: int
    text: str
    enclosing: str
    why: str


class TraceResult(IndexState, frozen=True):
    """The calls that lead from one definition to another; no ``steps`` where none are known to: then ``ends`` are the
    first lines at which what is known ends. ``origins`` and ``goals``: the definitions of the two names, or the nearest
    to one that nothing has. ``reached``: how many definitions the first one is known to reach."""

    origin: str
    goal: str
    origins: tuple[SymbolHit, ...]
    goals: tuple[SymbolHit, ...]
    steps: tuple[Step, ...]
    ends: tuple[End, ...]
    reached: int


class MapPart(Struct, frozen=True):
    """A folder of a project, a slash at its end: how many files and definitions it holds, the languages of most of
    these, and what is defined first in it."""

    path: str
    files: int
    definitions: int
    languages: tuple[str, ...]
    names: tuple[str, ...]


class EntryPoint(Struct, frozen=True):
    """Where a program is entered, and what says so: a line of a manifest, the signature of a main function, the routes
    that a file registers, or how many files of tests there are and what runs them."""

    path: str
    line: int
    text: str


class MapResult(IndexState, frozen=True):
    """A project, or a folder of it: its parts, the largest first; where it is entered; and the definitions that the
    most of it leads to (by PageRank over edges that are certain or likely), the first one first. As much of each as the
    tokens that were asked for hold; ``truncated``: there is more."""

    folder: str
    files: int
    parts: tuple[MapPart, ...]
    entry_points: tuple[EntryPoint, ...]
    central: tuple[SymbolHit, ...]
    truncated: bool


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


ANSWER_CHARS = 6_000
"""The most that an answer shows where nothing is said of its length: in a command, over MCP and in Python alike. With
3,500 a definition of usual length is cut before the lines that decide; from 6,000 to 8,000 every answer costs a third
more, and the file that is looked for comes later."""


class Query(Struct, frozen=True):
    """What is asked. ``limit`` counts places in the answer (1 to 1000), ``offset`` those before them: the next page of
    the same list.

    ``wait_s`` bounds the indexing that may go before (0: none, None: all of it); with ``look_at_all`` every file is
    looked at before, however many there are. ``gate``: when meaning is asked, for modes that ask it; always without
    one. ``weights``: the answer is not a ranking of files but each channel's own places, their scores mixed by these
    weights; of one channel alone its list. ``place_lines``: so many lines of each place come with the answer.
    ``notes``: what there is to say of the question, that its text was cut.

    ``bodies``: which places are shown in full, ``auto`` for the first where the order is sure and three where it is
    open. ``max_tokens`` bounds the answer, `ANSWER_CHARS` where it is None; then all places are listed, but with
    ``brief`` only those whose lists of fields leave half of the room to text. ``place_chars``: what is written of a
    place beside its path and its name; ``frame_chars``: what is written around all places, where `ANSWER_CHARS` bounds
    them. ``screen_lines``: so many lines are seen at once. ``like``: ``text`` is a file or ``FILE:LINE``, and what is
    like it is asked for, by meaning.
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
    brief: bool = False
    place_chars: int = 0
    frame_chars: int = 380
    screen_lines: int | None = None
    offset: int = 0
    like: bool = False


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


class Hit(Row, Struct, frozen=True):
    """One place of the answer: the best range of a file, with the file's other good places folded under it.

    ``rank_value`` is the sum that orders the list; ``score`` is its exposed form in [0, 1]. ``snippet`` holds
    the lines from ``snippet_start_line`` on, verbatim; ``matches`` are (line, first column, end column)
    of query words in it (0-based columns, end exclusive). ``body``: of a place that is shown in full its lines with
    their numbers, of a longer one the parts that answer; ``related``: what belongs to it.
    ``sources`` names the channels that found it; ``parts`` those of a pasted text that led there, with what they found:
    title, prose, trace, names, message. ``group``: docs for a document, code for everything else. ``translations``
    and ``copies`` are the paths of files that stand under this one because they are it in other languages, and older,
    built or vendored copies of it.
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
    related: Relations = Relations()
    sources: tuple[Channel, ...] = ()
    others: tuple[Span, ...] = ()
    reasons: tuple[Reason, ...] = ()
    stale: bool = False
    parts: tuple[str, ...] = ()
    group: Group = "code"
    translations: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()

    @property
    def folded(self) -> str:
        """How many files stand under this one, '' for none: "and 11 translations"."""
        found = (("translation", self.translations), ("copy", self.copies))
        counted = " and ".join(count(len(paths), what) for what, paths in found if paths)
        return f"and {counted}" if counted else ""


class Coverage(Struct, frozen=True):
    """What the answer was searched in: files, chunks, how many of them have vectors, and what was left out.

    ``complete``: the whole root was indexed once. ``pending_files`` are not indexed yet and were not searched.
    ``vectors_wanted``: False where searching by meaning is off or no embedder works, so that no vector is missing.
    ``scanned``: where there is no whole index yet, how many files were scanned for the question's words. The likeliest
    of them were read. The others, ``only_scanned``, were not: they count in ``files`` and have no chunks.
    ``missing``: the collections of a shared store that were asked and are not there, or not for this user to see.
    """

    files: int = 0
    chunks: int = 0
    embedded_chunks: int = 0
    pending_files: int = 0
    skipped: Mapping[str, int] = {}
    complete: bool = False
    vectors_wanted: bool = True
    scanned: int = 0
    only_scanned: int = 0
    missing: tuple[str, ...] = ()

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

    @property
    def is_partial(self) -> bool:
        """Whether files or collections that should have been searched were not."""
        return self.unfinished or self.unread > 0 or bool(self.missing)


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


class Confidence(Struct, frozen=True):
    """An estimate in [0, 1] that the first places answer the question, and the facts that it was made from.

    All are of files that nothing speaks against: what stands only in tests, examples or generated files that nobody
    asked for is no answer. ``coverage``: the share of the query's rare words in the first of them, less where no
    passage of it is near the query. ``cosine``: of the nearest passage, None without vectors; ``beyond_random``: how
    much more that is than questions about something else find. ``agree``: whether words and meaning put the same file
    first, None where one of them says nothing. ``named``: how far one of the first files is what was asked for by name
    or to the letter. ``phrase``: how far neighbouring words of the query stand together in one place. ``lacking``:
    words of a subject of their own that the query has and the first file has not, the most specific first. ``absent``:
    whether a name, path or quotation of the question does not occur. ``reasons``: what each fact adds to the logit of
    ``value``.
    """

    value: float = 0.0
    coverage: float = 0.0
    cosine: float | None = None
    beyond_random: float | None = None
    agree: bool | None = None
    named: float = 0.0
    phrase: float = 0.0
    lacking: tuple[str, ...] = ()
    absent: bool = False
    reasons: tuple[Reason, ...] = ()


class SearchResult(Table, IndexState, frozen=True):
    """An answer: hits in order, and what it is worth.

    ``total`` counts distinct files that matched before the cut to ``limit``, ``offset`` those before the first hit.
    ``confidence`` is in [0, 1], ``evidence`` has the facts that it was made from. ``absent``: what of the question is
    known not to occur. Where that is all of it (`is_absent`), the hits are of what was meant instead, and there are
    none where nothing is near enough. ``groups``: where both code and documents may be meant, these two, the surer
    first; () where one is, or only one was found. ``hits`` are in one order all the same. ``further``: the hits beyond
    the usual length of a brief one (`Query.brief`). ``lacking``: as in `Confidence`. ``chain``: where
    the question is how something comes about, the calls that connect the places that answer.
    """

    query: str
    hits: tuple[Hit, ...]
    total: int
    intent: Intent
    mode: Mode
    confidence: float
    absent: tuple[Absent, ...] = ()
    further: tuple[Hit, ...] = ()
    groups: tuple[Group, ...] = ()
    lacking: tuple[str, ...] = ()
    offset: int = 0
    chain: tuple[Step, ...] = ()
    evidence: Confidence = Confidence()

    @property
    def rows(self) -> tuple[Hit, ...]:
        return self.hits

    @property
    def heading(self) -> str:
        places = f"{len(self.hits)} of {count(self.total, 'place')}"
        return f"{self.query!r}: {places}, confidence {self.confidence:.2f}, {self.freshness}, {self.completeness}"

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
    ``by_words``: a sentence on each collection that could not be asked by meaning while others were.
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


class Answer(Table, Struct, frozen=True):
    """All that is known of what was asked: `Engine.search`'s result, and what any contract says beside it.

    ``grounds`` has one entry for each of the result's hits, in order. ``second``: the second place and its grounds,
    whether or not it is shown. ``ran``: the channels that were asked.
    ``text_confidence``: how sure text was where the query has a gate. ``intent_hint``: how to ask better.
    ``no_file``: that no file passes the question's filters, and what is nearest to them; '' where one does.
    ``timings_ms``: what bringing the index up to date and searching took. ``generation``: changes with whatever the
    order of places is made from, so that pages of two generations do not fit together.
    """

    query: Query
    result: SearchResult
    grounds: tuple[Grounds, ...]
    intent_confidence: float
    second: tuple[Hit, Grounds] | None = None
    intent_hint: str | None = None
    ran: frozenset[Channel] = frozenset()
    meaning: Meaning = Meaning()
    confidence: Confidence = Confidence()
    text_confidence: float = 0.0
    no_file: str = ""
    timings_ms: Mapping[str, float] = {}
    generation: str = ""

    @property
    def rows(self) -> tuple[Hit, ...]:
        return self.result.rows

    @property
    def heading(self) -> str:
        return self.result.heading

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

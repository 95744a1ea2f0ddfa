"""Passages of documents that speak of a question: by their words, by their meaning, by both.

A passage is a chunk. Works on rows of the index and on vectors; reads no files. Everything happens within the files
that it is given, so that a narrow scope is searched as thoroughly as a wide one.
"""

from __future__ import annotations

import heapq
import itertools
import posixpath
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from findling.model import tokenizer
from findling.model.errors import InvalidInput
from findling.model.languages import is_document
from findling.model.reading import ChunkRow
from findling.model.remembered import remembered
from findling.model.rows import FileRow
from findling.search import keyword, lexical, siblings
from findling.search.analysis import QueryTerms, analyse
from findling.search.query import without_form
from findling.search.ranking.priors import path_flags
from findling.search.readings import Shares
from findling.search.scope import Scope, lies_in
from findling.search.vocabulary import STOP_WORDS
from findling.store.protocols import Index

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from findling.search.ranking.ranked_file import FileCosines
    from findling.search.semantic import SemanticChannel


PLANS = "plans"
"""The folder of plans; each is a folder in it whose name begins with the plan's number."""

_NUMBERED = re.compile(r"([0-9]{1,9})(?:[-_. ].*)?$", re.DOTALL)
_DIGITS = re.compile(r"([0-9]{1,18})")

TagsOf = Callable[[FileRow], frozenset[str]]


class DocumentScope(Struct, frozen=True):
    """What narrows a question. ``prefix`` is of paths relative to the root; all of ``tags`` must be a document's."""

    plan: str = ""
    prefix: str = ""
    tags: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, *, plan: str | None = None, prefix: str | None = None, tags: Iterable[str] = (), root: str = ""
    ) -> DocumentScope:
        """From arguments as they are given. Raises `InvalidInput` for a prefix that leads out of the root."""
        return cls(
            plan=(plan or "").strip().strip("/"),
            prefix=confined(prefix, root) if prefix else "",
            tags=frozenset(tag for tag in map(normal_tag, tags) if tag),
        )

    def allows_path(self, path: str) -> bool:
        """Whether plan and prefix allow a path; says nothing of tags."""
        return (not self.plan or in_plan(path, self.plan)) and path.startswith(self.prefix)

    def of_files(self, files: Iterable[FileRow], tags_of: TagsOf) -> list[FileRow]:
        """Those of ``files`` that the scope allows; tags are asked for last, for what is left."""
        kept = list(files)
        if self.plan:
            kept = [file for file in kept if in_plan(file.own_path, self.plan)]
        if self.prefix:
            kept = _below(kept, self.prefix)
        if self.tags:
            kept = [file for file in kept if self.tags <= tags_of(file)]
        return kept


def in_plan(path: str, plan: str) -> bool:
    """Whether a path lies in ``plans/0004-*/``: ``plan`` is ``4``, ``0004`` or ``0004-feature-name``.

    A plan without a number is the folder of that name.
    """
    folder, _, rest = path.partition("/")
    name, slash, _ = rest.partition("/")
    if folder != PLANS or not slash:
        return False
    wanted, found = _NUMBERED.match(plan), _NUMBERED.match(name)
    if wanted is None or found is None:
        return name == plan
    return int(wanted[1]) == int(found[1])


def confined(prefix: str, root: str = "") -> str:
    """A path prefix relative to the root, '' for the root itself. An end with ``/`` stays.

    An absolute one must lie in ``root``. Raises `InvalidInput`.
    """
    given = prefix.strip()
    if given.startswith("/") and root:
        base = root.rstrip("/")
        if given.rstrip("/") != base and not given.startswith(f"{base}/"):
            raise _outside(prefix)
        given = given[len(base) :].lstrip("/") or "."
    normal = posixpath.normpath(given.lstrip("/") or ".")
    if normal == ".." or normal.startswith("../"):
        raise _outside(prefix)
    if normal == ".":
        return ""
    return f"{normal}/" if given.endswith("/") else normal


def _outside(prefix: str) -> InvalidInput:
    return InvalidInput(f"Parameter `pathPrefix` leads out of the root: {prefix[:200]}.")


def _below(files: list[FileRow], prefix: str) -> list[FileRow]:
    """What a prefix names: a folder or a file where there is one of that name, else whatever begins so."""
    name = prefix.rstrip("/")
    inside = [file for file in files if lies_in(file.path, name)]
    if inside or prefix.endswith("/"):
        return inside
    return [file for file in files if file.path.startswith(prefix)]


@remembered(20_000)
def prefix_order(path: str) -> tuple[tuple[str | int, ...], str]:
    """A key for the order of paths in which numbers count as numbers: plan 9 before plan 10, agent 2 before 11.

    Numbers of equal length are in the order of the paths themselves.
    """
    pieces = _DIGITS.split(path)  # text and numbers by turns, text first
    return tuple(int(piece) if place % 2 else piece for place, piece in enumerate(pieces)), path


TEXT_CANDIDATES = 300
"""Chunks that text proposes; the right one is seldom further down."""

NEAR_CANDIDATES = 40
"""Chunks that vectors add to those."""

COSINE_WEIGHT = 0.8
"""What the nearest chunk's cosine is worth beside the best chunk's text, as 1. On judged questions about
documentation, either alone finds the right section first in 3 of 10 cases, together in more than 4; the weight
matters little between 0.5 and 1.2."""

HELD_BACK = 0.6
"""What a passage is worth that stands in test data, in what was generated, in a history of changes, in a paper that
people work from, or in a file whose name is no document's, when the question speaks of nothing like that."""

_WORKING = re.compile(
    r"(?:^|/)(?:plans?|planning|meetings?|minutes|agendas?|retrospectives?|standups?|todos?|check-?lists?|roadmaps?|"
    r"worklogs?|journals?|proposals?|rfcs?|drafts?)(?:[-_. ][^/]*)?(?:/|$)"
    r"|[-_. ](?:plan|todo|checklist|roadmap|meeting|minutes)(?=[-_. ][^/]*$)",
    re.IGNORECASE,
)
"""Paths of plans, minutes and to-do lists: they say what was intended or once true, not what is."""

HEADING_WEIGHT = 0.8
"""What a passage is worth beside its text and its cosine, where its heading says the whole question: it is about what
others mention."""

PROPOSED = 300
"""Chunks that sign bits propose where there are too many files to compare all."""


class Passage(Struct, frozen=True):
    """A chunk and what speaks for it: shares of the best chunk's BM25 and of the nearest chunk's cosine, and both
    together. ``cosine`` is 0 where there is no vector."""

    file: FileRow
    ordinal: int
    chunk: ChunkRow
    value: float
    text: float = 0.0
    cosine: float = 0.0

    @property
    def order(self) -> tuple[object, ...]:
        return -self.value, prefix_order(self.file.path), self.ordinal


class Near(Struct, frozen=True):
    """Passages by falling cosine, those of a page in one language. Of all that were compared ``above`` are of these
    pages and have the least cosine or more, ``below`` have less. ``entries``: the files that were compared;
    ``translations`` as in `siblings.Folded`."""

    passages: tuple[Passage, ...]
    above: int
    below: int
    best: float
    entries: frozenset[int] = frozenset()
    translations: Mapping[int, Sequence[FileRow]] = {}


def near(
    reader: Index,
    channel: SemanticChannel,
    query: str,
    files: Sequence[FileRow],
    *,
    limit: int,
    least: float = -1.0,
) -> Near:
    """The ``limit`` chunks of these files nearest to a text whose cosine is at least ``least``. Within a snapshot.

    Of a collection of up to `scope.FEW` files every chunk is compared; of a larger one only the files that sign bits
    propose.
    """
    vector = channel.encode(query)
    if not vector.any():
        return Near((), 0, 0, 0.0)
    by_entry = {file.entry_id: file for file in files}
    compared = channel.cosines(vector, entries_to_compare(reader, channel, vector, by_entry))
    best = {entry: float(found.own.max()) for entry, found in compared.items() if len(found.own)}
    reached = sorted((entry for entry in best if best[entry] >= least), key=lambda entry: -best[entry])
    folded = siblings.in_one_language(map(by_entry.__getitem__, reached), english=analyse(query).is_english)
    cosines = {entry: found for entry, found in compared.items() if entry not in folded.gone}
    return Near(
        tuple(_nearest(reader, by_entry, cosines, limit, least)),
        sum(int((found.own >= least).sum()) for found in cosines.values()),
        sum(int((found.own < least).sum()) for found in compared.values()),
        max(best.values(), default=0.0),
        frozenset(compared),
        folded.translations,
    )


def by_text(
    reader: Index, terms: QueryTerms, files: Sequence[FileRow], *, limit: int = TEXT_CANDIDATES
) -> list[Passage]:
    """Chunks of these files that have the query's words, best first; ``value`` is the share of the best one's BM25,
    which says nothing about any other question (`words_score` does)."""
    by_entry = {file.entry_id: file for file in files}
    scope = Scope(frozenset(by_entry))
    found = keyword.search(reader, terms, chunk_limit=limit, file_limit=0, scope=scope)
    scores = {
        (entry, ordinal): score
        for entry, chunks in found.chunks.items()
        if entry in by_entry
        for ordinal, score in chunks.items()
    }
    best = max(scores.values(), default=0.0)
    passages = []
    for (entry, ordinal), score in scores.items():
        chunks = reader.chunks(by_entry[entry].blob_id)
        if ordinal < len(chunks):
            passages.append(Passage(by_entry[entry], ordinal, chunks[ordinal], score / best, text=score / best))
    passages.sort(key=lambda passage: passage.order)
    return passages[:limit]


def words_score(query: str, rank: int, path: str, text: str) -> float:
    """How far a passage answers a question by its words alone, in [0, 1): the lexical score (`lexical.evidence`) of
    what text search has at this rank, from 1. It is no similarity, and no threshold of one is for it."""
    rank_part = lexical.LIST_WEIGHTS["natural_language"]["keyword"] / (lexical.RRF_K + rank)
    return lexical.evidence(
        without_form(query),
        rank=rank_part,
        name="",
        qualified_name="",
        path=path,
        text=f"{path} {text}",
        ignore=STOP_WORDS,
    ).score


def blended(
    reader: Index,
    terms: QueryTerms,
    files: Sequence[FileRow],
    channel: SemanticChannel | None,
    said: Shares,
    *,
    limit: int,
) -> list[Passage]:
    """The best passages by text, by what their headings say of the question and, with a channel, by meaning; best
    first."""
    found = {(passage.file.entry_id, passage.ordinal): passage for passage in by_text(reader, terms, files)}
    vector = channel.encode(terms.text) if channel is not None else None
    if channel is not None and vector is not None and vector.any():
        by_entry = {file.entry_id: file for file in files}
        wanted = {*entries_to_compare(reader, channel, vector, by_entry), *(entry for entry, _ in found)}
        cosines = channel.cosines(vector, sorted(wanted))
        for passage in _nearest(reader, by_entry, cosines, NEAR_CANDIDATES, 0.0):
            found.setdefault((passage.file.entry_id, passage.ordinal), passage)
        best = max((float(each.own.max()) for each in cosines.values() if len(each.own)), default=0.0)
        if best > 0:
            found = {key: _with_cosine(passage, cosines, best) for key, passage in found.items()}
    headings = said(
        [tokenizer.words(each.chunk.headings[-1]) if each.chunk.headings else [] for each in found.values()]
    )
    weighed = [
        replace(passage, value=_weighed(passage, terms.wants) + HEADING_WEIGHT * share)
        for passage, share in zip(found.values(), headings, strict=True)
    ]
    return sorted(weighed, key=lambda passage: passage.order)[:limit]


def _weighed(passage: Passage, wants: Set[str]) -> float:
    """A passage's value, less where something speaks against its file."""
    return passage.value * (HELD_BACK if _held_back(passage.file) - wants else 1.0)


def _held_back(file: FileRow) -> frozenset[str]:
    """What speaks against a document's passages unless it is asked for."""
    path = file.own_path
    against = {
        "generated": file.generated,
        "working": _WORKING.search(path) is not None,
        "no document": not is_document(path, file.language, file.kind),
    }
    return (path_flags(path) & {"test", "changes"}).union(flag for flag, holds in against.items() if holds)


def _with_cosine(passage: Passage, cosines: Mapping[int, FileCosines], best: float) -> Passage:
    known = cosines.get(passage.file.entry_id)
    cosine = float(known.own[passage.ordinal]) if known is not None and passage.ordinal < len(known.own) else 0.0
    value = passage.text + COSINE_WEIGHT * max(0.0, cosine) / best
    return Passage(passage.file, passage.ordinal, passage.chunk, value, passage.text, cosine)


def _nearest(
    reader: Index,
    by_entry: Mapping[int, FileRow],
    cosines: Mapping[int, FileCosines],
    limit: int,
    least: float,
) -> list[Passage]:
    best = heapq.nlargest(
        limit,
        (
            (float(found.own[ordinal]), entry, ordinal)
            for entry, found in cosines.items()
            for ordinal in found.own.argsort()[::-1][:limit].tolist()
            if found.own[ordinal] >= least
        ),
        key=lambda item: item[0],
    )
    passages = []
    for cosine, entry, ordinal in best:
        chunks = reader.chunks(by_entry[entry].blob_id)
        if ordinal < len(chunks):
            passages.append(Passage(by_entry[entry], ordinal, chunks[ordinal], max(0.0, cosine), cosine=cosine))
    passages.sort(key=lambda passage: (-passage.cosine, prefix_order(passage.file.path), passage.ordinal))
    return passages


def entries_to_compare(
    reader: Index, channel: SemanticChannel, vector: NDArray[np.float32], by_entry: Mapping[int, FileRow]
) -> Sequence[int]:
    """The entries whose vectors are compared one by one: of each collection all up to `scope.FEW`, else what sign bits
    propose of it."""
    found: list[int] = []
    every = sorted(by_entry, key=lambda entry: by_entry[entry].collection)
    for _, entries in itertools.groupby(every, key=lambda entry: by_entry[entry].collection):
        scope = Scope(frozenset(entries))
        few = scope.few
        found += sorted(few) if few is not None else channel.propose(vector, PROPOSED, scope.allowed)
    return found


SOURCE_CHUNKS = 32
"""Of a long document so many chunks, evenly spread, stand for it when others are compared with it."""


class SimilarDocument(Struct, frozen=True):
    """``similarity`` in [0, 1] is a mean of cosines; ``ordinal`` is the chunk that is most like the source."""

    file: FileRow
    similarity: float
    ordinal: int


def similar_documents(
    reader: Index,
    channel: SemanticChannel,
    source: FileRow,
    files: Sequence[FileRow],
    *,
    chunks: tuple[int, int | None] = (0, None),
    limit: int,
) -> list[SimilarDocument]:
    """The files most like ``source``, or like the range ``chunks`` of its chunks; never itself. Within a snapshot.

    Two documents are as similar as their best pair of chunks and, in equal parts, as all chunks of each with their
    nearest in the other. Measured with the documents that a document links to as the right answers, in nine
    repositories: 0.57 of them are among the first five; by mean vectors 0.46, by the best pair alone 0.55. A place is
    as similar as the chunk nearest to it.
    """
    whole = chunks == (0, None)
    vectors = [vector for vector in channel.chunk_vectors(source.entry_id, *chunks) if vector.any()]
    vectors = vectors[:: max(1, -(-len(vectors) // SOURCE_CHUNKS))]
    mean = channel.mean_vector(source.entry_id, *chunks)
    if not vectors or mean is None:
        return []
    by_entry = {file.entry_id: file for file in files if file.path != source.path}
    entries = entries_to_compare(reader, channel, mean, by_entry)
    found = [
        SimilarDocument(by_entry[entry], _likeness(pairs, whole=whole), int(pairs.max(axis=0).argmax()))
        for entry, pairs in channel.pair_cosines(vectors, entries).items()
        if pairs.size
    ]
    found.sort(key=lambda item: (-item.similarity, prefix_order(item.file.path)))
    return found[:limit]


def _likeness(pairs: NDArray[np.float32], *, whole: bool) -> float:
    """Of a table of cosines, the source's chunks by the other's."""
    best = float(pairs.max())
    if whole:
        all_of_each = float(pairs.max(axis=1).mean() + pairs.max(axis=0).mean()) / 2
        best = (best + all_of_each) / 2
    return min(1.0, max(0.0, best))


# --- front matter -------------------------------------------------------------------------------------------------
# The head of a document between two rules: its fields, its tags and its title. Pure; reads no files.
#
# YAML as heads of documents use it (scalars, lists in brackets or by dashes, one level) and TOML. What is not well-
# formed is no field; nothing in a head is ever run or resolved.

HEAD_CHARS = 16_000
"""A head ends within this much text, else the first line is a rule."""

TAG_FIELDS = ("tags", "tag")

_HEAD = re.compile(r"\ufeff?(---|\+\+\+)[ \t]*\r?\n((?:[^\n]*\n)*?)(?:\1|\.\.\.)[ \t]*(?:\r?\n|\Z)")
_FIELD = re.compile(r"([A-Za-z_](?:[\w .-]*[\w.-])?)[ \t]*:(?:[ \t]+(.*))?$")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)$")
_PIECE = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^']|'')*)'|([^,\[\]\s\"'][^,\[\]]*)")


class FrontMatter(Struct, frozen=True):
    """``fields``: values by name as written there, a list for each. ``end``: where the document itself begins."""

    fields: Mapping[str, tuple[str, ...]] = {}
    end: int = 0

    @property
    def tags(self) -> frozenset[str]:
        """As `normal_tag` writes them."""
        found: set[str] = set()
        for name in TAG_FIELDS:
            for value in self.fields.get(name, ()):
                found.update(_split_tags(value))
        return frozenset(found)

    @property
    def title(self) -> str:
        return " ".join(" ".join(self.fields.get("title", ())).split())


def front_matter(text: str) -> FrontMatter:
    """The head of a document; one without fields when it has none."""
    found = _HEAD.match(text, 0, HEAD_CHARS)
    if found is None or not (":" in found[2] or "=" in found[2]):
        return FrontMatter()
    fields = _toml(found[2]) if found[1] == "+++" else _yaml(found[2])
    return FrontMatter(fields, found.end())


def normal_tag(tag: str) -> str:
    """The spelling under which tags are compared: without ``#`` in front and without regard to case."""
    return tag.strip().lstrip("#").strip().casefold()


def _split_tags(value: str) -> Iterable[str]:
    """Tags of one string: between commas; between blanks where each begins with ``#``."""
    pieces = value.split(",")
    if len(pieces) == 1 and all(piece.startswith("#") for piece in value.split()):
        pieces = value.split()
    return (tag for piece in pieces if (tag := normal_tag(piece)))


def _toml(text: str) -> dict[str, tuple[str, ...]]:
    try:
        values: Mapping[str, Any] = tomllib.loads(text.replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}
    fields = {name.lower(): _strings(value) for name, value in values.items()}
    terms = values.get("taxonomies")
    if isinstance(terms, Mapping):
        fields = {name.lower(): _strings(value) for name, value in terms.items()} | fields
    return fields


def _strings(value: Any) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(str(item) for item in value if not isinstance(item, dict | list))
    return () if isinstance(value, Mapping) else (str(value),)


def _yaml(text: str) -> dict[str, tuple[str, ...]]:
    fields: dict[str, tuple[str, ...]] = {}
    name = ""
    unclosed = ""
    for line in text.splitlines():
        if unclosed:  # a list in brackets over several lines
            unclosed += " " + _without_comment(line)
            if "]" in line:
                fields[name], unclosed = _inline(unclosed), ""
            continue
        if found := _ITEM.match(line):
            if name and (value := _inline(_without_comment(found[1]), whole=True)):
                fields[name] = (*fields[name], *value)
        elif found := _FIELD.match(line):
            name = found[1].lower()
            value_text = _without_comment(found[2] or "")
            if value_text.startswith("[") and "]" not in value_text:
                unclosed, fields[name] = value_text, ()
            else:
                fields[name] = _inline(value_text, whole=not value_text.startswith("["))
        elif line[:1] not in ("", " ", "\t", "#"):
            name = ""
    return fields


def _inline(text: str, *, whole: bool = False) -> tuple[str, ...]:
    """The values of a list in brackets, or the one value of a scalar (``whole``)."""
    text = text.strip()
    if whole:
        found = _PIECE.fullmatch(text) if text[:1] in "\"'" else None
        value = _unquoted(found) if found else text
        return (value,) if value and value not in ("|", ">", "|-", ">-", "null", "~", "{}") else ()
    return tuple(value for piece in _PIECE.finditer(text.strip("[]")) if (value := _unquoted(piece)))


def _unquoted(piece: re.Match[str]) -> str:
    if piece[1] is not None:
        return piece[1].replace('\\"', '"').replace("\\\\", "\\")
    if piece[2] is not None:
        return piece[2].replace("''", "'")
    return piece[3].strip()


def _without_comment(text: str) -> str:
    """A value without the comment behind it; a ``#`` inside quotes, or right after a word, is no comment."""
    text = text.strip()
    if text[:1] in "\"'":
        return text
    found = re.search(r"(?:^|\s)#(?:\s|$)", text)
    return text[: found.start()].rstrip() if found else text

"""The recipe of a library search: each source brought up to date and searched by itself, then one order by similarity.

A small collection is so never crowded out by a large one: it gives as many passages as any other before they are
compared. What a score means is the same everywhere, because one model made all vectors.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from findling.model.errors import Cancelled, FindlingError

if TYPE_CHECKING:
    from findling.engine.library.reading import Nearest, Text
    from findling.engine.library.sources import Source
    from findling.model.types import Progress

SPARE = 20
"""Passages looked at beyond those asked for: some may be in files that vanished a moment ago."""

Skip = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Passage:
    """One result. ``file_path`` is absolute; ``score`` in [0, 1]; ``modified`` in seconds since 1970. ``fetched``: from
    elsewhere, so not the user's own words."""

    collection: str
    file_path: str
    chunk_index: int
    content: str
    score: float
    file_size: int
    modified: float
    chunk_offset: int
    token_count: int
    headings: tuple[str, ...] = ()
    fetched: bool = False

    @property
    def id(self) -> str:
        return f"{self.file_path}:{self.chunk_index}"


@dataclass(frozen=True, slots=True)
class LibraryResult:
    """An answer. ``total`` counts all passages that reach ``min_score``, shown or not; ``total_exact`` is False when
    there may be more. ``best_similarity`` is of any passage, None when none was compared; ``below_threshold`` counts
    the others. ``used_semantic`` is False when words decided, then ``min_score`` was not applied; where it is True,
    what a source that could not be asked by meaning has by its words comes after, and a note names the source.
    """

    query: str
    passages: tuple[Passage, ...]
    total: int
    total_exact: bool
    took_ms: float
    best_similarity: float | None
    below_threshold: int
    used_semantic: bool
    complete: bool
    sources: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Place:
    source: Source
    path: str
    index: int
    score: float

    @property
    def order(self) -> tuple[float, str, int]:
        return -self.score, self.source.absolute(self.path), self.index


def search(
    sources: Sequence[Source],
    query: str,
    *,
    limit: int,
    min_score: float,
    wait_s: float | None,
    progress: Callable[[Progress], None] | None = None,
) -> LibraryResult:
    """The passages nearest to ``query``. A file that several sources have belongs to the first of them.

    ``wait_s`` bounds the indexing before the answer, shared out among the sources. A source that cannot answer costs
    itself and is told of; raises its error when none can answer.
    """
    started = time.monotonic()
    notes: list[str] = []
    ready: list[Source] = []
    complete = True
    failure: FindlingError | None = None
    for at, source in enumerate(sources):
        if not source.root.is_dir():
            notes.append(f"{source.name}: the folder {source.root} is not there; it was not searched.")
            continue
        try:
            source.freshen(query, _share(wait_s, started, len(sources) - at), progress)
        except Cancelled:
            raise
        except FindlingError as error:
            notes.append(f"{source.name}: not searched: {error}")
            failure = error
            continue
        complete = complete and not source.left
        notes += [f"{source.name}: {left}." for left in source.left]
        ready.append(source)
    if not ready and failure is not None:
        raise failure
    apart = _apart(ready)
    compared, without = _compare(apart, query, limit, min_score)
    used_semantic = bool(compared)
    if used_semantic:
        places, counts = _by_meaning(compared)
        if without:
            places += _by_words([(source, skip) for source, skip, _ in without], query, limit)[0]
            counts = replace(counts, every=False)
            complete = False
            known = {f"{source.name}: {why}." for source, _, why in without}  # said in one sentence, not in two
            notes = [note for note in notes if note not in known]
            notes += [f"{source.name}: not searched by meaning: {why.rstrip('.')}." for source, _, why in without]
    else:
        places, counts = _by_words(apart, query, limit)
    passages, unread = _read(places, limit)
    notes += [f"{path} changed or vanished while it was searched." for path in unread]
    return LibraryResult(
        query=query,
        passages=tuple(passages),
        total=counts.reached,
        total_exact=counts.every,
        took_ms=(time.monotonic() - started) * 1000,
        best_similarity=counts.best,
        below_threshold=counts.below,
        used_semantic=used_semantic,
        complete=complete,
        sources=len(ready),
        notes=tuple(notes),
    )


def _share(wait_s: float | None, started: float, left: int) -> float | None:
    """What of the time the next of ``left`` sources may take."""
    if wait_s is None:
        return None
    return max(0.0, started + wait_s - time.monotonic()) / left


def _apart(sources: Sequence[Source]) -> list[tuple[Source, Skip]]:
    """Each source with the test for files that an earlier one has as well."""
    found: list[tuple[Source, Skip]] = []
    for at, source in enumerate(sources):
        known: set[str] = set()
        for earlier in sources[:at]:
            if earlier.root.is_relative_to(source.root) or source.root.is_relative_to(earlier.root):
                known.update(earlier.absolute(file.path) for file in earlier.passages.files())
        found.append((source, _is_in(source, known)))
    return found


def _is_in(source: Source, known: set[str]) -> Skip:
    return (lambda path: source.absolute(path) in known) if known else (lambda _: False)


# --- by meaning ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Counts:
    """How many passages reach the least score, how many do not, the best score; whether all were compared."""

    reached: int
    below: int
    best: float | None
    every: bool


def _compare(
    apart: Sequence[tuple[Source, Skip]], query: str, limit: int, min_score: float
) -> tuple[list[tuple[Source, Nearest]], list[tuple[Source, Skip, str]]]:
    """The sources that were asked by meaning, and the others that hold something, with why they were not."""
    answered: list[tuple[Source, Nearest]] = []
    without: list[tuple[Source, Skip, str]] = []
    for source, skip in apart:
        near = source.passages.nearest(query, limit + SPARE, least=min_score, without=skip)
        if near is not None and near.compared:
            answered.append((source, near))
            continue
        why = source.passages.not_by_meaning(query)
        if why and not all(skip(file.path) for file in source.passages.files()):
            without.append((source, skip, why))
        elif near is not None:
            answered.append((source, near))
    return answered, without


def _by_meaning(answered: Sequence[tuple[Source, Nearest]]) -> tuple[list[_Place], _Counts]:
    places = [
        _Place(source, place.path, place.index, place.similarity) for source, near in answered for place in near.places
    ]
    places.sort(key=lambda place: place.order)
    reached = sum(near.reached for _, near in answered)
    return places, _Counts(
        reached,
        sum(near.compared for _, near in answered) - reached,
        max((near.best for _, near in answered if near.compared), default=None),
        all(near.every for _, near in answered),
    )


# --- by words --------------------------------------------------------------------------------------------------


def _by_words(apart: Sequence[tuple[Source, Skip]], query: str, limit: int) -> tuple[list[_Place], _Counts]:
    """What the text search finds, one passage for each file.

    Its scores are relative to the best of one index, so each list counts as much as its answer is sure.
    """
    places: list[_Place] = []
    total = 0
    for source, skip in apart:
        found = source.by_words(query, limit)
        kept = [hit for hit in found.hits if not skip(hit.path)]
        total += found.total - len(found.hits) + len(kept)
        for hit in kept:
            index = source.passages.at_line(hit.path, hit.start_line)
            places.append(_Place(source, hit.path, index, min(1.0, hit.score * found.confidence)))
    places.sort(key=lambda place: place.order)
    return places, _Counts(total, 0, None, True)


# --- what they say ---------------------------------------------------------------------------------------------


def _read(places: Sequence[_Place], limit: int) -> tuple[list[Passage], list[str]]:
    """The first ``limit`` that can be read, and the files that could not be."""
    passages: list[Passage] = []
    unread: list[str] = []
    for place in places:
        if len(passages) == limit:
            break
        texts = place.source.passages.texts(place.path, [place.index])
        if texts:
            passages.append(passage(place.source, texts[0], place.score))
        elif (path := place.source.absolute(place.path)) not in unread:
            unread.append(path)
    return passages, unread


def passage(source: Source, text: Text, score: float) -> Passage:
    """A text of a source as it is shown; of a commit's files all are as old as the commit."""
    committed = source.engine.committed_at
    return Passage(
        collection=source.name,
        file_path=source.absolute(text.path),
        chunk_index=text.index,
        content=text.content,
        score=score,
        file_size=text.file_size,
        modified=text.modified if committed is None else committed,
        chunk_offset=text.offset,
        token_count=text.tokens,
        headings=text.headings,
        fetched=source.fetched,
    )

"""A search of the library: the passages of all its sources, asked as one index, in one order.

A small collection is not crowded out by a large one: of each that has few files all passages are compared.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from findling.engine.engines import Engines
from findling.engine.freshness import Freshened, Question
from findling.engine.library.results import Passage
from findling.engine.scope import may_be_asked
from findling.model.errors import EmbedderUnavailable
from findling.model.rows import FileRow
from findling.model.types import Absent, OnProgress
from findling.search import siblings
from findling.search.analysis import analyse
from findling.search.passages import TEXT_CANDIDATES, Near, by_text, near, words_score
from findling.search.passages import Passage as Chunk
from findling.search.scope import FEW

if TYPE_CHECKING:
    from findling.engine.answers import Answers
    from findling.engine.library.sources import Source
    from findling.engine.searched import Searched
    from findling.search.semantic import SemanticChannel

SPARE = 20
"""Passages looked at beyond those asked for: some may be in files that vanished a moment ago."""


class LibraryResult(Struct, frozen=True):
    """An answer. ``total`` counts all passages that reach ``min_score``, shown or not; ``total_exact`` is False when
    there may be more. ``best_similarity`` is of any passage, None when none was compared; ``below_threshold`` counts
    the others. ``used_semantic`` is False when words decided, then ``min_score`` was not applied; where it is True,
    what a source that could not be asked by meaning has by its words comes after, and a note names the source.
    ``complete``: all of every source was searched; ``unfinished``: indexing would make it so. ``absent``: what of the
    query occurs in no file of theirs.
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
    unfinished: bool
    sources: int
    notes: tuple[str, ...] = ()
    absent: tuple[Absent, ...] = ()


class _Place(Struct, frozen=True):
    """A passage of a source, by its file's path in it and its place in the file. ``similarity``: None where only words
    were compared; then ``rank`` is its place among those, from 1. ``translations``: how many stand under its page, told
    of the page's first passage."""

    source: Source
    path: str
    index: int
    similarity: float | None
    rank: int
    translations: int = 0


class _Found(Struct, frozen=True):
    """Places best first. How many passages reach the least score, how many do not, the best score; whether all were
    counted. ``lacking``: the sources that could not be asked by meaning, and why; ``only_words``: why none could."""

    places: Sequence[_Place]
    reached: int
    below: int = 0
    best: float | None = None
    every: bool = True
    used_semantic: bool = False
    lacking: Sequence[tuple[Source, str]] = ()
    only_words: str = ""
    absent: tuple[Absent, ...] = ()


def search(
    sources: Sequence[Source],
    query: str,
    *,
    limit: int,
    min_score: float,
    wait_s: float | None,
    progress: OnProgress | None = None,
) -> LibraryResult:
    """The passages nearest to ``query``. A file that several sources have belongs to the first of them.

    ``wait_s`` bounds the indexing before the answer, shared out among the sources. A source that cannot answer costs
    itself and is told of; raises its error when none can answer.
    """
    started = time.monotonic()
    notes = [
        f"{source.name}: the folder {source.root} is not there; it was not searched."
        for source in sources
        if not source.root.is_dir()
    ]
    ready = {str(at): source for at, source in enumerate(sources) if source.root.is_dir()}
    found = _Found((), 0)
    if ready:
        engines = Engines({key: source.engine for key, source in ready.items()})
        may_hold = {key: may_be_asked(source.engine.scope, kind=source.kind) for key, source in ready.items()}

        def within(path: str) -> bool:
            key, _, own = path.partition("/")
            return may_hold[key](own)

        def answered(answers: Answers, fresh: Freshened) -> _Found:
            # First: `without_meaning` tells later of the channel opened last, which must be that of the documents.
            absent = answers.absent(query, fresh)
            return replace(_Asked(answers.searched, ready.values()).passages(query, limit, min_score), absent=absent)

        found = engines.answered(
            Question(query, within=within, wait_s=wait_s, progress=progress),
            answered,
        )
        for key, source in ready.items():
            if key in engines.problems:
                notes.append(f"{source.name}: not searched: {engines.problems[key]}")
            else:
                source.note_left(*engines.fresh[key])
                notes += [f"{source.name}: {left}." for left in source.left]
        ready = {key: source for key, source in ready.items() if key not in engines.problems}
    known = {f"{source.name}: {why}." for source, why in found.lacking}  # said in one sentence, not in two
    notes = [note for note in notes if note not in known]
    notes += [f"{source.name}: not searched by meaning: {why.rstrip('.')}." for source, why in found.lacking]
    if found.only_words:
        notes.append(f"Only words were compared: {found.only_words.rstrip('.')}.")
    unfinished = any(source.left for source in ready.values())
    shown, unread = _read(query, found.places, limit)
    notes += [f"{path} changed or vanished while it was searched." for path in unread]
    return LibraryResult(
        query=query,
        passages=tuple(shown),
        total=found.reached,
        total_exact=found.every,
        took_ms=(time.monotonic() - started) * 1000,
        best_similarity=found.best,
        below_threshold=found.below,
        used_semantic=found.used_semantic,
        complete=not (unfinished or found.lacking) and len(ready) == len(sources),
        unfinished=unfinished,
        sources=len(ready),
        notes=tuple(notes),
        absent=tuple(_with_whole_paths(each, ready) for each in found.absent),
    )


def _with_whole_paths(absent: Absent, sources: Mapping[str, Source]) -> Absent:
    """What is nearest by the paths that results have; those of the index begin with a source's key."""

    def whole(path: str) -> str:
        key, _, own = path.partition("/")
        return sources[key].absolute(own)

    nearest = tuple(
        replace(near, path=whole(near.path), text=whole(near.text) if absent.kind == "path" else near.text)
        for near in absent.nearest
    )
    return replace(absent, nearest=nearest, meant=nearest[0].text if absent.meant and nearest else "")


class _Asked:
    """The sources as one index, for one question."""

    def __init__(self, searched: Searched, sources: Iterable[Source]) -> None:
        """``sources``: those that are searched, and perhaps more."""
        by_store = {source.store: source for source in sources}
        self._sources = [by_store[store] for store in searched.stores]
        self._searched = searched

    def passages(self, query: str, limit: int, min_score: float) -> _Found:
        """By meaning; what can only be asked by words comes after, or decides where nothing can be by meaning."""
        index = self._searched.index
        with index.snapshot():
            files = self._files(index.listing())
            channel = self._searched.channel(documents=True)
            nearest = _near(self._searched, channel, query, files, limit, min_score) if channel else None
            compared = {self._source(entry) for entry in nearest.entries} if nearest else set()
            silent = [at for at in range(len(self._sources)) if at not in compared]
            unasked = [file for file in files if self._source(file.entry_id) in silent]
            by_words = self._by_words(query, limit, unasked) if unasked else _Found((), 0)
        if channel is None or nearest is None or (unasked and not compared):
            return replace(by_words, only_words=self._why_none())
        lacking = [(self._sources[at], self._why(at)) for at in sorted({self._source(f.entry_id) for f in unasked})]
        of_each = Counter(file.collection for file in files)
        similarity = channel.calibration.similarity
        return _Found(
            [*self._places(nearest.passages, nearest.translations, similarity), *by_words.places],
            nearest.above + by_words.reached,
            nearest.below,
            similarity(nearest.best) if nearest.above + nearest.below else None,
            not lacking and all(number <= FEW for number in of_each.values()),
            True,
            lacking,
        )

    def _source(self, entry_id: int) -> int:
        return self._searched.collection_of(entry_id)

    def _files(self, every: Sequence[FileRow]) -> list[FileRow]:
        """The files that may be in an answer, each once: of the first source that has it."""
        first: dict[str, tuple[int, FileRow]] = {}
        for file in every:
            at, own = self._searched.owner(file)
            if self._sources[at].allows(own):
                path = self._sources[at].absolute(own.path)
                known = first.get(path)
                if known is None or at < known[0]:
                    first[path] = at, file
        return [file for _, file in first.values()]

    def _why(self, at: int) -> str:
        """Why a source could not be asked by meaning."""
        return self._searched.by_words.get(at) or self._sources[at].pending() or "it has no vectors"

    def _why_none(self) -> str:
        """Why no source could be asked by meaning."""
        if (problem := self._searched.problem) is not None:
            return problem.message
        return next(
            filter(None, (source.pending() for source in self._sources)), "the model knows no word of the query"
        )

    def _by_words(self, query: str, limit: int, files: Sequence[FileRow]) -> _Found:
        """What the text search finds, one passage for each file."""
        asked = analyse(query)
        found = by_text(self._searched.index, asked, files)
        folded = siblings.in_one_language((passage.file for passage in found), english=asked.is_english)
        best: dict[int, Chunk] = {}
        for passage in found:
            if passage.file.entry_id not in folded.gone:
                best.setdefault(passage.file.entry_id, passage)
        places = self._places(list(best.values())[: limit + SPARE], folded.translations)
        return _Found(places, len(best), every=len(found) < TEXT_CANDIDATES)

    def _places(
        self,
        found: Sequence[Chunk],
        translations: Mapping[int, Sequence[FileRow]],
        similarity: Callable[[float], float] | None = None,
    ) -> list[_Place]:
        places = []
        untold = dict(translations)
        for rank, passage in enumerate(found, 1):
            at, own = self._searched.owner(passage.file)
            near = similarity(passage.cosine) if similarity else None
            others = untold.pop(passage.file.entry_id, ())
            places.append(_Place(self._sources[at], own.path, passage.ordinal, near, rank, len(others)))
        return places


def _near(
    searched: Searched, channel: SemanticChannel, query: str, files: Sequence[FileRow], limit: int, min_score: float
) -> Near | None:
    """The nearest passages; None where the model knows no word of the query, or does not answer."""
    try:
        if not channel.encode(query).any():
            return None
    except EmbedderUnavailable:
        return None
    least = channel.calibration.least_cosine(min_score)
    return near(searched.index, channel, query, files, limit=limit + SPARE, least=least)


# --- what they say ---------------------------------------------------------------------------------------------


def _read(query: str, places: Sequence[_Place], limit: int) -> tuple[list[Passage], list[str]]:
    """The first ``limit`` that can be read, with their scores, and the files that could not be."""
    shown: list[Passage] = []
    unread: list[str] = []
    least = 1.0
    for place in places:
        if len(shown) == limit:
            break
        if found := place.source.passages(place.path, [place.index]):
            score = place.similarity
            if score is None:
                score = words_score(query, place.rank, place.path, found[0].content)
            least = min(least, score)
            by_words = place.similarity is None
            shown.append(replace(found[0], score=least, by_words=by_words, translations=place.translations))
        elif (path := place.source.absolute(place.path)) not in unread:
            unread.append(path)
    return shown, unread

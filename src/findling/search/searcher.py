"""The recipe of a query: analyse -> plan -> channels -> candidates -> ranking -> places -> answer.

The only file that knows all stages. It reads the index and, for what is shown, the files' text through a callable
that the engine hands in; it never writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from findling.errors import EmbedderUnavailable, InvalidInput
from findling.plurals import count
from findling.search import asked_path, keyword, messages, places, readings, symbol
from findling.search.analysis import QueryTerms, analyse
from findling.search.intent import IntentGuess, classify
from findling.search.planner import Plan, plan
from findling.search.ranking import Evidence, RankedFile, rank
from findling.search.ranking.said import Nearness
from findling.search.scope import Scope, resolve
from findling.store.reader import IndexReader, OnlyThese
from findling.store.rows import FileRow
from findling.types import Channel, Hit, Query

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from findling.search.exact import ExactSource
    from findling.search.semantic import SemanticChannel

CHUNK_CANDIDATES = 200
FILE_CANDIDATES = 50
SEMANTIC_CANDIDATES = 300
"""What each channel proposes. With these the right file is among the candidates as often as with all files."""

KEYWORD_FILES = 40
SEMANTIC_FILES = 30
NAME_FILES = 20
EXACT_FILES = 40
SYMBOL_FILES = 30
"""Of those, the files that go on to the ranking, from the top of each channel's list."""

ENOUGH_VECTORS = 0.5
"""While fewer of the candidates have vectors, the few that do would win by having them; text alone decides then."""


class _Meanings(NamedTuple):
    """How near words of texts, and names, are to a query's words, and to a text."""

    of_words: Nearness
    of_names: Callable[[str, Sequence[str]], Sequence[float]]


ReadLines = Callable[[FileRow], Sequence[str] | None]


@dataclass(frozen=True, slots=True)
class Found:
    """A finished search. ``total`` counts the files that any channel proposed within the scope."""

    hits: tuple[Hit, ...]
    total: int
    intent: IntentGuess
    plan: Plan
    ranked: tuple[RankedFile, ...]
    used: frozenset[Channel]


class Searcher:
    """Answers queries over one index. ``own_name`` is the repository's name; ``semantic`` is None without vectors."""

    def __init__(
        self,
        reader: IndexReader,
        read_lines: ReadLines,
        *,
        own_name: str = "",
        semantic: Callable[[], SemanticChannel | None] = lambda: None,
        exact_files: Callable[[], ExactSource] | None = None,
    ) -> None:
        self._reader = reader
        self._read_lines = read_lines
        self._own_name = own_name
        self._semantic = semantic
        self._exact_files = exact_files
        self._meanings: _Meanings | None = None

    def search(self, query: Query, *, scope_path: str = "") -> Found:
        """The answer to a validated query, within a folder when ``scope_path`` names one."""
        guess = classify(query.text)
        terms = analyse(query.text, own_name=self._own_name)
        chosen = plan(query.mode, guess.intent, query.text if query.mode == "exact" else terms.text)
        with self._reader.snapshot():
            if self._reader.manifest is None:
                return Found((), 0, guess, chosen, (), frozenset())
            scope = resolve(self._reader, query, scope_path)
            candidates, evidence, proposed = self._candidates(terms, chosen, scope)
            use = chosen.signals(evidence)
            meanings = self._open_meanings() if "said" in use else None
            describes = guess.intent == "natural_language"  # names, paths and errors are meant to the letter
            ranked = rank(
                self._reader,
                terms,
                candidates,
                evidence,
                use=use,
                most=query.limit,
                with_priors=chosen.priors,
                near=partial(meanings.of_names, terms.meant) if meanings and describes else None,
            )
            read = self._readings(terms, ranked, meanings.of_words if meanings else None)
            hits = places.hits(self._reader, self._read_lines, terms, ranked[: query.limit], proposed, query, read)
        return Found(tuple(hits), len(ranked), guess, chosen, tuple(ranked), frozenset(proposed))

    def _open_meanings(self) -> _Meanings | None:
        """By the bundled model's words, whichever model the index has; None when it is damaged."""
        if self._meanings is None:
            from findling.embedding import bundled, word_nearness  # they load numpy

            try:
                embedder = bundled.shared()
            except EmbedderUnavailable:
                return None
            of_words = partial(word_nearness.nearness, embedder)
            self._meanings = _Meanings(of_words, word_nearness.NameCosines(embedder))
        return self._meanings

    def _readings(
        self, terms: QueryTerms, ranked: list[RankedFile], near: Nearness | None
    ) -> dict[int, dict[int, readings.Reading]]:
        """What the first files' places say; with vectors it orders these files again."""
        found = readings.read(
            self._reader,
            self._read_lines,
            terms,
            ranked,
            lambda item: places.chunk_values(
                item,
                self._reader.chunks(item.file.blob_id),
                self._reader.symbols(item.file.blob_id),
                tests_wanted="test" in terms.wants,
            ),
            near,
        )
        if near is not None:
            readings.weigh(ranked, found)
        return found

    def _candidates(
        self, terms: QueryTerms, chosen: Plan, scope: Scope
    ) -> tuple[list[FileRow], Evidence, dict[Channel, set[int]]]:
        reader = self._reader
        proposed: dict[Channel, set[int]] = {}
        entries: dict[int, None] = {}

        def take(channel: Channel, proposals: Mapping[int, float] | Iterable[int], most: int) -> None:
            kept = scope.keep(reader, proposals, most)
            proposed.setdefault(channel, set()).update(kept)
            entries.update(dict.fromkeys(kept))

        text = keyword.KeywordHits({}, {})
        if "keyword" in chosen.channels:
            text = keyword.search(
                reader,
                terms,
                chunk_limit=CHUNK_CANDIDATES,
                file_limit=FILE_CANDIDATES,
                scope=scope,
            )
            take("keyword", {entry: max(found.values()) for entry, found in text.chunks.items()}, KEYWORD_FILES)
            take("keyword", text.files, NAME_FILES)
        definitions = {}
        if "symbol" in chosen.channels:
            scoped = scope.allowed is not None
            definitions = symbol.search(reader, terms, scoped=scoped)
            if chosen.mode == "symbol":
                definitions = symbol.search_alike(reader, terms, OnlyThese(scope.blobs)) | definitions
            firsts = {blob: found[0] for blob, found in definitions.items()}
            strongest = sorted(firsts, key=lambda blob: (firsts[blob].alike, -firsts[blob].strength, blob))
            owners = reader.files_of_blobs(strongest if scoped else strongest[: SYMBOL_FILES * 4])
            place = {blob: i for i, blob in enumerate(strongest)}
            owners.sort(key=lambda file: (place[file.blob_id], file.path))
            take("symbol", (file.entry_id for file in owners), SYMBOL_FILES)
        asked_paths: dict[int, int] = {}
        if "keyword" in chosen.channels:
            asked_paths = self._asked_paths(terms.text, scope)
            take("keyword", asked_paths, asked_path.MOST)
        exact: dict[int, int] = {}
        if chosen.exact_text:
            exact = self._exact(chosen.exact_text, scope)
            take("exact", exact, EXACT_FILES)
        said: dict[int, messages.Said] = {}
        if chosen.mode == "auto" and chosen.intent in ("natural_language", "error"):
            said = messages.find(reader, self._read_lines, terms.text, scope, list(entries))
            if said:  # what a message quotes was filled in, and stands anywhere
                exact = {entry: line for entry, line in exact.items() if entry in said}
                take("exact", {entry: each.share for entry, each in said.items()}, EXACT_FILES)
        cosines = None
        if "semantic" in chosen.channels and (channel := self._semantic()) is not None:
            vector = _encoded(channel, terms.meant)
            if vector is not None and vector.any():
                take("semantic", self._near(channel, vector, scope), SEMANTIC_FILES)
                cosines = channel.cosines(vector, entries)
                if chosen.mode != "semantic" and len(cosines) < len(entries) * ENOUGH_VECTORS:
                    cosines = None
        files = list(reader.files(entries).values())
        return files, Evidence(text, definitions, cosines, exact, asked_paths, said), proposed

    def _asked_paths(self, text: str, scope: Scope) -> dict[int, int]:
        """Entry -> the line that was asked for, of the files whose path the query is, or its end."""
        asked = asked_path.asked(text)
        if asked is None:
            return {}
        path, line = asked
        files = map(self._reader.file_at, asked_path.meant(path, self._reader.known_files().keys()))
        return {
            file.entry_id: min(line, file.lines)
            for file in files
            if file is not None and (scope.allowed is None or file.entry_id in scope.allowed)
        }

    def _exact(self, wanted: str, scope: Scope) -> dict[int, int]:
        """Entry -> first line where a text stands, in path order, for the first files that hold it."""
        from findling.search.exact import exact_places  # most questions quote nothing

        found: dict[int, int] = {}
        if self._exact_files is None:
            return found
        for ref, line in exact_places(self._exact_files(), wanted):
            file = self._reader.file_at(ref.path)
            if file is not None and (scope.allowed is None or file.entry_id in scope.allowed):
                found[file.entry_id] = line
                if len(found) == EXACT_FILES:
                    break
        return found

    def _near(self, channel: SemanticChannel, vector: NDArray[np.float32], scope: Scope) -> dict[int, float]:
        """Entries near a vector and how near: among the scope's own when these are few, else by the bits of all."""
        if scope.entries is None:
            own = partial(scope.own, self._reader)
            return channel.propose(vector, SEMANTIC_CANDIDATES, own, scope.over_fetch, files=SEMANTIC_FILES)
        cosines = channel.cosines(vector, scope.entries)
        return {entry: float(found.own.max()) for entry, found in cosines.items() if len(found.own)}

    def similar(self, file: FileRow, *, line: int | None, query: Query, scope_path: str = "") -> Found:
        """What is like a file, or like the place around one of its lines; the file itself is never in the answer."""
        chosen = plan("semantic", "natural_language", "")
        guess = IntentGuess("natural_language", 1.0, None)
        with self._reader.snapshot():
            channel = self._semantic()
            if channel is None:
                return Found((), 0, guess, chosen, (), frozenset())
            start, stop = chunks_at(self._reader, file, line)
            vector = channel.mean_vector(file.entry_id, start, stop)
            if vector is None:
                return Found((), 0, guess, chosen, (), frozenset())
            scope = resolve(self._reader, query, scope_path)
            near = self._near(channel, vector, scope)
            near.pop(file.entry_id, None)
            kept = scope.keep(self._reader, near, SEMANTIC_FILES)
            evidence = Evidence(keyword.KeywordHits({}, {}), {}, channel.cosines(vector, kept))
            candidates = list(self._reader.files(kept).values())
            terms = analyse(PurePosixPath(file.path).stem)
            window = frozenset(("window",))
            ranked = rank(self._reader, terms, candidates, evidence, use=window, most=query.limit, with_priors=False)
            hits = places.hits(
                self._reader, self._read_lines, terms, ranked[: query.limit], {"semantic": set(kept)}, query, {}
            )
            hits = [replace(hit, score=_unit(item.window_cosine)) for hit, item in zip(hits, ranked, strict=False)]
        return Found(tuple(hits), len(ranked), guess, chosen, tuple(ranked), frozenset(("semantic",)))


def chunks_at(reader: IndexReader, file: FileRow, line: int | None) -> tuple[int, int | None]:
    """The range of a file's chunks that touch a line; all of them without one. Raises `InvalidInput`."""
    if line is None:
        return 0, None
    if line < 1:
        raise InvalidInput(f"There is no line {line}: lines begin at 1, and {file.path} ends with {file.lines}.")
    if line > file.lines:
        raise InvalidInput(f"{file.path} has {count(file.lines, 'line')}; there is no line {line}.")
    chunks = reader.chunks(file.blob_id)
    touching: Sequence[int] = [i for i, chunk in enumerate(chunks) if chunk.start_line <= line <= chunk.end_line]
    if not touching:  # a blank line between two chunks
        nearest = min(range(len(chunks)), key=lambda i: abs(chunks[i].start_line - line), default=0)
        return nearest, nearest + 1
    return touching[0], touching[-1] + 1


def _encoded(channel: SemanticChannel, text: str) -> NDArray[np.float32] | None:
    """None when the embedder does not answer; it remembers why, and whoever opened it says so."""
    try:
        return channel.encode(text)
    except EmbedderUnavailable:
        return None


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value))

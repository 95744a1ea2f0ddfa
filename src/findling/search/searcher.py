"""The recipe of a query: analyse -> plan -> channels -> candidates -> ranking -> places -> answer.

Where a query has a gate, text is ranked first, and decides whether meaning is asked. Where it has weights, each
channel's own list of places is mixed instead.

The only file that knows all stages. It reads the index and, for what is shown, the files' text through a callable
that the engine hands in; it never writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache, partial
from itertools import chain
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from findling import embedding
from findling.model import tokenizer
from findling.model.errors import EmbedderUnavailable, InvalidInput
from findling.model.languages import is_document
from findling.model.plurals import count
from findling.model.rows import FileRow
from findling.model.types import Absent, Channel, Grounds, Group, Hit, Mode, Query, Skip
from findling.search import asked_path, fusion, gate, keyword, messages, places, readings, siblings, symbol
from findling.search.absence import ALL_READ, Absence, Claims, Unread, Verdict, claims, to_the_letter
from findling.search.analysis import FOREIGN_WEIGHT, MAX_QUESTION, QueryTerms, analyse
from findling.search.body import Body
from findling.search.exact import ExactSource
from findling.search.fusion import Merged, Scored, as_they_are, fuse_weighted
from findling.search.gate import TextOrder, text_order
from findling.search.intent import IntentGuess, classify
from findling.search.pasted import PROSE_FILES, Led, Pasted, frames, frames_in, is_pasted, lookup, take_apart
from findling.search.pasted import ahead as lookup_ahead
from findling.search.planner import Plan, plan
from findling.search.query import without_courtesy, without_form
from findling.search.ranking import formula, ranker, sides
from findling.search.ranking.ranked_file import RankedFile
from findling.search.ranking.ranker import Evidence, rank
from findling.search.readings import Nearness
from findling.search.scope import EVERYWHERE, Scope, is_scoped, resolve
from findling.search.snippet import make_snippet
from findling.store.protocols import Index, OnlyThese

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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

FEW_FILES = 5
RARE = 2.0
"""If at most `FEW_FILES` files hold a query that is a piece of code, they stand before files that only have its words:
holding it then weighs `RARE`."""

WHOLE_TEXTS: frozenset[Mode] = frozenset(("auto", "hybrid", "keyword"))
"""Modes in which a pasted text is taken apart; the others ask for one thing."""

COMPARED = 2
"""Places that are looked at even if only one is shown: every answer tells how far the first one leads."""

ENOUGH_VECTORS = 0.5
"""If a smaller share of the candidates has vectors, text alone decides: the few with vectors would win just by having
them."""


class _Meanings(NamedTuple):
    """How near in meaning words and names are to a query, and how specific words are."""

    of_words: Nearness
    of_names: Callable[[str, Sequence[str]], Sequence[float]]
    specific: Callable[[Sequence[str]], Sequence[float]]


ReadLines = Callable[[FileRow], Sequence[str] | None]


class Found(NamedTuple):
    """A finished search.

    ``terms`` ranked the files; None where no question did. ``ranked``: the files in the order that decided. ``total``:
    how many files any channel proposed within the scope, or the places of all lists. ``groups``: code and documents,
    where both may be meant. ``skip``: why meaning had no part in it; ``ratio``: what it weighed; ``failed``: what the
    embedder said. ``absent``: what of the question does not occur. ``notes``: what else there is to say of it.
    ``bodies``: what makes the body of each hit, where files were read. ``second``: the second place and its grounds,
    where only one was asked for. ``lacking``: words of the question that the
    first file lacks, with how specific each is, in (0, 1]; empty without vectors."""

    intent: IntentGuess
    plan: Plan
    terms: QueryTerms | None = None
    hits: tuple[Hit, ...] = ()
    grounds: tuple[Grounds, ...] = ()
    bodies: tuple[Callable[[], Body], ...] = ()
    second: tuple[Hit, Grounds] | None = None
    total: int = 0
    ranked: tuple[RankedFile, ...] = ()
    ran: frozenset[Channel] = frozenset()
    skip: Skip | None = None
    failed: EmbedderUnavailable | None = None
    ratio: float = 0.0
    text_confidence: float = 0.0
    absent: tuple[Absent, ...] = ()
    notes: tuple[str, ...] = ()
    groups: tuple[Group, ...] = ()
    lacking: Mapping[str, float] = {}


class _Candidates:
    """The files that channels propose within a scope, with their evidence."""

    def __init__(self, reader: Index, scope: Scope) -> None:
        self._reader = reader
        self.scope = scope
        self.proposed: dict[Channel, set[int]] = {}
        self.near: dict[int, int] = {}
        """Entry -> its rank, from 1, among the proposals of vectors."""
        self.entries: dict[int, None] = {}
        self.evidence = Evidence(keyword.KeywordHits({}, {}), {}, None)
        self.is_typed = False
        """Whether the query is the first line of a definition."""

    def take(self, channel: Channel, proposals: Mapping[int, float] | Iterable[int], most: int) -> list[int]:
        """Make the first ``most`` proposals within the scope candidates."""
        kept = self.scope.keep(self._reader, proposals, most)
        self.proposed.setdefault(channel, set()).update(kept)
        self.entries.update(dict.fromkeys(kept))
        return kept

    @property
    def files(self) -> list[FileRow]:
        return list(self._reader.files(self.entries).values())


class Searcher:
    """Answers queries over one index. ``semantic`` is None without vectors."""

    def __init__(
        self,
        reader: Index,
        read_lines: ReadLines,
        *,
        semantic: Callable[[], SemanticChannel | None] = lambda: None,
        exact_files: Callable[[], ExactSource] | None = None,
    ) -> None:
        self.index = self._reader = reader
        self._read_lines = read_lines
        self._semantic = semantic
        self._exact_files = exact_files
        self._meanings: _Meanings | None = None

    def search(self, query: Query, *, unread: Unread = ALL_READ, scope_path: str = "") -> Found:
        """The answer to a validated query, within a folder when ``scope_path`` names one. ``unread``: what is there
        beside the index, which is looked at before anything is called absent."""
        guess = classify(query.text)
        with self._reader.snapshot():
            self._reader.ahead(*self._first_asks(query, guess, unread, scope_path))
            if self._reader.manifest is None:
                return self._nothing(query, guess, "no_vectors")
            scope = resolve(self._reader, query, scope_path)
            if query.mode == "exact":
                found = self._found(query, scope)
                verdict = (
                    Verdict() if found.hits else self._absence(unread, scope).of(query.text, to_the_letter(query.text))
                )
            else:
                verdict = self._absent(query, guess, unread, scope)
                instead = replace(query, text=verdict.instead or query.text)
                found = self._nothing(query, guess, "sure") if verdict.ends else self._found(instead, scope)
        return found._replace(intent=guess, absent=verdict.absent, notes=(*verdict.notes, *found.notes))

    def _first_asks(
        self, query: Query, guess: IntentGuess, unread: Unread, scope_path: str
    ) -> Iterator[Callable[[Index], object]]:
        """What every question reads from the index before anything is proposed (`Index.ahead`)."""
        reader = self._reader
        parts = cache(lambda: _pasted_in(query))
        scoped = bool(scope_path) or is_scoped(query)

        def words(index: Index) -> None:
            pasted = parts()
            for text in filter(None, (pasted.title, pasted.prose) if pasted else (query.text,)):
                terms = analyse(text)
                self._keyword(terms, EVERYWHERE)
                symbol.search(index, terms, scoped=scoped)
                self._asked_paths(terms.text, EVERYWHERE)
                ranker.counts(index, terms)

        yield lambda _: resolve(reader, query, scope_path)
        yield words
        yield lambda _: self._absence(unread, EVERYWHERE).ahead(self._claims(query, guess))
        yield lambda index: lookup_ahead(index, pasted, EVERYWHERE, ()) if (pasted := parts()) else None

    def _nothing(self, query: Query, guess: IntentGuess, why: Skip) -> Found:
        """An answer without places. ``why``: the reason why meaning was not asked, unless the query's gate tells it."""
        skip = gate.skipped(query.gate, guess.intent, 0.0) or why if query.gate is not None else None
        return Found(guess, self._plan(query, guess), skip=skip)

    def _plan(self, query: Query, guess: IntentGuess) -> Plan:
        return plan(query.mode, guess.intent, query.text if query.mode == "exact" else without_form(query.text))

    def _absent(self, query: Query, guess: IntentGuess, unread: Unread, scope: Scope) -> Verdict:
        """The parts of a question that occur nowhere. Searching by meaning finds what is like them all the same."""
        asked = self._claims(query, guess)
        if not asked.these:
            return Verdict()
        if query.weights is None and _pasted_in(query) is None:  # most do occur: what proposes comes with their texts
            is_gated = query.gate is not None
            self._reader.ahead(lambda _: self._ask(query.text, self._plan(query, guess), scope, gated=is_gated))
        found = self._absence(unread, scope).of(without_form(query.text), asked)
        if query.mode != "semantic":
            return found
        return Verdict(tuple(replace(each, whole=False) for each in found.absent), notes=found.notes)

    def _claims(self, query: Query, guess: IntentGuess) -> Claims:
        """The names, paths and texts that a question takes for granted."""
        return claims(without_form(query.text), guess.intent, self._is_word)

    def absent(self, text: str, *, unread: Unread, scope_path: str = "") -> tuple[Absent, ...]:
        """The parts of a question that are known to occur nowhere, without answering it."""
        with self._reader.snapshot():
            if self._reader.manifest is None:
                return ()
            query = Query(text)
            return self._absent(query, classify(text), unread, resolve(self._reader, query, scope_path)).absent

    def _absence(self, unread: Unread, scope: Scope) -> Absence:
        return Absence(self._reader, self._read_lines, self._exact_files, unread, scope)

    @staticmethod
    def _is_word(text: str) -> bool:
        """Whether a text consists of words, as far as can be told."""
        try:
            return embedding.knows(text)
        except EmbedderUnavailable:
            return True

    def _found(self, query: Query, scope: Scope) -> Found:
        guess, pasted = classify(query.text), _pasted_in(query)
        if pasted:
            query = replace(query, text=pasted.title or query.text)
        terms = analyse(query.text)
        chosen = self._plan(query, classify(query.text) if pasted else guess)
        if query.weights is not None:
            return self._mix(query, query.weights, terms, guess, chosen, scope)
        return self._ranked(query, terms, guess, chosen, scope, pasted)

    def _ranked(
        self, query: Query, terms: QueryTerms, guess: IntentGuess, chosen: Plan, scope: Scope, pasted: Pasted | None
    ) -> Found:
        """The best files, a place of each; where the query has a gate, text decides first whether meaning is asked.
        ``pasted``: the text that the query is the title of; its other parts lead to files, too."""
        if pasted:
            self._reader.ahead(
                lambda _: self._ask(pasted.prose, _plan_of_prose(query), scope, gated=query.gate is not None),
                lambda index: lookup_ahead(index, pasted, scope, ()),
            )
        candidates = self._proposed(terms, chosen, scope, gated=query.gate is not None, typed=query.text)
        prose: _Candidates | None = None  # proposed for before a text is read, so that all texts come together
        if pasted and pasted.prose:
            prose = self._proposed(analyse(pasted.prose), _plan_of_prose(query), scope)
            self._reader.ahead(lambda index: lookup_ahead(index, pasted, scope, list(candidates.entries)))
        candidates = self._with_messages(terms, chosen, candidates)
        text: TextOrder | None = None
        skip: Skip | None = None
        failed: EmbedderUnavailable | None = None
        if query.gate is not None:
            by_text = candidates.proposed.get("keyword", set()) | candidates.proposed.get("exact", set())
            ranked = self._rank(terms, chosen, candidates)
            text = text_order(self._reader, terms, guess.intent, ranked, by_text)
            skip = gate.skipped(query.gate, guess.intent, text.confidence)
        titled = set(candidates.entries)
        led = self._led(query, pasted, candidates, prose, by_meaning=skip is None) if pasted else None
        if skip is None and "semantic" in chosen.channels:
            skip, failed = self._propose_by_meaning(terms, chosen, candidates)
            titled.update(candidates.near)
        if text is not None and skip is not None and led is None:
            ranked, ratio = text.ranked, 0.0
        else:
            ranked, ratio = self._rank(terms, chosen, candidates), gate.EVEN if skip is None else 0.0
        if led is not None:
            led.weigh(ranked)
        first = ranked[: query.offset + max(query.limit, COMPARED) + readings.READ_FILES]
        self._reader.ahead(lambda index: [index.doc_text(item.file.blob_id) for item in first])
        read = self._readings(terms, ranked)
        if query.gate is not None and text is not None and skip is None:
            ratio = gate.ratio(query.gate, guess.intent, text.confidence)
            _weigh_meaning(ranked, ratio)
        most = max(query.limit, COMPARED)
        if led is None and chosen.intent == "natural_language":
            ranked = siblings.fold(self._reader, terms, ranked, scope, most)
        ranked = siblings.without_bundles(self._reader, terms, ranked, most)
        shown = ranked[query.offset : query.offset + max(query.limit, COMPARED)]
        listed = len(shown)
        may_leave_out = query.bodies == "auto" and not query.explain and query.mode in WHOLE_TEXTS and led is None
        while may_leave_out and chosen.intent == "natural_language" and _is_unlikely(shown):
            del shown[-1]
        notes = (f"{count(left_out, 'unlikely place')} not listed.",) if (left_out := listed - len(shown)) else ()
        found = places.hits(self._reader, self._read_lines, terms, shown, candidates.proposed, query, read)
        hits = [hit for hit, _ in found]
        if led is not None:
            hits = [
                replace(hit, parts=led.parts(item, item.file.entry_id in titled))
                for hit, item in zip(hits, shown, strict=True)
            ]
        grounds = self._grounds(query, candidates.near, shown, hits, text)
        return Found(
            guess,
            chosen,
            terms,
            tuple(hits[: query.limit]),
            grounds[: query.limit],
            tuple(body for _, body in found[: query.limit]),
            (hits[1], grounds[1]) if len(hits) > query.limit else None,
            len(ranked),
            tuple(ranked),
            frozenset(candidates.proposed),
            skip,
            failed,
            ratio,
            text.confidence if text else 0.0,
            notes=notes,
            groups=sides.groups(terms.wants, ranked) if chosen.intent == "natural_language" and led is None else (),
            lacking=self._lacking(terms, ranked[0]) if ranked else {},
        )

    def _led(
        self, query: Query, pasted: Pasted, candidates: _Candidates, prose: _Candidates | None, *, by_meaning: bool
    ) -> Led:
        """The files that the other parts of a pasted text lead to; they become candidates of its title. ``prose``: the
        candidates of its prose."""
        led = lookup(self._reader, self._read_lines, pasted, candidates.scope, list(candidates.entries))
        if prose is not None:
            terms, chosen = analyse(pasted.prose), _plan_of_prose(query)
            found = self._with_messages(terms, chosen, prose)
            if by_meaning and "semantic" in chosen.channels:
                self._propose_by_meaning(terms, chosen, found)
            ranked = self._rank(terms, chosen, found)[:PROSE_FILES]
            best = max((item.rank_value for item in ranked), default=0.0)
            for item in ranked:
                if item.rank_value > 0:
                    led.note(item.file.entry_id, "prose", item.rank_value / best)
        candidates.take("exact", led.by("frame", "quoted_there"), EXACT_FILES)
        candidates.take("symbol", led.by("named_there"), SYMBOL_FILES)
        candidates.take("keyword", led.by("prose"), PROSE_FILES)
        return led

    def _rank(self, terms: QueryTerms, chosen: Plan, candidates: _Candidates) -> list[RankedFile]:
        evidence = candidates.evidence
        use = chosen.signals(evidence)
        meanings = self._open_meanings() if "said" in use else None
        describes = chosen.intent == "natural_language"  # names, paths and errors are searched to the letter
        return rank(
            self._reader,
            terms,
            candidates.files,
            evidence,
            use=use,
            with_priors=chosen.priors,
            near=partial(meanings.of_names, terms.meant) if meanings and describes else None,
        )

    def _grounds(
        self,
        query: Query,
        near: Mapping[int, int],
        shown: Sequence[RankedFile],
        hits: Sequence[Hit],
        text: TextOrder | None,
    ) -> tuple[Grounds, ...]:
        """The evidence for each hit. ``near``: entry -> its rank, from 1, among those near in meaning."""
        channel = self._semantic() if near else None
        found = []
        for item, hit in zip(shown, hits, strict=True):
            ranks = dict(text.ranks.get(hit.path, {})) if text else {}
            if rank_near := near.get(item.file.entry_id):
                ranks["semantic"] = rank_near
            cosine = item.best_cosine if item.cosines is not None else None
            lines = self._read_lines(item.file) if query.place_lines else None
            found.append(
                Grounds(
                    places.text_of(lines, hit.start_line, hit.end_line, query.place_lines),
                    ranks,
                    text.rank_parts.get(hit.path, 0.0) if text else 0.0,
                    item.values,
                    cosine,
                    None if cosine is None or channel is None else channel.calibration.similarity(cosine),
                )
            )
        return tuple(found)

    def _mix(
        self,
        query: Query,
        weights: Mapping[Channel, float],
        terms: QueryTerms,
        guess: IntentGuess,
        chosen: Plan,
        scope: Scope,
    ) -> Found:
        """Each channel's own list of places, mixed by ``weights``; of one channel alone its list."""
        alone = len(weights) == 1
        channels = {name for name in chosen.channels if weights.get(name, 0.0) > 0}
        # One more than is shown tells whether there is another page; mixed lists are the same for every page.
        most = query.offset + query.limit + 1 if alone else fusion.fan_out(query.limit)
        lists, ranked, failed = self._lists(terms, chosen, scope, channels, most)
        skip: Skip | None = None
        if "semantic" in channels and "semantic" not in lists:
            skip = "failed" if failed else "no_vectors"
        mixed = as_they_are(lists) if alone else fuse_weighted(lists, weights)
        cosines = {(place.path, place.line_start): place.score for place in lists.get("semantic", ())}
        shown = [
            self._mixed_hit(query, terms, place, cosines.get((place.path, place.line_start)))
            for place in mixed[query.offset : query.offset + query.limit]
        ]
        return Found(
            guess,
            chosen,
            terms,
            tuple(hit for hit, _ in shown),
            tuple(grounds for _, grounds in shown),
            total=len(mixed),
            ranked=tuple(ranked),
            ran=frozenset(lists),
            skip=skip,
            failed=failed,
        )

    def _lists(
        self, terms: QueryTerms, chosen: Plan, scope: Scope, channels: Set[Channel], most: int
    ) -> tuple[dict[Channel, Sequence[Scored]], list[RankedFile], EmbedderUnavailable | None]:
        """The lists of those channels that can answer, the files that words rank, and what the embedder said."""
        lists: dict[Channel, Sequence[Scored]] = {}
        ranked: list[RankedFile] = []
        failed: EmbedderUnavailable | None = None
        if "keyword" in channels:
            by_words = chosen._replace(channels=frozenset(("keyword",)))
            candidates = self._with_messages(terms, by_words, self._proposed(terms, by_words, scope))
            ranked = self._rank(terms, chosen, candidates)
            lists["keyword"] = fusion.of_text(self._reader, terms, ranked[:most], self._readings(terms, ranked))
        if "symbol" in channels:
            lists["symbol"] = fusion.of_names(self._reader, terms, scope, most)
        channel = self._semantic() if "semantic" in channels else None
        if channel is not None:
            vector, failed = _encoded(channel, terms.meant)
            if vector is not None:
                lists["semantic"] = fusion.of_vectors(self._reader, channel, vector, scope, most)
        return lists, ranked, failed

    def _mixed_hit(self, query: Query, terms: QueryTerms, place: Merged, cosine: float | None) -> tuple[Hit, Grounds]:
        file = self._reader.file_at(place.path)
        assert file is not None  # every list is of files of this snapshot
        lines = self._read_lines(file)
        snippet = make_snippet(lines or (), place.line_start, place.line_end, terms.terms.keys())
        hit = Hit(
            path=place.path,
            start_line=place.line_start,
            end_line=place.line_end,
            score=place.score,
            rank_value=place.score,
            kind="section" if file.kind == "docs" else "block",
            language=file.language,
            group="docs" if is_document(file.own_path, file.language, file.kind) else "code",
            snippet=snippet.text,
            snippet_start_line=snippet.start_line,
            matches=snippet.matches,
            sources=place.sources,
        )
        return hit, Grounds(places.text_of(lines, place.line_start, place.line_end, query.place_lines), cosine=cosine)

    def _open_meanings(self) -> _Meanings | None:
        """By the bundled model's words, whichever model the index has; None when it is damaged."""
        if self._meanings is None:
            try:
                embedder = embedding.shared()
            except EmbedderUnavailable:
                return None
            of_words = partial(embedding.nearness, embedder)
            specific = partial(embedding.specificity, embedder)
            self._meanings = _Meanings(of_words, embedding.NameCosines(embedder), specific)
        return self._meanings

    def _lacking(self, terms: QueryTerms, first: RankedFile) -> dict[str, float]:
        """The words of the query that a file lacks, each with how specific it is, the most specific first."""
        meanings = self._open_meanings() if "said" in first.use else None
        if meanings is None:
            return {}
        held = dict(zip(terms.keys, first.held, strict=True))
        missing: dict[str, float] = {}
        for part in chain.from_iterable(map(tokenizer.parts, tokenizer.words(terms.meant[:MAX_QUESTION]))):
            known = [term for term in tokenizer.terms_of(part) if terms.terms.get(term, 0.0) > FOREIGN_WEIGHT]
            shares = [held[tokenizer.term_key(term)] for term in known]
            if shares and (lacks := 1.0 - max(shares)):
                missing[part] = lacks
        specific = zip(missing.items(), meanings.specific(list(missing)), strict=True)
        found = {part: lacks * share for (part, lacks), share in specific if share > 0}
        return dict(sorted(found.items(), key=lambda each: -each[1]))

    def _readings(self, terms: QueryTerms, ranked: list[RankedFile]) -> dict[int, dict[int, readings.Reading]]:
        """Reads the places of the first files; if that is a signal of the ranking, orders these files again."""
        meanings = self._open_meanings() if ranked and "said" in ranked[0].use else None
        near = meanings.of_words if meanings else None
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
            sides.join(terms.wants, ranked)
        return found

    def _proposed(
        self, terms: QueryTerms, chosen: Plan, scope: Scope, *, gated: bool = False, typed: str = ""
    ) -> _Candidates:
        """The files that words, names and quoted text propose, before any text is read. ``gated``: meaning may not be
        asked at all. ``typed``: the query as it was, which may be the first line of a definition."""
        reader = self._reader
        found = _Candidates(reader, scope)
        text = found.evidence.keyword
        quick = None if gated else self._quick_channel(chosen)
        reader.ahead(*self._proposal_asks(terms, chosen, scope, quick))
        if "keyword" in chosen.channels:
            text = self._keyword(terms, scope)
            found.take("keyword", {entry: max(best.values()) for entry, best in text.chunks.items()}, KEYWORD_FILES)
            found.take("keyword", text.files, NAME_FILES)
        definitions: dict[int, list[symbol.Definition]] = {}
        written: dict[int, int] = {}
        if "symbol" in chosen.channels:
            scoped = scope.allowed is not None
            definitions = symbol.search(reader, terms, scoped=scoped)
            if chosen.mode == "symbol":
                definitions = symbol.search_alike(reader, terms, OnlyThese(scope.blobs)) | definitions
            strongest = _strongest(definitions, scoped=scoped)
            owners = reader.files_of_blobs(strongest)
            owners.sort(key=lambda file: (strongest[file.blob_id], file.path))
            found.take("symbol", (file.entry_id for file in owners), SYMBOL_FILES)
            if chosen.mode == "auto":
                as_typed = symbol.written_as(definitions, without_courtesy(typed))
                written = {file.entry_id: as_typed[file.blob_id] for file in owners if file.blob_id in as_typed}
        asked_paths: dict[int, int] = {}
        if "keyword" in chosen.channels:
            asked_paths = self._asked_paths(terms.text, scope)
            found.take("keyword", asked_paths, asked_path.MOST)
        exact: dict[int, int] = {}
        if chosen.exact_text:
            exact = self._exact(chosen.exact_text, scope)
            if chosen.is_code and len(exact) > FEW_FILES:  # a name that is used everywhere: its definition is meant
                exact = {}
            found.take("exact", exact, EXACT_FILES)
        reader.ahead(*self._evidence_asks(terms, scope, found, quick))
        exact_value = RARE if chosen.is_code or written else 1.0
        found.evidence = Evidence(text, definitions, None, written or exact, asked_paths, {}, exact_value)
        found.is_typed = bool(written)
        return found

    def _with_messages(self, terms: QueryTerms, chosen: Plan, found: _Candidates) -> _Candidates:
        """The candidates with the files that say a message."""
        if chosen.mode == "auto" and chosen.intent in ("natural_language", "error"):
            said = messages.find(self._reader, self._read_lines, terms.text, found.scope, list(found.entries))
            if said:
                exact = found.evidence.exact
                if not found.is_typed:  # what a message quotes was filled in, and stands anywhere
                    exact = {entry: line for entry, line in exact.items() if entry in said}
                found.take("exact", {entry: each.share for entry, each in said.items()}, EXACT_FILES)
                found.evidence = replace(found.evidence, exact=exact, messages=said)
        return found

    def _ask(self, text: str, chosen: Plan, scope: Scope, *, gated: bool) -> None:
        """Ask what proposes for a text (`Index.ahead`)."""
        if text:
            quick = None if gated else self._quick_channel(chosen)
            for ask in self._proposal_asks(analyse(text), chosen, scope, quick):
                ask(self._reader)

    def _keyword(self, terms: QueryTerms, scope: Scope) -> keyword.KeywordHits:
        return keyword.search(
            self._reader, terms, chunk_limit=CHUNK_CANDIDATES, file_limit=FILE_CANDIDATES, scope=scope
        )

    def _quick_channel(self, chosen: Plan) -> SemanticChannel | None:
        """The channel of vectors if its model is in this process, so that asking it early costs nothing."""
        channel = self._semantic() if "semantic" in chosen.channels else None
        return channel if channel is not None and channel.is_quick else None

    def _proposal_asks(
        self, terms: QueryTerms, chosen: Plan, scope: Scope, channel: SemanticChannel | None
    ) -> Iterator[Callable[[Index], object]]:
        """All questions to the index that propose files, in one round (`Index.ahead`)."""
        reader = self._reader
        if "keyword" in chosen.channels:
            yield lambda _: self._keyword(terms, scope)
        if "symbol" in chosen.channels:
            scoped = scope.allowed is not None
            yield lambda _: reader.files_of_blobs(
                _strongest(symbol.search(reader, terms, scoped=scoped), scoped=scoped)
            )
            if chosen.mode == "symbol":
                yield lambda _: symbol.search_alike(reader, terms, OnlyThese(scope.blobs))
        if chosen.exact_text:
            yield lambda _: self._exact(chosen.exact_text, scope)
        if chosen.mode == "auto" and chosen.intent in ("natural_language", "error"):
            yield lambda _: messages.ahead(reader, terms.text, scope, ())
        if channel is not None:
            vector = channel.encode(terms.meant)
            if scope.few is None:
                yield lambda _: channel.propose_ahead(vector, SEMANTIC_CANDIDATES, scope.allowed)
            else:
                yield lambda _: channel.cosines(vector, sorted(scope.few or ()))

    def _evidence_asks(
        self, terms: QueryTerms, scope: Scope, found: _Candidates, channel: SemanticChannel | None
    ) -> Iterator[Callable[[Index], object]]:
        """All questions to the index about the proposed files, in one round (`Index.ahead`)."""
        reader = self._reader

        def near() -> list[int]:
            if channel is None:
                return []
            return scope.keep(reader, self._near(channel, channel.encode(terms.meant), scope), SEMANTIC_FILES)

        def records(_: Index) -> None:
            entries = dict.fromkeys([*found.entries, *near()])
            reader.terms(file.blob_id for file in reader.files(entries).values())
            if channel is not None:
                channel.cosines(channel.encode(terms.meant), entries)

        yield records
        yield lambda _: messages.ahead(reader, terms.text, scope, list(found.entries))

    def _propose_by_meaning(
        self, terms: QueryTerms, chosen: Plan, found: _Candidates
    ) -> tuple[Skip | None, EmbedderUnavailable | None]:
        """Add the files that vectors propose and the cosines of all; why there are none, what the embedder said."""
        channel = self._semantic()
        if channel is None:
            return "no_vectors", None
        vector, failed = _encoded(channel, terms.meant)
        if vector is None:
            return "failed", failed
        if not vector.any():
            return "nothing", None
        near = found.take("semantic", self._near(channel, vector, found.scope), SEMANTIC_FILES)
        found.near = {entry: place for place, entry in enumerate(near, 1)}
        self._reader.ahead(lambda index: index.terms(file.blob_id for file in index.files(found.entries).values()))
        cosines = channel.cosines(vector, found.entries)
        if chosen.mode == "semantic" or len(cosines) >= len(found.entries) * ENOUGH_VECTORS:
            found.evidence = replace(found.evidence, cosines=cosines)
        return (None, None) if near else ("nothing", None)

    def _asked_paths(self, text: str, scope: Scope) -> dict[int, int]:
        """Entry -> the line that was asked for, of the files whose path the query is, or its end; else of those that it
        names with a line."""
        path, line = asked_path.asked(text) or ("", 0)
        meant = asked_path.meant(path, self._reader) if path else []
        if not meant:
            named = [frame for row in text.split("\n") for frame in frames_in(row)]
            return {file.entry_id: at for file, at in frames(self._reader, named, scope)}
        return {file.entry_id: min(line, file.lines) for file in meant if scope.has(file.entry_id)}

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
        """The entries near a vector with their cosines: compared one by one if the scope has few, else proposed by the
        bits of all."""
        if scope.few is None:
            return channel.propose(vector, SEMANTIC_CANDIDATES, scope.allowed, files=SEMANTIC_FILES)
        cosines = channel.cosines(vector, sorted(scope.few))
        return {entry: float(found.own.max()) for entry, found in cosines.items() if len(found.own)}

    def similar(self, file: FileRow, *, line: int | None, query: Query, scope_path: str = "") -> Found:
        """Places that are like a file, or like the place around one of its lines; never of the file itself."""
        chosen = plan("semantic", "natural_language", "")
        guess = IntentGuess("natural_language", 1.0, None)
        with self._reader.snapshot():
            channel = self._semantic()
            if channel is None:
                return Found(guess, chosen)
            start, stop = chunks_at(self._reader, file, line)
            vector = channel.mean_vector(file.entry_id, start, stop)
            if vector is None:
                return Found(guess, chosen)
            scope = resolve(self._reader, query, scope_path)
            near = self._near(channel, vector, scope)
            near.pop(file.entry_id, None)
            kept = scope.keep(self._reader, near, SEMANTIC_FILES)
            evidence = Evidence(keyword.KeywordHits({}, {}), {}, channel.cosines(vector, kept))
            candidates = list(self._reader.files(kept).values())
            terms = analyse(PurePosixPath(file.path).stem)
            window = frozenset(("window",))
            ranked = rank(self._reader, terms, candidates, evidence, use=window, with_priors=False)
            page = ranked[query.offset : query.offset + query.limit]
            shown = places.hits(self._reader, self._read_lines, terms, page, {"semantic": set(kept)}, query, {})
            scores = [min(1.0, max(0.0, item.window_cosine)) for item in page]
            hits = [replace(hit, score=score) for (hit, _), score in zip(shown, scores, strict=True)]
            ranks = {item.file.entry_id: place for place, item in enumerate(ranked, 1)}
            grounds = self._grounds(query, ranks, page, hits, None)
        return Found(
            guess,
            chosen,
            None,
            tuple(hits),
            grounds,
            bodies=tuple(body for _, body in shown),
            total=len(ranked),
            ranked=tuple(ranked),
            ran=frozenset(("semantic",)),
        )


UNLIKELY_WORDS, UNLIKELY_SHARE = 0.2, 0.25
"""A file that has so few of the rare words and so little of the first one's value is no answer: none of 197 right files
of 144 real questions was such a one. In large projects few of ten files are, in small ones most may be."""


def _is_unlikely(ranked: Sequence[RankedFile]) -> bool:
    """Whether the last of some files is not worth a line."""
    if len(ranked) <= COMPARED:
        return False
    first, last = ranked[0], ranked[-1]
    return last.rare_coverage < UNLIKELY_WORDS and last.rank_value < UNLIKELY_SHARE * first.rank_value


def chunks_at(reader: Index, file: FileRow, line: int | None) -> tuple[int, int | None]:
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


def _pasted_in(query: Query) -> Pasted | None:
    """The parts of a pasted text; None for a query that is none."""
    return take_apart(query.text) if query.mode in WHOLE_TEXTS and is_pasted(query.text) else None


def _plan_of_prose(query: Query) -> Plan:
    return plan(query.mode, "natural_language", "")


def _strongest(
    definitions: Mapping[int, Sequence[symbol.Definition]], *, scoped: bool
) -> dict[int, tuple[bool, float]]:
    """The contents that most likely define a name of the query, with a key that puts the likeliest first; those as
    likely as the last are among them, as ids tell how the index came about. All if only some files count."""
    firsts = {blob: defined[0] for blob, defined in definitions.items()}
    places = {blob: (first.alike, -first.strength) for blob, first in firsts.items()}
    last = max(places.values() if scoped else sorted(places.values())[: SYMBOL_FILES * 4], default=None)
    return {blob: place for blob, place in places.items() if last is None or place <= last}


def _encoded(channel: SemanticChannel, text: str) -> tuple[NDArray[np.float32] | None, EmbedderUnavailable | None]:
    """A text's vector; None, and why, when the embedder does not answer."""
    try:
        return channel.encode(text), None
    except EmbedderUnavailable as error:
        return None, error


def _weigh_meaning(ranked: list[RankedFile], ratio: float) -> None:
    """Weigh text and vectors in each file's sum by 2 (1 - ratio) and 2 ratio, and put all in order again."""
    weight = formula.SIGNALS["window"].weight
    for item in ranked:
        dense = weight * item.values.get("window", 0.0)
        item.rank_value = 2 * (1 - ratio) * (item.rank_value - dense) + 2 * ratio * dense
    ranked.sort(key=lambda item: (-item.rank_value, item.file.path))

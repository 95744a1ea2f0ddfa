"""Reads the best places of the first files, for evidence that only their text has.

It chooses among a file's places (`places`), and gives the files that were read the signal `said`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from math import sqrt
from typing import NamedTuple

from findling.model import tokenizer
from findling.model.rows import FileRow
from findling.search.analysis import QueryTerms
from findling.search.ranking import ranker
from findling.search.ranking.ranked_file import RankedFile, put_in_order
from findling.search.vocabulary import STOP_WORDS
from findling.store.protocols import Index

NEAR = 2
"""How many words apart two words may be to stand together: 2 allows one between. 1 to 16 measured about the same."""


class Phrase:
    """The neighbouring terms of one query. ``weights``: what each term says, in the query's order."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._place = {term: place for place, term in enumerate(weights)}
        self._terms = frozenset(weights)
        values = list(weights.values())
        self._pairs = [sqrt(max(0.0, one * other)) for one, other in pairwise(values)]
        self._all = sum(self._pairs)
        self._known: dict[str, tuple[int, ...]] = {}

    def share(self, words: Sequence[str]) -> float:
        """The share of the query's neighbours, by weight, that stand as near each other in a text's ``words``, in
        [0, 1]."""
        if self._all <= 0:
            return 0.0
        known, terms = self._known, self._terms
        for word in set(words).difference(known):
            found = tokenizer.terms_of(word)
            known[word] = (
                () if terms.isdisjoint(found) else tuple([self._place[term] for term in found if term in terms])
            )
        return self._share([(at, places) for at, word in enumerate(words) if (places := known[word])])

    def _share(self, said: Sequence[tuple[int, tuple[int, ...]]]) -> float:
        last: dict[int, int] = {}
        together: set[int] = set()
        for at, places in said:
            for place in places:
                last[place] = at
            for place in places:
                for pair, other in ((place - 1, place - 1), (place, place + 1)):
                    if pair not in together and at - last.get(other, at - NEAR - 1) <= NEAR:
                        together.add(pair)
        return sum([self._pairs[pair] for pair in together if 0 <= pair < len(self._pairs)]) / self._all


MAX_WORDS = 48
"""How many words of a query are looked for. Further words of a very long one add time, not meaning."""

Nearness = Callable[[Sequence[str], Sequence[Collection[str]]], Sequence[Sequence[float]]]
"""Words, and texts as the words that stand in them, to how near the nearest word of each text is to each of the words,
in [0, 1]."""


Shares = Callable[[Sequence[Sequence[str]]], Sequence[float]]
"""Texts, as their words, to the share of a question that each says (`Said.shares`)."""


def nothing_near(words: Sequence[str], texts: Sequence[Collection[str]]) -> list[list[float]]:
    """The `Nearness` that asks for the words themselves."""
    return [[0.0] * len(words)] * len(texts)


class Said:
    """One query's words. ``weights``: what each term says (`ranker.term_weights`); ``nearness``: of other words."""

    def __init__(self, query: QueryTerms, weights: Mapping[str, float], nearness: Nearness) -> None:
        asked = dict.fromkeys(word.lower() for word in tokenizer.words(query.meant))
        terms = {word: tokenizer.terms_of(word) for word in asked if word not in STOP_WORDS}
        weighed = {word: max((weights.get(term, 0.0) for term in of), default=0.0) for word, of in terms.items()}
        self._weights = dict([(word, weight) for word, weight in weighed.items() if weight > 0][:MAX_WORDS])
        self._places: dict[str, list[int]] = {}
        for place, word in enumerate(self._weights):
            for term in terms[word]:
                self._places.setdefault(term, []).append(place)
        self._all = sum(self._weights.values())
        self._nearness = nearness

    def shares(self, texts: Sequence[Sequence[str]]) -> list[float]:
        """The share of the query that each text says, in [0, 1]. ``texts`` are words, as the tokenizer gives them.

        It is the mean over the query's words, by weight, of 1 for a word that stands in the text, and of how near the
        nearest one is for another.
        """
        different = [frozenset(words) for words in texts]
        if self._all <= 0:
            return [0.0] * len(texts)
        standing = {word: at for word in frozenset().union(*different) if (at := self._standing(word))}
        return [
            self._share(near, [standing[word] for word in standing.keys() & words])
            for words, near in zip(different, self._nearness(list(self._weights), different), strict=True)
        ]

    def _standing(self, word: str) -> list[int]:
        """The places of the query's words that stand in a word of a text."""
        return [at for term in tokenizer.terms_of(word) if (places := self._places.get(term)) for at in places]

    def _share(self, near: Sequence[float], standing: Iterable[Sequence[int]]) -> float:
        shares = list(map(float, near))
        for places in standing:
            for place in places:
                shares[place] = 1.0
        return sum(weight * share for weight, share in zip(self._weights.values(), shares, strict=True)) / self._all


READ_FILES, READ_CHUNKS = 5, 3
"""How many files are read, and how many places of each. In nine of ten cases the right place is among the first three
of its file; more files and more places measured the same."""

READ_CHARS = 6_000
"""How much of a place's text is read: four times the size of most chunks. An endless line must not delay an answer."""


class Reading(NamedTuple):
    """The evidence in a place's text, each part in [0, 1]: see `Phrase.share` and `Said.shares`."""

    phrase: float
    said: float


def read(
    reader: Index,
    read_lines: Callable[[FileRow], Sequence[str] | None],
    query: QueryTerms,
    ranked: Sequence[RankedFile],
    values: Callable[[RankedFile], Mapping[int, float]],
    nearness: Nearness | None,
) -> dict[int, dict[int, Reading]]:
    """Entry -> ordinal -> reading, of the best places of the first files, which get their `RankedFile.phrase`.

    ``values``: what else speaks for a file's places, by ordinal. ``nearness``: None where only words are asked.
    """
    weights = ranker.term_weights(reader, query)
    phrase = Phrase(weights)
    places: list[tuple[int, int]] = []
    texts: list[list[str]] = []
    contexts: list[str] = []
    for item in ranked[:READ_FILES]:
        lines = read_lines(item.file)
        if lines is None:
            continue
        chunks = reader.chunks(item.file.blob_id)
        known = values(item)
        for ordinal in sorted(known, key=lambda at: (-known[at], at))[:READ_CHUNKS]:
            chunk = chunks[ordinal]
            places.append((item.file.entry_id, ordinal))
            text = "\n".join(lines[chunk.start_line - 1 : chunk.end_line])
            texts.append(tokenizer.words(text[:READ_CHARS]))
            contexts.append(f"{item.file.own_path} {' '.join(chunk.headings)}")
    shares = [0.0] * len(texts)
    if nearness is not None:
        said = Said(query, weights, nearness)
        shares = said.shares(
            [[*tokenizer.words(context), *text] for context, text in zip(contexts, texts, strict=True)]
        )
    found: dict[int, dict[int, Reading]] = {}
    for (entry, ordinal), words, share in zip(places, texts, shares, strict=True):
        found.setdefault(entry, {})[ordinal] = Reading(phrase.share(words), share)
    for item in ranked[:READ_FILES]:
        item.phrase = max((each.phrase for each in found.get(item.file.entry_id, {}).values()), default=0.0)
    return found


def weigh(ranked: list[RankedFile], readings: Mapping[int, Mapping[int, Reading]]) -> None:
    """Give the files that were read the signal `said`, and put all files in order again.

    The signal is how much more of the query a file's best place says than the best place of the worst file that was
    read. Files that were not read have none.
    """
    best = {entry: max(each.said for each in found.values()) for entry, found in readings.items()}
    least = min(best.values(), default=0.0)
    for item in ranked:
        if item.file.entry_id in best:
            item.values["said"] = best[item.file.entry_id] - least
    put_in_order(ranked, [item for item in ranked if item.file.entry_id in best])

"""How far a piece of text says what a query says: in the same words, or in words near them. Pure.

A chunk's vector blurs its words into one direction; here each word of the query is looked for by itself, so that a
text which speaks of one thing at length does not pass for one that speaks of all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from findling.model import tokenizer
from findling.search.analysis import STOP_WORDS, QueryTerms

MAX_WORDS = 48
"""Words of a very long query that are looked for; the rest adds time, not meaning."""

Nearness = Callable[[Sequence[str], Sequence[Collection[str]]], Sequence[Sequence[float]]]
"""Words, and texts as the words that stand in them, to how near the nearest word of each text is to each of the words,
in [0, 1]."""


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

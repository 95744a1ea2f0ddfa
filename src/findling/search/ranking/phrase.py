"""How much of a query stands together in a piece of text. Pure.

A bag of words cannot tell "close the body" from a text that closes one thing here and has a body elsewhere. Looked at
only where it may decide: between the few best places of one file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import sqrt

from findling.model import tokenizer

NEAR = 2
"""Words apart at the most: neighbours, or with one word between. 1 to 16 measured about the same."""


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

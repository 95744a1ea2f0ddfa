"""Which files are indexed first when not all can be: those that a question most likely needs."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice

from findling.model import tokenizer
from findling.sources.selection import Found

Order = Callable[[list[Found]], list[Found]]

_BEGINNING = 3
"""Letters of a word that no ending touches (`tokenizer.stem`)."""

_MOST_TERMS = 100
"""The first ones of a text, which every path is compared with: what a whole log says besides is in most paths."""


def by_query(text: str) -> Order:
    """Files whose path has words of a question first, then the newest: what a first answer most likely needs."""
    every = dict.fromkeys(tokenizer.terms(text))
    asked = set(islice([term for term in every if len(term) >= _BEGINNING] or every, _MOST_TERMS))  # "is" says nothing
    # A term begins as its word does, so most paths need not be taken apart.
    may_have = re.compile("|".join(sorted(re.escape(term[:_BEGINNING]) for term in asked)), re.IGNORECASE).search

    def order(found: list[Found]) -> list[Found]:
        def key(file: Found) -> tuple[int, int]:
            if file[0].isascii() and not may_have(file[0]):
                return 0, -file[2]
            return -len(asked.intersection(tokenizer.terms(file[0]))), -file[2]

        return sorted(found, key=key)

    return order

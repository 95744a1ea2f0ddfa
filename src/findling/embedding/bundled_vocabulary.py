"""Finds the rows of the bundled model's table that a word is made of. Pure; the same in training and in use.

A word is split where `model.tokenizer` splits it, but its parts keep their endings, which are part of the meaning. A
part in the vocabulary has a row. Any other part is split into the longest pieces that have rows. A character in none of
them shares a row with other characters. So every word has rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from findling.model.remembered import Remembered
from findling.model.tokenizer import MAX_WORD, parts, squash, term_key, terms_of

MAX_PIECE_CHARS = 24
"""The longest piece that is looked for. The vocabulary has hardly any longer ones."""


def model_terms(word: str) -> Sequence[str]:
    """A word's parts, unstemmed. Words in other scripts, and overlong ones, are split as in the index."""
    if word.isascii() and len(word) <= MAX_WORD:
        return parts(word)
    terms = terms_of(word)
    return terms[:-1] if len(terms) > 1 and terms[-1] == squash(word) else terms


MAX_REMEMBERED_TERMS = 32_768
"""How many terms outside the vocabulary have their pieces remembered. About 7 MB when full; then all are forgotten."""


class Vocabulary:
    """The terms of the table's rows.

    ``words``: the terms in the order of their rows. After them come ``shared_rows`` rows, at least one, for characters
    that are in no term; a character's key says which.
    """

    def __init__(self, words: Sequence[str], shared_rows: int) -> None:
        self._rows: Mapping[str, int] = dict(zip(words, range(len(words)), strict=True))
        self._words = len(words)
        self._shared_rows = shared_rows
        self._pieces = Remembered[str, tuple[int, ...]](lambda term: tuple(self._cut(term)), MAX_REMEMBERED_TERMS)

    def __len__(self) -> int:
        """The number of different words."""
        return len(self._rows)

    def rows(self, word: str) -> tuple[int, ...]:
        """The rows of one word as `tokenizer.words` gives it; () where it holds neither letter nor digit."""
        known = self._rows.get
        found: list[int] = []
        for term in model_terms(word):
            row = known(term)
            if row is None:
                found += self._pieces[term]
            else:
                found.append(row)
        return tuple(found)

    def _cut(self, term: str) -> Iterator[int]:
        start = 0
        while start < len(term):
            for end in range(min(len(term), start + MAX_PIECE_CHARS), start, -1):
                row = self._rows.get(term[start:end])
                if row is not None:
                    yield row
                    start = end
                    break
            else:
                if term[start].isalnum():
                    yield self._words + term_key(term[start]) % self._shared_rows
                start += 1

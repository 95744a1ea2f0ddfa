"""Which rows of the bundled model's table a word is made of. Pure; the same when training and when asking.

A word is split where `model.tokenizer` splits it, but its parts stay whole: endings are part of what a word means. A
part that is in the vocabulary is its row; one that is not is the longest pieces that are; a character that is in none
shares a row with others. So a word always has rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from findling.model.remembered import Remembered
from findling.model.tokenizer import MAX_WORD, parts, squash, term_key, terms_of

MAX_PIECE_CHARS = 24
"""The longest piece that is looked for in a term that is not in the vocabulary, which has hardly any longer."""


def model_terms(word: str) -> Sequence[str]:
    """What a word says to the model: its parts, unstemmed; other scripts' and overlong words as the index has them."""
    if word.isascii() and len(word) <= MAX_WORD:
        return parts(word)
    terms = terms_of(word)
    return terms[:-1] if len(terms) > 1 and terms[-1] == squash(word) else terms


MAX_REMEMBERED_TERMS = 32_768
"""Terms that are not in the vocabulary and whose pieces are remembered, for many words have them: about 7 MB when full,
and then forgotten all at once."""


class Vocabulary:
    """``words``: the rows' terms in order. Behind them stand ``shared_rows`` rows, at least one, for characters that
    no term is made of: each has the one that its key says."""

    def __init__(self, words: Sequence[str], shared_rows: int) -> None:
        self._rows: Mapping[str, int] = dict(zip(words, range(len(words)), strict=True))
        self._words = len(words)
        self._shared_rows = shared_rows
        self._pieces = Remembered[str, tuple[int, ...]](lambda term: tuple(self._cut(term)), MAX_REMEMBERED_TERMS)

    def __len__(self) -> int:
        """Different words; less than were given when one was given twice."""
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

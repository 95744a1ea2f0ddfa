"""The lengths of texts, and their means, that BM25 uses: the same numbers in every index. Pure.

BM25 weighs a text's length against a mean. The text index on disk takes its mean over every document that it holds:
earlier versions of files, other branches, deleted documents until they are merged away. A file's score would then
change when other files come and go. So each entry's documents get the same mean length: `filler` says which documents,
made of a word that nobody searches for, have to be added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Final

MEANS: Final[Mapping[str, int]] = {"body": 220, "context": 5, "path": 2}
"""Terms of a field in a document. Over the judged repositories `body` has 57 to 138, `context` 2 to 9 and `path` .1 to
4: most documents are chunks, and have none. A mean of `body` above theirs says that length counts for less: with 96
the passage shown of a file is wrong more often, as short ones win (.605 instead of .626 on the second judged set)."""

K1: Final = 1.2
B: Final = 0.75
"""BM25's saturation and weight of length, as in tantivy, the text index on disk."""


def part(count: int, length: int, mean: int) -> float:
    """What a term that occurs ``count`` times in a field adds to BM25, before its idf (Robertson and Sparck Jones).
    ``length``: of the field, as `filled_up` gives it."""
    return (1 + K1) * count / (count + K1 * (1 - B + B * length / mean))


def kept(length: int) -> int:
    """The length rounded down to one that the text index can store: it has a byte for it, so from 40 on only the first
    four bits count."""
    beyond = length - 24
    shift = max(0, beyond.bit_length() - 4) if beyond > 0 else 0
    return (beyond >> shift << shift) + 24


def filled_up(length: int) -> int:
    """The length rounded up to one that the text index stores exactly. Texts are filled up to it, because merging
    segments adds up the stored lengths."""
    short = kept(length)
    if short == length:
        return length
    return short + (1 << (length - 24).bit_length() - 4)


def filler(documents: int, lengths: Mapping[str, int]) -> list[dict[str, int]]:
    """By field, the lengths of the documents that have to be added so that an entry's documents have the mean length.

    ``documents``: how many the entry has; ``lengths``: the sums of theirs, by field.
    """
    least = max(-(-length // MEANS[field]) - documents for field, length in lengths.items())
    for more in count(max(0, least)):
        pieces = {field: list(_pieces(MEANS[field] * (documents + more) - length)) for field, length in lengths.items()}
        if max(map(len, pieces.values())) <= more:
            return [
                {field: each[place] for field, each in pieces.items() if place < len(each)} for place in range(more)
            ]
    raise AssertionError("the pieces of a number grow with its logarithm")


def _pieces(length: int) -> Iterator[int]:
    """Lengths that are stored exactly and add up to ``length``."""
    while length:
        piece = kept(length)
        yield piece
        length -= piece

"""Tells how near single words and names are in meaning, and how specific words are, by the bundled model's table.

Works beside any embedder of an index: the bundled table is always at hand, and quick.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from findling.embedding.bundled import BundledEmbedder


def nearness(embedder: BundledEmbedder, words: Sequence[str], texts: Sequence[Collection[str]]) -> list[list[float]]:
    """(texts, words): the cosine of each word with the nearest word of each text, in [0, 1].

    ``texts`` are the words that stand in each. 0 where none is nearer than at a right angle.
    """
    rows_of = {word: embedder.rows(word) for word in set().union(*texts)}
    rows = sorted(set().union(*rows_of.values()))
    if not rows or not words:
        return [[0.0] * len(words)] * len(texts)
    vectors = embedder.vectors(rows)
    lengths = np.maximum(np.sqrt(np.einsum("nd,nd->n", vectors, vectors)), _TINY)
    cosines = np.einsum("nd,wd->nw", vectors, embedder.encode(words)) / lengths[:, None]
    place = {row: at for at, row in enumerate(rows)}
    found = np.zeros((len(texts), len(words)), np.float32)
    for at, text in enumerate(texts):
        here = [place[row] for word in text for row in rows_of[word]]
        if here:
            found[at] = cosines[here].max(0)
    nearest: list[list[float]] = np.clip(found, 0.0, 1.0).tolist()
    return nearest


EVERYDAY, SPECIFIC = 400.0, 550.0
"""Lengths of the bundled model's rows: up to the one a word stands in all kinds of texts ("file", "handle", "large"),
from the other on it belongs to a subject ("kubernetes", "traceback"). The model is trained so that common words, which
tell texts apart least, have short rows."""


def specificity(embedder: BundledEmbedder, words: Sequence[str]) -> list[float]:
    """How far each word belongs to a subject of its own, in [0, 1]: 0 for one of everyday use."""
    found = []
    for word in words:
        rows = embedder.vectors(embedder.rows(word))
        longest = float(np.sqrt(np.einsum("nd,nd->n", rows, rows)).max(initial=0.0))
        found.append(min(1.0, max(0.0, (longest - EVERYDAY) / (SPECIFIC - EVERYDAY))))
    return found


NAME_CHARS, NAME_ROWS = 64, 16
"""The most characters and rows of a name that count. Longer names are sentences or noise."""

NAMES_REMEMBERED = 10_000
"""Names whose rows and lengths are kept, some two megabytes: a repository's are asked about again and again."""

_AT_ONCE = 512
"""Names whose rows are summed at a time: a few megabytes."""


class NameCosines:
    """Tells how near names are to a text. A name's vector is the sum of its rows, with repetitions. For one thread."""

    def __init__(self, embedder: BundledEmbedder) -> None:
        self._embedder = embedder
        self._known: dict[str, tuple[tuple[int, ...], float]] = {}

    def __call__(self, text: str, names: Sequence[str]) -> list[float]:
        """The cosine of each name with a text, in [0, 1]; 0 where the model knows nothing of either."""
        self._learn(names)
        found = np.zeros(len(names), np.float32)
        known = [self._known[name] for name in names]
        some = [at for at, (rows, _) in enumerate(known) if rows]
        if some:
            every = [row for rows, _ in known for row in rows]
            different = {row: at for at, row in enumerate(sorted(set(every)))}  # np.unique would import numpy.ma
            place = [different[row] for row in every]
            vectors = self._embedder.vectors(list(different))
            dots: NDArray[np.float32] = np.einsum("nd,d->n", vectors, self._embedder.encode_query(text))
            sums = np.add.reduceat(dots[place], _starts([len(known[at][0]) for at in some]))
            found[some] = sums / np.array([known[at][1] for at in some])
        cosines: list[float] = np.clip(found, 0.0, 1.0).tolist()
        return cosines

    def _learn(self, names: Sequence[str]) -> None:
        """Look up the rows of names that are new, and the lengths of their sums."""
        new = [name for name in dict.fromkeys(names) if name not in self._known]
        if len(self._known) + len(new) > NAMES_REMEMBERED:
            self._known.clear()
            new = list(dict.fromkeys(names))
        for begin in range(0, len(new), _AT_ONCE):
            block = new[begin : begin + _AT_ONCE]
            rows_of = [tuple(islice(self._embedder.rows_in(name[:NAME_CHARS]), NAME_ROWS)) for name in block]
            self._known.update(zip(block, zip(rows_of, self._lengths(rows_of), strict=True), strict=True))

    def _lengths(self, rows_of: Sequence[tuple[int, ...]]) -> list[float]:
        """The length of the sum of each name's rows, never 0."""
        found = np.full(len(rows_of), _TINY)
        some = [at for at, rows in enumerate(rows_of) if rows]
        if some:
            vectors = self._embedder.vectors(list(chain.from_iterable(rows_of)))
            sums = np.add.reduceat(vectors, _starts([len(rows_of[at]) for at in some]), axis=0)
            found[some] = np.maximum(np.sqrt(np.einsum("nd,nd->n", sums, sums)), _TINY)
        lengths: list[float] = found.tolist()
        return lengths


_TINY = float(np.finfo(np.float32).tiny)


def _starts(sizes: Sequence[int]) -> NDArray[np.intp]:
    """Where each of some runs begins that stand one after the other."""
    return np.cumsum([0, *sizes[:-1]], dtype=np.intp)

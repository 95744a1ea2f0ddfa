"""How near single words and names are in meaning, by the rows of the bundled model's table.

Apart from the embedder of an index, whichever that is: the table is always at hand, and asking it takes a moment.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain

import numpy as np

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
    lengths = np.maximum(np.sqrt(np.einsum("nd,nd->n", vectors, vectors)), np.finfo(np.float32).tiny)
    cosines = np.einsum("nd,wd->nw", vectors, embedder.encode(words)) / lengths[:, None]
    place = {row: at for at, row in enumerate(rows)}
    found = np.zeros((len(texts), len(words)), np.float32)
    for at, text in enumerate(texts):
        here = [place[row] for word in text for row in rows_of[word]]
        if here:
            found[at] = cosines[here].max(0)
    nearest: list[list[float]] = np.clip(found, 0.0, 1.0).tolist()
    return nearest


def name_cosines(embedder: BundledEmbedder, text: str, names: Sequence[str]) -> list[float]:
    """The cosine of each name with a text, in [0, 1]. A name is the sum of its parts, as the model takes any text."""
    rows_of = [embedder.rows(name) for name in names]
    known = [at for at, rows in enumerate(rows_of) if rows]
    found = np.zeros(len(names), np.float32)
    if known:
        starts = np.cumsum([0, *(len(rows_of[at]) for at in known[:-1])])
        sums = np.add.reduceat(embedder.vectors(list(chain.from_iterable(rows_of))), starts, axis=0)
        lengths = np.maximum(np.sqrt(np.einsum("nd,nd->n", sums, sums)), np.finfo(np.float32).tiny)
        found[known] = np.einsum("nd,d->n", sums, embedder.encode_query(text)) / lengths
    cosines: list[float] = np.clip(found, 0.0, 1.0).tolist()
    return cosines

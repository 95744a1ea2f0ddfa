"""The embedding model that comes with findling: one int8 vector per word, added up.

Needs the three files in ``model/``, and numpy. A text is split into words
and those into the rows that they are made of (`bundled_vocabulary`). The vector is the sum of the rows, each weighted
by 1 + ln(times it occurs), scaled to length 1.

Every sum is exact: rows are whole numbers and so are the weights (in units of 1 / WEIGHT_UNIT), and the float type is
chosen so that no partial sum is rounded. The order of adding, and so the processor, cannot change a vector.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from findling.embedding.bundled_files import META_FILE as META_FILE
from findling.embedding.bundled_files import MODEL_DIR as MODEL_DIR
from findling.embedding.bundled_files import REMEDY, Vocabulary, described, reading
from findling.embedding.bundled_files import TABLE_FILE as TABLE_FILE
from findling.embedding.bundled_files import WORDS_FILE as WORDS_FILE
from findling.embedding.embedder import Batch, Fingerprint
from findling.model.errors import EmbedderUnavailable
from findling.model.tokenizer import words

# Weights are rounded to 1/256: 0.2 % of the smallest weight, far below what int8 rows resolve.
WEIGHT_UNIT = 256

# A row that occurs more often in a text weighs as if it occurred this often.
MAX_COUNT = 4096

# Words longer than this are rarely met twice (hashes, encoded data), so their pieces are not remembered.
MAX_REMEMBERED_CHARS = 64

# How many words have their rows remembered: about 13 MB when full; then all are forgotten. 12 MB of source code in
# eleven languages has 10,000 different words.
MAX_REMEMBERED_WORDS = 65_536

# Texts whose exact sums are held at a time: 1 MB at 256 dimensions.
BLOCK_TEXTS = 512

_INT8_MAX = 128

# Sums below 2 ** SQUARE_BITS have a sum of squares that fits 64 bits at up to 512 dimensions.
SQUARE_BITS = 27

# Whole numbers up to this are exact in float32.
_FLOAT32_EXACT = 2**24


_WEIGHT_OF_COUNT: NDArray[np.float32] = np.rint(
    WEIGHT_UNIT * (1 + np.log(np.maximum(np.arange(MAX_COUNT + 1), 1)))
).astype(np.float32)
"""The weight of a piece by how often it occurs, in units of 1 / WEIGHT_UNIT."""


class _Pieces(dict[str, tuple[int, ...]]):
    """Word -> the rows it is made of. Filled as words are met."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self._vocabulary = vocabulary

    def __missing__(self, word: str) -> tuple[int, ...]:
        found = self._vocabulary.rows(word)
        if len(word) <= MAX_REMEMBERED_CHARS:
            if len(self) >= MAX_REMEMBERED_WORDS:
                self.clear()
            self[word] = found
        return found

    def rows_in(self, text: str) -> Iterable[int]:
        """The rows of all words of a text, with repetitions."""
        return chain.from_iterable(map(self.__getitem__, words(text)))


class BundledEmbedder:
    """The bundled model, opened. Safe to use from several threads; the table is mapped, not copied."""

    def __init__(self, table: NDArray[np.int8], pieces: _Pieces, fingerprint: Fingerprint) -> None:
        """``table``: (rows, dimensions)."""
        self._table = table
        self._pieces = pieces
        self._fingerprint = fingerprint

    @classmethod
    def open(cls, folder: Path | None = None, *, verify: bool = True) -> BundledEmbedder:
        """Open the model in ``folder`` (`MODEL_DIR`).

        Raises EmbedderUnavailable when a file is missing, damaged or does not fit.
        """
        folder = folder or MODEL_DIR
        about = described(folder, verify=verify)
        with reading(folder):
            table: NDArray[np.int8] = np.asarray(np.load(folder / TABLE_FILE, mmap_mode="r"))
            vocabulary = Vocabulary((folder / WORDS_FILE).read_bytes().decode().split("\n"), about.shared_rows)
        expected = (about.words + about.shared_rows, about.fingerprint.dimensions)
        fits = table.shape == expected and table.dtype == np.int8
        if not fits or len(vocabulary) + about.shared_rows != expected[0]:
            raise EmbedderUnavailable(
                f"The parts of the bundled embedding model do not match: its table is {table.shape} of {table.dtype} "
                f"instead of {expected} of int8, and it has {len(vocabulary)} words.",
                remedy=REMEDY,
            )
        return cls(table, _Pieces(vocabulary), about.fingerprint)

    @property
    def fingerprint(self) -> Fingerprint:
        return self._fingerprint

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See Embedder. Time grows with the length of the text and with nothing else."""
        unit_rows = np.zeros((len(texts), self._fingerprint.dimensions), np.float32)
        for start in range(0, len(texts), BLOCK_TEXTS):
            block = texts[start : start + BLOCK_TEXTS]
            _normalise_into(unit_rows[start : start + BLOCK_TEXTS], self._sums(block))
        return unit_rows

    def encode_query(self, text: str) -> NDArray[np.float32]:
        """See Embedder. The same vector as ``encode`` gives: the model has no prefixes."""
        row: NDArray[np.float32] = self.encode([text])[0]
        return row

    @property
    def problem(self) -> None:
        """See Embedder. Never any: once it is open, the model works."""

    def embed_batch(self, texts: Sequence[str], *, deadline: float | None = None) -> Batch:
        """See Embedder. Quick enough to need no deadline."""
        return Batch(self.encode(texts))

    def rows(self, word: str) -> tuple[int, ...]:
        """The rows of the table that a word is made of."""
        return self._pieces[word]

    def rows_in(self, text: str) -> Iterable[int]:
        """The rows that a text is made of, in order, with repetitions."""
        return self._pieces.rows_in(text)

    def vectors(self, rows: Sequence[int]) -> NDArray[np.float32]:
        """(rows, dimensions): rows of the table, as they are."""
        return self._table.take(np.asarray(rows, np.intp), axis=0).astype(np.float32)

    def _sums(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """The weighted sum of each text's rows as whole numbers, exact: added in float32 where every partial sum fits,
        else in float64.

        einsum adds up in this thread; a matrix product would wake the BLAS library's.
        """
        sums = np.zeros((len(texts), self._fingerprint.dimensions), np.float64)
        rows, weights, ends = self._weighted(texts)
        totals = np.concatenate(([0], np.cumsum(weights, dtype=np.int64)))[ends]
        narrow = np.diff(totals, prepend=0) * _INT8_MAX < _FLOAT32_EXACT
        start = 0
        for text, (end, exact) in enumerate(zip(ends.tolist(), narrow.tolist(), strict=True)):
            if end > start:
                kind: Any = np.float32 if exact else np.float64
                some = self._table.take(rows[start:end], axis=0).astype(kind)
                sums[text] = np.einsum("n,nd->d", weights[start:end].astype(kind, copy=False), some)
            start = end
        return sums

    def _weighted(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.int64]]:
        """The different rows of each text and their weights, text after text, and where each text's end."""
        found: list[int] = []
        counts = []
        for text in texts:
            found += self._pieces.rows_in(text)
            counts.append(len(found))
        keys = np.array(found, np.int64)
        keys += np.repeat(np.arange(len(texts)), np.diff(counts, prepend=0)) * len(self._table)
        keys.sort()
        firsts = np.flatnonzero(np.diff(keys, prepend=-1))
        times = np.diff(firsts, append=len(keys))
        ends = np.searchsorted(firsts, counts)
        return keys[firsts] % len(self._table), _WEIGHT_OF_COUNT[np.minimum(times, MAX_COUNT)], ends


_opened: WeakValueDictionary[Path, BundledEmbedder] = WeakValueDictionary()


def shared() -> BundledEmbedder:
    """The bundled model, unverified. All callers share one, because each takes up to 17 MB and 8 ms."""
    embedder = _opened.get(MODEL_DIR)
    if embedder is None:
        embedder = _opened[MODEL_DIR] = BundledEmbedder.open(verify=False)
    return embedder


def _normalise_into(unit_rows: NDArray[np.float32], sums: NDArray[np.float64]) -> None:
    """Write ``sums``, whole numbers, scaled to length 1; rows of zeros are left as they are.

    Squares are added as integers, and dividing and square roots are exact to the last bit by IEEE 754.
    """
    whole = sums.astype(np.int64)
    bits = np.frexp(np.abs(sums).max(axis=1))[1].astype(np.int64)
    whole >>= np.maximum(bits - SQUARE_BITS, 0)[:, np.newaxis]
    lengths = np.sqrt((whole * whole).sum(axis=1).astype(np.float64))
    known = lengths > 0
    unit_rows[known] = whole[known] / lengths[known, np.newaxis]

"""The embedding model that comes with findling: one int8 vector per word, added up.

Needs the three files in ``model/`` and, for more than a few texts (`bundled_few`), numpy. A text is split into words
and those into the rows that they are made of (`bundled_vocabulary`). The vector is the sum of the rows, each weighted
by 1 + ln(times it occurs), scaled to length 1.

Every sum is exact: rows are whole numbers and so are the weights (in units of 1 / WEIGHT_UNIT), and the float type is
chosen so that no partial sum is rounded. The order of adding, and so the processor, cannot change a vector.
"""

from __future__ import annotations

import math
import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from findling.embedding import Batch, Fingerprint
from findling.embedding.bundled_few import SQUARE_BITS, unit_row, weighted_sum
from findling.embedding.bundled_files import META_FILE as META_FILE
from findling.embedding.bundled_files import MODEL_DIR as MODEL_DIR
from findling.embedding.bundled_files import REMEDY, described, mapped_table, reading
from findling.embedding.bundled_files import TABLE_FILE as TABLE_FILE
from findling.embedding.bundled_files import WORDS_FILE as WORDS_FILE
from findling.embedding.bundled_vocabulary import Vocabulary
from findling.model.errors import EmbedderUnavailable
from findling.model.tokenizer import words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Weights are rounded to 1/256: 0.2 % of the smallest weight, far below what int8 rows resolve.
WEIGHT_UNIT = 256

# A piece that occurs more often weighs as if it occurred this often (9.3 instead of, say, 11).
MAX_COUNT = 4096

# Words longer than this are rarely met twice (hashes, encoded data), so their pieces are not remembered.
MAX_REMEMBERED_CHARS = 64

# Words whose pieces are remembered: about 13 MB when full, and then forgotten all at once. 12 MB of source code in
# eleven languages has 10,000 different ones.
MAX_REMEMBERED_WORDS = 65_536

# Characters of texts that are embedded without numpy where nothing has imported it yet: about half the time that takes.
FEW_CHARS = 40_000

# Texts whose exact sums are held at a time: 1 MB at 256 dimensions.
BLOCK_TEXTS = 512

_INT8_MAX = 128

# Whole numbers up to this are exact in float32.
_FLOAT32_EXACT = 2**24


class _Pieces(dict[str, tuple[int, ...]]):
    """Word as it stands in the text -> the rows it is made of; filled as words are met."""

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

    def __init__(self, table: memoryview, pieces: _Pieces, fingerprint: Fingerprint) -> None:
        self._rows = table
        self._pieces = pieces
        self._fingerprint = fingerprint
        self._arrays: tuple[NDArray[np.int8], NDArray[np.float32]] | None = None

    @classmethod
    def open(cls, folder: Path | None = None, *, verify: bool = True) -> BundledEmbedder:
        """Open the model in ``folder`` (`MODEL_DIR`).

        Raises EmbedderUnavailable when a file is missing, damaged or does not fit.
        """
        folder = folder or MODEL_DIR
        about = described(folder, verify=verify)
        with reading(folder):
            table, shape = mapped_table(folder / TABLE_FILE)
            vocabulary = Vocabulary((folder / WORDS_FILE).read_bytes().decode().split("\n"), about.shared_rows)
        expected = (about.words + about.shared_rows, about.fingerprint.dimensions)
        if shape != expected or len(vocabulary) + about.shared_rows != expected[0]:
            raise EmbedderUnavailable(
                f"The bundled embedding model does not fit together: {shape} numbers, "
                f"{len(vocabulary)} words, {expected} expected.",
                remedy=REMEDY,
            )
        return cls(table, _Pieces(vocabulary), about.fingerprint)

    @property
    def fingerprint(self) -> Fingerprint:
        return self._fingerprint

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See Embedder. Time grows with the length of the text and with nothing else."""
        return self._embed(len(texts), map(self._count_text, texts))

    def encode_few(self, texts: Sequence[str]) -> list[array[float]] | None:
        """The same vectors as arrays of code "f"; None where numpy is no slower."""
        if "numpy" in sys.modules or sum(map(len, texts)) > FEW_CHARS:
            return None
        size = self._fingerprint.dimensions
        return [unit_row(weighted_sum(self._rows, size, self._count_text(text), weight_of)) for text in texts]

    def encode_query(self, text: str) -> NDArray[np.float32]:
        """See Embedder. The same vector as ``encode`` gives: the model has no prefixes."""
        row: NDArray[np.float32] = self.encode([text])[0]
        return row

    @property
    def problem(self) -> None:
        """See Embedder. What is open works."""

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
        import numpy as np

        table, _ = self._arrays or self._as_arrays()
        return table.take(np.asarray(rows, np.intp), axis=0).astype(np.float32)

    def _count_text(self, text: str) -> Mapping[int, int]:
        return Counter(self.rows_in(text))

    def _embed(self, texts: int, piece_counts: Iterable[Mapping[int, int]]) -> NDArray[np.float32]:
        import numpy as np

        unit_rows = np.zeros((texts, self._fingerprint.dimensions), np.float32)
        counts = iter(piece_counts)
        for start in range(0, texts, BLOCK_TEXTS):
            block = unit_rows[start : start + BLOCK_TEXTS]
            sums = np.zeros(block.shape, np.float64)
            for position, pieces in enumerate(islice(counts, len(block))):
                if pieces:
                    sums[position] = self._sum(pieces)
            _normalise_into(block, sums)
        return unit_rows

    def _sum(self, pieces: Mapping[int, int]) -> NDArray[Any]:
        """The weighted sum of rows as whole numbers, exact: float32 where every partial sum fits, else float64.

        einsum adds up in this thread; a matrix product would wake the BLAS library's.
        """
        import numpy as np

        table, weight_of_count = self._arrays or self._as_arrays()
        rows = np.fromiter(pieces.keys(), np.intp, len(pieces))
        counts = np.fromiter(pieces.values(), np.intp, len(pieces))
        weights = weight_of_count[np.minimum(counts, MAX_COUNT)]
        exact = np.float32 if int(weights.sum(dtype=np.int64)) * _INT8_MAX < _FLOAT32_EXACT else np.float64
        total: NDArray[Any] = np.einsum("n,nd->d", weights.astype(exact), table.take(rows, axis=0).astype(exact))
        return total

    def _as_arrays(self) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        """The table (n, d), and the weight of each number of times."""
        import numpy as np

        table = np.frombuffer(self._rows, np.int8).reshape(-1, self._fingerprint.dimensions)
        counts = np.maximum(np.arange(MAX_COUNT + 1), 1)
        self._arrays = table, np.rint(WEIGHT_UNIT * (1 + np.log(counts))).astype(np.float32)
        return self._arrays


@cache
def weight_of(count: int) -> int:
    """The weight of a piece that occurs so often, in units of 1 / WEIGHT_UNIT."""
    return round(WEIGHT_UNIT * (1 + math.log(min(count, MAX_COUNT))))


_opened: WeakValueDictionary[Path, BundledEmbedder] = WeakValueDictionary()


def shared() -> BundledEmbedder:
    """The bundled model, unverified: one for all who hold it, because each takes up to 17 MB and 8 ms."""
    embedder = _opened.get(MODEL_DIR)
    if embedder is None:
        embedder = _opened[MODEL_DIR] = BundledEmbedder.open(verify=False)
    return embedder


def _normalise_into(unit_rows: NDArray[np.float32], sums: NDArray[np.float64]) -> None:
    """Write ``sums``, whole numbers, scaled to length 1; rows of zeros are left as they are.

    Squares are added as integers, and dividing and square roots are exact to the last bit by IEEE 754.
    """
    import numpy as np

    whole = sums.astype(np.int64)
    bits = np.frexp(np.abs(sums).max(axis=1))[1].astype(np.int64)
    whole >>= np.maximum(bits - SQUARE_BITS, 0)[:, np.newaxis]
    lengths = np.sqrt((whole * whole).sum(axis=1).astype(np.float64))
    known = lengths > 0
    unit_rows[known] = whole[known] / lengths[known, np.newaxis]

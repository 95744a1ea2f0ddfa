"""The embedding model that comes with findling: one int8 vector per word, added up.

Needs numpy and the three files in ``model/``, nothing else. A text is split into ASCII words, identifiers into their
parts; a part that is not in the vocabulary into the longest pieces that are. The vector is the sum of the pieces'
rows, each weighted by 1 + ln(times it occurs), scaled to length 1. A model of format 2, as `training` exports it,
splits words as the text index does instead (`bundled_vocabulary`).

Every sum is exact: rows are whole numbers and so are the weights (in units of 1 / WEIGHT_UNIT), and the float type is
chosen so that no partial sum is rounded. The order of adding, and so the processor, cannot change a vector.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from findling.embedding import Batch, Fingerprint
from findling.embedding.bundled_vocabulary import Vocabulary
from findling.errors import EmbedderUnavailable
from findling.tokenizer import words

MODEL_DIR = Path(__file__).parent / "model"
TABLE_FILE = "emb.int8.npy"
WORDS_FILE = "vocab.txt"
META_FILE = "meta.json"

# A model whose words are terms of the text index; those of format 1 split ASCII words by themselves.
TERMS_FORMAT = 2

# Part of the fingerprint: raise it when the same files would give other vectors.
ARITHMETIC_VERSION = 1

# Weights are rounded to 1/256: 0.2 % of the smallest weight, far below what int8 rows resolve.
WEIGHT_UNIT = 256

# A piece that occurs more often weighs as if it occurred this often (9.3 instead of, say, 11).
MAX_COUNT = 4096

# The longest piece that is looked for in a word that is not in the vocabulary; the vocabulary has hardly any longer.
MAX_PIECE_CHARS = 24

# Words longer than this are rarely met twice (hashes, encoded data), so their pieces are not remembered.
MAX_REMEMBERED_CHARS = 64

# Words whose pieces are remembered: about 13 MB when full, and then forgotten all at once. 12 MB of source code in
# eleven languages has 10,000 different ones.
MAX_REMEMBERED_WORDS = 65_536

# Texts whose exact sums are held at a time: 1 MB at 256 dimensions.
BLOCK_TEXTS = 512

_INT8_MAX = 128

# Whole numbers up to this are exact in float32.
_FLOAT32_EXACT = 2**24

# Sums below this have a sum of squares that fits 64 bits at up to 512 dimensions.
_SQUARE_BITS = 27

_PART = re.compile(rb"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")

# Everything but ASCII letters and digits becomes a space, so that split() finds the words.
_SPACED = bytes(code if bytes((code,)).isalnum() else 0x20 for code in range(256))

_REMEDY = "Reinstall findling to restore its model files; searching by text and by name works without them."


class _Pieces(dict[bytes, tuple[int, ...]]):
    """Word as it stands in the text -> the rows it is made of; filled as words are met."""

    def __init__(self, rows: Mapping[bytes, int]) -> None:
        super().__init__()
        self._rows = rows

    def __missing__(self, word: bytes) -> tuple[int, ...]:
        found = tuple(chain.from_iterable(self._split(part.lower()) for part in _PART.findall(word)))
        if len(word) <= MAX_REMEMBERED_CHARS:
            if len(self) >= MAX_REMEMBERED_WORDS:
                self.clear()
            self[word] = found
        return found

    def rows_in(self, text: str) -> Iterable[int]:
        """The rows of all words of a text, with repetitions."""
        words = text.encode("ascii", "replace").translate(_SPACED).split()
        return chain.from_iterable(map(self.__getitem__, words))

    def _split(self, part: bytes) -> Iterable[int]:
        row = self._rows.get(part)
        if row is not None:
            return (row,)
        found = []
        start = 0
        while start < len(part):
            for end in range(min(len(part), start + MAX_PIECE_CHARS), start, -1):
                row = self._rows.get(part[start:end])
                if row is not None:
                    found.append(row)
                    start = end
                    break
            else:
                start += 1
        return found


class _Terms(dict[str, tuple[int, ...]]):
    """The same for a model of format 2, whose words are split as the text index splits them."""

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
        """See `_Pieces`."""
        return chain.from_iterable(map(self.__getitem__, words(text)))


class BundledEmbedder:
    """The bundled model, opened. Safe to use from several threads; the table is mapped, not copied."""

    def __init__(self, table: NDArray[np.int8], pieces: _Pieces | _Terms, fingerprint: Fingerprint) -> None:
        self._table = table
        self._pieces = pieces
        self._fingerprint = fingerprint
        counts = np.maximum(np.arange(MAX_COUNT + 1), 1)
        self._weights = np.rint(WEIGHT_UNIT * (1 + np.log(counts))).astype(np.float32)

    @classmethod
    def open(cls, folder: Path | None = None, *, verify: bool = True) -> BundledEmbedder:
        """Open the model in ``folder`` (`MODEL_DIR`).

        Raises EmbedderUnavailable when a file is missing, damaged or does not fit.
        """
        folder = folder or MODEL_DIR
        try:
            meta = json.loads((folder / META_FILE).read_bytes())
            digests = {name: _check(folder / name, meta["files"][name], verify) for name in (TABLE_FILE, WORDS_FILE)}
            table = np.asarray(np.load(folder / TABLE_FILE, mmap_mode="r", allow_pickle=False))
            known = (folder / WORDS_FILE).read_bytes().split(b"\n")
            shared_rows = int(meta["shared_rows"]) if meta["format"] == TERMS_FORMAT else 0
            expected = (int(meta["words"]) + shared_rows, int(meta["dimensions"]))
            pieces = _pieces_of(known, shared_rows)
            provenance = [str(meta[key]) for key in ("name", "version", "prefix_scheme")]
        except FileNotFoundError as error:
            raise EmbedderUnavailable(
                f"The bundled embedding model is incomplete: {error.filename} is missing.", remedy=_REMEDY
            ) from error
        except (OSError, ValueError, KeyError, TypeError, EOFError) as error:
            raise EmbedderUnavailable(
                f"The bundled embedding model cannot be read from {folder}: {error}.", remedy=_REMEDY
            ) from error
        different = len(set(known))
        if table.dtype != np.int8 or table.shape != expected or different + shared_rows != expected[0]:
            raise EmbedderUnavailable(
                f"The bundled embedding model does not fit together: {table.shape} {table.dtype} numbers, "
                f"{different} words, {expected} expected.",
                remedy=_REMEDY,
            )
        content = hashlib.sha256("\0".join([digests[TABLE_FILE], digests[WORDS_FILE]]).encode()).hexdigest()
        name, version, prefix_scheme = provenance
        fingerprint = Fingerprint(
            provider="bundled",
            model=name,
            version=f"{version}+{content[:16]}.{ARITHMETIC_VERSION}",
            dimensions=expected[1],
            prefix_scheme=prefix_scheme,
        )
        return cls(table, pieces, fingerprint)

    @property
    def fingerprint(self) -> Fingerprint:
        return self._fingerprint

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See Embedder. Time grows with the length of the text and with nothing else."""
        return self._embed(len(texts), map(self._count_text, texts))

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

    def _count_text(self, text: str) -> Mapping[int, int]:
        return Counter(self._pieces.rows_in(text))

    def _embed(self, texts: int, piece_counts: Iterable[Mapping[int, int]]) -> NDArray[np.float32]:
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
        rows = np.fromiter(pieces.keys(), np.intp, len(pieces))
        counts = np.fromiter(pieces.values(), np.intp, len(pieces))
        weights = self._weights[np.minimum(counts, MAX_COUNT)]
        exact = np.float32 if int(weights.sum(dtype=np.int64)) * _INT8_MAX < _FLOAT32_EXACT else np.float64
        total: NDArray[Any] = np.einsum("n,nd->d", weights.astype(exact), self._table.take(rows, axis=0).astype(exact))
        return total


_opened: WeakValueDictionary[Path, BundledEmbedder] = WeakValueDictionary()


def shared() -> BundledEmbedder:
    """The bundled model, unverified: one for all who hold it, because each takes up to 17 MB and 8 ms."""
    embedder = _opened.get(MODEL_DIR)
    if embedder is None:
        embedder = _opened[MODEL_DIR] = BundledEmbedder.open(verify=False)
    return embedder


def _pieces_of(known: Sequence[bytes], shared_rows: int) -> _Pieces | _Terms:
    """How words become rows. Raises UnicodeDecodeError, a ValueError."""
    if shared_rows:
        return _Terms(Vocabulary([word.decode("utf-8") for word in known], shared_rows))
    return _Pieces(dict(zip(known, range(len(known)), strict=True)))


def _normalise_into(unit_rows: NDArray[np.float32], sums: NDArray[np.float64]) -> None:
    """Write ``sums``, whole numbers, scaled to length 1; rows of zeros are left as they are.

    Squares are added as integers, and dividing and square roots are exact to the last bit by IEEE 754.
    """
    whole = sums.astype(np.int64)
    bits = np.frexp(np.abs(sums).max(axis=1))[1].astype(np.int64)
    whole >>= np.maximum(bits - _SQUARE_BITS, 0)[:, np.newaxis]
    lengths = np.sqrt((whole * whole).sum(axis=1).astype(np.float64))
    known = lengths > 0
    unit_rows[known] = whole[known] / lengths[known, np.newaxis]


def _check(path: Path, expected: Mapping[str, Any], verify: bool) -> str:
    """Compare the file with what ``meta.json`` says of it, and give back the checksum that it should have."""
    size = path.stat().st_size
    if size != expected["bytes"]:
        raise ValueError(f"{path.name} has {size:,} bytes instead of {expected['bytes']:,}")
    digest = str(expected["sha256"])
    if verify:
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != digest:
                raise ValueError(f"{path.name} does not match its checksum")
    return digest

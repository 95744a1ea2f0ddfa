"""Which chunks may be near a query: sign bits of every vector, derived from the table of vectors.

The bits of a large index stand in a file that is mapped, column after column of words; what was written since is read
from the table. Both are in the order of the table's rows, so a file that lags behind is right as far as it goes, and
one that was made for another model or store is made anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from findling.model import vector_codes
from findling.store import hamming
from findling.store.local import dense_files
from findling.store.local.dense_files import About, DenseFiles, row_width
from findling.store.local.models import Models
from findling.store.local.schema import map_os_error
from findling.store.protocols import CHUNK_BITS, Own, proposed

_COUNT_MASK = (1 << CHUNK_BITS) - 1
"""The file has one word for each entry: its id, and in these bits how many units it has."""

_ALIKE = 2
"""What was written since the file was made is kept in parts. Each is more than this many times as large as the next, so
there are few parts to compare with a query, and a vector is copied only a few times."""

_AT_ONCE = 250
"""How many rows of the table (each has the vectors of one file) are turned into bits together. With more than about
100 kB, each time memory would be allocated anew by the system, which takes longer than the work itself."""


class DenseIndex:
    """The sign bits of one model's vectors, as of the last `refresh`."""

    def __init__(self, models: Models, model_id: int) -> None:
        """Raises `ValueError` where there is no such model."""
        model = models.get(model_id)
        if model is None:
            raise ValueError("vectors of a model that is not there")
        self._models = models
        self._model = model
        self._files = DenseFiles.of(models.directory, model_id)
        self._width = row_width(model.dimensions)
        self._last = 0
        self._mapped_rows = 0
        self._units: list[NDArray[np.int64]] = []
        self._bits: list[NDArray[Any]] = []
        """As `hamming.in_columns`."""
        self._load()
        self._take_in()
        self._read_rows = self.rows

    def refresh(self, models: Models) -> None:
        """Take in what was written since; what was deleted is among the rows for a while."""
        self._models = models
        self._take_in()
        if not self._mapped_rows and self.rows > self._read_rows * (1 + dense_files.LAG_SHARE):
            self._units, self._bits, self._last = [], [], 0
            self._take_in()
            self._read_rows = self.rows

    def _take_in(self) -> None:
        units: list[NDArray[np.int64]] = []
        bits: list[NDArray[np.uint8]] = []
        rows = self._models.vectors_after(self._last, self._model.model_id)
        while some := list(islice(rows, _AT_ONCE)):
            more_units, more_bits = self._of(some)
            units.append(more_units)
            bits.append(more_bits)
            self._last = some[-1][0]
        if units:
            self._units.append(np.concatenate(units))
            self._bits.append(hamming.in_columns(np.concatenate(bits)))
        if not self._mapped_rows:
            self._join(len(self._units))
            return
        while len(self._units) > 2 and len(self._units[-2]) <= _ALIKE * len(self._units[-1]):
            self._join(2)
            self._drop_dead()

    def _join(self, parts: int) -> None:
        """Make the last so many parts one."""
        if parts > 1:
            self._units[-parts:] = [np.concatenate(self._units[-parts:])]
            self._bits[-parts:] = [np.asfortranarray(np.concatenate(self._bits[-parts:]))]

    def _drop_dead(self) -> None:
        """Drop what was deleted since from the last part: where a file is written all the time that is most of it."""
        entries = self._units[-1] >> CHUNK_BITS
        live = self._models.with_vectors(np.unique(entries).tolist(), self._model.model_id)
        kept = np.isin(entries, list(live))
        if not kept.all():
            self._units[-1] = self._units[-1][kept]
            self._bits[-1] = np.asfortranarray(self._bits[-1][kept])

    def _of(self, rows: Sequence[tuple[int, int, bytes]]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Units and bits of some rows of the table. Raises `ValueError` where a row is not whole vectors."""
        size = self._model.vector_bytes
        counts = np.array([len(data) // size for _, _, data in rows])
        data = b"".join([data for _, _, data in rows])
        if len(data) != counts.sum() * size:
            raise ValueError("a stored vector has another length than its model's")
        units = _counted(np.array([entry_id << CHUNK_BITS for _, entry_id, _ in rows], np.int64), counts)
        return units, vector_codes.sign_bits(data, self._model.dimensions, self._model.coding)

    @property
    def rows(self) -> int:
        return sum(len(units) for units in self._units)

    def nearest(self, query: NDArray[np.float32], count: int, own: Own, share: int = 1) -> list[tuple[int, int]]:
        """The ``count`` nearest units to a unit vector as (unit id, bits that differ), ascending by these.

        ``own`` and ``share`` as `proposed` understands them. A unit that was embedded anew is there once.
        """
        return proposed(partial(self._nearest, np.packbits(query >= 0)), own, count, share)

    def _nearest(self, query_bits: NDArray[np.uint8], count: int) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        for units, bits in zip(self._units, self._bits, strict=True):
            rows = hamming.top_by_bits(bits, query_bits, count)
            distances = hamming.hamming(bits[rows], query_bits)
            found += zip(distances.tolist(), units[rows].tolist(), strict=True)
        found.sort()  # the parts are searched apart, and what was written last must not come last for it
        return [(unit, distance) for distance, unit in found[:count]]

    # --- the files ------------------------------------------------------------------------------------------

    def _load(self) -> None:
        about = self._files.read(self._models.identity, self._width)
        if about is None:
            return  # missing or damaged: the table is read instead, and `save` writes it anew
        try:
            words = np.fromfile(self._files.units, np.int64)
            counts = words & _COUNT_MASK
            if counts.sum() != about.rows:
                return
            units = _counted(words - counts, counts)
            word = hamming.word_of(self._width)
            bits = np.memmap(self._files.bits, word, "r", shape=(about.rows, self._width // word.itemsize), order="F")
        except (OSError, ValueError):
            return
        self._last = about.last
        self._units, self._bits, self._mapped_rows = [units], [bits], about.rows

    def save(self) -> None:
        """Write the file when the index has outgrown what can be read from the table at once.

        When many of the rows are of vectors that were deleted since, all are read from the table again first.
        """
        new = self.rows - self._mapped_rows
        if self._mapped_rows and new <= self._mapped_rows * dense_files.FEW_SHARE:
            return  # whether many others were deleted takes longer to count than it may save
        if self.rows >= dense_files.FILE_ROWS:
            live = self._models.vector_count(self._model.model_id)
            if self.rows - live > live * dense_files.LAG_SHARE:
                self._units, self._bits, self._last, self._mapped_rows = [], [], 0, 0
                self._take_in()
        rows = self.rows
        if rows < dense_files.FILE_ROWS or rows - self._mapped_rows <= rows * dense_files.LAG_SHARE:
            return
        try:
            self._write(rows)
        except OSError as error:
            for path in self._files:
                with suppress(OSError):
                    dense_files.partial(path).unlink()
            raise map_os_error(error, self._models.directory) from error

    def _write(self, rows: int) -> None:
        files = self._files
        files.about.unlink(missing_ok=True)
        columns = range(self._bits[0].shape[1])
        for path, parts in (
            (files.units, [_words(part) for part in self._units]),
            (files.bits, (part[:, column] for column in columns for part in self._bits)),
        ):
            beside = dense_files.partial(path)
            beside.unlink(missing_ok=True)
            with beside.open("xb") as file:
                for part in parts:
                    file.write(np.ascontiguousarray(part).tobytes())
            beside.replace(path)
        files.write_about(About(rows, self._last), self._models.identity, self._width)


def _counted(firsts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each entry its consecutive units: ``counts`` of them, beginning with the one in ``firsts``."""
    before = np.cumsum(counts) - counts
    units: NDArray[np.int64] = np.repeat(firsts - before, counts) + np.arange(counts.sum())
    return units


def _words(units: NDArray[np.int64]) -> NDArray[np.int64]:
    """One word for each run of consecutive units (the inverse of `_counted`)."""
    begins = np.flatnonzero(np.concatenate((np.ones(min(1, len(units)), bool), np.diff(units) != 1)))
    return units[begins] | np.diff(begins, append=len(units))

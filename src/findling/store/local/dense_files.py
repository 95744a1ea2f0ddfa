"""The files of a model's sign bits: their names, their description, and when they are worth writing. Light, because
every run that indexes one file asks here, and mostly nothing is due.
"""

from __future__ import annotations

import json
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from findling.store.local.models import Models

FILE_ROWS = 100_000
"""Below this many rows, reading the table takes at most 40 ms. The file takes a twentieth of the text's size."""

LAG_SHARE = 0.1
"""A file that lacks a larger share of the rows is written anew."""

FEW_SHARE = 0.01
"""If a file lacks at most this share, deleted rows are not looked for: that would cost a one-file run 30 ms."""


class About(NamedTuple):
    """``rows``: how many vectors the bits cover; ``last``: the highest id in the table of vectors among them."""

    rows: int
    last: int


class DenseFiles(NamedTuple):
    """``about`` describes the others; it is written last and removed first."""

    about: Path
    units: Path
    bits: Path

    @classmethod
    def of(cls, directory: Path, model_id: int) -> DenseFiles:
        stem = directory / f"dense-{model_id}"
        return cls(stem.with_suffix(".json"), stem.with_suffix(".units"), stem.with_suffix(".bits"))

    def read(self, store: bytes, width: int) -> About | None:
        """The files; None if they are missing, damaged, of another ``store`` (an identity), or have rows of another
        ``width``."""
        try:
            state: dict[str, Any] = json.loads(self.about.read_text())
            rows, last = int(state["rows"]), int(state["last"])
            if state["store"] != store.hex() or state["in_columns"] != width:
                return None
            if self.bits.stat().st_size != rows * width or self.units.stat().st_size > rows * 8:
                return None
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return About(rows, last)

    def write_about(self, about: About, store: bytes, width: int) -> None:
        beside = partial(self.about)
        state = {"rows": about.rows, "in_columns": width, "last": about.last, "store": store.hex()}
        beside.write_text(json.dumps(state))
        beside.replace(self.about)


def partial(path: Path) -> Path:
    """The path at which such a file is written before it is moved to its place."""
    return path.with_suffix(f"{path.suffix}.part")


def row_width(dimensions: int) -> int:
    """Bytes of a vector's sign bits."""
    return -(-dimensions // 8)


def may_be_due(models: Models, model_id: int) -> bool:
    """Whether `DenseIndex.save` may have something to write. Within the reader's snapshot."""
    model = models.get(model_id)
    if model is None:
        return False
    about = DenseFiles.of(models.directory, model_id).read(models.identity, row_width(model.dimensions))
    if about is None:
        return models.vector_count(model_id) >= FILE_ROWS
    new = accumulate(len(data) // model.vector_bytes for _, _, data in models.vectors_after(about.last, model_id))
    return any(count > about.rows * FEW_SHARE for count in new)

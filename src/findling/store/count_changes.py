"""How many more files have each term after a batch, gathered file by file: for one manifest's `count_rows`.

Knows rows of terms (`term_rows`), not where counts are kept.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from findling.store import count_rows, term_rows

_MANY_FILES = 256
"""From so many on their terms are counted with numpy, in a tenth of the time; a run of fewer may never import it."""


class CountChanges:
    """Changes of counts; a row of terms is as `term_rows.unpack` gives it."""

    def __init__(self) -> None:
        self._added: list[Sequence[int]] = []
        self._taken: list[Sequence[int]] = []

    def add(self, row: Sequence[int]) -> None:
        """One file more has the terms of ``row``."""
        self._added.append(row)

    def take(self, row: Sequence[int]) -> None:
        """One file less."""
        self._taken.append(row)

    def by_bucket(self) -> Iterator[tuple[int, dict[int, int]]]:
        """The rows of counts that change, ascending, with the changes of their terms."""
        changes: defaultdict[int, dict[int, int]] = defaultdict(dict)
        counts: Counter[int] = Counter()
        if len(self._added) >= _MANY_FILES:
            changes.update(_counted(self._added))
        else:
            for row in self._added:
                counts.update(term_rows.keys(row))
        for row in self._taken:
            counts.subtract(term_rows.keys(row))
        for term, files in counts.items():
            if files:  # mostly a file was changed: then it takes back nearly all that it adds
                of_bucket = changes[count_rows.bucket(term)]
                of_bucket[term] = of_bucket.get(term, 0) + files
        yield from sorted(changes.items())


def _counted(rows: Sequence[Sequence[int]]) -> Iterator[tuple[int, dict[int, int]]]:
    import numpy as np

    words = np.concatenate([np.asarray(row, np.uint32) for row in rows])
    terms, files = np.unique(words >> np.uint32(term_rows.KEY_SHIFT), return_counts=True)
    edges = np.flatnonzero(np.diff(terms >> np.uint32(count_rows.LOW_BITS))) + 1
    for of_bucket, counts in zip(np.split(terms, edges), np.split(files, edges), strict=True):
        if len(of_bucket):
            yield count_rows.bucket(int(of_bucket[0])), dict(zip(of_bucket.tolist(), counts.tolist(), strict=True))

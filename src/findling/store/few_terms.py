"""How many of a few files have each term, told by their rows (`term_rows`): what `growth` keeps no table of."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from findling.store import term_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class FewTerms:
    """``rows``: the unpacked row of each file."""

    def __init__(self, rows: Sequence[Sequence[int]]) -> None:
        self._rows = rows
        self._keys: NDArray[np.uint32] | None = None
        self._in_order: array[int] | None = None
        self._asked = False

    def counts(self, keys: Collection[int]) -> dict[int, int]:
        """Files that have a term, by term key; 0 for none."""
        if not self._rows:
            return dict.fromkeys(keys, 0)
        if "numpy" in sys.modules:
            return self._counts_in_order(list(keys))
        # importing it takes as long as looking into a thousand rows, and putting all in order as into some hundred
        if self._asked:
            return self._counts_without_numpy(keys)
        self._asked = True
        found = Counter(dict.fromkeys(keys, 0))
        for row in self._rows:
            found.update(term_rows.among(row, keys))
        return dict(found)

    def _counts_without_numpy(self, keys: Iterable[int]) -> dict[int, int]:
        if self._in_order is None:
            self._in_order = array("I", sorted(chain.from_iterable(map(term_rows.keys, self._rows))))
        order = self._in_order
        return {key: bisect_right(order, key) - bisect_left(order, key) for key in keys}

    def _counts_in_order(self, keys: list[int]) -> dict[int, int]:
        import numpy as np

        if self._keys is None:
            words = np.concatenate([np.asarray(row, np.uint32) for row in self._rows])
            words >>= np.uint32(term_rows.KEY_SHIFT)
            words.sort()
            self._keys = words
        wanted = np.array(keys, np.uint32)
        files = np.searchsorted(self._keys, wanted, "right") - np.searchsorted(self._keys, wanted, "left")
        return dict(zip(keys, files.tolist(), strict=True))

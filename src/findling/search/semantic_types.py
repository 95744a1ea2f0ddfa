"""What the semantic channel hands over, apart from it so that naming it loads no numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class FileCosines(NamedTuple):
    """One file's cosines with the query, per chunk: ``own`` and of the ``window`` around it."""

    own: NDArray[np.float32]
    window: NDArray[np.float32]

"""What the semantic channel hands over, apart from it so that naming it loads no numpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class FileCosines:
    """One file's cosines with the query, per chunk: ``own`` and of the ``window`` around it."""

    own: NDArray[np.float32]
    window: NDArray[np.float32]

"""Turns text into vectors. ``embedder`` says what an embedder promises, ``opening`` opens one.

``bundled`` is the model that comes with findling; ``providers`` has the others. Knows nothing of files, chunks or the
index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.embedding.bundled import shared
    from findling.embedding.bundled_files import knows
    from findling.embedding.embedder import (
        BUNDLED,
        IN_PROCESS,
        Batch,
        Embedder,
        Fingerprint,
        coding_of,
        takes_documents,
    )
    from findling.embedding.opening import open_embedder
    from findling.embedding.word_nearness import NameCosines, nearness, specificity
else:
    __getattr__ = front_door(__name__)

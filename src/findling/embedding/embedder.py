"""The interface of an embedder. Knows no provider, and nothing of files, chunks or the index.

Light: importing it loads neither numpy nor a model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from msgspec import Struct

from findling.model.errors import EmbedderUnavailable
from findling.model.reading import FLOAT16, FOUR_BITS, Coding

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BUNDLED = "bundled"

IN_PROCESS = (BUNDLED, "local")
"""Providers that compute in this process. The others are asked over a connection, which may fail."""

# Enough of the hash that two embedders never share an id in one index, short enough to read.
_ID_HASH_CHARS = 12


class Fingerprint(NamedTuple):
    """What makes two vectors comparable: vectors whose fingerprints differ in any field must never be compared.

    ``version`` is the model's version or content digest; ``prefix_scheme`` names what is put before a document or
    a query ("none" when nothing is).
    """

    provider: str
    model: str
    version: str
    dimensions: int
    prefix_scheme: str = "none"

    @property
    def id(self) -> str:
        """A short stable name for use as a key: ``provider/model/hash-of-all-fields``."""
        fields = "\0".join(str(value) for value in self)
        return f"{self.provider}/{self.model}/{hashlib.sha256(fields.encode()).hexdigest()[:_ID_HASH_CHARS]}"


class Batch(Struct, frozen=True):
    """Vectors of the first ``len(rows)`` of the given texts: fewer than all when time ran out.

    ``failed``: place of a text -> why it has no vector; its row is zeros.
    """

    rows: NDArray[np.float32]
    failed: Mapping[int, str] = {}


class Embedder(Protocol):
    """Turns text into unit vectors of ``fingerprint.dimensions`` float32 numbers.

    A text in which the model knows nothing (empty, or without a single known word) gives a row of zeros. So does one
    that the model cannot embed; `embed_batch` tells which. Whatever the provider does, only `EmbedderUnavailable` is
    raised. Safe to use from several threads.
    """

    @property
    def fingerprint(self) -> Fingerprint: ...

    @property
    def problem(self) -> EmbedderUnavailable | None:
        """Why the embedder does not answer at the moment; None if nothing is known to be wrong. Opens no connection."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Documents to a float32 array (len(texts), dimensions): rows of length 1, or of zeros (see above)."""
        ...

    def encode_query(self, text: str) -> NDArray[np.float32]:
        """One query to a float32 array (dimensions,): length 1, or zeros (see above)."""
        ...

    def embed_batch(self, texts: Sequence[str], *, deadline: float | None = None) -> Batch:
        """As `encode`, for many documents, until ``deadline`` (monotonic seconds)."""
        ...


def coding_of(fingerprint: Fingerprint) -> Coding:
    """How vectors are stored. Four bits suit the bundled model alone: their levels fit its numbers."""
    return FOUR_BITS if fingerprint.provider == BUNDLED else FLOAT16


def takes_documents(fingerprint: Fingerprint) -> bool:
    """Whether documents may be embedded by this provider. They are sent to no external service."""
    return fingerprint.provider in (*IN_PROCESS, "ollama")


def wrong_dimensions(model: str, configured: int, returned: int) -> EmbedderUnavailable:
    """The error for a model whose vectors are longer or shorter than the configuration says."""
    return EmbedderUnavailable(
        f"semantic.modelDim is {configured}, but model '{model}' returns {returned} dimensions.",
        remedy=f"Set modelDim to {returned} or choose another model.",
        reason="dimensions",
    )

"""Text to vectors: what an embedder promises, and how to open one.

This door is light: importing it loads neither numpy nor a model. It knows nothing of files, chunks or the index;
``quantise`` beside it turns unit rows into the int8 and bit forms that the index keeps.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Protocol

from findling.errors import EmbedderUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BUNDLED = "bundled"

# Enough of the hash that two embedders never share an id in one index, short enough to read.
_ID_HASH_CHARS = 12


@dataclass(frozen=True, slots=True)
class Fingerprint:
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
        fields = "\0".join(str(value) for value in astuple(self))
        return f"{self.provider}/{self.model}/{hashlib.sha256(fields.encode()).hexdigest()[:_ID_HASH_CHARS]}"


class Embedder(Protocol):
    """Turns text into unit vectors of ``fingerprint.dimensions`` float32 numbers.

    A text in which the model knows nothing (empty, or without a single known word) gives a row of zeros, and only
    such a text does; ``quantise.known_rows`` tells those rows apart, before or after quantising.
    """

    @property
    def fingerprint(self) -> Fingerprint: ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Documents to a float32 array (len(texts), dimensions): rows of length 1, or of zeros (see above)."""
        ...

    def encode_query(self, text: str) -> NDArray[np.float32]:
        """One query to a float32 array (dimensions,): length 1, or zeros (see above)."""
        ...


class CountEmbedder(Embedder, Protocol):
    """An embedder that does not look at word order, so that a caller who has counted the words need not join them."""

    def encode_counts(self, counts: Sequence[Mapping[str, int]]) -> NDArray[np.float32]:
        """Like ``encode`` for texts given as (word as it stands in the text -> number of times)."""
        ...


def open_embedder(name: str | None = None, *, verify: bool = True) -> CountEmbedder:
    """Open the embedder called ``name``; None or "bundled" is the model that comes with findling.

    ``verify`` compares the model files with their checksums (a few ms); without it only their sizes are checked.
    Raises EmbedderUnavailable, with the reason and a remedy; another model is never opened instead.
    """
    if name is None or name == BUNDLED:
        from findling.embedding.bundled import BundledEmbedder

        return BundledEmbedder.open(verify=verify)
    raise EmbedderUnavailable(
        f"There is no embedding model called {name!r}.", remedy=f"Use {BUNDLED!r}, the model that comes with findling."
    )

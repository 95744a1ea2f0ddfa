"""The channel of an index's vectors, kept from one question to the next. Imports no numpy until there is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from findling.embedding import Embedder
    from findling.search.semantic import SemanticChannel
    from findling.store.protocols import Index


class KeptChannel:
    """Of one reader at a time, which tells by `forget` that it is closed."""

    def __init__(self) -> None:
        self._channel: SemanticChannel | None = None
        self._of = ""

    def of(self, reader: Index, embedder: Embedder, model_id: Callable[[str], int | None]) -> SemanticChannel | None:
        """Made anew where the embedder is another by then; None without vectors of it. ``model_id``: the number that
        the index has for a fingerprint's id."""
        fingerprint = embedder.fingerprint.id
        if self._channel is None or self._of != fingerprint:
            number = model_id(fingerprint)
            if number is None:
                return None
            from findling.search.semantic import SemanticChannel

            self._channel, self._of = SemanticChannel(reader, embedder, number), fingerprint
        return self._channel

    def forget(self) -> None:
        self._channel = None

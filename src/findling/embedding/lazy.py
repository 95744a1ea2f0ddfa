"""An embedder that is opened when it is first needed, and looked at again now and then.

One in this process stays as it is. One that is asked over a connection may go away, come back, or be another by then;
what was last seen of it is believed for half a minute.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from findling.embedding.embedder import BUNDLED, IN_PROCESS, Embedder
from findling.model.errors import EmbedderUnavailable

BELIEVED_S: Final = 30.0
"""How long an embedder that did not open is not tried again, and one that did is taken to be the same."""


class LazyEmbedder:
    """``open_embedder`` takes what ``stored`` gives: the id of the fingerprint of an index's vectors, None without."""

    def __init__(self, open_embedder: Callable[[str | None], Embedder], stored: Callable[[], str | None]) -> None:
        self._open = open_embedder
        self._stored = stored
        self._embedder: Embedder | None = None
        self._failure: EmbedderUnavailable | None = None
        self._looked_at = 0.0

    def get(self) -> Embedder | None:
        """None when it cannot be opened or does not answer just now; then `failure` says why."""
        if self._is_due():
            self._look()
        return None if self.failure else self._embedder

    @property
    def failure(self) -> EmbedderUnavailable | None:
        """Why there is none, as far as is known; asks nobody."""
        if self._failure is not None:
            return self._failure
        return self._embedder.problem if self._embedder is not None else None

    @property
    def opened(self) -> Embedder | None:
        """The one that was opened last, whether or not it answers just now."""
        return self._embedder

    def let_go(self) -> None:
        """Forget the bundled model, which is quickly opened again. Others are kept."""
        if self._embedder is not None and self._embedder.fingerprint.provider == BUNDLED:
            self._embedder = None

    def _is_due(self) -> bool:
        if self._embedder is not None and self._embedder.fingerprint.provider in IN_PROCESS:
            return False
        if self._embedder is None and self._failure is None:
            return True
        return time.monotonic() - self._looked_at >= BELIEVED_S

    def _look(self) -> None:
        try:
            found = self._open(self._stored())
            if self._embedder is None or self._embedder.fingerprint != found.fingerprint or self._embedder.problem:
                self._embedder = found
            self._failure = None
        except EmbedderUnavailable as error:
            self._failure = error
        self._looked_at = time.monotonic()

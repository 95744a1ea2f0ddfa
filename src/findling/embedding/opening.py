"""Opens the embedder of a provider: at once, or when it is first needed (`LazyEmbedder`)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from findling import config as settings
from findling.embedding import providers
from findling.embedding.embedder import BUNDLED, IN_PROCESS, Embedder
from findling.model.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from findling.config import Config


def open_embedder(
    provider: str = BUNDLED,
    model: str = "",
    *,
    dimensions: int | None = None,
    verify: bool = True,
    config: Config | None = None,
) -> Embedder:
    """Open the embedder of a provider (`findling.config.choose_provider` chooses); "bundled" comes with findling.

    ``model`` is the provider's name for it, '' for its own choice. ``dimensions``: how many numbers a vector must
    have, None for however many the model returns. ``verify`` compares the bundled model's files with their checksums
    (a few ms; else only their sizes are checked), and asks others for a vector. ``config``: addresses, limits and
    keys; None for the default ones. Raises EmbedderUnavailable, with the reason and a remedy; another model is never
    opened instead.
    """
    if provider == BUNDLED:
        return _open_bundled(dimensions, verify)
    config = config or settings.Config()
    if provider == "ollama":
        return providers.open_ollama(model, config, dimensions=dimensions, verify=verify)
    if provider == "local":
        return providers.open_local(model, config, dimensions=dimensions)
    if provider in ("voyage", "openai"):
        return providers.open_external(provider, model, config, dimensions=dimensions)
    raise EmbedderUnavailable(
        f"There is no provider {provider!r} of embedding models.",
        remedy="Set semantic.embedding.provider to local, ollama, voyage or openai.",
    )


def _open_bundled(dimensions: int | None, verify: bool) -> Embedder:
    from findling.embedding.bundled import BundledEmbedder, shared  # imports numpy

    embedder = BundledEmbedder.open() if verify else shared()
    made = embedder.fingerprint.dimensions
    if dimensions not in (None, made):
        raise EmbedderUnavailable(
            f"The bundled embedding model has {made} dimensions, and {dimensions} are configured.",
            remedy="Leave semantic.embedding.dimensions out.",
            reason="dimensions",
        )
    return embedder


BELIEVED_S: Final = 30.0
"""How long a failure to open is believed, and how long an opened embedder is taken to be unchanged."""


class LazyEmbedder:
    """An embedder that is opened when it is first needed, and looked at again now and then.

    ``stored`` gives the id of the fingerprint of an index's vectors, None without any; ``open_embedder`` takes it.
    """

    def __init__(self, open_embedder: Callable[[str | None], Embedder], stored: Callable[[], str | None]) -> None:
        self._open = open_embedder
        self._stored = stored
        self._embedder: Embedder | None = None
        self._failure: EmbedderUnavailable | None = None
        self._looked_at = 0.0

    def get(self) -> Embedder | None:
        """The embedder; None when it cannot be opened or does not answer, and then `failure` says why."""
        if self._is_due():
            self._look()
        return None if self.failure else self._embedder

    @property
    def failure(self) -> EmbedderUnavailable | None:
        """Why there is no embedder, as far as is known. Opens no connection."""
        if self._failure is not None:
            return self._failure
        return self._embedder.problem if self._embedder is not None else None

    @property
    def opened(self) -> Embedder | None:
        """The embedder that was opened last, whether or not it answers just now."""
        return self._embedder

    def let_go(self) -> None:
        """Forget the bundled model, which opens quickly. Other embedders are kept."""
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

"""The list of providers: how each one's embedder is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling import config as settings
from findling.embedding import providers
from findling.embedding.embedder import BUNDLED, Embedder
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
    from findling.embedding.bundled import BundledEmbedder, shared  # numpy, which no other provider's questions need

    embedder = BundledEmbedder.open() if verify else shared()
    made = embedder.fingerprint.dimensions
    if dimensions not in (None, made):
        raise EmbedderUnavailable(
            f"The bundled embedding model has {made} dimensions, and {dimensions} are configured.",
            remedy="Leave semantic.embedding.dimensions out.",
            reason="dimensions",
        )
    return embedder

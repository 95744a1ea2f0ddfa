"""Chooses the embedder by the configuration, the stored index and the embedders that work. Opens nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from findling.config.options import EXTERNAL_EMBEDDERS, KNOWN_DIMENSIONS, OLLAMA_MODEL, Config

Provider = Literal["bundled", "local", "ollama", "voyage", "openai"]
Reason = Literal["disabled", "named", "flat_key", "stored", "bundled", "detected", "blocked", "none"]

BUNDLED: Final = "bundled"
# A model that needs no socket can stand in for an external one; what is at a URL cannot.
_WITHOUT_SOCKET: Final = (BUNDLED, "local")


class ProviderChoice(NamedTuple):
    """The embedder to open. It may turn out not to work; then it is unavailable, and no other is opened instead.

    ``provider`` None: none, because semantic search is off (``disabled``) or nothing is there (``none``). ``model`` ""
    is the provider's own choice (for ``local``: by ``embedding.profile``). ``dimensions`` None: whatever the model
    returns. ``external_blocked``: an external service is configured and may not be called.
    """

    provider: Provider | None
    model: str
    dimensions: int | None
    reason: Reason
    external_blocked: bool = False

    @property
    def named(self) -> bool:
        """Whether somebody chose the model, whatever the index has. Else none can be at odds with the index."""
        return self.reason in ("named", "flat_key")


def choose_provider(
    config: Config,
    stored: str | None,
    ollama_detected: Callable[[], bool],
    *,
    bundled_works: bool = True,
    documents: bool = False,
) -> ProviderChoice:
    """The first that applies: the named provider, Ollama if a flat key chose it, the stored index's embedder, the
    bundled model, a detected Ollama.

    ``stored`` is the id of the index's fingerprint (``provider/model/hash``), None without vectors. ``ollama_detected``
    is called at most once, and only when the answer depends on it: it may open a connection to this machine.
    ``documents``: the choice for documents, which no external service ever gets.
    """
    if config.semantic.enabled is False:
        return ProviderChoice(None, "", None, "disabled")
    embedding = config.embedding
    blocked = config.embedder_blocked
    if embedding.provider in EXTERNAL_EMBEDDERS:
        if not blocked and not documents:
            return ProviderChoice(embedding.provider, embedding.model or "", _dimensions(config, ""), "named")
        return _without_socket(stored, bundled_works, blocked)
    if embedding.provider == "ollama":
        model = embedding.model or OLLAMA_MODEL
        reason: Reason = "flat_key" if config.provider_by_spelling else "named"
        return ProviderChoice("ollama", model, _dimensions(config, model), reason, blocked)
    if embedding.provider == "local" or embedding.profile in ("code_quality", "high_quality"):
        return _local(config, blocked)
    if blocked:
        return _without_socket(stored, bundled_works, blocked)
    kept = _stored(stored)
    if kept is not None:
        return kept
    if bundled_works:
        return _bundled("bundled")
    if ollama_detected():
        return ProviderChoice("ollama", OLLAMA_MODEL, _dimensions(config, OLLAMA_MODEL), "detected")
    return ProviderChoice(None, "", None, "none")


def _local(config: Config, blocked: bool) -> ProviderChoice:
    model = config.embedding.model or ""
    if model == BUNDLED or (not model and config.embedding.profile in ("fast_local", "external")):
        return ProviderChoice(BUNDLED, "", config.embedding.dimensions, "named", blocked)
    return ProviderChoice("local", model, _dimensions(config, model), "named", blocked)


def _without_socket(stored: str | None, bundled_works: bool, blocked: bool) -> ProviderChoice:
    """In place of an external service: a model inside this process, the index's own before the bundled one.

    What the configuration says of model and dimensions was said of the external service.
    """
    kept = _stored(stored)
    if kept is not None and kept.provider in _WITHOUT_SOCKET:
        return kept._replace(reason="blocked", external_blocked=blocked)
    if bundled_works:
        return _bundled("blocked")._replace(external_blocked=blocked)
    return ProviderChoice(None, "", None, "none", blocked)


def _bundled(reason: Reason) -> ProviderChoice:
    return ProviderChoice(BUNDLED, "", None, reason)


def _stored(stored: str | None) -> ProviderChoice | None:
    """The embedder that made the index. Never an external one: an index comes with a folder, and opens no gates."""
    provider, _, rest = (stored or "").partition("/")
    model = rest.rpartition("/")[0]
    if provider == BUNDLED:
        return _bundled("stored")
    if provider == "local" and model:
        return ProviderChoice("local", model, None, "stored")
    if provider == "ollama" and model:
        return ProviderChoice("ollama", model, None, "stored")
    return None


def _dimensions(config: Config, model: str) -> int | None:
    return config.embedding.dimensions or KNOWN_DIMENSIONS.get(model)

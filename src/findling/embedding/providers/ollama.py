"""Makes embedders of Ollama's models: adds prefixes, fingerprint and remembered queries to `OllamaClient`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from findling.embedding.embedder import Batch, Fingerprint
from findling.embedding.providers.ollama_client import DETECT_TIMEOUT_S, OllamaClient, forget_availability, models_at
from findling.embedding.providers.vectors import RememberedQueries, prefixes_of
from findling.model.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from findling.config import Config

_PROBE: Final = "a text"

_opened: dict[tuple[object, ...], OllamaEmbedder] = {}
"""Options -> embedder, for the whole process, so that threads share what they learn of a server."""


def forget() -> None:
    """Forget what was learned of servers; they are asked again when needed."""
    forget_availability()
    _opened.clear()


def available(url: str, *, timeout_s: float = DETECT_TIMEOUT_S) -> bool:
    """Whether an Ollama answers at ``url``, its address without a path of the API.

    Opens a connection: callers ask for this machine only, unless the user named another one.
    """
    try:
        models_at(url.rstrip("/"), elsewhere=True, timeout_s=timeout_s, anew=True)
    except EmbedderUnavailable:
        return False
    return True


def open_ollama(model: str, config: Config, *, dimensions: int | None, verify: bool) -> OllamaEmbedder:
    """The model at the configured address. Raises EmbedderUnavailable when it is not there, or does not fit."""
    semantic = config.semantic
    options = (semantic.ollama_url, model, dimensions, semantic.timeout_ms, semantic.max_retries)
    known = _opened.get((*options, config.embedding.batch_size))
    client = OllamaClient(
        semantic.ollama_url,
        model,
        dimensions=dimensions,
        timeout_s=semantic.timeout_ms / 1000,
        max_retries=semantic.max_retries,
        batch_texts=config.embedding.batch_size,
        elsewhere=True,  # the configuration takes another machine's address from its owner alone
    )
    digest = client.digest()
    if known is not None and known.fingerprint.version == digest and not verify:
        return known
    if client.dimensions is None or verify or config.embedding.dimensions is not None:
        client.embed(prefixes_of(model).document + _PROBE)
    made = _opened[(*options, config.embedding.batch_size)] = OllamaEmbedder(client, digest)
    return made


class OllamaEmbedder:
    """A model whose digest and dimensions are known."""

    def __init__(self, client: OllamaClient, digest: str) -> None:
        assert client.dimensions is not None
        self._client = client
        self._prefixes = prefixes_of(client.model)
        self._fingerprint = Fingerprint(
            "ollama", client.model, digest, client.dimensions, prefix_scheme=self._prefixes.scheme
        )
        self._queries = RememberedQueries()

    @property
    def fingerprint(self) -> Fingerprint:
        return self._fingerprint

    @property
    def problem(self) -> EmbedderUnavailable | None:
        """See Embedder."""
        return self._client.problem

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See Embedder."""
        return self.embed_batch(texts).rows

    def encode_query(self, text: str) -> NDArray[np.float32]:
        """See Embedder."""
        return self._queries.encode(text, self, lambda query: self._client.embed(self._prefixes.query + query))

    def embed_batch(self, texts: Sequence[str], *, deadline: float | None = None) -> Batch:
        """See Embedder. A blank text is not sent."""
        places = [place for place, text in enumerate(texts) if text.strip()]
        sent = [self._prefixes.document + texts[place] for place in places]
        made = self._client.embed_batch(sent, deadline=deadline)
        done = len(texts) if len(made.rows) == len(sent) else places[len(made.rows)]
        rows = np.zeros((done, self._fingerprint.dimensions), np.float32)
        rows[places[: len(made.rows)]] = made.rows
        return Batch(rows, {places[place]: why for place, why in made.failed.items()})

"""What is said of the embedding model before a server answers its first question."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from findling import config as settings
from findling import embedding
from findling.engine.semantics import choose, mismatch_of
from findling.engine.store import OpenStore
from findling.model import errors

PATIENCE_MS: Final = 3000
"""How long a model at an address may take here: clients give a server some ten seconds to start."""


def check_model(store: OpenStore) -> list[str]:
    """Sentences about a model that somebody chose and that cannot answer now, or has not made the index's vectors.

    Raises `EmbedderUnavailable` where the configured dimensions are provably not the model's, and `ConfigError`.
    """
    config = store.configuration.config
    if config is None or config.semantic.enabled is False:
        return []
    stored = _stored(store)
    choice = choose(config, stored)
    if not choice.named or choice.provider is None or choice.provider in settings.EXTERNAL_EMBEDDERS:
        return []
    hurried = replace(
        config,
        semantic=replace(config.semantic, timeout_ms=min(config.semantic.timeout_ms, PATIENCE_MS), max_retries=0),
    )
    at_address = choice.provider == "ollama"
    try:
        embedder = embedding.open_embedder(
            choice.provider, choice.model, dimensions=choice.dimensions, verify=at_address, config=hurried
        )
    except errors.EmbedderUnavailable as error:
        if error.reason == "dimensions":
            raise
        return [f"{error} Until then text and names are searched."]
    if stored is None:
        return []
    reader = store.reader
    with reader.snapshot():
        mismatch = mismatch_of(config, reader, embedder.fingerprint)
    return [f"{mismatch} Run 'findling embed', or reindex_vectors with force: true."] if mismatch else []


def _stored(store: OpenStore) -> str | None:
    """The fingerprint's id of the vectors; of an index that cannot be read there are none."""
    if not store.exists:
        return None
    try:
        return store.reader.latest_fingerprint()
    except errors.IndexUnavailable:
        return None

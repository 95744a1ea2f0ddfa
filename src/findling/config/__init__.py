"""What can be decided, and what was: files, environment and flags -> one frozen, checked `Config`.

Useful for anything that has options; knows no index, no model and no transport, opens no connection, and is light to
import. ``options`` is the definition, ``loading`` the recipe, ``provider`` the choice of an embedder.
"""

from __future__ import annotations

from findling.config.loading import Loaded, Origin, load
from findling.config.provider import ProviderChoice, choose_provider
from findling.config.table import EMBEDDING_KEY, OPTIONS, RERANK_KEY, Config, Secret
from findling.config.values import shown

__all__ = [
    "EMBEDDING_KEY",
    "OPTIONS",
    "RERANK_KEY",
    "Config",
    "Loaded",
    "Origin",
    "ProviderChoice",
    "Secret",
    "choose_provider",
    "load",
    "shown",
]

"""Embedders that do not come with findling: other models in this process, Ollama, external services."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.embedding.providers.external import open_external
    from findling.embedding.providers.local import open_local
    from findling.embedding.providers.ollama import open_ollama
else:
    __getattr__ = front_door(__name__)

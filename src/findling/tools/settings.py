"""What of the configuration the tools ask for, with its defaults. Plain values; reads no file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from findling.types import Intent

EXTERNAL = frozenset(("cohere", "openai", "voyage"))
"""Providers on other machines."""

SemanticMode = Literal["off", "rerank_only", "hybrid"]


def _overrides() -> Mapping[Intent, float]:
    return {"natural_language": 0.5, "symbol": 0.0, "path": 0.0, "error": 0.0}


@dataclass(frozen=True, slots=True)
class Settings:
    """Names and defaults are those of the configuration file.

    ``mode`` None: hybrid where an embedder works, else off. ``overrides`` are caps of the ratio by intent.
    Code goes to another machine only when both gates are open (``external_provider_enabled`` and
    ``allow_code_payload_to_external``).
    """

    mode: SemanticMode | None = None
    ratio: float = 0.3
    overrides: Mapping[Intent, float] = field(default_factory=_overrides)
    lexical_short_circuit_threshold: float = 0.85
    confidence_threshold: float = 0.5
    profile_advisor_mode: Literal["off", "suggest"] = "off"
    embedding_provider: str = "local"
    rerank_provider: Literal["none", "cohere", "voyage"] = "none"
    external_provider_enabled: bool = False
    allow_code_payload_to_external: bool = False
    keyword_weight: float = 0.4
    symbol_weight: float = 0.3
    semantic_weight: float = 0.3

    @property
    def external_providers(self) -> tuple[str, ...]:
        """The configured providers that code would be sent to."""
        configured = (self.embedding_provider, self.rerank_provider)
        return tuple(dict.fromkeys(name for name in configured if name in EXTERNAL))

    @property
    def external_provider_blocked(self) -> bool:
        """One is configured, and a gate is closed."""
        return bool(self.external_providers) and not (
            self.external_provider_enabled and self.allow_code_payload_to_external
        )

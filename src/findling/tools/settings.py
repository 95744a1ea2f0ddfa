"""What of the configuration the tools ask for, with its defaults. Plain values; reads no file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from findling.types import Intent

SemanticMode = Literal["off", "rerank_only", "hybrid"]


def _overrides() -> Mapping[Intent, float]:
    return {"natural_language": 0.5, "symbol": 0.0, "path": 0.0, "error": 0.0}


@dataclass(frozen=True, slots=True)
class Settings:
    """Names and defaults are those of the configuration file.

    ``mode`` None: hybrid where an embedder works, else off. ``overrides`` are caps of the ratio by intent.
    ``auto_index`` False: only what is indexed already is searched.
    """

    mode: SemanticMode | None = None
    ratio: float = 0.3
    overrides: Mapping[Intent, float] = field(default_factory=_overrides)
    lexical_short_circuit_threshold: float = 0.85
    confidence_threshold: float = 0.5
    profile_advisor_mode: Literal["off", "suggest"] = "off"
    keyword_weight: float = 0.4
    symbol_weight: float = 0.3
    semantic_weight: float = 0.3

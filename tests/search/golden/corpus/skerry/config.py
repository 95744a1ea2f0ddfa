"""Settings: defaults, then the file, then the environment."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

PREFIX = "SKERRY_"


class UnknownSetting(ValueError):
    """The file names something that is no setting."""


@dataclass(frozen=True)
class Settings:
    """Everything that can be set."""

    database: str = "readings.db"
    gateway_host: str = "gateway.example.org"
    cache_seconds: int = 60
    token_lifetime_s: int = 900
    log_level: str = "info"


def load_settings(path: Path, environment: Mapping[str, str] = os.environ) -> Settings:
    """Settings from a TOML file; a variable such as ``SKERRY_LOG_LEVEL`` wins over the file."""
    known = {field.name for field in fields(Settings)}
    given = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for name in given:
        if name not in known:
            raise UnknownSetting(f"unknown setting {name!r} in {path}")
    return _apply_environment(replace(Settings(), **given), environment)


def _apply_environment(settings: Settings, environment: Mapping[str, str]) -> Settings:
    overrides: dict[str, object] = {}
    for field in fields(Settings):
        value = environment.get(PREFIX + field.name.upper())
        if value is not None:
            overrides[field.name] = int(value) if field.type == "int" else value
    return replace(settings, **overrides)

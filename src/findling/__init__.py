"""findling finds code and documents by exact text, by name and by meaning, on your own machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.config.options import Config
    from findling.engine.async_engine import AsyncEngine
    from findling.engine.engine import Engine
    from findling.engine.library.library import Library
    from findling.model.errors import FindlingError
    from findling.model.types import Answer, Query
else:
    __getattr__ = front_door(__name__)

__version__ = "0.2.0.dev0"

__all__ = ["Answer", "AsyncEngine", "Config", "Engine", "FindlingError", "Library", "Query", "__version__"]

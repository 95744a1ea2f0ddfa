"""findling finds code and documents by exact text, by name and by meaning, on your own machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.engine.engine import Engine
    from findling.engine.library.library import Library
    from findling.model.errors import FindlingError
else:
    __getattr__ = front_door(
        __name__,
        {
            "engine.engine": "Engine",
            "engine.library.library": "Library",
            "model.errors": "FindlingError",
        },
    )

__version__ = "0.2.0.dev0"

__all__ = ["Engine", "FindlingError", "Library", "__version__"]

"""findling finds code and documents by exact text, by name and by meaning, on your own machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from findling.engine import Engine as Engine
    from findling.engine.library import Library as Library
    from findling.model.errors import FindlingError as FindlingError

__version__ = "0.1.0"

__all__ = ["Engine", "FindlingError", "Library", "__version__"]


def __getattr__(name: str) -> Any:
    """Load what is asked for when it is: the command line starts without it."""
    if name == "Engine":
        from findling.engine import Engine

        return Engine
    if name == "FindlingError":
        from findling.model.errors import FindlingError

        return FindlingError
    if name == "Library":
        from findling.engine.library import Library

        return Library
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

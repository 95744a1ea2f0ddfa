"""Front doors of packages: names that are imported from the modules behind them when they are first used.

``from findling import engine`` costs nothing then, at the top of any module; ``engine.Engine`` loads what it needs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any


def front_door(door: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of the package ``door`` (PEP 562), or of a module for those beside it.

    ``modules``: behind each module the names that it gives, with spaces between; nothing, and it is given itself.
    Type checkers read the same names as imports: ``if TYPE_CHECKING:`` them, ``else: __getattr__ = front_door(...)``.
    """
    places = {name: module for module, names in modules.items() for name in names.split() or [module]}

    def load(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {door!r} has no attribute {name!r}")
        own = sys.modules[door]
        path = f"{own.__package__}.{places[name]}"
        __import__(path)  # unlike import_module it is seen by -X importtime
        module = sys.modules[path]
        value = module if name == places[name] else getattr(module, name)
        setattr(own, name, value)  # from now on it is found without asking here
        return value

    return load

"""A package's front door: its names are loaded from its modules when they are first asked for.

``from findling import engine`` costs nothing then, at the top of any module; ``engine.Engine`` loads what it needs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def front_door(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package (PEP 562). ``modules``: the names at the door by the module that they are in,
    with spaces between; none is a module's own, which would hide it.

    Type checkers read the same names as imports: ``if TYPE_CHECKING:`` them, ``else: __getattr__ = front_door(...)``.
    """
    places = {name: module for module, names in modules.items() for name in names.split()}

    def load(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{places[name]}"), name)
        setattr(sys.modules[package], name, value)  # from now on it is found without asking here
        return value

    return load

"""Loading the protocol's SDK without the half of it that a server does not use.

The packages ``mcp`` and ``mcp.server`` import a client and a framework when they are imported themselves, which is a
third of a server's start-up. Here they stand for their submodules only, until somebody asks them for a name.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

_PACKAGES = ("mcp", "mcp.server")


def load_lightly() -> None:
    """Call before the SDK's first import; afterwards it does nothing."""
    for name in _PACKAGES:
        if name not in sys.modules:
            _put_off(name)


def _put_off(name: str) -> None:
    spec = find_spec(name)
    if spec is None or spec.loader is None:
        return  # the import that follows says what is missing
    module = module_from_spec(spec)
    load = spec.loader.exec_module

    def load_and_get(attribute: str) -> Any:
        if attribute.startswith("__"):  # asked by the import system, about an optional property of every module
            raise AttributeError(attribute)
        vars(module).pop("__getattr__", None)
        load(module)
        return getattr(module, attribute)

    vars(module)["__getattr__"] = load_and_get
    sys.modules[name] = module
    _bind_to_parent(name, module)


def _bind_to_parent(name: str, module: ModuleType) -> None:
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, module)

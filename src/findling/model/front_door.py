"""Front doors of packages: names that are imported from the modules behind them when they are first used.

``from findling import engine`` costs nothing then, at the top of any module; ``engine.Engine`` loads what it needs.
A front door lists its names once, as the imports that type checkers and editors read::

    if TYPE_CHECKING:
        from findling.engine.engine import Engine
    else:
        __getattr__ = front_door(__name__)
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

_IMPORT = re.compile(r"^    from (\S+) import (?:\(([^)]*)\)|(.*))$", re.MULTILINE)
"""An import of the block for type checkers."""


def front_door(door: str) -> Callable[[str], Any]:
    """The ``__getattr__`` (PEP 562) of the package or module ``door``, for the names that it imports for type checkers.

    A name that comes from ``door``, or from a package around it, is a module there.
    """
    places: dict[str, str] = {}

    def load(name: str) -> Any:
        if not places:
            places.update(_imports(door))
        if name not in places:
            raise AttributeError(f"module {door!r} has no attribute {name!r}")
        package = places[name]
        is_module = f"{door}.".startswith(f"{package}.")
        path = f"{package}.{name}" if is_module else package
        __import__(path)  # unlike import_module it is seen by -X importtime
        module = sys.modules[path]
        value = module if is_module else getattr(module, name)
        setattr(sys.modules[door], name, value)  # from now on it is found without asking here
        return value

    return load


def _imports(door: str) -> dict[str, str]:
    """By name where it is imported from."""
    spec = sys.modules[door].__spec__
    if spec.origin.endswith(".pyc"):  # type: ignore[union-attr]
        return _compiled_imports(spec.loader.get_code(door))  # type: ignore[union-attr]
    source: str = spec.loader.get_data(spec.origin).decode()  # type: ignore[union-attr]
    return {
        name: package
        for package, several, few in _IMPORT.findall(source.replace("\r\n", "\n"))
        for name in re.findall(r"\w+", several or few)
    }


def _compiled_imports(code: Any) -> dict[str, str]:
    """The same of a module that was installed without its source. It takes longer."""
    import dis

    places: dict[str, str] = {}
    package = ""
    for step in dis.get_instructions(code):
        if step.opname == "IMPORT_NAME":
            package = step.argval
        elif step.opname == "IMPORT_FROM":
            places[step.argval] = package
    return places

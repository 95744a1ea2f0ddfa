"""From the name of a module to its file, by the rules of a language."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Literal

from findling.model.rows import FileRow
from findling.store.protocols import Index

_PACKAGE = "__init__.py"
_SUFFIXES = (".py", ".pyi")
_SOURCES = ("", "src")
"""Folders of a project in which its packages lie, where nothing else says so."""


class PythonModules:
    """Of one index, for one question."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._known: dict[tuple[str, str], FileRow | Literal["outside"] | None] = {}

    def find(self, importing: FileRow, module: str) -> FileRow | Literal["outside"] | None:
        """The file of a module (of a package its ``__init__.py``); "outside" for one that the project has nothing of,
        None where that cannot be told."""
        folder = importing.path.rpartition("/")[0]
        key = (folder, module)
        if key not in self._known:
            self._known[key] = self._found(folder, module, importing.collection)
        return self._known[key]

    def _found(self, folder: str, module: str, collection: str) -> FileRow | Literal["outside"] | None:
        name = module.lstrip(".")
        level = len(module) - len(name)
        path = name.replace(".", "/")
        if level:
            parts = folder.split("/") if folder else []
            if level - 1 > len(parts):
                return None
            return self._at("/".join(parts[: len(parts) - level + 1]), path)
        if nearest := next(filter(None, (self._at(root, path) for root in self._around(folder))), None):
            return nearest
        roots = [root for root in self._roots if root.startswith(collection)]
        found = {file.path: file for root in roots if (file := self._at(root, path))}
        if found:
            return next(iter(found.values())) if len(found) == 1 else None
        top = name.partition(".")[0]
        is_ours = any(self._at(root, top) for root in (*self._around(folder), *roots))
        return None if is_ours else "outside"

    def _around(self, folder: str) -> Iterator[str]:
        """Folders around a file that are no packages, nearest first: modules are named from one of them."""
        while True:
            if _joined(folder, _PACKAGE) not in self._files:
                yield folder
            if not folder:
                return
            folder = folder.rpartition("/")[0]

    @cached_property
    def _files(self) -> dict[str, FileRow]:
        """Those that can be modules, by path."""
        return {file.path: file for file in self._index.listing() if file.path.endswith(_SUFFIXES)}

    @cached_property
    def _roots(self) -> list[str]:
        """Folders that packages lie in."""
        packages = {path.rpartition("/")[0] for path in self._files if path.endswith(f"/{_PACKAGE}")}
        return sorted({*_SOURCES, *(each.rpartition("/")[0] for each in packages)} - packages)

    def submodule(self, package: FileRow, name: str) -> FileRow | None:
        """A module inside a package, by its last name."""
        folder, _, last = package.path.rpartition("/")
        return self._at(folder, name) if last == _PACKAGE else None

    def _at(self, folder: str, path: str) -> FileRow | None:
        below = _joined(folder, path)
        for name in (_joined(below, _PACKAGE), f"{below}.py", f"{below}.pyi"):
            if below and (file := self._files.get(name)) is not None:
                return file
        return None


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder and name else folder or name

"""From the name of a module to its file or folder, by the rules of a language."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

import msgspec

from findling.model.rows import FileRow
from findling.search.graph.rules import Rules
from findling.store.protocols import Index

Lines = Callable[[FileRow], Sequence[str] | None]
"""Gives the lines of a file as it is now, None where it cannot be read."""


class Package(NamedTuple):
    """A module made of all files of one package; ``name`` is the one that they declare, or their folder."""

    name: str


Found = FileRow | Package | Literal["outside"] | None
"""The file or package of a module; "outside" for a module that the project has nothing of, None where that cannot be
told."""

_SOURCES = ("", "src")
"""Folders of a project in which its packages lie, where nothing else says so."""

_MOST_MANIFESTS = 300
"""Files of one name (``package.json``) that are read for one question."""

_TARGETS_IN = ("Sources", "Tests")
"""Folders in which each folder is a module of a Swift package."""

_RUST_ROOTS = ("lib.rs", "main.rs")

_CRATE = re.compile(r"\s*name\s*=\s*[\"']([\w-]+)[\"']")
"""The first name in a ``Cargo.toml``: that of the package stands before those of its programs and tests."""

_MANIFEST_CHARS = 200_000
"""A longer one is not read: tsconfig.json and package.json have some hundred lines."""

_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*+(?:"|(?=\n)|\Z))|//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)|,(?=\s*+[}\]])')
"""A text, which stays; a comment; a comma before a bracket. Each is gone through once, closed or not."""

_WRITTEN_AS = re.compile(r"\.([mc]?)jsx?$")
"""The end of an import in TypeScript, which names the file that is made of the one that is meant."""


class Modules:
    """Of one language in one index, for one question."""

    def __init__(self, index: Index, rules: Rules, lines: Lines | None) -> None:
        self._index = index
        self._rules = rules
        self._lines = lines
        self._known: dict[tuple[str, str], Found] = {}
        self._find: Callable[[str, str, str], Found] = {
            "python": self._python,
            "javascript": self._javascript,
            "go": self._go,
            "rust": self._rust,
            "packages": lambda folder, module, collection: Package(module),
            "paths": lambda folder, module, collection: "outside",
            "targets": lambda folder, module, collection: "outside",
        }[rules.row.modules]

    def find(self, importing: FileRow, module: str) -> Found:
        """What a module is called by in a file; of a package the file that stands for it."""
        folder = self._home(importing) if self._rules.row.modules == "rust" else importing.path.rpartition("/")[0]
        key = (folder, module)
        if key not in self._known:
            self._known[key] = self._find(folder, module, importing.collection)
        return self._known[key]

    def foresee(self, importing: FileRow) -> None:
        """Ask the index what most imports of a file ask."""
        if self._rules.row.modules in ("python", "javascript", "rust"):
            self._index.ahead(lambda index: index.listing())
        self.find(importing, "")

    def submodule(self, package: FileRow, name: str) -> FileRow | None:
        """A module inside a package, by its last name."""
        if self._rules.row.modules == "rust":
            return self._at(_joined(self._home(package), name))
        folder, _, last = package.path.rpartition("/")
        return self._at(_joined(folder, name)) if last.partition(".")[0] == self._rules.row.index else None

    def loaded(self, importing: FileRow, module: str) -> str | None:
        """The path of the file that an import loads with all that it defines, or of the folder that is such a module;
        None where the project has neither."""
        if self._rules.row.modules == "targets":
            return self._targets.get(module)
        folder = importing.path.rpartition("/")[0]
        beside = posixpath.normpath(_joined(folder, module))
        ends = (module, *(module + suffix for suffix in self._rules.suffixes))
        named = [path for end in ends for path in self._by_name.get(end.rpartition("/")[2], ())]
        found = [path for path in named if f"/{path}".endswith(tuple(f"/{end.lstrip('./')}" for end in ends))]
        here = [path for path in found if path == beside or path.startswith(f"{beside}.")]
        near = sorted(here or found, key=lambda path: -len(posixpath.commonprefix((path, importing.path))))
        return near[0] if near else None

    def target(self, file: FileRow) -> str | None:
        """The folder of the module that a file belongs to, where folders are modules."""
        return max((at for at in self._targets.values() if file.path.startswith(f"{at}/")), key=len, default=None)

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        """Paths by the name of the file."""
        found: dict[str, list[str]] = {}
        for path in self._files:
            found.setdefault(path.rpartition("/")[2], []).append(path)
        return found

    @cached_property
    def _targets(self) -> dict[str, str]:
        """Folders that are modules, by name: those right below ``Sources`` and ``Tests``."""
        found: dict[str, str] = {}
        for path in self._files:
            *folders, _ = path.split("/")
            for at, name in enumerate(folders):
                if at and folders[at - 1] in _TARGETS_IN:
                    found.setdefault(name, "/".join(folders[: at + 1]))
        return found

    @cached_property
    def _files(self) -> dict[str, FileRow]:
        """Those that can be modules, by path."""
        return {file.path: file for file in self._index.listing() if file.path.endswith(self._rules.suffixes)}

    def _at(self, path: str) -> FileRow | None:
        """The file that a path without its suffix means."""
        if not path:
            return None
        for stem in (path, _joined(path, self._rules.row.index)):
            for suffix in self._rules.suffixes:
                if (file := self._files.get(stem + suffix)) is not None:
                    return file
        return None

    # --- Python ---------------------------------------------------------------------------------------------

    def _python(self, folder: str, module: str, collection: str) -> Found:
        name = module.lstrip(".")
        level = len(module) - len(name)
        path = name.replace(".", "/")
        if level:
            parts = folder.split("/") if folder else []
            if level - 1 > len(parts):
                return None
            return self._at(_joined("/".join(parts[: len(parts) - level + 1]), path))
        if nearest := next(filter(None, (self._at(_joined(root, path)) for root in self._around(folder))), None):
            return nearest
        roots = [root for root in self._roots if root.startswith(collection)]
        found = {file.path: file for root in roots if (file := self._at(_joined(root, path)))}
        if found:
            return next(iter(found.values())) if len(found) == 1 else None
        top = name.partition(".")[0]
        is_ours = any(self._at(_joined(root, top)) for root in (*self._around(folder), *roots))
        return None if is_ours else "outside"

    def _around(self, folder: str) -> Iterator[str]:
        """Folders around a file that are no packages, nearest first: modules are named from one of them."""
        for each in upwards(folder):
            if _joined(each, f"{self._rules.row.index}.py") not in self._files:
                yield each

    @cached_property
    def _roots(self) -> list[str]:
        """Folders that packages lie in."""
        packages = {path.rpartition("/")[0] for path in self._files if path.endswith("/__init__.py")}
        return sorted({*_SOURCES, *(each.rpartition("/")[0] for each in packages)} - packages)

    # --- JavaScript -----------------------------------------------------------------------------------------

    def _javascript(self, folder: str, module: str, collection: str) -> Found:
        if module.startswith("."):
            return self._of_path(posixpath.normpath(_joined(folder, module))) or "outside"
        for path in self._aliases(folder, module):
            if file := self._of_path(path):
                return file
        for name, (home, manifest) in self._packages.items():
            if (module == name or module.startswith(f"{name}/")) and home.startswith(collection):
                return self._in_package(home, manifest, module[len(name) + 1 :])
        return "outside"

    def _of_path(self, path: str) -> FileRow | None:
        path = "" if path == "." else path
        return self._files.get(path) or self._at(_WRITTEN_AS.sub("", path)) or self._at(path or self._rules.row.index)

    def _aliases(self, folder: str, module: str) -> Iterator[str]:
        """Paths that the nearest ``tsconfig.json`` gives a module."""
        for at in upwards(folder):
            options = self._manifest(_joined(at, "tsconfig.json")).get("compilerOptions")
            if not isinstance(options, dict):
                continue
            base = posixpath.normpath(_joined(at, str(options.get("baseUrl", "."))))
            paths = options.get("paths")
            for pattern, targets in paths.items() if isinstance(paths, dict) else ():
                before, star, after = pattern.partition("*")
                if module == pattern or (star and module.startswith(before) and module.endswith(after)):
                    inner = module[len(before) : len(module) - len(after)]
                    for target in targets if isinstance(targets, list) else ():
                        yield posixpath.normpath(_joined(base, str(target).replace("*", inner)))
            if "baseUrl" in options:
                yield posixpath.normpath(_joined(base, module))
            return

    @cached_property
    def _packages(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """Folder and manifest of the project's own packages, by name."""
        found: dict[str, tuple[str, dict[str, Any]]] = {}
        for path in self._index.paths_ending("package.json")[:_MOST_MANIFESTS]:
            manifest = self._manifest(path)
            if isinstance(name := manifest.get("name"), str) and name:
                found.setdefault(name, (path.rpartition("/")[0], manifest))
        return found

    def _in_package(self, home: str, manifest: dict[str, Any], rest: str) -> FileRow | None:
        """The file that a package gives by a name, as its manifest says or its folders suggest."""
        exports = manifest.get("exports")
        given = exports.get(f"./{rest}" if rest else ".") if isinstance(exports, dict) else exports
        listed = [given] if rest else [given, *(manifest.get(key) for key in ("source", "module", "main", "types"))]
        guesses = [rest, f"src/{rest}", f"lib/{rest}"] if rest else ["src/index", "index", "lib/index"]
        for path in (*_texts(listed), *guesses):
            if file := self._of_path(posixpath.normpath(_joined(home, path))):
                return file
        return None

    def _manifest(self, path: str) -> dict[str, Any]:
        """An object in a file of JSON, comments allowed; {} where there is none."""
        written = "\n".join(self._text(path))
        if len(written) > _MANIFEST_CHARS:
            return {}
        try:
            found = msgspec.json.decode(_COMMENT.sub(lambda match: match[1] or "", written))
        except (msgspec.DecodeError, RecursionError):  # it says nothing that could be followed
            return {}
        return found if isinstance(found, dict) else {}

    # --- Rust -----------------------------------------------------------------------------------------------

    def _home(self, file: FileRow) -> str:
        """The folder that a module's own modules lie in."""
        folder, _, last = file.path.rpartition("/")
        return folder if last in _RUST_ROOTS or last == "mod.rs" else _joined(folder, last.removesuffix(".rs"))

    def _rust(self, folder: str, module: str, collection: str) -> Found:
        first, *rest = module.split(".")
        if first == "crate":
            roots = (
                each for each in upwards(folder) if any(_joined(each, root) in self._files for root in _RUST_ROOTS)
            )
            home = next(roots, None)
        elif first in ("self", "super"):
            home = folder if first == "self" else folder.rpartition("/")[0]
        elif self._at(_joined(folder, first)):
            home = _joined(folder, first)
        else:
            home = next((each for each in self._crates.get(first, ()) if each.startswith(collection)), None)
        if home is None:
            return "outside"
        while rest and rest[0] == "super":
            home, rest = home.rpartition("/")[0], rest[1:]
        path = "/".join((home, *rest)) if home else "/".join(rest)
        return self._at(path) or next(
            filter(None, (self._files.get(_joined(path, root)) for root in _RUST_ROOTS)), None
        )

    @cached_property
    def _crates(self) -> dict[str, list[str]]:
        """Folders of sources by the name of the crate, which its manifest says, and else that of the folder."""
        found: dict[str, list[str]] = {}
        for path in self._index.paths_ending("Cargo.toml")[:_MOST_MANIFESTS]:
            home = _joined(path.rpartition("/")[0], "src")
            name = next(filter(None, map(_CRATE.match, self._text(path))), None)
            if name is not None and _joined(home, "lib.rs") in self._files:
                found.setdefault(name[1].replace("-", "_"), []).append(home)
        for path in self._files:
            if path.endswith("/src/lib.rs"):
                home = path.removesuffix("/lib.rs")
                name_of_folder = home.removesuffix("/src").rpartition("/")[2].replace("-", "_")
                found.setdefault(name_of_folder, []).append(home)
        return found

    # --- Go -------------------------------------------------------------------------------------------------

    def _go(self, folder: str, module: str, collection: str) -> Found:
        for name, home in self._go_modules.items():
            if (module == name or module.startswith(f"{name}/")) and home.startswith(collection):
                return Package(_joined(home, module[len(name) + 1 :]))
        return "outside"

    @cached_property
    def _go_modules(self) -> dict[str, str]:
        """Folders of the project's modules by name, inner ones first."""
        found: dict[str, str] = {}
        for path in self._index.paths_ending("go.mod")[:_MOST_MANIFESTS]:
            for line in self._text(path):
                match line.split():
                    case ["module", name, *_]:
                        found[name.strip('"')] = path.rpartition("/")[0]
                        break
        return dict(sorted(found.items(), key=lambda each: -len(each[0])))

    def _text(self, path: str) -> Sequence[str]:
        """The lines of a manifest; none where it cannot be read."""
        file = self._index.file_at(path) if self._lines is not None else None
        return () if file is None or self._lines is None else self._lines(file) or ()


def _texts(value: Any) -> Iterator[str]:
    """The texts in a value of JSON, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


def upwards(folder: str) -> Iterator[str]:
    """A folder and those around it."""
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
    yield ""


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder and name else folder or name

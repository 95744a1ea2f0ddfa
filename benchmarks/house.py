"""The size and shape of the package: files, lines of code, functions, late imports, circles, who imports the store.

    python benchmarks/house.py [PACKAGE_FOLDER]
    python benchmarks/house.py --question "how are options parsed"     # in a folder with an index

Lines of code are those with code on them: no blank lines, comments or docstrings. Late imports are those of findling's
own modules inside functions. Circles count every import, late ones and those of a front door's names included, but not
those for type checkers alone. What a module takes from a door that is no package it imports itself.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import FrameType

_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


@dataclass
class House:
    """What was counted of one package. ``imports``: module -> the package's own modules that it imports."""

    package: str
    lines: int = 0
    functions: int = 0
    late: list[tuple[str, str]] = field(default_factory=list)
    imports: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    modules: dict[str, Path] = field(default_factory=dict)

    @property
    def rooms(self) -> list[str]:
        """The modules and packages directly below the package."""
        return sorted(name for name in self.modules if name.count(".") == 1)

    def importers(self, room: str) -> Counter[str]:
        """By room, how many modules outside of ``room`` import from it."""
        inside = f"{self.package}.{room}"
        found = {
            name
            for name, targets in self.imports.items()
            if _room(name) not in (room, "") and any(f"{target}.".startswith(f"{inside}.") for target in targets)
        }
        return Counter(_room(name) for name in found)

    def circles(self) -> list[list[str]]:
        """Circles of imports between modules, no two with an import in common. The front door itself is left out."""
        graph = {name: targets - {self.package} for name, targets in self.imports.items() if name != self.package}
        found: list[list[str]] = []
        while circle := _circle(graph):
            found.append(circle)
            graph = {name: targets - {*circle} if name in circle else targets for name, targets in graph.items()}
        return found

    def room_circle(self) -> list[str]:
        """A circle of imports between rooms, or []."""
        graph: dict[str, set[str]] = defaultdict(set)
        for name, targets in self.imports.items():
            graph[_room(name)] |= {_room(target) for target in targets} - {_room(name), ""}
        graph.pop("", None)
        return _circle(graph)


def count(folder: Path) -> House:
    """Count the package in ``folder``, whose name is the package's."""
    house = House(folder.name)
    for path in sorted(folder.rglob("*.py")):
        parts = [folder.name, *path.relative_to(folder).with_suffix("").parts]
        house.modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    for name, path in house.modules.items():
        source = path.read_text("utf-8")
        tree = ast.parse(source)
        house.lines += _lines_of_code(source, tree)
        house.functions += sum(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in ast.walk(tree))
        if _is_door(path):
            continue
        for target, late in (*_imported(tree, house.modules), *_taken(tree, house.modules)):
            if target != name:
                house.imports[name].add(target)
                if late:
                    house.late.append((name, target))
    return house


def _is_door(path: Path) -> bool:
    """Whether a module that is no package only loads others when they are asked for."""
    return path.stem != "__init__" and "front_door(__name__)\n" in path.read_text("utf-8")


def _taken(tree: ast.Module, modules: dict[str, Path]) -> Iterator[tuple[str, bool]]:
    """The modules that a module takes from a door that is no package."""
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    packages = {
        alias.name: node.module
        for node in imports
        for alias in node.names
        if (path := modules.get(f"{node.module}.{alias.name}")) and _is_door(path)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in packages:
            yield f"{packages[node.value.id]}.{node.attr}", False


def _room(name: str) -> str:
    return name.split(".")[1] if "." in name else ""


def _circle(graph: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def _lines_of_code(source: str, tree: ast.Module) -> int:
    documentation: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                documentation.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - documentation)


def _imported(tree: ast.AST, modules: dict[str, Path], late: bool = False) -> Iterator[tuple[str, bool]]:
    """The package's own modules that are imported, each with whether inside a function."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test) and not node.orelse:
            continue  # with an else it is a front door, which imports the same when a name is asked for
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            while name and name not in modules:
                name = name.rpartition(".")[0]
            if name:
                yield name, late
        yield from _imported(node, modules, late or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def journey(question: str, command: Callable[[list[str]], object]) -> tuple[int, int]:
    """The files and functions of the package that a question on the command line runs through."""
    called: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and "/findling/" in code.co_filename and not code.co_name.startswith("<"):
            called.add((code.co_filename, code.co_qualname))

    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        sys.setprofile(note)
        try:
            command(["search", question])
        finally:
            sys.setprofile(None)
    return len({file for file, _ in called}), len(called)


def main() -> None:
    if sys.argv[1:2] == ["--question"]:
        from findling.faces.cli.main import main as command

        print("a warm question runs through {} files, {} functions".format(*journey(sys.argv[2], command)))
        return
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent / "src" / "findling").resolve()
    house = count(folder)
    print(f"files                          {len(house.modules)}")
    print(f"lines of code                  {house.lines}")
    print(f"functions                      {house.functions}")
    print(f"rooms and modules at the top   {len(house.rooms)}: {', '.join(map(_room, house.rooms))}")
    print(f"imports inside functions       {len(house.late)}")
    print(f"circles between modules        {'; '.join(map(' -> '.join, house.circles())) or 'none'}")
    print(f"a circle between rooms         {' -> '.join(house.room_circle()) or 'none'}")
    importers = house.importers("store")
    print(f"modules that import the store  {importers.total()}: {dict(importers)}")


if __name__ == "__main__":
    main()

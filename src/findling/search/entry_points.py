"""Where a project is entered from outside: what its manifests name, main functions, routes, and how its tests are run.

Made of rows of the index; files are read only for what names an entry point.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from findling.model.plurals import count
from findling.model.reading import Use
from findling.model.rows import FileRow, SymbolRow
from findling.model.types import EntryPoint
from findling.search.graph.file_names import TYPES
from findling.search.graph.rules import RULES
from findling.search.ranking.priors import path_flags
from findling.store.protocols import Index

ReadLines = Callable[[FileRow], Sequence[str] | None]

MOST_OF_A_KIND = 12
"""Entry points of one kind that are named: the nearest to the root, or the files with the most routes."""

ROUTES_NAMED, ROUTE_CHARS = 5, 40
"""Routes of one file that are named, and characters of one."""

ROUTE_LINES = 4
"""Lines in which a route's path follows the name that registers it."""

_MAIN = frozenset(("main", "Main", "__main__"))
_MAIN_IN_TYPES = frozenset(("java", "csharp", "kotlin", "scala"))

_VERBS = "get post put patch delete head options"


class Registering(NamedTuple):
    """How a framework is told of routes: by calls or decorators of these names.

    ``receiver``: what stands before the name. ``imported``: the modules that the name comes from, where only the import
    tells it from other functions. ``file``: the files that have routes. ``path``: how the text of a route begins."""

    kind: Literal["call", "decorate"]
    names: str
    receiver: str = ""
    imported: str = ""
    file: str = ""
    path: str = ""


_ROUTERS = r"(?i:(?:^|\.|_)(?:app|api|server|blueprint|bp|mux|e|r|g)$|(?:route|router|routes|group)s?$)"
_REGISTERING: Mapping[str, Sequence[Registering]] = {
    "python": (
        Registering("decorate", f"{_VERBS} route api_route websocket", path="(?:/|$)"),
        Registering("call", "path re_path url", imported=r"django\b"),
        Registering("call", "add_url_rule add_api_route add_route", path="/"),
    ),
    "javascript": (
        Registering("call", f"{_VERBS} all route", receiver=_ROUTERS, path=r"/"),
        Registering("decorate", "Get Post Put Patch Delete All Controller"),
    ),
    "java": (
        Registering("decorate", "GetMapping PostMapping PutMapping PatchMapping DeleteMapping RequestMapping Path"),
    ),
    "csharp": (
        Registering("decorate", "HttpGet HttpPost HttpPut HttpPatch HttpDelete Route"),
        Registering("call", "MapGet MapPost MapPut MapPatch MapDelete", path="/"),
    ),
    "php": (
        Registering("decorate", "Route"),
        Registering("call", f"{_VERBS} any match resource apiResource", receiver="^Route$"),
    ),
    "ruby": (
        Registering(
            "call",
            f"{_VERBS} match root mount resource resources devise_for",
            receiver="^$",
            file=r"(?:^|/)routes(?:/.+)?\.rb$",
        ),
    ),
    "go": (
        Registering("call", "Handle HandleFunc", path=r"(?:[A-Z]+ )?/"),
        Registering("call", f"{_VERBS.upper()} {_VERBS.title()} Any", receiver=_ROUTERS, path="/"),
    ),
}
"""By family of languages."""

_VERB = re.compile(rf"(?:Http|Map)?({'|'.join(_VERBS.split())})(?:Mapping)?", re.IGNORECASE)
_PLAIN = frozenset("route api_route RequestMapping Route Path Controller path re_path url Handle HandleFunc".split())
"""Names that say nothing beside the path that follows."""

_PATH_OF_ROUTE = re.compile(r"""[\s({\[]*(?:(?:value|path)\s*=\s*[{\[]?\s*)?(?:r?(["'`])(.*?)\1|:(\w+))""")


def entry_points(index: Index, files: Sequence[FileRow], read_lines: ReadLines) -> Iterator[EntryPoint]:
    """Where a project is entered: what its manifests name, main functions and modules, routes, and its tests."""
    own = [file for file in files if "test" not in path_flags(file.path)]
    real = [file for file in own if "example" not in path_flags(file.path)]
    own = real if any(file.language in RULES for file in real) else own  # all of it may be an example
    for found in (manifest_entries(own, read_lines), mains(index, own), routes(index, own, read_lines)):
        yield from list(found)[:MOST_OF_A_KIND]
    yield from test_runs(files, read_lines)


def mains(index: Index, files: Iterable[FileRow]) -> Iterator[EntryPoint]:
    """Main functions and modules, those nearest to the root first."""
    for file in sorted(files, key=lambda file: (file.path.count("/"), file.path)):
        if file.kind != "code":
            continue
        folder, _, name = file.path.rpartition("/")
        if name == "__main__.py":
            yield EntryPoint(file.path, 1, "python -m " + folder.rpartition("/")[2])
            continue
        for symbol in index.symbols(file.blob_id):
            is_main = symbol.name in _MAIN and symbol.kind in ("fn", "method")
            if is_main and (symbol.parent < 0 or file.language in _MAIN_IN_TYPES):
                yield EntryPoint(file.path, symbol.name_line, symbol.signature or symbol.name)


# --- routes -----------------------------------------------------------------------------------------------------


def routes(index: Index, files: Sequence[FileRow], read_lines: ReadLines) -> list[EntryPoint]:
    """The files that register routes, each with its first ones; those with the most first."""
    found = []
    for family, ways in _REGISTERING.items():
        within = [file for file in files if file.language in RULES and RULES[file.language].family == family]
        names = " ".join(way.names for way in ways).split()
        blobs = {file.blob_id for file in within}
        index.ahead(lambda index, blobs=blobs, names=names: [index.mentioning(blobs, name) for name in names])  # type: ignore[misc]
        holding = {blob for name in names for blob in index.mentioning(blobs, name)}
        for file in within:
            if file.blob_id in holding and (own := list(_registered(index, file, ways, read_lines))):
                named = ", ".join(text for _, text in own[:ROUTES_NAMED])
                more = f", {len(own) - ROUTES_NAMED} more" if len(own) > ROUTES_NAMED else ""
                found.append(
                    (-len(own), EntryPoint(file.path, own[0][0], f"{count(len(own), 'route')}: {named}{more}"))
                )
    return [point for _, point in sorted(found, key=lambda each: (each[0], each[1].path))]


def _registered(
    index: Index, file: FileRow, ways: Iterable[Registering], read_lines: ReadLines
) -> Iterator[tuple[int, str]]:
    """The routes that a file registers, each with its line."""
    symbols, uses = index.symbols(file.blob_id), index.uses(file.blob_id)
    imported = {use.value: use.receiver for use in uses if use.kind == "import"}
    fitting = [(use, way) for use in uses for way in ways if _registers(use, way, file, imported)]
    lines = read_lines(file) or () if fitting else ()
    prefixes: dict[int, str] = {}
    for use, way in fitting:
        written = " ".join(lines[use.line - 1 : use.line - 1 + ROUTE_LINES]).partition(use.name)[2]
        match = _PATH_OF_ROUTE.match(written)
        path = (match[2] or match[3] or "") if match is not None else ""
        if way.path and (match is None or not re.match(way.path, path)):
            continue
        if way.kind == "decorate" and symbols[use.symbol].kind in TYPES:
            prefixes[use.symbol] = path.rstrip("/")
            continue
        if way.kind == "decorate":
            before = prefixes.get(symbols[use.symbol].parent, "")
            path = f"{before}/{path.lstrip('/')}" if before and path else before or path or symbols[use.symbol].name
        verb = _VERB.fullmatch(use.name)
        said = verb[1].upper() if verb else "" if use.name in _PLAIN else use.name
        yield use.line, f"{said} {path or (match and repr(path)) or ''}".strip()[:ROUTE_CHARS]


def _registers(use: Use, way: Registering, file: FileRow, imported: Mapping[str, str]) -> bool:
    return (
        use.kind == way.kind
        and use.name in way.names.split()
        and (not way.file or re.search(way.file, file.path) is not None)
        and (not way.receiver or re.search(way.receiver, use.receiver) is not None)
        and (not way.imported or re.match(way.imported, imported.get(use.name, "")) is not None)
    )


# --- tests ------------------------------------------------------------------------------------------------------


_RUNNERS: Mapping[str, tuple[str, str, str]] = {
    "pyproject.toml": (r"\[tool\.pytest", "pytest", "python"),
    "pytest.ini": (r"\[pytest\]", "pytest", "python"),
    "setup.cfg": (r"\[tool:pytest\]", "pytest", "python"),
    "tox.ini": (r"\[pytest\]", "pytest", "python"),
    "manage.py": (r".*DJANGO_SETTINGS_MODULE", "manage.py test", "python"),
    "package.json": (r'\s*"test"\s*:\s*"([^"]+)"', "", "javascript"),
    "go.mod": (r"module\b", "go test", "go"),
    "Cargo.toml": (r"\[package\]|\[workspace\]", "cargo test", "rust"),
    "pom.xml": (r".*(junit|testng)", "", "java"),
    "build.gradle": (r".*(junit|testng|useJUnitPlatform)", "", "java"),
    "build.gradle.kts": (r".*(junit|testng|useJUnitPlatform)", "", "java"),
    "Gemfile": (r"""\s*gem ["'](rspec[\w-]*|minitest)""", "", "ruby"),
    "phpunit.xml.dist": (r"\s*<phpunit", "phpunit", "php"),
    "phpunit.xml": (r"\s*<phpunit", "phpunit", "php"),
    "Package.swift": (r".*testTarget", "swift test", "swift"),
}
"""Of a manifest the line that says how tests are run, what runs them ('': what that line names), and which family's."""


def test_runs(files: Sequence[FileRow], read_lines: ReadLines) -> Iterator[EntryPoint]:
    """How the tests of each family of languages are run, as the manifest nearest to the root says, and how many files
    have some."""
    tests: Counter[str] = Counter()
    for file in files:
        if file.language in RULES and "test" in path_flags(file.path):
            tests[RULES[file.language].family] += 1
    for file in sorted(files, key=lambda file: (file.path.count("/"), file.path)):
        pattern, runner, family = _RUNNERS.get(file.path.rpartition("/")[2], ("", "", ""))
        if not tests[family]:
            continue
        for number, line in enumerate(read_lines(file) or (), 1):
            if found := re.match(pattern, line):
                yield EntryPoint(
                    file.path, number, f"{count(tests.pop(family), 'file')} of tests: {runner or found[1]}"
                )
                break


_TESTS: Mapping[str, re.Pattern[str]] = {
    "python": re.compile("test|Test"),
    "ruby": re.compile("test_"),
    "go": re.compile("Test|Benchmark|Fuzz|Example"),
}
"""How the names of tests begin, by family, where they are found by that alone."""


def is_found_by_name(file: FileRow, symbol: SymbolRow) -> bool:
    """Whether a definition is a test that a runner finds by its name."""
    pattern = _TESTS.get(RULES[file.language].family) if file.language in RULES else None
    return pattern is not None and "test" in path_flags(file.path) and pattern.match(symbol.name) is not None


# --- manifests --------------------------------------------------------------------------------------------------


def manifest_entries(files: Iterable[FileRow], read_lines: ReadLines) -> Iterator[EntryPoint]:
    """What manifests name as entered from outside, those nearest to the root first."""
    found = [(file.path.count("/"), file.path, file) for file in files if file.path.rpartition("/")[2] in _MANIFESTS]
    for _, path, file in sorted(found):
        yield from _named_in(file, read_lines(file) or (), _MANIFESTS[path.rpartition("/")[2]])


def _named_in(
    file: FileRow, lines: Sequence[str], read: Callable[[str], Iterable[tuple[str, str]]]
) -> Iterator[EntryPoint]:
    for name, target in read("\n".join(lines)):
        line = next((number for number, text in enumerate(lines, 1) if name in text and target in text), 1)
        yield EntryPoint(file.path, line, f"{name} = {target}")


def _of_pyproject(text: str) -> Iterator[tuple[str, str]]:
    try:
        project = tomllib.loads(text).get("project", {})
    except (tomllib.TOMLDecodeError, RecursionError):
        return
    tables = [project.get("scripts"), project.get("gui-scripts")] if isinstance(project, dict) else []
    plugins = project.get("entry-points") if isinstance(project, dict) else None
    tables += list(plugins.values()) if isinstance(plugins, dict) else []
    yield from _texts(tables)


def _of_package(text: str) -> Iterator[tuple[str, str]]:
    try:
        package = json.loads(text)
    except (ValueError, RecursionError):
        return
    if isinstance(package, dict):
        binary = package.get("bin")
        own = {key: package[key] for key in ("main", "module") if key in package}
        yield from _texts([{"bin": binary} if isinstance(binary, str) else binary, own])


def _texts(tables: Iterable[object]) -> Iterator[tuple[str, str]]:
    for table in tables:
        for name, target in table.items() if isinstance(table, dict) else ():
            if isinstance(name, str) and isinstance(target, str):
                yield name, target


_MANIFESTS: Mapping[str, Callable[[str], Iterator[tuple[str, str]]]] = {
    "pyproject.toml": _of_pyproject,
    "package.json": _of_package,
}

"""A project at a glance: its parts and what they hold, and the definitions that most rests on."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from findling.model.rows import FileRow, SymbolRow
from findling.model.types import MapPart
from findling.search.edges import Definition, Edge, EdgeSearch
from findling.search.entry_points import ReadLines
from findling.search.graph.resolution import LANGUAGES
from findling.search.ranking.priors import path_flags
from findling.search.scope import lies_in
from findling.store.protocols import Index

MOST_PARTS, NAMED = 40, 5
"""Parts that are told, and definitions that are named of each."""

EDGES_S = 5.0
"""For the edges of all files; those of the largest projects are not all found in it, which is said."""

MOSTLY = 0.6
"""Of all definitions, the share from which on a folder is told by what is in it."""

ROUNDS, DAMPING = 20, 0.85
"""Of PageRank."""

CENTRAL = 30

TOGETHER = 50
"""Files for which a store far away brings together what is asked of them."""

_DEFINED = frozenset(("fn", "method", "class", "struct", "interface", "trait", "enum"))


class Graph:
    """Edges that are certain or likely between the definitions of some files, found within a time."""

    def __init__(self, index: Index, files: Iterable[FileRow], read_lines: ReadLines | None) -> None:
        self.definitions: dict[tuple[str, str], Definition] = {}
        self.calls: dict[tuple[str, str], Counter[tuple[str, str]]] = {}
        self.unread = 0
        search = EdgeSearch(index, EDGES_S, lines=read_lines)
        until = time.monotonic() + EDGES_S
        every = list(files)

        def called(file: FileRow) -> list[Edge]:
            top = [Definition(file, symbol) for symbol in index.symbols(file.blob_id) if symbol.parent < 0]
            return search.callees(top).found

        for at, file in enumerate(every):
            if time.monotonic() > until:
                self.unread += 1
                continue
            if at % TOGETHER == 0:
                index.bring(*(search.trial(called, each) for each in every[at : at + TOGETHER]))
            for edge in called(file):
                if edge.grade == "possible" or edge.enclosing is None:
                    continue
                source = (file.path, edge.enclosing.qualified_name)
                if source != edge.target.key:
                    self.definitions[edge.target.key] = edge.target
                    self.calls.setdefault(source, Counter())[edge.target.key] += 1

    def ranks(self) -> dict[tuple[str, str], float]:
        """PageRank: how much of the project leads to each definition."""
        keys = self.definitions.keys() | self.calls.keys()
        if not keys:
            return {}
        rank = dict.fromkeys(keys, 1 / len(keys))
        for _ in range(ROUNDS):
            given = sum(rank[key] for key in keys if key not in self.calls)
            new = dict.fromkeys(keys, (1 - DAMPING + DAMPING * given) / len(keys))
            for source, targets in self.calls.items():
                share = DAMPING * rank[source] / targets.total()
                for target, times in targets.items():
                    new[target] += share * times
            rank = new
        return rank


def central(graph: Graph, ranks: Mapping[tuple[str, str], float]) -> list[Definition]:
    """The definitions that the most leads to, the first one first; no values, and none of tests."""
    found = sorted(graph.definitions.values(), key=lambda each: (-ranks[each.key], each.key))
    return [each for each in found if each.symbol.kind in _DEFINED][:CENTRAL]


def parts(index: Index, files: Sequence[FileRow], folder: str, ranks: Mapping[tuple[str, str], float]) -> list[MapPart]:
    """The folders of a folder with what they hold, those with the most definitions first: the folders right below, and
    in place of one that has most of all these, those in it. Definitions of tests count for nothing here. ``ranks``:
    those of `Graph.ranks`; the highest are named."""
    index.ahead(lambda index: [_defined(index, file) for file in files])
    defined = {file: _defined(index, file) for file in files}
    is_file = any(file.path == folder for file in files)
    root = folder if is_file or not folder else f"{folder}/"
    groups: dict[str, list[FileRow]] = {}
    waiting: list[FileRow] = list(files)
    while waiting:
        for file in waiting:
            groups.setdefault(_below(file.path, root), []).append(file)
        waiting = []
        weights = {name: sum(len(defined[file]) for file in held) for name, held in groups.items()}
        largest = max(weights, key=lambda name: weights[name])
        is_folder = largest not in (root, "./")
        if is_folder and weights[largest] > MOSTLY * sum(weights.values()):
            root, waiting = largest, groups.pop(largest)
    found = [
        MapPart(
            name,
            len(held),
            sum(len(defined[file]) for file in held),
            tuple(language for language, _ in Counter(file.language for file in held).most_common(2)),
            _named(held, defined, ranks),
        )
        for name, held in groups.items()
    ]
    found.sort(key=lambda part: (-part.definitions, -part.files, part.path))
    return found[:MOST_PARTS]


def _below(path: str, root: str) -> str:
    """The folder right below a root that a path lies in, with a slash; the root itself for a file in it."""
    inner, slash, _ = path.removeprefix(root).partition("/")
    return f"{root}{inner}/" if slash else root or "./"


def _defined(index: Index, file: FileRow) -> list[SymbolRow]:
    """What a file defines; nothing of a test, nor of what is no code."""
    if file.kind != "code" or "test" in path_flags(file.path):
        return []
    return [symbol for symbol in index.symbols(file.blob_id) if symbol.kind in _DEFINED]


def _named(
    files: Iterable[FileRow], defined: Mapping[FileRow, list[SymbolRow]], ranks: Mapping[tuple[str, str], float]
) -> tuple[str, ...]:
    """The names of the outermost definitions of some files, those with the highest rank."""
    found = [
        (-ranks.get((file.path, symbol.name), 0.0), file.path, symbol.position, symbol.name)
        for file in files
        for symbol in defined[file]
        if symbol.parent < 0 and not symbol.name.startswith("_")
    ]
    return tuple(dict.fromkeys(name for *_, name in sorted(found)))[:NAMED]


def files_below(index: Index, folder: str) -> list[FileRow]:
    """The files of a folder that are no copies made by a program."""
    return [file for file in index.listing() if lies_in(file.path, folder) and not file.generated]


def graph_of(index: Index, files: Sequence[FileRow], read_lines: ReadLines | None = None) -> Graph:
    """The edges of the code among some files, tests left out."""
    code = [file for file in files if file.language in LANGUAGES and "test" not in path_flags(file.path)]
    return Graph(index, code, read_lines)

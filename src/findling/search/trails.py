"""A way of calls from one definition to another: forwards by what is called, then backwards by who calls.

Forwards a use that is certain or likely is followed. Where that does not arrive, the way back is followed by possible
uses too: those of the same name, and those of what the goal overrides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import count, islice
from math import inf

from msgspec import Struct

from findling.model.types import Grade, Step
from findling.search.dynamic import endings
from findling.search.edges import CALLED, CONSTRUCTORS, Definition, Edge, Edges, EdgeSearch, Ending, is_common
from findling.search.graph.file_names import TYPES
from findling.search.graph.modules import Lines
from findling.search.ranking.priors import path_flags
from findling.search.relations import step_to
from findling.store.protocols import Index

FORWARDS, BACKWARDS = 400, 60
"""The most definitions whose calls are followed, and the most whose callers are."""

TOGETHER = 20
"""Definitions for which a store far away brings what they call, or what calls them, with that of another."""

MOST_THROUGH = 100
"""Definitions whose text is looked through for calls by a name."""

MOST_CALLS = 12
"""The most calls on one way."""

FAR: Mapping[Grade, float] = {"certain": 1.0, "likely": 1.1, "possible": 3.0}
"""What a call costs on the way, by how sure it is: a sure detour is better than a guess."""

_NO_CALL = frozenset(("type", "inherit"))

Key = tuple[str, str]


class Trail(Struct):
    """``steps``: the way, () where there is none. ``reached``: how many definitions the first one reaches.
    ``cut``: not all of it was looked at. ``ends``: where there is no way, the lines in what was reached at which it may
    go on and nobody can tell: first those that may mean the goal."""

    steps: tuple[Step, ...]
    reached: int
    cut: bool = False
    ends: tuple[Ending, ...] = ()


def trail(
    index: Index, origins: Sequence[Definition], goals: Sequence[Definition], lines: Lines | None = None
) -> Trail:
    """The shortest way of calls from one of some definitions to one of others. ``lines``: as for `callers`."""
    return _Way(index, origins, goals, lines).found()


class _Way:
    def __init__(
        self, index: Index, origins: Sequence[Definition], goals: Sequence[Definition], lines: Lines | None
    ) -> None:
        self._index = index
        self._lines = lines
        self._search = EdgeSearch(index, lines=lines)
        self._origins = origins
        self._goals = {goal.key for goal in goals}
        self._goal_definitions = goals
        self._by: dict[Key, Edge | None] = {each.key: None for each in origins}
        """The edge by which each definition is reached forwards."""
        self._asked: dict[str, set[Key]] = {}
        self._endings: list[Ending] = []
        """Calls in what was reached that are not followed, as nobody can tell what they mean."""
        self._in_tests = any("test" in path_flags(each.file.path) for each in origins)

    def found(self) -> Trail:
        goal, cut = self._forwards()
        if goal is not None:
            return Trail(self._steps(goal, []), len(self._by), cut=cut)
        back, cut_back = self._backwards()
        if back:
            start = self._reached(back[0])
            assert start is not None
            return Trail(self._steps(start, back), len(self._by), cut=cut)
        return Trail((), len(self._by), cut or cut_back, self._ends())

    def _forwards(self) -> tuple[Key | None, bool]:
        """The goal that was reached, if one was, and whether the search ended before everything was looked at."""
        order = count()
        waiting = [(0.0, 0, next(order), origin) for origin in self._origins]
        least = dict.fromkeys(self._by, 0.0)
        done: set[Key] = set()
        while waiting:
            far, calls, _, at = heappop(waiting)
            if at.key in done:
                continue
            done.add(at.key)
            if at.key in self._goals and self._by[at.key] is not None:
                return at.key, False
            if len(done) > FORWARDS:
                return None, True
            self._ahead(self._called, at, (each for *_, each in waiting))
            used = self._called(at) if calls < MOST_CALLS else Edges([])
            self._endings += used.endings
            for edge in used.found:
                if edge.others and edge.kind == "call" and not is_common(edge.use.name, edge.file.language):
                    why = f"calls `{edge.use.name}`, which may mean {edge.others + 1} definitions"
                    self._endings.append(Ending(edge.file, edge.use.line, edge.enclosing, why))
                key, there = edge.target.key, far + FAR[edge.grade]
                if edge.grade != "possible" and edge.kind not in _NO_CALL and there < least.get(key, inf):
                    least[key], self._by[key] = there, edge
                    heappush(waiting, (there, calls + 1, next(order), edge.target))
        return None, self._search.is_over

    def _ahead(self, ask: Callable[[Definition], object], at: Definition, waiting: Iterable[Definition]) -> None:
        """Let a store far away bring what is asked of a definition together with the same of some that are next."""
        asked = self._asked.setdefault(ask.__name__, set())
        if at.key not in asked:
            coming = [at, *islice((each for each in waiting if each.key not in asked), TOGETHER)]
            asked.update(each.key for each in coming)
            self._index.bring(*(self._search.trial(ask, each) for each in coming))

    def _called(self, at: Definition) -> Edges:
        return self._search.callees(self._entered(at))

    def _calling(self, at: Definition) -> list[Edge]:
        return self._search.callers([at]).found

    def _entered(self, at: Definition) -> list[Definition]:
        """The definitions that may run when one is reached: of a function its overloads, too; for a type its
        constructors, unless the question is about the type."""
        inner = self._index.symbols(at.file.blob_id)
        if at.symbol.kind not in TYPES or self._by[at.key] is None:
            name = at.symbol.qualified_name
            overloads = [Definition(at.file, row) for row in inner if row.qualified_name == name]
            return overloads if at.symbol.kind in CALLED else [at]
        names = (*CONSTRUCTORS, at.symbol.name)
        return [Definition(at.file, row) for row in inner if row.parent == at.symbol.position and row.name in names]

    def _backwards(self) -> tuple[list[Edge], bool]:
        """The edges from a definition that is reached to the goal; none where no way back meets the way there."""
        order = count()
        waiting: list[tuple[float, int, Definition, list[Edge]]] = [
            (0.0, next(order), goal, []) for goal in self._goal_definitions
        ]
        done: set[Key] = set()
        while waiting:
            far, _, at, edges = heappop(waiting)
            if at.key in done:
                continue
            done.add(at.key)
            if edges and self._reached(edges[0]) is not None:
                return edges, False
            if len(done) > BACKWARDS:
                return [], True
            if len(edges) >= MOST_CALLS:
                continue
            self._ahead(self._calling, at, (each for _, _, each, _ in waiting))
            for edge in self._calling(at):
                if edge.enclosing is None or edge.kind in _NO_CALL:
                    continue
                if not self._in_tests and "test" in path_flags(edge.file.path):
                    continue
                user = Definition(edge.file, edge.enclosing)
                if user.key not in done:
                    heappush(waiting, (far + FAR[edge.grade], next(order), user, [edge, *edges]))
        return [], self._search.is_over

    def _steps(self, end: Key, after: Sequence[Edge]) -> tuple[Step, ...]:
        edges: list[Edge] = []
        at = end
        while (edge := self._by[at]) is not None:
            edges.insert(0, edge)
            around = self._reached(edge)
            assert around is not None
            at = around
        first = next(each for each in self._origins if each.key == at)
        return (step_to(first), *(step_to(edge.target, depth, edge) for depth, edge in enumerate((*edges, *after), 1)))

    def _reached(self, edge: Edge) -> Key | None:
        """The definition that an edge starts in, or one around that, where it is reached forwards. When a type is
        reached, only its constructors run."""
        name, inner = (edge.enclosing.qualified_name if edge.enclosing is not None else ""), ""
        while name:
            by = self._by.get((edge.file.path, name), edge)
            is_type = by is not None and by.target.symbol.kind in TYPES
            if by is not edge and (not is_type or inner in ("", *CONSTRUCTORS, name.rpartition(".")[2])):
                return edge.file.path, name
            name, _, inner = name.rpartition(".")
        return None

    def _ends(self) -> tuple[Ending, ...]:
        """Calls in what is reached that may mean the goal, then those by a name that is text or of what a variable
        holds, then the others."""
        through = (*self._origins, *(edge.target for edge in self._by.values() if edge is not None))
        found = [
            Ending(edge.file, edge.use.line, edge.enclosing, f"may be the last call: {edge.why}")
            for edge in self._search.callers(self._goal_definitions).found
            if edge.grade == "possible" and self._reached(edge) is not None
        ]
        found += endings(self._index, self._lines, through[:MOST_THROUGH]) if self._lines is not None else ()
        return tuple({(each.file.path, each.line): each for each in reversed((*found, *self._endings))}.values())[::-1]

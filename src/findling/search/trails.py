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
from findling.search.edges import CONSTRUCTORS, Definition, Edge, EdgeSearch
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
"""Definitions that are named as reached."""

MOST_CALLS = 12
"""The most calls on one way."""

FAR: Mapping[Grade, float] = {"certain": 1.0, "likely": 1.1, "possible": 3.0}
"""What a call costs on the way, by how sure it is: a sure detour is better than a guess."""

_NO_CALL = frozenset(("type", "inherit"))

Key = tuple[str, str]


class Trail(Struct):
    """``steps``: the way, () where there is none. ``reached``: how many definitions the first one reaches.
    ``open_at``: uses in what was reached that have the goal's name and may mean something else.
    ``cut``: not all of it was looked at. ``through``: the first ones that were reached, where there is no way."""

    steps: tuple[Step, ...]
    reached: int
    open_at: tuple[Edge, ...] = ()
    cut: bool = False
    through: tuple[Definition, ...] = ()


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
        self._search = EdgeSearch(index, lines=lines)
        self._origins = origins
        self._goals = {goal.key for goal in goals}
        self._goal_definitions = goals
        self._by: dict[Key, Edge | None] = {each.key: None for each in origins}
        """The edge by which each definition is reached forwards."""
        self._asked: dict[str, set[Key]] = {}
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
        reached = (*self._origins, *(edge.target for edge in self._by.values() if edge is not None))
        return Trail((), len(self._by), tuple(self._open()), cut or cut_back, reached[:MOST_THROUGH])

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
            for edge in self._called(at) if calls < MOST_CALLS else ():
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

    def _called(self, at: Definition) -> list[Edge]:
        return self._search.callees(self._entered(at)).found

    def _calling(self, at: Definition) -> list[Edge]:
        return self._search.callers([at]).found

    def _entered(self, at: Definition) -> list[Definition]:
        """The definitions that run when one is reached: for a type its constructors, unless the question is about
        the type."""
        if at.symbol.kind not in TYPES or self._by[at.key] is None:
            return [at]
        names = (*CONSTRUCTORS, at.symbol.name)
        inner = self._index.symbols(at.file.blob_id)
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

    def _open(self) -> Iterable[Edge]:
        """Possible uses of a goal in what is reached."""
        for edge in self._search.callers(self._goal_definitions).found:
            if edge.grade == "possible" and self._reached(edge) is not None:
                yield edge

"""Which tools are served: a choice from a table of them. Light; knows no handler."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar

from findling.contracts.model import FAMILIES
from findling.model.errors import InvalidInput


class Choosable(Protocol):
    """What a choice looks at, of a tool or of what describes one."""

    @property
    def name(self) -> str: ...
    @property
    def family(self) -> str: ...
    @property
    def destructive(self) -> bool: ...


T = TypeVar("T", bound=Choosable)


def select_of(tools: Mapping[str, T], names: Iterable[str] | None, *, allow_delete: bool = False) -> list[T]:
    """The tools of these families or by these names, in the table's order; all for None.

    Destructive ones only when allowed. Raises `InvalidInput` for a name that is neither.
    """
    wanted = set(names) if names is not None else set(FAMILIES)
    for name in sorted(wanted):
        if name not in FAMILIES and name not in tools:
            raise InvalidInput(f"There is no tool or family called {name[:60]!r}.", remedy=_hint(name, tools))
    chosen = [tool for tool in tools.values() if tool.family in wanted or tool.name in wanted]
    return [tool for tool in chosen if allow_delete or not tool.destructive]


def _hint(name: str, tools: Iterable[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, [*FAMILIES, *tools], 1)
    return f"Did you mean {near[0]!r}?" if near else f"The families are {', '.join(FAMILIES)}."

"""The one table of tools, read from ``tools.json``: what each is for, what it takes, and who answers it.

Light, and loads no handler before its tool is called: a server lists its tools before it needs any of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, cast

from msgspec import Struct

from findling.contracts.model import Arguments, Call, Handler, Reply, Schema
from findling.model.errors import InvalidInput

Family = Literal["code", "graph", "docs", "library", "repo"]

FAMILIES: tuple[Family, ...] = ("code", "graph", "docs", "library", "repo")

WITH: Mapping[str, Family] = {"code": "graph"}
"""Families that are served with another one."""

LIKE_CODE: frozenset[Family] = frozenset(("code", "graph"))
"""Families whose answers have the metadata and the errors of the code family."""

_SHARED = "shared"
"""In the file, marks a parameter whose schema several tools share."""


class Tool(Struct, frozen=True):
    """One row of the table.

    ``summary`` is read by models: what it is for and what comes back. ``run`` is its handler, as ``module:function``.
    ``writes``: it changes the index. ``text_only``: its text blocks are the whole answer over protocols that have both,
    so that contents arrive verbatim. ``destructive`` tools are served only where that was asked for. ``open_world``: it
    asks servers elsewhere. ``first``: the one that its family begins with, to be known to a model before it looks for
    tools.
    """

    name: str
    family: Family
    summary: str
    run: str
    schema: Schema
    writes: bool = False
    text_only: bool = False
    destructive: bool = False
    open_world: bool = False
    first: bool = False

    @property
    def published_schema(self) -> Schema:
        """As clients see it, who pay for each character: without the lengths of texts and lists, which are checked all
        the same and told, and without a default of false, which everybody takes for granted."""
        return _published(self.schema)

    def handler(self, call: Call, given: Arguments) -> Reply:
        module, _, function = self.run.partition(":")
        return cast("Handler", getattr(import_module(f"findling.contracts.{module}"), function))(call, given)


def find(name: str) -> Tool:
    """Raises `InvalidInput` with the nearest name."""
    if name not in TOOLS:
        raise _unknown("tool", name, TOOLS, f"The tools are {', '.join(TOOLS)}.")
    return TOOLS[name]


def why_not_served(name: str, served: Iterable[str]) -> str:
    """Why a tool is not among those that a server serves, as a message to its caller."""
    tool = TOOLS.get(name)
    if tool is None:
        return str(_unknown("tool", name, served, f"The tools are {', '.join(served)}."))
    how = f"--tools {tool.family}{' --allow-delete' if tool.destructive else ''}"
    return f"{name} is not served here. It is of the family {tool.family}: start the server with {how}."


def select(names: Iterable[str] | None, *, allow_delete: bool = False) -> list[Tool]:
    """The tools of these families or by these names, in the table's order; all for None.

    Destructive ones only when allowed. Raises `InvalidInput` for a name that is neither.
    """
    wanted = set(names) if names is not None else set(FAMILIES)
    wanted |= {other for name, other in WITH.items() if name in wanted}
    for name in sorted(wanted.difference(FAMILIES, TOOLS)):
        raise _unknown("tool or family", name, (*FAMILIES, *TOOLS), f"The families are {', '.join(FAMILIES)}.")
    chosen = [tool for tool in TOOLS.values() if tool.family in wanted or tool.name in wanted]
    return [tool for tool in chosen if allow_delete or not tool.destructive]


_LENGTHS = frozenset(("minLength", "maxLength", "minItems", "maxItems"))


def _published(schema: Schema) -> Schema:
    shown: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            shown[key] = {name: _published(each) for name, each in value.items()}
        elif key == "items":
            shown[key] = _published(value)
        elif key not in _LENGTHS and (key != "required" or value) and (key != "default" or value is not False):
            shown[key] = value
    return shown


def _unknown(what: str, name: str, known: Iterable[str], all_of_them: str) -> InvalidInput:
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1)
    return InvalidInput(
        f"There is no {what} called {name[:60]!r}.", remedy=f"Did you mean {near[0]!r}?" if near else all_of_them
    )


def object_schema(
    properties: Mapping[str, Any], required: Iterable[str] = (), shared: Mapping[str, Schema] | None = None
) -> Schema:
    """The schema of a tool's arguments: these and no others. ``shared``: the schemas of shared parameters, by name."""
    found: dict[str, Schema] = {}
    for name, schema in properties.items():
        if schema == _SHARED:
            found[name] = (shared or {})[name]
        elif schema["type"] == "object":
            found[name] = {**schema, **object_schema(schema["properties"], schema.get("required", ()), shared)}
        else:
            found[name] = schema
    return {"type": "object", "properties": found, "required": list(required), "additionalProperties": False}


def _read() -> dict[str, Tool]:
    table = json.loads(Path(__file__).with_name("tools.json").read_text("utf-8"))
    tools = {}
    for row in table["tools"]:
        schema = object_schema(row.pop("properties"), row.pop("required"), table["shared"])
        tools[row["name"]] = Tool(**row, schema=schema)
    return tools


TOOLS: Mapping[str, Tool] = _read()

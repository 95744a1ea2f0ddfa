"""The table of languages whose definitions can be read from a syntax tree: language id -> grammar table.

The table is data, ``grammars.json``. A row says which types of nodes define something (``define``, as `Define`), which
are looked into (``through``, ``group``), and which need a function of their own (``find``, a name in one of the modules
here). ``like`` takes all from a language above but its rows for the nodes ``without``, and adds the row's own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from findling.reading.syntax_grammars import native, scripting, web
from findling.reading.syntax_grammars.model import (
    ATTRIBUTE,
    DECORATED,
    FUNCTION,
    GROUP,
    TYPE,
    Action,
    Attach,
    Define,
    Finder,
    Grammar,
    define,
    through,
)


class _Made(msgspec.Struct, forbid_unknown_fields=True):
    """The finder ``by``, with what it is ``given`` before the node."""

    by: str
    given: list[Any]


class _Row(msgspec.Struct, forbid_unknown_fields=True):
    """A language as the file has it. Types of nodes stand one after the other, with spaces between. `Grammar` says what
    the other fields mean."""

    like: str = ""
    without: str = ""
    nested: str = ""
    annotation: str = ""
    merge: bool = False
    docstring: bool = False
    braces: bool = False
    conditional: Literal["", "on_error", "always"] = ""
    define: dict[str, str | Define] = {}
    find: dict[str, str | _Made] = {}
    attach: dict[str, dict[str, str]] = {}
    attribute: str = ""
    group: str = ""
    decorated: str = ""
    through: str = ""
    through_type: str = ""
    through_function: str = ""


def _function(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = next(vars(module)[name] for module in _MODULES if name in vars(module))
    return found


_MODULES = (native, scripting, web)


def _finder(said: str | _Made) -> Finder:
    return _function(said) if isinstance(said, str) else partial(_function(said.by), *said.given)


def _actions(row: _Row) -> dict[str, Action]:
    return {
        **through(row.through),
        **through(row.through_type, TYPE),
        **through(row.through_function, FUNCTION),
        **dict.fromkeys(row.group.split(), GROUP),
        **dict.fromkeys(row.decorated.split(), DECORATED),
        **dict.fromkeys(row.attribute.split(), ATTRIBUTE),
        **{
            node: Attach(**{part: _function(name) for part, name in parts.items()})
            for node, parts in row.attach.items()
        },
        **{node: define(said) for node, said in row.define.items()},
        **{node: _finder(said) for node, said in row.find.items()},
    }


def _grammar(language: str, row: _Row) -> Grammar:
    actions = _actions(row)
    if row.like:
        like = GRAMMARS[row.like]
        rest = {node: action for node, action in like.actions.items() if node not in row.without.split()}
        return replace(like, parser=language, actions={**rest, **actions})
    nested, annotation = row.nested.encode(), row.annotation.encode()
    return Grammar(language, actions, nested, annotation, row.merge, row.docstring, row.braces, row.conditional)


GRAMMARS: dict[str, Grammar] = {}
_rows = msgspec.json.decode(Path(__file__).with_name("grammars.json").read_bytes(), type=dict[str, _Row])
for _language, _row in _rows.items():
    GRAMMARS[_language] = _grammar(_language, _row)

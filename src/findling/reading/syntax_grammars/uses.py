"""Where names are used: ``uses.json`` and the queries over syntax trees in ``queries/``, as one table by language."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from findling.reading.syntax_grammars.model import Way, way

_HERE = Path(__file__).parent


class UseGrammar(Struct, frozen=True, eq=False):
    """How uses of names look in the trees of one grammar. The captures of ``query``:

    - ``call``: a call (`calls`); ``unpacked``: arguments whose number nobody can tell;
    - ``member``: ``owner.name``; ``name``: an identifier where a value is asked for; ``reference``: either, where a
      function is meant without being called;
    - ``base``, ``decorator``, ``type``: the name or member that a class inherits, that decorates, that is a type;
    - ``target``: an assignment, a declaration or a typed parameter (`values`); ``property``: a parameter that is an
      attribute of the object as well; ``bound``: a name that gets a value in another way; ``scope``: a block or a
      function without a name, outside of which what it binds is unknown;
    - ``return``: the annotated type of what a function gives;
    - ``import``: a node in which the query ``imports`` finds what is imported and exported.

    The captures of ``imports``, each match being one name: ``module``, ``name`` (in the module) and ``local`` (in this
    file); ``qualified``: module and name in one; ``all``: every name of the module; ``default``: what the module gives
    by default; ``export``: the file gives the name ``name`` to others as ``local``, ``whole``: it gives nothing else;
    ``package``: the file's own package.

    ``names``: types of nodes that are names; ``calls``: node -> callee and arguments; ``members``: node -> owner
    and name; ``values``: node -> what gets a value, its annotation, the value; ``subscripts``: node -> what is
    subscripted; ``through``: node -> the node that it stands for; ``literals``: node -> how a value of that type is
    written. ``open``: a name that the file neither defines nor imports may come from another file. ``inferred``:
    annotations that leave the type to the value. ``hoisted``: what a block binds holds in all of it, otherwise from
    there on. ``apart``: a variable hides no function of its name. ``outside``: names of the language's own that are
    kept only where the file defines or imports them. ``prefixes``: nodes around a ``qualified`` name -> what stands
    before it.
    """

    query: str
    imports: str
    names: frozenset[str]
    calls: Mapping[str, tuple[Way, Way]]
    members: Mapping[str, tuple[Way, Way]]
    values: Mapping[str, tuple[Way, Way, Way]]
    subscripts: Mapping[str, Way]
    through: Mapping[str, Way]
    literals: Mapping[str, str]
    inferred: frozenset[str]
    outside: frozenset[str]
    prefixes: Mapping[str, Way]
    open: bool = False
    hoisted: bool = False
    apart: bool = False


_ROWS: dict[str, dict[str, Any]] = msgspec.json.decode((_HERE / "uses.json").read_bytes())
"""By language what the file has: paths as in `way`, words with spaces between. ``like``: what it has in common with a
language above. Of ``queries`` each is a file, with another for imports beside it."""


def _merged(language: str) -> dict[str, Any]:
    row = dict(_ROWS[language])
    if "like" not in row:
        return row
    merged = _merged(row.pop("like"))
    for key, own in row.items():
        base = merged.get(key)
        if isinstance(own, dict):
            merged[key] = {**(base or {}), **own}
        else:
            merged[key] = f"{base} {own}" if isinstance(base, str) and key != "queries" else own
    return merged


@cache
def use_grammar(language: str) -> UseGrammar | None:
    """The table of a language; None for one whose uses are not known."""
    if language not in _ROWS:
        return None
    row = _merged(language)
    queries = [_HERE / "queries" / f"{name}.scm" for name in row.pop("queries").split()]
    imports = [path.with_suffix(".imports.scm") for path in queries]
    through = (each.partition(":") for each in row.pop("through", "").split())
    made: dict[str, Any] = {
        "query": "".join(path.read_text("utf-8") for path in queries),
        "imports": "".join(path.read_text("utf-8") for path in imports if path.exists()),
        "through": {node: way(path or "0") for node, _, path in through},
        "literals": {node: written for written, nodes in row.pop("literals", {}).items() for node in nodes.split()},
    }
    for key in ("names", "inferred", "outside"):
        made[key] = frozenset(row.pop(key, "").split())
    for key in ("calls", "members", "values"):
        made[key] = {node: tuple(map(way, paths)) for node, paths in row.pop(key, {}).items()}
    for key in ("subscripts", "prefixes"):
        made[key] = {node: way(path) for node, path in row.pop(key, {}).items()}
    return UseGrammar(**made, **row)

"""Where names are used: ``uses.json`` and the queries over syntax trees in ``queries/``, as one table by language."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

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
    open: bool
    hoisted: bool
    apart: bool
    inferred: frozenset[str]
    outside: frozenset[str]
    prefixes: Mapping[str, Way]


class _Row(Struct, forbid_unknown_fields=True):
    """A language as the file has it: paths as in `way`, words with spaces between. ``like``: what it has in common with
    a language above. Of ``queries`` each is a file, with another for imports beside it."""

    like: str = ""
    queries: str = ""
    names: str = ""
    calls: dict[str, tuple[str, str]] = {}
    members: dict[str, tuple[str, str]] = {}
    values: dict[str, tuple[str, str, str]] = {}
    subscripts: dict[str, str] = {}
    through: str = ""
    literals: dict[str, str] = {}
    open: bool = False
    hoisted: bool = False
    apart: bool = False
    inferred: str = ""
    outside: str = ""
    prefixes: dict[str, str] = {}


def _merged(language: str) -> _Row:
    row = _ROWS[language]
    if not row.like:
        return row
    base = _merged(row.like)
    return _Row(
        queries=row.queries or base.queries,
        names=f"{base.names} {row.names}",
        calls={**base.calls, **row.calls},
        members={**base.members, **row.members},
        values={**base.values, **row.values},
        subscripts={**base.subscripts, **row.subscripts},
        through=f"{base.through} {row.through}",
        literals={**base.literals, **row.literals},
        open=base.open or row.open,
        hoisted=base.hoisted or row.hoisted,
        apart=base.apart or row.apart,
        inferred=f"{base.inferred} {row.inferred}",
        outside=f"{base.outside} {row.outside}",
        prefixes={**base.prefixes, **row.prefixes},
    )


@cache
def use_grammar(language: str) -> UseGrammar | None:
    """The table of a language; None for one whose uses are not known."""
    if language not in _ROWS:
        return None
    row = _merged(language)
    queries = [_HERE / "queries" / f"{name}.scm" for name in row.queries.split()]
    imports = [path.with_suffix(".imports.scm") for path in queries]
    return UseGrammar(
        query="".join(path.read_text("utf-8") for path in queries),
        imports="".join(path.read_text("utf-8") for path in imports if path.exists()),
        names=frozenset(row.names.split()),
        calls={node: _pair(*paths) for node, paths in row.calls.items()},
        members={node: _pair(*paths) for node, paths in row.members.items()},
        values={node: (way(target), way(type_), way(value)) for node, (target, type_, value) in row.values.items()},
        subscripts={node: way(path) for node, path in row.subscripts.items()},
        through={node: way(path or "0") for node, _, path in (each.partition(":") for each in row.through.split())},
        literals={node: written for written, nodes in row.literals.items() for node in nodes.split()},
        open=row.open,
        hoisted=row.hoisted,
        apart=row.apart,
        inferred=frozenset(row.inferred.split()),
        outside=frozenset(row.outside.split()),
        prefixes={node: way(path) for node, path in row.prefixes.items()},
    )


def _pair(first: str, second: str) -> tuple[Way, Way]:
    return way(first), way(second)


_ROWS = msgspec.json.decode((_HERE / "uses.json").read_bytes(), type=dict[str, _Row])

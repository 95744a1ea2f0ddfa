"""What the resolution of names must know of a language, as data: ``rules.json``."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct


class _Row(Struct, forbid_unknown_fields=True):
    """A family of languages whose files use each other's definitions, as the file has it.

    ``modules``: how the name of a module leads to a file or a package (`modules.Modules`): by "paths" where files load
    each other, by "targets" where all files of a folder are one module and import others; ``suffixes``: of files that
    are modules; ``index``: the file that stands for its folder.
    ``unit``: which other files' definitions a file may use without an import.
    ``words``: names with a meaning of their own, such as ``self``: the object, its type, or what the type inherits.
    ``implicit``: members of the object are used without a word before them.
    ``fields``: what ``owner.name`` means that is not called: a field as well as a method ("shared"), never a method but
    where the syntax says so ("apart"); '' where methods may be attributes like all others.
    ``namespaces``: functions may have a qualified name without being members.
    ``makes``: the member of a type that gives an object of it, where types are not called themselves.
    ``headers``: suffixes of files that declare what others define.
    ``outside``: names that the language or its library defines. ``common``: names of methods that values of the
    language's own types have, too. ``passed_on``: generic types whose value is used as
    that of their first argument.
    ``registers``: names of decorators and annotations by which a framework calls what they stand on: routes, commands,
    listeners, tests. ``stand_ins``: modules and objects whose decorators have such a name but only replace something
    in a test.
    ``certain``: the languages for which the precision of this grade was measured. In others nothing is certain.
    """

    languages: str
    modules: Literal["python", "javascript", "go", "rust", "packages", "paths", "targets"]
    suffixes: str = ""
    index: str = ""
    unit: Literal["file", "folder", "package", "project"] = "file"
    words: dict[str, Literal["instance", "definition", "super"]] = {}
    implicit: bool = False
    fields: Literal["", "shared", "apart"] = ""
    namespaces: bool = False
    makes: str = ""
    headers: str = ""
    outside: str = ""
    common: str = ""
    passed_on: str = ""
    registers: str = ""
    stand_ins: str = ""
    certain: str = ""


class Rules(Struct, frozen=True, eq=False):
    """`_Row`, split into words."""

    family: str
    row: _Row
    suffixes: tuple[str, ...]
    headers: tuple[str, ...]
    outside: frozenset[str]
    common: frozenset[str]
    passed_on: tuple[str, ...]
    registers: frozenset[str]
    stand_ins: frozenset[str]
    certain: frozenset[str]


_rows = msgspec.json.decode(Path(__file__).with_name("rules.json").read_bytes(), type=dict[str, _Row])


def _rules(family: str, row: _Row) -> Rules:
    return Rules(
        family,
        row,
        suffixes=tuple(row.suffixes.split()),
        headers=tuple(row.headers.split()),
        outside=frozenset(row.outside.split()),
        common=frozenset(row.common.split()),
        passed_on=tuple(row.passed_on.split()),
        registers=frozenset(row.registers.split()),
        stand_ins=frozenset(row.stand_ins.split()),
        certain=frozenset(row.certain.split()),
    )


RULES: dict[str, Rules] = {
    language: _rules(family, row) for family, row in _rows.items() for language in row.languages.split()
}
"""By language."""

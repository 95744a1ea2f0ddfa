"""The names of one file: what it defines, imports and writes, by scope. Says nothing of other files."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import TypeVar

from findling.model.reading import Use
from findling.model.rows import FileRow, SymbolRow
from findling.search.graph.rules import RULES, Rules

VALUES = frozenset(("variable", "constant"))
TYPES = frozenset(("class", "struct", "enum", "trait", "interface"))

TOP = -1
"""In place of the position of a symbol: outside of all definitions."""

ELSEWHERE = -2
"""The same of the type of a member that is defined apart from it, in another file."""

_MAJOR = re.compile(r"v\d+")
"""A version at the end of a module's name."""

_HELD = re.compile(r"(?::(?:\w+\.)?[Tt]ype\[)?(?:\w+\.)*(\w+)\]?(?:\s*\|\s*None)?$")
"""A definition that is written into something, or an annotation as one of a type's subtypes."""

_Key = TypeVar("_Key", bound=Hashable)


class FileNames:
    """Of one file. A scope is the position of a function or a type, or `TOP`."""

    def __init__(self, file: FileRow, symbols: Sequence[SymbolRow], uses: Sequence[Use]) -> None:
        self.file = file
        self.symbols = symbols
        self.uses = uses
        self.rules: Rules = RULES[file.language]

    def scope(self, position: int) -> int:
        """The innermost function or type: a variable's own lines are no scope."""
        while position >= 0 and self.symbols[position].kind in VALUES:
            position = self.symbols[position].parent
        return position

    def scope_of(self, use: Use) -> int:
        """Where a use's names are looked up: a base and a decorator outside of what they belong to."""
        scope = self.scope(use.symbol)
        return self.parent(scope) if use.kind in ("inherit", "decorate") and scope >= 0 else scope

    def parent(self, scope: int) -> int:
        holder = self.holders[scope]
        return holder if self.is_type(holder) else self.scope(self.symbols[scope].parent)

    @cached_property
    def holders(self) -> list[int]:
        """What each symbol is a member of, or stands in: the name before its own says so, wherever it is written."""
        symbols = self.symbols
        named: dict[str, int] = {}
        for symbol in symbols:
            if symbol.kind in TYPES or symbol.qualified_name not in named:
                named[symbol.qualified_name] = symbol.position
        holders = []
        for symbol in symbols:
            holder = symbol.parent
            if symbol.scope != (symbols[holder].qualified_name if holder >= 0 else ""):
                apart = symbol.kind == "method" or not self.rules.row.namespaces
                holder = named.get(symbol.scope, ELSEWHERE if apart else holder)
            holders.append(holder)
        return holders

    @cached_property
    def _with_methods(self) -> set[int]:
        """Positions of functions and variables that are used as types are: objects, constructors with a prototype."""
        return {
            holder
            for symbol, holder in zip(self.symbols, self.holders, strict=True)
            if holder >= 0
            if symbol.kind == "method" or self.symbols[holder].kind in VALUES or symbol.parent != holder
        }

    def is_type(self, scope: int) -> bool:
        return scope >= 0 and (self.symbols[scope].kind in TYPES or scope in self._with_methods)

    def type_around(self, scope: int) -> int:
        """The type whose method a scope is, or is inside of; `TOP` where there is none."""
        while scope >= 0:
            parent = self.parent(scope)
            if self.is_type(parent):
                return parent
            scope = parent
        return TOP

    @cached_property
    def defined(self) -> dict[tuple[int, str], list[int]]:
        """Positions by what holds them and name; those of overloads' signatures after the one with the body."""
        found: dict[tuple[int, str], list[int]] = {}
        for symbol, holder in zip(self.symbols, self.holders, strict=True):
            found.setdefault((holder, symbol.name), []).append(symbol.position)
        for positions in found.values():
            if len(positions) > 1:
                positions.sort(key=self.is_overload)
        return found

    def is_overload(self, position: int) -> bool:
        """Whether a definition only says one way in which another one may be called."""
        return "overload" in self.decorators.get(position, ())

    @cached_property
    def _by_kind(self) -> dict[str, list[Use]]:
        found: dict[str, list[Use]] = {}
        for use in self.uses:
            found.setdefault(use[0], []).append(use)
        return found

    def _grouped(self, kind: str, key: Callable[[Use], _Key]) -> dict[_Key, list[Use]]:
        found: dict[_Key, list[Use]] = {}
        for use in self._by_kind.get(kind, ()):
            found.setdefault(key(use), []).append(use)
        return found

    def naming(self, name: str) -> list[Use]:
        """Uses of a name, and those that it is the last part before."""
        ending = f".{name}"
        return [use for use in self.uses if use[1] == name or use[2] == name or use[2].endswith(ending)]

    def holding(self, name: str) -> list[Use]:
        """Writes of a definition of this name, or of its type, into a field or a variable under another name."""
        return [use for use in self._written_values.get(name, ()) if use.name != name]

    @cached_property
    def _written_values(self) -> dict[str, list[Use]]:
        """Writes by the last name in what is written, where that is no call."""
        return self._grouped("write", lambda use: match[1] if (match := _HELD.match(use.value)) else "")

    @cached_property
    def imported(self) -> dict[tuple[int, str], list[Use]]:
        """Imports by scope and name in this file, of ``import a.b`` the name ``a``."""
        return self._grouped("import", lambda use: (self.scope(use.symbol), self._local(use)))

    def _local(self, use: Use) -> str:
        if self.rules.row.modules == "go":  # without a name of its own it is that of the last folder
            parts = [part for part in use.value.split("/") if not _MAJOR.fullmatch(part)]
            return parts[-1].partition(".")[0] if parts else ""
        return use.value.partition(".")[0]

    @cached_property
    def exported(self) -> dict[str, list[Use]]:
        """What the file says that it gives to others, by the name that it gives it."""
        return self._grouped("export", lambda use: use.value)

    @cached_property
    def package(self) -> str:
        """The name of its package as the file declares it."""
        return ".".join(use.value for use in self._by_kind.get("package", ()))

    @cached_property
    def written(self) -> dict[tuple[int, str, str], list[Use]]:
        """Writes by scope, receiver and name."""
        return self._grouped("write", lambda use: (self.scope(use.symbol), use.receiver, use.name))

    @cached_property
    def written_in_type(self) -> dict[tuple[int, str], list[Use]]:
        """Writes to attributes of the object itself, and of its fields, by its type and name."""
        found: dict[tuple[int, str], list[Use]] = {}
        for (scope, receiver, name), uses in self.written.items():
            if self.rules.row.words.get(receiver) in ("instance", "definition"):
                found.setdefault((self.type_around(scope), name), []).extend(uses)
            elif not receiver and self.is_type(scope):
                found.setdefault((scope, name), []).extend(uses)
        return found

    @cached_property
    def bases(self) -> dict[int, list[Use]]:
        """What types inherit, by their position."""
        return self._grouped("inherit", lambda use: use.symbol)

    @cached_property
    def returned(self) -> dict[int, str]:
        """Annotations of what functions give, by their position."""
        found = self._by_kind.get("return", ())
        return {use.symbol: use.value for use in found if not use.value.startswith(("=", "yield "))}

    @cached_property
    def given(self) -> dict[int, list[Use]]:
        """What functions without an annotation give, by their position."""
        given = (use for use in self._by_kind.get("return", ()) if use.symbol not in self.returned)
        found: dict[int, list[Use]] = {}
        for use in given:
            found.setdefault(use.symbol, []).append(use)
        return found

    @cached_property
    def decorators(self) -> dict[int, set[str]]:
        """Names of decorators by the position of what they decorate."""
        return {position: {use.name for use in uses} for position, uses in self._decorating.items()}

    @cached_property
    def _decorating(self) -> dict[int, list[Use]]:
        return self._grouped("decorate", lambda use: use.symbol)

"""The names of one file: what it defines, imports and writes, by scope. Says nothing of other files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from findling.model.reading import Use
from findling.model.rows import FileRow, SymbolRow

VALUES = frozenset(("variable", "constant"))
TYPES = frozenset(("class", "struct", "enum", "trait", "interface"))

TOP = -1
"""In place of the position of a symbol: outside of all definitions."""


class FileNames:
    """Of one file. A scope is the position of a function or a type, or `TOP`."""

    def __init__(self, file: FileRow, symbols: Sequence[SymbolRow], uses: Sequence[Use]) -> None:
        self.file = file
        self.symbols = symbols
        self.uses = uses

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
        return self.scope(self.symbols[scope].parent)

    def is_type(self, scope: int) -> bool:
        return scope >= 0 and self.symbols[scope].kind in TYPES

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
        """Positions by scope and name."""
        found: dict[tuple[int, str], list[int]] = {}
        for symbol in self.symbols:
            found.setdefault((self.scope(symbol.parent), symbol.name), []).append(symbol.position)
        return found

    @cached_property
    def naming(self) -> dict[str, list[Use]]:
        """Uses by their name, and by the last part of what stands before it."""
        found: dict[str, list[Use]] = {}
        for use in self.uses:
            for name in {use.name, use.receiver.rpartition(".")[2]} - {""}:
                found.setdefault(name, []).append(use)
        return found

    @cached_property
    def imported(self) -> dict[tuple[int, str], list[Use]]:
        """Imports by scope and name in this file, of ``import a.b`` the name ``a``."""
        found: dict[tuple[int, str], list[Use]] = {}
        for use in self.uses:
            if use.kind == "import":
                found.setdefault((self.scope(use.symbol), use.value.partition(".")[0]), []).append(use)
        return found

    @cached_property
    def written(self) -> dict[tuple[int, str, str], list[Use]]:
        """Writes by scope, receiver and name."""
        found: dict[tuple[int, str, str], list[Use]] = {}
        for use in self.uses:
            if use.kind == "write":
                found.setdefault((self.scope(use.symbol), use.receiver, use.name), []).append(use)
        return found

    @cached_property
    def written_in_type(self) -> dict[tuple[int, str], list[Use]]:
        """Writes to attributes of the object itself, by its type and name."""
        found: dict[tuple[int, str], list[Use]] = {}
        for (scope, receiver, name), uses in self.written.items():
            if receiver in ("self", "cls", "this"):
                found.setdefault((self.type_around(scope), name), []).extend(uses)
        return found

    @cached_property
    def bases(self) -> dict[int, list[Use]]:
        """What types inherit, by their position."""
        found: dict[int, list[Use]] = {}
        for use in self.uses:
            if use.kind == "inherit":
                found.setdefault(use.symbol, []).append(use)
        return found

    @cached_property
    def returned(self) -> dict[int, str]:
        """Annotations of what functions give, by their position."""
        return {use.symbol: use.value for use in self.uses if use.kind == "return"}

    @cached_property
    def decorators(self) -> dict[int, set[str]]:
        """Names of decorators by the position of what they decorate."""
        found: dict[int, set[str]] = {}
        for use in self.uses:
            if use.kind == "decorate":
                found.setdefault(use.symbol, set()).add(use.name)
        return found

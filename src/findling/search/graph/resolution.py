"""Which definition a use of a name means: imports and scopes first, then types that are visible, and nothing guessed.

Pure functions over readings: what a file's syntax says (`file_names.FileNames`), where modules lie (`modules`) and what
the language's rules are (`rules`). Whoever asks decides what to do about a use that stays open.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from findling.model import tokenizer
from findling.model.reading import Use
from findling.model.rows import FileRow, SymbolRow
from findling.search.graph.file_names import ELSEWHERE, TOP, TYPES, VALUES, FileNames
from findling.search.graph.modules import Lines, Modules, Package, upwards
from findling.search.graph.rules import RULES, Rules
from findling.search.ranking.priors import path_flags
from findling.store.protocols import Index

LANGUAGES = frozenset(RULES)
"""Whose uses are resolved."""

MOST_CANDIDATES = 100
"""Definitions of one name that are looked at for a use that stays open."""

_MOST_STEPS = 24
"""Imports, bases and types that are followed for one use: they may lead in a circle."""

_MOST_LOADED = 200
"""Files that are followed from one by what each loads."""

_STEP = re.compile(r"(\w+)|(\(\))|(\[\])|\.")
_OPTIONAL = re.compile(r"^(?:typing\.|t\.)?Optional\[(.+)\]$")
_TYPE_OF = re.compile(r"^(?:typing\.|t\.|_t\.)?[Tt]ype\[(.+)\]$")
_GENERIC = re.compile(r"\[.*\]$|<.*>$")
_TRANSPARENT = frozenset(("object", "Generic", "Protocol", "ABC", "NamedTuple", "TypedDict", "Enum", "Exception"))
"""Bases from outside the project that say little of what a type has."""

_ANYTHING = frozenset(("Any", "any", "object", "unknown"))
"""Types that say nothing of what has them."""

PROPERTIES = frozenset(("property", "cached_property", "setter", "getter", "hybrid_property", "abstractproperty"))
"""Decorators of methods that are read, not called."""


def _is_hidden(file: FileRow, symbol: SymbolRow, using: FileRow, rules: Rules) -> bool:
    """Whether a definition is for its own file alone, or may be: a type that no header has. In C headers declare types
    without what is in them."""
    is_own = symbol.kind in TYPES and file.language != "c" and _lies_apart(file, using, rules)
    return is_own or _is_static(file, symbol, using, rules)


def _is_static(file: FileRow, symbol: SymbolRow, using: FileRow, rules: Rules) -> bool:
    """Whether the language allows no other file to use a definition."""
    return symbol.kind not in TYPES and symbol.signature.startswith("static ") and _lies_apart(file, using, rules)


def _lies_apart(file: FileRow, using: FileRow, rules: Rules) -> bool:
    """Whether a language has headers and a file is neither one nor the one that uses what is in it."""
    return bool(rules.headers) and file.path != using.path and not file.path.endswith(rules.headers)


def _lies_in(path: str, loaded: set[str]) -> bool:
    """Whether a file is one of some paths, or lies in one."""
    while path and path not in loaded:
        path = path.rpartition("/")[0]
    return path != ""


class Meaning(NamedTuple):
    """What an expression denotes: a module, a ``package`` (its name), a definition, an ``instance`` of a type, the
    bases of a type (``super``), a ``variable`` of which nothing is known, or something ``outside`` of the project.
    ``likely`` says by what that is known, '' where imports and scopes alone say it."""

    what: Literal["module", "package", "definition", "instance", "super", "variable", "outside"]
    file: FileRow | None = None
    position: int = TOP
    likely: str = ""
    package: str = ""


OUTSIDE = Meaning("outside")
VARIABLE = Meaning("variable")
_BUILTINS = frozenset(dir(builtins))
_CLEARED = re.compile(r"^(?:typing\.|readonly |keyof )|[&*?!]|'\w+\b")
"""What a written type has around its name that changes nothing about which type it is."""


MOST_KEPT = 1_000
"""Files whose names are kept for the questions that follow."""


class Resolver:
    """Within snapshots of one generation of an index."""

    def __init__(self, index: Index, lines: Lines | None = None) -> None:
        self._index = index
        self._lines = lines
        self._modules: dict[str, Modules] = {}
        self._names: dict[str, FileNames] = {}
        self._declared: dict[tuple[str, str], list[tuple[FileRow, SymbolRow]]] = {}
        self._loading: dict[str, set[str]] = {}
        self._steps = 0

    @property
    def is_full(self) -> bool:
        """Whether it holds so much that the next question should begin anew."""
        return len(self._names) >= MOST_KEPT

    def modules(self, file: FileRow) -> Modules:
        """Those of a file's language."""
        rules = RULES[file.language]
        if rules.family not in self._modules:
            self._modules[rules.family] = Modules(self._index, rules, self._lines)
        return self._modules[rules.family]

    def declared(self, name: str, family: str) -> list[tuple[FileRow, SymbolRow]]:
        """Every definition of a name in a family of languages; overloads count once."""
        if (name, family) not in self._declared:
            symbols = [
                symbol for symbol in self._index.named([tokenizer.squash(name)], MOST_CANDIDATES) if symbol.name == name
            ]
            files: dict[int, list[FileRow]] = {}
            for file in self._index.files_of_blobs({symbol.blob_id for symbol in symbols}):
                if file.language in RULES and RULES[file.language].family == family:
                    files.setdefault(file.blob_id, []).append(file)
            every = [(file, symbol) for symbol in symbols for file in files.get(symbol.blob_id, ())]
            distinct = {(file.path, symbol.qualified_name): (file, symbol) for file, symbol in reversed(every)}
            self._declared[name, family] = list(distinct.values())[::-1]
        return self._declared[name, family]

    # --- what other files define, without an import -------------------------------------------------------------

    def visible(self, names: FileNames, name: str) -> list[tuple[FileRow, SymbolRow]]:
        """Definitions of a name that a file may use without importing it. Types of other files that no header has are
        given only where there is nothing else."""
        unit, file = names.rules.row.unit, names.file
        if unit == "file":
            return []
        every = [each for each in self.declared(name, names.rules.family) if self._is_top(*each, names.rules)]
        if unit == "project":
            usable = [each for each in every if not _is_static(*each, file, names.rules)]
            return [each for each in usable if not _is_hidden(*each, file, names.rules)] or usable
        folder = file.path.rpartition("/")[0]
        beside = [each for each in every if each[0].path.rpartition("/")[0] == folder]
        if beside or unit == "folder":
            return beside
        return [each for each in every if self._in_package(each[0], names.package)]

    def _is_top(self, file: FileRow, symbol: SymbolRow, rules: Rules) -> bool:
        return symbol.parent < 0 and (not symbol.scope or (rules.row.namespaces and symbol.kind != "method"))

    def _in_package(self, file: FileRow, package: str) -> bool:
        folder = file.path.rpartition("/")[0]
        if RULES[file.language].row.unit == "folder":
            return folder == package
        path = package.replace(".", "/")
        return folder == path or folder.endswith(f"/{path}") or self.names(file).package == package

    def _of_package(self, names: FileNames, package: str, name: str) -> Meaning | None:
        """What a package has under a name; None where it has several of it."""
        found = [
            each
            for each in self.declared(name, names.rules.family)
            if self._is_top(*each, names.rules) and self._in_package(each[0], package)
        ]
        return self._one(names, found) if found else OUTSIDE

    def _one(self, names: FileNames, found: list[tuple[FileRow, SymbolRow]]) -> Meaning | None:
        """The definition that is meant of some of one name that may be: the only one that is no mere declaration."""
        why = ""
        headers = names.rules.headers
        in_headers = [each for each in found if headers and each[0].path.endswith(headers)]
        if names.rules.row.unit == "project" and max(len(in_headers), len(found) - len(in_headers)) > 1:
            found = self._loaded_of(names, found)
        if len(found) > 1 and headers:
            defining = [each for each in found if not each[0].path.endswith(headers)]
            folder = names.file.path.rpartition("/")[0]
            beside = [each for each in defining if each[0].path.rpartition("/")[0] == folder]
            if len(defining) == 1:
                found = defining
            elif len(beside) == 1:
                found, why = beside, "the only one in this folder"
            elif len(declaring := [each for each in found if each not in defining]) == 1:
                found, why = declaring, f"declared here, and defined {len(defining)} times"
        if names.rules.row.namespaces and all(each[1].kind == "module" for each in found):
            found = found[:1]  # each file that adds to a namespace opens it again
        if len(found) != 1:
            return None
        return Meaning("definition", found[0][0], found[0][1].position, why)

    def _loaded_of(self, names: FileNames, found: list[tuple[FileRow, SymbolRow]]) -> list[tuple[FileRow, SymbolRow]]:
        """Of definitions of one name those that a file's imports load, and what these declare; all where they load
        none."""
        loaded = self._loaded(names)
        here = [each for each in found if _lies_in(each[0].path, loaded)]
        declaring = {each[0].path for each in here if each[0].path.endswith(names.rules.headers)}
        defining = [each for each in found if each not in here and declaring & self._loaded(self.names(each[0]))]
        return here + defining or found

    def _loaded(self, names: FileNames) -> set[str]:
        """Paths of a file, of what its imports load, and of what is loaded by that; or of the folders of its module and
        of those that it imports."""
        path = names.file.path
        if path not in self._loading:
            modules = self.modules(names.file)
            found = {path}
            if own := modules.target(names.file):
                found.add(own)
            waiting = [names.file]
            while waiting and len(found) < _MOST_LOADED:
                file = waiting.pop(0)
                for use in self.names(file).imported.get((TOP, "*"), ()):
                    there = modules.loaded(file, use.receiver)
                    if there is not None and there not in found:
                        found.add(there)
                        waiting += filter(None, [self._index.file_at(there)])
            self._loading[path] = found
        return self._loading[path]

    def twins(self, file: FileRow, symbol: SymbolRow) -> list[tuple[FileRow, SymbolRow]]:
        """Declarations of what is defined in a file, or the one definition of what is declared there."""
        rules = RULES[file.language]
        if not rules.headers:
            return []
        every = [
            each
            for each in self.declared(symbol.name, rules.family)
            if each[1].qualified_name == symbol.qualified_name and not _is_hidden(*each, file, rules)
            if (each[1].kind in TYPES) == (symbol.kind in TYPES)
        ]
        defining = [each for each in every if not each[0].path.endswith(rules.headers)]
        declaring = [each for each in every if each not in defining]
        if not file.path.endswith(rules.headers):
            if len(declaring) > 1:
                own = self._loaded(self.names(file))
                declaring = [each for each in declaring if each[0].path in own] or declaring
            return declaring
        if len(defining) > 1:
            defining = [each for each in defining if file.path in self._loaded(self.names(each[0]))]
        return declaring + (defining if len(defining) == 1 else [])

    def names(self, file: FileRow) -> FileNames:
        known = self._names.get(file.path)
        if known is None:
            uses = self._index.uses(file.blob_id)
            known = self._names[file.path] = FileNames(file, self._index.symbols(file.blob_id), uses)
        return known

    def symbol(self, meaning: Meaning) -> SymbolRow | None:
        if meaning.file is None or meaning.position == TOP:
            return None
        return self.names(meaning.file).symbols[meaning.position]

    def meaning(self, file: FileRow, use: Use) -> Meaning | None:
        """What a use means; None where that stays open."""
        self._steps = 0
        names = self.names(file)
        scope = names.scope_of(use)
        if not use.receiver:  # of a name that has a value from a block around it there is no use
            return self._named(names, scope, use.name, use.line, as_value=False)
        owner = self._evaluated(names, scope, use.receiver, use.line)
        return None if owner is None else self._member(owner, use.name)

    def held(self, names: FileNames, write: Use) -> Meaning | None:
        """The definition that a field or a variable holds after a write; None where it holds no definition."""
        self._steps = 0
        found = self._value(names, [write])
        return found if found is not None and found.what == "definition" else None

    def value(self, variable: Meaning) -> Meaning | None:
        """What a variable holds; None for all else, and where nothing says it."""
        symbol = self.symbol(variable)
        if symbol is None or variable.file is None or symbol.kind not in VALUES:
            return None
        names = self.names(variable.file)
        return self._value(names, names.written.get((names.parent(variable.position), "", symbol.name), []))

    def meaning_of_import(self, file: FileRow, use: Use) -> Meaning | None:
        """What a name means that is imported or exported."""
        self._steps = 0
        return self._imported(file, use) if use.kind == "import" else self._exported(file, use)

    # --- names by scope -------------------------------------------------------------------------------------

    def owner(self, file: FileRow, use: Use) -> Meaning | None:
        """What stands before the name of a use means."""
        self._steps = 0
        names = self.names(file)
        return self._evaluated(names, names.scope_of(use), use.receiver, use.line)

    def _named(self, names: FileNames, scope: int, name: str, line: int, *, as_value: bool = True) -> Meaning | None:
        """What a name by itself means at a line of a scope: inner functions first, then the ones around; not the types
        around methods. ``as_value``: it may be a variable."""
        at = scope
        while at != TOP:
            if not names.is_type(at):
                found = self._local(names, at, name, line if at == scope else 0, as_value=as_value)
                if found is None and names.rules.row.namespaces and names.symbols[at].kind == "module":
                    found = self._apart(names, at, name)  # of a namespace that other files add to
                if found is not None:
                    return found
            elif at == scope and (at, name) in names.defined:
                return self._defined(names, at, name)
            elif names.rules.row.implicit and (found := self._own_member(names, at, name)) is not None:
                return found
            at = names.parent(at)
        apart = self._type_around(names, scope) if names.rules.row.implicit else None
        if apart is not None and apart.file is not None and apart.file != names.file:
            found = self._own_member(self.names(apart.file), apart.position, name)
            if found is not None:
                return found
        return self._in_module(names, name)

    def _own_member(self, names: FileNames, owner: int, name: str) -> Meaning | None:
        """A member of the object that is used without a word before it."""
        found = self._of_type(Meaning("definition", names.file, owner), name) if self._step() else None
        return None if found is OUTSIDE else found

    def _local(self, names: FileNames, scope: int, name: str, line: int, *, as_value: bool) -> Meaning | None:
        writes = names.written.get((scope, "", name), [])
        before = [write for write in writes if write.line < line][-1:]
        if (scope, name) in names.defined:
            found = self._defined(names, scope, name)
            if not before or before[0].line < names.symbols[found.position].end_line:
                return found
        if imports := names.imported.get((scope, name)):
            return self._imported_by_one_of(names, imports)
        return self._value(names, before or writes) or VARIABLE if writes and as_value else None

    def _defined(self, names: FileNames, scope: int, name: str) -> Meaning:
        positions = names.defined[scope, name]
        best = [at for at in positions if names.symbols[at].kind not in VALUES] or positions
        return Meaning("definition", names.file, best[0])

    def _in_module(self, names: FileNames, name: str) -> Meaning | None:
        """What a name means at the top of a file, which is also what an import of it from there means."""
        defined = (TOP, name) in names.defined
        imports = names.imported.get((TOP, name), ())
        if defined:
            found = self._defined(names, TOP, name)
            symbol = self.symbol(found)
            if not (imports and symbol is not None and symbol.kind in VALUES):
                return found
        if imports:
            return self._imported_by_one_of(names, imports)
        if visible := self.visible(names, name):
            if _is_hidden(*visible[0], names.file, names.rules) and visible[0][0].path not in self._loaded(names):
                return None  # a type that neither a header nor an included file has stays open
            return self._one(names, visible)
        stars = names.imported.get((TOP, "*"), ())
        for use in stars:
            module = self._module(names.file, use.receiver)
            if module is not None and module.file is not None and self._step():
                if module.what == "module":
                    found_there = self._in_module(self.names(module.file), name)
                else:
                    found_there = self._imported(names.file, use._replace(name=name))
                if found_there is not None and found_there.what != "outside":
                    return found_there
        if name in names.rules.outside or (names.rules.family == "python" and name in _BUILTINS):
            return OUTSIDE
        return VARIABLE

    def _step(self) -> bool:
        self._steps += 1
        return self._steps <= _MOST_STEPS

    # --- imports --------------------------------------------------------------------------------------------

    def _module(self, file: FileRow, module: str) -> Meaning | None:
        found = self.modules(file).find(file, module)
        if found == "outside":
            return OUTSIDE
        if isinstance(found, Package):
            return Meaning("package", file, package=found.name)
        return None if found is None else Meaning("module", found)

    def _imported_by_one_of(self, names: FileNames, imports: Sequence[Use]) -> Meaning | None:
        """What a name means that several imports may give: the project's own first, such as that of a ``try``."""
        found = list(filter(None, (self._imported(names.file, use) for use in imports)))
        own = next((each for each in found if each.what == "definition"), None)
        if own is not None and any(each != own for each in found):
            return own._replace(likely="imported from several places")
        return found[0] if found else None

    def _imported(self, file: FileRow, use: Use) -> Meaning | None:
        if not use.name:
            first = use.receiver.partition(".")[0]
            is_first = use.value == use.receiver and RULES[file.language].row.modules == "python"
            return self._given_whole(self._module(file, first if is_first and first else use.receiver))
        module = self._module(file, use.receiver)
        if module is None:  # a package without a file of its own
            below = f"{use.receiver}{'' if use.receiver.endswith('.') else '.'}{use.name}"
            inner = self._module(file, below)
            return inner if inner is not None and inner.what == "module" else None
        found = self._member(module, use.name)
        if found is OUTSIDE and module.what == "package" and self._step():  # a member of a type is imported
            package, _, owner = module.package.rpartition(".")
            type_ = self._member(module._replace(package=package), owner) if owner else None
            found = self._member(type_, use.name) if type_ is not None else OUTSIDE
        return found

    def _given_whole(self, module: Meaning | None) -> Meaning | None:
        """What the import of a module gives: itself, or the one thing that it exports."""
        if module is None or module.what != "module" or module.file is None or not self._step():
            return module
        for use in self.names(module.file).exported.get("=", ()):
            return self._exported(module.file, use) or module
        return module

    def _exported(self, file: FileRow, use: Use) -> Meaning | None:
        """What a file gives by an export."""
        if not use.receiver:
            return self._in_module(self.names(file), use.name)
        return self._imported(file, use)

    # --- members --------------------------------------------------------------------------------------------

    def _member(self, owner: Meaning, name: str) -> Meaning | None:
        if owner.file is None:
            return OUTSIDE if owner.what == "outside" else None
        if not self._step():
            return None
        if owner.what == "module":
            return self._of_module(owner.file, name)
        if owner.what == "package":
            return self._of_package(self.names(owner.file), owner.package, name)
        symbol = self.symbol(owner)
        if symbol is None:
            return None
        names = self.names(owner.file)
        is_namespace = names.rules.row.namespaces and symbol.kind == "module"
        if is_namespace or names.is_type(owner.position):
            found = self._of_type(owner, name)
            if found is not None or symbol.kind in TYPES:
                return found
        if symbol.kind in VALUES and owner.what == "definition":
            value = self.value(owner)
            return None if value is None else self._member(value, name)
        return None

    def _of_module(self, file: FileRow, name: str) -> Meaning | None:
        names = self.names(file)
        for use in names.exported.get(name, ()):
            if (found := self._exported(file, use)) is not None and found.what != "variable":
                return found
        found = self._in_module(names, name)
        if found is not None and found.what not in ("outside", "variable"):
            return found
        modules = (self._module(file, use.receiver) for use in names.exported.get("*", ()))
        files = [module.file for module in modules if module is not None and module.file is not None]
        self._index.ahead(lambda index: [index.uses(each.blob_id) for each in files])
        for each in files:
            if self._step():
                found = self._of_module(each, name)
                if found is not None and found.what not in ("outside", "variable"):
                    return found
        for use in names.exported.get("=", ()):
            if self._step() and (whole := self._exported(file, use)) is not None and whole.file is not None:
                return self._member(whole, name)
        submodule = self.modules(file).submodule(file, name)
        if submodule is not None:
            return Meaning("module", submodule)
        return OUTSIDE if (TOP, name) in names.imported else None

    def _of_type(self, owner: Meaning, name: str) -> Meaning | None:
        """A member of a type or of what it inherits; None where it has none that is seen, `OUTSIDE` where it may be
        inherited from outside of the project."""
        closed = True
        for at in self._lineage(owner):
            if at is None:
                closed = False
                continue
            if at.what == "outside":
                return OUTSIDE if closed else None
            assert at.file is not None
            names = self.names(at.file)
            if (at.position, name) in names.defined:
                return self._defined(names, at.position, name)._replace(likely=owner.likely)
            if writes := names.written_in_type.get((at.position, name)):
                return self._value(names, writes) or VARIABLE
            if (apart := self._apart(names, at.position, name)) is not None:
                return apart._replace(likely=owner.likely)
        return None

    def _apart(self, names: FileNames, owner: int, name: str) -> Meaning | None:
        """A member that is defined apart from its type, in another file of the same package."""
        row = names.rules.row
        if row.unit == "file" or row.unit == "package":
            return None
        scope = names.symbols[owner].qualified_name
        folder = names.file.path.rpartition("/")[0]
        found = [
            each
            for each in self.declared(name, names.rules.family)
            if each[1].scope == scope and each[0] != names.file
            if row.unit == "project" or each[0].path.rpartition("/")[0] == folder
        ]
        return self._one(names, found)

    def overridden(self, file: FileRow, position: int) -> Iterator[Meaning]:
        """The members of the same name in what a member's type inherits."""
        names = self.names(file)
        owner, name = names.parent(position), names.symbols[position].name
        self._steps = 0
        for at in self._lineage(Meaning("super", file, owner)) if names.is_type(owner) else ():
            if at is not None and at.file is not None and (at.position, name) in self.names(at.file).defined:
                yield self._defined(self.names(at.file), at.position, name)

    def _lineage(self, owner: Meaning) -> Iterator[Meaning | None]:
        """A type and what it inherits, depth first; None for a base that stays open, `OUTSIDE` last where one is from
        outside and may have anything."""
        waiting, outside = [(owner, owner.what != "super")], False
        seen: set[tuple[str, int]] = set()
        while waiting and len(seen) < _MOST_STEPS:
            at, itself = waiting.pop(0)
            assert at.file is not None
            key = (at.file.path, at.position)
            if key in seen:
                continue
            seen.add(key)
            if itself:
                yield at
            names = self.names(at.file)
            bases: list[tuple[Meaning, bool]] = []
            for use in names.bases.get(at.position, ()):
                scope = names.scope_of(use)
                base = (
                    self._evaluated(names, scope, f"{use.receiver}.{use.name}", use.line)
                    if use.receiver
                    else self._named(names, scope, use.name, use.line)
                )
                if base is not None and base.what == "outside":
                    outside = outside or use.name not in _TRANSPARENT
                elif base is None or base.file is None or not self.names(base.file).is_type(base.position):
                    yield None
                else:
                    bases.append((base, True))
            waiting = bases + waiting
        if outside:
            yield OUTSIDE

    # --- values and types -----------------------------------------------------------------------------------

    def _evaluated(self, names: FileNames, scope: int, expression: str, line: int) -> Meaning | None:
        """What a receiver means that is made of names, calls and subscripts."""
        if not self._step():
            return None
        at: Meaning | None = None
        first = True
        for match in _STEP.finditer(expression):
            name, call, subscript = match.groups()
            if name:
                at = self._first(names, scope, name, line) if first else self._value_of(at, name)
            elif call:
                at = self._called(at) if at is not None else None
            elif subscript:
                at = at if at is not None and at.what == "definition" else None
            else:
                continue
            first = False
            if at is None or at.what == "variable":
                return None
        return at

    def _value_of(self, owner: Meaning | None, name: str) -> Meaning | None:
        """What an attribute holds that something else is asked of: of a property what it gives."""
        if owner is None:
            return None
        found = self._member(owner, name)
        if found is None and owner.what == "definition" and name == self._makes(owner):
            return self._called(owner)  # a call of this gives no more than the object
        symbol = None if found is None else self.symbol(found)
        if found is None or symbol is None or found.what != "definition" or found.file is None:
            return found
        names = self.names(found.file)
        if symbol.kind == "method" and names.decorators.get(found.position, frozenset()) & PROPERTIES:
            return self._called(found)
        return found

    def _first(self, names: FileNames, scope: int, name: str, line: int) -> Meaning | None:
        word = names.rules.row.words.get(name)
        if word is not None:
            around = self._type_around(names, scope)
            if around is not None or word == "super":
                return None if around is None else around._replace(what=word)
        found = self._named(names, scope, name, line)
        if names.rules.family == "python" and scope != TOP and self._may_be_fixture(names, found):
            return self._fixture(names, name) or found
        if found == VARIABLE and names.rules.row.modules == "rust":  # paths begin with a module that nothing imports
            module = self._module(names.file, name)
            return module if module is not None and module.what == "module" else found
        return found

    def _may_be_fixture(self, names: FileNames, found: Meaning | None) -> bool:
        """Whether a name in a function of a test may be a parameter: nothing else has it, or only a fixture."""
        if "test" not in path_flags(names.file.path):
            return False
        is_here = found is not None and found.file == names.file and found.what == "definition"
        return found == VARIABLE or (
            is_here and found is not None and "fixture" in names.decorators.get(found.position, ())
        )

    def _type_around(self, names: FileNames, scope: int) -> Meaning | None:
        """The type whose method a scope is, also where the method is written apart from it."""
        at = names.type_around(scope)
        if at != TOP:
            return Meaning("definition", names.file, at)
        while scope >= 0:
            if names.holders[scope] == ELSEWHERE:
                found = self._named(names, TOP, names.symbols[scope].scope.rpartition(".")[2], 0)
                return found if found is not None and found.file is not None else None
            scope = names.parent(scope)
        return None

    @staticmethod
    def _makes(meaning: Meaning) -> str:
        return RULES[meaning.file.language].row.makes if meaning.file is not None else ""

    def _called(self, called: Meaning) -> Meaning | None:
        """What a call gives."""
        if called.what in ("outside", "super") or (called.what == "instance" and self._makes(called)):
            return called
        symbol = self.symbol(called)
        if symbol is None or called.file is None or called.what != "definition":
            return None
        names = self.names(called.file)
        if symbol.kind in TYPES or (symbol.kind == "fn" and names.is_type(called.position)):
            return called._replace(what="instance", likely=called.likely or f"made by {symbol.name}()")
        if symbol.kind in VALUES:
            value = self.value(called)
            return None if value is None or not self._step() else self._called(value)
        returned = names.returned.get(called.position)
        if returned is None:
            return self._given(names, called.position, yields=False)
        around = names.type_around(called.position)
        why = f"returned by {symbol.name}()"
        if returned.strip("\"'").rpartition(".")[2] == "Self" and around != TOP:
            return Meaning("instance", called.file, around, why)
        return self._annotated(names, names.parent(called.position), returned, why)

    def _given(self, names: FileNames, position: int, *, yields: bool) -> Meaning | None:
        """The type of what a function without an annotation returns, or ``yields``; None where it is not one type."""
        before = "yield " if yields else "="
        found: list[Meaning] = []
        for use in names.given.get(position, ()):
            given = self._evaluated(names, names.scope(use.symbol), use.value.removeprefix(before), use.line)
            if not use.value.startswith(before) or given is None or given.what not in ("instance", "outside"):
                return None
            found.append(given)
        if len({each[:3] for each in found}) != 1:
            return None
        return found[0]._replace(likely=f"returned by {names.symbols[position].name}()")

    def _fixture(self, names: FileNames, name: str) -> Meaning | None:
        """What pytest gives a parameter: the value of the fixture of its name, in this file or the nearest
        ``conftest.py`` above."""
        folder = names.file.path.rpartition("/")[0]
        paths = [f"{at}/conftest.py" if at else "conftest.py" for at in upwards(folder)]
        for file in (names.file, *filter(None, map(self._index.file_at, paths))):
            there = self.names(file)
            for position in there.defined.get((TOP, name), ()):
                if "fixture" in there.decorators.get(position, ()):
                    found = self._called(Meaning("definition", file, position))
                    return found or self._given(there, position, yields=True)
        return None

    def _value(self, names: FileNames, writes: list[Use]) -> Meaning | None:
        """The type of what is written into a name; None where writes differ or say nothing."""
        found: list[Meaning] = []
        for use in writes:
            if not use.value or not self._step():
                continue
            scope = names.scope(use.symbol)
            if use.value.startswith(":"):
                meaning = self._annotated(names, scope, use.value[1:], f"`{use.name}` is annotated")
            elif use.value in ("None", use.name):
                continue
            else:
                meaning = self._evaluated(names, scope, use.value, use.line - 1)
            if meaning is not None and meaning.what == "definition" and not meaning.likely:
                meaning = meaning._replace(likely=f"`{use.name}` is {use.value}")
            if meaning is not None and meaning.what in ("instance", "definition", "outside"):
                found.append(meaning)
        return found[0] if found and len({each[:3] for each in found}) == 1 else None

    def _annotated(self, names: FileNames, scope: int, annotation: str, why: str) -> Meaning | None:
        """An instance of the type that an annotation names."""
        written = annotation.strip().strip("\"'")
        if match := _OPTIONAL.match(written):
            written = match[1]
        parts = [part for part in re.split(r"\|(?![^\[]*\])", written) if part.strip() not in ("None", "")]
        if len(parts) != 1:
            return None
        written = parts[0].strip().strip("\"'")
        itself = _TYPE_OF.match(written)
        if itself:
            written = itself[1].strip("\"'")
        written = _CLEARED.sub("", written)
        for _ in range(3):  # wrappers in wrappers
            outer, opened, inner = written.partition("<")
            if not opened or outer.rpartition(".")[2] not in names.rules.passed_on:
                break
            written = inner.removesuffix(">").partition(",")[0]
        if written.endswith(("[]", ")")):
            return None
        written = _GENERIC.sub("", written)
        if written.rpartition(".")[2] in _ANYTHING:
            return None
        meaning = self._evaluated(names, scope, written, 0)
        symbol = None if meaning is None else self.symbol(meaning)
        if meaning is None or meaning.what == "outside":
            return meaning
        if symbol is None or meaning.file is None or not self.names(meaning.file).is_type(meaning.position):
            return None
        return meaning._replace(what="definition" if itself else "instance", likely=why)

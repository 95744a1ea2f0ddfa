"""Who uses a definition, and what it uses: the places, each with how sure it is that they belong together.

*certain*: imports and scopes name this very definition. *likely*: the type of what stands before the name says so, or
that there is no other definition of the name; ``why`` says which. *possible*: the name is the same and the number of
arguments fits, and ``why`` says how many other definitions that is true of as well; or it overrides what is meant.
"""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from posixpath import commonprefix
from typing import NamedTuple

from msgspec import Struct

from findling.model.plurals import count
from findling.model.reading import MOST_ARGUMENTS, MOST_USES, Use
from findling.model.remembered import remembered
from findling.model.rows import FileRow, SymbolRow
from findling.model.types import BY_SCOPES, GRADES, Grade
from findling.search.graph.file_names import ELSEWHERE, TOP, TYPES, VALUES, FileNames
from findling.search.graph.modules import Lines
from findling.search.graph.resolution import LANGUAGES, Meaning, Resolver
from findling.search.graph.rules import RULES
from findling.search.patterns import compile_pattern
from findling.search.ranking.priors import path_flags
from findling.search.scope import lies_in
from findling.store.protocols import Index

MOST_EDGES = 2_000
"""Found for one question; a name with more is one that nobody reads the list of."""

FILES_OF_STEPS = 100
"""Different files that are read where callers' callers are followed: names that many files hold would take seconds."""

EDGES_S = 5.0
"""Time for going through the files that hold a name."""

MOST_MEANT = 10
"""Definitions that one use may mean; a use that may mean more is counted and not listed."""

MOST_NAMES = 4
"""Names under which one definition is looked for: its own, and those that files give it that import it."""

FIXTURE = "fixture"
"""The decorator of functions whose values pytest gives to parameters of their names."""

MOST_MADE = 10
"""Types with one constructor that are looked for."""

CONSTRUCTORS = ("__init__", "__new__", "__post_init__", "constructor", "initialize", "init", "__construct")
"""Names of methods that run where an object of their type is made."""

SPECIAL = tuple(f"__{name}__" for name in "call enter exit iter next aenter aexit aiter anext await".split())
"""Methods of Python that run where an object is used as it is meant to be, with no word of them in the code."""

CALLED = ("fn", "method")

HELD = "calls what is held by"
"""Begins why a chain of calls ends where a variable or a field is called."""

NO_USES = ("write", "return", "export", "package")
"""Kinds of `Use` that use no definition."""

_OF_VALUES = {
    "python": frozenset(
        name for kind in (str, bytes, list, dict, set, int, type(iter(())), BaseException) for name in dir(kind)
    ),
    "javascript": frozenset(
        "apply at bind call charAt charCodeAt codePointAt concat copyWithin delete endsWith entries every fill filter "
        "find findIndex findLast flat flatMap forEach get has includes indexOf join keys lastIndexOf localeCompare map "
        "match matchAll normalize padEnd padStart pop push reduce reduceRight repeat replace replaceAll reverse search "
        "set shift slice some sort splice split startsWith substring test then toLowerCase toString toUpperCase trim "
        "trimEnd trimStart unshift values".split()
    ),
}
"""Members of built-in types, by family: a call of one on something unknown is most likely one of these."""

_COMMON = _OF_VALUES["python"] | frozenset(
    "open close read write seek readline readlines flush run start join send recv wait group match".split()
)
"""Members of built-in types, and the commonest of the standard library: a single definition of such a name says little
about a use."""

_COMMON_ELSEWHERE = _COMMON | frozenset(
    "string error name value len less swap size length get set put add contains isempty tostring equals hashcode push "
    "foreach map filter then catch slice concat test exec call apply bind next done on emit once end".split()
)
"""The same of other languages than Python, in small letters."""


OVERRIDES = "overrides "
"""Begins why an edge is possible that means what a method overrides."""

BY_SYNTAX = "called by syntax where an object is used"
"""Why an edge is possible that makes an object whose special method is meant."""

BY_NAME = "no other definition of that name"
"""Why an edge is likely that nothing but its name speaks for."""


def is_common(name: str, language: str) -> bool:
    """Whether members of built-in types or of the standard library have a name."""
    rules = RULES.get(language)
    if rules is not None and rules.family == "python":
        return name in _COMMON
    return name.lower() in _COMMON_ELSEWHERE or (rules is not None and name in rules.common)


def is_of_values(name: str, language: str) -> bool:
    """Whether members of a language's built-in types have a name."""
    rules = RULES[language]
    return name in _OF_VALUES.get(rules.family, rules.common)


class Definition(NamedTuple):
    file: FileRow
    symbol: SymbolRow

    @property
    def key(self) -> tuple[str, str]:
        """What overloads and conditional definitions have in common."""
        return self.file.path, self.symbol.qualified_name

    @property
    def place(self) -> tuple[FileRow, int]:
        return self.file, self.symbol.position


class _Wanted(NamedTuple):
    """A definition that is asked about; ``maybe`` says why it is only possible that it is meant. ``made``: a
    constructor or a special method, which is meant where its type is called."""

    definition: Definition
    maybe: str = ""
    made: bool = False


class Edge(NamedTuple):
    """A use in ``file``, in the definition ``enclosing`` (None: in none), of ``target``; ``step`` as in `Edges`.
    ``others``: how many other definitions a possible use may mean."""

    file: FileRow
    use: Use
    enclosing: SymbolRow | None
    target: Definition
    kind: str
    grade: Grade
    why: str
    step: int = 1
    others: int = 0


class Ending(NamedTuple):
    """A line of ``file``, in the definition ``enclosing``, at which a chain of calls ends, as nobody can tell what it
    calls, and ``why``."""

    file: FileRow
    line: int
    enclosing: SymbolRow | None
    why: str


_AHEAD, _TOGETHER = 100, 50
"""Files and definitions for which a store far away brings together what is asked of them."""


class Edges(Struct):
    """``cut``: there may be more. ``crowded``: paths of files with more uses than the index keeps. ``outside``: uses of
    what the project does not define, among callees. ``vague``: uses left out that may mean any of more than
    `MOST_MEANT` definitions; among callees these are ``endings``, as calls of what a field holds. ``built_in``: uses
    left out of a name that built-in types have as well. An edge's ``step`` is 1 where what was asked about is used, 2
    where what uses that is, and so on."""

    found: list[Edge]
    cut: bool = False
    crowded: tuple[str, ...] = ()
    outside: int = 0
    vague: int = 0
    built_in: int = 0
    endings: list[Ending] = []

    def sort(self) -> None:
        """Brings them in the order in which they are told."""
        self.found.sort(key=lambda edge: (edge.step, GRADES.index(edge.grade), edge.file.path, edge.use.line))


def callers(index: Index, wanted: Sequence[Definition], steps: int = 1, *, lines: Lines | None = None) -> Edges:
    """Where any of some definitions of one name is used; with more ``steps`` also where what uses it is used, as
    `EdgeSearch.is_followed` says. ``lines`` reads manifests, which say where the project's packages lie; without it
    these are found by their folders alone."""
    return EdgeSearch(index, lines=lines).reaching(wanted, steps)


def callees(index: Index, wanted: Sequence[Definition], *, lines: Lines | None = None) -> Edges:
    """What some definitions use of the project."""
    return EdgeSearch(index, lines=lines).callees(wanted)


class EdgeSearch:
    """Finds edges for one question, within a time; what was read of files for one definition serves the next.

    ``most_files``: of the files that hold a name, only so many are read, the nearest to the definition first.
    ``lines``: as for `callers`. ``resolver``: one that earlier questions to the same generation of the index used."""

    def __init__(
        self,
        index: Index,
        seconds: float = EDGES_S,
        *,
        most_files: int | None = None,
        lines: Lines | None = None,
        resolver: Resolver | None = None,
    ) -> None:
        self._index = index
        self._most_files = most_files
        self._files_left: int | None = None
        self._seen: set[str] = set()
        self._resolver = resolver or Resolver(index, lines)
        self._candidates: dict[tuple[str, str], list[Definition]] = {}
        self._objects: dict[tuple[str, str], bool] = {}
        self._vague = self._built_in = 0
        self._tried: set[tuple[Callable[..., object], tuple[object, ...]]] = set()
        self._until = time.monotonic() + seconds

    @property
    def is_over(self) -> bool:
        """Whether there is no time left, so that nothing more is found."""
        return time.monotonic() > self._until

    def trial(self, ask: Callable[..., object], *given: object) -> Callable[[Index], object]:
        """What a method asks, for `Index.bring`: without an effect on what is counted, and once, as what it asked is
        known then."""

        def run(_: Index) -> None:
            if (ask, given) in self._tried:
                return
            kept = self._vague, self._built_in, self._files_left, self._seen
            self._seen = set(self._seen)
            try:
                ask(*given)
            finally:
                self._vague, self._built_in, self._files_left, self._seen = kept
            self._tried.add((ask, given))

        return run

    def _names(self, file: FileRow, edges: Edges) -> FileNames:
        here = self._resolver.names(file)
        if len(here.uses) >= MOST_USES and file.path not in edges.crowded:
            edges.crowded += (file.path,)
        return here

    # --- callers --------------------------------------------------------------------------------------------

    def reaching(self, wanted: Sequence[Definition], steps: int) -> Edges:
        edges = self.callers(wanted)
        self._files_left = FILES_OF_STEPS  # the first step alone goes by time
        seen, last = {each.key for each in wanted}, edges.found
        for step in range(2, steps + 1):
            self._index.bring(*(self.trial(self.is_followed, edge) for edge in last))
            users = {
                user.key: user
                for edge in last
                if edge.enclosing is not None and self.is_followed(edge)
                if (user := Definition(edge.file, edge.enclosing)).key not in seen
            }
            seen |= users.keys()
            last = []
            for at, user in enumerate(users.values()):
                if edges.cut:
                    break
                if at % _TOGETHER == 0:
                    coming = islice(users.values(), at, at + _TOGETHER)
                    self._index.bring(*(self.trial(self.callers, (each,)) for each in coming))
                found = self.callers([user])
                room = MOST_EDGES - len(edges.found)
                new = [edge._replace(step=step) for edge in found.found[:room]]
                last += new
                edges.found += new
                edges.crowded = tuple(dict.fromkeys((*edges.crowded, *found.crowded)))
                edges.cut = found.cut or len(found.found) > room
                edges.vague += found.vague
                edges.built_in += found.built_in
        edges.sort()
        return edges

    def is_followed(self, edge: Edge) -> bool:
        """Whether callers' callers are looked for: of a call that is sure, of a base's method that is overridden, or
        where an object with a special method is made; in tests of fixtures alone."""
        is_sure = edge.grade != "possible" or edge.why.startswith((OVERRIDES, BY_SYNTAX))
        if edge.enclosing is None or not is_sure:
            return False
        return "test" not in path_flags(edge.file.path) or self._is_fixture(Definition(edge.file, edge.enclosing))

    def overridden(self, definition: Definition) -> list[Definition]:
        """The members of the same name in what a member's type inherits; none in a language without rules."""
        if definition.file.language not in RULES:
            return []
        return list(filter(None, map(self._definition, self._resolver.overridden(*definition.place))))

    def callers(self, wanted: Sequence[Definition]) -> Edges:
        wanted = [each for each in wanted if each.file.language in RULES]
        self._index.bring(
            *(self.trial(self._files_with, each.symbol.name, each.file.path) for each in wanted),
            *(self.trial(self.overridden, each) for each in wanted),
            *(self.trial(self._resolver.twins, *each) for each in wanted),
            *(self.trial(self._resolver.modules(each.file).foresee, each.file) for each in wanted),
        )
        keys = {each.key: _Wanted(each) for each in wanted}
        for each in wanted:
            for base in self.overridden(each):
                why = f"{OVERRIDES}{base.symbol.qualified_name}, which this call names"
                keys.setdefault(base.key, _Wanted(each, why))
            for twin in self._resolver.twins(*each):
                keys.setdefault(Definition(*twin).key, _Wanted(each))
        made = {
            type_.key: _Wanted(each, "" if each.symbol.name in CONSTRUCTORS else BY_SYNTAX, made=True)
            for each in wanted
            for type_ in self._made_by(each)
        }
        families = {RULES[each.file.language].family for each in wanted}
        edges = Edges([])
        self._vague = self._built_in = 0
        names = [each.symbol.name for each in wanted] + [name.rpartition(".")[2] for _, name in made]
        names = list(dict.fromkeys(names))
        keys = made | keys
        self._learn_of_modules(keys, names)
        for name in names:
            files = self._files_with(name, wanted[0].file.path) if wanted else []
            files = [file for file in files if RULES[file.language].family in families]
            edges.cut = edges.cut or len(files) > (self._most_files or len(files))
            near = files[: self._most_files or _AHEAD]
            self._index.bring(*(self.trial(partial(self._all_in, file, name, keys, names)) for file in near))
            for file in files[: self._most_files]:
                room = MOST_EDGES - len(edges.found)
                if not room or (self._files_left == 0 and file.path not in self._seen) or self.is_over:
                    edges.cut = True
                    break
                if self._files_left is not None and file.path not in self._seen:
                    self._files_left -= 1
                    self._seen.add(file.path)
                found = list(islice(self._in_file(self._names(file, edges), name, keys, names), room + 1))
                edges.found += found[:room]
                edges.cut = edges.cut or len(found) > room
        for each in wanted:
            if self._is_fixture(each):
                edges.found += islice(self._given_to(each), MOST_EDGES - len(edges.found))
        edges.vague, edges.built_in = self._vague, self._built_in
        edges.sort()
        return edges

    def _all_in(self, file: FileRow, name: str, keys: dict[tuple[str, str], _Wanted], names: Sequence[str]) -> None:
        """Ask what `_in_file` asks."""
        here = self._resolver.names(file)

        def of_use(use: Use) -> None:
            for _ in self._of_use(here, use, name, keys, list(names)):
                pass

        self._index.bring(
            *(self.trial(self._resolver.held, here, use) for use in here.holding(name)),
            *(self.trial(of_use, use) for use in here.naming(name)),
        )

    def _is_fixture(self, definition: Definition) -> bool:
        """Whether pytest gives what a function returns to functions with a parameter of its name."""
        file, symbol = definition
        if file.language != "python" or "test" not in path_flags(file.path):
            return False
        return FIXTURE in self._resolver.names(file).decorators.get(symbol.position, ())

    def _given_to(self, fixture: Definition) -> Iterator[Edge]:
        """The functions of tests with a parameter that has a fixture's name: in its file, and below its folder where
        that is a ``conftest.py``."""
        file, symbol = fixture
        folder, _, last = file.path.rpartition("/")
        plan = compile_pattern(symbol.name, literal=True, ignore_case=False, word=True).plan
        parameter = re.compile(rf"[(,]\s*{re.escape(symbol.name)}\s*[,:=)]")
        for other in self._index.files(self._index.containing(plan)).values():
            below = last == "conftest.py" and lies_in(other.path, folder) and "test" in path_flags(other.path)
            if other.language != "python" or not (below or other.path == file.path):
                continue
            for row in self._index.symbols(other.blob_id):
                if row.kind in CALLED and parameter.search(row.signature) and row != symbol:
                    use = Use("read", symbol.name, "", 0, row.name_line, row.position, "")
                    yield Edge(other, use, row, fixture, "read", "likely", "pytest gives it by its name")

    def _made_by(self, definition: Definition) -> list[Definition]:
        """The types whose objects a constructor makes or have a special method: its own, and those that inherit that by
        name and have none."""
        name = definition.symbol.name
        own = CONSTRUCTORS if name in CONSTRUCTORS else (name,)
        if name not in (*CONSTRUCTORS, *SPECIAL) or definition.symbol.kind != "method":
            return []
        names = self._resolver.names(definition.file)
        owner = names.parent(definition.symbol.position)
        found = [Definition(definition.file, names.symbols[owner])] if names.is_type(owner) else []
        for type_ in found:
            for edge in self.callers([type_]).found if len(found) < MOST_MADE else ():
                user = None if edge.enclosing is None else Definition(edge.file, edge.enclosing)
                if edge.kind != "inherit" or edge.grade == "possible" or user is None or user in found:
                    continue
                there = self._resolver.names(edge.file)
                if not any((user.symbol.position, each) in there.defined for each in own):
                    found.append(user)
        return found

    def overriding(self, definition: Definition) -> list[Definition]:
        """The members of the same name in types that inherit a member's type by name; none in a language without
        rules."""
        if definition.file.language not in RULES:
            return []
        names = self._resolver.names(definition.file)
        owner = names.parent(definition.symbol.position)
        if not names.is_type(owner):
            return []
        found: list[Definition] = []
        for edge in self.callers([Definition(definition.file, names.symbols[owner])]).found:
            if edge.kind == "inherit" and edge.enclosing is not None and edge.grade != "possible":
                there = self._resolver.names(edge.file)
                own = there.defined.get((edge.enclosing.position, definition.symbol.name), [])[:1]
                found += [Definition(edge.file, there.symbols[position]) for position in own]
        return found

    def _files_with(self, name: str, near: str) -> list[FileRow]:
        """Files whose text can hold a name, as there may be no time for all: those that are no tests first, and of
        these what stands nearest to a path."""
        plan = compile_pattern(name, literal=True, ignore_case=False, word=True).plan
        holding = self._index.files(self._index.containing(plan)).values()
        files = [file for file in holding if file.language in LANGUAGES]
        using = self._index.mentioning({file.blob_id for file in files}, name)
        files = [file for file in files if file.blob_id in using]
        return sorted(
            files, key=lambda file: ("test" in path_flags(file.path), -len(commonprefix((file.path, near))), file.path)
        )

    def _in_file(
        self, here: FileNames, name: str, keys: dict[tuple[str, str], _Wanted], names: list[str]
    ) -> Iterator[Edge]:
        for use in here.holding(name):
            self._learn(use.name, partial(self._resolver.held, here, use), keys, names)
        for use in here.naming(name):
            yield from self._of_use(here, use, name, keys, names)

    def _of_use(
        self, here: FileNames, use: Use, name: str, keys: dict[tuple[str, str], _Wanted], names: list[str]
    ) -> Iterator[Edge]:
        if use.kind in ("import", "export"):
            if use.name == name:
                self._learn(use.value, partial(self._resolver.meaning_of_import, here.file, use), keys, names)
            return
        if use.receiver == name or use.receiver.endswith(f".{name}"):
            found: Iterable[Edge] = self._owner_edges(here, use)
        elif use.name == name and use.kind not in NO_USES:
            found = self._edges(here, use)
        else:
            return
        for edge in found:
            target = keys.get(edge.target.key)
            if target is None or (target.made and edge.kind != "instantiate"):
                continue
            if not target.maybe:
                yield edge._replace(target=target.definition)
            elif edge.grade != "possible" and not use.receiver.startswith("super()"):
                yield edge._replace(target=target.definition, grade="possible", why=target.maybe)

    def _learn(
        self,
        called: str,
        resolve: Callable[[], Meaning | None],
        keys: dict[tuple[str, str], _Wanted],
        names: list[str],
    ) -> None:
        """Look for a wanted definition also by the name that an import, an export or a field gives it."""
        if called in names or called in ("", "*", "=", "default") or len(names) >= MOST_NAMES:
            return
        meaning = resolve()
        found = None if meaning is None else self._definition(meaning)
        if found is not None and found.key in keys:
            names.append(called)

    def _learn_of_modules(self, keys: dict[tuple[str, str], _Wanted], names: list[str]) -> None:
        """The names that files give definitions that are all, or the first, that their module exports."""
        for wanted in keys.values():
            file, symbol = wanted.definition
            exported = self._resolver.names(file).exported
            if any(use.name == symbol.name for given in ("default", "=") for use in exported.get(given, ())):
                folder, _, last = file.path.rpartition("/")
                stem = last.partition(".")[0]
                called = stem if stem != "index" else folder.rpartition("/")[2]
                others = self._files_with(called, file.path) if called else []
                self._index.bring(*(self.trial(self._resolver.names, other) for other in others))
                for other in others:
                    here = self._resolver.names(other)
                    for imports in here.imported.values():
                        for use in imports:
                            if use.name in ("", "default"):
                                meaning = partial(self._resolver.meaning_of_import, other, use)
                                self._learn(use.value, meaning, keys, names)

    # --- callees --------------------------------------------------------------------------------------------

    def callees(self, wanted: Sequence[Definition]) -> Edges:
        edges = Edges([])
        wanted = [each for each in wanted if each.file.language in RULES]
        self._index.bring(*(self.trial(self._resolver.names, each.file) for each in wanted))
        uses = [
            (here, use)
            for file, symbol in wanted
            for here in (self._names(file, edges),)
            for use in here.uses
            if use.kind not in ("import", *NO_USES) and _within(here, use.symbol, symbol.position)
        ]
        self._index.bring(*(self.trial(self._first_edge, here, use) for here, use in uses))
        for here, use in uses:
            if self.is_over or len(edges.found) >= MOST_EDGES:
                edges.cut = True
                break
            vague = self._vague
            found = self._first_edge(here, use)
            edges.found += [edge for edge in found if edge.target.symbol.kind not in VALUES]
            why = ""
            if self._vague > vague:
                why = f"uses `{use.name}`, which has more than {MOST_MEANT} definitions"
            elif (not found or found[0].target.symbol.kind in VALUES) and _is_held(here, use):
                why = f"{HELD} `{use.receiver}.{use.name}`"
            else:
                edges.outside += not found
            if why:
                around = here.symbols[use.symbol] if use.symbol != TOP else None
                edges.endings.append(Ending(here.file, use.line, around, why))
        edges.sort()
        return edges

    def _first_edge(self, here: FileNames, use: Use) -> list[Edge]:
        """The edge of a use, none where there is none; of several that are possible one stands for all."""
        return list(islice(self._edges(here, use), 1))

    # --- one use --------------------------------------------------------------------------------------------

    def _edges(self, here: FileNames, use: Use) -> Iterator[Edge]:
        meaning = self._resolver.meaning(here.file, use)
        enclosing = here.symbols[use.symbol] if use.symbol != TOP else None
        if meaning is not None:
            target = self._definition(meaning)
            if target is not None and here.rules.row.fields and use.kind == "type" and target.symbol.kind in CALLED:
                types = [each for each in self._resolver.visible(here, use.name) if each[1].kind in TYPES]
                target = Definition(*types[0]) if len(types) == 1 else None  # a type has its name beside a function's
            if target is not None and not (here.rules.row.fields == "apart" and _is_field(use, target)):
                held = self._resolver.value(meaning) if use.kind == "call" else None
                for means in filter(None, (held, meaning)):
                    if (each := target if means is meaning else self._definition(means)) is not None:
                        kind = "instantiate" if use.kind == "call" and each.symbol.kind in TYPES else use.kind
                        yield Edge(here.file, use, enclosing, each, kind, *_graded(here, means))
            return
        only, owned = BY_NAME, list[Definition]()
        if use.receiver:
            every = [each for each in self._named(use.name, here.rules.family) if _fits(use, each)]
            if here.rules.row.fields:
                every = [each for each in every if not _is_field(use, each)]
            owner = use.receiver.rpartition(".")[2]
            owned = [each for each in every if self._owner(each).lower() == owner.lower()]
            if owned:
                every, only = owned, f"`{owner}` has the name of its type"
            elif self._is_object(owner, here.rules.family):
                every = []
        else:
            every = [Definition(*each) for each in self._resolver.visible(here, use.name)]
        if use.receiver and len(every) == 1 and (owned or not is_common(use.name, here.file.language)):
            yield Edge(here.file, use, enclosing, every[0], use.kind, "likely", only)
        elif every and use.receiver and not owned and is_of_values(use.name, here.file.language):
            self._built_in += 1
        elif len(every) > MOST_MEANT:
            self._vague += 1
        elif every:
            others = len(every) - 1
            why = f"same name; {count(others, 'other definition')}" if others else "same name"
            for each in every:
                yield Edge(here.file, use, enclosing, each, use.kind, "possible", why, others=others)

    def _owner_edges(self, here: FileNames, use: Use) -> Iterator[Edge]:
        """Of ``Outer.inner`` the use of ``Outer``."""
        meaning = self._resolver.owner(here.file, use)
        target = None if meaning is None else self._definition(meaning)
        if meaning is not None and target is not None:
            enclosing = here.symbols[use.symbol] if use.symbol != TOP else None
            yield Edge(here.file, use, enclosing, target, "read", *_graded(here, meaning))

    def _definition(self, meaning: Meaning) -> Definition | None:
        symbol = self._resolver.symbol(meaning)
        if symbol is None or meaning.file is None or meaning.what != "definition":
            return None
        return Definition(meaning.file, symbol)

    def _named(self, name: str, family: str) -> list[Definition]:
        """Members of types that are called so, in a family of languages."""
        if (name, family) not in self._candidates:
            every = [Definition(*each) for each in self._resolver.declared(name, family)]
            self._index.ahead(lambda index: [index.uses(each.file.blob_id) for each in every])
            self._candidates[name, family] = [each for each in every if self._is_member(each)]
        return self._candidates[name, family]

    def _owner(self, definition: Definition) -> str:
        """The name of the type of a member."""
        return definition.symbol.qualified_name.split(".")[-2:][0]

    def _is_object(self, name: str, family: str) -> bool:
        """Whether the project has an object of a name with members of its own: what it lacks nobody else is asked for
        by that name."""
        if (name, family) not in self._objects:
            every = [each for each in self._resolver.declared(name, family) if each[1].kind in VALUES]
            self._index.ahead(lambda index: [index.uses(file.blob_id) for file, _ in every])
            self._objects[name, family] = any(self._resolver.names(file).is_type(row.position) for file, row in every)
        return self._objects[name, family]

    def _is_member(self, definition: Definition) -> bool:
        names = self._resolver.names(definition.file)
        holder = names.holders[definition.symbol.position]
        return holder == ELSEWHERE or names.is_type(holder)


def _graded(here: FileNames, meaning: Meaning) -> tuple[Grade, str]:
    """How sure a use is to have this meaning, and why. Nothing is certain where a language's precision is unknown."""
    if meaning.likely:
        return "likely", meaning.likely
    languages = {here.file.language, here.file.language if meaning.file is None else meaning.file.language}
    return ("certain", "") if languages <= here.rules.certain else ("likely", BY_SCOPES)


def _within(here: FileNames, position: int, around: int) -> bool:
    while position > around:
        position = here.symbols[position].parent
    return position == around


def _is_held(here: FileNames, use: Use) -> bool:
    """Whether a call calls what a field of the object itself holds."""
    is_own = use.kind == "call" and here.rules.row.words.get(use.receiver) == "instance"
    return is_own and (here.type_around(here.scope_of(use)), use.name) in here.written_in_type


def _is_field(use: Use, definition: Definition) -> bool:
    """Whether a field is read, not a method of its name: nothing is called, nor meant without being called."""
    return use.kind == "read" and not use.arguments and definition.symbol.kind in CALLED


def _fits(use: Use, definition: Definition) -> bool:
    """Whether a call's number of arguments is one that a method takes, as far as its signature tells."""
    if use.kind != "call" or use.arguments == MOST_ARGUMENTS or definition.symbol.kind != "method":
        return True
    if definition.file.language != "python":
        least, most = _parameters(definition.symbol.signature, definition.symbol.name)
        is_strict = definition.file.language in _ALL_ARGUMENTS
        return use.arguments <= most and (not is_strict or least <= use.arguments)
    least, most = _arguments(definition.symbol.signature)
    return least <= use.arguments <= most


_ALL_ARGUMENTS = frozenset(("java", "csharp", "php"))
"""Languages whose calls have every argument that has no default between their brackets."""

_ANY_NUMBER = re.compile(r"\.\.\.|\bparams\b|\bvararg\b|\*\w+$|\bthis\b|…")
_NO_PARAMETER = re.compile(r"^(?:&\s*)?(?:'\w+\s+)?(?:mut\s+)?self\b|^void$")


@remembered(10_000)
def _parameters(signature: str, name: str) -> tuple[int, float]:
    """How many arguments a method takes, by the commas of its signature."""
    found = re.search(rf"\b{re.escape(name)}\s*(?:<[^()]*>)?\(", signature)
    if found is None:
        return 0, float("inf")
    parts, depth = [""], 1
    for character in signature[found.end() :]:
        depth += (character in "([{<") - (character in ")]}>")
        if not depth:
            break
        if character == "," and depth == 1:
            parts.append("")
        else:
            parts[-1] += character
    written = [part.strip() for part in parts if part.strip() and not _NO_PARAMETER.match(part.strip())]
    if depth or any(map(_ANY_NUMBER.search, written)) or "->" in "".join(written):
        return 0, float("inf")
    return sum("=" not in part for part in written), len(written)


@remembered(10_000)
def _arguments(signature: str) -> tuple[int, float]:
    """How many arguments a method takes, without the object itself."""
    try:
        found = ast.parse(f"{signature.rstrip(':')}: ...").body[0]
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # it was cut, or is no Python
        return 0, float("inf")
    if not isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef) or found.args.vararg or found.args.kwarg:
        return 0, float("inf")
    every = [*found.args.posonlyargs, *found.args.args, *found.args.kwonlyargs]
    most = len(every) - (every[:1] != [] and every[0].arg in ("self", "cls"))
    optional = len(found.args.defaults) + sum(default is not None for default in found.args.kw_defaults)
    return most - optional, most

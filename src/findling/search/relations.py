"""What belongs to a definition, and the calls that connect several: made of edges, within a budget. Reads no disk.

Only the files nearest to a definition are asked for uses of it, so that a question takes no longer in a large project,
and the same on every machine; what that leaves out is said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec.structs import replace

from findling.model import tokenizer
from findling.model.rows import FileRow, SymbolRow
from findling.model.types import Hit, Relation, Relations, Role, Step, SymbolHit
from findling.search.edges import BY_NAME, CONSTRUCTORS, Definition, Edge, Edges, EdgeSearch
from findling.search.flow import chars_of
from findling.search.graph.file_names import TYPES, VALUES
from findling.search.graph.resolution import Resolver
from findling.search.names import writes
from findling.search.ranking.priors import path_flags
from findling.store.protocols import Index

NEAR_FILES = 16
"""Files that are read for the uses of one definition: what a warm search has time for."""

SECONDS = 2.0
"""For all of a question's edges, where a disk is slow."""

MOST_MEANT = 5
"""A use that may mean so many other definitions says nothing of one of them."""

MOST_CALLERS, MOST_CALLEES, MOST_OTHERS, MOST_TWINS = 3, 5, 3, 3

TEXT = 80
"""Characters of a line that uses a definition."""

HELPER_LINES, HELPER_CHARS = 6, 140
"""Lines of a function that is told with all that it does, and characters of that."""

MOST_FIELDS, MOST_WRITERS, WRITERS_OF_A_FIELD, MOST_WRITING = 6, 3, 2, 8
"""Fields that decide something in a function, lines that write these which are told, of one field, and of a field that
tells something."""

CHAIN_CALLS = 3
"""Calls between a chain's first place and its last."""

MOST_EXPANDED = 20
"""Definitions whose calls are followed for a chain."""

MOST_STEPS = 12

WITH_OTHERS = 3
"""Files whose further places may be part of a chain."""

_OF_USE: Mapping[str, Role] = {
    "call": "called_by",
    "instantiate": "called_by",
    "inherit": "inherited_by",
    "decorate": "used_by",
    "type": "used_by",
    "read": "used_by",
}
_OF_TARGET: Mapping[str, Role] = {"decorate": "decorated_by", "inherit": "inherits"}
_ORDER: Sequence[Role] = ("called_by", "inherited_by", "passed_by", "used_by")

_WORD = re.compile(r"[A-Z]+(?![a-z\d])|[A-Z]?[a-z\d]+")
_COMMENT = re.compile(r"#|//|/\*|\*|\"\"\".*\"\"\"$|'''.*'''$")
_DECIDES = re.compile(r"\b(?:if|elif|unless|while|until|when|switch|assert|return)\b|&&|\|\|")
_FIELD = re.compile(r"(?:\b(\w+)(?:\.|->)|(?<![\w@])@)([A-Za-z_]\w{2,})\b(?!\s*[(.]|->)")
_ITSELF = ("self", "this")
_OF_A_FIELD = "a field that is read here"
_ASYNC = ("async", "sync", "aio")

SAME_SIGNATURE = 0.5
"""Of the words of the signatures of two twins, the share that both have."""


def definition_of(index: Index, hit: Hit | SymbolHit) -> Definition | None:
    """The definition that a place shows, or is a part of."""
    file = index.file_at(hit.path) if hit.qualified_name else None
    for symbol in index.symbols(file.blob_id) if file is not None else ():
        touches = symbol.start_line <= hit.end_line and hit.start_line <= symbol.end_line
        if file is not None and touches and symbol.qualified_name == hit.qualified_name:
            return Definition(file, symbol)
    return None


class Relating:
    """Finds what belongs to definitions, for one question. ``read_lines``: a file's lines, None where it cannot be
    read; ``most_files`` and ``resolver`` as for `EdgeSearch`."""

    def __init__(
        self,
        index: Index,
        read_lines: Callable[[FileRow], Sequence[str] | None],
        *,
        most_files: int | None = NEAR_FILES,
        most_callers: int = MOST_CALLERS,
        resolver: Resolver | None = None,
    ) -> None:
        self._most_callers = most_callers
        self._index = index
        self._read_lines = read_lines
        self._search = EdgeSearch(index, SECONDS, most_files=most_files, lines=read_lines, resolver=resolver)
        self._callers: dict[tuple[str, str], Edges] = {}
        self._callees: dict[tuple[str, str], list[Edge]] = {}

    def callers(self, definition: Definition) -> Edges:
        if definition.key not in self._callers:
            self._callers[definition.key] = self._search.callers([definition])
        return self._callers[definition.key]

    def callees(self, definition: Definition) -> list[Edge]:
        """The first use of each definition that it surely or likely uses, in the order of its lines."""
        if definition.key not in self._callees:
            found = [edge for edge in self._search.callees([definition]).found if edge.grade != "possible"]
            found.sort(key=lambda edge: edge.use.line)
            first = {edge.target.key: edge for edge in reversed(found)}
            self._callees[definition.key] = sorted(first.values(), key=lambda edge: edge.use.line)
        return self._callees[definition.key]

    def of_hit(self, hit: Hit | SymbolHit, most_chars: int, terms: Container[str] = ()) -> Relations:
        """As `of`, for a place of an answer; nothing where it is no definition."""
        definition = definition_of(self._index, hit)
        return Relations() if definition is None else self.of(definition, most_chars, terms)

    def connecting(self, hits: Sequence[Hit]) -> tuple[Step, ...]:
        """As `chain`, for places of an answer and the further ones in the files of the first."""
        spans = [
            replace(hit, start_line=each.start_line, end_line=each.end_line, qualified_name=each.symbol)
            for hit in hits[:WITH_OTHERS]
            for each in hit.others
        ]
        return self.chain(list(filter(None, (definition_of(self._index, hit) for hit in (*hits, *spans)))))

    # --- what belongs to one --------------------------------------------------------------------------------

    def of(self, definition: Definition, most_chars: int, terms: Container[str] = ()) -> Relations:
        """What belongs to a definition, as much of it as may be written. Of more calls than that, those come first
        whose names have a question's ``terms``."""
        asks = (self._used, self._uses, self._inherited, self._writing, self._twins)
        self._index.bring(*(self._search.trial(_asked, ask, definition) for ask in asks))
        callers, used, in_tests = self._used(definition)
        callees = self._uses(definition)
        told = sorted(
            callees, key=lambda each: -sum(term in terms for term in tokenizer.terms(each.target.symbol.name))
        )
        chosen = {id(each) for each in told[:MOST_CALLEES]}
        every = [
            *islice(self._inherited(definition), MOST_OTHERS),
            *callers,
            *islice(self._writing(definition), MOST_WRITERS),
            *(self._used_there(each) for each in callees if id(each) in chosen),
            *self._twins(definition),
        ]
        kept: list[Relation] = []
        for each in every:
            most_chars -= chars_of([each])
            if most_chars >= 0:
                kept.append(each)
        more = used - len(callers) + len(callees) - len(chosen) + len(every) - len(kept)
        return Relations(tuple(kept), in_tests, more, self.callers(definition).cut)

    def _used(self, definition: Definition) -> tuple[list[Relation], int, int]:
        """The first lines that use a definition, how many there are, and how many lines of tests do. Possible uses are
        left out where there are surer ones, and where many others may be meant."""
        lines = {
            (edge.file.path, edge.use.line): edge
            for edge in reversed(self.callers(definition).found)
            if edge.others < MOST_MEANT
        }
        found = [edge for edge in lines.values() if edge.enclosing is None or edge.enclosing != definition.symbol]
        if any(edge.grade != "possible" for edge in found):
            found = [edge for edge in found if edge.grade != "possible"]
        in_tests = [edge for edge in found if "test" in path_flags(edge.file.path)]
        if not path_flags(definition.file.path) & {"test"}:
            found = [edge for edge in found if edge not in in_tests]
        callable_ = definition.symbol.kind in ("fn", "method")
        told = [
            (self._role(edge, callable_=callable_), edge)
            for edge in sorted(found, key=lambda edge: (edge.file.path, edge.use.line))
        ]
        told.sort(key=lambda each: (each[1].grade == "possible", _ORDER.index(each[0])))
        relations = [
            Relation(role, edge.file.path, edge.use.line, self._line(edge.file, edge.use.line), edge.grade, edge.why)
            for role, edge in told[: self._most_callers]
        ]
        return relations, len(told), len(in_tests)

    @staticmethod
    def _role(edge: Edge, *, callable_: bool) -> Role:
        return "passed_by" if edge.kind == "read" and callable_ else _OF_USE[edge.kind]

    def _uses(self, definition: Definition) -> list[Edge]:
        """What a definition calls of the project, what its type inherits, what decorates it; not what is in it, and no
        test's unless it is one."""
        file, symbol = definition
        in_test = "test" in path_flags(file.path)
        return [
            edge
            for edge in self.callees(definition)
            if edge.kind != "type" and (edge.kind != "read" or _is_handed_on(edge))
            if edge.target.file.path != file.path
            or not symbol.start_line <= edge.target.symbol.start_line <= symbol.end_line
            if in_test or "test" not in path_flags(edge.target.file.path)
        ]

    def _used_there(self, edge: Edge) -> Relation:
        """What is used there; of a short function that is called all that it does."""
        role = _OF_TARGET.get(edge.kind, "calls")
        told = _to(role, edge.target, edge)
        lines = self._read_lines(edge.target.file) if role == "calls" else None
        whole = _on_one_line(lines or (), edge.target.symbol)
        return replace(told, text=whole) if whole else told

    def _writing(self, definition: Definition) -> Iterator[Relation]:
        """Lines of the same file that write fields which decide something in a function: of each field the first ones,
        those in a constructor last; none of a field that many write."""
        file, symbol = definition
        lines = self._read_lines(file) or ()
        made = [each for each in self._index.symbols(file.blob_id) if each.name in CONSTRUCTORS]
        own = lines[symbol.start_line - 1 : symbol.end_line]
        deciding = (line for line in own if _DECIDES.search(line)) if symbol.kind in ("fn", "method") else ()
        fields = dict.fromkeys(match.groups() for line in deciding for match in _FIELD.finditer(line))
        for owner, name in islice(fields, MOST_FIELDS):
            field = re.compile(rf"(?:\b(\w+)(?:\.|->)|@){re.escape(name)}\b")
            found = [
                (number, match[1])
                for number, line in enumerate(lines, 1)
                if not symbol.start_line <= number <= symbol.end_line and name in line
                for match in field.finditer(line)
                if writes(line[: match.end() - len(name)], line[match.end() :])
            ]
            found.sort(key=lambda at: any(each.start_line <= at[0] <= each.end_line for each in made))
            for number, by in found[:WRITERS_OF_A_FIELD] if len(found) <= MOST_WRITING else ():
                if by == owner and (by or "self") in _ITSELF:
                    yield Relation("written_by", file.path, number, self._line(file, number), "likely", _OF_A_FIELD)

    def _inherited(self, definition: Definition) -> Iterator[Relation]:
        if definition.symbol.kind == "method" and not definition.symbol.name.startswith("__"):
            yield from (_to("overrides", each) for each in self._search.overridden(definition))
            yield from (_to("overridden_by", each) for each in self._search.overriding(definition))

    def _line(self, file: FileRow, number: int) -> str:
        lines = self._read_lines(file) or ()
        return lines[number - 1].strip()[:TEXT] if number <= len(lines) else ""

    def _twins(self, definition: Definition) -> list[Relation]:
        """The same in a sibling: a definition whose path and qualified name differ in one word throughout (``jdbc`` and
        ``r2dbc``, ``v3`` and ``v4``) or by being asynchronous. More than some are a family, of which each is one of
        many."""
        file, symbol = definition
        if symbol.name.startswith("__") or symbol.kind in VALUES or symbol.end_line - symbol.start_line < 2:
            return []
        name = symbol.squashed
        names = {name, f"a{name}", *(form for mark in _ASYNC for form in (mark + name, name + mark))}
        names |= {name.removeprefix(mark) for mark in (*_ASYNC, "a")} - {""}
        rows = [row for row in self._index.named(sorted(names), 200) if row.kind == symbol.kind]
        at: dict[int, list[SymbolRow]] = {}
        for row in rows:
            if (row.blob_id, row.position) != (symbol.blob_id, symbol.position):
                at.setdefault(row.blob_id, []).append(row)
        found = [
            Definition(other, row)
            for other in self._index.files_of_blobs(at)
            if other.language == file.language
            and ("test" in path_flags(other.path)) == ("test" in path_flags(file.path))
            for row in at[other.blob_id]
            if _are_twins(definition, Definition(other, row))
        ]
        distinct = list({each.key: each for each in found}.values())
        return [_to("same_in", each) for each in distinct] if len(distinct) <= MOST_TWINS else []

    # --- what connects several ------------------------------------------------------------------------------

    def chain(self, places: Sequence[Definition]) -> tuple[Step, ...]:
        """The calls that connect the most of some definitions, in the order in which they are made, from one of these
        or a caller of the first ones; empty where no two are connected."""
        wanted = {each.key: each for each in places if each.symbol.kind in ("fn", "method")}
        code = {key: each for key, each in wanted.items() if "test" not in path_flags(each.file.path)}
        wanted = code or wanted
        roots = dict(wanted)
        for each in list(wanted.values())[:2] if len(wanted) > 1 else ():
            for edge in self.callers(each).found:
                within = edge.enclosing
                if within is None or within.kind in TYPES:
                    continue
                if edge.grade != "possible" and "test" not in path_flags(edge.file.path):
                    user = Definition(edge.file, within)
                    roots.setdefault(user.key, user)
        best: tuple[Step, ...] = ()
        most = 1
        left = MOST_EXPANDED
        for key, root in roots.items():
            steps: list[Step] = []
            reached, left = self._descend(root, wanted, {key}, left, steps)
            reached += key in wanted
            if reached > most or (reached == most > 1 and len(steps) + 1 < len(best)):
                most, best = reached, (step_to(root), *steps)
        return best[:MOST_STEPS]

    def _descend(
        self,
        root: Definition,
        wanted: Mapping[tuple[str, str], Definition],
        seen: set[tuple[str, str]],
        left: int,
        steps: list[Step],
        depth: int = 1,
    ) -> tuple[int, int]:
        """Appends the calls below a definition that lead to wanted ones; how many of these, and the ``left`` budget."""
        reached = 0
        if left <= 0 and root.key not in self._callees:
            return 0, left
        left -= root.key not in self._callees
        for edge in self.callees(root):
            target = edge.target
            if target.key in seen or target.symbol.kind not in ("fn", "method") or edge.kind not in ("call", "read"):
                continue
            seen.add(target.key)
            below: list[Step] = []
            count = 0
            if depth < CHAIN_CALLS:
                count, left = self._descend(target, wanted, seen, left, below, depth + 1)
            count += target.key in wanted
            if count:
                steps += [step_to(target, depth, edge), *below]
                reached += count
            else:
                seen.discard(target.key)
        return reached, left


def _asked(ask: Callable[[Definition], Iterable[object]], definition: Definition) -> None:
    """Ask all that is asked for what belongs to a definition in one way."""
    for _ in ask(definition):
        pass


def _is_handed_on(edge: Edge) -> bool:
    """Whether a definition that is read is a function: a method whose name alone says so may as well be a field."""
    return edge.target.symbol.kind == "fn" or (edge.target.symbol.kind == "method" and edge.why != BY_NAME)


def _on_one_line(lines: Sequence[str], symbol: SymbolRow) -> str:
    """A function of a few statements, without its docstring and comments; '' for others."""
    own = range(symbol.name_line, min(symbol.end_line, len(lines)) + 1)
    if symbol.kind not in ("fn", "method") or not 0 < len(own) <= HELPER_LINES:
        return ""
    text = [line for number in own if (line := lines[number - 1].strip()) and not _COMMENT.match(line)]
    head, name, rest = " ".join(text).partition(f"{symbol.name}(")
    words = " ".join(rest.split())
    is_one = len(text) == 2 or "{" in head + words
    return f"{symbol.qualified_name}({words}" if name and words and is_one and len(words) <= HELPER_CHARS else ""


def _to(role: Role, there: Definition, edge: Edge | None = None) -> Relation:
    graded = (edge.grade, edge.why) if edge else (None, "")
    symbol, text = there.symbol, there.symbol.qualified_name
    behind = " ".join(symbol.signature.partition(f"{symbol.name}(")[2].split())
    if role == "calls" and behind:
        text += f"({behind[:TEXT]}"  # what it takes and gives
    return Relation(role, there.file.path, there.symbol.name_line, text, *graded)


def step_to(there: Definition, depth: int = 0, edge: Edge | None = None) -> Step:
    symbol = there.symbol
    if edge is None:
        return Step(there.file.path, symbol.name_line, symbol.qualified_name)
    return Step(there.file.path, symbol.name_line, symbol.qualified_name, depth, edge.use.line, edge.grade, edge.why)


def _are_twins(one: Definition, other: Definition) -> bool:
    path, where = _words(one.file.path), _words(other.file.path)
    mine, theirs = _words(one.symbol.qualified_name), _words(other.symbol.qualified_name)
    if _without_async(path) == _without_async(where):
        return (path, mine) != (where, theirs) and _without_async(mine) == _without_async(theirs)
    if len(path) != len(where) or len(mine) != len(theirs):
        return False
    differ = {(a, b) for a, b in zip((*path, *mine), (*where, *theirs), strict=True) if a != b}
    takes, its = set(_words(one.symbol.signature)), set(_words(other.symbol.signature))
    return len(differ) == 1 and len(takes & its) >= SAME_SIGNATURE * len(takes | its)


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _without_async(words: Sequence[str]) -> list[str]:
    return [word for word in words if word not in _ASYNC]

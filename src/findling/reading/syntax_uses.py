"""Finds the uses of names in a syntax tree: calls, bases, decorators, types, reads, writes and imports.

One query over the tree finds them, another what imports say; ``syntax_grammars/uses.py`` tells what their captures
mean. Which definition a use refers to is not decided here, because that needs the other files.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from findling.model.reading import MOST_ARGUMENTS, MOST_USES, Use
from findling.reading.syntax_grammars.model import TYPE_KINDS
from findling.reading.syntax_grammars.uses import UseGrammar, use_grammar
from findling.reading.syntax_tree import captured, matched

if TYPE_CHECKING:
    from tree_sitter import Node

    from findling.reading.syntax_walk import Found

MAX_CHARACTERS = 80
"""The longest receiver or value that is kept as it is written."""

MAX_DEPTH = 6
"""Calls and the like in a receiver: ``a().b().c()`` has two."""

UNKNOWN = "?"
"""Stands for a receiver or a value that is more than names, calls and subscripts."""

_SEPARATOR = re.compile(rb"::|->|\?\.|\\")
"""The separators of members in all languages; uses are kept with a dot instead."""

_PLAIN = re.compile(rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*(?:\.[A-Za-z_$\x80-\xff][\w$\x80-\xff]*)*")
_NAMES = re.compile(r"\w+")
_VALUES = frozenset(("variable", "constant"))
_FIELDS = frozenset(("field_identifier", "property_identifier"))
_ASSIGNMENT = "assignment_expression"
"""Nodes that assign to a name that is declared elsewhere; nodes that declare and assign at once have other names."""
_KEPT = frozenset(("import", "export", "package", "return"))
"""Kinds of uses that are kept whatever their name is."""

_GIVEN = ("=", "yield ")
"""Begin what a definition gives, to tell it from an annotation."""

_SPACE = re.compile(r"\s+")

_Row = tuple[int, str, str, str, int, str]
"""Byte at which the name begins, kind, name, receiver, number of arguments, value."""


def find_uses(root: Node, text: bytes, language: str, parser: str, found: Found, deadline: float) -> list[Use]:
    """The uses in a tree, in order; [] for a language whose uses are not known, and when the deadline passes.

    Kept are members (``owner.name``), identifiers that the file defines or imports (all others too where it imports
    ``*``) and that no block around them binds, and what is written into names that receivers begin with.
    """
    table = use_grammar(language)
    if table is None or time.thread_time() > deadline:
        return []
    collected = _Uses(text, table, parser, found)
    captures = captured(root, parser, table.query)
    rows = collected.rows(captures)
    matters = collected.matters()
    rows = [row for row in rows if row[1] == "write" or matters(row)]  # any write may bind a name
    rows.sort()
    uses = _placed(rows, text, found)
    scopes = [(node.start_byte, node.end_byte) for node in captures.get("scope", ())]
    local = _local(rows, uses, scopes, collected.bound, found, table)
    told = _telling(uses, table)
    kept = (
        use
        for row, use, is_local in zip(rows, uses, local, strict=True)
        if not is_local and (use.kind != "write" or matters(row)) and (use.kind != "return" or use in told)
    )
    return list(islice(kept, MOST_USES))


def _telling(uses: list[Use], table: UseGrammar) -> set[Use]:
    """The returns that tell what a definition gives: its annotation, or all that it gives where each is known and not
    all are values of the language's own types."""
    own = {before + literal for before in _GIVEN for literal in table.literals.values()}
    of: dict[int, list[Use]] = {}
    for use in uses:
        if use.kind == "return":
            of.setdefault(use.symbol, []).append(use)
    told: set[Use] = set()
    for returns in of.values():
        annotated = [use for use in returns if not use.value.startswith(_GIVEN)]
        values = {use.value for use in returns}
        if annotated or (not values <= own and not any(value.endswith(UNKNOWN) for value in values)):
            told.update(annotated or returns)
    return told


def _local(
    rows: list[_Row],
    uses: list[Use],
    scopes: list[tuple[int, int]],
    bound: dict[int, int],
    found: Found,
    table: UseGrammar,
) -> Iterator[bool]:
    """Whether each use is a call or a read of a name that a block or a function around it binds: a parameter, a local
    variable, the variable of a loop. ``bound``: as in `_Uses`."""
    symbols = found.symbols
    functions = [symbol.kind not in TYPE_KINDS and symbol.kind not in _VALUES for symbol in symbols]
    scopes += [(each.start_byte, each.end_byte) for each, is_one in zip(symbols, functions, strict=True) if is_one]
    scopes.sort(key=lambda scope: (scope[0], -scope[1]))

    def function(at: int) -> int:
        while at >= 0 and not functions[at]:
            at = symbols[at].parent
        return at

    # What a function imports or defines itself is more than a value: the search looks for that.
    defined = {(function(use.symbol), use.value) for use in uses if use.kind == "import"}
    defined |= {(function(symbol.parent), symbol.name) for symbol in symbols if symbol.kind not in _VALUES}
    bindings: dict[str, list[tuple[int, int]]] = {}
    around: list[tuple[int, int]] = []
    following = 0
    for row, use in zip(rows, uses, strict=True):
        start = row[0]
        if start not in bound or use.kind != "write":
            continue
        while following < len(scopes) and scopes[following][0] <= start:
            around.append(scopes[following])
            following += 1
        while around and around[-1][1] <= start:
            around.pop()
        within = function(use.symbol)
        if around and (within < 0 or (within, use.name) not in defined):
            first, end = around[-1]
            bindings.setdefault(use.name, []).append((first if table.hoisted else bound[start], end))
    kinds = ("read",) if table.apart else ("read", "call")
    bounds = {name: _merged(ranges) for name, ranges in bindings.items()}
    for row, use in zip(rows, uses, strict=True):
        held = bounds.get(use.name, ()) if use.kind in kinds and not use.receiver else ()
        yield bisect_right(held, row[0]) % 2 == 1


def _merged(ranges: list[tuple[int, int]]) -> list[int]:
    """Ranges without overlaps, as one sorted list: start, end, start, end, … A file may bind one name in thousands of
    scopes, so each use of it is searched for by bisection: an odd place is inside of a range."""
    bounds: list[int] = []
    for first, end in sorted(ranges):
        if bounds and first <= bounds[-1]:
            bounds[-1] = max(bounds[-1], end)
        elif first < end:
            bounds += (first, end)
    return bounds


def _placed(rows: list[_Row], text: bytes, found: Found) -> list[Use]:
    """The rows, which are in order, with their lines and the innermost symbol around each; symbols are in order of
    their start, parents first."""
    symbols = found.symbols
    uses: list[Use] = []
    following, inner = 0, -1
    line, counted = 1, 0
    for start, kind, name, receiver, arguments, value in rows:
        line += text.count(b"\n", counted, start)
        counted = start
        while following < len(symbols) and symbols[following].start_byte <= start:
            inner = following
            following += 1
        while inner >= 0 and symbols[inner].end_byte <= start:
            inner = symbols[inner].parent
        uses.append(Use(kind, name, receiver, arguments, line, inner, value))
    return uses


class _Uses:
    """Collects the uses in one tree."""

    def __init__(self, text: bytes, table: UseGrammar, parser: str, found: Found) -> None:
        self._text = text
        self._table = table
        self._parser = parser
        self._defined = {*found.names, *found.clauses}
        self._functions = {
            start for start, symbol in zip(found.names, found.symbols, strict=True) if symbol.kind not in _VALUES
        }
        self._known = {symbol.name for symbol in found.symbols}
        """Names that the file defines or imports."""
        self._parts: dict[bytes, tuple[str, str]] = {}
        """Dotted name -> (receiver, name)."""
        self._rows: list[_Row] = []
        self.bound: dict[int, int] = {}
        """For each name that is assigned to: the byte where it begins -> the byte from which on it has the value."""
        self._imported: set[_Row] = set()

    def rows(self, captures: dict[str, list[Node]]) -> list[_Row]:
        for node in captures.get("import", ()):
            self._import(node)
        self._rows += self._imported
        kinds = {
            node.end_byte: kind
            for kind, capture in (("type", "type"), ("inherit", "base"), ("decorate", "decorator"))
            for node in captures.get(capture, ())
        }
        for node in captures.get("property", ()):
            self._target(node, set(), "this")
        for node in captures.get("return", ()):
            annotation = self._annotation(node)
            self._rows.append((node.start_byte, "return", "", "", 0, annotation))
        for node in captures.get("given", ()):
            written = self._written(node, MAX_DEPTH)
            if written != "None":  # it gives something else, or nothing
                yields = node.parent is not None and node.parent.type == "yield"
                self._rows.append((node.start_byte, "return", "", "", 0, _GIVEN[yields] + written))
        done: set[int] = set()
        unpacked = {node.start_byte for node in captures.get("unpacked", ())}
        for node in captures.get("call", ()):
            self._call(node, kinds, unpacked, done)
        for node in captures.get("target", ()):
            self._target(node, done)
        for node in captures.get("bound", ()):
            self.bound.setdefault(node.start_byte, node.end_byte)
        self._names(captures.get("bound", ()), "write", done)
        for node in captures.get("reference", ()):
            self._use(node, "read", MOST_ARGUMENTS)
            done.add(node.end_byte)
        for node in captures.get("member", ()):
            if (end := node.end_byte) not in done:
                self._use(node, kinds.get(end, "read"), 0)
                done.add(end)
        for capture, kind in (("base", "inherit"), ("decorator", "decorate"), ("type", "type"), ("name", "read")):
            self._names(captures.get(capture, ()), kind, done)
        return self._rows

    def matters(self) -> Callable[[_Row], bool]:
        """Whether a use may mean a definition of the project, or tells the type of a receiver."""
        owners = set(_NAMES.findall(" ".join({part for row in self._rows for part in (row[3], row[5])})))
        literals = frozenset(self._table.literals.values())
        known, outside, every = self._known, self._table.outside, self._table.open or "*" in self._known

        def matters(row: _Row) -> bool:
            _, kind, name, receiver, _, value = row
            if kind == "write":
                return name in known or (name in owners and value != "") or (receiver != "" and value not in literals)
            if receiver != "" or name in known or kind in _KEPT:
                return True
            return (every or kind == "decorate") and name not in outside

        return matters

    def _names(self, nodes: Iterable[Node], kind: str, done: set[int]) -> None:
        """Identifiers by themselves."""
        text, rows, defined = self._text, self._rows, self._defined
        for node in nodes:
            end, start = node.end_byte, node.start_byte
            if end not in done and start not in defined:
                name = text[start:end].decode("utf-8", "replace")
                rows.append((start, kind, name, "", 0, ""))
                done.add(end)

    def _import(self, node: Node) -> None:
        for got in matched(node, self._parser, self._table.imports):
            at = {capture: self._dotted(each) for capture, each in got.items()}
            module, name = at.get("module", ""), at.get("name", "")
            for written in got.keys() & {"qualified", "module"} if self._table.prefixes else ():
                at[written] = ".".join(filter(None, (self._prefix(got[written]), at[written])))
            if "qualified" in at:
                module, _, name = at["qualified"].rpartition(".")
            elif self._table.prefixes:
                module = at.get("module", "")
            kind = "export" if "export" in at else "package" if "package" in at else "import"
            if "all" in at:
                module, name = f"{module}.{name}" if module and name else module or name, "*"
            elif "default" in at and kind == "import":
                name = "default"
            local = "default" if "default" in at and kind == "export" else "=" if "whole" in at else at.get("local", "")
            local = at.get("package") or local or name or module
            row = (node.start_byte, kind, name, module, 0, local)
            if max(len(name), len(module), len(local)) <= MAX_CHARACTERS and row not in self._imported:
                self._imported.add(row)
                self._known.add(name if kind == "export" else local)

    def _dotted(self, node: Node) -> str:
        """A name as it is written, with dots between its parts."""
        written = _SEPARATOR.sub(b".", self._text[node.start_byte : node.end_byte][: 4 * MAX_CHARACTERS])
        return _SPACE.sub("", written.decode("utf-8", "replace")).strip("<>\"'")

    def _prefix(self, node: Node) -> str:
        """The module of a name that is imported in a group with others."""
        parts: list[str] = []
        at = node.parent
        while at is not None:
            path = self._table.prefixes.get(at.type)
            before = None if path is None else path(at)
            if before is not None:
                parts.insert(0, self._dotted(before))
            at = at.parent
        return ".".join(parts)

    def _call(self, node: Node, kinds: dict[int, str], unpacked: set[int], done: set[int]) -> None:
        callee, arguments = (path(node) for path in self._table.calls[node.type])
        if callee is not None:
            named = self._member(callee)[1] if callee == node else callee  # arguments may end where the call does
            end = (named or callee).end_byte
            self._use(callee, kinds.get(end, "call"), self._arguments(arguments, unpacked))
            done.add(end)

    def _arguments(self, node: Node | None, unpacked: set[int]) -> int:
        if node is None:
            return 0
        start, end = node.start_byte, node.end_byte
        if start in unpacked:
            return MOST_ARGUMENTS
        if not self._text.startswith(b"(", start) or node.type == "generator_expression":
            return 1
        if self._text.find(b"\n", start, end) < 0:
            return min(node.named_child_count, MOST_ARGUMENTS)
        return min(sum(not child.is_extra for child in node.named_children), MOST_ARGUMENTS)  # without comments

    def _target(self, node: Node, done: set[int], owner: str = "") -> None:
        """An assignment to ``owner``: the name that is written, and its value, which may tell its type."""
        table = self._table
        at, annotation, value = (path(node) for path in table.values[node.type])
        if at is None or not (at.type in table.names or at.type in table.members):
            return
        said = ":" + self._annotation(annotation) if annotation is not None else ""
        if not said or said[1:] in table.inferred:
            said = self._written(value, MAX_DEPTH) if value is not None else ""
        if said == UNKNOWN:
            said = ""
        done.add(at.end_byte)
        if at.start_byte in self._functions:  # ``const f = () => …`` defines it
            return
        if owner:
            self._rows.append((at.start_byte, "write", self._dotted(at), owner, 0, said))
        elif said or at.type in table.names:
            self._use(at, "write", 0, said)
            if at.type not in _FIELDS and node.type != _ASSIGNMENT:
                self.bound[at.start_byte] = at.end_byte if value is None else value.end_byte

    def _annotation(self, node: Node) -> str:
        written = self._text[node.start_byte : node.end_byte].decode("utf-8", "replace")
        return _SPACE.sub("", written).lstrip(":")[:MAX_CHARACTERS]

    def _use(self, node: Node, kind: str, arguments: int, value: str = "") -> None:
        """Add the use of a name or a member; other nodes are no uses."""
        text, start, end = self._text, node.start_byte, node.end_byte
        written = text[start:end]
        parts = self._parts.get(written)
        if parts is None and len(written) <= MAX_CHARACTERS and _PLAIN.fullmatch(written):
            before, _, last_part = written.rpartition(b".")
            parts = self._parts[written] = before.decode("utf-8", "replace"), last_part.decode("utf-8", "replace")
        if parts is not None:
            receiver, name = parts
            start += written.rfind(b".") + 1
        else:
            owner, last = self._member(node)
            if last is None or last.end_byte - last.start_byte > MAX_CHARACTERS:
                return
            receiver = "" if owner is None else self._written(owner, MAX_DEPTH)
            start = last.start_byte
            name = self._dotted(last)
        self._rows.append((start, kind, name, receiver, arguments, value))

    def _member(self, node: Node) -> tuple[Node | None, Node | None]:
        """The receiver and the name of ``owner.name``; of a name by itself the name."""
        paths = self._table.members.get(node.type)
        return (None, None) if paths is None else (paths[0](node), paths[1](node))

    def _written(self, node: Node, depth: int) -> str:
        """An expression of names, calls and subscripts as it is written, without arguments; `UNKNOWN` for others."""
        table, text, kind = self._table, self._text, node.type
        if kind in table.literals:
            return table.literals[kind]
        start, end = node.start_byte, node.end_byte
        written = text[start:end] if end - start <= MAX_CHARACTERS else b""
        if _PLAIN.fullmatch(written):
            return written.decode("utf-8", "replace")
        inner, tail = self._inside(node, kind) if depth else (None, "")
        if inner is None:
            return UNKNOWN
        before = self._written(inner, depth - 1)
        return UNKNOWN if before == UNKNOWN or len(before + tail) > MAX_CHARACTERS else before + tail

    def _inside(self, node: Node, kind: str) -> tuple[Node | None, str]:
        """The expression that another is made of, and what is written after it."""
        table = self._table
        if kind in table.members:
            owner, last = self._member(node)
            tail = "" if last is None else self._dotted(last)
            if kind not in table.calls:
                return owner, f".{tail}"
            return (last, "()") if owner is None else (owner, f".{tail}()")
        if kind in table.calls:
            return table.calls[kind][0](node), "()"
        if kind in table.subscripts:
            return table.subscripts[kind](node), "[]"
        return (table.through[kind](node), "") if kind in table.through else (None, "")

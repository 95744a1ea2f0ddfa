"""Walks a syntax tree by a grammar table and lists the definitions in it, outermost and first ones first.

Only nodes that can hold definitions are visited, with a stack of its own: the cost follows the number of
declarations, not the size of function bodies, and deep nesting costs no recursion. Knows nothing of files and of
how a tree was made.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from findling.model.types import Symbol
from findling.reading import syntax_text
from findling.reading.syntax_grammars.model import (
    FUNCTION,
    MODULE,
    TYPE,
    TYPE_KINDS,
    Action,
    Attach,
    Define,
    Definition,
    Grammar,
    Group,
    Through,
    place_inside,
)
from findling.store.signatures import shortened

if TYPE_CHECKING:
    from tree_sitter import Node

# A file with more definitions is generated; the first ones are enough to find it by name.
MAX_SYMBOLS = 20_000
# Longer "names" are text that the grammar misread.
MAX_NAME_CHARACTERS = 200
# The clock is read once per this many visited nodes.
CLOCK_EVERY = 512

_VALUES = frozenset({"variable", "constant"})
_SPACES = b" \t\r\n"

# Definitions inside a region that does not parse are still worth having; loose variables there are not.
_UNPARSED = Through(FUNCTION)


@dataclass(slots=True)
class Found:
    """What one walk found. ``names`` holds the byte offset of each symbol's name, in the symbols' order;
    ``clauses`` those of further clauses that were merged into a symbol.
    """

    symbols: list[Symbol] = field(default_factory=list)
    names: list[int] = field(default_factory=list)
    problem: str = ""
    clauses: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Row:
    """A symbol under construction: clauses that follow may still extend it."""

    name: str
    kind: str
    qualified_name: str
    parent: int
    start_line: int
    end_line: int
    start_byte: int
    end_byte: int
    name_line: int
    signature: str
    doc: str

    def symbol(self) -> Symbol:
        return Symbol(
            self.name,
            self.kind,
            self.qualified_name,
            self.parent,
            self.start_line,
            self.end_line,
            self.start_byte,
            self.end_byte,
            self.name_line,
            self.signature,
            self.doc,
        )


@dataclass(frozen=True, slots=True)
class _Context:
    """Where children are looked at: index of the enclosing symbol, its qualified name, the kind of place."""

    parent: int
    scope: str
    place: int


@dataclass(slots=True)
class _Item:
    """A node that waits on the stack, with what earlier siblings and groups around it give to it."""

    node: Node
    action: Action
    context: _Context
    outer: Node | None
    signed_from: int
    prefix: Node | None
    doc: str


class Walk:
    """One walk over one tree. ``deadline`` is a ``time.thread_time`` value; ``docs`` as for `walk`."""

    def __init__(self, text: bytes, grammar: Grammar, deadline: float, *, docs: bool) -> None:
        self._text = text
        self._docs = docs
        self._grammar = grammar
        self._actions: Mapping[str, Action] = {"ERROR": _UNPARSED, **grammar.actions}
        self._nested = re.compile(grammar.nested) if grammar.nested else None
        self._deadline = deadline
        self._stack: list[_Item] = []
        self._rows: list[_Row] = []
        self._names: list[int] = []
        self._clauses: list[int] = []
        self._seen: set[tuple[int, str]] = set()

    def run(self, root: Node) -> Found:
        problem = ""
        self._push(root.named_children, _Context(-1, "", MODULE))
        stack = self._stack
        visited = 0
        while stack:
            visited += 1
            if visited % CLOCK_EVERY == 0 and time.thread_time() > self._deadline:
                problem = "timeout"
                break
            if len(self._rows) >= MAX_SYMBOLS:
                problem = "too_many_symbols"
                break
            item = stack.pop()
            action = item.action
            if isinstance(action, Define):
                self._define(item, action)
            elif isinstance(action, Through):
                self._through(item, action)
            elif isinstance(action, Group):
                self._group(item, action)
            elif isinstance(action, Attach):
                if action.find is not None:
                    self._find(item, action.find(item.node, self._text, item.context.place))
            else:
                self._find(item, action(item.node, self._text, item.context.place))
        return self._found(problem)

    def _found(self, problem: str) -> Found:
        rows, names = self._rows, self._names
        starts = [row.start_byte for row in rows]
        if any(later < earlier for earlier, later in itertools.pairwise(starts)):
            # One node can define several names with insides of their own; parents still come before children,
            # since they start no later and the sort is stable.
            order = sorted(range(len(rows)), key=starts.__getitem__)
            place_of = {old: new for new, old in enumerate(order)}
            rows, names = [rows[old] for old in order], [names[old] for old in order]
            for row in rows:
                row.parent = place_of.get(row.parent, -1)
        return Found([row.symbol() for row in rows], names, problem, self._clauses)

    def _push(self, children: list[Node], context: _Context) -> None:
        items = self._items(children, context)
        items.reverse()
        self._stack.extend(items)

    def _items(self, children: list[Node], context: _Context) -> list[_Item]:
        get = self._actions.get
        items: list[_Item] = []
        prefix: Node | None = None
        doc = ""
        for child in children:
            action = get(child.type)
            if action is None:
                if prefix is not None and not child.is_extra:
                    prefix = None
                continue
            if isinstance(action, Attach):
                text = "" if action.doc is None else action.doc(child, self._text)
                if text is not None:
                    if text:
                        doc, prefix = text, None
                    elif prefix is None:
                        prefix = child
                    continue
            items.append(_Item(child, action, context, None, -1, prefix, doc))
            prefix = None
            doc = ""
        return items

    def _through(self, item: _Item, action: Through) -> None:
        node, context = item.node, item.context
        if action.place is not None:
            if action is not _UNPARSED and action.place == FUNCTION and not self._may_define(node):
                return
            if action.place != context.place:
                context = _Context(context.parent, context.scope, action.place)
        self._push(node.named_children, context)

    def _may_define(self, body: Node) -> bool:
        """Whether the text of a function's inside can hold a definition at all."""
        nested = self._nested
        return nested is not None and nested.search(self._text, body.start_byte, body.end_byte) is not None

    def _group(self, item: _Item, group: Group) -> None:
        items = self._items(item.node.named_children, item.context)
        if len(items) == 1:
            only = items[0]
            only.signed_from = item.signed_from
            if only.signed_from < 0 and group.signed:
                only.signed_from = item.node.start_byte
            only.outer = item.outer or item.node
            only.prefix = item.prefix or only.prefix
            only.doc = item.doc or only.doc
        items.reverse()
        self._stack.extend(items)

    def _define(self, item: _Item, action: Define) -> None:
        context = item.context
        if not action.local and context.place == FUNCTION:
            return
        node = item.node
        name = node.child_by_field_name(action.name)
        if name is None:
            return
        body = node.child_by_field_name(action.body) if action.body else None
        raw = self._text[name.start_byte : name.end_byte].decode("utf-8", "replace")
        self._add(item, Definition(action.kind, raw, name, body=body, place=place_inside(action.kind)))

    def _find(self, item: _Item, definitions: Iterable[Definition]) -> None:
        for definition in definitions:
            self._add(item, definition)

    def _add(self, item: _Item, definition: Definition) -> None:
        context = item.context
        qualified = context.scope
        for part in (definition.qualifier, definition.name):
            if part:
                qualified = f"{qualified}.{part}" if qualified else part
        parent = context.parent
        name = definition.name
        if definition.kind and name and len(name) <= MAX_NAME_CHARACTERS and "\n" not in name:
            parent = self._symbol(item, definition, qualified)
        body, place = definition.body, definition.place
        if body is None or place is None:
            return
        if place == FUNCTION and not self._may_define(body):
            return
        self._push(body.named_children, _Context(parent, qualified, place))

    def _symbol(self, item: _Item, definition: Definition, qualified: str) -> int:
        """Adds (or extends) a symbol; returns the index that its children have as parent."""
        kind, context, rows = definition.kind, item.context, self._rows
        if kind == "fn" and context.place == TYPE:
            kind = "method"
        if kind in _VALUES:
            if context.place == FUNCTION:
                return context.parent
            key = (context.parent, qualified)
            if key in self._seen:
                return context.parent
            self._seen.add(key)
        first = last = definition.extent or item.node
        if definition.extent is None and item.outer is not None:
            first = last = item.outer
        last = definition.until or last
        if item.prefix is not None and item.prefix.start_byte < first.start_byte:
            first = item.prefix
        start_byte, end_byte = first.start_byte, last.end_byte
        end_line = last.end_point[0] + 1
        text = self._text
        if end_byte > start_byte and text[end_byte - 1] in _SPACES:
            kept = len(text[start_byte:end_byte].rstrip(_SPACES)) + start_byte
            end_line -= text.count(b"\n", kept, end_byte)
            end_byte = kept
        if self._grammar.merge and rows and kind in ("fn", "method"):
            previous = rows[-1]
            if previous.qualified_name == qualified and previous.parent == context.parent and previous.kind == kind:
                previous.end_line, previous.end_byte = end_line, end_byte
                self._clauses.append((definition.at or item.node).start_byte)
                return len(rows) - 1
        name_node = definition.at or item.node
        rows.append(
            _Row(
                definition.name,
                kind,
                qualified,
                context.parent,
                first.start_point[0] + 1,
                end_line,
                start_byte,
                end_byte,
                name_node.start_point[0] + 1,
                self._signature(item, definition, kind, end_byte),
                self._doc(item, definition, start_byte),
            )
        )
        self._names.append(name_node.start_byte)
        return len(rows) - 1

    def _signature(self, item: _Item, definition: Definition, kind: str, end: int) -> str:
        start = item.signed_from if item.signed_from >= 0 else item.node.start_byte
        if kind in _VALUES:
            return syntax_text.first_line(self._text, start, end)
        body = definition.body
        if body is not None:
            if body.start_byte <= start:  # the body is the whole node: no place where the head ends
                return syntax_text.first_line(self._text, start, end)
            end = min(end, body.start_byte)
        line = syntax_text.signature(self._text, start, end, self._grammar.annotation)
        if kind in TYPE_KINDS and definition.name not in line:  # ``typedef struct { … } name;``
            line = shortened(f"{line} {definition.name}")
        return line

    def _doc(self, item: _Item, definition: Definition, start: int) -> str:
        doc = definition.doc or item.doc
        if doc or not self._docs:
            return doc
        if self._grammar.docstring and definition.body is not None:
            body = definition.body
            doc = syntax_text.docstring_at(self._text, body.start_byte, body.end_byte)
            if doc:
                return doc
        comments = self._grammar.comments
        if not comments.line and not comments.block:
            return ""
        return syntax_text.doc_before(self._text, start, comments.line, comments.block)


def walk(root: Node, text: bytes, grammar: Grammar, deadline: float, *, docs: bool) -> Found:
    """The definitions below ``root``. ``problem`` is "timeout" or "too_many_symbols" when the list is cut.

    Without ``docs`` no comments are looked for around them.
    """
    return Walk(text, grammar, deadline, docs=docs).run(root)

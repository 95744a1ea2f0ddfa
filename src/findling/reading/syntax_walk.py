"""Walks a syntax tree by a grammar table and lists its definitions, parents before children.

Only nodes that can hold definitions are visited, so the cost follows the number of declarations, not the size of
function bodies. The walk keeps its own stack: deep nesting causes no recursion.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from functools import cache
from itertools import islice
from operator import gt
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from findling.reading import syntax_text
from findling.reading.parsed import Symbol
from findling.reading.syntax_grammars.model import (
    FUNCTION,
    MODULE,
    TYPE,
    TYPE_KINDS,
    Action,
    Attach,
    Definition,
    Grammar,
    Group,
    Through,
)
from findling.reading.syntax_tree import grammar as loaded_grammar

if TYPE_CHECKING:
    from tree_sitter import Node

# A file with more definitions is generated; the first ones are enough to find it by name.
MAX_SYMBOLS = 20_000
# Longer "names" are text that the grammar misread as a name.
MAX_NAME_CHARACTERS = 200
# The clock is read once per this many visited nodes.
CLOCK_EVERY = 512

_VALUES = frozenset({"variable", "constant"})
_SPACES = b" \t\r\n"

# Definitions inside a region that does not parse are still worth having; loose variables there are not.
_UNPARSED = Through(FUNCTION)


@cache
def _actions_by_kind(table: Grammar) -> Mapping[int, Action]:
    """The actions of a table by the grammar's numbers for node types: numbers are read faster than names."""
    language = loaded_grammar(table.parser)
    assert language is not None, "a tree was made by it"
    actions = {**table.actions, "ERROR": _UNPARSED}
    numbered = ((language.id_for_node_kind(name, True), action) for name, action in actions.items())
    return {number: action for number, action in numbered if number is not None}


class Found(Struct):
    """What one walk found. ``names`` holds the byte offset of each symbol's name, in the symbols' order;
    ``clauses`` those of further clauses that were merged into a symbol.
    """

    symbols: list[Symbol] = []
    names: list[int] = []
    problem: str = ""
    clauses: list[int] = []


class _Context(NamedTuple):
    """Where children are looked at: index of the enclosing symbol, its qualified name, the kind of place."""

    parent: int
    scope: str
    place: int


class _Item(Struct):
    """A node on the stack, with what it gets from earlier siblings and from groups around it."""

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
        self._actions = _actions_by_kind(grammar)
        self._nested = re.compile(grammar.nested) if grammar.nested else None
        self._deadline = deadline
        self._stack: list[_Item] = []
        self._symbols: list[Symbol] = []
        self._names: list[int] = []
        self._clauses: list[int] = []
        self._seen: set[tuple[int, str]] = set()

    def run(self, root: Node) -> Found:
        problem = ""
        self._push(root, _Context(-1, "", MODULE))
        stack = self._stack
        visited = 0
        while stack:
            visited += 1
            if visited % CLOCK_EVERY == 0 and time.thread_time() > self._deadline:
                problem = "timeout"
                break
            if len(self._symbols) >= MAX_SYMBOLS:
                problem = "too_many_symbols"
                break
            item = stack.pop()
            action = item.action
            if isinstance(action, Through):
                self._through(item, action)
            elif isinstance(action, Group):
                self._group(item, action)
            else:
                for definition in islice(action(item.node, self._text, item.context.place), MAX_SYMBOLS):
                    self._add(item, definition)
        return self._found(problem)

    def _found(self, problem: str) -> Found:
        symbols, names = self._symbols, self._names
        starts = [symbol.start_byte for symbol in symbols]
        if any(map(gt, starts, starts[1:])):
            # A node can define several names, each with a body. Parents stay before children: they start no later, and
            # the sort is stable.
            order = sorted(range(len(symbols)), key=starts.__getitem__)
            place_of = {-1: -1, **{old: new for new, old in enumerate(order)}}
            symbols = [replace(symbols[old], parent=place_of[symbols[old].parent]) for old in order]
            names = [names[old] for old in order]
        return Found(symbols, names, problem, self._clauses)

    def _push(self, holder: Node, context: _Context) -> None:
        self._stack.extend(reversed(self._items(holder, context)))

    def _items(self, holder: Node, context: _Context) -> list[_Item]:
        get = self._actions.get
        items: list[_Item] = []
        prefix: Node | None = None
        doc = ""
        for child in holder.named_children:
            action = get(child.kind_id)
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
        context = item.context
        if action.place is not None and action.place != context.place:
            context = context._replace(place=action.place)
        if action.place != FUNCTION or action is _UNPARSED or self._may_define(item.node):
            self._push(item.node, context)

    def _may_define(self, body: Node) -> bool:
        """Whether the text of a function's inside can hold a definition at all."""
        nested = self._nested
        return nested is not None and nested.search(self._text, body.start_byte, body.end_byte) is not None

    def _group(self, item: _Item, group: Group) -> None:
        items = self._items(item.node, item.context)
        if len(items) == 1:
            only = items[0]
            only.signed_from = item.signed_from
            if only.signed_from < 0 and group.signed:
                only.signed_from = item.node.start_byte
            only.outer = item.outer or item.node
            only.prefix = item.prefix or only.prefix
            only.doc = item.doc or only.doc
        self._stack.extend(reversed(items))

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
        self._push(body, _Context(parent, qualified, place))

    def _symbol(self, item: _Item, definition: Definition, qualified: str) -> int:
        """Add (or extend) a symbol; returns the index that is its children's parent."""
        kind, context, symbols = definition.kind, item.context, self._symbols
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
        name_node = definition.at or item.node
        if self._grammar.merge and symbols and kind in ("fn", "method"):
            previous = symbols[-1]
            if previous.qualified_name == qualified and previous.parent == context.parent and previous.kind == kind:
                symbols[-1] = replace(previous, end_line=end_line, end_byte=end_byte)
                self._clauses.append(name_node.start_byte)
                return len(symbols) - 1
        symbols.append(
            Symbol(
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
        return len(symbols) - 1

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
            line = syntax_text.shortened(f"{line} {definition.name}")
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
        return syntax_text.doc_before(self._text, start, self._grammar.parser)


def walk(root: Node, text: bytes, grammar: Grammar, deadline: float, *, docs: bool) -> Found:
    """The definitions below ``root``. ``problem`` is "timeout" or "too_many_symbols" when the list is cut.

    Without ``docs`` no comments are looked for around them.
    """
    return Walk(text, grammar, deadline, docs=docs).run(root)

"""The vocabulary of grammar tables: what to do with which type of syntax node.

A table maps node types to actions; the walk (``findling.reading.syntax_walk``) interprets it. Tables know node and
field names of one grammar; they must not know files, lines, signatures or comments' texts beyond their markers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from operator import methodcaller
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from tree_sitter import Node

# Where a node is found: decides between fn and method, and whether a variable counts.
MODULE, TYPE, FUNCTION = 0, 1, 2

TYPE_KINDS = frozenset({"class", "struct", "enum", "trait", "interface"})


class Definition(Struct):
    """One name that a node defines. An empty ``kind`` makes no symbol, only a scope (``impl`` blocks, namespaces).

    ``qualifier`` is put before the name (receiver types, ``A::`` in ``A::b``). ``body`` is where the signature stops
    and, if ``place`` is not None, where the walk goes on. ``extent`` replaces the node as the symbol's range;
    ``until`` is the node that it ends with instead (a body that is the signature's neighbour).
    """

    kind: str
    name: str = ""
    at: Node | None = None
    qualifier: str = ""
    body: Node | None = None
    place: int | None = None
    extent: Node | None = None
    until: Node | None = None
    doc: str = ""


Definitions = Iterable[Definition]
Finder = Callable[["Node", bytes, int], Definitions]


class Through(Struct, frozen=True):
    """No definition itself; its children are looked at in the same place, or in ``place``."""

    place: int | None = None


class Group(Struct, frozen=True):
    """Like Through; but when exactly one child matters, that one takes the whole node as its range.

    ``signed``: the signature starts at this node too (``export``, ``const``, ``template``; not decorators).
    """

    signed: bool = True


class Attach(Struct, frozen=True):
    """A sibling that belongs to the definition after it: an attribute (default) or, by ``doc``, its documentation.

    ``doc`` returns the documentation's text, "" for an attribute, and None when the node is neither: then ``find``
    looks at it.
    """

    doc: Callable[[Node, bytes], str | None] | None = None
    find: Finder | None = None

    def __call__(self, node: Node, text: bytes, place: int) -> Definitions:
        return () if self.find is None else self.find(node, text, place)


Action = Through | Group | Attach | Finder

GROUP = Group()
DECORATED = Group(signed=False)
ATTRIBUTE = Attach()


def through(types: str, place: int | None = None) -> dict[str, Action]:
    """`Through` for each of some types of nodes."""
    return dict.fromkeys(types.split(), Through(place))


class Grammar(Struct, frozen=True, eq=False):
    """How one language's definitions look in the trees of ``parser`` (the name of a tree-sitter grammar).

    ``nested``: a pattern that a function's text must match to be looked into for definitions; empty: never look. It is
    fast where it begins with letters; with ``\\b`` in front it takes four times as long. ``annotation``: what opens an
    annotation at the start of a node (``@`` or ``[`` or ``#[``).
    ``merge``: neighbouring definitions of the same name are one (clauses). ``docstring``: the first string of a body
    is the documentation. ``braces``: missing definitions are searched by text where the tree has errors.
    ``conditional``: lines of a preprocessor are left out, always or when the grammar has no place for them.
    """

    parser: str
    actions: Mapping[str, Action]
    nested: bytes = b""
    annotation: bytes = b""
    merge: bool = False
    docstring: bool = False
    braces: bool = False
    conditional: Literal["", "on_error", "always"] = ""


def text_of(node: Node, text: bytes) -> str:
    return text[node.start_byte : node.end_byte].decode("utf-8", "replace")


def children_of_type(node: Node, *types: str) -> Iterator[Node]:
    return (child for child in node.named_children if child.type in types)


def child_of_type(node: Node, *types: str) -> Node | None:
    return next(children_of_type(node, *types), None)


def nth_child(node: Node, index: int) -> Node | None:
    """The named child at ``index`` (from the end when negative), None when there are fewer."""
    count = node.named_child_count
    index = index + count if index < 0 else index
    return node.named_child(index) if 0 <= index < count else None


def is_constant_name(name: str) -> bool:
    """Written as constants are by convention: at least two characters, no lower case."""
    return len(name) > 1 and name.isupper()


def value_kind(name: str) -> str:
    """Whether a name that holds a value is a constant or a variable, by how it is written."""
    return "constant" if is_constant_name(name) else "variable"


def place_inside(kind: str) -> int | None:
    """What kind of place the body of a definition of this kind is; None for one that is not looked into."""
    if kind in TYPE_KINDS:
        return TYPE
    if kind == "module":
        return MODULE
    return FUNCTION if kind in ("fn", "method") else None


Way = Callable[["Node"], "Node | None"]


@cache
def way(path: str) -> Way:
    """A function that leads from a node to one below it.

    Steps of a path are names of fields and, in angle brackets, types of children: ``clause/name``,
    ``<argument_list>/<argument>``. A number counts named children, from the end when negative. ``.`` is the node
    itself, ``..`` the one around it; an empty path leads nowhere. After a colon stand the types that the node of a
    field or a number may have (``name:identifier``), after ``|`` a path to try where the one before leads nowhere.
    """
    if not path:
        return lambda node: None
    first, _, other = path.partition("|")
    steps = [_step(step) for step in first.split("/")]
    if len(steps) == 1 and not other:
        return steps[0]

    def go(node: Node) -> Node | None:
        at: Node | None = node
        for step in steps:
            if at is None:
                break
            at = step(at)
        return way(other)(node) if at is None and other else at

    return go


def _step(step: str) -> Way:
    if step == ".":
        return lambda node: node
    if step == "..":
        return lambda node: node.parent
    if step.startswith("<"):
        types = tuple(step[1:-1].split())
        return lambda node: child_of_type(node, *types)
    first, _, only = step.partition(":")
    numbered = first.lstrip("-").isdigit()
    go: Way = partial(nth_child, index=int(first)) if numbered else methodcaller("child_by_field_name", first)
    if not only:
        return go

    def of_type(node: Node) -> Node | None:
        at = go(node)
        return at if at is not None and at.type in only.split() else None

    return of_type


def get(node: Node | None, path: str) -> Node | None:
    """The node at the end of a path (`way`), None where there is none."""
    return None if node is None else way(path)(node)


def named(
    kind: str,
    at: Node | None,
    text: bytes,
    *,
    qualifier: str = "",
    body: Node | None = None,
    place: int | None = None,
    strip: str = "",
) -> Iterator[Definition]:
    """The definition of the name that stands at a node; nothing without one."""
    if at is not None:
        yield Definition(kind, text_of(at, text).strip(strip), at, qualifier, body, place)


def imports(value: Node, name: str, text: bytes, call: re.Pattern[bytes], member: str) -> bool:
    """Whether a value only binds what is defined elsewhere: ``require("x")``, or ``a.name`` under the same name."""
    if call.match(text, value.start_byte):
        return True
    return value.type == member and text.endswith(b"." + name.encode(), value.start_byte, value.end_byte)


PLACES: Mapping[str, int | None] = {"module": MODULE, "type": TYPE, "function": FUNCTION, "none": None}
"""How a table names places."""


class Define(Struct, frozen=True, forbid_unknown_fields=True):
    """The common case: a node that defines a name. ``name`` and ``body`` are the paths to both (`way`).

    ``kind`` "value" is a constant or a variable, by how the name is written. ``before`` is put before the name;
    ``called`` is the name of nodes that have none.
    ``words``: what may stand before the name -> the kind that it then is. ``each``: the path to several that are
    declared together; name and body are theirs, and so is the range where there is more than one. ``strip``: characters
    around the name that are not part of it. ``local``: also counts inside functions. ``inside``: what the body is to
    the definitions in it (of `PLACES`), "none" where it holds none; by default the kind says it. ``unnamed``: the same
    where there is no name, and so no symbol.
    ``qualifier``: the path to what the name is qualified with. ``split``: what stands between the parts of a name, the
    last of which is the name itself. ``value``: the path to what the name gets; a node whose type is among ``values``
    is defined as that says.
    """

    kind: str
    name: str = "name"
    body: str = "body"
    each: str = ""
    strip: str = ""
    before: str = ""
    called: str = ""
    words: Mapping[str, str] = {}
    local: bool = True
    inside: str = ""
    unnamed: str = "none"
    qualifier: str = ""
    split: str = ""
    value: str = ""
    values: Mapping[str, str | Define] = {}

    def __call__(self, node: Node, text: bytes, place: int) -> Definitions:
        if place == FUNCTION and not self.local:
            return
        if self.value and (value := way(self.value)(node)) is not None and value.type in self.values:
            yield from define(self.values[value.type])(node, text, place)
            return
        ones = self._declared(node) if self.each else (node,)
        kind = ""
        for one in ones:
            at, body = way(self.name)(one), way(self.body)(one)
            if at is None and self.called:
                at = one
            if at is not None:
                kind = kind or self._kind(text[node.start_byte : at.start_byte])  # the first name's is that of all
                inside = PLACES[self.inside] if self.inside else place_inside(kind)
                name = self.called or self.before + text_of(at, text).strip(self.strip)
                qualifier, name = self._qualified(one, name, text) if self.qualifier or self.split else ("", name)
                own = value_kind(name) if kind == "value" else kind
                yield Definition(own, name, at, qualifier, body, inside, one if len(ones) > 1 else None)
            elif self.unnamed != "none":
                yield Definition("", body=body, place=PLACES[self.unnamed])

    def _qualified(self, node: Node, name: str, text: bytes) -> tuple[str, str]:
        if self.split:
            qualifier, _, name = name.rpartition(self.split)
            return qualifier.replace(self.split, "."), name
        scope = way(self.qualifier)(node)
        return (text_of(scope, text).replace("::", ".").strip(f".{self.strip}") if scope is not None else ""), name

    def _kind(self, before: bytes) -> str:
        return next(
            (kind for word, kind in self.words.items() if re.search(word.encode(), before, re.DOTALL)), self.kind
        )

    def _declared(self, node: Node) -> Sequence[Node]:
        before, _, last = self.each.rpartition("/")
        holder = way(before or ".")(node)
        if holder is None:
            return ()
        if last.startswith("<"):
            return list(children_of_type(holder, *last[1:-1].split()))
        return holder.children_by_field_name(last)


@cache
def _simple(kind: str) -> Define:
    return Define(kind)


def define(said: str | Define) -> Define:
    """A row of a table: a kind alone is a name and a body in the fields of these names."""
    return _simple(said) if isinstance(said, str) else said

"""The words in which a language's grammar table is written: what to do with which kind of syntax node.

A table maps node types to actions; the walk (``findling.reading.syntax_walk``) interprets it. Tables know node and
field names of one grammar; they must not know files, lines, signatures or comments' texts beyond their markers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tree_sitter import Node

# Where a node is found: decides between fn and method, and whether a variable counts.
MODULE, TYPE, FUNCTION = 0, 1, 2

TYPE_KINDS = frozenset({"class", "struct", "enum", "trait", "interface"})


@dataclass(frozen=True, slots=True)
class Definition:
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


Finder = Callable[["Node", bytes, int], Iterable[Definition]]


@dataclass(frozen=True, slots=True)
class Define:
    """The common case: the name and the body are fields of the node. ``local``: also counts inside functions."""

    kind: str
    name: str = "name"
    body: str = "body"
    local: bool = True


@dataclass(frozen=True, slots=True)
class Through:
    """No definition itself; its children are looked at in the same place, or in ``place``."""

    place: int | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Like Through; but when exactly one child matters, that one takes the whole node as its range.

    ``signed``: the signature starts at this node too (``export``, ``const``, ``template``; not decorators).
    """

    signed: bool = True


@dataclass(frozen=True, slots=True)
class Attach:
    """A sibling that belongs to the definition after it: an attribute (default) or, by ``doc``, its documentation.

    ``doc`` returns the documentation's text, "" for an attribute, and None when the node is neither: then ``find``
    looks at it.
    """

    doc: Callable[[Node, bytes], str | None] | None = None
    find: Finder | None = None


Action = Define | Through | Group | Attach | Finder

THROUGH = Through()
GROUP = Group()
DECORATED = Group(signed=False)
ATTRIBUTE = Attach()


@dataclass(frozen=True, slots=True)
class Comments:
    """Markers of comments that document what follows; longer markers first."""

    line: tuple[bytes, ...] = ()
    block: tuple[tuple[bytes, bytes], ...] = ()


C_COMMENTS = Comments(line=(b"///", b"//"), block=((b"/*", b"*/"),))
HASH_COMMENTS = Comments(line=(b"#",))
SEMICOLON_COMMENTS = Comments(line=(b";",))


@dataclass(frozen=True, slots=True)
class Grammar:
    """How one language's definitions look in the trees of ``parser`` (the name of a tree-sitter grammar).

    ``nested``: a regular expression over a function's text without which no definition can be inside it; empty: never
    look inside functions. ``annotation``: what opens an annotation at the start of a node (``@`` or ``[`` or ``#[``).
    ``merge``: neighbouring definitions of the same name are one (clauses). ``docstring``: the first string of a body
    is the documentation. ``braces``: missing definitions are searched by text where the tree has errors.
    ``conditional``: lines of a preprocessor are left out, always or when the grammar has no place for them.
    """

    parser: str
    actions: Mapping[str, Action]
    comments: Comments = field(default_factory=Comments)
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


def named(kind: str, name_type: str, body_type: str = "", place: int | None = None) -> Finder:
    """For grammars without fields: the first child of a type is the name, the first of another the body."""

    def find(node: Node, text: bytes, where: int) -> Iterable[Definition]:
        name = child_of_type(node, *name_type.split())
        if name is None:
            return ()
        body = child_of_type(node, *body_type.split()) if body_type else None
        inside = place if place is not None else place_inside(kind)
        return (Definition(kind, text_of(name, text), name, body=body, place=inside),)

    return find


def place_inside(kind: str) -> int | None:
    """What the inside of a definition of this kind is to what stands there."""
    if kind in TYPE_KINDS:
        return TYPE
    if kind == "module":
        return MODULE
    return FUNCTION if kind in ("fn", "method") else None

"""Where names are used, as queries over syntax trees: what the captures of a query mean is said in `UseGrammar`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from findling.reading.syntax_grammars.model import get, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

Imported = tuple[str, str, str]
"""Name in the module ('' for the module itself, ``*`` for all), module as written, name in this file."""


class UseGrammar(Struct, frozen=True, eq=False):
    """How uses of names look in the trees of one grammar. The captures of ``query``:

    - ``call``: a call, whose callee is `callee` and whose arguments are the field of that name; ``unpacked``: arguments
      whose number nobody can tell;
    - ``member``: ``owner.name``; ``name``: an identifier where a value is asked for;
    - ``base``, ``decorator``, ``type``: the name or member that a class inherits, that decorates, that is a type;
    - ``target``: an assignment or a typed parameter (`value`); ``bound``: a name that gets a value in another way;
    - ``return``: the annotated type of what a function gives; ``import``: an import (`imports`).

    ``members``: node type -> the field of the owner; ``through``: node types that stand for their only child, or for
    the field named; ``literals``: node type -> how a value of that type is written.
    """

    query: str
    callee: Callable[[Node], Node | None]
    imports: Callable[[Node, bytes], Iterator[Imported]]
    value: Callable[[Node], tuple[Node | None, Node | None, Node | None]]
    members: Mapping[str, str]
    calls: frozenset[str]
    subscripts: Mapping[str, str]
    through: frozenset[str]
    literals: Mapping[str, str]


# --- Python -----------------------------------------------------------------------------------------------------------

_PYTHON = """
(call) @call
(argument_list [(list_splat) (dictionary_splat)]) @unpacked
(attribute) @member
(argument_list [(identifier) (list_splat (identifier))] @name)
(keyword_argument value: (identifier) @name)
(pair value: (identifier) @name)
(list (identifier) @name)
(tuple (identifier) @name)
(set (identifier) @name)
(expression_list (identifier) @name)
(return_statement (identifier) @name)
(yield (identifier) @name)
(assignment right: (identifier) @name)
(default_parameter value: (identifier) @name)
(typed_default_parameter value: (identifier) @name)
(except_clause value: (identifier) @name)
(except_clause value: (as_pattern . (identifier) @name))
(raise_statement (identifier) @name)
(comparison_operator (identifier) @name)
(boolean_operator (identifier) @name)
(not_operator (identifier) @name)
(binary_operator (identifier) @name)
(conditional_expression (identifier) @name)
(subscript (identifier) @name)
(for_statement right: (identifier) @name)
(for_in_clause right: (identifier) @name)
(with_item value: (identifier) @name)
(class_pattern (dotted_name (identifier) @name))
(if_statement condition: (identifier) @name)
(lambda body: (identifier) @name)
(class_definition superclasses: (argument_list [(identifier) (attribute)] @base))
(class_definition superclasses: (argument_list (subscript value: [(identifier) (attribute)] @base)))
(decorator [(identifier) (attribute)] @decorator)
(decorator (call function: [(identifier) (attribute)] @decorator))
(type [(identifier) (attribute)] @type)
(type (binary_operator (identifier) @type))
(generic_type (identifier) @type)
(assignment left: [(identifier) (attribute)]) @target
(typed_parameter) @target
(typed_default_parameter) @target
(named_expression) @target
(as_pattern) @target
(parameters (identifier) @bound)
(lambda_parameters (identifier) @bound)
(default_parameter name: (identifier) @bound)
(list_splat_pattern (identifier) @bound)
(dictionary_splat_pattern (identifier) @bound)
(pattern_list (identifier) @bound)
(tuple_pattern (identifier) @bound)
(for_statement left: (identifier) @bound)
(for_in_clause left: (identifier) @bound)
(function_definition name: (identifier) return_type: (type) @return)
(import_statement) @import
(import_from_statement) @import
"""


def _python_imports(node: Node, text: bytes) -> Iterator[Imported]:
    module = get(node, "module_name")
    from_module = "" if module is None else "".join(text_of(module, text).split())
    if module is not None and node.named_children[-1].type == "wildcard_import":
        yield "*", from_module, "*"
    for each in node.children_by_field_name("name"):
        at, alias = (get(each, "name"), get(each, "alias")) if each.type == "aliased_import" else (each, None)
        if at is None:
            continue
        name = "".join(text_of(at, text).split())
        if module is not None:
            yield name, from_module, name if alias is None else text_of(alias, text)
        elif alias is not None:
            yield "", name, text_of(alias, text)
        else:  # ``import a.b`` gives ``a``
            yield "", name, name


def _python_value(node: Node) -> tuple[Node | None, Node | None, Node | None]:
    if node.type == "typed_parameter":
        return node.named_child(0), get(node, "type"), None
    if node.type == "as_pattern":
        target = get(node, "alias")
        at = None if target is None else target.named_child(0)
        if node.parent is not None and node.parent.type == "except_clause":  # an instance, as of an annotation
            return at, node.named_child(0), None
        return at, None, node.named_child(0)
    if node.type == "assignment":
        return get(node, "left"), get(node, "type"), get(node, "right")
    return get(node, "name"), get(node, "type"), get(node, "value")


PYTHON = UseGrammar(
    _PYTHON,
    callee=lambda call: call.child(0),
    imports=_python_imports,
    value=_python_value,
    members={"attribute": "object"},
    calls=frozenset({"call"}),
    subscripts={"subscript": "value"},
    through=frozenset({"await", "parenthesized_expression"}),
    literals={
        "string": "str()",
        "concatenated_string": "str()",
        "list": "list()",
        "list_comprehension": "list()",
        "dictionary": "dict()",
        "dictionary_comprehension": "dict()",
        "set": "set()",
        "set_comprehension": "set()",
        "tuple": "tuple()",
        "integer": "int()",
        "float": "float()",
    },
)

USES: Mapping[str, UseGrammar] = {"python": PYTHON}
"""By language."""

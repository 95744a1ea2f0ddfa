"""Where names are used, as syntax tells it: kinds, receivers, arguments, what is around, and the imports in force."""

from __future__ import annotations

from findling.model.reading import MOST_ARGUMENTS, MOST_USES, Use
from findling.reading import syntax

PYTHON = b"""\
import os.path
import json as js
from .store import Store as S, load
from .all import *


@load.cached(1)
class Box(S, Generic[int]):
    size: int = 3

    def add(self, item: Item, *rest) -> S[int]:
        with S(item) as opened:
            opened.put(item, size=2)
        self.store = S(item)
        self.store.shelf().put(*rest)
        return make(load, self.size)
"""


def uses(text: bytes, language: str = "python") -> list[Use]:
    return list(syntax.parse(text, language).uses)


def of_kind(kind: str, text: bytes = PYTHON) -> list[tuple[str, str, int]]:
    return [(use.receiver, use.name, use.line) for use in uses(text) if use.kind == kind]


def test_imports_have_module_name_and_the_name_here() -> None:
    found = [(use.receiver, use.name, use.value) for use in uses(PYTHON) if use.kind == "import"]
    assert found == [
        ("os.path", "", "os.path"),
        ("json", "", "js"),
        (".store", "Store", "S"),
        (".store", "load", "load"),
        (".all", "*", "*"),
    ]


def test_calls_have_receiver_and_number_of_arguments() -> None:
    calls = [(use.receiver, use.name, use.arguments, use.line) for use in uses(PYTHON) if use.kind == "call"]
    assert calls == [
        ("", "S", 1, 12),
        ("opened", "put", 2, 13),
        ("", "S", 1, 14),
        ("self.store", "shelf", 0, 15),
        ("self.store.shelf()", "put", MOST_ARGUMENTS, 15),
        ("", "make", 2, 16),
    ]


def test_bases_decorators_types_and_reads() -> None:
    assert of_kind("inherit") == [("", "S", 8), ("", "Generic", 8)]
    assert of_kind("decorate") == [("load", "cached", 7)]
    assert ("", "Item", 11) in of_kind("type")
    assert {("", "load", 16), ("self", "size", 16)} <= set(of_kind("read"))


def test_writes_say_what_a_name_holds() -> None:
    written = {(use.receiver, use.name): use.value for use in uses(PYTHON) if use.kind == "write"}
    assert written[("", "opened")] == "S()"
    assert written[("self", "store")] == "S()"
    assert [use.value for use in uses(PYTHON) if use.kind == "return"] == ["S[int]"]


def test_a_use_knows_the_definition_around_it() -> None:
    found = syntax.parse(PYTHON, "python")
    around = {use.name: found.symbols[use.symbol].qualified_name for use in found.uses if use.symbol >= 0}
    assert around["make"] == "Box.add"
    assert around["cached"] == "Box"
    assert [use.symbol for use in found.uses if use.kind == "import"] == [-1] * 5


def test_names_that_mean_nothing_of_the_project_are_left_out() -> None:
    text = b"def f(a):\n    # f(a)\n    print(len(a), 'f(a)')\n    f(a)\n    return [f]\n"
    assert [(use.kind, use.name) for use in uses(text)] == [("call", "f"), ("read", "f")]


def test_a_local_name_hides_a_function_in_all_scopes_that_bind_it_and_nowhere_else() -> None:
    text = (
        b"def go(): ...\n"
        b"def outer(go):\n    go()\n    def inner(go):\n        go()\n    go()\n"
        b"go()\n"
        b"def next(go): go()\n"
        b"def last(): go()\n"
    )
    assert [use.line for use in uses(text) if (use.kind, use.name) == ("call", "go")] == [7, 9]


def test_a_syntax_error_costs_only_its_own_lines() -> None:
    text = b"def one():\n    two()\n\ndef two():\n    x = = one()\n\ndef three():\n    one()\n"
    assert {(use.name, use.line) for use in uses(text) if use.kind == "call"} >= {("two", 2), ("one", 8)}


def test_a_generated_file_keeps_its_first_uses() -> None:
    text = b"def f():\n    pass\n\n" + b"f()\n" * (MOST_USES + 2_000)
    found = uses(text)
    assert len(found) == MOST_USES
    assert (found[0].line, found[-1].line) == (4, MOST_USES + 3)


def test_long_chains_and_receivers_are_bounded() -> None:
    chain = b"def f():\n    x" + b".a(1)" * 3_000 + b"\n"
    assert all(len(use.receiver) <= 80 for use in uses(chain))
    assert {use.receiver for use in uses(chain)} >= {"x", "x.a()", "?"}
    assert uses(b"def f():\n    (a or b).go(" + b"[" * 5_000 + b"]" * 5_000 + b")\n")[0].receiver == "?"


def test_names_in_other_letters() -> None:
    found = uses("def größe(): ...\ndef f(maß):\n    größe()\n    maß.größe()\n".encode())
    assert [(use.receiver, use.name, use.line) for use in found] == [("", "größe", 3), ("maß", "größe", 4)]


def test_languages_without_uses_have_none() -> None:
    assert uses(b"function f() f() end\n", "lua") == []

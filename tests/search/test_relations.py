"""What belongs to a definition, and the calls that connect several."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from findling.model.languages import LANGUAGES
from findling.model.rows import FileRow
from findling.search.edges import Definition
from findling.search.flow import asks_for_a_flow
from findling.search.relations import MOST_CALLERS, Relating
from tests.in_memory import index_of

FILES = {
    "shop/base.py": "class Store:\n    def put(self, item):\n        raise NotImplementedError\n",
    "shop/disk.py": (
        "from shop.base import Store\n"
        "from shop.words import clean\n"
        "class Disk(Store):\n"
        "    def put(self, item):\n"
        "        item = clean(item)\n"
        "        return self.write(item)\n"
        "    def write(self, item): ...\n"
    ),
    "shop/words.py": "def clean(item):\n    return strip(item)\ndef strip(item): ...\n",
    "shop/run.py": (
        "from shop.disk import Disk\n"
        "def main(items):\n"
        "    disk = Disk()\n"
        "    register(disk.put)\n"
        "    for item in items:\n"
        "        disk.put(item)\n"
        "def register(hook): ...\n"
    ),
    "tests/test_disk.py": "from shop.disk import Disk\ndef test_put():\n    Disk().put(1)\n    Disk().put(2)\n",
    "web/sync/client.py": "class Client:\n    def fetch(self, url):\n        a = 1\n        return a\n",
    "web/async/client.py": "class AsyncClient:\n    async def fetch(self, url):\n        a = 1\n        return a\n",
    "api/jdbc/JdbcLink.py": "class JdbcLink:\n    def open(self, url):\n        a = 1\n        return a\n",
    "api/r2dbc/R2dbcLink.py": "class R2dbcLink:\n    def open(self, url):\n        a = 1\n        return a\n",
    "other/place/link.py": "class Link:\n    def open(self, url):\n        a = 1\n        return a\n",
}


def relating(files: dict[str, str]) -> tuple[Relating, dict[str, Definition]]:
    index = index_of(files)

    def lines(file: FileRow) -> Sequence[str]:
        return files[file.path].split("\n")

    every = {
        f"{file.path}:{symbol.qualified_name}": Definition(file, symbol)
        for file in index.listing()
        for symbol in index.symbols(file.blob_id)
    }
    return Relating(index, lines), every


def told(files: dict[str, str], name: str, chars: int = 5_000) -> list[tuple[str, str, int]]:
    found, every = relating(files)
    return [(each.role, each.path, each.line) for each in found.of(every[name], chars).found]


def test_it_is_told_who_calls_a_definition_and_what_it_calls() -> None:
    assert told(FILES, "shop/disk.py:Disk.put") == [
        ("overrides", "shop/base.py", 2),
        ("called_by", "shop/run.py", 6),
        ("passed_by", "shop/run.py", 4),
        ("calls", "shop/words.py", 1),
        ("calls", "shop/disk.py", 7),
    ]
    assert ("overridden_by", "shop/disk.py", 4) in told(FILES, "shop/base.py:Store.put")
    assert ("inherited_by", "shop/disk.py", 3) in told(FILES, "shop/base.py:Store")


def test_lines_and_names_are_shown_with_the_grade_of_a_likely_edge_and_tests_are_counted() -> None:
    found, every = relating(FILES)
    related = found.of(every["shop/disk.py:Disk.put"], 5_000)
    assert related.in_tests == 2
    assert [each.marked for each in related.found[1:4]] == [
        "disk.put(item) [likely]",
        "register(disk.put) [likely]",
        "clean(item): return strip(item)",
    ]


def test_a_short_function_that_is_called_is_told_whole_and_so_are_lines_that_write_deciding_fields() -> None:
    files = {
        "pool.py": (
            "class Pool:\n    def __init__(self):\n        self.size = 0\n        self.name = ''\n"
            "    def add(self):\n        self.size += 1\n"
            "    def full(self):\n        if self.size > limit():\n            return self.name\n"
            "        return clean(self)\n"
            'def limit() -> int:\n    """How many."""\n    return 3\n'
            "def clean(pool):\n    pool.close()\n    pool.open()\n    return pool\n"
        )
    }
    found, every = relating(files)
    told = [(each.role, each.line, each.text) for each in found.of(every["pool.py:Pool.full"], 5_000).found]
    assert told == [
        ("written_by", 6, "self.size += 1"),
        ("written_by", 3, "self.size = 0"),
        ("written_by", 4, "self.name = ''"),
        ("calls", 11, "limit() -> int: return 3"),
        ("calls", 14, "clean(pool)"),
    ]


def test_what_does_not_fit_is_counted() -> None:
    many = {f"use{n}.py": "from shop.words import clean\nclean(1)\n" for n in range(9)}
    found, every = relating({**FILES, **many})
    related = found.of(every["shop/words.py:clean"], 5_000)
    assert len([each for each in related.found if each.role == "called_by"]) == MOST_CALLERS
    assert related.more == 10 - MOST_CALLERS
    shorter = found.of(every["shop/words.py:clean"], 60)
    assert len(shorter.found) + shorter.more == len(related.found) + related.more


def test_a_twin_differs_in_one_word_throughout_or_is_asynchronous() -> None:
    assert ("same_in", "web/async/client.py", 2) in told(FILES, "web/sync/client.py:Client.fetch")
    assert ("same_in", "api/r2dbc/R2dbcLink.py", 2) in told(FILES, "api/jdbc/JdbcLink.py:JdbcLink.open")
    assert "same_in" not in {role for role, *_ in told(FILES, "other/place/link.py:Link.open")}
    text = "def open(url):\n    a = 1\n    return a\n"
    family = {f"api/{name}/{name}.py": text for name in ("one", "two", "six", "ten", "few")}
    assert "same_in" not in {role for role, *_ in told(family, "api/one/one.py:open")}


def test_a_chain_has_the_places_in_the_order_of_calls() -> None:
    found, every = relating(FILES)
    steps = found.chain([every["shop/words.py:strip"], every["shop/disk.py:Disk.put"]])
    assert [(each.name, each.depth, each.called_at) for each in steps] == [
        ("Disk.put", 0, 0),
        ("clean", 1, 5),
        ("strip", 2, 2),
    ]
    assert found.chain([every["shop/words.py:strip"], every["web/sync/client.py:Client.fetch"]]) == ()


def test_a_chain_begins_at_a_caller_that_two_places_share() -> None:
    files = {"a.py": "def one(): ...\ndef two(): ...\ndef both():\n    two()\n    one()\n"}
    found, every = relating(files)
    steps = found.chain([every["a.py:one"], every["a.py:two"]])
    assert [(each.name, each.depth) for each in steps] == [("both", 0), ("two", 1), ("one", 1)]


METHODS = {
    "csharp": "class A : B {\n  public int Get(int x) {\n    var a = 1;\n    return Put(x);\n  }\n}\n",
    "kotlin": "class A : B() {\n  fun get(x: Int): Int {\n    val a = 1\n    return put(x)\n  }\n}\n",
    "php": "<?php\nclass A extends B {\n  function get($x) {\n    $a = 1;\n    return put($x);\n  }\n}\n",
    "ruby": "class A < B\n  def get(x)\n    a = 1\n    put(x)\n  end\nend\n",
    "swift": "class A: B {\n  func get(x: Int) -> Int {\n    let a = 1\n    return put(x)\n  }\n}\n",
    "rust": "struct A;\nimpl A {\n  fn get(x: i32) -> i32 {\n    let a = 1;\n    put(x)\n  }\n}\n",
    "scala": "class A extends B {\n  def get(x: Int): Int = {\n    val a = 1\n    put(x)\n  }\n}\n",
    "lua": "local A = {}\nfunction A:get(x)\n  local a = 1\n  return put(x)\nend\n",
}


@pytest.mark.parametrize("language", METHODS)
def test_a_method_of_a_language_whose_uses_are_not_followed_has_no_relations_and_does_no_harm(language: str) -> None:
    relating_, every = relating({f"a/one{LANGUAGES[language].extensions[0]}": METHODS[language]})
    assert any(definition.symbol.kind in ("method", "fn") for definition in every.values())
    for definition in every.values():
        relating_.of(definition, 5_000)
    relating_.chain(list(every.values()))


def test_recursion_ends() -> None:
    files = {"a.py": "def one(n):\n    return two(n)\ndef two(n):\n    return one(n) + two(n)\n"}
    found, every = relating(files)
    assert [each.name for each in found.chain([every["a.py:two"], every["a.py:one"]])] == ["two", "one"]
    assert found.of(every["a.py:two"], 1_000).found[0].line == 2


def test_a_question_how_something_comes_about_asks_for_a_flow() -> None:
    assert asks_for_a_flow("How does a retry get from the queue to the worker?")
    assert asks_for_a_flow("what happens if the owner still exists")
    assert not asks_for_a_flow("class Client")


def test_a_name_that_several_imports_give_is_likely_at_the_most() -> None:
    alpha = "def alpha(x):\n    y = x\n    return y\n"
    imports = "try:\n    from a import alpha\nexcept ImportError:\n    from b import alpha\n\ndef f():\n    alpha(1)\n"
    relating_, every = relating({"a.py": alpha, "b.py": alpha, "c.py": imports})
    (call,) = (edge for edge in relating_.callers(every["a.py:alpha"]).found if edge.kind == "call")
    assert (call.grade, call.why) == ("likely", "imported from several places")


@pytest.mark.parametrize(
    ("manifest", "text"),
    [
        ("go.mod", "module \n\nmodule\n"),
        ("tsconfig.json", "[\n" * 5_000),
        ("tsconfig.json", '{"compilerOptions":\n' * 5_000),
        ("tsconfig.json", "/* \n" * 40_000),
        ("tsconfig.json", (50 * '"\\' + "\n") * 1_000),
        ("package.json", ('"' * 99 + "\n") * 1_000),
        ("package.json", ("," + " " * 90 + "\n") * 1_500),
    ],
)
def test_a_manifest_that_is_none_holds_nothing_up(manifest: str, text: str) -> None:
    """It would take minutes, or end in an error, if it were read as trustingly as the project's own tools do."""
    files = {
        manifest: text,
        "main.go": 'package main\nimport "x/y"\nfunc main() { y.Run() }\n',
        "a.ts": "import { run } from '@/b'\nexport function main() {\n  const a = 1\n  return run(a)\n}\n",
        "b.ts": "export function run(a) {\n  const b = a\n  return b\n}\n",
    }
    relating_, every = relating(files)
    for definition in every.values():
        relating_.of(definition, 5_000)


def test_code_calls_nothing_of_tests() -> None:
    files = {
        "src/clock.py": "def tick(timer):\n    timer.utc_now()\n",
        "tests/test_clock.py": "class Fake:\n    def utc_now(self): ...\ndef test_it(timer):\n    timer.utc_now()\n",
    }
    assert told(files, "src/clock.py:tick") == []
    assert ("calls", "tests/test_clock.py", 2) in told(files, "tests/test_clock.py:test_it")

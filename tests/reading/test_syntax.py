"""Signatures, documentation, uses of a name, awkward constructs and hostile text."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_syntax_samples import EXPECTED, sample

from findling.reading import syntax, syntax_tree, syntax_walk
from findling.reading.parsed import Symbol
from findling.reading.syntax_walk import MAX_SYMBOLS
from sizes import size


def symbols_of(text: str, language: str) -> dict[str, Symbol]:
    return {symbol.qualified_name: symbol for symbol in syntax.parse(text.encode(), language).symbols}


def names_of(text: str, language: str) -> list[tuple[str, str]]:
    return [(symbol.kind, symbol.qualified_name) for symbol in syntax.parse(text.encode(), language).symbols]


# --- signatures and documentation


@pytest.mark.parametrize(
    ("language", "name", "signature", "doc"),
    [
        ("python", "fetch", "async def fetch(url: str, timeout: float = 1.0) -> bytes", "Fetch the URL."),
        ("python", "backoff", "def backoff(attempt: int, *, base: float = 2.0) -> float",
         "Called for every attempt. Returns the delay."),
        ("python", "Client", "class Client(Base, metaclass=Meta)", "A client."),
        ("python", "MAX_RETRIES", "MAX_RETRIES: int = 5", ""),
        ("javascript", "add", "export function add(a, b)", "Adds two numbers."),
        ("typescript", "Service", "export abstract class Service<T> implements Options", ""),
        ("typescript", "Service.find", "public async find(id: string): Promise<T | undefined>", "Finds by id."),
        ("go", "Server", "type Server struct", "Server answers requests."),
        ("go", "NewServer", "func NewServer(addr string) *Server", "NewServer makes one."),
        ("go", "List.Push", "func (l List[T]) Push(v T) (n int, err error)", ""),
        ("go", "StateNew", "StateNew = iota", ""),
        ("rust", "Point", "pub struct Point<T>", "A point."),
        ("rust", "inner.run", "pub async fn run<F>(f: F) -> u8 where F: Fn(),", ""),
        ("java", "Joiner", "public final class Joiner<T> extends Base implements Runnable", "Joins strings."),
        ("java", "Joiner.run", "public void run()", "Runs it."),
        ("java", "Joiner.total", "private int count, total", ""),
        ("c", "add", "static inline int add(int a, int b)", "Adds two numbers. Never fails."),
        ("c", "point_t", "typedef struct point_t", ""),
        ("cpp", "geo.max_of", "template <typename T, typename U = int> T max_of(T a, T b)", ""),
        ("cpp", "geo.Shape", "class Shape : public Base", "A shape. Abstract."),
        ("csharp", "Writer.WriteAsync", "public override async Task<int> WriteAsync(T value, int depth = 0)",
         "Writes a value."),
        ("ruby", "Outer.User", "class User < ApplicationRecord", "A user."),
        ("php", "StreamHandler", "final class StreamHandler extends AbstractHandler implements Resettable",
         "Stores to a stream."),
        ("bash", "usage", "usage()", "Prints usage."),
        ("lua", "M.setup", "function M.setup(config)", "Set up the module."),
        ("kotlin", "Table", "open class Table<T>(val name: String) : Base(), Closeable", "A table."),
        ("scala", "Chain.map", "final def map[B](f: A => B): Chain[B]", ""),
        ("swift", "Request.send", "public func send<T>(_ value: T, to url: URL) async throws -> T", ""),
        ("haskell", "decode", "decode :: String -> Maybe Value", "Decodes text."),
        ("elixir", "Ecto.Sample.start", "def start(opts \\\\ [])", "Starts it."),
        ("zig", "Param", "pub const Param", "A parameter."),
        ("clojure", "add", "(defn add", "Adds two numbers."),
        ("julia", "Geometry.area", "function area(s::Shape)::Float64", "Area of a shape."),
        ("graphql", "User", 'type User implements Node @key(fields: "id")', "A user."),
        ("ocaml", "shape", "type shape", "A shape."),
    ],
)  # fmt: skip
def test_signature_is_the_head_on_one_line_and_doc_the_first_paragraph(
    language: str, name: str, signature: str, doc: str
) -> None:
    found = {symbol.qualified_name: symbol for symbol in syntax.parse(sample(language), language).symbols}[name]
    assert (found.signature, found.doc) == (signature, doc)


def test_name_line_is_where_the_name_stands() -> None:
    found = symbols_of("@app.route('/')\n@cached\ndef index():\n    pass\n", "python")["index"]
    assert (found.start_line, found.name_line, found.end_line) == (1, 3, 4)


def test_signature_and_doc_are_bounded() -> None:
    text = "def f(" + ", ".join(f"argument_{i}" for i in range(500)) + '):\n    """' + "word " * 500 + '"""\n'
    found = symbols_of(text, "python")["f"]
    assert found.signature.endswith("…") and 295 < len(found.signature) <= 300
    assert 400 <= len(found.doc) <= 500


@pytest.mark.parametrize(
    ("text", "language", "name"),
    [
        ("def f(" + "argument, " * 40 + "last):\n    pass\n", "python", "f"),
        ("NAMES = [" + "1, " * 200 + "]\n", "python", "NAMES"),
        ("int f(" + "int argument, " * 40 + "int last) {\n}\n", "c", "f"),
    ],
)
def test_a_signature_that_is_cut_says_so(text: str, language: str, name: str) -> None:
    found = symbols_of(text, language)[name]
    assert found.signature.endswith("…")
    assert not symbols_of(text.replace("argument, ", "").replace("1, ", ""), language)[name].signature.endswith("…")


def test_licence_and_directives_are_no_documentation() -> None:
    go = "// Copyright.\n\n//go:build linux\n//nolint:all\nfunc f() {}\n"
    assert symbols_of("package p\n" + go, "go")["f"].doc == ""
    assert symbols_of("#!/bin/sh\nf() { :; }\n", "bash")["f"].doc == ""


def test_comment_after_code_on_the_line_before_is_not_the_doc() -> None:
    assert symbols_of("int a; /* about a */\nint f(void) { return 0; }\n", "c")["f"].doc == ""


# --- constructs that are easily missed


def test_python_definitions_in_branches_and_functions() -> None:
    text = "def a():\n    if x:\n        for y in z:\n            def b():\n                class C: pass\n"
    assert names_of(text, "python") == [("fn", "a"), ("fn", "a.b"), ("class", "a.b.C")]


def test_locals_are_not_symbols() -> None:
    assert names_of("function f() { const a = 1; var b = () => 2; let c; }", "javascript") == [
        ("fn", "f"),
        ("fn", "f.b"),
    ]
    assert names_of("fn f() { const A: u8 = 1; static B: u8 = 2; let c = 3; }", "rust") == [("fn", "f")]


def test_bindings_of_imports_are_not_definitions() -> None:
    text = "const a = require('a');\nvar b = require('b').b;\nconst c = d.c;\nconst { e } = f;\nconst g = d.h;\n"
    assert names_of(text, "javascript") == [("constant", "g")]
    assert names_of('const std = @import("std");\nconst mem = std.mem;\nconst a = 1;\n', "zig") == [("constant", "a")]
    assert names_of("local a = require('a')\nlocal insert = table.insert\nlocal b = 1\n", "lua") == [("variable", "b")]


def test_express_style_assignments() -> None:
    text = (
        "exports = module.exports = createApplication;\nexports.Router = Router;\n"
        "req.get =\nreq.header = function header(name) {};\napp.use = function use(fn) {};\n"
        "module.exports = function named() {};\nexports.version = '1';\n"
        "defineGetter(req, 'protocol', function protocol() {});\n"
        "proto.handle = wrap(function inner() {});\n"
    )
    assert names_of(text, "javascript") == [
        ("fn", "req.get"),
        ("fn", "req.header"),
        ("fn", "app.use"),
        ("fn", "named"),
        ("variable", "version"),
        ("fn", "protocol"),
        ("fn", "inner"),
    ]


def test_default_exported_object_is_an_interface() -> None:
    text = "export default {\n  name: 'x',\n  data() { return {} },\n  methods: { go: () => 1 },\n};\n"
    assert names_of(text, "javascript") == [("method", "data"), ("method", "methods.go")]


def test_several_names_of_one_declaration() -> None:
    found = symbols_of("int a = 1, *b, c[3], f(void);\n", "c")
    assert {name: symbol.kind for name, symbol in found.items()} == {
        "a": "variable", "b": "variable", "c": "variable", "f": "fn",
    }  # fmt: skip


def test_definition_with_variables_of_its_type() -> None:
    assert names_of("struct point { int x; } origin, *last;\n", "c") == [
        ("struct", "point"),
        ("variable", "origin"),
        ("variable", "last"),
    ]


def test_out_of_line_members_of_templates() -> None:
    text = "template <typename T>\nvoid ns::Box<T>::put(T v) {}\nns::Box<int>::operator bool() const { return 1; }\n"
    assert names_of(text, "cpp") == [("method", "ns.Box.put"), ("method", "ns.Box.operator bool")]


def test_forward_declarations_are_not_definitions() -> None:
    assert names_of("struct a;\nenum b;\nextern int c;\n#ifndef X_H\n#define X_H\n#endif\n", "c") == []
    assert names_of("mod other;\nuse a::b;\n", "rust") == []


def test_perl_package_names_what_follows() -> None:
    text = "package A::B;\nuse strict;\n\nsub open_it {\n  1;\n}\n\npackage C;\n\nsub close_it {\n  2;\n}\n"
    assert names_of(text, "perl") == [
        ("module", "A.B"),
        ("fn", "A.B.open_it"),
        ("module", "C"),
        ("fn", "C.close_it"),
    ]


def test_repeated_assignment_is_one_variable() -> None:
    assert names_of("x = 1\nx = 2\nclass C:\n    x = 3\n", "python") == [
        ("variable", "x"),
        ("class", "C"),
        ("variable", "C.x"),
    ]


def test_identifiers_in_any_script() -> None:
    assert names_of("def größe():\n    pass\nclass Ω:\n    def 長さ(self): ...\n", "python") == [
        ("fn", "größe"),
        ("class", "Ω"),
        ("method", "Ω.長さ"),
    ]


# --- where the grammar fails


def test_macro_tests_and_functions_behind_macros_are_found() -> None:
    text = "TEST_IMPL(tcp_open) {\n  int x = 1;\n  return 0;\n}\n\n#define A (1 /* } */)\nvoid f(int a) {\n}}\n"
    found = symbols_of(text, "c")
    assert {"tcp_open", "f"} <= set(found)
    assert (found["tcp_open"].start_line, found["tcp_open"].end_line) == (1, 4)


def test_conditional_lines_do_not_hide_a_class() -> None:
    text = (
        "public partial class Reader\n#if ASYNC\n    : IAsyncDisposable\n#endif\n{\n"
        "    public int Read(int count)\n    {\n        return count;\n    }\n}\n"
    )
    assert names_of(text, "csharp") == [("class", "Reader"), ("method", "Reader.Read")]


def test_class_that_the_kotlin_grammar_cannot_read_keeps_its_members() -> None:
    text = (
        "data class Schema(\n    private val name: String,\n) {\n    val identifier\n        @OptIn(X::class)\n"
        "        get() = name\n\n    /** Makes it. */\n    fun create(): List<String> {\n"
        "        return listOf()\n    }\n}\n"
    )
    found = symbols_of(text, "kotlin")
    assert (found["Schema"].start_line, found["Schema"].end_line) == (1, 12)
    assert (found["Schema.create"].kind, found["Schema.create"].doc) == ("method", "Makes it.")
    assert (found["Schema.create"].start_line, found["Schema.create"].end_line) == (9, 11)


def test_macro_words_do_not_hide_what_follows() -> None:
    text = (
        "LIB_BEGIN_NAMESPACE\nnamespace n {\n\nLIB_EXPORT template <typename T>\nclass LIB_API Box {\n public:\n"
        "  LIB_CONSTEXPR Box() {}\n  LIB_NODISCARD auto size() const -> int { return 1; }\n};\n\n"
        "LIB_API void close(int a) LIB_NOEXCEPT {\n}\n}\nLIB_END_NAMESPACE\n"
    )
    found = symbols_of(text, "cpp")
    assert {"n.Box", "n.Box.size", "n.close"} <= set(found)
    assert (found["n.Box"].kind, found["n.Box"].start_line, found["n.Box"].end_line) == ("class", 4, 9)


def test_function_does_not_swallow_the_next_when_branches_unbalance_its_braces() -> None:
    text = (
        "int poll(int a) {\n#if X\n  if (a) {\n#else\n  if (!a) {\n#endif\n    a = 1;\n  }\n  return a;\n}\n\n"
        "static int APIENTRY next(void* p) {\n  return 2;\n}\n"
    )
    found = symbols_of(text, "c")
    assert (found["poll"].start_line, found["poll"].end_line) == (1, 10)
    assert (found["next"].start_line, found["next"].end_line) == (12, 14)


def test_typedefs_beside_errors_keep_their_lines() -> None:
    found = symbols_of("typedef struct {\n  int x;\n} point_t;\n\nint f(void) {}}\n", "c")
    assert (found["point_t"].start_line, found["point_t"].end_line) == (1, 3)


def test_kotlin_function_that_does_not_parse_ends_where_it_does() -> None:
    text = (
        'class A {\n  @Test\n  fun one() {\n    "${b.in()}" in\n    where?.let { (\n  }\n\n'
        "  @Test\n  fun two() {\n    run()\n  }\n}\n"
    )
    found = symbols_of(text, "kotlin")
    assert (found["A.two"].start_line, found["A.two"].end_line) in ((8, 11), (9, 11))


def test_wrapped_heads_are_found() -> None:
    text = "#define A(x) x\nA_B(static const char* base(const char* p)) {\n  return p;\n}\nint ok(void) {}}\n"
    assert "base" in symbols_of(text, "c")


def test_both_branches_of_haskell_conditions_are_read() -> None:
    text = "module M where\n#if X\na :: Int\na = 1\n#else\nb :: Int\nb = 2\n#endif\n"
    assert names_of(text, "haskell") == [("module", "M"), ("fn", "a"), ("fn", "b")]


def test_methods_of_scala_instances_are_named_after_the_value() -> None:
    text = "trait I {\n  implicit val m: M[Int] =\n    new M[Int] with N {\n      def empty: Int = 0\n    }\n}\n"
    assert names_of(text, "scala") == [("trait", "I"), ("variable", "I.m"), ("method", "I.m.empty")]


# --- embedded scripts


def test_script_positions_are_those_of_the_file() -> None:
    text = sample("vue")
    go = next(s for s in syntax.parse(text, "vue").symbols if s.name == "go")
    assert text[go.start_byte : go.end_byte].startswith(b"function go(): void {")


def test_component_without_script_has_no_symbols() -> None:
    read = syntax.parse(b"<template><p>x</p></template>\n", "vue")
    assert (read.symbols, read.complete, read.problem) == ((), True, "")


PAGE = b"""<p>function nothing() {}</p>
<script type="application/json">{"a": "function data() {}"}</script>
<script>
function start(x) { return render(x); }
</script><script type='module'>export const go = () => 1</script>
"""
ERB = b"""<%# def said() %>
<% def row(post) %>
  <td><%= link_to post.title, post %></td> <%= link_to 'x', post -%>
<% end %>
<% @posts.each do |post| -%><%= row(post) %><% end %> def text()
"""
EJS = b"""<% function row(u) { %><b><%= u.name %></b><% } %>
<% users.forEach(function (u) { %> <%- row(u) %> <% }); %> row(text)
"""
HEEX = b"""<div><%= for user <- @users do %><p><%= row(user) %></p><% end %></div>
"""


@pytest.mark.parametrize(
    ("language", "text", "defined", "name", "uses"),
    [
        ("html", PAGE, [("fn", "start"), ("fn", "go")], "render", [4]),
        ("erb", ERB, [("fn", "row")], "link_to", [3, 3]),
        ("erb", ERB, [("fn", "row")], "row", [5]),
        ("ejs", EJS, [("fn", "row")], "row", [2]),
        ("heex", HEEX, [], "row", [1]),
    ],
)
def test_code_in_pages_and_templates_has_symbols_and_uses(
    language: str, text: bytes, defined: list[tuple[str, str]], name: str, uses: list[int]
) -> None:
    read = syntax.parse(text, language)
    assert [(symbol.kind, symbol.name) for symbol in read.symbols] == defined
    assert read.complete
    for symbol in read.symbols:
        assert symbol.name.encode() in text[symbol.start_byte : symbol.end_byte]
    found = syntax.references(text, language, name)
    assert [line for line, _, _ in found] == uses
    lines = text.decode().splitlines()
    assert all(lines[line - 1][column:].startswith(name) for line, column, _ in found)


# --- uses


def test_uses_leave_out_definitions_comments_and_strings() -> None:
    text = (
        "def retry(x):\n"
        "    # retry in a comment\n"
        '    """retry in a docstring"""\n'
        "    return retry(x - 1)\n"
        "\n"
        "class A:\n"
        "    def go(self):\n"
        "        name = 'retry'\n"
        "        é = f'{retry(2)}'; retry_all = 3; return self.retry\n"
    )
    assert syntax.references(text.encode(), "python", "retry") == [
        (4, 11, "retry"),
        (9, 15, "A.go"),
        (9, 54, "A.go"),
    ]


@pytest.mark.parametrize(
    ("language", "text", "uses"),
    [
        ("go", 'package p\n// Run\nfunc Run() {}\nfunc main() { Run(); p.Run(); _ = "Run" }\n', [(4, 14), (4, 23)]),
        ("rust", 'fn run() {}\nfn main() { run(); println!("run"); a::run() }\n', [(2, 12), (2, 39)]),
        ("javascript", "function run() {}\nrun(); `run ${run()}`; /run/; x.run = 1\n", [(2, 0), (2, 14), (2, 32)]),
        ("java", 'class A { void run() { run(); String s = "run"; } }\n', [(1, 23)]),
        ("c", 'int run(void);\nint x(void) { return run(); } // run\nchar *s = "run";\n', [(2, 21)]),
        ("ruby", "def run; end\nrun\nputs \"run #{run}\"\n:run\n", [(2, 0), (3, 12), (4, 1)]),
        ("php", "<?php\nfunction run() {}\nrun(); $a->run(); 'run';\n", [(3, 0), (3, 11)]),
        ("bash", "run() { :; }\nrun # run\necho 'run' \"$(run)\"\n", [(2, 0), (3, 14)]),
        ("elixir", 'defmodule A do\n  def run, do: 1\n  def b, do: run() <> "run #{run()}"\nend\n', [(3, 13), (3, 29)]),
        ("typescript", "type Run = 1;\nlet a: Run = 'Run' as Run;\n", [(2, 7), (2, 22)]),
        ("haskell", 'run :: Int\nrun = 1\nx = run + length "run" -- run\n', [(3, 4)]),
    ],
)  # fmt: skip
def test_uses_by_language(language: str, text: str, uses: list[tuple[int, int]]) -> None:
    assert [
        (line, column)
        for line, column, _ in syntax.references(text.encode(), language, "run" if "run" in text else "Run")
    ] == uses


def test_uses_in_unknown_languages_are_none() -> None:
    assert syntax.references(b"run run", "text", "run") == []
    assert syntax.references(b"<p>run()</p><script>go()</script>", "html", "run") == []
    assert syntax.references(b"run()", "python", "") == []


# --- hostile text


@pytest.mark.parametrize("language", sorted(EXPECTED))
def test_any_prefix_of_a_sample_is_survived(language: str) -> None:
    text = sample(language)
    for end in range(0, len(text), max(1, len(text) // 7)):
        check_consistent(text[:end], syntax.parse(text[:end], language))


@pytest.mark.parametrize("language", ["python", "javascript", "cpp", "csharp", "bash", "haskell", "kotlin", "vue"])
@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\n",
        b"\x00" * 1000,
        bytes(range(256)) * 20,
        b"\xff\xfe\xfd" * 99,
        b"\r\r\r\n\n\r",
        "\u2028\u2029\u0085".encode(),
    ],
)
def test_text_that_is_none(language: str, text: bytes) -> None:
    check_consistent(text, syntax.parse(text, language))


@pytest.mark.parametrize("language", ["python", "javascript", "c", "rust", "csharp", "scala"])
def test_deep_nesting_ends_by_the_deadline(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that goes on by a second whenever it is looked at: the deadline is seen, and nothing works on."""
    looks = 0

    def seconds() -> float:
        nonlocal looks
        looks += 1
        return float(looks)

    for module in (syntax, syntax_tree, syntax_walk):
        monkeypatch.setattr(module, "time", SimpleNamespace(thread_time=seconds))
    read = syntax.parse(b"(" * 200_000, language, deadline_s=5.5)
    assert (read.symbols, read.complete, read.problem) == ((), False, "timeout")
    assert looks == 7, "the look that began, five in time, and the one that was late"


def test_deeply_nested_definitions_need_no_recursion() -> None:
    depth = 3_000
    text = "".join(f"class C{i} {{ " for i in range(depth)) + "}" * depth
    read = syntax.parse(text.encode(), "java", deadline_s=20)
    assert len(read.symbols) > 1_000
    assert read.symbols[-1].parent == len(read.symbols) - 2


def test_a_line_of_five_megabytes_ends_by_the_deadline() -> None:
    read = syntax.parse(b"var a=" + b"[1,2,3]," * 640_000, "javascript", deadline_s=0.2)
    assert (read.symbols, read.complete, read.problem) == ((), False, "timeout")


def test_the_next_file_is_read_after_a_timeout() -> None:
    syntax.parse(b"[" * 2_000_000, "python", deadline_s=0.01)
    assert names_of("def f(): pass\n", "python") == [("fn", "f")]


def test_number_of_symbols_is_bounded() -> None:
    text = "".join(f"a{i} = {i}\n" for i in range(MAX_SYMBOLS + 500))
    read = syntax.parse(text.encode(), "python", deadline_s=30)
    assert (len(read.symbols), read.complete, read.problem) == (MAX_SYMBOLS, False, "too_many_symbols")


def test_unknown_languages_have_no_grammar() -> None:
    assert syntax.parse(b"x", "klingon") == syntax.Syntax((), False, "no_grammar")


def test_a_user_without_a_cache_folder_has_definitions(tmp_path: Path) -> None:
    program = "from findling.reading import syntax; print(syntax.parse(b'def f(): ...', 'python').symbols[0].name)"
    own = {"XDG_CACHE_HOME": os.devnull, "TMPDIR": str(tmp_path)}
    told = subprocess.run([sys.executable, "-c", program], env={**os.environ, **own}, capture_output=True, check=True)
    assert told.stdout.split() == [b"f"]
    assert os.listdir(tmp_path) == []


# --- properties


def check_consistent(text: bytes, read: syntax.Syntax) -> None:
    """What every answer must satisfy, whatever the text."""
    previous = 0
    for index, symbol in enumerate(read.symbols):
        assert previous <= symbol.start_byte < symbol.end_byte <= len(text)
        previous = symbol.start_byte
        assert symbol.start_line == text.count(b"\n", 0, symbol.start_byte) + 1
        assert symbol.end_line == text.count(b"\n", 0, symbol.end_byte) + 1
        assert symbol.start_line <= symbol.name_line <= symbol.end_line
        assert -1 <= symbol.parent < index
        assert symbol.name and symbol.qualified_name.endswith(symbol.name)
        assert "\n" not in symbol.signature and len(symbol.signature) <= 300 and len(symbol.doc) <= 500
        if symbol.parent >= 0:
            parent = read.symbols[symbol.parent]
            assert parent.start_byte <= symbol.start_byte and symbol.end_byte <= parent.end_byte
            assert symbol.qualified_name.startswith(parent.qualified_name + ".")


@pytest.mark.parametrize("language", sorted(EXPECTED))
def test_samples_are_consistent(language: str) -> None:
    check_consistent(sample(language), syntax.parse(sample(language), language))


FRAGMENTS = st.sampled_from(
    ["class A {", "}", "{", "(", ")", "def f(x):\n", "  ", "\n", "\r\n", "fn f() {", "=> 1;", "const a = ", "function",
     "struct s {", "#if X\n", "#endif\n", "/* ", "*/", "// c\n", '"', "'", "é", "𝄞", "\t", "public ", "void m() {", ";",
     "namespace n {", "template <T>", "fun g() {", "object O : T", "end\n", "do\n", "module M", "@a", "x.y = ", "\x00"]
)  # fmt: skip


@settings(max_examples=size(37, 150), deadline=None)
@given(
    parts=st.lists(FRAGMENTS, max_size=40),
    language=st.sampled_from(
        ["python", "javascript", "typescript", "c", "cpp", "csharp", "kotlin", "swift", "ruby", "rust"]
    ),
)
def test_shuffled_code_is_consistent(parts: list[str], language: str) -> None:
    text = "".join(parts).encode()
    check_consistent(text, syntax.parse(text, language))


@settings(max_examples=size(15, 60), deadline=None)
@given(data=st.data(), language=st.sampled_from(sorted(EXPECTED)))
def test_samples_with_holes_are_consistent(data: st.DataObject, language: str) -> None:
    text = sample(language)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 80)))
    holed = text[:start] + text[end:]
    check_consistent(holed, syntax.parse(holed, language))


@settings(max_examples=size(15, 60), deadline=None)
@given(
    text=st.binary(max_size=200), language=st.sampled_from(sorted(EXPECTED)), name=st.sampled_from(["a", "x", "é", "$"])
)
def test_any_bytes_are_survived(text: bytes, language: str, name: str) -> None:
    check_consistent(text, syntax.parse(text, language))
    for line, column, _ in syntax.references(text, language, name):
        assert text.decode("utf-8", "replace").split("\n")[line - 1][column:].startswith(name)


def test_threads_of_a_user_without_a_cache_folder_load_grammars_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    monkeypatch.delenv("SEMBLE_GRAMMARS_CACHE_DIR", raising=False)
    names = ["kotlin", "lua", "perl", "ruby", "swift", "zig"]
    with ThreadPoolExecutor(len(names)) as threads:
        assert None not in list(threads.map(syntax_tree.grammar.__wrapped__, names))
    assert "SEMBLE_GRAMMARS_CACHE_DIR" not in os.environ


def test_an_open_bracket_of_python_takes_no_later_definition() -> None:
    text = (
        b"@dec(1\ndef a(x):\n    return 'def ('\n\n\nclass Q(Base:\n    def m(self):\n        y = {'a': [1, 2\n"
        b"        return y\n\n    def broken(self, x: Item:\n        return 1\n\n    def n(self):\n"
        b"        return f(self,\n\n\ndef last():\n    return a(1)\n"
    )
    found = syntax.parse(text, "python")
    assert found.problem == "parse_error"
    names = [(symbol.name, symbol.start_line, symbol.end_line) for symbol in found.symbols]
    assert names == [("a", 1, 3), ("Q", 6, 15), ("m", 7, 9), ("broken", 11, 12), ("n", 14, 15), ("last", 18, 19)]
    assert 19 in [use.line for use in found.uses if use.name == "a"]


def test_open_brackets_of_hostile_python_cost_no_more_than_its_length() -> None:
    for text in (b"(" * 400_000 + b"\ndef a(:\n", b"def a(x:\n" * 40_000, b"'''\n" * 100_000, b'"\\' * 200_000):
        assert len(syntax._without_open_brackets(text)) == len(text)

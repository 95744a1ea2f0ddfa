from __future__ import annotations

import subprocess
import sys

import pytest
import semble_grammars

from findling.model.languages import LANGUAGES, find_language, language_of

SPOKEN_OF = """
    python javascript typescript tsx go rust java c cpp csharp ruby php bash lua kotlin scala swift haskell elixir
    zig ocaml julia perl r dart groovy objc powershell sql html css scss json yaml toml xml hcl proto graphql nix
    erlang clojure solidity make cmake dockerfile vue svelte astro markdown rst asciidoc org text latex notebook
    ini properties csv log fortran scheme racket vim starlark jinja
"""


def test_the_table_is_sound() -> None:
    assert len(LANGUAGES) >= 90
    assert set(SPOKEN_OF.split()) <= set(LANGUAGES)
    grammars = set(semble_grammars.available_languages())
    extensions: dict[str, str] = {}
    for id, language in LANGUAGES.items():
        assert language.id == id == id.lower()
        assert language.kind in ("code", "docs", "data")
        assert language.grammar is None or language.grammar in grammars
        for extension in language.extensions:
            assert extension.startswith(".") and extension == extension.lower()
            assert extensions.setdefault(extension, id) == id
            assert language_of(f"dir.x/name{extension}") is language
        for filename in language.filenames:
            assert language_of(f"dir/{filename.upper()}") is language
        for name in (id, language.name, language.name.upper(), *language.extensions[:1]):
            assert find_language(name) is language


@pytest.mark.parametrize(
    ("path", "head", "id"),
    [
        ("a.py", b"", "python"),
        ("a.d.ts", b"", "typescript"),
        ("x.blade.php", b"", "blade"),
        ("x.php", b"", "php"),
        ("CMakeLists.txt", b"", "cmake"),
        ("Makefile.am.in", b"", "autoconf"),
        ("Makefile.linux", b"", "make"),
        ("Dockerfile.dev", b"", "dockerfile"),
        ("config.h.in", b"", "c"),
        ("settings.py.example", b"", "python"),
        ("requirements-dev.txt", b"", "requirements"),
        ("README", b"", "text"),
        ("unknown.xyz", b"", "text"),
        ("noextension", b"", "text"),
        (".gitignore", b"", "gitignore"),
        (".bashrc", b"", "bash"),
        ("tool", b"#!/usr/bin/env python3\n", "python"),
        ("tool", b"#!/usr/bin/python3.11 -u\n", "python"),
        ("tool", b"#!/usr/bin/env -S NODE_ENV=x node --flag\n", "javascript"),
        ("tool", b"#!/bin/sh\n", "bash"),
        ("tool", b"#!\n", "text"),
        ("tool", b"#! /usr/bin/env\n", "text"),
        ("page", b"\xef\xbb\xbf<!DOCTYPE html>", "html"),
        ("data", b"<?xml version='1.0'?>", "xml"),
        ("script", b"# -*- mode: ruby -*-\n", "ruby"),
        ("script", b"# -*- c++ -*-\n", "cpp"),
        ("a.h", b"#ifndef A\nint f(void);\n", "c"),
        ("a.h", b"/* a class of errors, using namespaces */\nint f(void);\n", "c"),
        ("a.h", b'#ifdef __cplusplus\nextern "C" {\n#endif\nint f(void);\n', "c"),
        ("a.h", b"namespace a { class B { public: int x; }; }\n", "cpp"),
        ("a.h", b"#import <Foundation/Foundation.h>\n@interface A\n@end\n", "objc"),
        ("a.m", b"@implementation A\n@end\n", "objc"),
        ("a.m", b"function y = f(x)\ny = x;\nend\n", "matlab"),
        ("a.ts", b"<?xml version='1.0'?><TS></TS>", "xml"),
        ("a.pl", b":- module(a, []).\n", "prolog"),
        ("a.pl", b"use strict;\n", "perl"),
    ],
)
def test_languages_of_files(path: str, head: bytes, id: str) -> None:
    assert language_of(path, head).id == id
    assert language_of(f"some/dir.with.dots/{path}", head).id == id


def test_names_that_people_use() -> None:
    for name, id in (("C++", "cpp"), ("c#", "csharp"), ("golang", "go"), ("JS", "javascript"), ("py", "python"),
                     (".rs", "rust"), ("shell", "bash"), ("terraform", "hcl"), (" yml ", "yaml")):  # fmt: skip
        found = find_language(name)
        assert found is not None and found.id == id
    assert find_language("klingon") is None
    assert find_language("") is None


def test_the_table_loads_nothing_heavy() -> None:
    code = (
        "import sys; import findling.model.languages; heavy = 'tree_sitter semble_grammars numpy subprocess pathlib'; "
        "print([name for name in heavy.split() if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

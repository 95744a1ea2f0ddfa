"""The table of languages (``languages.json``), and which one a file is written in.

Knows names, extensions, comment marks and which grammar parses what; must not load grammars, read a user's files or
import anything heavy: it lies on the start path of the command line.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any, NamedTuple

from findling.model.types import Kind


class Language(NamedTuple):
    """One row of the table.

    ``extensions`` are lower case with their dot (``.d.ts`` beats ``.ts``); ``filenames`` are lower-case whole
    names; ``grammar`` is the parser's name, None where there is none; ``line_comments`` and ``block_comments``
    are markers as written in source (the first line marker is the usual one).
    """

    id: str
    name: str
    kind: Kind
    extensions: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    grammar: str | None = None
    line_comments: tuple[str, ...] = ()
    block_comments: tuple[tuple[str, str], ...] = ()
    aliases: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()


_WORDS = ("extensions", "filenames", "aliases", "interpreters")
"""Given as one text, with spaces between."""


def _read() -> list[Language]:
    with open(os.path.join(os.path.dirname(__file__), "languages.json"), "rb") as file:  # noqa: PTH118, PTH120, PTH123
        rows: list[dict[str, Any]] = json.load(file)
    for row in rows:
        for key in _WORDS:
            if key in row:
                row[key] = tuple(row[key].split())
        for key in ("line_comments", "block_comments"):
            row[key] = tuple(mark if isinstance(mark, str) else tuple(mark) for mark in row.get(key, ()))
    return [Language(**row) for row in rows]


_ROWS = _read()

LANGUAGES: dict[str, Language] = {language.id: language for language in _ROWS}
TEXT = LANGUAGES["text"]


def _index() -> tuple[dict[str, Language], dict[str, Language], dict[str, Language], dict[str, Language]]:
    extensions: dict[str, Language] = {}
    filenames: dict[str, Language] = {}
    interpreters: dict[str, Language] = {}
    names: dict[str, Language] = {}
    for language in _ROWS:
        for extension in language.extensions:
            extensions.setdefault(extension, language)
        for filename in language.filenames:
            filenames.setdefault(filename, language)
        for interpreter in language.interpreters:
            interpreters.setdefault(interpreter, language)
        for name in (language.id, language.name.lower()):
            names[name] = language
    for language in _ROWS:
        for name in language.aliases:
            names.setdefault(name, language)
    return extensions, filenames, interpreters, names


_BY_EXTENSION, _BY_FILENAME, _BY_INTERPRETER, _BY_NAME = _index()

# Names like Dockerfile.dev and Makefile.linux, where what follows the dot says nothing about the language.
_FILENAME_STEMS = {
    "dockerfile": LANGUAGES["dockerfile"],
    "containerfile": LANGUAGES["dockerfile"],
    "makefile": LANGUAGES["make"],
    "gnumakefile": LANGUAGES["make"],
    "jenkinsfile": LANGUAGES["groovy"],
    "readme": TEXT,
    "license": TEXT,
}

# Endings that wrap another name: `config.h.in` is C, `settings.py.example` is Python.
_WRAPPERS = frozenset((".in", ".example", ".sample", ".template", ".dist", ".orig", ".bak", ".tpl", ".default", ".inc"))

_HEAD_BYTES = 4096  # the language of an ambiguous file shows in its first screens or not at all


def language_of(path: str, head: bytes = b"") -> Language:
    """The language of the file at ``path``: by name, then longest extension, then the ``#!`` line; else ``text``.

    ``head`` is the start of the file (the first 4 KiB are looked at); with it, extensions that several
    languages share (``.h``, ``.m``, ``.ts``, ``.pl``, ``.v``, ``.cls``, ``.inc`` …) are told apart.
    """
    name = path[path.rfind("/") + 1 :].lower()
    for _ in range(4):  # each turn strips one wrapper; nobody nests more of them
        language = _BY_FILENAME.get(name)
        if language is not None:
            return language
        # Some extension belongs to a language; the first dot that leads to one is the longest such extension.
        dot = name.find(".", 1)
        while dot >= 0:
            extension = name[dot:]
            language = _BY_EXTENSION.get(extension)
            if language is not None:
                if extension == ".txt" and name.startswith(("requirements", "constraints")):
                    return LANGUAGES["requirements"]
                return _tell_apart(language, extension, head[:_HEAD_BYTES]) if head else language
            dot = name.find(".", dot + 1)
        last_dot = name.rfind(".")
        if last_dot <= 0 or name[last_dot:] not in _WRAPPERS:
            break
        name = name[:last_dot]
    stem = name.partition(".")[0]
    language = _FILENAME_STEMS.get(stem)
    if language is not None:
        return language
    return _from_head(head[:_HEAD_BYTES]) if head else TEXT


def is_document(path: str, language: str, kind: str) -> bool:
    """Whether a file counts as a document. Text under a name with an ending that nobody knows does not: what it holds
    is indexed as text, but it may as well be a test's expected output."""
    name = path.rpartition("/")[2].lower()
    known = language != TEXT.id or "." not in name or name.partition(".")[0] in TEXT.filenames
    return kind == "docs" and (known or name.endswith(TEXT.extensions))


def find_language(name_or_alias: str) -> Language | None:
    """The language that people call ``name_or_alias`` (id, display name, alias or ``.ext``), or None."""
    key = name_or_alias.strip().lower()
    return _BY_NAME.get(key) or _BY_EXTENSION.get(key if key.startswith(".") else "." + key)


def _interpreter(head: bytes) -> str:
    """The program's name in a ``#!`` line, without its folder; empty when there is none."""
    if not head.startswith(b"#!"):
        return ""
    words = head[2:].split(b"\n", 1)[0].decode("latin-1").split()
    while words:
        word = words.pop(0)
        program = word[word.rfind("/") + 1 :]
        if program == "env" or word.startswith("-") or "=" in word:
            continue
        return program.lower()
    return ""


def _from_head(head: bytes) -> Language:
    program = _interpreter(head)
    if program:
        return _BY_INTERPRETER.get(program) or _BY_INTERPRETER.get(program.rstrip("0123456789."), TEXT)
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:256].lower()
    if start.startswith(b"<?php"):
        return LANGUAGES["php"]
    if start.startswith(b"<?xml"):
        return LANGUAGES["xml"]
    if start.startswith((b"<!doctype html", b"<html")):
        return LANGUAGES["html"]
    if start.startswith(b"%yaml"):
        return LANGUAGES["yaml"]
    if b"-*-" in start:  # an Emacs mode line, alone or as `mode: NAME;`
        inside = start.split(b"-*-", 2)[1].decode("latin-1")
        for part in inside.split(";"):
            key, colon, value = part.partition(":")
            found = find_language(value if colon and key.strip() == "mode" else "" if colon else part)
            if found is not None:
                return found
    return TEXT


_CPP_MARKS = (b"class ", b"namespace ", b"template<", b"template <", b"public:", b"private:", b"protected:", b"std::",
              b"constexpr ", b"typename ", b"using ", b"#include <string>", b"#include <vector>", b"nullptr",
              b"virtual ", b"operator")  # fmt: skip
_OBJC_MARKS = (b"@interface", b"@protocol", b"@implementation", b"@property", b"@class", b"#import ", b"@end",
               b"NS_ASSUME_NONNULL")  # fmt: skip


def _strip_c_comments(head: bytes) -> bytes:
    """``head`` without its comments, so that prose like "class of errors" counts for nothing."""
    parts: list[bytes] = []
    rest = head
    while True:
        before, opened, after = rest.partition(b"/*")
        parts.append(before)
        if not opened:
            break
        rest = after.partition(b"*/")[2]
    return b"\n".join(line.partition(b"//")[0] for line in b"".join(parts).split(b"\n"))


_SHARED: dict[str, tuple[tuple[bytes, str], ...]] = {
    **dict.fromkeys((".ts", ".mts"), ((rb"\A\s*(?:<\?xml|<!DOCTYPE TS)", "xml"),)),
    **dict.fromkeys((".pl", ".pm", ".t"), ((rb"use v6|\nunit module", "raku"),)),
    **dict.fromkeys((f".{section}" for section in range(1, 9)), ((rb"\A(?![.'\\])(?!.*\n\.SH)", "text"),)),
    **dict.fromkeys((".conf", ".cfg"), ((rb"\A\s*<\?xml", "xml"), (rb"\A\s*\{", "json"))),
    ".config": ((rb"\A\s*<", "xml"), (rb"", "ini")),
    ".v": ((rb"Require Import|Theorem |Proof\.", "coq"), (rb"\Amodule main|\nfn |\npub fn ", "v")),
    ".cls": ((rb"\A(?!.*\\).*class ", "apex"),),
    ".fs": ((rb"#version|gl_FragColor", "glsl"),),
    ".r": ((rb"\A\s*REBOL", "text"),),
    ".d": ((rb"\A(?!.*(?:module |import |void |\{))", "make"),),
    ".pp": ((rb"\A(?=.*(?:class |define )).*=>", "puppet"),),
    ".cl": ((rb"__kernel", "opencl"),),
    ".html": ((rb"\{\{ define ", "gotmpl"),),
    ".php": ((rb"\A.{0,60}<\?hh", "hack"),),
}
"""Extensions of several languages: what the start of a file shows -> whose it then is, the first that fits."""
_SHARED[".pl"] = ((rb"(?:\A\s*|\n):- ", "prolog"), *_SHARED[".pl"])


def _tell_apart(language: Language, extension: str, head: bytes) -> Language:
    """``language`` unless the file's start shows another one that shares ``extension``."""
    if extension == ".h":
        code = _strip_c_comments(head)
        # `extern "C"` and `#ifdef __cplusplus` mean C that C++ may include; the marks inside them say nothing.
        if any(mark in code for mark in _OBJC_MARKS):
            return LANGUAGES["objc"]
        if b"__cplusplus" not in code and any(mark in code for mark in _CPP_MARKS):
            return LANGUAGES["cpp"]
    elif extension == ".m":
        first = head.lstrip()
        objc = any(mark in head for mark in _OBJC_MARKS) or b"#include" in head
        if not objc and (first.startswith((b"%", b"function ", b"classdef ")) or b"\nfunction " in head):
            return LANGUAGES["matlab"]
    elif extension == ".s" and head.startswith(b"#!"):
        return _from_head(head)
    for shown, id in _SHARED.get(extension, ()):
        if re.search(shown, head, re.DOTALL):
            return LANGUAGES[id]
    return language

"""Finds parts of a file in other languages: a page's scripts, styles and templates, and the code tags of a template.

Works on plain text. Knows no chunks, trees or symbols.
"""

from __future__ import annotations

import re

from msgspec import Struct

from findling.model.languages import find_language
from findling.reading.spans import Closings, locate

HOSTS = frozenset(
    ("vue", "svelte", "astro", "html", "erb", "ejs", "heex", "jinja", "gotmpl", "razor", "php", "handlebars")
)
"""Languages that may hold scripts and styles."""


class Region(Struct, frozen=True):
    """A part of a file in another language: its content without the tags around. Bytes are the file's;
    ``start_line`` is the line of its first byte."""

    language: str
    start_byte: int
    end_byte: int
    start_line: int


_TAG = re.compile(
    r"<!--"
    r"|<(?P<close>/?)(?P<name>script|style|template)\b(?P<attributes>(?:[^<>\"']++|\"[^\"]{0,999}+\"|'[^']{0,999}+')*+)>",
    re.IGNORECASE,
)
_LANG = re.compile(r"(?<![\w-])lang\s*=\s*[\"']?([\w+#-]+)", re.IGNORECASE)
_TYPE = re.compile(r"(?<![\w-])type\s*=\s*[\"']?([\w/+.-]+)", re.IGNORECASE)
_SCRIPT = re.compile(r"(?:module|(?:text|application)/(?:x-)?(?:java|ecma|type)script|text/(?:babel|jsx))\b")
"""Types that mean a script. Any other type means data or a template."""
_ASTRO_SCRIPT = re.compile(r"\s*---[ \t]*\r?\n((?:(?!---[ \t]*\r?$)[^\n]*+(?:\n|\Z))*+)---", re.MULTILINE)
_DEFAULTS = {"script": "javascript", "style": "css", "template": "html"}


def embedded_regions(text: str, language: str) -> list[Region]:
    """Parts of ``text`` in languages of their own, in order and disjoint: scripts and styles, the template of a Vue
    file, the script at the head of an Astro file. [] for languages that hold none."""
    spans = _parts(text, language) if language in HOSTS else []
    places = locate(text, [place for _, start, end in spans for place in (start, end)])
    return [Region(kind, places[a][0], places[b][0], places[a][1]) for kind, a, b in spans]


def _parts(text: str, language: str) -> list[tuple[str, int, int]]:
    """(language, start, end) of each, in characters."""
    spans: list[tuple[str, int, int]] = []
    at = 0
    if language == "astro":
        script = _ASTRO_SCRIPT.match(text)
        if script:
            spans.append(("typescript", *script.span(1)))
            at = script.end()
    name, default, start, depth = "", "", 0, 0
    closings = Closings(text)
    while (found := _TAG.search(text, at)) is not None:
        at = found.end()
        tag = (found["name"] or "").lower()
        if not tag:
            at = max(at, at if name in ("script", "style") else closings.after("-->", at))
            continue
        if (name and tag != name) or (tag == "template" and language != "vue"):
            continue
        closing = bool(found["close"])
        if not name:
            if not closing and not found["attributes"].rstrip().endswith("/"):
                name, default, start, depth = tag, _language(tag, found["attributes"]), found.end(), 1
            continue
        if tag == "template" and not closing:
            depth += not found["attributes"].rstrip().endswith("/")
        elif closing:
            depth -= 1
        if depth == 0:
            if text[start : found.start()].strip():
                spans.append((default, start, found.start()))
            name = ""
    return spans


def _language(tag: str, attributes: str) -> str:
    if (named := _LANG.search(attributes)) is not None:
        known = find_language(named[1].lower())
        return known.id if known else _DEFAULTS[tag]
    typed = _TYPE.search(attributes) if tag == "script" else None
    kind = typed[1].lower() if typed else ""
    if "typescript" in kind:
        return "typescript"
    if not kind or _SCRIPT.match(kind):
        return _DEFAULTS[tag]
    return "json" if "json" in kind or kind == "importmap" else "html" if "template" in kind or "html" in kind else ""


_SCRIPTED = frozenset({"vue", "svelte", "astro", "html"})
_TAGGED = {"erb": "ruby", "ejs": "javascript", "heex": "elixir"}
"""Template language -> the language of the code between ``<%`` and ``%>``."""

WITH_CODE = _SCRIPTED | _TAGGED.keys()
"""Languages whose symbols are those of the code inside them."""

_CODE_TAG = re.compile(rb"<%(?![%#!])[=|/_-]?(.*?)[-_=]?%>", re.DOTALL)
_BLANK = bytes(byte if byte in b"\r\n" else ord(" ") for byte in range(256))


def code_only(text: bytes, language: str) -> tuple[bytes, str]:
    """``text`` with everything but its code turned into spaces, so that offsets stay the same; and the code's
    language."""
    if language in _TAGGED:
        spans = [match.span(1) for match in _CODE_TAG.finditer(text)]
        code = bytearray(_kept(text, spans))
        for _, end in spans:  # each tag is a statement of its own, and these languages allow a semicolon
            code[end : end + 1] = b";"
        return bytes(code), _TAGGED[language]
    parts = _parts(text.decode("latin-1"), language)  # one character for each byte, so that offsets are bytes
    scripts = [part for part in parts if part[0] in ("javascript", "typescript", "tsx")]
    typed = language == "astro" or any(kind != "javascript" for kind, *_ in scripts)
    return _kept(text, [(start, end) for _, start, end in scripts]), "typescript" if typed else "javascript"


def _kept(text: bytes, spans: list[tuple[int, int]]) -> bytes:
    parts: list[bytes] = []
    position = 0
    for begin, end in spans:
        parts += [text[position:begin].translate(_BLANK), text[begin:end]]
        position = end
    return b"".join([*parts, text[position:].translate(_BLANK)])

"""Languages inside of files: the scripts, styles and templates of a page. Knows markup, not chunks."""

from __future__ import annotations

import re
from dataclasses import dataclass

from findling.model.languages import find_language
from findling.reading.spans import Closings, locate

HOSTS = frozenset(
    ("vue", "svelte", "astro", "html", "erb", "ejs", "heex", "jinja", "gotmpl", "razor", "php", "handlebars")
)
"""Languages that may hold scripts and styles."""


@dataclass(frozen=True, slots=True)
class Region:
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
_ASTRO_SCRIPT = re.compile(r"\s*---[ \t]*\r?\n((?:(?!---[ \t]*\r?$)[^\n]*+(?:\n|\Z))*+)---", re.MULTILINE)
_DEFAULTS = {"script": "javascript", "style": "css", "template": "html"}


def embedded_regions(text: str, language: str) -> list[Region]:
    """Parts of ``text`` in languages of their own, in order and disjoint: scripts and styles, the template of a Vue
    file, the script at the head of an Astro file. [] for languages that hold none."""
    if language not in HOSTS:
        return []
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
    places = locate(text, [place for _, start, end in spans for place in (start, end)])
    return [Region(kind, places[a][0], places[b][0], places[a][1]) for kind, a, b in spans]


def _language(tag: str, attributes: str) -> str:
    named = _LANG.search(attributes)
    if named is None and tag == "script" and (typed := _TYPE.search(attributes)):
        kind = typed[1].lower()
        if "json" in kind or kind == "importmap":
            return "json"
        if "template" in kind or "html" in kind:
            return "html"
        if "typescript" in kind:
            return "typescript"
    known = find_language(named[1].lower()) if named else None
    return known.id if known else _DEFAULTS[tag]

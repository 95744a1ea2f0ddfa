"""Code inside other text: the scripts of a page, the tags of a template. Everything else is blanked, so that lines and
offsets stay the file's.

Plain text work; knows no tree and no symbol.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_SCRIPTED = frozenset({"vue", "svelte", "astro", "html"})
_TAGGED = {"erb": "ruby", "ejs": "javascript", "heex": "elixir"}
"""Templates, and what stands between ``<%`` and ``%>`` in them."""

LANGUAGES = _SCRIPTED | _TAGGED.keys()

_TAG = re.compile(rb"<%(?![%#!])[=|/_-]?(.*?)[-_=]?%>", re.DOTALL)

_SCRIPT = re.compile(rb"<script\b((?:[^>\"']|\"[^\"]*\"|'[^']*')*)>", re.IGNORECASE)
_SCRIPT_END = re.compile(rb"</script\s*>", re.IGNORECASE)
_FRONTMATTER = re.compile(rb"\A\s*---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_TYPESCRIPT = re.compile(rb"\blang\s*=\s*[\"']?(ts|tsx|typescript)\b", re.IGNORECASE)
_NO_SCRIPT = re.compile(
    rb"\btype\s*=\s*[\"']?(?!module\b|(?:text|application)/(?:x-)?(?:java|ecma|type)script\b|text/(?:babel|jsx)\b)[^\s\"']",
    re.IGNORECASE,
)
"""Data or a template in a page's script element."""

_BLANK = bytes(byte if byte in b"\r\n" else ord(" ") for byte in range(256))


def code_only(text: bytes, language: str) -> tuple[bytes, str]:
    """``text`` with all but its code turned into spaces (same length), and the language of the code."""
    return _tags_only(text, _TAGGED[language]) if language in _TAGGED else _scripts_only(text, language)


def _tags_only(text: bytes, language: str) -> tuple[bytes, str]:
    """A semicolon follows each tag, as it may in these languages: what stands in the next is another statement."""
    spans = [match.span(1) for match in _TAG.finditer(text)]
    code = bytearray(_kept(text, spans))
    for _, end in spans:
        code[end : end + 1] = b";"
    return bytes(code), language


def _scripts_only(text: bytes, language: str) -> tuple[bytes, str]:
    spans: list[tuple[int, int]] = []
    typed = False
    start = 0
    if language == "astro":
        typed = True  # Astro reads its frontmatter as TypeScript
        match = _FRONTMATTER.match(text)
        if match:
            spans.append(match.span(1))
            start = match.end()
    while (match := _SCRIPT.search(text, start)) and (end := _SCRIPT_END.search(text, match.end())):
        if not _NO_SCRIPT.search(match[1]):
            spans.append((match.end(), end.start()))
            typed = typed or _TYPESCRIPT.search(match[1]) is not None
        start = end.end()
    return _kept(text, spans), "typescript" if typed else "javascript"


def _kept(text: bytes, spans: Iterable[tuple[int, int]]) -> bytes:
    parts: list[bytes] = []
    position = 0
    for begin, end in spans:
        parts.append(text[position:begin].translate(_BLANK))
        parts.append(text[begin:end])
        position = end
    parts.append(text[position:].translate(_BLANK))
    return b"".join(parts)

"""Vue, Svelte and Astro: their script, with everything else blanked, so that lines and offsets stay the file's.

Plain text work; knows no tree and no symbol.
"""

from __future__ import annotations

import re

LANGUAGES = frozenset({"vue", "svelte", "astro"})

_SCRIPT = re.compile(rb"<script\b((?:[^>\"']|\"[^\"]*\"|'[^']*')*)>(.*?)</script\s*>", re.IGNORECASE | re.DOTALL)
_FRONTMATTER = re.compile(rb"\A\s*---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_TYPESCRIPT = re.compile(rb"\blang\s*=\s*[\"']?(ts|tsx|typescript)\b", re.IGNORECASE)
_NOT_NEWLINE = re.compile(rb"[^\r\n]")


def script_only(text: bytes, language: str) -> tuple[bytes, str]:
    """``text`` with all but its scripts turned into spaces (same length), and the language of the scripts."""
    spans: list[tuple[int, int]] = []
    typed = False
    start = 0
    if language == "astro":
        typed = True  # Astro reads its frontmatter as TypeScript
        match = _FRONTMATTER.match(text)
        if match:
            spans.append(match.span(1))
            start = match.end()
    for match in _SCRIPT.finditer(text, start):
        spans.append(match.span(2))
        typed = typed or _TYPESCRIPT.search(match.group(1)) is not None
    parts: list[bytes] = []
    position = 0
    for begin, end in spans:
        parts.append(_NOT_NEWLINE.sub(b" ", text[position:begin]))
        parts.append(text[begin:end])
        position = end
    parts.append(_NOT_NEWLINE.sub(b" ", text[position:]))
    return b"".join(parts), "typescript" if typed else "javascript"

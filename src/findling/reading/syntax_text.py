"""Reads a definition's signature and documentation from the text around it, without a syntax tree.

Works on UTF-8 bytes and offsets. Knows no node and no grammar table.
"""

from __future__ import annotations

import re
from functools import cache

from findling.model.languages import LANGUAGES

MAX_SIGNATURE = 300

_CUT = "…"
_OPENS = " {:;=,"
"""Characters that are stripped from the end of a signature."""

DOC_CHARACTERS = 500
# Longest stretches of text looked at, so that one huge initialiser or licence costs what a normal one costs.
SIGNATURE_BYTES = 1_200
DOC_BYTES = 8_192
DOC_LINES = 60

_OPENERS = ("do", "where", "is", "->", "=>")
_TAIL = re.compile(r"[\s{:=;]*(?:\bdo|\bwhere|\bis|->|=>)?$")
# Spaces that folding leaves inside brackets -> how they are written on one line.
_ON_ONE_LINE = (("( ", "("), ("[ ", "["), (" )", ")"), (" ]", "]"), (",)", ")"), (",]", "]"))
_DESCRIPTION = re.compile(r'^"""(?:[^"]|"(?!""))*"""\s*')
_STRING_OPEN = re.compile(rb'\s*[rRuUbB]{0,2}("""|\'\'\'|"|\')')
_DIRECTIVE = re.compile(
    r"""(?x)^(?:go:|nolint|noqa|type:\ |pylint:|flake8|mypy:|eslint|prettier|tslint|jshint|@ts-|rubocop:|swiftlint:|
        clang-format|NOLINT|frozen_string_literal|-\*-|vim:|SPDX-|[-=*~\#/_+.\s]+$|\#?region|endregion|!)"""
)
_TAG_LINE = re.compile(r"^(?:@\w|\\(?:param|returns?|brief)\b|:(?:param|returns?|type|raises|rtype)\b|\+\w+:)")
_MARKUP = re.compile(
    r"</?(?:summary|remarks|para|p|code|c|b|i|em|see|seealso|paramref|typeparamref)\b(?:\s+\w+=\"([^\"]*)\")?[^>]*>"
)
_DOC_SIGN = re.compile(rb"^ ?[|^'](?=\s)")
"""The sign that Haskell and R put between a comment's mark and its text."""
_CODE_FENCE = re.compile(r"^(?:```|~~~)")


def shortened(signature: str, *, cut: bool = False) -> str:
    """At most `MAX_SIGNATURE` characters of a signature, ending in "…" where it is cut, or was before (``cut``)."""
    if len(signature) <= MAX_SIGNATURE and not cut:
        return signature
    return signature[: MAX_SIGNATURE - len(_CUT)].rstrip(_OPENS) + _CUT


def _folded(text: bytes, start: int, end: int) -> tuple[str, bool]:
    """``text[start:end]`` as one line of at most `MAX_SIGNATURE` characters, white space folded; whether it is cut."""
    raw = text[start : min(end, start + SIGNATURE_BYTES)]
    line = " ".join(raw.decode("utf-8", "replace").split())
    return line[:MAX_SIGNATURE], len(line) > MAX_SIGNATURE or end > start + SIGNATURE_BYTES


def signature(text: bytes, start: int, end: int, annotation: bytes) -> str:
    """``text[start:end]`` as one line, without leading annotations and without what only opens the body.

    A long one is cut and ends in "…" (`shortened`).
    """
    if annotation:
        start = skip_annotations(text, start, end, annotation)
    line, cut = _folded(text, start, end)
    if text.find(b"\n", start, min(end, start + SIGNATURE_BYTES)) >= 0:
        for spread, joined in _ON_ONE_LINE:
            line = line.replace(spread, joined)
    if line.startswith('"'):
        line = _DESCRIPTION.sub("", line)
    bare = _TAIL.sub("", line) if line.endswith(_OPENERS) else line.rstrip(" {:=;")
    return shortened(bare or line, cut=cut)


def first_line(text: bytes, start: int, end: int) -> str:
    """The first line of ``text[start:end]``, as a signature."""
    stop = text.find(b"\n", start, end)
    stop = end if stop < 0 else stop
    line, cut = _folded(text, start, stop)
    return shortened(line.rstrip(";,{ "), cut=cut)


_CLOSING = {0x28: 0x29, 0x5B: 0x5D}  # ( and [


def skip_annotations(text: bytes, start: int, end: int, opener: bytes) -> int:
    """The offset of the first byte after leading annotations: ``@Name(...)``, ``[Name]`` or ``#[Name]``."""
    position = start
    while text.startswith(opener, position) and position < end:
        after = position + len(opener)
        if opener == b"@":
            if text.startswith(b"interface", after):
                return position
            while after < end and (text[after : after + 1].isalnum() or text[after : after + 1] in (b".", b"_", b":")):
                after += 1
            if text[after : after + 1] == b"(":
                after = _balanced(text, after, end)
        else:
            after = _balanced(text, after - 1, end)
        position = after
        while position < end and text[position] in b" \t\r\n":
            position += 1
    return position if position < end else start


def _balanced(text: bytes, start: int, end: int) -> int:
    """The offset after the bracket that closes the one at ``start``; ``end`` when there is none."""
    opening = text[start]
    closing = _CLOSING.get(opening, opening)
    depth = 0
    for position in range(start, min(end, start + DOC_BYTES)):
        byte = text[position]
        if byte == opening:
            depth += 1
        elif byte == closing:
            depth -= 1
            if depth == 0:
                return position + 1
    return end


@cache
def _comment_marks(language: str) -> tuple[tuple[bytes, ...], tuple[tuple[bytes, bytes], ...]]:
    """The marks that begin a line comment, and the pairs that open and close a block comment."""
    known = LANGUAGES[language]
    blocks = [(opening.encode(), closing.encode()) for opening, closing in known.block_comments]
    return tuple(mark.encode() for mark in known.line_comments), tuple(blocks)


def doc_before(text: bytes, start: int, language: str) -> str:
    """The first paragraph of the comment that ends on the line before ``start``; "" when there is none."""
    line_markers, blocks = _comment_marks(language)
    position = text.rfind(b"\n", 0, start) + 1
    if text[position:start].strip():
        return ""
    lines: list[bytes] = []
    floor = max(0, position - DOC_BYTES)
    while position > floor and len(lines) < DOC_LINES:
        line_start = text.rfind(b"\n", floor, position - 1) + 1 or floor
        line = text[line_start : position - 1].strip()
        if not lines:
            for opening, closing in blocks:
                if line.endswith(closing):
                    return _block_doc(text, floor, position - 1, opening, closing)
        if line_start == 0 and line.startswith(b"#!"):
            break
        if line_markers and line.startswith(line_markers):
            lines.append(line)
            position = line_start
            continue
        break
    if not lines:
        return ""
    return first_paragraph([_without_marker(line, line_markers) for line in reversed(lines)])


def _without_marker(line: bytes, markers: tuple[bytes, ...]) -> str:
    marker = next(marker for marker in markers if line.startswith(marker))
    rest = line.removeprefix(marker).lstrip(marker[-1:] + b"!")
    return _DOC_SIGN.sub(b"", rest).decode("utf-8", "replace")


def _block_doc(text: bytes, floor: int, end: int, opening: bytes, closing: bytes) -> str:
    close = text.rfind(closing, floor, end)
    begin = text.rfind(opening, floor, close)
    if begin < 0 or text[text.rfind(b"\n", 0, begin) + 1 : begin].strip():
        return ""
    inner = text[begin + len(opening) : close].decode("utf-8", "replace")
    return first_paragraph([line.strip().lstrip("*!|").strip() for line in inner.splitlines()])


def first_paragraph(lines: list[str]) -> str:
    """The first block of lines that is neither empty nor tags nor directives, as one line."""
    kept: list[str] = []
    for raw in lines:
        line = (_MARKUP.sub(lambda match: match.group(1) or "", raw) if "<" in raw else raw).strip()
        if _DIRECTIVE.match(line) or _TAG_LINE.match(line) or _CODE_FENCE.match(line) or not line:
            if kept and (not line or not _DIRECTIVE.match(line)):
                break
            continue
        kept.append(line)
    return " ".join(" ".join(kept).split())[:DOC_CHARACTERS]


def docstring_at(text: bytes, start: int, end: int) -> str:
    """The first paragraph of the string literal that ``text[start:end]`` begins with; "" when it does not."""
    match = _STRING_OPEN.match(text, start, end)
    if match is None:
        return ""
    quote = match.group(1)
    close = text.find(quote, match.end(), min(end, match.end() + DOC_BYTES))
    inner = text[match.end() : close if close >= 0 else min(end, match.end() + DOC_BYTES)]
    return first_paragraph(inner.decode("utf-8", "replace").splitlines())

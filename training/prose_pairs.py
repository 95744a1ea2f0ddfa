"""Pairs out of documents: heading and section, question and answer, a sentence and the passage that it was taken from.

Pure. Headings are found as the product finds them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from findling.reading.outline import outline
from training.code_pairs import Found
from training.pairs import BODY_CHARS

LEAST_SECTION_CHARS = 150
_LEAST_CLOZE_CHARS = 350
_LEAST_SENTENCE_WORDS = 7
_MOST_SENTENCE_CHARS = 300

_MARKUP = (
    (re.compile(r"!?\[([^\]]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"<[^>\n]{1,120}>|\{[#%:{][^}\n]*\}+"), " "),
    (re.compile(r"[`*_]{1,3}([^`*_\n]+)[`*_]{1,3}"), r"\1"),
    (re.compile(r"\s+"), " "),
)
_QUESTION = re.compile(r"\?\s*$|^(?:how|what|why|when|where|which|who|can|does|do|is|are|should)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n\s*\n|\n(?=\s*[-*+] )")
_PLAIN_LINE = re.compile(r"^(?!\s*(?:```|~~~|\||:::|\.\. |#|<|//|import |export ))", re.MULTILINE)
_FENCE = re.compile(r"^\s*(?:```|~~~).*?^\s*(?:```|~~~)\s*$", re.MULTILINE | re.DOTALL)
_HEADING_MARK = re.compile(r"^\s*(?:#+|=+)\s+|\n[=\-~^\"'*+#]{3,}\s*$")
_SPECIFIC_WORDS = 3
"""A heading of fewer words says what it is about only together with the one above it."""


def prose_pairs(text: str, language: str) -> Iterator[Found]:
    """All pairs of one document. Which sentence is taken out depends on the text alone."""
    marks = outline(text, language).marks
    above: list[tuple[int, str]] = []
    for number, mark in enumerate(marks):
        end = marks[number + 1].start if number + 1 < len(marks) else len(text)
        section = text[mark.start : end]
        title = plain(mark.title)
        while above and above[-1][0] >= mark.level:
            above.pop()
        context = tuple(name for _, name in above)[-3:]
        above.append((mark.level, title))
        body = _without_heading(section)
        if len(body) < LEAST_SECTION_CHARS:
            continue
        specific = len(title.split()) >= _SPECIFIC_WORDS or not context
        query = title if specific else f"{context[-1]} {title}"
        kind = "question" if _QUESTION.search(title) else "heading"
        yield Found(kind, query, body[:BODY_CHARS], "", context)
        yield from _cloze(body[:BODY_CHARS], title, context)


def plain(text: str) -> str:
    """Without the marks of Markdown and its like, on one line."""
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    return text.strip()


def _without_heading(section: str) -> str:
    lines = section.split("\n")
    rest = lines[1:]
    while rest and re.fullmatch(r"\s*[=\-~^\"'*+#]{3,}\s*", rest[0]):
        rest = rest[1:]
    return "\n".join(rest).strip()


def _cloze(body: str, title: str, context: tuple[str, ...]) -> Iterator[Found]:
    """A sentence of the section, asked of the rest of it (the "inverse cloze task")."""
    if len(body) < _LEAST_CLOZE_CHARS:
        return
    said = [
        part
        for part in _SENTENCE_END.split(_FENCE.sub("", body))
        if _PLAIN_LINE.match(part) and len(part.split()) >= _LEAST_SENTENCE_WORDS and len(part) <= _MOST_SENTENCE_CHARS
    ]
    if not said:
        return
    sentence = random.Random(len(body)).choice(said)
    rest = body.replace(sentence, " ", 1)
    yield Found("cloze", plain(sentence.lstrip("-*+ ")), rest, "", (*context[-2:], title))

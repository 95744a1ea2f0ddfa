"""What the words of a text are, by Pygments: the work of a process of its own (`highlighting`).

The only module that knows Pygments. Its lexers are regular expressions over a stranger's text: whoever asks ends the
process when one takes too long.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from pygments import lexers, token
from pygments.lexer import Lexer
from pygments.util import ClassNotFound

from findling.reading.worker_process import serve

Pieces = list[tuple[str, str]]
"""(class, text), the texts together being the whole; '' is the class of what has no colour."""

Task = tuple[str, str, str]
"""A text, the id of its language, and its path."""

_CLASSES: Sequence[tuple[Any, str]] = (
    (token.Comment, "c"),
    (token.Keyword, "k"),
    (token.Operator.Word, "k"),
    (token.String.Doc, "c"),
    (token.String, "s"),
    (token.Number, "m"),
    (token.Name.Function, "f"),
    (token.Name.Class, "f"),
    (token.Name.Decorator, "d"),
    (token.Name.Tag, "k"),
    (token.Name.Attribute, "d"),
    (token.Name.Builtin, "b"),
    (token.Name.Constant, "m"),
    (token.Generic.Heading, "h"),
    (token.Generic.Subheading, "h"),
    (token.Generic.Deleted, "m"),
    (token.Generic.Inserted, "s"),
)

_LEXERS: Mapping[str, str] = {"vue": "html", "jsonc": "json"}
"""Where Pygments has no lexer of a language's name, nor of its files'."""


def main(out: int) -> None:
    """Serve until standard input ends; answers go to the descriptor ``out``."""
    serve(out, _answer)


def _answer(task: Task) -> Pieces:
    try:
        return list(pieces(*task))
    except Exception:  # noqa: BLE001 - of a stranger's text and many lexers; it is shown without colours
        return [("", task[0])]


def pieces(text: str, language: str, path: str) -> Iterator[tuple[str, str]]:
    """Neighbouring words of one class are one piece."""
    name = path.rpartition("/")[2]
    stem, dot, ending = name.rpartition(".")
    lexer = _lexer(language, f"x.{ending}" if dot and stem else name)
    at = 0
    before, held = "", ""
    for start, kind, value in lexer.get_tokens_unprocessed(text) if lexer else ():
        if start != at:  # a lexer that leaves something out, or repeats it
            break
        at += len(value)
        found = _class(kind)
        if found != before:
            yield before, held
            before, held = found, value
        else:
            held += value
    yield before, held
    if at < len(text):
        yield "", text[at:]


@cache
def _class(kind: Any) -> str:
    return next((name for known, name in _CLASSES if kind in known), "")


@cache
def _lexer(language: str, file: str) -> Lexer | None:
    for find, name in (
        (lexers.get_lexer_by_name, _LEXERS.get(language, language)),
        (lexers.get_lexer_for_filename, file),
    ):
        try:
            if name:
                return find(name, stripnl=False, ensurenl=False)
        except ClassNotFound:
            continue
    return None

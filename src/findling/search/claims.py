"""What of a question is decidable: names, paths, messages and quotations, which occur or do not. Pure.

Words never are: who asks for "caching" may be answered by what speaks of a cache. A word that no language has is a
name, a typo or of another language, and looked for to the letter where it is all that is asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

from findling.model.types import Intent
from findling.search import asked_path, messages
from findling.search.analysis import STOP_WORDS, name_alone
from findling.search.intent import ends_located, is_quoted, name_confidence
from findling.search.planner import LABEL, QUOTED

Kind = Literal["symbol", "path", "message", "text"]

MOST_CHARS = 300
"""Longer texts are pasted, and have more in them than one claim."""

MOST = 6
"""Claims of one question that are looked up."""

LEAST_CHARS = 3
"""Shorter texts stand everywhere."""

SURE_NAME = 0.85
"""From here on a word's form alone makes it a name (`intent`)."""

_NAME_IN_SENTENCE = re.compile(r"[^\W\d]\w*_\w+|_+[^\W\d]\w*|[^\W_]*[a-z0-9][A-Z]\w*")
_AROUND = "\"'`?,;:!()[]{}<>*&.…"
_WORD_PAIR = re.compile(r"[A-Za-z]+(?:/[A-Za-z]+)+")
_ASKS = re.compile(r"^(?:how|what|where|which|who|why)\b|\?$", re.IGNORECASE)
_WILD = re.compile(r"[*?]")


class Claim(NamedTuple):
    """Something that is there to the letter or is not. ``inflected``: it may be a word in another form."""

    kind: Kind
    text: str
    inflected: bool = False


class Claims(NamedTuple):
    """``whole``: nothing else is asked, so that the question has no answer where none of them is there."""

    these: tuple[Claim, ...]
    whole: bool


NONE = Claims((), False)


def claims(text: str, intent: Intent, is_word: Callable[[str], bool]) -> Claims:
    """The claims of a question `without_form`. ``is_word``: whether some language has a word."""
    text = text.strip()
    if len(text) > MOST_CHARS or "\n" in text:
        return NONE
    if is_quoted(text):
        inside = text.strip(text[0]).strip()
        return _of_one(inside, intent, is_word) if _is_one(inside) else _whole("text", inside)
    if (declared := name_alone(text)) and declared != text:
        return _whole("symbol", declared)
    if _is_one(text):
        return _of_one(text, intent, is_word)
    if intent == "error" and (label := LABEL.match(text)) is not None:
        message = messages.message_in(text)
        return NONE if _ASKS.search(text[label.end() :]) else _whole("message", message)
    return Claims(tuple(_in_sentence(text))[:MOST], False)


def to_the_letter(text: str) -> Claims:
    """That a text occurs as it is."""
    return _whole("text", text.strip())


def _is_one(text: str) -> bool:
    return len(text.split()) == 1


def _whole(kind: Kind, text: str) -> Claims:
    return Claims((Claim(kind, text),), True) if len(text) >= LEAST_CHARS else NONE


def _of_one(word: str, intent: Intent, is_word: Callable[[str], bool]) -> Claims:
    """Of a question that is one word, quoted or not."""
    if not word.isascii() or "://" in word:
        return _whole("text", word) if "://" in word else NONE
    word = word.strip("\"'`,;")
    if "/" in word or "\\" in word or intent == "path":
        pair_of_words = _WORD_PAIR.fullmatch(word) and all(map(is_word, word.split("/")))
        return NONE if pair_of_words or _WILD.search(word) else _whole("path", word.rstrip("/\\"))
    name = word.lstrip("-")
    if not any(map(str.isalpha, name)):
        return NONE
    if name_confidence(name) >= SURE_NAME or word != name:
        return _whole("symbol", name)
    return NONE if len(name) < LEAST_CHARS or is_word(name) else Claims((Claim("symbol", name, True),), True)


def _is_path(word: str) -> bool:
    separated = "/" in word or "\\" in word
    return _is_one(word) and separated and ends_located(word) and asked_path.asked(word) is not None


def _in_sentence(text: str) -> list[Claim]:
    """What is quoted, and what is written as a name or as a path."""
    quotations = (quoted[1].strip() for quoted in QUOTED.finditer(text))
    found = [Claim("path" if _is_path(one) else "text", one) for one in quotations if len(one) > LEAST_CHARS]
    for token in QUOTED.sub(" ", text).split():
        word = token.strip(_AROUND)
        if not word.isascii() or "://" in word or len(word) <= LEAST_CHARS or word.lower() in STOP_WORDS:
            continue
        if _is_path(word):
            found.append(Claim("path", word))
        elif _NAME_IN_SENTENCE.fullmatch(word):
            found.append(Claim("symbol", word))
    return list(dict.fromkeys(found))

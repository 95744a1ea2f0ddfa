"""What else the words of a question may be called in code and its documentation: synonyms, and English for what is
said in another language. Tables of common words (``*.txt`` beside this file), in general and of no project; no
translation, and no sentences are known.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from findling.model import tokenizer


def _lines(name: str) -> Iterator[str]:
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return (line for line in text.splitlines() if not line.startswith("#"))


@cache
def _synonyms() -> dict[str, tuple[str, ...]]:
    """Stem -> the stems that may stand in its place."""
    found: dict[str, dict[str, None]] = {}
    for line in _lines("synonyms.txt"):
        said, colon, others = line.partition(":")
        words = [tokenizer.stem(word) for word in said.split()]
        instead = [tokenizer.stem(word) for word in others.split()] if colon else words
        for word in words:
            found.setdefault(word, {}).update(dict.fromkeys(instead))
    return {word: tuple(other for other in others if other != word) for word, others in found.items()}


def synonyms(stem: str) -> tuple[str, ...]:
    """The stems of words that may stand for a word, by its stem; () for most."""
    return _synonyms().get(stem, ())


@cache
def _english() -> dict[str, tuple[str, ...]]:
    """Word -> what it is in English."""
    found: dict[str, tuple[str, ...]] = {}
    for line in _lines("other_languages.txt"):
        words, english = line.split(": ")
        for word in words.split():
            found[word] = (*found.get(word, ()), *english.split())
    return found


@cache
def _unspaced() -> re.Pattern[str]:
    """The words of scripts that have no spaces. Made when it is needed: that takes 3 ms."""
    signs = re.compile("[\u3040-\u30ff\u4e00-\u9fff]")
    words = sorted((word for word in _english() if signs.match(word)), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, words)))


_SIGNS = 2
"""Different signs of another language in a question: a single foreign word may be a name."""

_SPOKEN = re.compile(
    r"[¿¡]|\b(?:[dlj]|qu)['’](?=\w{3})|\b(?:como|que|donde|cual|cuando|los|las|una|puedo|hacer|"
    r"nao|voce|onde|uma|quais|posso|"
    r"wie|warum|welche[rsn]?|wird|werden|nicht|und|eine[rnms]?|kann|ich|wenn|"
    r"pourquoi|quels?|quelles?|est-ce|avec|une|peut|quand|faire)\b"
)
"""Signs, in lower case without accents, that are neither English words nor code; so are the words of the table, where
an accent stands only if the word is English without."""

_ALSO_ENGLISH = frozenset("comment para les dans le la un el de der die das des du em os".split())
"""Frequent words that prove nothing by themselves, as they are English words or code too."""


def in_english(text: str) -> tuple[str, ...]:
    """English words for what a text in another language says; () for English. Takes time linear in the text."""
    table = _english()
    found: dict[str, None] = {}
    if not text.isascii():
        for match in _unspaced().findall(text):
            found.update(dict.fromkeys(table[match]))
    words = [(word, _plain(word)) for word in re.findall(r"\w+", unicodedata.normalize("NFC", text.lower()))]
    known = {word if word in table else plain: None for word, plain in words if word in table or plain in table}
    spoken = set(_SPOKEN.findall(_plain(text)))
    unsure = any(plain in _ALSO_ENGLISH for _, plain in words)
    if known and ((spoken and len(spoken | known.keys()) >= _SIGNS) or (unsure and len(known) >= _SIGNS)):
        for key in known:
            found.update(dict.fromkeys(table[key]))
    return tuple(found)


def _plain(text: str) -> str:
    """Lower case without accents."""
    return "".join(
        char
        for char in unicodedata.normalize("NFD", text.lower().replace("ß", "ss"))
        if not unicodedata.combining(char)
    )

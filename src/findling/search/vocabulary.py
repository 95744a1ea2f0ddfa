"""What else the words of a question may be called in code and its documentation: synonyms, and English for what is
said in another language; and what any list of words is. All are tables of common words (``*.txt`` beside this file), in
general and of no project; no translation, and no sentences are known.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from findling.model import tokenizer


def _lines(name: str) -> Iterator[str]:
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return (line for line in text.splitlines() if line and not line.startswith("#"))


@cache
def _lists() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in _lines("words.txt"):
        name, words = line.split(": ", 1)
        found.setdefault(name, []).extend(words.split())
    return found


def word_list(name: str) -> frozenset[str]:
    """The list of words that `words.txt` has by a name."""
    return frozenset(_lists()[name])


def word_lists(beginning: str) -> dict[str, frozenset[str]]:
    """The lists whose names begin so, by the rest of their names."""
    return {name.removeprefix(beginning): word_list(name) for name in _lists() if name.startswith(beginning)}


STOP_WORDS = word_list("stop")
"""Words that carry no meaning of their own. A query of nothing else keeps them all."""


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


SPACED = ("spanish", "german", "french")
"""The first columns of the table, by the name of the stemmer; Portuguese stands with Spanish. The others are of scripts
without spaces."""

CHINESE, JAPANESE = 3, 4

_SIGNS = {
    "spanish": re.compile(
        r"[¿¡]|\b(?:como|que|donde|cual|cuando|los|las|una|puedo|hacer|cada|desde|hasta|esta|estan|sobre|segun|quien|hace|"
        r"por|nao|voce|onde|uma|quais|posso)\b"
    ),
    "german": re.compile(
        r"\b(?:wie|warum|wieso|weshalb|welche[rsnm]?|wird|werden|wurden?|nicht|und|oder|eine[rnms]?|ein|kann|ich|wenn|ist|"
        r"sind|wo|woher|wodurch|fur|zum|zur|auf|durch|nach|jede[rsn]?|diese[rsnm]?)\b"
    ),
    "french": re.compile(
        r"\b(?:[dlj]|qu)['’](?=\w{3})|\b(?:pourquoi|quels?|quelles?|est-ce|avec|une|peut|quand|faire|sont|cette|lorsque|"
        r"lors|chaque|apres|sans|aux|ou est|ou sont)\b"
    ),
}
"""Signs of a language, in lower case without accents, that are neither English words nor code. So are the words of the
table, if they are not English as well."""

_SURE = 2
"""So many different signs tell another language: a single foreign word may be a name."""

_LOOKED_AT = 2_000
"""So many characters of a text are looked at. Questions are shorter, and a pasted text keeps to its first language."""

_SURE_ALONE = 3
"""So many signs are needed where the text has none of the language's frequent words."""

_SHARE = 0.15
"""The part of a text's words that have to be signs, because a long text has some by chance."""

_ALSO_ENGLISH = word_lists("also ")
"""Frequent words of a language that are English words or code as well, so that they prove nothing by themselves."""


@cache
def _columns() -> tuple[frozenset[str], tuple[dict[str, tuple[str, ...]], ...]]:
    """The stems of the English words of the table, and for each language: word -> what it is in English."""
    columns: tuple[dict[str, tuple[str, ...]], ...] = tuple({} for _ in range(5))
    headwords: set[str] = set()
    for line in _lines("other_languages.txt"):
        english, others = line.split(": ", 1)
        meant = tuple(english.split())
        headwords.update(map(tokenizer.stem, meant))
        for column, words in zip(columns, others.split("|"), strict=True):
            for word in words.split():
                column[word] = tuple(dict.fromkeys((*column.get(word, ()), *meant)))
    return frozenset(headwords), columns


@cache
def _stems(language: str) -> tuple[Callable[[str], str], dict[str, tuple[str, ...]]]:
    """How a language's words lose their endings, and its column by what is left of them, without accents."""
    import Stemmer

    stemmer = Stemmer.Stemmer(language)
    found: dict[str, tuple[str, ...]] = {}
    for word, english in _columns()[1][SPACED.index(language)].items():
        for stem in {_plain(stemmer.stemWord(word)), _plain(stemmer.stemWord(_plain(word)))}:
            found[stem] = tuple(dict.fromkeys((*found.get(stem, ()), *english)))
    return stemmer.stemWord, found


def _cut(text: str, script: int) -> Iterator[str]:
    """The words of a script that has no spaces: at each place the longest; in Japanese a single Chinese character is a
    word only where none stands beside it."""
    column = _columns()[1][script]
    longest = max(map(len, column))
    at = 0
    while at < len(text):
        word = next((text[at : at + size] for size in range(longest, 0, -1) if text[at : at + size] in column), "")
        around = text[max(0, at - 1) : at] + text[at + 1 : at + 2]
        if word and (len(word) > 1 or script == CHINESE or not any(map(_is_han, around))):
            yield word
        at += len(word) or 1


def _is_han(letter: str) -> bool:
    return "\u4e00" <= letter <= "\u9fff"


def _is_kana(letter: str) -> bool:
    return "\u3040" <= letter <= "\u30ff"


def in_english(text: str) -> tuple[str, ...]:
    """English words for what the beginning of a text in another language says; () for English."""
    text = text[:_LOOKED_AT]
    found: dict[str, None] = {}
    is_japanese = not text.isascii() and any(map(_is_kana, text))
    if is_japanese or (not text.isascii() and any(map(_is_han, text))):
        script = JAPANESE if is_japanese else CHINESE
        for word in _cut(text, script):
            found.update(dict.fromkeys(_columns()[1][script][word]))
        return tuple(found)
    plain = _plain(text)
    words = re.findall(r"\w+", unicodedata.normalize("NFC", text.lower()))
    best: tuple[int, dict[str, tuple[str, ...]]] = (0, {})
    for language in SPACED:
        signs = set(_SIGNS[language].findall(plain))
        frequent = signs or not _ALSO_ENGLISH[language].isdisjoint(words)
        if not frequent and text.isascii():
            continue
        said = {word for word in words if _plain(word) not in signs and word not in _ALSO_ENGLISH[language]}
        known = {word: english for word in words if word in said and (english := _meant(word, language))}
        evidence = {word for word in known if tokenizer.stem(word) not in _columns()[0]} | signs
        wanted = max(_SURE if frequent else _SURE_ALONE, len(words) * _SHARE)
        if known and len(evidence) > best[0] and len(evidence) >= wanted:
            best = len(evidence), known
    for english in best[1].values():
        found.update(dict.fromkeys(english))
    return tuple(found)


_LEAST_WORD = 3
"""Letters; shorter ones are articles and the like, which look like what is left of other words."""

_LEAST_PART, _LONGEST_COMPOUND = 4, 40
"""Letters of a part of a compound, and of a whole one."""


def _meant(word: str, language: str) -> tuple[str, ...]:
    """What a word is in English; of a German compound each part."""
    stem, column = _stems(language)
    if len(word) < _LEAST_WORD:
        return ()
    for each in (stem(word), stem(_plain(word))):
        if _plain(each) in column:
            return column[_plain(each)]
    if language == "german" and len(word) <= _LONGEST_COMPOUND:
        for end in range(len(word) - _LEAST_PART, _LEAST_PART - 1, -1):
            first, last = word[:end], word[end:]
            begins = column.get(_plain(stem(first))) or column.get(_plain(stem(first.removesuffix("s"))))
            if begins and (ends := column.get(_plain(stem(last)))):
                return (*begins, *ends)
    return ()


def _plain(text: str) -> str:
    """Lower case without accents."""
    return "".join(
        char
        for char in unicodedata.normalize("NFD", text.lower().replace("ß", "ss"))
        if not unicodedata.combining(char)
    )

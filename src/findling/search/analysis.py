"""What a query says: its terms and their weights, the names in it, and what it asks for. Pure.

The ranking needs more than a bag of words: which words carry meaning, which look like identifiers, which words
written apart may be one name ("web socket" and ``WebSocket``), and whether tests or examples are wanted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from msgspec import Struct

from findling.model import tokenizer
from findling.search.query import without_form
from findling.search.vocabulary import STOP_WORDS, in_english, synonyms, word_list, word_lists

WEAK_WORDS = word_list("weak")
"""Words that are seldom the point of a question: they say how one asks, or what all code does."""

WEAK_WEIGHT = 0.3
CAPITALISED_WEIGHT = 0.7
"""A capitalised word inside a sentence is often a name, but not surely one."""

QUALIFIER_WEIGHT = 0.5
"""``Outer`` in ``Outer.inner``: the last part is what is asked for."""

TRANSLATED_WEIGHT, FOREIGN_WEIGHT = 1.0, 0.1
"""Of the English words for what is said in another language, and of the words that were said: they may be names, but
most of them stand nowhere."""

LONG = 8
"""Words that say something, beyond which a question is long: some of them are in any file's name and in any large
file. So these say less, and the best passage says more."""

MIN_SAID = 3
"""Words that say something, from which on a question is a description: shorter ones are names, and are meant so."""

_SAME_EVERYWHERE = re.compile(r"[A-Z0-9_]")

MAX_SQUASHED = 4
"""Adjacent words that are tried as one name."""

_TOKEN = re.compile(r"(?:->|[^\s\"'`,;()\[\]{}<>!?])+")
_INNER_CAPITAL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2,}[a-z]")
_SEPARATORS = re.compile(r"::|->|[./\\#:]+")
_NAME = re.compile(r"[^\W\d]\w*")


_ADVICE = re.compile(
    r"\b(?:i|my|me|we|our|you|your)\b|"
    r"(?:^|[后时中里])\s*(?:如何|怎么|怎样)|我|吗|必须|(?:には|たい|方法|べきか)[。？?\s]*$",
    re.IGNORECASE,
)
"""Who speaks of himself, or begins by asking how in Chinese, or ends so in Japanese, wants to be told what to do:
documentation, before code."""

_OF_OUR_CODE = re.compile(r"\s*where\b(?!.*\b(?:i|my|me|you|your)\b).*\b(?:we|our)\b", re.IGNORECASE | re.DOTALL)
"""But "where do we retry" is asked by those whose code it is, of the code."""

_ASKED_LAST = re.compile(r".*[:;.!?]\s+(?=(?:how|what|when|where|which|who|why)\s)", re.IGNORECASE | re.DOTALL)
"""What stands before the question itself. It does not say who is asking: "I review this: how are errors told"."""

_VERSION = re.compile(r"[vV]\d+")

_FOREIGN_QUESTION = re.compile(
    r"\b(?:(?:ich|meine?[rnms]?|man|wir|puedo|debo|mis?|je|mon|mes|nous)\b|j'|c[oó]mo (?:se |\w+o\b)|"
    r"comment \w+(?:er|ir|re)\b)",
    re.IGNORECASE,
)
"""Likewise in German, Spanish or French, of a text that is in such a language: who asks how something is done asks of
the code."""

MAX_QUESTION = 500
"""Characters of what may be a question; in longer texts, which are pasted, everybody says "I"."""

_DECLARED = re.compile(
    r"(?:(?:def|fn|func|struct)\s+|(?:class|interface|enum|trait|type)\s+(?=[A-Z]))([\w.:]+)(?:\(\))?"
)
"""A definition's first words. "class" and "type" begin descriptions, too, whose next word is a plain one."""

_COMPOUND = re.compile(r"[^\W_]_[^\W_]|[a-z0-9][A-Z]")

_OF_CODE = re.compile(
    r"\b(?:implementation|implement(?:s|ed)?|internals?|subclass(?:es)?|(?:which|what) code)\b"
    r"|(?<!\ba )(?<!\ban )(?<!\bone )\b"
    r"(?:class(?:es)?|methods?|functions?|constructors?|interfaces?|structs?|enums?|traits?|mixins?|decorators?)\b",
    re.IGNORECASE,
)
"""Who names what programs are made of asks about the code: "the parser class". "A function" is anybody's word."""

_REPORTS = re.compile(
    r"(?!\W*(?:are|can|could|did|do|does|how|is|should|what|when|where|which|who|why|will)\b).*?\b(?:no longer|should|"
    r"(?:do(?:es)?|is)(?:n't| not)|fails?|crash(?:es|ed)|wrong(?:ly)?|incorrect(?:ly)?|unexpected(?:ly)?|regression|"
    r"throws|raises|complains?|ignore[sd]|traceback)\b|\W*(?:fix|improve)\b",
    re.IGNORECASE | re.DOTALL,
)
"""Who says what a program does wrong, or ought to do, and asks nothing, means its code: so are the titles of issues."""

_HOW_IT_WORKS = re.compile(r"how\s+(?!(?:can|come|could|do|far|long|many|much|often|should|to|would)\b)", re.IGNORECASE)
""""How errors are reported" asks what the code does, "how to report errors" what to do."""

_OF_SUBJECTS = word_list("between nouns")
"""Stop words that stand between nouns. A question with no others is a subject alone: "file upload handling"."""

_IN_DOCUMENTS = frozenset(("example", "changes"))
"""Kinds of place that are documents as often as code."""

_FIRST_WORDS = 2
"""A kind of place is asked for where a question begins with it: "regression test for", not "while a test runs"."""

_WANTS = word_lists("wants ")
"""The words of a question that asks for a kind of place."""


class NameInQuery(NamedTuple):
    """Something in the query that may be a definition's name. ``squashed`` is its key, ``weight`` in (0, 1].

    ``qualifies``: it says where another name of the query stands, as ``Outer`` in ``Outer.inner``.
    """

    text: str
    squashed: str
    weight: float
    qualifies: bool = False


class QueryTerms(Struct, frozen=True):
    """An analysed query. ``terms`` maps a term to its weight; ``keys`` its `tokenizer.term_key`s likewise.

    ``text`` is what was asked `without_form`; ``words`` are its lower-case content words; ``meant`` is the text with
    English words for what it says in another language; ``wants`` the kinds of place it speaks of: test, example,
    legacy, superseded, changes, history, messages, platform, generated; tests where these are what it asks for; and of
    four that say whether code or documents are meant, one at most: advice, code, workings, subject. ``synonyms``: for
    some of the terms others, none of them in ``terms``, that may stand in their place. ``proper``: those of the terms
    that are written like proper names.
    """

    text: str
    terms: dict[str, float]
    words: tuple[str, ...]
    names: tuple[NameInQuery, ...]
    compounds: tuple[str, ...]
    wants: frozenset[str]
    meant: str = ""
    synonyms: Mapping[str, tuple[str, ...]] = {}
    proper: frozenset[str] = frozenset()

    @property
    def is_english(self) -> bool:
        """Whether nothing in the text is known as a word of another language."""
        return self.meant == self.text

    @property
    def brevity(self) -> float:
        """1 for a question of up to `LONG` words, less for a longer one: the share that `LONG` is of its words."""
        return min(1.0, LONG / max(1, len(self.words)))

    @property
    def keys(self) -> dict[int, float]:
        return {tokenizer.term_key(term): weight for term, weight in self.terms.items()}


def analyse(text: str) -> QueryTerms:
    """Analyse any text."""
    text = without_form(text)
    words = tokenizer.words(text)
    content = [word for word in words if word.lower() not in STOP_WORDS] or words
    weighted: dict[str, float] = {}
    english = tuple(word for word in in_english(text) if word not in STOP_WORDS)
    for word in content:
        weight = WEAK_WEIGHT if word.lower() in WEAK_WORDS else 1.0
        if english and not (word.isascii() and _SAME_EVERYWHERE.search(word)):
            weight = FOREIGN_WEIGHT
        for term in tokenizer.terms_of(word):
            weighted[term] = max(weighted.get(term, 0.0), weight)
    for word in english:
        weight = WEAK_WEIGHT if word in WEAK_WORDS else TRANSLATED_WEIGHT
        for term in tokenizer.terms_of(word):
            weighted[term] = max(weighted.get(term, 0.0), weight)
    compounds = _compounds(content)
    lower = {part for word in words for part in (word.lower(), *tokenizer.parts(word))}
    wants = frozenset(kind for kind, markers in _WANTS.items() if lower & markers)
    if any(_VERSION.fullmatch(word) for word in words):
        wants |= {"superseded"}
    if any(word.lower() in _WANTS["test"] for word in content[:_FIRST_WORDS]):
        wants |= {"tests"}
    if len(text) <= MAX_QUESTION:
        wants |= _meant(text, words, wants, foreign=bool(english))
    return QueryTerms(
        text=text,
        terms=weighted,
        words=tuple(dict.fromkeys((*(word.lower() for word in content), *english))),
        names=_names(text),
        compounds=compounds,
        wants=wants,
        meant=f"{text} {' '.join(english)}" if english else text,
        synonyms=_synonyms((*content, *english), weighted),
        proper=_proper(words[:1], content) if not english else frozenset(),
    )


def is_compound(name: str) -> bool:
    """Whether a word is a name, and no other word, by its capitals and underscores."""
    return _COMPOUND.search(name) is not None


def _meant(text: str, words: Sequence[str], wants: Set[str], *, foreign: bool) -> frozenset[str]:
    """What a question's form says of whether code or documents are meant."""
    asked = text[begins.end() :] if (begins := _ASKED_LAST.match(text)) else text
    asks_for_advice = _ADVICE.search(asked) and not _OF_OUR_CODE.match(asked)
    if asks_for_advice or (foreign and _FOREIGN_QUESTION.search(text)):
        return frozenset(("advice",))
    if foreign or not text.isascii():
        return frozenset()
    if _OF_CODE.search(text) or ("tests" not in wants and _REPORTS.match(text)):
        return frozenset(("code",))
    if wants & _IN_DOCUMENTS:
        return frozenset()
    if _HOW_IT_WORKS.match(asked):
        return frozenset(("workings",))
    is_subject = len(words) > 1 and not any(word.lower() in STOP_WORDS - _OF_SUBJECTS for word in words)
    return frozenset(("subject",)) if is_subject else frozenset()


def _proper(first: Sequence[str], content: Iterable[str]) -> frozenset[str]:
    """The terms of words with a capital letter, which in a sentence's first word has to be a later one."""
    return frozenset(
        term
        for word in content
        if any(map(str.isupper, word[1:] if word in first else word))
        for term in tokenizer.terms_of(word)
    )


def _synonyms(words: Iterable[str], terms: Mapping[str, float]) -> dict[str, tuple[str, ...]]:
    """By term of a plain word, what else it may be called; {} for what is no description."""
    plain = {tokenizer.stem(word) for word in words if word.islower() and word.isalpha() and word.isascii()}
    plain &= {term for term, weight in terms.items() if weight > FOREIGN_WEIGHT}
    if len(plain) < MIN_SAID:
        return {}
    found = {term: tuple(other for other in synonyms(term) if other not in terms) for term in terms if term in plain}
    return {term: others for term, others in found.items() if others}


def _compounds(content: list[str]) -> tuple[str, ...]:
    """Runs of 2 to `MAX_SQUASHED` adjacent content words, squashed; a word that is all there is, as it is.

    A name of several parts is indexed whole, without its ending being cut, and may be typed as one lower-case word.
    """
    lower = [tokenizer.squash(word) for word in content]
    if len(lower) == 1:
        return tuple(filter(None, lower))
    found = [
        "".join(lower[start : start + size])
        for size in range(2, MAX_SQUASHED + 1)
        for start in range(len(lower) - size + 1)
    ]
    return tuple(dict.fromkeys(found))


def _names(text: str) -> tuple[NameInQuery, ...]:
    found: dict[str, NameInQuery] = {}

    def note(name: str, weight: float, *, qualifies: bool = False) -> None:
        squashed = tokenizer.squash(name)
        if len(squashed) > 1 and (squashed not in found or found[squashed].weight < weight):
            found[squashed] = NameInQuery(name, squashed, weight, qualifies)

    tokens = _TOKEN.findall(text)
    for position, token in enumerate(tokens):
        token = token.strip(".:/\\-*&@$")
        if not token:
            continue
        pieces = [piece for piece in _SEPARATORS.split(token) if _NAME.fullmatch(piece)]
        if len(pieces) > 1:
            for piece in pieces[:-1]:
                note(piece, QUALIFIER_WEIGHT, qualifies=True)
            note(pieces[-1], 1.0)
        elif pieces and _looks_like_a_name(pieces[0]):
            note(pieces[0], 1.0)
        elif pieces and pieces[0][0].isupper() and position > 0 and pieces[0].lower() not in STOP_WORDS:
            note(pieces[0], CAPITALISED_WEIGHT)
    if (alone := name_alone(text)) and len(names_of := tokenizer.words(alone)) == 1:
        note(names_of[0], 1.0)
    return tuple(found.values())


def name_alone(text: str) -> str:
    """What a query is that is one name and nothing else, also as it is defined: "Parser", "a.Parser", "class Parser",
    "def parse"; '' for others."""
    declared = _DECLARED.fullmatch(text.strip())
    name = declared[1] if declared else text.strip()
    return "" if len(name.split()) != 1 else name


def _looks_like_a_name(word: str) -> bool:
    return "_" in word.strip("_") or word.startswith("__") or bool(_INNER_CAPITAL.search(word))

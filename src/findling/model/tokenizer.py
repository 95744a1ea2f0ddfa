"""Text to terms, the same when indexing and when asking. Pure: no I/O, no heavy imports.

A *word* is a run of letters, digits and underscores. A word becomes *terms*: its parts (camelCase, snake_case and
digit boundaries split, lower case, lightly stemmed) and, when it has several parts, the whole of it squashed to one
lower-case run, so that ``flatHashMap``, ``flat_hash_map`` and ``FlatHashMap`` meet each other and meet "hash map".
Chinese, Japanese and Korean runs become overlapping pairs of characters, for they have no spaces to split at.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from zlib import crc32

from findling.model.remembered import Remembered, also_forget

MAX_WORD = 64
"""Longer runs are hashes, encoded data or minified names: they are cut to this length and not split. Sentences in
Chinese, Japanese and Korean may be longer."""

MAX_PARTS = 8
"""A word with more parts is noise (a hex digest): only the whole is kept."""

_CACHE_LIMIT = 80_000
"""Distinct words remembered per process, about 15 MB; source trees repeat their words, so a miss is rare."""

_ASCII_WORDS = bytes(i if i < 128 and (chr(i).isalnum() or chr(i) == "_") else 32 for i in range(256))
_UNICODE_WORD = re.compile(r"\w+")
_CJK = "぀-ヿ㐀-䶿一-鿿豈-﫿가-힯ｦ-ﾟ"
_PARTS = re.compile(
    r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+"  # HTTPServer2 -> HTTP Server 2
)
_UNICODE_PARTS = re.compile(r"[^\W\d_]+|\d+")
_CASE_CHANGE = re.compile(r"([a-zà-öø-ÿ])([A-ZÀ-ÖØ-Þ])")

_STEM_MIN = 3
"""What a suffix leaves behind at the least, so that "sing" and "red" stay whole."""

_LATIN_MIN = 4
"""The same for the family of -ate: "validate", "validation", "validator" meet, "update" and "state" keep theirs."""

_SUFFIXES = (  # longest first: suffix, what replaces it, what must be left
    *((ending, "", _LATIN_MIN) for ending in ("ations", "ation", "ators", "ator", "ating", "ated", "ates", "ate")),
    *((ending, "", _STEM_MIN) for ending in ("ables", "able", "ibles", "ible", "ities", "ity")),
    *((ending, "", _STEM_MIN) for ending in ("ings", "ing", "ions", "ion")),
    *((ending, "y", _STEM_MIN) for ending in ("iers", "ier", "ies", "ied")),
    *((ending, "", _STEM_MIN) for ending in ("ors", "or", "ers", "er", "ed", "ly", "es", "s", "e")),
)
_SUFFIXES_BY_END = {
    end: tuple(suffix for suffix in _SUFFIXES if suffix[0][-1] == end)
    for end in {suffix[0][-1] for suffix in _SUFFIXES}
}
_MENT = re.compile(r"(.+(?:[^cpl]e|ce|oy|gn|st|rn|ip|ch|ron|ish))ments?$")
"""-ment is an ending in "management" and "deployment", not in "implement", "increment" or "document"."""


def words(text: str) -> list[str]:
    """The words of ``text`` in order, as written. Non-ASCII text is brought to NFC first."""
    if text.isascii():
        return text.encode().translate(_ASCII_WORDS).decode().split()  # in two thirds of str.translate's time
    return _UNICODE_WORD.findall(unicodedata.normalize("NFC", text))


def stem(part: str) -> str:
    """A lower-case word without its commonest English endings; other words come back unchanged.

    It is deliberately light: "retries", "retried" and "retry" meet, "universe" and "university" do too; a term is
    only ever compared with other terms, never shown.
    """
    return _stems[part]


def _stem(part: str) -> str:
    if not (part.isascii() and part.isalpha()):
        return part
    base = part
    if part.endswith(("ment", "ments")) and (found := _MENT.match(part)):
        base = found[1]
    for suffix, replacement, least in _SUFFIXES_BY_END.get(base[-1], ()):
        if not base.endswith(suffix) or len(base) - len(suffix) < least:
            continue
        left = base[: -len(suffix)]
        if suffix == "s" and left.endswith(("s", "u", "i")):  # class, status, analysis
            break
        base = left + replacement
        if not replacement and suffix not in ("s", "e") and base[-1] == base[-2] and base[-1] not in "lsz":
            base = base[:-1]  # running -> run
        break
    if len(base) > _STEM_MIN:
        if base.endswith("e"):
            base = base[:-1]
        elif base.endswith("y"):
            base = base[:-1] + "i"  # retry meets retries
    return base


def parts(word: str) -> list[str]:
    """The lower-case parts of one word, unstemmed: ``HTTPServer2`` -> ``http server 2``."""
    return [part.lower() for part in _PARTS.findall(word)]


def stems_of_parts(word: str) -> list[str]:
    """The stems of a word's parts but single letters, in order."""
    return [_part_stems[part] for part in _PARTS.findall(word) if len(part) > 1]


def squash(word: str) -> str:
    """One name as a single lower-case run without separators: the key under which spellings of a name meet."""
    if not word.isascii():
        word = unicodedata.normalize("NFC", word)
    run = word.lower().replace("_", "")
    return run if run.isalnum() else "".join(filter(str.isalnum, run))


def terms_of(word: str) -> tuple[str, ...]:
    """The terms of one word: its stemmed parts, then the squashed whole if it has more than one part."""
    return _terms[word]


@cache
def _cjk_run() -> re.Pattern[str]:
    """Compiled when a word first needs it, as it takes two milliseconds."""
    return re.compile(f"[{_CJK}]+")


def _terms_of(word: str) -> tuple[str, ...]:
    if len(word) > MAX_WORD and (word.isascii() or not _cjk_run().search(word)):
        return (word[:MAX_WORD].lower(),)
    if not word.isascii():
        return _terms_of_unicode(word)
    split = _PARTS.findall(word)
    if len(split) == 1:
        return (stem(split[0].lower()),)
    whole = word.replace("_", "").lower()
    if not split:
        return (whole,) if whole else ()
    if len(split) > MAX_PARTS:
        return (whole,)
    found = [stem(part.lower()) for part in split if len(part) > 1 or part.isdigit()]
    found.append(whole)
    return tuple(dict.fromkeys(found))


def whole_term(word: str) -> str:
    """The last of `terms_of`, which is of the whole word, without making the others; '' where there is none."""
    if not word.isascii() or len(word) > MAX_WORD:
        return terms_of(word)[-1] if terms_of(word) else ""
    split = _PARTS.findall(word)
    return stem(split[0].lower()) if len(split) == 1 else word.replace("_", "").lower()


def _terms_of_unicode(word: str) -> tuple[str, ...]:
    found: list[str] = []
    rest = word
    for run in _cjk_run().findall(word):
        found += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
        rest = rest.replace(run, " ", 1)
    pieces = _UNICODE_PARTS.findall(_CASE_CHANGE.sub(r"\1 \2", rest))
    found += [stem(part[:MAX_WORD].lower()) for part in pieces]
    if 1 < len(pieces) <= MAX_PARTS:
        found.append("".join(pieces).lower())
    return tuple(dict.fromkeys(found)) or (word.lower(),)


def terms(text: str) -> list[str]:
    """All terms of ``text``, in order of their words, with repetitions."""
    found: list[str] = []
    for word in words(text):
        found += _terms[word]
    return found


_stems = Remembered(_stem, _CACHE_LIMIT)
_terms = Remembered(_terms_of, _CACHE_LIMIT)
_joined = Remembered[str, str](lambda word: " ".join(_terms_of(word)), _CACHE_LIMIT)
_part_stems = Remembered[str, str](lambda part: stem(part.lower()), _CACHE_LIMIT)
"""A part of a word as it is written -> its stem."""

for _words in (_stems, _terms, _joined, _part_stems):
    also_forget(_words.clear)


def joined_terms(from_words: Iterable[str]) -> str:
    """Terms of many words as one string separated by blanks, the form the text index takes."""
    return " ".join(map(_joined.__getitem__, from_words))


def path_stem(path: str) -> str:
    """A file's name up to its first dot; the name itself where nothing stands before one."""
    name = path.rsplit("/", 1)[-1]
    return name.split(".", 1)[0] or name.lstrip(".") or name


def path_terms(path: str) -> list[str]:
    """What a path says: its last three folders, and the stem twice because it says most."""
    stem = path_stem(path)
    return terms(" ".join((*path.split("/")[-4:-1], stem, stem)))


def term_key(term: str) -> int:
    """A 24-bit key of a term, equal on every platform: the upper bits of its CRC-32."""
    return crc32(term.encode("utf-8", "surrogatepass")) >> 8

"""What kind of thing a query is: a name, a path, an error message, or a question. Pure; knows no index and no files.

The rules are tried in order and the first that fits decides. They judge form alone. Whether a name exists, and whether
a plain word like "caching" is one, the channels find out.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from findling.model.types import Intent
from findling.search.query import without_courtesy
from findling.search.vocabulary import word_list

ESCALATION_BELOW = 0.65
"""A guess less sure than this carries a hint on how to ask better."""

_ADVICE: dict[Intent, str] = {
    "symbol": "retry with natural-language wording or include file path.",
    "path": "retry with exact path or broaden to filename-only search.",
    "error": "include exact error text or stack-frame snippet.",
    "natural_language": "retry as symbol/path if you know exact identifiers.",
}


_EXTENSIONS = word_list("extensions")
"""Extensions that make a word a file. Left out are those that are as likely a member of something: ``threading.Lock``,
``console.log``, ``array.map``, ``process.env``, ``np.diff``, ``mock.patch``."""

_FILE_WORDS = word_list("file words")
"""Words that can only be the name of a file, in upper or lower case."""

_FILE_NAMES = word_list("file names")
"""Names of files in their usual spelling; in lower case "readme" or "license" may be an ordinary word."""

_ERROR_WORD = re.compile(r"(?:error|exception|panic|fatal)(?:\[[^\[\]\s]{1,40}\])?:(?![\w:])", re.IGNORECASE)
_STACK_FRAME = re.compile(
    r"Traceback \(|\bthread '|\bpanicked at\b|\bat line \d|\bline \d+, in\b|\bat [^\s()]{1,200}\([^\s():]{1,200}:\d+\)"
)
_LOCATED = re.compile(r"\.(\w+)(?::\d+){0,2}\W*$")
"""The extension of a path inside a sentence: a line number or punctuation may follow it."""

_IDENTIFIER = re.compile(r"[^\W\d]\w*(?:(?:::|\.)[^\W\d]\w*)*(?:\(\))?")
_DEFINES_ANYTHING = word_list("defines anything")
_DEFINES_A_NAME = word_list("defines a name")
"""Words that are also English: what follows them must look like a name."""


class IntentGuess(NamedTuple):
    """``confidence`` in [0, 1] is the rule's, not measured. ``hint``: how to ask better, None when sure enough."""

    intent: Intent
    confidence: float
    hint: str | None


def classify(text: str) -> IntentGuess:
    """Guess what any text asks for. Never raises; takes time linear in the text."""
    text = without_courtesy(text)
    words = text.split(None, 3)  # a fourth item says that there are more than three words
    intent, confidence = _classify(text, words)
    return IntentGuess(intent, confidence, escalation_hint(intent, confidence))


def escalation_hint(intent: Intent, confidence: float) -> str | None:
    """What to try when a guess is not sure enough, None when it is."""
    if confidence >= ESCALATION_BELOW:
        return None
    return f"Intent confidence is low; {_ADVICE[intent]}"


def _classify(text: str, words: list[str]) -> tuple[Intent, float]:
    if len(words) == 1:
        if _has_separator(text):
            return "path", 0.95
        if _names_a_file(text):
            return "path", 0.85
    if _ERROR_WORD.search(text) or _STACK_FRAME.search(text) or quotation(text):
        return "error", 0.90
    if len(words) in (2, 3) and any(_has_separator(word) and ends_located(word) for word in words):
        return "path", 0.80
    if len(words) == 1 and text.isascii() and (confidence := name_confidence(text)):
        return "symbol", confidence
    if len(words) == 2 and _is_declaration(*words):
        return "symbol", 0.76
    return "natural_language", 0.72 if len(words) > 1 else 0.55


def _has_separator(word: str) -> bool:
    return "/" in word or "\\" in word


def is_extension(ending: str) -> bool:
    """``.py`` and ``.PY`` are, ``.Json`` is a namespace's last part."""
    return ending in _EXTENSIONS or (ending.isupper() and ending.lower() in _EXTENSIONS)


def _names_a_file(word: str) -> bool:
    _, dot, ending = word.rpartition(".")
    return bool(dot and is_extension(ending)) or word.lower() in _FILE_WORDS or word in _FILE_NAMES


def ends_located(word: str) -> bool:
    """Whether a word ends as a path does, perhaps with a line."""
    found = _LOCATED.search(word)
    return found is not None and is_extension(found[1])


def quotation(text: str) -> str:
    """What stands between one pair of quotation marks around everything; '' where there is none. Others may stand
    inside, as in ``"no such option: "a""``; ``"a" or "b"`` is a sentence with two quotations."""
    mark = text[:1]
    if mark not in ('"', "`") or len(text) < 2 or text[-1] != mark:
        return ""
    inside = text.strip(mark)
    if mark not in inside.replace(f"\\{mark}", ""):
        return inside.strip()
    still_open = 0
    for found in re.finditer(f"(?<!\\\\){mark}", text):
        before, after = text[max(0, found.start() - 1) : found.start()], text[found.end() : found.end() + 1]
        still_open += 1 if _OPENS.search(before) and after.strip() else -1
        if not still_open:
            return text[1:-1].strip() if found.end() == len(text) else ""
    return ""


_OPENS = re.compile(r"^$|[\s(\[{=:,]")
"""What stands before a mark that opens a quotation."""


def name_confidence(word: str) -> float:
    """How sure it is that one ASCII word is a name; 0.0 if it has only letters of one case."""
    if "::" in word or "->" in word or "." in word.strip(".") or word.endswith("()") or word[0] in "$@":
        return 0.90
    if any(char.isupper() for char in word[1:]):
        return 0.88
    if "_" in word:
        return 0.85
    if word[0].isupper():
        return 0.70
    has_letters = any(char.isalpha() for char in word)
    if has_letters and ("-" in word.strip("-") or any(char.isdigit() for char in word)):
        return 0.60
    return 0.0


def _is_declaration(keyword: str, name: str) -> bool:
    if not _IDENTIFIER.fullmatch(name):
        return False
    if keyword in _DEFINES_A_NAME:
        return any(char.isupper() or char.isdigit() or char == "_" for char in name)
    return keyword in _DEFINES_ANYTHING

"""Questions made from sentences that people wrote: commit subjects and first sentences of comments. Pure.

A sentence that asks for nothing (a release, a typo fix, a name in other words) gives no question.
"""

from __future__ import annotations

import re
from typing import Final

from findling.search.analysis import STOP_WORDS, WEAK_WORDS

MIN_WORDS: Final = 3
"""Meaningful words that a question needs; with fewer any file would match."""

MAX_WORDS: Final = 30
MAX_CHARACTERS: Final = 300
"""Longer ones are no subject and no first sentence, but text that was never broken."""

MAX_LOOKED_AT: Final = 2 * MAX_CHARACTERS
"""The longest text that is looked at: the time of the patterns grows with the square of its length."""

_PREFIX = re.compile(r"^(?:\[[^\]]{1,40}\]\s*)+|^[a-z]{2,12}(?:\([^)]{1,40}\))?!?:\s+")
"""``[parser]``, ``fix(parser):``: what kind of change it is."""

_REFERENCE = re.compile(
    r"\s*\((?>(?:see|closes?|fix(?:es)?|refs?|pr|gh|issue)?[\s:]*(?:[\w.-]+/[\w.-]+)?(?:#|GH-|!)\d+[\s,;]*)+\)|"
    r"\s*\b(?:closes?|fix(?:es|ed)?|refs?|resolves?|see)\b:?\s+(?:#|GH-)\d+|\s*(?:#|GH-)\d+\b|^[A-Z][A-Z0-9]+-\d+:?\s*|"
    r"[\s,.]*\bGitHub (?:issue|PR) #?\d+|\s*\[(?:skip[ -]ci|ci[ -]skip)\]",
    re.IGNORECASE,
)
"""Numbers of issues and requests: no index knows them. One of a list is read in one way only: whoever writes subjects
must not choose how long that takes."""

_TRIVIAL = re.compile(
    r"^(?:fixup|squash|amend)!|^(?:wip|merge|revert|bump|release|releasing|prepare|preparing|version|v?\d+(?:\.\d+)+|"
    r"start version|initial commit|typos?|nits?|lint(?:ing)?|(?:re)?format(?:ting)?|whitespace|clean(?:ing)? ?up|"
    r"address(?:ed)? (?:the )?review|apply (?:suggestions|.{0,30} fixes)|(?:up)?grade dependenc\w*|"
    r"(?:add |update )(?:the |missing )?(?:change ?log|readme|copyright|licen[cs]e|dependenc\w*|deps|lock|submodule|"
    r"version|translations?|authors|contributors|pre-commit)|change ?log|"
    r"(?:fix|correct)(?:e[sd])? (?:a |all |some )?(?:typos?|spelling|grammar|lint|formatting|ci)|"
    r"run (?:black|ruff|prettier|gofmt|pre-commit)|auto(?:matic)?[- ])\b|"
    r"\bpre-commit (?:auto)?update|\bdependabot\b|\brenovate\b",
    re.IGNORECASE,
)
"""Changes that are about no place: what they say is said of any file."""

_NOT_SAID = re.compile(
    r"^(?:todo|fixme|xxx|hack|note|deprecated|copyright|licensed?|spdx|see\b|@|\{?@?inheritdoc|eslint|noqa|nolint|"
    r"auto-?generated|variant:|usage:|examples?:|returns?:|args:|param)",
    re.IGNORECASE,
)
_MARKUP = re.compile(
    r"\{@\w+\s+([^}]{1,80})\}|:\w+:`~?([^`]{1,80})`|\[([^\]]{1,80})\]\([^)]{0,200}\)|\[\[?([^\]]{1,80})\]\]?"
)
_SENTENCE = re.compile(
    r"(?<=[\w)\]`'\"])(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)[.!?:;](?:\s|$)|\s@\w|\s:param\b|\s-\s?[Pp]arameters?\b|\s#+\s|```|\n"
)
_CODE = re.compile(r"[{}=<>|\\]|\w\(.*\)|;$|::|->|[-=~*_]{4,}")
_WORD = re.compile(r"\w+")
_PLAIN = re.compile(r"[a-z]+")


def of_subject(subject: str) -> str | None:
    """The question that a commit's subject is, None for one that asks for no place."""
    subject = " ".join(subject.split())
    if len(subject) > MAX_LOOKED_AT:
        return None
    text = _PREFIX.sub("", _REFERENCE.sub("", subject).strip(), count=1).strip()
    if _TRIVIAL.search(text) or _TRIVIAL.search(subject.strip()):
        return None
    return _question(text)


def of_comment(doc: str, name: str) -> str | None:
    """The question that the first sentence of a definition's comment is; None where it says little, or the name.

    A name at its beginning (``Parse reads ...``) is left out.
    """
    doc = doc[:MAX_LOOKED_AT]
    text = _MARKUP.sub(lambda found: next(filter(None, found.groups()), ""), doc).replace("`", "").strip()
    text = _SENTENCE.split(text, maxsplit=1)[0].strip()
    if text.startswith(name) and not text[len(name) : len(name) + 1].isalnum():
        text = text[len(name) :].lstrip(" :-–—,()").removeprefix("is ").removeprefix("are ").strip()
    if _NOT_SAID.match(text) or _CODE.search(text):
        return None
    words = _WORD.findall(text)
    if not _PLAIN.fullmatch(name) and name.lower() in (word.lower() for word in words):
        return None  # the name is in the index, and then nothing else is asked
    return _question(text)


def _question(text: str) -> str | None:
    text = " ".join(text.split()).rstrip(" .,:;")
    words = [word.lower() for word in _WORD.findall(text)]
    saying = {word for word in words if len(word) > 1 and word not in STOP_WORDS and word not in WEAK_WORDS}
    if len(saying) < MIN_WORDS or len(words) > MAX_WORDS or len(text) > MAX_CHARACTERS:
        return None
    return text if text.isprintable() else None


def folded(text: str) -> str:
    """Words alone, in lower case, one space between: by this a sentence is recognised under any comment markers."""
    return " ".join(_WORD.findall(text.lower()))

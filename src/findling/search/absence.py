"""What does not occur: which claims of a question nothing in the files bears out, and what is nearest to them.

Told only when it is known: the index proposes, the files decide, also those that are not indexed yet. Where time is
too short for that nothing is said.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import replace

from findling.model import tokenizer
from findling.model.rows import FileRow
from findling.model.trigram_plan import all_of, require_text
from findling.model.types import Absent, Intent, Near, SkippedFile
from findling.search import asked_path, messages
from findling.search.analysis import WEAK_WORDS, name_alone
from findling.search.exact import ExactSource
from findling.search.exact import Scope as Anywhere
from findling.search.intent import ends_located, name_confidence, quotation
from findling.search.keyword import CHUNK_FIELDS, FILE_FIELDS
from findling.search.nearest import AS_GOOD, NEAREST, most_alike, nearest_paths
from findling.search.planner import LABEL, PLACEHOLDER, QUOTED
from findling.search.ranking.priors import OF_PLACES, only_declares, path_flags
from findling.search.scope import Scope
from findling.search.siblings import is_copy
from findling.search.symbol import KIND_WEIGHTS
from findling.search.vocabulary import STOP_WORDS, word_list
from findling.store.protocols import CHUNK_BITS, Index, OnlyThese

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
_NAME_IN_MESSAGE = re.compile(rf"['\"`](\w+)['\"`]|\b({_NAME_IN_SENTENCE.pattern})\b")
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
    if inside := quotation(text):
        return _of_one(inside, intent, is_word) if _is_one(inside) else _whole("text", inside)
    if (declared := name_alone(text)) and declared != text:
        return _whole("symbol", declared)
    if _is_one(text):
        return _of_one(text, intent, is_word)
    if (only := _only_name(text)) is not None:
        return Claims((Claim("symbol", only, True),), True) if len(only) >= LEAST_CHARS else NONE
    if intent == "error" and (label := LABEL.match(text)) is not None:
        message = messages.message_in(text)
        return NONE if _ASKS.search(text[label.end() :]) else _whole("message", message)
    return Claims(tuple(_in_sentence(text))[:MOST], False)


_DEFINED = word_list("defined")
"""Words of a sentence that speak of a name as what it names in code."""


def _only_name(text: str) -> str | None:
    """The name in code that a sentence asks for and nothing else, as "where is FooBar defined" does."""
    words = [word.strip(_AROUND) for word in text.split()]
    if _DEFINED.isdisjoint(map(str.lower, words)):
        return None
    said = [word for word in words if word.lower() not in STOP_WORDS and word.lower() not in WEAK_WORDS]
    return said[0] if len(said) == 1 and said[0].isascii() and _NAME_IN_SENTENCE.fullmatch(said[0]) else None


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


LOOK_S = 3.0
"""For looking through files; what takes longer is not known to be absent."""

MORE_ALIKE = 0.1
"""A message that so much more is like a text which it does not fit than like one which it does is a changed one."""

_PROPOSED = 50
"""Passages that have most of a message's words."""

_DEFINITIONS = 50
"""Of a near name, among which the one that is shown is chosen."""

_PARTS = re.compile(r"::|->|[.#/\\:]")
_BETWEEN_WORDS = rb"[\s#*/;\"'+\\]+"
"""What stands between words of a text that goes on in the next line: of a comment, or of a string in two pieces."""

_BETWEEN_PARTS = rb"[-_]{0,2}"
"""The same of the parts of a name: ``max_attempts``, ``maxAttempts``, ``max-attempts``."""


class Unread(Protocol):
    """What is there beside the index."""

    def files(self) -> int | None:
        """How many files it lacks; None where nobody can tell."""
        ...

    def paths(self) -> Collection[str]: ...

    def hold(self, pattern: re.Pattern[bytes], until: float) -> bool | None:
        """Whether one of them has a text; None where there was no time to see, until then (monotonic seconds)."""
        ...

    def left_out(self, path: str) -> SkippedFile | None:
        """Why a path is there and not searched; None where that is not so."""
        ...


class _AllRead:
    """Of an index that has everything."""

    def files(self) -> int:
        return 0

    def paths(self) -> Collection[str]:
        return ()

    def hold(self, pattern: re.Pattern[bytes], until: float) -> bool:
        return False

    def left_out(self, path: str) -> None:
        return None


ALL_READ: Unread = _AllRead()


class Verdict(Struct, frozen=True):
    """``instead``: the question with what was meant in the place of what does not occur; '' where nothing is."""

    absent: tuple[Absent, ...] = ()
    instead: str = ""
    notes: tuple[str, ...] = ()

    @property
    def ends(self) -> bool:
        """Whether there is nothing to search for."""
        return any(each.whole for each in self.absent) and not any(each.meant for each in self.absent)


class Absence:
    """For one question, within the reader's snapshot. Without ``files`` nothing is known to be absent from texts."""

    def __init__(
        self,
        reader: Index,
        read_lines: Callable[[FileRow], Sequence[str] | None],
        files: Callable[[], ExactSource] | None,
        unread: Unread,
        scope: Scope,
    ) -> None:
        self._reader = reader
        self._read_lines = read_lines
        self._files = files
        self._unread = unread
        self._scope = scope
        self._until = time.monotonic() + LOOK_S
        self._notes: list[str] = []

    def of(self, text: str, asked: Claims) -> Verdict:
        """What of a question is absent."""
        found = [absent for claim in asked.these if (absent := self._absent(claim)) is not None]
        whole = asked.whole and len(found) == len(asked.these)
        instead = text
        for each, missing in found:
            if each.meant:
                instead = instead.replace(missing, each.meant)
        return Verdict(
            tuple(replace(each, whole=whole) for each, _ in found),
            instead if instead != text else "",
            tuple(self._notes),
        )

    def of_name(self, name: str) -> tuple[Absent, ...]:
        """Of a name that nothing is defined as."""
        found = self._absent(Claim("symbol", name)) if len(name) >= LEAST_CHARS else None
        return (found[0],) if found else ()

    def _absent(self, claim: Claim) -> tuple[Absent, str] | None:
        """The claim where it is known to be absent, and what of its text is missing."""
        like: Sequence[messages.Like] = ()
        if claim.kind == "symbol" and self._is_file_name(claim.text):
            claim = Claim("path", claim.text)
        if claim.kind == "symbol":
            missing = self._missing_part(claim.text, inflected=claim.inflected)
        elif claim.kind == "path":
            missing = self._missing_path(claim.text)
        else:
            missing = claim.text if self._lacks(claim.text) else None
            like = self._like(claim.text) if missing else ()
            if claim.kind == "message" and missing and self._may_be_said(claim.text, like):
                return None
        unread = self._unread.files() if missing else None
        if missing is None or unread is None or not self._searched + unread:
            return None
        if claim.kind == "symbol" or (not like and missing.isidentifier()):
            nearest = self._nearest_names(missing)
        elif claim.kind == "path":
            nearest = [
                (likeness, Near(path, path, 1))
                for likeness, path in nearest_paths(missing, [file.path for file in self._reader.listing()])
            ]
        else:
            nearest = [(each.likeness, Near(each.text, each.path, each.line)) for each in like[:NEAREST]]
            nearest = nearest or [(0.0, near) for near in self._names_in(missing)]
        return Absent(
            claim.kind,
            claim.text,
            self._searched + unread,
            tuple(near for _, near in nearest),
            nearest[0][1].text if nearest and nearest[0][0] >= AS_GOOD else "",
        ), missing

    @property
    def _searched(self) -> int:
        if self._scope.allowed is not None:
            return len(self._scope.allowed)
        manifest = self._reader.manifest
        return manifest.files if manifest else 0

    # --- whether it occurs ----------------------------------------------------------------------------------------

    def ahead(self, asked: Claims) -> None:
        """Ask for what decides first about names, of an index that is told what comes next."""
        for claim in asked.these:
            if claim.kind == "symbol":
                for part in _asked_parts(claim.text)[0]:
                    self._is_named(part, inflected=claim.inflected)
                    self._holding(_words_of_name(part))
            elif claim.kind != "path":
                self._holding(_words_of_text(claim.text))

    def _holding(self, words: Sequence[bytes]) -> None:
        """Ask which files may have all these words."""
        plan = all_of(map(require_text, words))
        if not plan.admits_everything:
            self._reader.containing(plan)

    def _missing_part(self, name: str, *, inflected: bool) -> str | None:
        """What of a name occurs nowhere: its last part, or what surely names a thing before it; None where nothing is
        missing, or nobody can tell."""
        asked, parts = _asked_parts(name)
        missing = (part for part in asked if not self._is_named(part, inflected=inflected))
        return next((part for part in missing if self._lacks_name(part, inside=len(parts) == 1)), None)

    def _is_file_name(self, text: str) -> bool:
        """Whether what looks like `Outer.inner` is called as files here are: with their ending, which names nothing."""
        name, _, ending = text.rpartition(".")
        if not name or not ending.isalnum() or self._is_named(ending, inflected=False):
            return False
        return any(file.path.lower().endswith(f".{ending.lower()}") for file in self._reader.listing())

    def _is_named(self, part: str, *, inflected: bool) -> bool:
        """Whether something is called so in any spelling, or with ``inflected`` some text has the word in any form."""
        reader = self._reader
        if reader.named([tokenizer.squash(part)], 1, OnlyThese(self._scope.blobs)):
            return True
        terms = tokenizer.terms_of(part) if inflected else ()
        counted = len(terms) == 1 and any(reader.term_counts([tokenizer.term_key(terms[0])]).values())
        return counted and bool(self._with_terms(terms))  # keys may meet: that one is counted proves nothing

    def _with_terms(self, terms: Iterable[str]) -> list[int]:
        """The entries that have most of some terms, the best first."""
        weights = {(field, term): 1.0 for term in terms for field in (*CHUNK_FIELDS, *FILE_FIELDS)}
        units = self._reader.lexical(weights, _PROPOSED, self._scope.allowed)
        return list(dict.fromkeys(unit >> CHUNK_BITS for unit, _ in units))

    def _missing_path(self, text: str) -> str | None:
        asked = asked_path.asked(text)
        if asked is None:
            return None
        path = asked[0]
        if asked_path.meant(path, self._reader):
            return None
        if _like_a_known_path(path, (*(file.path for file in self._reader.listing()), *self._unread.paths())):
            return None
        left_out = self._unread.left_out(path)
        if left_out is not None:
            self._notes.append(f"{left_out.path} is there, but not searched: {left_out.rule}.")
            return None
        return path if self._lacks(path) else None

    def _may_be_said(self, message: str, like: Sequence[messages.Like]) -> bool:
        """Whether a program may say a message: it can be made of a text, and is no more like one of which it cannot."""
        fitting = max((each.likeness for each in like if each.fits), default=0.0)
        other = max((each.likeness for each in like if not each.fits), default=0.0)
        if other >= max(AS_GOOD, fitting) or other > fitting + MORE_ALIKE:
            return False
        pieces = [piece.strip(" :,.;()[]") for piece in PLACEHOLDER.split(message)]
        fixed = [piece for piece in pieces if len(piece.split()) > 1]
        return fitting > 0 or bool(fixed and fixed != [message] and not any(map(self._lacks, fixed)))

    def _lacks(self, text: str) -> bool:
        """Whether it is known that no file has a text, in any case, also over the ends of lines."""
        words = _words_of_text(text)
        return len(text) >= LEAST_CHARS and self._lack(words, _BETWEEN_WORDS.join(map(re.escape, words)))

    def _lacks_name(self, name: str, *, inside: bool) -> bool:
        """The same of a name in any spelling. ``inside``: it may be part of a longer one."""
        parts = _words_of_name(name)
        wanted = _BETWEEN_PARTS.join(map(re.escape, parts))
        return self._lack(parts, wanted if inside else rb"\b" + wanted + rb"\b")

    def _lack(self, words: Sequence[bytes], wanted: bytes) -> bool:
        """Whether it is known that no file has an expression, which has all these words in it."""
        if not words or self._files is None:
            return False
        pattern = re.compile(wanted, re.IGNORECASE)
        for data in self._candidates(self._files(), words):
            if data is None or pattern.search(data):
                return False
        return self._unread.hold(pattern, self._until) is False

    def _candidates(self, files: ExactSource, words: Iterable[bytes]) -> Iterator[bytes | None]:
        """The files in scope that may have all these words; None when the time is over."""
        for ref in files.candidate_files(all_of(map(require_text, words)), Anywhere()):
            if time.monotonic() > self._until:
                yield None
                return
            if self._scope.allowed is not None:
                file = self._reader.file_at(ref.path)
                if file is None or file.entry_id not in self._scope.allowed:
                    continue
            try:
                data = files.read(ref)
            except OSError:
                continue  # counted among the files that are not searched
            if isinstance(data, bytes):
                yield data

    # --- what is nearest ------------------------------------------------------------------------------------------

    def _like(self, text: str) -> list[messages.Like]:
        proposed = self._with_terms(tokenizer.terms(text))
        return messages.alike(self._reader, self._read_lines, text, self._scope, proposed)

    def _nearest_names(self, name: str) -> list[tuple[float, Near]]:
        alike = most_alike(tokenizer.squash(name), self._reader.names(), str)
        return [(likeness, near) for likeness, key in alike if (near := self._place_of(key)) is not None][:NEAREST]

    def _names_in(self, message: str) -> list[Near]:
        """The definitions of the names in a message that no file says: a runtime says it of them."""
        names = [found[1] or found[2] for found in _NAME_IN_MESSAGE.finditer(message)]
        squashed = dict.fromkeys(tokenizer.squash(name) for name in names if len(name) >= LEAST_CHARS)
        return [near for key in list(squashed)[:NEAREST] if (near := self._place_of(key)) is not None]

    def _place_of(self, squashed: str) -> Near | None:
        """Where a name is defined; tests, examples, copies and declarations after others."""
        symbols = self._reader.named([squashed], _DEFINITIONS, OnlyThese(self._scope.blobs))
        files = {file.blob_id: file for file in self._reader.files_of_blobs({each.blob_id for each in symbols})}
        places = [
            (
                bool(path_flags(file.path) & OF_PLACES) or is_copy(file.path) or only_declares(file.path),
                -KIND_WEIGHTS.get(each.kind, 0.0),
                file.path,
                each,
            )
            for each in symbols
            if (file := files.get(each.blob_id)) is not None
        ]
        if not places:
            return None
        _, _, path, symbol = min(places, key=lambda place: (*place[:3], place[3].name_line))
        return Near(symbol.name, path, symbol.name_line)


def _asked_parts(name: str) -> tuple[list[str], list[str]]:
    """The parts of a name that have to occur, and all; others than the last may be packages, which need not be here."""
    parts = [part.strip("()*&$@-!?") for part in _PARTS.split(name)]
    parts = [part for part in parts if len(tokenizer.squash(part)) >= LEAST_CHARS]
    return [*parts[-1:], *(part for part in parts[:-1] if name_confidence(part) >= SURE_NAME)], parts


def _words_of_name(name: str) -> list[bytes]:
    return [part.encode() for part in tokenizer.parts(name) or [name]]


def _words_of_text(text: str) -> list[bytes]:
    return [word.encode() for word in text.split()]


def _like_a_known_path(path: str, known: Collection[str]) -> bool:
    """Whether a path is a folder, or one without its ending, or differs in case alone."""
    rest = path.lstrip("/").lower()
    while rest.startswith("../"):
        rest = rest[3:]
    for other in known:
        lowered = f"/{other.lower()}"
        if f"/{rest}/" in lowered or lowered.endswith(f"/{rest}"):
            return True
        if lowered.rpartition(".")[0].endswith(f"/{rest}"):
            return True
    return False

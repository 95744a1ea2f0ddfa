"""A query as it may be asked: validated once, for every transport. Pure."""

from __future__ import annotations

import re

from msgspec.structs import replace

from findling.model.errors import InvalidInput
from findling.model.types import KIND_FILTERS, MODES, Query
from findling.search.vocabulary import STOP_WORDS, word_list

WITHOUT_VECTORS = frozenset(("keyword", "symbol", "exact"))
"""Modes that ask no vectors."""

MAX_LIMIT = 1000
MAX_OFFSET = 1_000_000
LINE_DIGITS = 18
"""So many digits of a line number are read; no file has a line with a longer one, nor one that begins like it."""

MAX_QUERY = 100_000
"""Characters of a query that are searched for: a whole issue or log. More adds time, not meaning."""


def shortened(text: str) -> tuple[str, str]:
    """A query as far as it is searched for, and the note that it was cut; '' for one that was not."""
    if len(text) > MAX_QUERY:
        text = text.strip()
    if len(text) <= MAX_QUERY:
        return text, ""
    return text[:MAX_QUERY], f"The query has {len(text):,} characters; only the first {MAX_QUERY:,} were searched for."


def validate(query: Query) -> Query:
    """The query, or `InvalidInput` that names the argument and the valid values. A long text is cut, and that noted."""
    text, cut = shortened(query.text)
    if not text.strip():
        raise InvalidInput("The query is empty.", remedy="Say what to look for.")
    if not 1 <= query.limit <= MAX_LIMIT:
        raise InvalidInput(f"limit must be between 1 and {MAX_LIMIT}, not {query.limit}.")
    if not 0 <= query.offset <= MAX_OFFSET:
        raise InvalidInput(f"offset must be between 0 and {MAX_OFFSET}, not {query.offset}.")
    if query.mode not in MODES:
        raise InvalidInput(f"mode must be one of {', '.join(MODES)}, not {query.mode!r}.")
    if query.kind not in (None, *KIND_FILTERS):
        raise InvalidInput(f"kind must be one of {', '.join(KIND_FILTERS)}, not {query.kind!r}.")
    if query.max_tokens is not None and query.max_tokens < 1:
        raise InvalidInput(f"max_tokens must be at least 1, not {query.max_tokens}.")
    return replace(query, text=text, notes=(*query.notes, cut)) if cut else query


def split_target(target: str) -> tuple[str, int | None]:
    """``FILE`` or ``FILE:LINE`` taken apart. The line may be one that no file has, such as 0.

    A file's name may look like this, too: the caller should also try the whole text as a name.
    """
    path, colon, line = target.rpartition(":")
    if colon and path and line.isdecimal():
        return path, int(line[:LINE_DIGITS])
    return target, None


_BEFORE = re.compile(
    r"[¿¡]?(?:(?:hi|hello|hey)[,!.]*\s+(?=(?:can|could|give|find|please|show|tell|will|would)\b))?"
    r"(?:(?:(?:can|could|would|will) you\s+)?(?:"
    r"(?:please,?\s+)?(?:show|tell|give|find|mind\s+(?:showing|telling|giving|finding))\s+me\b(?:\s+please\b)?[\s:,]+"
    r"|please(?:[:,]\s+|\s+(?=(?:explain|find|how|list|show|what|when|where|which|who|why)\b))"
    r"))?[¿¡]?",
    re.IGNORECASE,
)
"""Begins what somebody asks politely. A program's message may begin with "Please" as well, so a mark or a verb of
asking has to follow."""

_AFTER = re.compile(
    r"(?:[,;.!?]*\s+(?:please|pls)|[,;.!?]\s*\s(?:thanks(?: a lot| in advance)?|thank you(?: very much)?|thx))?"
    r"[\s.!?？。！…]*$",
    re.IGNORECASE,
)

_SUBJECTS = word_list("subjects")
"""Courtesies that programs are about as well: they need another courtesy, or one of `_COMPANY`, beside them."""

_COURTESIES = _SUBJECTS | word_list("courtesies")
"""Words that people put around a question. A part of the text that has one of them, and else `STOP_WORDS` and
`_LITTLE`, asks nothing where something else does."""

_COMPANY = word_list("company")
_PERSONS = word_list("persons")
_MIND = word_list("mind")
"""What these do before a question: "I'd like to find out where ...", "can you show me how ..."."""

_THEN_ASKS = r"(?=(?:can|could|does|how|i|we|what|when|where|which|who|why|would|any(?:body|one)|some(?:body|one))\b)"
_AS_ONE = re.compile(
    r"as an? (?:[\w-]+ )?"
    rf"(?:beginner|contributor|developer|maintainer|newbie|newcomer|reviewer|student|tester|user),?\s+{_THEN_ASKS}",
    re.IGNORECASE,
)
_WELL = re.compile(rf"(?:(?:alright|and|but|hmm+|now|okay|ok|so|umm?|well)\b[,.!…]*\s+)+{_THEN_ASKS}", re.IGNORECASE)
_TO_ME = re.compile(r"\s+(?:for|to)\s+(?:me|us)\Z", re.IGNORECASE)
_SIGNED = re.compile(
    r"(?<=[.!?])\s+(?i:best|cheers|greetings|(?:best|kind) regards|regards|thanks|thank you)[,.!]*\s+"
    r"[^\W\d_a-z]\w{1,20}(?: [^\W\d_a-z]\w{1,20})?\Z"
)
"""Ends a letter: "... Cheers, Tom"."""

_ASKS = re.compile(
    r"\b(?:how|what|when|where|which|who|why)\b(?!\s+(?:i|we|you)\b)"
    r"|^\W*(?:(?:and|but|so)\s+)?(?:are|does|is)\b(?!\s+(?:there\s+)?(?:any(?:body|one)?|some(?:body|one)|i|we|you)\b)",
    re.IGNORECASE,
)
"""A part that is a question itself. "Does anyone know" and "what I want to know" ask nothing of a program."""

_LITTLE = STOP_WORDS | word_list("little")

_LEADING = re.compile(r"([^,:;.!?…\n]{1,80}?)(?:[,:;.!?…]+\s+|\s+[-–—]{1,2}\s+|\n+)(?=\S)")
_TRAILING = re.compile(
    r".*(?P<end>[,:;.!?…]+\s+|\s+[-–—]{1,2}\s+|\s+\()(?P<last>[^,:;.!?…()\n]{1,80})[.!?…]*\)?[\s.!?。！…]*\Z", re.DOTALL
)
_QUESTION_WORD = re.compile(r"[^,:;.!?…\n]{1,80}?\s(?=(?:how|what|when|where|whether|which|who|why)\s)", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_MARKED = re.compile(
    r"(?!#\s+(?:define|elif|endif|ifdef|ifndef|include|pragma|undef)\b)(?:>+|[*-]|#{1,6}|\d{1,2}[.)])\s+(?=\S+\s)"
    r"|(\*{1,3})(?=[^\s*]+\s[^*]*[^\s*]\1\Z)"
)
"""What begins a quotation, a heading or an item in Markdown, or bold text that ends with the same mark. A directive of
C is no heading."""

_SMILEY = re.compile(r"(?<!\s)\s+[:;]-?[()DP]\Z")
_AND = re.compile(r"(?:and|but|so)\s+", re.IGNORECASE)

_LABEL = re.compile(rf"\s*(?:{'|'.join(sorted(_SUBJECTS))})(?:[:!]+\s+|\s+[-–—]{{1,2}}\s+)", re.IGNORECASE)
"""Such a word alone before a question, as in "Question: ..." or "Help! ..."."""

LEAST_WORDS = 3
"""So many words have to remain beside a greeting of one word: in "Hello, world" the greeting is what is asked for."""

_DEFINITION = re.compile(
    r"(?:(?:export|public|static|async|pub) )*(?:def|class|func|function|fn|struct|interface|trait|enum) "
    r"(?P<name>[^\W\d]\w*)\s*[({:<][(){}:<>]*"
)
"""The beginning of a definition, such as "def echo(": its name is asked for. Without the mark it is a question in
words, such as "class loader"."""

_LONGEST_END = 80
"""So many characters at the end are looked at for courtesies, which are shorter."""


def without_form(text: str) -> str:
    """As `without_courtesy`; of the beginning of a definition the name."""
    said = without_courtesy(text)
    if (said.isupper() or said.istitle()) and "_" not in said and _says_enough(said) and _words(said) & STOP_WORDS:
        return said.lower()  # capitals throughout a sentence make no names of its words
    defined = _DEFINITION.fullmatch(said)
    return defined["name"] if defined else said


def without_courtesy(text: str) -> str:
    """The text without an end mark, greetings, "please show me", "quick question:" and "thanks"; as it is where nothing
    else is said."""
    text = text.strip()
    kept = _without_asides(_without_end(text))
    begins = _BEFORE.match(kept)
    said = kept[begins.end() :] if begins else kept
    return said.strip() or text


def _without_end(text: str) -> str:
    text = _SMILEY.sub("", text)
    found = _AFTER.search(text, max(0, len(text) - _LONGEST_END))
    return text[: found.start()] if found else text


def _without_asides(text: str) -> str:
    """The text without marks of Markdown around it and without parts at its ends that are courtesies alone."""
    if marked := _MARKED.match(text):
        text = _without_end(text[marked.end() : len(text) - len(marked[1] or "")])
    text = _without_end(_SIGNED.sub("", text))
    if (introduced := _AS_ONE.match(text) or _WELL.match(text)) and _says_enough(text[introduced.end() :]):
        text = text[introduced.end() :]
    while (begins := _end_of_aside(text)) and (" " in text[:begins].strip() or _says_enough(text[begins:])):
        text = _TO_ME.sub("", text[begins:])
        text = _AND.sub("", text, count=1) if _AND.match(text) else text
    while (found := _TRAILING.match(text, max(0, len(text) - 2 * _LONGEST_END))) and _is_aside(found["last"]):
        text = _without_end(text[: found.start("end")])
    return text


def _end_of_aside(text: str) -> int:
    """Where a part ends that stands before the question and asks nothing; 0 where there is none."""
    for before in (_LEADING, _QUESTION_WORD):
        found = before.match(text)
        if found and (_is_aside(found[0]) or _LABEL.fullmatch(found[0])):
            return found.end()
    if (found := _QUESTION_WORD.match(text)) and not _ASKS.search(found[0]):
        words = _words(found[0])
        if words & _PERSONS and words & (_MIND | _COURTESIES) and words <= _PERSONS | _MIND | _COURTESIES | _LITTLE:
            return found.end()
    return 0


def _says_enough(rest: str) -> bool:
    return len(rest.split(None, LEAST_WORDS)) >= LEAST_WORDS


def _words(text: str) -> set[str]:
    """Its words in lower case, without what is drawn together with them: of "I'd" the "i"."""
    return {word.lower().partition("'")[0] for word in _WORD.findall(text)}


def _is_aside(text: str) -> bool:
    words = _words(text)
    courteous = words & _COURTESIES
    return (
        bool(courteous)
        and words <= _COURTESIES | _LITTLE
        and not (courteous <= _SUBJECTS and words.isdisjoint(_COMPANY))
        and not _ASKS.search(text)
    )


# --- filters ------------------------------------------------------------------------------------------------------
# Filters that stand in a question itself: ``path:src/ -path:tests lang:python in:docs``.

_LONGEST = 1_000
"""The most characters of a question that can have filters; in a longer text they are part of what was pasted."""

_FILTER = re.compile(
    r'"[^"]*"|`[^`]*`'  # what is quoted is looked for as it stands
    r"|(?<!\S)(?:(?P<out>-?)path:(?P<path>[^\s:\"'`]+)|lang(?:uage)?:(?P<language>[\w+#.-]+)|in:(?P<kind>\w+))(?!\S)"
)


def taken_from_text(query: Query) -> Query:
    """The query with the filters of its text among its own, and the text without them.

    Several paths are alternatives; those with ``-`` are left out. Raises `InvalidInput` where a filter contradicts
    another one, or is misspelled. Where nothing else is asked, and in what is looked for to the letter, there are no
    filters.
    """
    if query.mode == "exact" or ":" not in query.text or len(query.text) > _LONGEST or "\n" in query.text.strip():
        return query
    marked = [match for match in _FILTER.finditer(query.text) if match.lastgroup]
    found = [match for match in marked if match["kind"] is None or _is_kind(match["kind"])]
    if not found:
        return query
    globs = tuple(("!" if match["out"] else "") + match["path"] for match in found if match["path"])
    places = {match.start() for match in found}
    text = _FILTER.sub(lambda match: "" if match.start() in places else match[0], query.text)
    text = re.sub(r"\s{2,}", " ", text).strip()
    written = " ".join(match[0] for match in found)
    if not text:
        return query
    return replace(
        query,
        text=text,
        path_globs=(*query.path_globs, *globs),
        language=_one("language", query.language, [match["language"] for match in found if match["language"]]),
        kind=_one("kind", query.kind, [match["kind"] for match in found if match["kind"]]),
        notes=(*query.notes, f"Taken as {'a filter' if len(found) == 1 else 'filters'}: {written}."),
    )


_MISSPELLED = 0.8
"""So like one of the words is ``doc``; other words, as in "in:boxes", are looked for as they stand."""


def _is_kind(written: str) -> bool:
    """Whether ``in:`` and this word are a filter. Raises `InvalidInput` for a word that is nearly one of its words."""
    from difflib import get_close_matches

    if written not in KIND_FILTERS and (near := get_close_matches(written, KIND_FILTERS, 1, _MISSPELLED)):
        raise InvalidInput(f"in:{written} is not a filter.", remedy=f"Did you mean in:{near[0]}?")
    return written in KIND_FILTERS


def _one(name: str, given: str | None, written: list[str]) -> str | None:
    """The one value of a filter. Raises `InvalidInput` for several."""
    values = list(dict.fromkeys([*([given] if given else []), *written]))
    if len(values) > 1:
        raise InvalidInput(f"The {name} is given as {' and as '.join(values)}.", remedy="Keep one of them.")
    return values[0] if values else None

"""Messages of a running program, and the lines that say them: what is fixed stands there, what was filled in does not.

"expected 12 samples, got 7" is ``"expected %d samples, got %d"`` in the source. Nobody can tell from the message alone
which of its words were filled in; so every few neighbouring words are asked of the exact-text index, and of the files
that have most of them each line's quoted text is compared with the message.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import chain, islice, pairwise
from math import log
from typing import NamedTuple

from findling.model.rows import FileRow
from findling.model.trigram_plan import require_text
from findling.search.planner import LABEL
from findling.search.ranking.priors import OF_PLACES, path_flags
from findling.search.scope import Scope
from findling.search.vocabulary import word_list
from findling.store.protocols import Index

LEAST_WORDS = 3
MOST_WORDS = 40
"""Of a message; the end of a longer one is what was filled in, or the next line."""

RUN_WORDS, RUN_CHARS, MOST_RUN = 2, 6, 80
"""Neighbouring words that are asked for together; shorter ones stand in every file, longer ones in none."""

BEST_READ = 8
"""Files that have most of the words anyhow."""

MOST_FILES = 400
"""That may have a run; what more have tells nothing."""

MOST_LINES, MOST_LINE_CHARS = 200, 2_000
"""Of one file, and of one line, that are looked at."""

FILES_READ = 20
"""Those with most of the rare runs. Forty find three more of 264 messages."""

LEAST_WHOLE = 0.7
"""Of a line's text that the message has."""

LEAST_SAID, LEAST_SAID_OF_PLAIN = 0.25, 0.6
"""Of the message that the line says: where it is written as messages are, with what looks filled in; and of plain
words, which most questions are."""

ENOUGH_WORDS = 3
"""Of a quoted text that may be what a message is made of; of a short message half of its words."""

LEAST_ALIKE = 0.6
"""Of the letters of a message, that a quoted text shares with it to be shown as like it."""

_QUESTION = word_list("question")
_HEAD = 60
"""Characters that surely hold the first two words, or are no sentence."""

_NO_TEXT = re.compile(r"[\0\ud800-\udfff]")
_WRITTEN_AS_MESSAGE = re.compile(r"[:=\"'<>(){}\[\]]|\d")
_WORD = re.compile(r"[^\W_]+")
_FILE = re.compile(
    r"(?<!\S)[\"'(\[<]?(?:~|\.{1,2}|[a-z]:)?[/\\]\S+"
    r"|'[^'\s./\\]{0,200}[./\\][^'\s]{0,200}'"
    r"|\"[^\"\s./\\]{0,200}[./\\][^\"\s]{0,200}\""
)
"""An absolute path, or a quoted name with a dot or slash in it. Bounded, so that no text takes long."""
_QUOTED = re.compile(r"\\.|\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'|`((?:[^`\\]|\\.)*)`")
_PUT = r"%[-+#0-9.*]*(?:\([^)]*\))?(?:hh|h|ll|l|z|j|t|q)?[a-zA-Z]|[$#]?\{[^{}]*\}|\$\([^()]*\)|\$\w+|\\\([^()]*\)"
_FILLED_IN = re.compile(rf"{_PUT}|\\.")
"""Where a program puts something: ``%d``, ``{}``, ``{name}``, ``${name}``, ``#{name}``, ``$name``, ``\\(name)``."""


_BESIDE_FILLED_IN = re.compile(rf"\w*(?:{_PUT})\w*|\\.")
"""The same with the letters that are one word with it: ``{name}s``."""


class Said(NamedTuple):
    """A line that says a message. ``share`` in (0, 1]: how much of the message it says, and little else."""

    line: int
    share: float


def message_in(text: str) -> str:
    """The line of a text that may be a message, without what is put before it: its class, its level. '' for a
    question."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    labelled = [line for line in lines if LABEL.match(line)]
    message = next(iter([*labelled, *lines]), "")
    while (label := LABEL.match(message)) is not None:
        message = message[label.end() :]
    first, *rest = [*_WORD.findall(message[:_HEAD].lower()), ""]
    asks = first in _QUESTION and rest[:1] not in (["not"], ["t"])  # "could not open", "can't open" are none
    return "" if not labelled and (asks or message.endswith("?")) else message


def words_of(message: str) -> list[str]:
    """Its words in lower case, the first `MOST_WORDS`; none where there are too few to tell. The name of a file is one,
    however many parts it has: it was surely filled in."""
    words = _WORD.findall(_FILE.sub(" 0file ", message.lower()))
    return words[:MOST_WORDS] if len(words) >= LEAST_WORDS else []


def find(
    reader: Index,
    read_lines: Callable[[FileRow], Sequence[str] | None],
    text: str,
    scope: Scope,
    proposed: Sequence[int],
) -> dict[int, Said]:
    """Entry -> its best line, of source files that say a message. Within the reader's snapshot. ``proposed``: entries
    that have its words, the best first."""
    message = message_in(text)
    words = words_of(message)
    if not words:
        return {}
    asked = runs(message)
    files = _read_for(reader, text, scope, proposed)
    reader.ahead(lambda index: [index.doc_text(file.blob_id) for file in files])
    in_lower = [run.lower() for run in asked]
    found = _said(files, read_lines, lambda lines: best_line(lines, words, in_lower))
    if not found and not _is_plain(text):  # perhaps every second word was filled in
        found = _said(files, read_lines, lambda lines: _line_filled_in(lines, words))
    best = max((said.share for said in found.values()), default=0.0)
    if best < (LEAST_SAID_OF_PLAIN if _is_plain(text) else LEAST_SAID):
        return {}
    return {entry: said for entry, said in found.items() if said.share == best}


def _said(
    files: Sequence[FileRow],
    read_lines: Callable[[FileRow], Sequence[str] | None],
    of_lines: Callable[[Sequence[str]], Said | None],
) -> dict[int, Said]:
    """Entry -> what is found in a file's lines, of the files where something is."""
    read = ((file.entry_id, lines) for file in files if (lines := read_lines(file)) is not None)
    return {entry: said for entry, lines in read if (said := of_lines(lines)) is not None}


def ahead(reader: Index, text: str, scope: Scope, proposed: Sequence[int]) -> None:
    """Ask for what `find` reads of an index that is told what comes next (`Index.ahead`), and for the best files."""
    may_be_message = bool(words_of(message_in(text)))
    files = _read_for(reader, text, scope, proposed) if may_be_message else first(reader, proposed)[:BEST_READ]
    for file in files:
        reader.doc_text(file.blob_id)


def _is_plain(text: str) -> bool:
    """Whether nothing but its words says that a text is a message."""
    return _WRITTEN_AS_MESSAGE.search(text) is None


def _read_for(reader: Index, text: str, scope: Scope, proposed: Sequence[int]) -> list[FileRow]:
    """The files that are read for a text which may be a message."""
    if _is_plain(text):
        return first(reader, proposed)[:BEST_READ]
    return _likely(reader, runs(message_in(text)), scope, proposed)


def first(reader: Index, entries: Sequence[int]) -> list[FileRow]:
    """Those of the entries that may say a message, in their order: source files, but no tests and examples, which
    repeat what the program says with everything filled in."""
    rows = reader.files(entries)
    files = [rows[entry] for entry in entries if entry in rows]
    return [file for file in files if file.kind == "code" and not path_flags(file.own_path) & OF_PLACES]


def _likely(reader: Index, asked: Sequence[str], scope: Scope, proposed: Sequence[int]) -> list[FileRow]:
    """Source files that have most of the message's words or of its runs of words, rare ones above all."""
    plans = [require_text(run.encode()) for run in asked]
    reader.ahead(lambda index: list(map(index.containing, plans)))
    weights: Counter[int] = Counter()
    total = reader.manifest.files if reader.manifest else 0
    for plan in plans:
        entries = reader.containing(plan)
        if len(entries) <= MOST_FILES:
            weights.update(dict.fromkeys(entries, log(1 + total / max(1, len(entries)))))
    least = min((weight for _, weight in weights.most_common(MOST_FILES)), default=0.0)
    holders = list(reader.files(entry for entry, weight in weights.items() if weight >= least).values())
    # what is large has most trigrams by chance
    holders.sort(key=lambda file: (-weights[file.entry_id], file.size, file.path))
    within = [file.entry_id for file in holders if scope.allowed is None or file.entry_id in scope.allowed]
    likely = {file.entry_id: file for file in (*first(reader, proposed)[:BEST_READ], *first(reader, within))}
    return list(likely.values())[:FILES_READ]


def runs(message: str) -> list[str]:
    """Each two neighbouring words as they stand in the message, what is between them included, the longest first."""
    spans = [found.span() for found in _WORD.finditer(message)][:MOST_WORDS]
    pairs = {message[begin:end] for (begin, _), (_, end) in pairwise(spans) if RUN_CHARS <= end - begin <= MOST_RUN}
    return sorted((run for run in pairs if not _NO_TEXT.search(run)), key=lambda run: (-len(run), run))


class Like(NamedTuple):
    """A quoted text that is like a message, or of which the message may be made (``fits``), and where it stands.
    ``likeness``: how much of their letters both share, in [0, 1]."""

    likeness: float
    fits: bool
    path: str
    line: int
    text: str


def alike(
    reader: Index,
    read_lines: Callable[[FileRow], Sequence[str] | None],
    message: str,
    scope: Scope,
    proposed: Sequence[int],
) -> list[Like]:
    """The quoted texts of source files that are like a message, the most alike first. Within the reader's snapshot;
    ``proposed`` as for `find`."""
    asked, words = [run.lower() for run in runs(message)], _WORD.findall(message.lower())[:MOST_WORDS]
    matcher = SequenceMatcher(b=message.lower(), autojunk=False)
    found: dict[str, Like] = {}
    files = _likely(reader, runs(message), scope, proposed)
    reader.ahead(lambda index: [index.doc_text(file.blob_id) for file in files])
    for file in files:
        lines = read_lines(file)
        for text, line in _texts_near(lines, asked, words) if lines is not None else ():
            if text not in found and (like := _like(words, matcher, text)) is not None:
                found[text] = Like(*like, file.path, line, text)
    return sorted(found.values(), key=lambda like: (-like.likeness, like.path, like.line))


def _texts_near(lines: Sequence[str], asked: Sequence[str], words: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Each quoted text on the lines where a run stands and beside them, with its line; and what all of a line, and of
    two, come to. Where no run stands, as every second word was filled in, on the lines that have enough of the
    words."""
    for at in sorted(_lines_with(asked, "\n".join(lines).lower()) | _lines_with_words(words, lines)):
        near = [(_quoted(lines[line]), line + 1) for line in range(max(0, at - 1), min(at + 2, len(lines)))]
        for texts, line in near:
            yield from ((text, line) for text in texts)
        together = [(_joined(texts), line) for texts, line in near]
        yield from together
        yield from ((_joined((first, then)), line) for (first, line), (then, _) in pairwise(together))


def _joined(texts: Sequence[str]) -> str:
    """The texts as one; '' where two words would become one: these are names in a row and no pieces of a sentence."""
    in_a_row = any(first[-1:].isalnum() and then[:1].isalnum() for first, then in pairwise(texts))
    return "" if in_a_row else "".join(texts)


def _like(words: Sequence[str], matcher: SequenceMatcher[str], text: str) -> tuple[float, bool] | None:
    """How alike a text is to the message of these words, and whether it may be made of it; None where neither."""
    fixed = _WORD.findall(_BESIDE_FILLED_IN.sub(" ", text.lower()))
    shared = len(set(words).intersection(fixed))
    if not fixed or 2 * shared < min(len(set(words)), len(set(fixed))):
        return None
    all_said = shared == len(set(fixed)) and _in_order(words, fixed) == len(fixed)
    fits = all_said and _enough(words) <= len(fixed) <= len(words)
    likeness = 0.0
    for form in {text, _FILLED_IN.sub("", text)}:  # a long name of what is filled in says nothing
        matcher.set_seq1(form.lower()[:MOST_LINE_CHARS])
        if fits or matcher.quick_ratio() >= LEAST_ALIKE:
            likeness = max(likeness, matcher.ratio())
    return (likeness, fits) if fits or likeness >= LEAST_ALIKE else None


def best_line(lines: Sequence[str], words: Sequence[str], asked: Sequence[str]) -> Said | None:
    """The line whose quoted texts, or one of them, or all with those of the next line, say most of a message and least
    else, among the lines where a run stands. ``words``: of `words_of`, ``asked``: of `runs`, lower case."""
    text = "\n".join(lines).lower()
    best: Said | None = None
    for at in sorted(_lines_with(asked, text)):
        here = _fixed_words(lines[at])
        before = _together(_fixed_words(lines[at - 1])) if at else []
        after = _together(_fixed_words(lines[at + 1])) if at + 1 < len(lines) else []
        whole = _together(here)
        alone = [(fixed, at + 1) for fixed in here] if len(here) > 1 else []
        for fixed, line in ((whole, at + 1), (before + whole, at), (whole + after, at + 1), *alone):
            if fixed and (share := _share(words, fixed)) > (best.share if best else 0.0):
                best = Said(line, share)
    return best


def _line_filled_in(lines: Sequence[str], words: Sequence[str]) -> Said | None:
    """The line of which one quoted text, with what it fills in, says most of a message, wherever its words stand."""
    best: Said | None = None
    for at in sorted(_lines_with_words(words, lines)):
        for text in _quoted(lines[at]):
            fixed = _WORD.findall(_FILLED_IN.sub(" ", text.lower()))
            if _FILLED_IN.search(text) and (share := _share(words, fixed)) > (best.share if best else 0.0):
                best = Said(at + 1, share)
    return best


def _lines_with(asked: Sequence[str], text: str) -> set[int]:
    """The lines, from 0, in which a run stands, those with the longest ones where there are too many."""
    found: set[int] = set()
    for run in asked:
        line = counted = 0
        while (at := text.find(run, counted)) >= 0 and len(found) < MOST_LINES:
            line += text.count("\n", counted, at)
            found.add(line)
            counted = text.find("\n", at)
            if counted < 0:
                break
    return found


def _lines_with_words(words: Sequence[str], lines: Sequence[str]) -> set[int]:
    """The first lines, from 0, whose quoted texts may have enough of some words."""
    wanted, enough = set(words), _enough(words)
    with_quotes = ((at, line) for at, line in enumerate(lines) if '"' in line or "'" in line or "`" in line)
    found = (
        at
        for at, line in with_quotes
        if len(wanted.intersection(_WORD.findall(line[:MOST_LINE_CHARS].lower()))) >= enough
    )
    return set(islice(found, MOST_LINES))


def _enough(words: Sequence[str]) -> int:
    """How many words of a message its text has at least."""
    return min(ENOUGH_WORDS, (len(words) + 1) // 2)


def _share(words: Sequence[str], fixed: Sequence[str]) -> float:
    """How much of a message its fixed words are, less for what else they say; 0 where they say too much else."""
    if len(set(words).intersection(fixed)) < LEAST_WHOLE * len(set(fixed)):
        return 0.0
    same = _in_order(words, fixed)
    if same < max(RUN_WORDS, LEAST_WHOLE * len(fixed)):
        return 0.0
    return same / len(words) * same / len(fixed)


def _fixed_words(line: str) -> list[list[str]]:
    """The words of each of a line's quoted texts that no running program fills in."""
    return [_WORD.findall(_FILLED_IN.sub(" ", text.lower())) for text in _quoted(line)]


def _together(texts: Sequence[Sequence[str]]) -> list[str]:
    return list(chain.from_iterable(texts))


def _quoted(line: str) -> list[str]:
    """A line's quoted texts."""
    if not ('"' in line or "'" in line or "`" in line):
        return []
    quoted = _QUOTED.finditer(line[:MOST_LINE_CHARS])
    return [found[found.lastindex] for found in quoted if found.lastindex is not None]


def _in_order(words: Sequence[str], others: Sequence[str]) -> int:
    """How many words both have in the same order, at most: the length of their longest common subsequence."""
    row = [0] * (len(others) + 1)
    for word in words:
        left_above = 0
        for at, other in enumerate(others, 1):
            above = row[at]
            row[at] = left_above + 1 if word == other else max(above, row[at - 1])
            left_above = above
    return row[-1]

"""Messages of a running program, and the lines that say them: what is fixed stands there, what was filled in does not.

"expected 12 samples, got 7" is ``"expected %d samples, got %d"`` in the source. Nobody can tell from the message alone
which of its words were filled in; so every few neighbouring words are asked of the exact-text index, and of the files
that have most of them each line's quoted text is compared with the message.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import log
from typing import NamedTuple

from findling.search.ranking.priors import path_flags
from findling.search.scope import Scope
from findling.store.reader import IndexReader
from findling.store.rows import FileRow
from findling.store.trigram_plan import require_text

LEAST_WORDS = 3
MOST_WORDS = 40
"""Of a message; the end of a longer one is what was filled in, or the next line."""

RUN_WORDS, RUN_CHARS = 2, 9
"""Neighbouring words that are asked for together, three where two are too short to be rare."""

BEST_READ = 8
"""Files that have most of the words anyhow."""

MOST_FILES = 200
FILES_READ = 20
"""Those with most of the rare runs; the line is in one of the first three nearly always."""

LEAST_WHOLE = 0.7
"""Of a line's text that the message has."""

LEAST_SAID, LEAST_SAID_OF_PLAIN = 0.25, 0.6
"""Of the message that the line says: where it is written as messages are, with what looks filled in; and of plain
words, which most questions are."""

_QUESTION = frozenset(
    "how where what which who whom whose why when is are was does do did can could should would will may".split()
)
_LABEL = re.compile(r"\s*(?:[\w.]{0,100}\b[A-Z]\w*|(?i:error|exception|panic|fatal|warning))(?:\[[^\[\]\s]*\])?:\s+")
"""What is put before a message: its class, its level."""

_WRITTEN_AS_MESSAGE = re.compile(r"[:=\"'<>(){}\[\]]|\d")
_WORD = re.compile(r"[^\W_]+")
_QUOTED = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'|`((?:[^`\\]|\\.)*)`")
_FILLED_IN = re.compile(r"%[-+#0-9.*]*(?:\([^)]*\))?l?[a-zA-Z]|[$#]?\{[^{}]*\}|\$\([^()]*\)|\$\w+|\\\([^()]*\)|\\.")
"""Where a program puts something: ``%d``, ``{}``, ``{name}``, ``${name}``, ``#{name}``, ``$name``, ``\\(name)``."""


class Said(NamedTuple):
    """A line that says a message. ``share`` in (0, 1]: how much of the message it says, and little else."""

    line: int
    share: float


def message_in(text: str) -> str:
    """The line of a text that may be a message, without what is put before it: its class, its level. '' for a
    question."""
    lines = [line for line in text.split("\n") if line.strip()]
    labelled = [line for line in lines if _LABEL.match(line)]
    message = _LABEL.sub("", [*labelled, *lines, ""][0]).strip()
    first = _WORD.search(message)
    if first is None or first[0].lower() in _QUESTION or message.endswith("?"):
        return ""
    return message


def words_of(message: str) -> list[str]:
    """Its words in lower case, the first `MOST_WORDS`; none where there are too few to tell."""
    words = _WORD.findall(message.lower())
    return words[:MOST_WORDS] if len(words) >= LEAST_WORDS else []


def find(
    reader: IndexReader,
    read_lines: Callable[[FileRow], Sequence[str] | None],
    text: str,
    scope: Scope,
    proposed: Sequence[int],
) -> dict[int, Said]:
    """Entry -> its best line, of source files that say a message. Within the reader's snapshot. ``proposed``: entries
    that have its words, the best first: of files that the exact-text index does not know yet, only they are read."""
    message = message_in(text)
    words = words_of(message)
    if not words:
        return {}
    found: dict[int, Said] = {}
    for file in _likely(reader, message, scope, proposed):
        lines = read_lines(file)
        if lines is not None and (said := best_line(lines, words)) is not None:
            found[file.entry_id] = said
    best = max((said.share for said in found.values()), default=0.0)
    if best < (LEAST_SAID if _WRITTEN_AS_MESSAGE.search(text) else LEAST_SAID_OF_PLAIN):
        return {}
    return {entry: said for entry, said in found.items() if said.share == best}


def _likely(reader: IndexReader, message: str, scope: Scope, proposed: Sequence[int]) -> list[FileRow]:
    """Source files that have most of the message's runs of words, rare ones above all; no tests, which repeat what the
    program says with everything filled in."""
    weights: Counter[int] = Counter()
    total = max(1, len(reader.trigrams.covered))
    for run in runs(message):
        contents = reader.trigrams.candidates(require_text(run.encode()))
        rarity = log(1 + total / max(1, len(contents)))
        weights.update(dict.fromkeys(contents, rarity))
    most = [blob_id for blob_id, _ in weights.most_common(MOST_FILES)]
    files = [file for file in reader.files_of_blobs(most) if scope.allowed is None or file.entry_id in scope.allowed]
    # what is large has most trigrams by chance
    files.sort(key=lambda file: (-weights[file.blob_id], file.size, file.path))
    rows = reader.files(proposed)
    unknown = set(reader.uncovered_blobs())
    first = [
        rows[entry]
        for place, entry in enumerate(proposed)
        if entry in rows and (place < BEST_READ or rows[entry].blob_id in unknown)
    ]
    likely = {file.entry_id: file for file in (*first, *files) if file.kind == "code" and not path_flags(file.path)}
    return list(likely.values())[:FILES_READ]


def runs(message: str) -> Iterable[str]:
    """Each few neighbouring words as they stand in the message, what is between them included."""
    spans = [found.span() for found in _WORD.finditer(message)][:MOST_WORDS]
    for at in range(len(spans) - RUN_WORDS + 1):
        begin, end = spans[at][0], spans[at + RUN_WORDS - 1][1]
        if end - begin < RUN_CHARS and at + RUN_WORDS < len(spans):
            end = spans[at + RUN_WORDS][1]
        if end - begin >= RUN_CHARS:
            yield message[begin:end]


def best_line(lines: Sequence[str], words: Sequence[str]) -> Said | None:
    """The line whose quoted text, with that of the next line where it goes on there, says most of a message and least
    else. ``words``: of `words_of`."""
    wanted = set(words)
    best: Said | None = None
    before: list[str] = []
    for number, line in enumerate(lines, 1):
        quoted = _fixed_words(line) if '"' in line or "'" in line or "`" in line else []
        if not quoted:
            before = []
            continue
        for fixed, at in ((quoted, number), (before + quoted, number - 1)) if before else ((quoted, number),):
            if len(wanted.intersection(fixed)) < LEAST_WHOLE * len(fixed):
                continue
            same = _in_order(words, fixed)
            share = same / len(words) * min(1.0, same / len(fixed))
            enough = same >= RUN_WORDS and same >= LEAST_WHOLE * len(fixed)
            if enough and (best is None or share > best.share):
                best = Said(at, share)
        before = quoted
    return best


def _fixed_words(line: str) -> list[str]:
    """The words of a line's quoted texts that no running program fills in."""
    fixed: list[str] = []
    for found in _QUOTED.finditer(line):
        fixed += _WORD.findall(_FILLED_IN.sub(" ", found[found.lastindex or 1].lower()))
    return fixed


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

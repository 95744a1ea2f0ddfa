"""A pasted text taken apart: an issue, a traceback, a log, a review comment, code. Pure; looks nothing up.

Each part asks something else: the title what it is about, the prose what is the matter, frames and paths where it
happened, names what it happened to, messages what was said, code what was called.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from findling.search.intent import is_extension

LEAST_LINES, LEAST_CHARS = 3, 200
"""A text is taken apart from so many lines on, or two lines and so many characters; shorter ones are one question."""

TITLE_CHARS, PROSE_CHARS, CODE_CHARS = 200, 700, 20_000
"""What is asked of each."""

LINE_CHARS = 2_000
"""Of a line, in which frames are looked for."""

MOST_FRAMES, MOST_MESSAGES, MOST_NAMES = 60, 3, 40

_FENCE = re.compile(r"^[ \t>]*(?:```|~~~)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HEADING = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|={3,}|-{3,}|\*\*[^*]{1,60}\*\*:?[ \t]*$)")
_PROMPT = re.compile(r"^[ \t]*(?:>>> |\.\.\. |\$ |In \[\d+\]: )")
_INDENTED = re.compile(r"^(?: {4}|\t)\s*\S")
_FRAME = re.compile(
    r"(?P<path>(?:[A-Za-z]:)?[\w.@~+/\\-]*[\w@~+-]\.(?P<ending>[A-Za-z]\w{0,8}))"
    r"(?:[\"'`]?,? +(?:on )?line +|:line +|:|\()(?P<line>[1-9]\d{0,6})\b"
)
_PYTHON_FRAME = re.compile(r"^\s*(?:\S{0,20}>\s*)?File \"[^\"]+\", line \d+")
_OF_TRACE = re.compile(
    r"^\s*(?:\S{0,20}>\s*)?(?:File \"|Traceback \(|at \S+ ?\(|at \S+:\d|\^|#\d+ |goroutine \d|\d+: 0x)"
)
_LABELLED = re.compile(
    r"^[ \t]*(?:E[ \t]+|\w{1,20}>[ \t]*)?"
    r"(?:[\w.]*(?:Error|Exception|Warning|Failure|Panic)\b|(?:error|warning|fatal|panic|WARNING|ERROR|FATAL|CRITICAL)\b)"
    r"(?:\[[^\]\s]{1,40}\])?:[ \t]+\S"
)
_QUOTED = re.compile(r"\"([^\"\n]{8,200})\"|\u201c([^\u201d\n]{8,200})\u201d")
_TICKED = re.compile(r"(?<!`)`([^`\n]{2,100})`(?!`)")
_NAME = re.compile(r"[^\W\d]\w*(?:(?:\.|::|#|->)[^\W\d]\w*)*")
_WITHIN = re.compile(r"\.|::|#|->")
_NAMED_SO = re.compile(r"\w_\w|[a-z0-9][A-Z]|[A-Z]{2,}[a-z]|\w(?:\.|::|#|->)\w|^_")
_PATH = re.compile(r"[\w.@~+/-]{1,300}")
_AROUND = "\"'`?,;:!()[]{}<>*&."


@dataclass(frozen=True, slots=True)
class Frame:
    """A place that a text names: a path as it stands there, and the line."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Pasted:
    """``frames``: where it happened first, which in a Python traceback is the last. ``names`` and ``paths`` are those
    of the prose, ``code`` the names in what is written as code."""

    title: str
    prose: str = ""
    names: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    frames: tuple[Frame, ...] = ()
    messages: tuple[str, ...] = ()
    code: tuple[str, ...] = ()

    @property
    def is_report(self) -> bool:
        """Whether it tells of a program: then code is looked for."""
        return bool(self.frames or self.names or self.messages or self.code)


def is_pasted(text: str) -> bool:
    """Whether a text is more than one question."""
    lines = [line for line in text.strip().split("\n") if line.strip()]
    return len(lines) >= LEAST_LINES or (len(lines) > 1 and len(text) >= LEAST_CHARS)


def take_apart(text: str) -> Pasted:
    """The parts of any text."""
    text = _COMMENT.sub(" ", text.replace("\r", ""))
    prose: list[str] = []
    code: list[str] = []
    said: list[str] = []
    frames: list[Frame] = []
    title, last_first, in_trace = "", False, False
    for line, fenced in _lines(text):
        found = frames_in(line)
        frames += found
        last_first = last_first or bool(_PYTHON_FRAME.match(line))
        if _LABELLED.match(line):
            said.append(line.strip())
            in_trace = False
        elif found or _OF_TRACE.match(line):
            in_trace = True
        elif fenced or (in_trace and line[0].isspace()):
            code.append(_PROMPT.sub("", line))
        elif not title and not said and not frames:
            title = line.strip().lstrip("#").strip()
        elif not _HEADING.match(line):
            prose.append(line.strip())
            in_trace = False
    written = " ".join(prose)
    said += [inside for quoted in _QUOTED.finditer(f"{title}\n{written}") if " " in (inside := quoted[1] or quoted[2])]
    return Pasted(
        title=(title or (said[-1] if said else written))[:TITLE_CHARS],
        prose=written[:PROSE_CHARS],
        names=_first(_names(f"{title} {written}"), MOST_NAMES),
        paths=_first(_paths(f"{title} {written}"), MOST_NAMES),
        frames=tuple(frames[: -MOST_FRAMES - 1 : -1] if last_first else frames[:MOST_FRAMES]),
        messages=_first(reversed(said), MOST_MESSAGES),
        code=_first(_names_of_code("\n".join(code)[:CODE_CHARS]), MOST_NAMES),
    )


def _first(found: Iterable[str], most: int) -> tuple[str, ...]:
    return tuple(islice(dict.fromkeys(found), most))


def frames_in(line: str) -> list[Frame]:
    """The places that a line names: a path with the number of a line behind it."""
    found = _FRAME.finditer(line[:LINE_CHARS])
    return [Frame(each["path"].replace("\\", "/"), int(each["line"])) for each in found if is_extension(each["ending"])]


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """The lines that say something, and whether each is written as code: between fences, indented, at a prompt."""
    fenced = blank = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif line.strip():
            indented = (blank or fenced) and _INDENTED.match(line) is not None
            yield line, fenced or indented or _PROMPT.match(line) is not None
            blank = indented
        else:
            blank = True


def _names(text: str) -> Iterator[str]:
    """What is written as a name: by its form, or between backticks."""
    ticked = [found[1] for found in _TICKED.finditer(text)]
    for inside in ticked:
        if (name := _NAME.fullmatch(inside.strip("()*&$@-"))) is not None:
            yield name[0]
    for word in _NAME.findall(text):
        if _NAMED_SO.search(word) and word.lower() not in ("e.g", "i.e"):
            yield word


def _paths(text: str) -> Iterator[str]:
    for word in text.split():
        path = word.strip(_AROUND)
        if is_extension(path.rpartition(".")[2]) and _PATH.fullmatch(path):
            yield path


def _names_of_code(code: str) -> list[str]:
    """The names in code, those written as names first: any word may be one there."""
    names = [part for found in _NAME.findall(code) for part in _WITHIN.split(found)]
    return sorted(dict.fromkeys(names), key=lambda name: _NAMED_SO.search(name) is None)

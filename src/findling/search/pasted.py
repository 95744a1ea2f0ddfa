"""A pasted text taken apart: an issue, a traceback, a log, a review comment, code; and where its parts lead.

Each part asks something else: the title what it is about, the prose what is the matter, frames and paths where it
happened, names what it happened to, messages what was said, code what was called.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, takewhile

from msgspec import Struct

from findling.model import tokenizer
from findling.model.rows import FileRow
from findling.search import messages
from findling.search.intent import is_extension
from findling.search.ranking import formula
from findling.search.ranking.priors import OF_PLACES, path_flags
from findling.search.ranking.ranked_file import RankedFile, put_in_order
from findling.search.scope import Scope
from findling.search.vocabulary import word_list
from findling.store.protocols import Index, OnlyThese

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
_LOGGED = re.compile(
    r"^\W{0,3}(?:\d{4}[-/]\d\d[-/]\d\d[T ])?\d\d:\d\d:\d\d[\d.,:+Z-]*\W{1,3}(?:\[[^\]\n]{1,60}\]\s+)?"
    r"(?P<level>(?i:trace|debug|info|notice|warn|warning|error|fatal|critical|severe|panic))\b[\]|:]*\s+"
    r"(?:[-|:]+\s+)?(?:\d{1,9} --- )?(?:\[[^\]\n]{1,60}\]\s+)?(?:[][\w.$/-]{1,80}(?:\s{0,40}:|\s{1,40}-)\s+)?"
    r"(?:\w{1,20}>\s+)?(?P<message>\S.*)"
)
"""A line of a log: a time, its level, perhaps a thread and who logs, and the message."""

_OF_FAULTS = word_list("faults")
_QUOTED = re.compile(r"\"([^\"\n]{8,200})\"|\u201c([^\u201d\n]{8,200})\u201d")
_TICKED = re.compile(r"(?<!`)`([^`\n]{2,100})`(?!`)")
_NAME = re.compile(r"[^\W\d]\w*(?:(?:\.|::|#|->)[^\W\d]\w*)*")
_CALLED = re.compile(r"(?<!\w)([^\W\d]\w*)\s?[({<]")
_WITHIN = re.compile(r"\.|::|#|->")
_NAMED_SO = re.compile(r"\w_\w|[a-z0-9][A-Z]|[A-Z]{2,}[a-z]|\w(?:\.|::|#|->)\w|^_")
_PATH = re.compile(r"[\w.@~+/-]{1,300}")
_AROUND = "\"'`?,;:!()[]{}<>*&."


class Frame(Struct, frozen=True):
    """A place that a text names: a path as it stands there, and the line."""

    path: str
    line: int


class Pasted(Struct, frozen=True):
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
    traced: list[str] = []  # the code of frames, which say themselves where it stands
    said: list[str] = []
    frames: list[Frame] = []
    title, last_first, in_trace = "", False, False
    for line, fenced in _lines(text):
        found = frames_in(line)
        frames += found
        last_first = last_first or bool(_PYTHON_FRAME.match(line))
        logged = _LOGGED.match(line[:LINE_CHARS])
        if logged and not fenced:
            (said if logged["level"].lower() in _OF_FAULTS else prose).append(logged["message"].strip())
            in_trace = False
        elif _LABELLED.match(line):
            said.append(line.strip())
            in_trace = False
        elif found or _OF_TRACE.match(line):
            in_trace = True
        elif in_trace and line[0].isspace():
            traced.append(line)
        elif fenced:
            code.append(_PROMPT.sub("", line))
            in_trace = False
        elif not title and not said and not frames and not prose:
            title = line.strip().lstrip("#").strip()
        elif not _HEADING.match(line):
            prose.append(line.strip())
            in_trace = False
    written = " ".join(prose)
    raised = [name for name in _names_of_code(traced) if not frames or name[0].isupper()]
    said += [inside for quoted in _QUOTED.finditer(f"{title}\n{written}") if " " in (inside := quoted[1] or quoted[2])]
    return Pasted(
        title=(title or (said[-1] if said else written))[:TITLE_CHARS],
        prose=written[:PROSE_CHARS],
        names=_first(_names(f"{title} {written}"), MOST_NAMES),
        paths=_first(_paths(f"{title} {written}"), MOST_NAMES),
        frames=tuple(frames[: -MOST_FRAMES - 1 : -1] if last_first else frames[:MOST_FRAMES]),
        messages=_first(reversed(said), MOST_MESSAGES),
        code=_first((*_names_of_code(code), *raised), MOST_NAMES),
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


def _names_of_code(lines: Sequence[str]) -> list[str]:
    """The names in code, those written as names first. A plain word is one where it is called or has a capital: others
    are variables."""
    code = "\n".join(lines)[:CODE_CHARS]
    called = set(_CALLED.findall(code))
    names = dict.fromkeys(part for found in _NAME.findall(code) for part in _WITHIN.split(found))
    kept = [name for name in names if name in called or name[0].isupper() or _NAMED_SO.search(name)]
    return sorted(kept, key=lambda name: _NAMED_SO.search(name) is None)


MOST_FILES = 3
"""That define a name which tells them from others."""

MOST_DEFINITIONS = 400
LEAST_LETTERS = 4
"""Of a name that says something."""

ENOUGH_NAMES = 3
"""Names of its own that a file needs to be all that the names of a text speak of."""

LEAST_SAID = 0.5
"""Of a message that a line has to say."""

LEAST_PARTS = 2
"""Of the end of a path that two have in common to be the same file."""

PROSE_FILES = 30
"""Files that the prose leads to."""

WORDS: Mapping[str, str] = {
    "prose": "prose",
    "frame": "trace",
    "named_there": "names",
    "quoted_there": "message",
}
"""What an answer calls the part that led to a file, by its signal."""

TITLE = "title"


class Led(Struct):
    """Entry -> signal -> value, what was found, and the line to show."""

    values: dict[int, dict[str, float]] = {}
    found: dict[int, dict[str, list[str]]] = {}
    lines: dict[int, int] = {}
    documents: bool = True
    """Whether documents are asked as well as code."""

    def note(self, entry: int, signal: str, value: float, what: str = "") -> None:
        values = self.values.setdefault(entry, {})
        values[signal] = min(1.0, values.get(signal, 0.0) + value)
        if what:
            self.found.setdefault(entry, {}).setdefault(signal, []).append(what)

    def by(self, *signals: str) -> list[int]:
        """The entries that some parts lead to."""
        return [entry for entry, values in self.values.items() if any(name in values for name in signals)]

    def weigh(self, ranked: list[RankedFile]) -> None:
        """Give files that are ranked by the title what the other parts say, and put all in order again."""
        for item in ranked:
            entry = item.file.entry_id
            item.values.update(self.values.get(entry, {}))
            if not self.documents and item.file.kind == "docs":
                item.values["document"] = 1.0
            item.found_there = {name: ", ".join(what) for name, what in self.found.get(entry, {}).items()}
            if entry in self.lines:  # it is what is shown, not a definition elsewhere
                item.exact_line, item.definitions = self.lines[entry], []
            item.use |= formula.OF_PASTED
        put_in_order(ranked, ranked)

    def parts(self, item: RankedFile, titled: bool) -> tuple[str, ...]:
        """The parts that led to a file, with what each found there."""
        values = self.values.get(item.file.entry_id, {})
        told = [
            f"{word} {what}" if (what := item.found_there.get(name)) else word
            for name, word in WORDS.items()
            if values.get(name)
        ]
        return (TITLE, *told) if titled else tuple(told)


def lookup(
    reader: Index,
    read_lines: Callable[[FileRow], Sequence[str] | None],
    pasted: Pasted,
    scope: Scope,
    proposed: Sequence[int],
) -> Led:
    """Where frames, paths, names, code and messages lead. Within the reader's snapshot; ``proposed``: entries that the
    title leads to."""
    led = Led(documents=not pasted.is_report)
    reader.ahead(lambda index: ahead(index, pasted, scope, proposed))
    for place, (file, line) in enumerate(frames(reader, _named(pasted), scope)):
        led.note(file.entry_id, "frame", 1 / (1 + place), f"at line {line}" if line else "")
        if line:
            led.lines[file.entry_id] = line
    _definitions(reader, (*pasted.names, *pasted.code), scope, led)
    for message in pasted.messages:
        for entry, said in messages.find(reader, read_lines, message, scope, proposed).items():
            if said.share >= LEAST_SAID and "quoted_there" not in led.values.get(entry, {}):
                led.note(entry, "quoted_there", said.share, f"at line {said.line}")
                led.lines.setdefault(entry, said.line)
    return led


def ahead(reader: Index, pasted: Pasted, scope: Scope, proposed: Sequence[int]) -> None:
    """Ask for what `lookup` needs of an index that is told what comes next (`Index.ahead`), as far as that is known."""
    frames(reader, _named(pasted), scope)
    _definitions(reader, (*pasted.names, *pasted.code), scope, Led(documents=False))
    for message in pasted.messages:
        messages.ahead(reader, message, scope, proposed)


def _named(pasted: Pasted) -> list[Frame]:
    return [*pasted.frames, *(Frame(path, 0) for path in pasted.paths)]


def frames(reader: Index, named: Sequence[Frame], scope: Scope) -> list[tuple[FileRow, int]]:
    """The files of the index that frames name, each once, with the line, in the frames' order; of a path without a
    line only what is a file of code."""
    called: dict[str, list[str]] = {}
    found: dict[int, tuple[FileRow, int]] = {}
    for frame in named:
        name = frame.path.rpartition("/")[2]
        if name not in called:
            at_root = [name] if reader.file_at(name) is not None else []
            called[name] = [*at_root, *reader.paths_ending(f"/{name}")]
        path = _same_end(frame.path, called[name])
        file = reader.file_at(path) if path else None
        if file is None or not scope.has(file.entry_id) or frame.line > file.lines:
            continue
        if frame.line or (file.kind == "code" and not path_flags(file.path) & OF_PLACES):
            found.setdefault(file.entry_id, (file, frame.line))
    return list(found.values())


def _same_end(path: str, known: Sequence[str]) -> str:
    """The one of some paths that ends as another does, which may begin in another place, as what was installed: in two
    parts at least, or in all it has; '' where there is none, or more than one."""
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]

    def same(other: str) -> int:
        pairs = zip(reversed(parts), reversed(other.split("/")), strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

    ends = sorted(((same(other), other) for other in known), reverse=True)[:2]
    if not ends or ends[0][0] < min(LEAST_PARTS, len(parts)):
        return ""
    if len(ends) > 1 and ends[1][0] == ends[0][0] and ends[0][1] != path:
        return path if path in known else ""
    return ends[0][1]


def _definitions(reader: Index, names: Sequence[str], scope: Scope, led: Led) -> None:
    """Note the files that define one of a few names of the same spelling, tests and examples aside."""
    last = dict.fromkeys(name.rpartition(".")[2].rpartition("::")[2] for name in names)
    asked = {tokenizer.squash(name): name for name in last if len(name) >= LEAST_LETTERS}
    places: dict[str, set[int]] = {}
    for each in reader.named(asked, MOST_DEFINITIONS, OnlyThese(scope.blobs)):
        if each.name == asked[each.squashed]:
            places.setdefault(each.name, set()).add(each.blob_id)
    blobs = {blob for found in places.values() for blob in found}
    rows: dict[int, list[FileRow]] = {}
    for file in reader.files_of_blobs(blobs):
        if scope.has(file.entry_id) and not path_flags(file.path) & OF_PLACES:
            rows.setdefault(file.blob_id, []).append(file)
    for name, found in places.items():
        files = [file for blob in found for file in rows.get(blob, ())]
        if len(files) <= MOST_FILES:
            for file in files:
                led.note(file.entry_id, "named_there", 1 / (ENOUGH_NAMES * len(files)), name)

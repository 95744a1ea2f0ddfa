"""Where the parts of a pasted text but its title lead: to files, and to lines in them. Looks up; asks no question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from findling.model import tokenizer
from findling.model.rows import FileRow
from findling.search import messages
from findling.search.pasted import Frame, Pasted
from findling.search.ranking import RankedFile, formula
from findling.search.ranking.priors import OF_PLACES, path_flags
from findling.search.scope import Scope
from findling.store.protocols import Index, OnlyThese

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


@dataclass(slots=True)
class Led:
    """Entry -> signal -> value, what was found, and the line to show."""

    values: dict[int, dict[str, float]] = field(default_factory=dict)
    found: dict[int, dict[str, list[str]]] = field(default_factory=dict)
    lines: dict[int, int] = field(default_factory=dict)
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
            item.rank_value = formula.rank_value(item.values, item.use)
        ranked.sort(key=lambda item: (-item.rank_value, item.file.path))

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
    named = [*pasted.frames, *(Frame(path, 0) for path in pasted.paths)]
    for place, (file, line) in enumerate(frames(reader, named, scope)):
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

"""How often what does not occur is told as absent, and what occurs is not: names, paths and messages.

    absent.py ROOT... [--ask symbols paths messages] [--number 200] [--seed 1] [--cache] [--tool 20] [--missed]

Of all ROOTs together so many of each kind are drawn at random, as they are, and as many changed until they do not
occur; where one ROOT has fewer than its share those after it give more. Changed: a letter left out, doubled or
exchanged for its neighbour; a part of a name or a word of a message exchanged for a made-up one. That they do not occur
is found by reading all files, without the index: no file has the text, in whatever case, and no path ends with it.

- symbols: names of four letters and more that are defined in code.
- paths: of indexed files.
- messages: quoted texts with four words and more, in lines of code that raise, throw, panic or log or in one of the
  two lines after such a line; not of tests and examples. Every other one is asked for in quotes as it is written, the
  others as a running program says them: with its class before it, and made-up values in the place of what is filled in.

Each is asked in `auto` mode, absent symbols also as `findling symbol` does, and so many of each (``--tool``) also
through the tool search_code. Prints a Markdown table: how many of the absent were told, how many of the present called
absent, how many times the original was among the nearest, and the milliseconds of one question. The folders are
indexed first where they are not yet.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from findling import Engine, contracts
from findling.search.ranking.priors import OF_PLACES, path_flags

LEAST_LETTERS, LEAST_WORDS = 4, 4
TRIES = 50
"""Changes of one text until it occurs nowhere."""

MADE_UP = ("Zander", "Quorlop", "Vexnim", "Brindle", "Ostravik")
FILLED_IN_WITH = ("harbour", "berth_7", "tideTable", "12", "keel")

_RAISES = re.compile(
    r"\b(?:raise|throw|panic|Errorf?|error|fail|abort|die|fatal|warnf?|log|logger|debug|info)\w*\W"
    r"(?:.*\n){0,2}?.*?(?P<quote>[\"'])(?P<text>(?:(?!(?P=quote))[^\\\n]){12,160})(?P=quote)"
)
_FILLED_IN = re.compile(r"%[-+#0-9.]*(?:\([^)]*\))?(?:hh|h|ll|l|z|j|t)?[a-zA-Z]|\$?#?\{[^{}\"]*\}|\$\w+")
_WORD = re.compile(r"[A-Za-z]{2,}")
_PART = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and what it was before it was changed, '' for one that was not."""

    question: str
    original: str = ""


class Files:
    """The text and the paths of a root's files, read without the index."""

    def __init__(self, engine: Engine) -> None:
        reader = engine._store.reader
        with reader.snapshot():
            self.rows = list(reader.all_files())
            names = reader.defined_names([file.blob_id for file in self.rows if file.kind == "code"])
        self.names = sorted({name for defined in names.values() for name in defined.text.split("\n")})
        self.kinds = {file.path: file.kind for file in self.rows}
        self.texts = {
            file.path: (engine.root / file.path).read_bytes().decode("utf-8", "replace") for file in self.rows
        }
        self.all = "\n".join(self.texts.values()).lower()
        self.paths = [f"/{path.lower()}" for path in self.texts]

    def hold(self, text: str) -> bool:
        return text.lower() in self.all or any(path.endswith(f"/{text.lower()}") for path in self.paths)


def symbols(files: Files) -> list[str]:
    return [name for name in files.names if len(name) >= LEAST_LETTERS and name.isascii() and name.isidentifier()]


def paths(files: Files) -> list[str]:
    return [path for path in sorted(files.texts) if path.isascii() and " " not in path]


def _words(text: str) -> int:
    """How many words of a text are fixed."""
    return sum(_WORD.search(word) is not None for word in _FILLED_IN.sub(" ", text).split())


def messages(files: Files) -> list[str]:
    found = {
        statement["text"]
        for path, text in files.texts.items()
        if not path_flags(path) & OF_PLACES and files.kinds[path] == "code"
        for statement in _RAISES.finditer(text)
    }
    return sorted(text for text in found if text.isascii() and _words(text) >= LEAST_WORDS)


def changed(text: str, draw: random.Random) -> str:
    """A text with a letter or a part changed."""
    part = draw.choice(list(_PART.finditer(text)) or list(re.finditer(r"\w+", text)))
    word, at = part[0], draw.randrange(1, max(2, len(part[0]) - 1))
    ways = [
        word[:at] + word[at + 1 :],
        word[:at] + word[at] + word[at:] if at < len(word) else word,
        word[: at - 1] + word[at : at + 1] + word[at - 1] + word[at + 1 :],
        draw.choice(MADE_UP) if word[0].isupper() else draw.choice(MADE_UP).lower(),
    ]
    return text[: part.start()] + draw.choice(ways) + text[part.end() :]


def absent_from(files: Files, text: str, fixed: Callable[[str], str], draw: random.Random) -> str | None:
    """A change of a text that occurs nowhere; ``fixed``: what of it has to occur nowhere."""
    for _ in range(TRIES):
        other = changed(text, draw)
        if other != text and not files.hold(fixed(other)):
            return other
    return None


def said(message: str, number: int, draw: random.Random) -> str:
    """A message as it is asked for: every other one as it is written."""
    if number % 2 == 0:
        return f'"{message}"'
    return f"ValueError: {_FILLED_IN.sub(lambda _: draw.choice(FILLED_IN_WITH), message)}"


KINDS: Mapping[str, Callable[[Files], list[str]]] = {"symbols": symbols, "paths": paths, "messages": messages}


def drawn(files: Files, kind: str, number: int, draw: random.Random) -> tuple[list[Asked], list[Asked]]:
    """Questions for what is there, and for what is not."""
    known = KINDS[kind](files)
    draw.shuffle(known)
    present: list[Asked] = []
    absent: list[Asked] = []
    for text in known:
        if len(absent) == number:
            break
        if kind == "messages":
            # what stands between two fillings is fixed, so it is what may occur nowhere
            other = absent_from(files, text, lambda one: max(_FILLED_IN.split(one), key=len).strip(), draw)
            if other is None or not any(files.hold(piece.strip()) for piece in [max(_FILLED_IN.split(text), key=len)]):
                continue
            asked = said(text, len(absent), draw), said(other, len(absent), draw)
        else:
            other = absent_from(files, text, str, draw)
            if other is None:
                continue
            asked = text, other
        present.append(Asked(asked[0]))
        absent.append(Asked(asked[1], text))
    return present, absent


@dataclass
class Count:
    """What came of one kind's questions."""

    present: int = 0
    called_absent: list[str] = field(default_factory=list)
    absent: int = 0
    not_told: list[str] = field(default_factory=list)
    by_name: int = 0
    nearest: int = 0
    tool_asked: int = 0
    tool_wrong: list[str] = field(default_factory=list)
    ms: dict[str, list[float]] = field(default_factory=lambda: {"present": [], "absent": []})


def ask(engine: Engine, kind: str, present: Sequence[Asked], absent: Sequence[Asked], count: Count) -> None:
    name = engine.root.name
    for asked in (*present, *absent):
        began = time.perf_counter()
        result = engine.search(asked.question, limit=10, wait_s=0.0)
        count.ms["absent" if asked.original else "present"].append((time.perf_counter() - began) * 1000)
        if not asked.original:
            count.present += 1
            count.called_absent += [f"{name}: {asked.question}"] if result.is_absent else []
            continue
        count.absent += 1
        count.not_told += [] if result.is_absent else [f"{name}: {asked.question} ({asked.original})"]
        if kind == "symbols":
            count.by_name += bool(engine.symbols(asked.question, wait_s=0.0).absent)
        count.nearest += any(asked.original in (near.text, near.path) for near in result.nearest)


def ask_tool(root: Path, cache: bool, present: Sequence[Asked], absent: Sequence[Asked], count: Count) -> None:
    """search_code has no results for what is absent, and says so; it has some for what is there."""
    with contracts.Workspace(root, roots=[root], cache=cache) as workspace:
        for asked in (*present, *absent):
            reply: Any = contracts.call("search_code", {"query": asked.question}, workspace).structured
            told = reply["results"] == [] and bool(reply.get("absent")) and reply["metadata"]["low_confidence"]
            count.tool_asked += 1
            count.tool_wrong += [f"{root.name}: {asked.question}"] if told != bool(asked.original) else []


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, nargs="+")
    parser.add_argument("--ask", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--number", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tool", type=int, default=20, help="so many of each kind through search_code, too")
    parser.add_argument("--cache", action="store_true", help="the indexes lie in the user's cache folder")
    parser.add_argument("--missed", action="store_true", help="name each that was missed")
    options = parser.parse_args(arguments)
    counts = {kind: Count() for kind in options.ask}
    for at, root in enumerate(options.root):
        roots_left = len(options.root) - at
        with Engine.open(root, root=root, cache=options.cache) as engine:
            engine.index()
            files = Files(engine)
            for kind, count in counts.items():
                share = -(-(options.number - count.absent) // roots_left)
                questions = drawn(files, kind, share, random.Random(options.seed))
                ask(engine, kind, *questions, count)
                some = -(-options.tool // len(options.root))
                ask_tool(root, options.cache, questions[0][:some], questions[1][:some], count)
    print(
        "| | absent: told | present: called absent | absent: told by `symbol` | original among the nearest "
        "| search_code right | ms present | ms absent |\n|---|--:|--:|--:|--:|--:|--:|--:|"
    )
    for kind, count in counts.items():
        row = (
            f"{count.absent - len(count.not_told)} of {count.absent}",
            f"{len(count.called_absent)} of {count.present}",
            f"{count.by_name} of {count.absent}" if kind == "symbols" else "",
            f"{count.nearest} of {count.absent}",
            f"{count.tool_asked - len(count.tool_wrong)} of {count.tool_asked}",
            *(f"{statistics.median(count.ms[which]):.0f}" for which in ("present", "absent")),
        )
        print(f"| {kind} | {' | '.join(row)} |")
    if options.missed:
        for kind, count in counts.items():
            for what in ("not_told", "called_absent", "tool_wrong"):
                print(f"\n{kind}, {what.replace('_', ' ')}:", *getattr(count, what), sep="\n")


if __name__ == "__main__":
    main()

"""How often what is typed to the letter leads to its place: a name, a qualified name, a path, an error message.

    names.py ROOT... [--ask names qualified paths messages] [--number 60] [--seed 1] [--cache] [--missed]

Of each ROOT so many of each kind are drawn at random and asked for in `auto` mode; one is missed where the first place
of the answer is not what was meant:

- names: those that at most two files define and that no word could be, written with ``_`` or with capitals inside.
  Meant is a file that defines it.
- qualified: ``Outer.inner`` that at most two files define. Meant is a file that defines this one.
- paths: as they are. Meant is the file.
- messages: a line of code, not of tests and examples, that raises, throws, panics or logs an error with four words or
  more in double quotes, some of them filled in while the program runs: these are replaced by made-up names. Meant are
  its lines.

Prints a Markdown table, and with ``--missed`` each that was missed with what came first. The folders are indexed first
where they are not yet.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from findling import Engine
from findling.model import tokenizer
from findling.model.types import Hit
from findling.search.ranking.priors import OF_PLACES, path_flags

MOST_FILES = 2
LEAST_LETTERS = 5
LEAST_WORDS = 4
STATEMENT_LINES = 3
"""Around the line of a message that count as its place."""

_COMPOUND = re.compile(r"[^\W_]_[^\W_]|[a-z][A-Z]")
_RAISES = re.compile(
    r"\b(?:raise|throw|panic|Errorf?|error|fail|abort|die|fatal|warnf?)\w*\W.*?(\"(?:[^\"\\]|\\.){12,160}\")"
)
_FILLED_IN = re.compile(r"%[-+#0-9.]*(?:\([^)]*\))?(?:hh|h|ll|l|z|j|t)?[a-zA-Z]|\$?#?\{[^{}\"]*\}|\$\w+")
_MADE_UP = ("harbour", "berth_7", "tideTable", "12", "keel")

Right = Callable[[Hit], bool]


def names(engine: Engine, draw: random.Random, number: int) -> Mapping[str, Right]:
    reader = engine._store.reader
    files: dict[str, set[str]] = {}
    spelled: dict[str, str] = {}
    with reader.snapshot():
        paths = {file.blob_id: file.path for file in reader.all_files() if file.kind == "code"}
        for blob_id, defined in reader.defined_names(list(paths)).items():
            for name in defined.text.split("\n"):
                squashed = tokenizer.squash(name)
                files.setdefault(squashed, set()).add(paths[blob_id])
                if len(name) >= LEAST_LETTERS and _COMPOUND.search(name):
                    spelled[squashed] = name
    known = {name: files[squashed] for squashed, name in spelled.items() if len(files[squashed]) <= MOST_FILES}
    return {name: _in_files(known[name]) for name in draw.sample(sorted(known), min(number, len(known)))}


def qualified(engine: Engine, draw: random.Random, number: int) -> Mapping[str, Right]:
    reader = engine._store.reader
    files: dict[tuple[str, ...], set[str]] = {}
    spelled: dict[tuple[str, ...], str] = {}
    with reader.snapshot():
        for file in reader.all_files():
            for symbol in reader.symbols(file.blob_id) if file.kind == "code" else ():
                outer = symbol.scope.rsplit(".", 1)[-1]
                if not outer or len(symbol.name) < LEAST_LETTERS:
                    continue
                key = (tokenizer.squash(outer), symbol.squashed)
                files.setdefault(key, set()).add(file.path)
                spelled[key] = f"{outer}.{symbol.name}"
    known = {name: files[key] for key, name in spelled.items() if len(files[key]) <= MOST_FILES}
    return {name: _in_files(known[name]) for name in draw.sample(sorted(known), min(number, len(known)))}


def paths(engine: Engine, draw: random.Random, number: int) -> Mapping[str, Right]:
    reader = engine._store.reader
    with reader.snapshot():
        known = sorted(file.path for file in reader.all_files())
    return {path: _in_files({path}) for path in draw.sample(known, min(number, len(known)))}


def messages(engine: Engine, draw: random.Random, number: int) -> Mapping[str, Right]:
    reader = engine._store.reader
    with reader.snapshot():
        files = sorted(
            file.path for file in reader.all_files() if file.kind == "code" and not path_flags(file.path) & OF_PLACES
        )
    found: dict[str, list[tuple[str, int]]] = {}
    for path in files:
        text = (engine.root / path).read_text(encoding="utf-8", errors="replace")
        for at, line in enumerate(text.split("\n"), 1):
            if (statement := _RAISES.search(line)) and "\\" not in statement[1]:
                found.setdefault(statement[1].strip('"'), []).append((path, at))
    known = sorted(text for text in found if _FILLED_IN.search(text) and len(text.split()) >= LEAST_WORDS)
    drawn = draw.sample(known, min(number, len(known)))
    return {_FILLED_IN.sub(lambda _: draw.choice(_MADE_UP), text): _at_line(found[text]) for text in drawn}


def _in_files(meant: set[str]) -> Right:
    return lambda hit: hit.path in meant


def _at_line(places: Sequence[tuple[str, int]]) -> Right:
    return lambda hit: any(
        hit.path == path and hit.start_line - STATEMENT_LINES <= line <= hit.end_line + STATEMENT_LINES
        for path, line in places
    )


KINDS: Mapping[str, Callable[[Engine, random.Random, int], Mapping[str, Right]]] = {
    "names": names,
    "qualified": qualified,
    "paths": paths,
    "messages": messages,
}


def missed(engine: Engine, asked: Mapping[str, Right]) -> list[str]:
    """What was asked for whose first place is not what was meant, with what came first."""
    wrong = []
    for text, right in asked.items():
        hits = engine.search(text, limit=1, wait_s=0.0).hits
        if not hits or not right(hits[0]):
            wrong.append(f"{text}: {f'{hits[0].path}:{hits[0].start_line}' if hits else 'nothing'}")
    return wrong


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, nargs="+")
    parser.add_argument("--ask", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--number", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cache", action="store_true", help="the indexes lie in the user's cache folder")
    parser.add_argument("--missed", action="store_true", help="name each that was missed")
    options = parser.parse_args(arguments)
    wrong: dict[str, list[str]] = {kind: [] for kind in options.ask}
    asked = dict.fromkeys(options.ask, 0)
    print(f"| missed of those asked for | {' | '.join(options.ask)} |\n|---|{'--:|' * len(options.ask)}")
    for root in options.root:
        shown = []
        with Engine.open(root, root=root, cache=options.cache) as engine:
            engine.index()
            for kind in options.ask:
                drawn = KINDS[kind](engine, random.Random(options.seed), options.number)
                of_root = missed(engine, drawn)
                asked[kind] += len(drawn)
                wrong[kind] += [f"{root.name}: {one}" for one in of_root]
                shown.append(f"{len(of_root)} of {len(drawn)}")
        print(f"| {root.name} | {' | '.join(shown)} |", flush=True)
    print(f"| **all** | {' | '.join(f'{len(wrong[kind])} of {asked[kind]}' for kind in options.ask)} |")
    if options.missed:
        for kind, lines in wrong.items():
            print(f"\n{kind}:", *lines, sep="\n")


if __name__ == "__main__":
    main()

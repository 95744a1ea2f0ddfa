"""How right `findling callers` is: its edges beside those of an analyser, which knows the language's types.

    python benchmarks/graph.py FOLDER ...                 prints a Markdown table
    python benchmarks/graph.py FOLDER --write COMMIT      asks the analyser; takes minutes
    python benchmarks/graph.py FOLDER ... --trace         ways of two to four calls that the analyser connects
    python benchmarks/graph.py FOLDER ... --time          what `callers` and `impact` take

The name of FOLDER is that of its file in `results/graph/`, where what the analyser said is kept with the commit that it
said it of; FOLDER must hold that commit. Analysers, by the language that most files have: jedi (pip) for Python, the
language service of typescript (npm; NODE_PATH tells node where it is) for TypeScript and JavaScript, libclang (pip) for
C, go/types (the standard library of Go) for Go, javac (a JDK) for Java.

Of each folder a hundred functions, methods and classes are drawn: a third each of those whose name is used at two to
four places, at five to nineteen, and at more. At each place where such a name is used (at most `MOST_USES`, drawn),
the analyser says which definition is meant. Places that it leaves open are not compared; how many these are is printed,
and how many edges findling has there. Imports are no edges.

- precision of grades: the share of the edges of these grades, at compared places, that the analyser has too;
- recall of grades: the share of the analyser's edges that are found with one of them;
- possible for each true: how many edges of this grade there are, at all places, for each edge of the analyser's.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

from findling import Engine
from findling.model.languages import language_of
from findling.model.rows import FileRow
from findling.reading.syntax import references
from findling.search.edges import Definition, callers
from findling.search.graph.resolution import LANGUAGES
from findling.search.ranking.priors import path_flags
from findling.store.protocols import Index

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "graph"
DEFINITIONS = 100
MOST_USES = 60
STRATA = ((2, 4), (5, 19), (20, 10_000))
KINDS = ("fn", "method", "class", "struct", "interface", "trait")
SEED = 1

_CONSTRUCTORS = ("constructor", "__init__")

Place = tuple[str, int, int]
"""Path, line, column in characters."""

Meant = list[list[Any]] | Literal["import"] | None
"""Paths and lines of definitions; None where an analyser does not know, "import" where a name is imported."""


# --- what an analyser says --------------------------------------------------------------------------------------------


def truth(folder: Path, commit: str) -> dict[str, Any]:
    """What the analyser of a folder's language says of a hundred names."""
    draw = random.Random(SEED)
    family = max(ANALYSERS, key=lambda each: len(_sources(folder, each)))
    sources = _sources(folder, family)
    drawn = _drawn(folder, sources, draw)
    chosen = [sorted(draw.sample(places, min(len(places), MOST_USES))) for _, _, _, places in drawn]
    asked = sorted({place for places in chosen for place in places})
    version, meant = ANALYSERS[family].ask(folder, sources, asked)
    told = dict(zip(asked, meant, strict=True))
    definitions = []
    for (path, lines, name, _), places in zip(drawn, chosen, strict=True):
        at = [[path, line] for line in lines]
        uses = [[*place, _is_meant(told[place], at)] for place in places if told[place] != "import"]
        definitions.append({"path": path, "line": lines[0], "name": name, "uses": uses})
    return {"commit": commit, "analyser": version, "definitions": definitions}


def _is_meant(meant: Meant, places: list[list[Any]]) -> bool | None:
    return None if meant is None else any(place in meant for place in places)


def _sources(folder: Path, family: str) -> dict[str, bytes]:
    """Texts by path of the files in the languages of a family."""
    found = {}
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder)
        if path.suffix in ANALYSERS[family].suffixes and path.is_file() and "node_modules" not in inner.parts:
            found[inner.as_posix()] = path.read_bytes()
    return found


def _drawn(
    folder: Path, sources: dict[str, bytes], draw: random.Random
) -> list[tuple[str, list[int], str, list[Place]]]:
    """(path, lines of the definition and its overloads, name, places of the name)."""
    defined: dict[tuple[str, str], list[int]] = {}
    with Engine.open(root=folder, cache=True) as engine:
        engine.index(embed=False)
        for path in sources:
            found = engine.file_symbols(path)
            for symbol in found.symbols if found else ():
                if symbol.kind in KINDS and not symbol.name.startswith("__") and symbol.name not in _CONSTRUCTORS:
                    defined.setdefault((path, symbol.qualified_name), []).append(symbol.name_line)
            for symbol in found.symbols if found else ():
                if (path, symbol.qualified_name) in defined:  # a value and a type of one name, say
                    defined[path, symbol.qualified_name].append(symbol.name_line)
                owner, _, name = symbol.qualified_name.rpartition(".")
                if (path, owner) in defined and (name in _CONSTRUCTORS or name == owner.rpartition(".")[2]):
                    defined[path, owner].append(symbol.name_line)  # some analysers say that ``new A()`` means it
    every = list(defined.items())
    draw.shuffle(every)
    wanted = {bounds: -(-DEFINITIONS // len(STRATA)) for bounds in STRATA}
    drawn = []
    for (path, qualified), lines in every:
        name = qualified.rpartition(".")[2]
        if not any(wanted.values()):
            break
        places = list(_places(sources, name))
        for bounds in STRATA:
            if bounds[0] <= len(places) <= bounds[1] and wanted[bounds]:
                wanted[bounds] -= 1
                drawn.append((path, lines, name, places))
    return drawn[:DEFINITIONS]


def _places(sources: dict[str, bytes], name: str) -> Iterator[Place]:
    for path, text in sources.items():
        if name.encode() in text:
            language = language_of(path, text[:1000]).id
            lines = text.decode("utf-8", "replace").split("\n")
            for line, column, _ in references(text, language, name):
                if language != "python" or not _in_import(lines, line):
                    yield path, line, column


def _in_import(lines: list[str], line: int) -> bool:
    """Whether a line is one of an import, as far as its own words and an open bracket before it tell."""
    for number in range(line, max(0, line - 60), -1):
        text = lines[number - 1].strip()
        if text.startswith(("from ", "import ")):
            return number == line or ("(" in text and not any(")" in each for each in lines[number - 1 : line - 1]))
        if number < line and not text.rstrip(",").replace(" as ", "").replace("_", "").isalnum():
            return False
    return False


def _jedi(folder: Path, sources: dict[str, bytes], places: list[Place]) -> tuple[str, list[Meant]]:
    import jedi

    library = [
        path
        for path in sys.path
        if path.endswith(("lib-dynload", f"python{sys.version_info[0]}.{sys.version_info[1]}"))
    ]
    project = jedi.Project(folder, sys_path=[str(folder / "src"), str(folder), *library], smart_sys_path=False)
    scripts: dict[str, Any] = {}

    def ask(place: Place) -> Meant:
        path, line, column = place
        if path not in scripts:
            scripts.clear()
            scripts[path] = jedi.Script(sources[path].decode("utf-8", "replace"), path=folder / path, project=project)
        try:
            found = scripts[path].goto(line, column, follow_imports=True)
        except Exception as error:  # noqa: BLE001 - jedi fails in many ways; what it cannot tell is not compared
            print(f"{path}:{line}: {type(error).__name__}", file=sys.stderr)
            return None
        meant = []
        for each in found:
            if each.type in ("param", "statement") and each.module_path == folder / path and each.line == line:
                continue  # it stays where it is: jedi does not know
            where = each.module_path
            inside = where is not None and where.is_relative_to(folder)
            meant.append([str(where.relative_to(folder)) if inside else "", each.line or 0])
        return meant or None

    return f"jedi {jedi.__version__}", list(map(ask, places))


def _program(*command: str) -> Callable[[Path, dict[str, bytes], list[Place]], tuple[str, list[Meant]]]:
    """An analyser that is a program: a question and an answer in JSON."""

    def ask(folder: Path, sources: dict[str, bytes], places: list[Place]) -> tuple[str, list[Meant]]:
        question = json.dumps({"folder": str(folder), "files": list(sources), "places": places})
        done = subprocess.run(command, input=question, stdout=subprocess.PIPE, text=True, check=True)
        answer = json.loads(done.stdout)
        return answer["version"], answer["meant"]

    return ask


class Analyser(NamedTuple):
    suffixes: tuple[str, ...]
    ask: Callable[[Path, dict[str, bytes], list[Place]], tuple[str, list[Meant]]]


ANALYSERS = {
    "python": Analyser((".py",), _jedi),
    "javascript": Analyser(
        (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs"), _program("node", str(HERE / "analysers" / "typescript.js"))
    ),
    "c": Analyser((".c", ".h"), _program(sys.executable, str(HERE / "analysers" / "c.py"))),
    "go": Analyser((".go",), _program("go", "run", str(HERE / "analysers" / "definitions.go"))),
    "java": Analyser((".java",), _program("java", str(HERE / "analysers" / "Definitions.java"))),
}


# --- what findling says -----------------------------------------------------------------------------------------------


@contextmanager
def indexed(folder: Path) -> Iterator[tuple[Index, Callable[[FileRow], list[str]]]]:
    """The index of a folder, brought up to date, within a snapshot; and what reads the lines of a file."""
    with Engine.open(root=folder, cache=True) as engine:
        engine.index(embed=False)
        with engine.store.reader.snapshot():
            yield engine.store.reader, lambda file: (folder / file.path).read_text("utf-8", "replace").split("\n")


def measured(folder: Path) -> list[str]:
    """A row of the table."""
    with gzip.open(kept(folder), "rt") as file:
        told = json.load(file)
    count: Counter[tuple[str, bool | None]] = Counter()
    possible = 0
    took: list[float] = []
    with indexed(folder) as (index, lines):
        for each in told["definitions"]:
            file = index.file_at(each["path"])
            symbols = index.symbols(file.blob_id) if file else ()
            asked = [row for row in symbols if (row.name, row.name_line) == (each["name"], each["line"])]
            if not file or not asked:
                raise SystemExit(f"{folder} is not at {told['commit']}: {each['path']} has no {each['name']}.")
            began = time.process_time()
            found = callers(index, [Definition(file, asked[0])], lines=lines).found
            took.append(time.process_time() - began)
            grades = {(edge.file.path, edge.use.line): edge.grade for edge in reversed(found)}
            possible += sum(edge.grade == "possible" for edge in found)
            count.update((grades.get((path, line), ""), meant) for path, line, _, meant in each["uses"])
    true = sum(number for (_, meant), number in count.items() if meant)
    left_open = sum(number for (_, meant), number in count.items() if meant is None)
    edges_there = left_open - count["", None]

    def precision(*grades: str) -> str:
        right, wrong = (sum(count[grade, meant] for grade in grades) for meant in (True, False))
        return f"{right / max(1, right + wrong):.3f}"

    def recall(*grades: str) -> str:
        return f"{sum(count[grade, True] for grade in grades) / max(1, true):.3f}"

    return [
        f"{folder.name}, {told['commit'][:10]}",
        f"{true:,}",
        precision("certain"),
        precision("certain", "likely"),
        recall("certain"),
        recall("certain", "likely"),
        recall("certain", "likely", "possible"),
        f"{possible / max(1, true):.2f}",
        f"{edges_there} of {left_open}",
        f"{statistics.median(took) * 1000:.0f} / {sorted(took)[len(took) * 95 // 100] * 1000:.0f}",
    ]


# --- ways and times ---------------------------------------------------------------------------------------------------

PAIRS = 60
DISTANCES = (2, 3, 4)

Key = tuple[str, str]
"""Path and qualified name of a definition."""


def traced(folders: list[Path]) -> Iterator[str]:
    """Rows for the ways from one definition to another that the analyser's uses connect, at most a third of one folder.

    A way is the analyser's where each of its calls is, and it is as short. Another is as good where it is no longer and
    each call of a drawn name is the analyser's, which was not asked about other names.
    """
    left = PAIRS
    for folder in folders:
        with Engine.open(root=folder, cache=True) as engine:
            engine.index(embed=False)
            calls = _calls(folder, engine)
            pairs = sorted(
                (start, end, len(way))
                for start in calls
                for end, way in _ways(calls, start).items()
                if len(way) in DISTANCES
            )
            random.Random(SEED).shuffle(pairs)
            chosen = pairs[: min(left, PAIRS // 3)]
            left -= len(chosen)
            right = as_good = arrives = 0
            drawn = set().union(*calls.values())
            for start, end, distance in chosen:
                steps = engine.trace(*(".".join((Path(path).stem, name)) for path, name in (start, end))).steps
                way = [(step.path, step.name) for step in steps]
                arrives += bool(way)
                told = {(a, b): b in calls.get(a, ()) for a, b in pairwise(way)}
                right += bool(way) and len(way) == distance + 1 and all(told.values())
                known = all(is_true for (_, b), is_true in told.items() if b in drawn)
                as_good += bool(way) and len(way) <= distance + 1 and known
            yield f"| {folder.name} | {len(pairs)} | {len(chosen)} | {arrives} | {right} | {as_good} |"


def _calls(folder: Path, engine: Engine) -> dict[Key, set[Key]]:
    """What each definition uses by what the analyser says of the drawn names; no tests."""
    with gzip.open(kept(folder), "rt") as file:
        told = json.load(file)
    index = engine.store.reader
    calls: dict[Key, set[Key]] = {}
    with index.snapshot():
        for each in told["definitions"]:
            target = _around(index, each["path"], each["line"])
            for path, line, _, meant in each["uses"]:
                user = _around(index, path, line) if meant and "test" not in path_flags(path) else None
                if user is not None and target is not None and user != target:
                    calls.setdefault(user, set()).add(target)
    return calls


def _around(index: Index, path: str, line: int) -> Key | None:
    """The innermost function or method that a line is in."""
    file = index.file_at(path)
    inside = [
        symbol
        for symbol in (index.symbols(file.blob_id) if file else ())
        if symbol.kind in ("fn", "method") and symbol.start_line <= line <= symbol.end_line
    ]
    return (path, max(inside, key=lambda symbol: symbol.position).qualified_name) if inside else None


def _ways(calls: dict[Key, set[Key]], start: Key) -> dict[Key, list[Key]]:
    """The shortest way to each definition that is reached, without the start."""
    ways: dict[Key, list[Key]] = {start: []}
    waiting = [start]
    for at in waiting:
        for there in sorted(calls.get(at, ())):
            if there not in ways and len(ways[at]) < max(DISTANCES):
                ways[there] = [*ways[at], there]
                waiting.append(there)
    return ways


def timed(folder: Path) -> str:
    """A row: the processor's time for `callers`, and for `callers` of three steps, of a hundred functions drawn, in
    an engine that stays open."""
    with indexed(folder) as (index, lines):
        every = [
            Definition(file, symbol)
            for file in sorted(index.listing(), key=lambda file: file.path)
            if file.kind == "code" and file.language in LANGUAGES and "test" not in path_flags(file.path)
            for symbol in index.symbols(file.blob_id)
            if symbol.kind in KINDS
        ]
        drawn = random.Random(SEED).sample(every, min(len(every), DEFINITIONS))
        row = [folder.name, f"{len(index.listing()):,}"]
        for steps in (1, 3):
            took = []
            for each in drawn:
                began = time.process_time()
                callers(index, [each], steps, lines=lines)
                took.append((time.process_time() - began) * 1000)
            row.append(f"{statistics.median(took):.0f} / {sorted(took)[len(took) * 95 // 100]:.0f}")
    return f"| {' | '.join(row)} |"


COLUMNS = (
    "repository",
    "edges of the analyser",
    "precision, certain",
    "and likely",
    "recall, certain",
    "and likely",
    "all grades",
    "possible for each true",
    "edges where the analyser leaves it open",
    "ms of the processor, p50 / p95",
)


def kept(folder: Path) -> Path:
    return RESULTS / f"{folder.resolve().name}.json.gz"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--write", metavar="COMMIT")
    parser.add_argument("--trace", action="store_true")
    parser.add_argument("--time", action="store_true")
    args = parser.parse_args()
    folders = [folder.resolve() for folder in args.folders]
    if args.write:
        for folder in folders:
            RESULTS.mkdir(exist_ok=True)
            kept(folder).write_bytes(gzip.compress(json.dumps(truth(folder, args.write)).encode(), mtime=0))
        return
    if args.trace:
        columns = ("repository", "pairs", "drawn", "a way is found", "the analyser's", "that, or one as good")
        print(f"| {' | '.join(columns)} |\n|---|{'--:|' * (len(columns) - 1)}")
        print("\n".join(traced(folders)))
        return
    if args.time:
        print("| repository | files | callers, ms p50 / p95 | impact of 3 steps |\n|---|--:|--:|--:|")
        print("\n".join(map(timed, folders)))
        return
    print(f"| {' | '.join(COLUMNS)} |\n|---|{'--:|' * (len(COLUMNS) - 1)}")
    for folder in folders:
        print(f"| {' | '.join(measured(folder))} |", flush=True)


if __name__ == "__main__":
    main()

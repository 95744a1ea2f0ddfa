"""What a reader pays until the answer is in front of him: recall against tokens, without an agent.

    agent_cost.py CORPORA QUESTIONS.jsonl ... [--cache] [--repos NAME ...] [--run NAME=RUN.jsonl ...]
                  [--plot FILE.svg] [--json FILE]

CORPORA holds a folder for each repository, at the revision that was judged; QUESTIONS have ``repo``, ``query``,
``relevant`` (files) and perhaps ``spans`` (the lines that an expert cites), or a ``key`` (`agent_ab/`). A
token is four characters.

A reader follows a fixed policy: he calls, reads what is printed in its order, then widens. A file is in front of him
once a line of it, or a row that names a place in it, was printed; a cited line once it was printed itself.

- findling search: the answer; `LOOK` lines around each place, in order; the next two pages, read alike.
- findling explore: the tool's answer; `LOOK` lines around each place; then as above.
- rg + whole files: the question's three rarest words in this repository, one at a time: the ten files with the most
  matches (``rg -iwc``), each read whole.
- rg -A40: the same words: ``rg -inw -A40``, files in order of their paths, each window once, cut at 30,000 characters
  as agents' shells do; then `LOOK` lines more below each window.
- runs (``--run``), such as `semble_peer.py` writes: the lines of each result in order, then `LOOK` lines around it.

ripgrep is not run: its words are looked for here, in the files that findling indexes, which spares both the same files.
Where descriptions of tools are counted, these are those of the code family, once for each question.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from io import StringIO
from itertools import groupby, islice
from pathlib import Path
from typing import Any, NamedTuple

from findling import Query
from findling.contracts import TOOLS, Workspace, call
from findling.engine import Engine
from findling.faces.cli.terminal import PlainView
from findling.faces.cli.terminal.lines import Places
from findling.model.types import Hit
from findling.search import lines_of
from findling.search.analysis import STOP_WORDS

CHARS_PER_TOKEN = 4
LOOK = 120
"""Lines that a reader takes around a place whose answer he has not seen."""

SHELL_CHARS = 30_000
FILES_OF_A_WORD = 10
AFTER = 40
WORDS = 3
PAGES = 3
MOST_TOKENS = 64_000
"""Nobody reads on for one question."""

AT = (500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000)
RECALL = 0.8

_WORD = re.compile(r"\w+")
_ROW = re.compile(r"^(\S.*?):(\d+)-(\d+)  ")
_RELATED = re.compile(r"^  (?:\w+ )+?(\S*):(\d+)  ")


class Seen(NamedTuple):
    """Something that was printed: so many characters, of which file, which lines (none: a row that names a place).
    ``first``: it belongs to a program's first answer."""

    chars: int
    path: str = ""
    lines: range = range(0)
    first: bool = False


Reader = Callable[["Repository", str, str], Iterator[Seen]]
"""(repository, id of the question, question) -> what is printed, in order."""


class Repository:
    """One folder, with its index and the words of its files."""

    def __init__(self, root: Path, questions: Sequence[str], *, cache: bool) -> None:
        self.root = root
        self.engine = Engine.open(root=root, cache=cache)
        self.engine.index()
        self._workspace = Workspace(root, root=root, cache=cache)
        asked = {word for question in questions for word in _words(question)}
        self._texts: dict[str, list[str]] = {}
        self._pages: dict[tuple[str, int], tuple[str, Sequence[Hit]]] = {}
        self.holding: dict[str, Counter[str]] = defaultdict(Counter)
        """word -> path -> how often."""
        for path in sorted(self.engine.listed()[0]):
            lines = self.lines(path)
            for word in (match.lower() for line in lines for match in _WORD.findall(line)):
                if word in asked:
                    self.holding[word][path] += 1

    def lines(self, path: str) -> list[str]:
        if path not in self._texts:
            try:
                self._texts[path] = (self.root / path).read_text("utf-8", "replace").split("\n")
            except OSError:
                self._texts[path] = []
        return self._texts[path]

    def tool(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return call(name, arguments, self._workspace).structured or {}

    def page(self, question: str, number: int) -> tuple[str, Sequence[Hit]]:
        """What `findling search` prints, remembered, and its places."""
        if (question, number) not in self._pages:
            result = self.engine.ask(Query(question, offset=10 * number, wait_s=0)).result
            out = StringIO()
            PlainView(out, Places(self.root, self.root)).search(result, explain=False)
            self._pages[question, number] = out.getvalue(), result.hits
        return self._pages[question, number]

    def look(self, path: str, first: int, last: int) -> Seen:
        """Lines of a file as ``sed`` prints them."""
        lines = self.lines(path)
        shown = range(max(1, first), min(last, len(lines)) + 1)
        return Seen(sum(len(lines[number - 1]) + 1 for number in shown), path, shown)

    def close(self) -> None:
        self._workspace.close()
        self.engine.close()


def _words(question: str) -> list[str]:
    words = dict.fromkeys(word.lower() for word in _WORD.findall(question))
    return [word for word in words if word not in STOP_WORDS and len(word) > 1]


# --- readers --------------------------------------------------------------------------------------------------------


def search(repository: Repository, _: str, question: str) -> Iterator[Seen]:
    for page in range(PAGES):
        text, hits = repository.page(question, page)
        yield from (seen._replace(first=not page) for seen in _printed(text))
        for hit in hits:
            yield _around(repository, hit.path, hit.start_line, hit.end_line)


def _printed(text: str) -> Iterator[Seen]:
    """The rows, bodies and related lines of an answer as plain text."""
    path = ""
    for line in text.split("\n"):
        size = len(line) + 1
        number = line.strip().partition("  ")[0]
        if row := _ROW.match(line):
            path = row[1]
            yield Seen(size, path)
        elif number.isdecimal() and path:
            yield Seen(size, path, range(int(number), int(number) + 1))
        elif related := _RELATED.match(line):
            yield Seen(size, related[1] or path, range(int(related[2]), int(related[2]) + 1))
        else:
            yield Seen(size)


def explore(repository: Repository, question_id: str, question: str) -> Iterator[Seen]:
    answer = repository.tool("explore", {"query": question})
    yield from (seen._replace(first=True) for seen in _explored(answer))
    for place in answer.get("places", []):
        yield _around(repository, place["path"], place["line_start"], place["line_end"])
    yield from (seen._replace(first=False) for seen in search(repository, question_id, question))


def _explored(answer: Mapping[str, Any]) -> Iterator[Seen]:
    """The places of an answer of the tool, then what stands beside them."""
    for place in answer.get("places", []):
        yield Seen(len(json.dumps({**place, "body": ""}, ensure_ascii=False)), place["path"])
        for number, line in lines_of(place.get("body", "")):
            yield Seen(len(line) + 8, place["path"], range(number, number + 1) if number else range(0))
        for line in (line for lines in place.get("related", {}).values() if isinstance(lines, list) for line in lines):
            where, _, at = line.partition(" ")[0].rpartition(":")
            yield Seen(0, where, range(int(at), int(at) + 1))
    yield Seen(len(json.dumps({**answer, "places": []}, ensure_ascii=False)))


def _around(repository: Repository, path: str, start: int, end: int) -> Seen:
    middle = (start + end) // 2
    return repository.look(path, middle - LOOK // 2, middle + LOOK // 2)


def _rarest(repository: Repository, question: str) -> list[str]:
    """The words of a question that the fewest files hold, but some do."""
    there = [word for word in _words(question) if repository.holding[word]]
    return sorted(there, key=lambda word: (len(repository.holding[word]), word))[:WORDS]


def whole_files(repository: Repository, _: str, question: str) -> Iterator[Seen]:
    for word in _rarest(repository, question):
        counts = sorted(repository.holding[word].items(), key=lambda each: (-each[1], each[0]))
        yield Seen(min(SHELL_CHARS, sum(len(f"{path}:{number}") + 1 for path, number in counts)))
        for path, _ in counts[:FILES_OF_A_WORD]:
            yield from islice(_line_by_line(repository, path, 1, len(repository.lines(path))), 20_000)


def windows(repository: Repository, _: str, question: str) -> Iterator[Seen]:
    for word in _rarest(repository, question):
        left = SHELL_CHARS
        ends = []
        for path in sorted(repository.holding[word]):
            lines = repository.lines(path)
            at = [number for number, line in enumerate(lines, 1) if word in map(str.lower, _WORD.findall(line))]
            shown = 0
            for number in at:
                for seen in _line_by_line(repository, path, max(number, shown + 1), number + AFTER):
                    size = seen.chars + len(path) + len(str(number)) + 2
                    left -= size
                    if left < 0:
                        break
                    yield seen._replace(chars=size)
                shown = max(shown, number + AFTER)
            ends.append((path, shown))
            if left < 0:
                break
        for path, end in ends[:FILES_OF_A_WORD]:
            yield from _line_by_line(repository, path, end + 1, end + LOOK)


def _line_by_line(repository: Repository, path: str, first: int, last: int) -> Iterator[Seen]:
    for number in range(first, min(last, len(repository.lines(path))) + 1):
        yield repository.look(path, number, number)


def of_run(
    run: Mapping[str, Sequence[Mapping[str, Any]]], repository: Repository, question: str, _: str
) -> Iterator[Seen]:
    """The results of a program that wrote a run."""
    results = run.get(question, ())
    for result in results:
        yield repository.look(result["path"], result["start_line"], result["end_line"])
    for result in results:
        yield _around(repository, result["path"], result["start_line"], result["end_line"])


# --- measuring ------------------------------------------------------------------------------------------------------


class Cost(NamedTuple):
    """Tokens until one of a question's files was seen, None where it never was; and (tokens, share of the cited lines
    that were seen by then), in order, of a question with such lines. Of programs that answer: the tokens of the first
    answer, and the share of the cited ranges of which it shows half or more."""

    file: float | None
    lines: list[tuple[float, float]] | None
    first: float
    ranges: float | None


def cost(reader: Reader, repository: Repository, question: Mapping[str, Any]) -> Cost:
    files = {target["path"] for target in question["relevant"]}
    wanted = {
        (span["path"], number)
        for span in question.get("spans", ())
        for number in range(span["start_line"], span["end_line"] + 1)
    }
    missing = set(wanted)
    first, shown = 0, set()
    spent = 0
    file: float | None = None
    curve: list[tuple[float, float]] = []
    name = question.get("query_id") or question["id"]
    for seen in reader(repository, name, question["query"]):
        spent += seen.chars
        if seen.first:
            first += seen.chars
            shown |= {(seen.path, number) for number in seen.lines}
        tokens = spent / CHARS_PER_TOKEN
        if tokens > MOST_TOKENS:
            break
        if file is None and seen.path in files:
            file = tokens
        new = missing & {(seen.path, number) for number in seen.lines} if seen.lines else set()
        if new:
            missing -= new
            curve.append((tokens, 1 - len(missing) / len(wanted)))
        if file is not None and not missing and not seen.first:
            break
    return Cost(file, curve if wanted else None, first / CHARS_PER_TOKEN, _ranges(question.get("spans", ()), shown))


def _ranges(spans: Sequence[Mapping[str, Any]], shown: set[tuple[str, int]]) -> float | None:
    """The share of ranges of which half of the lines or more are shown."""
    every = [range(span["start_line"], span["end_line"] + 1) for span in spans]
    halves = [
        sum((span["path"], number) in shown for number in lines) * 2 >= len(lines)
        for span, lines in zip(spans, every, strict=True)
    ]
    return statistics.mean(halves) if halves else None


def share_of_files(costs: Sequence[Cost], tokens: float) -> float:
    return statistics.mean(each.file is not None and each.file <= tokens for each in costs)


def share_of_lines(costs: Sequence[Cost], tokens: float) -> float:
    every = [each.lines for each in costs if each.lines is not None]
    return statistics.mean(max((share for at, share in lines if at <= tokens), default=0.0) for lines in every)


def tokens_at(costs: Sequence[Cost], recall: float) -> float | None:
    """The tokens within which the file was seen in so many of the questions."""
    reached = sorted(each.file for each in costs if each.file is not None)
    needed = -int(-recall * len(costs) // 1)
    return reached[needed - 1] if len(reached) >= needed else None


def table(costs: Mapping[str, list[Cost]]) -> str:
    lines = [f"| {{}} | {' | '.join(f'{at:,}' for at in AT)} | tokens at {RECALL} |", f"|---|{'--:|' * (len(AT) + 1)}"]
    told = [line.format("file within tokens") for line in lines]
    for name, every in costs.items():
        at = tokens_at(every, RECALL)
        row = " | ".join(f"{share_of_files(every, tokens):.3f}" for tokens in AT)
        told.append(f"| {name} | {row} | {'–' if at is None else f'{at:,.0f}'} |")
    if any(each.lines is not None for every in costs.values() for each in every):
        told += [
            "",
            f"| cited lines within tokens | {' | '.join(f'{at:,}' for at in AT)} |",
            f"|---|{'--:|' * len(AT)}",
        ]
        for name, every in costs.items():
            told.append(f"| {name} | {' | '.join(f'{share_of_lines(every, tokens):.3f}' for tokens in AT)} |")
    told += ["", "| the first answer | tokens, mean | most | cited ranges shown |", "|---|--:|--:|--:|"]
    for name, every in costs.items():
        sizes, ranges = [each.first for each in every], [each.ranges for each in every if each.ranges is not None]
        if any(sizes):
            shown = f"{statistics.mean(ranges):.3f}" if ranges else "–"
            told.append(f"| {name} | {statistics.mean(sizes):,.0f} | {max(sizes):,.0f} | {shown} |")
    return "\n".join(told)


def judged(question: dict[str, Any]) -> dict[str, Any]:
    """A question with its files and cited lines; those of `agent_ab/questions.jsonl` have a key."""
    key = question.get("key")
    return question if key is None else {**question, "relevant": key, "spans": key}


def descriptions() -> float:
    """Tokens that a client pays for knowing the tools of the code family."""
    tools = [tool for tool in TOOLS.values() if tool.family in ("code", "graph")]
    shown = (tool.name + tool.summary + json.dumps(tool.published_schema, separators=(",", ":")) for tool in tools)
    return sum(map(len, shown)) / CHARS_PER_TOKEN


def plot(costs: Mapping[str, list[Cost]], path: Path) -> None:
    """Both curves against tokens on a logarithmic axis."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.5), layout="constrained")
    axes = figure.subplots(1, 2)
    points = [100 * 2 ** (step / 4) for step in range(38)]
    for name, every in costs.items():
        axes[0].plot(points, [share_of_files(every, at) for at in points], label=name)
        if any(each.lines is not None for each in every):
            axes[1].plot(points, [share_of_lines(every, at) for at in points], label=name)
    for axis, title in zip(axes, ("a relevant file seen", "share of the cited lines seen"), strict=True):
        axis.set(xscale="log", ylim=(0, 1), xlabel="tokens read", title=title)
        axis.grid(alpha=0.3)
    axes[0].legend()
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("questions", type=Path, nargs="+")
    parser.add_argument("--cache", action="store_true", help="keep the indexes in the user's cache folder")
    parser.add_argument("--repos", nargs="*", help="only these repositories")
    parser.add_argument("--run", action="append", default=[], metavar="NAME=RUN.jsonl")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    readers: dict[str, Reader] = {
        "findling search": search,
        "findling explore": explore,
        "rg + whole files": whole_files,
        f"rg -A{AFTER}": windows,
    }
    for named in options.run:
        name, _, file = named.partition("=")
        rows = map(json.loads, Path(file).read_text("utf-8").splitlines())
        readers[name] = partial(of_run, {row["query_id"]: row["results"] for row in rows})
    questions = [
        judged(json.loads(line)) for file in options.questions for line in file.read_text("utf-8").splitlines()
    ]
    questions = [each for each in questions if each["relevant"] and each["repo"] in (options.repos or {each["repo"]})]
    costs: dict[str, list[Cost]] = {name: [] for name in readers}
    for repo, group in groupby(sorted(questions, key=lambda each: each["repo"]), key=lambda each: each["repo"]):
        asked = list(group)
        repository = Repository(options.corpora / repo, [each["query"] for each in asked], cache=options.cache)
        for question in asked:
            for name, reader in readers.items():
                costs[name].append(cost(reader, repository, question))
        repository.close()
        print(f"{repo}: {len(asked)} questions", file=sys.stderr, flush=True)
    known = descriptions()
    with_them = [
        each._replace(file=None if each.file is None else each.file + known) for each in costs["findling search"]
    ]
    told = table(costs)
    told += f"\n\nWith the descriptions of the code family ({known:,.0f} tokens): a file within 2,000 tokens"
    print(f"{told} {share_of_files(with_them, 2_000):.3f}; {len(questions)} questions.")
    if options.plot:
        plot(costs, options.plot)
    if options.json:
        options.json.write_text(json.dumps({name: [each._asdict() for each in every] for name, every in costs.items()}))


if __name__ == "__main__":
    main()

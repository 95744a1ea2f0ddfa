"""What agents looked at and how their answers stand to the key: a Markdown table of what `run.py` kept.

    count.py DIR [--questions FILE ...] [--verdicts FILE]

A look is a call of the shell or of a tool; commands are those of a look, split at ``;``, ``&&``, ``||``, ``|`` left
whole, and line ends, ``cd`` left out. Of each arm and kind of question the median of its runs is printed, and every
run, too. *named*: the share of the key's ranges (those that are not ``also``) that the answer names by their file and a
line of theirs; *seen*: the share of which half or more was printed in a look; *first*: the same of the first look.

Whether an answer is right a reader decides, with the key beside it: FILE has lines ``{"arm", "run", "id", "right"}``.
``--unjudged`` prints each answer that has none yet, with its key, for the reader.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent

_BETWEEN = re.compile(r";|&&|\|\||\n")
_PLACE = re.compile(r"([\w./+-]+):(\d+)(?:[-–](\d+))?")


class Told(NamedTuple):
    """One answer to one question."""

    kind: str
    id: str
    looks: int
    commands: int
    characters: int
    seconds: float
    named: float
    seen: float
    first: float
    right: bool | None


def commands(look: str) -> int:
    parts = (part.strip() for part in _BETWEEN.split(look))
    return sum(1 for part in parts if part and not part.startswith("cd "))


def share_named(key: Sequence[Mapping[str, Any]], answer: str) -> float:
    """The share of ranges that an answer names."""
    places = [(path, int(first), int(last or first)) for path, first, last in _PLACE.findall(answer)]
    named = [
        any(
            _same(path, each["path"]) and first <= each["end_line"] and each["start_line"] <= last
            for path, first, last in places
        )
        for each in key
    ]
    return statistics.mean(named)


def _same(written: str, path: str) -> bool:
    return path == written or path.endswith(f"/{written}") or written.endswith(f"/{path}")


def share_seen(key: Sequence[Mapping[str, Any]], shown: Sequence[str], root: Path | None) -> float:
    """The share of ranges of which half of the lines or more were printed: by their text, as sed prints no numbers."""
    seen = []
    for each in key:
        lines = (root / each["path"]).read_text("utf-8", "replace").split("\n") if root else []
        wanted = [line.strip() for line in lines[each["start_line"] - 1 : each["end_line"]] if len(line.strip()) > 3]
        text = "\n".join(shown)
        plain = text.replace('\\"', '"')
        seen.append(bool(wanted) and sum(line in text or line in plain for line in wanted) * 2 >= len(wanted))
    return statistics.mean(seen)


def answers(
    folder: Path, questions: Mapping[str, Mapping[str, Any]], verdicts: Mapping[Any, bool], corpora: Path | None
) -> Iterator[tuple[str, int, Told, str]]:
    for file in sorted(folder.glob("*/*/*.md")):
        arm, run, question = file.parent.parent.name, int(file.parent.name), questions[file.stem]
        log = [json.loads(line) for line in file.with_suffix(".jsonl").read_text("utf-8").splitlines()]
        key = [each for each in question["key"] if not each.get("also")]
        root = corpora / question["repo"] if corpora else None
        text = file.read_text("utf-8")
        shown = [row["shown"] for row in log]
        yield (
            arm,
            run,
            Told(
                question["kind"],
                question["id"],
                len(log),
                sum(commands(row["look"]) for row in log),
                sum(row["characters"] for row in log),
                sum(row["seconds"] for row in log),
                share_named(key, text),
                share_seen(key, shown, root),
                share_seen(key, shown[:1], root),
                verdicts.get((arm, run, question["id"])),
            ),
            text,
        )


def row(name: str, told: Sequence[Told]) -> str:
    right = [each.right for each in told if each.right is not None]
    fields = [
        name,
        str(len(told)),
        str(sum(each.looks for each in told)),
        str(sum(each.commands for each in told)),
        f"{sum(each.characters for each in told):,}",
        f"{sum(each.seconds for each in told):.1f}",
        *(f"{statistics.mean(getattr(each, what) for each in told):.2f}" for what in ("named", "seen", "first")),
        f"{sum(right)} of {len(right)}" if right else "not judged",
    ]
    return f"| {' | '.join(fields)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--corpora", type=Path, help="for what was seen of the key")
    parser.add_argument("--questions", type=Path, nargs="+", default=[HERE / "questions.jsonl"])
    parser.add_argument("--verdicts", type=Path)
    parser.add_argument("--unjudged", action="store_true")
    options = parser.parse_args()
    rows = [json.loads(line) for file in options.questions for line in file.read_text("utf-8").splitlines()]
    questions = {each["id"]: each for each in rows}
    judged = options.verdicts.read_text("utf-8").splitlines() if options.verdicts else []
    verdicts = {(each["arm"], each["run"], each["id"]): each["right"] for each in map(json.loads, judged)}
    found = list(answers(options.folder, questions, verdicts, options.corpora))
    if options.unjudged:
        for arm, run, told, text in found:
            if told.right is None:
                print(
                    json.dumps(
                        {"arm": arm, "run": run, "id": told.id, "key": questions[told.id]["key"], "answer": text}
                    )
                )
        return
    agent = json.loads((options.folder / "agent.json").read_text("utf-8"))
    print(f"{agent['agent']} {agent['version']}\n")
    print("| arm, questions, run | n | looks | commands | characters | seconds | named | seen | first | right |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    groups: dict[tuple[str, str], dict[int, list[Told]]] = defaultdict(lambda: defaultdict(list))
    for arm, run, told, _ in found:
        groups[told.kind, arm][run].append(told)
    for (kind, arm), runs in sorted(groups.items()):
        for run, told in sorted(runs.items()):
            print(row(f"{arm}, {kind}, {run}", told))
        totals = [
            [sum(getattr(each, what) for each in told) for told in runs.values()]
            for what in ("looks", "commands", "characters")
        ]
        middle = [f"{statistics.median(each):,.0f}" for each in totals]
        print(f"| **{arm}, {kind}, median** | | {' | '.join(middle)} | | | | | |")


if __name__ == "__main__":
    main()

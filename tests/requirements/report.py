"""Which lines of docs/requirements.md are proved, by which test or result, and which are not.

    python tests/requirements/report.py [--open]

A test names the lines that it proves in its docstring: "S2-16, S2-18 to S2-21". A page in benchmarks/results names
those of speed and size. Nothing is run here: a named test proves its lines by passing with the suite.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve()
PROJECT = HERE.parents[2]

_LINE = re.compile(r"^(?:- (?P<listed>S\d-\d+) |\| (?P<decided>D\d+) \| )(?P<words>.+)$", re.M)
_NAMED = re.compile(r"\b(S\d-|D)(\d+)(?: to \1(\d+))?\b")


@dataclass(frozen=True, slots=True)
class Proof:
    """Who names a line: a test or a page of results."""

    requirement: str
    place: str


def requirements(page: str) -> dict[str, str]:
    """The lines of the page: id -> sentence, in its order."""
    found = {}
    for line in _LINE.finditer(page):
        words = line["words"].split(" | ")[0].rstrip(" |")
        found[line["listed"] or line["decided"]] = words
    return found


def named(text: str) -> Iterator[str]:
    """The ids that a text names; "S2-15 to S2-18" names four."""
    for match in _NAMED.finditer(text):
        prefix, first, last = match[1], int(match[2]), int(match[3] or match[2])
        yield from (f"{prefix}{number}" for number in range(first, last + 1))


def proofs_of_tests(folder: Path) -> Iterator[Proof]:
    """What the docstrings of the tests below ``folder`` name."""
    for path in sorted(folder.rglob("test_*.py")):
        if path == HERE.with_name("test_report.py"):  # it speaks of ids without proving them
            continue
        place = path.relative_to(folder.parent).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                text = ast.get_docstring(node) or ""
                yield from (Proof(name, f"{place}::{node.name}") for name in named(text))


def proofs_of_results(folder: Path) -> Iterator[Proof]:
    """What the pages of results name."""
    for path in sorted(folder.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        yield from (Proof(name, f"benchmarks/results/{path.name}") for name in dict.fromkeys(named(text)))


def all_proofs(project: Path = PROJECT) -> list[Proof]:
    return [*proofs_of_tests(project / "tests"), *proofs_of_results(project / "benchmarks" / "results")]


def report(lines: Mapping[str, str], proofs: Sequence[Proof], *, only_open: bool = False) -> str:
    """The page for people: each line with its proofs, then the sums."""
    places: dict[str, list[str]] = {name: [] for name in lines}
    for proof in proofs:
        if proof.place not in places[proof.requirement]:
            places[proof.requirement].append(proof.place)
    rows = []
    for name, words in lines.items():
        if places[name] and only_open:
            continue
        rows.append(f"{'proved' if places[name] else 'OPEN  '} {name:<6} {words}")
        rows += [f"{'':14}{place}" for place in places[name]]
    for group in dict.fromkeys(_group(name) for name in lines):
        members = [name for name in lines if _group(name) == group]
        rows.append(f"{group}: {sum(bool(places[name]) for name in members)} of {len(members)} proved")
    return "\n".join(rows)


def _group(name: str) -> str:
    """S2 of S2-15, D of D3."""
    return "D" if name[0] == "D" else name.partition("-")[0]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Which requirements are proved, by what, and which are not.")
    parser.add_argument("--open", action="store_true", help="only those that are not")
    options = parser.parse_args(arguments)
    lines = requirements((PROJECT / "docs" / "requirements.md").read_text(encoding="utf-8"))
    proofs = all_proofs()
    unknown = [proof for proof in proofs if proof.requirement not in lines]
    for proof in unknown:
        sys.stderr.write(f"{proof.place} names {proof.requirement}, which docs/requirements.md does not have\n")
    known = [proof for proof in proofs if proof.requirement in lines]
    sys.stdout.write(f"{report(lines, known, only_open=options.open)}\n")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())

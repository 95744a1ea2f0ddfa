"""The same questions in forms that mean the same: what each form's answers are worth, and how they differ.

    forms.py CORPORA --queries QUERIES.jsonl [--cache] [--repos NAME ...] [--strange] [--translations FILE.jsonl]

By form, over the repositories in equal parts: NDCG@10 of files (one result a file), the share of queries whose first
file is right, the share flagged as unsure; and beside the query as it is written the mean absolute difference of a
query's NDCG@10 and the share with the same first file. Queries without a target count for the flag alone.

``--strange``: twenty forms as people write them, none of which the program has a rule for as a whole.
``--translations``: the forms are other languages; lines of ``query_id``, ``in`` and ``query``. Only queries that have a
translation are asked.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import asked
from msgspec.structs import replace

from findling.engine import Engine
from findling.evaluation.judged import Judged, answer_of
from findling.evaluation.run import corpora, nothing_above, run_line
from findling.evaluation.scoring import score

PLACES = 20

FORMS: Mapping[str, Callable[[str], str]] = {
    "as written": lambda text: text,
    "with ?": lambda text: f"{text.rstrip(' ?.')}?",
    "without ?": lambda text: text.rstrip(" ?."),
    "with .": lambda text: f"{text.rstrip(' ?.')}.",
    "lower case": str.lower,
    "please … thanks": lambda text: f"Please show me: {text.rstrip(' ?.')}, thanks!",
}

STRANGE = (
    "In our repo, {}",
    "Quick question: {}",
    "Question - {}",
    "Hi all, {}",
    "{} Any ideas?",
    "{} Anyone?",
    "I was wondering: {}",
    "Sorry to bother you, but {}",
    "Just curious, {}",
    "For this project: {}",
    "Q: {}",
    "> {}",
    "**{}**",
    "{} (urgent)",
    "{} :)",
    "Could someone explain this to me: {}",
    "I need to know this for a review: {}",
    "Help! {}",
    "{} -- many thanks, cheers",
    "Hey team, good morning. {}",
)
"""What stands around a question, or is added to it, and asks nothing."""


class Row(NamedTuple):
    """One query in one form. ``ndcg`` and ``right`` are of files."""

    repo: str
    judged: bool
    ndcg: float
    right: bool
    first: str
    unsure: bool


def ask(engine: Engine, query: Judged) -> Row:
    """Ask a query that may have no target."""
    line = run_line(query, engine.search(query.text, limit=PLACES, wait_s=0.0))
    paths = [found["path"] for found in line["results"]]
    ndcg = score(query, answer_of(line)).file_ndcg if query.targets else 0.0
    right = bool(paths) and paths[0] in {target.path for target in query.targets}
    return Row(query.repo, bool(query.targets), ndcg, right, paths[0] if paths else "", line["low_confidence"])


def translations(path: Path) -> dict[str, dict[str, str]]:
    """By language, what each query is in it."""
    found: dict[str, dict[str, str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found.setdefault(row["in"], {})[row["query_id"]] = row["query"]
    return found


def by_repository(rows: Sequence[Row], value: Callable[[Row], float]) -> float:
    """The mean of the repositories' means."""
    groups: dict[str, list[float]] = {}
    for row in rows:
        groups.setdefault(row.repo, []).append(value(row))
    return fmean(map(fmean, groups.values()))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = asked.parser(__doc__)
    parser.add_argument("--strange", action="store_true")
    parser.add_argument("--translations", type=Path)
    options = parser.parse_args(arguments)
    queries = asked.queries(options)
    forms: Mapping[str, Callable[[Judged], str]]
    forms = {form: lambda query, change=change: change(query.text) for form, change in FORMS.items()}
    if options.strange:
        forms = {"as written": lambda query: query.text}
        forms |= {form.format("…"): lambda query, form=form: form.format(query.text) for form in STRANGE}
    if options.translations:
        said = translations(options.translations)
        queries = [query for query in queries if all(query.id in texts for texts in said.values())]
        forms = {"as written": lambda query: query.text}
        forms |= {language: lambda query, texts=texts: texts[query.id] for language, texts in said.items()}
    rows: dict[str, list[Row]] = {form: [] for form in forms}
    for corpus in corpora(options.corpora, queries):
        print(corpus.name, file=sys.stderr)
        with nothing_above(corpus.root), Engine.open(root=corpus.root, cache=options.cache) as engine:
            engine.index()
            for form, text in forms.items():
                rows[form] += [ask(engine, replace(query, text=text(query))) for query in corpus.queries]
    print("| form | NDCG@10 | first file right | unsure | difference | same first file |")
    print("|---|--:|--:|--:|--:|--:|")
    written = rows["as written"]
    for form, found in rows.items():
        judged = [row for row in found if row.judged]
        ndcg = f"{by_repository(judged, lambda row: row.ndcg):.4f}" if judged else "–"
        right = f"{fmean(row.right for row in judged):.3f}" if judged else "–"
        pairs = list(zip(written, found, strict=True))
        difference = fmean(abs(one.ndcg - other.ndcg) for one, other in pairs)
        same = fmean(one.first == other.first for one, other in pairs)
        print(
            f"| {form} | {ndcg} | {right} | {fmean(row.unsure for row in found):.3f} | {difference:.4f} | {same:.3f} |"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())

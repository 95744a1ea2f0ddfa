"""The same questions in forms that mean the same: what each form's answers are worth, and how they differ.

    forms.py CORPORA --queries QUERIES.jsonl [--cache] [--repos NAME ...] [--strange] [--tool]
    forms.py CORPORA --queries QUERIES.jsonl --translations FILE.jsonl [--cache] [--tool]

By form, over the repositories in equal parts: NDCG@10 of files (one result a file), the share of queries whose first
file is right, the share flagged as unsure; and beside the query as it is written the mean absolute difference of a
query's NDCG@10 and the share with the same first file. Queries without a target count for the flag alone.

``--strange``: twenty forms as people write them, none of which the program has a rule for as a whole.
``--translations``: the forms are other languages; lines of ``query_id``, ``in`` and ``query``. Only queries that have a
translation are asked. ``share``: NDCG@10 beside that of the query as it is written.
``--tool``: asked through the tool search_code.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import asked
from msgspec.structs import replace

from findling import contracts
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


Ask = Callable[[Judged], dict[str, Any]]


def by_tool(workspace: contracts.Workspace, query: Judged) -> dict[str, Any]:
    """What search_code replies, as the line of a run."""
    given = {"query": query.text, "limit": PLACES, "detail_level": "location"}
    reply: Any = contracts.call("search_code", given, workspace).structured
    places = [
        {"path": found["path"], "start_line": found["line_start"], "end_line": found["line_end"]}
        for found in reply["results"]
    ]
    return {"query_id": query.id, "results": places, "low_confidence": reply["metadata"]["low_confidence"]}


def row(query: Judged, ask: Ask) -> Row:
    """What the answer to a query, which may have no target, is worth."""
    line = ask(query)
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
    parser.add_argument("--tool", action="store_true")
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
        root = corpus.root
        with (
            nothing_above(root),
            Engine.open(root=root, cache=options.cache) as engine,
            contracts.Workspace(root, roots=[root], cache=options.cache) as workspace,
        ):
            engine.index()
            ask: Ask = lambda query: run_line(query, engine.search(query.text, limit=PLACES, wait_s=0.0))  # noqa: E731
            if options.tool:
                ask = partial(by_tool, workspace)
            for form, text in forms.items():
                rows[form] += [row(replace(query, text=text(query)), ask) for query in corpus.queries]
    print("| form | NDCG@10 | share | first file right | unsure | difference | same first file |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    written = rows["as written"]
    whole = by_repository([one for one in written if one.judged] or written, lambda one: one.ndcg)
    for form, found in rows.items():
        judged = [one for one in found if one.judged]
        value = by_repository(judged, lambda one: one.ndcg) if judged else 0.0
        ndcg, share = (f"{value:.4f}", f"{value / whole:.2f}" if whole else "–") if judged else ("–", "–")
        right = f"{fmean(one.right for one in judged):.3f}" if judged else "–"
        pairs = list(zip(written, found, strict=True))
        difference = fmean(abs(one.ndcg - other.ndcg) for one, other in pairs)
        same = fmean(one.first == other.first for one, other in pairs)
        unsure = fmean(one.unsure for one in found)
        print(f"| {form} | {ndcg} | {share} | {right} | {unsure:.3f} | {difference:.4f} | {same:.3f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())

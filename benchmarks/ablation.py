"""What each signal of the ranking is worth: all judged queries with one signal left out at a time.

    ablation.py CORPORA --queries QUERIES.jsonl [--mode auto] [--cache] [--ask-again]

The corpora are indexed first where they are not yet. Each query is asked once, for every file that was proposed and
the explanation of its rank; without a signal the files are in the order of what the others add up to. (The place that
is shown of a file stays; ``--ask-again`` asks with the signal's weight at zero instead, which takes twenty times as
long.) A difference is of the mean over repositories, with the interval of a paired bootstrap over queries
(`ndcg.compare`); one that holds 0 says that the signal shows no effect here. "Left out": the mean over repositories of
what a signal adds to the one that is left out, where the others alone decide whether it is used; beside it how many
repositories are worse and better without it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from statistics import fmean

import asked
import ndcg

from findling.engine import Engine
from findling.evaluation.scoring import score
from findling.model.types import MODES, Hit
from findling.search.ranking import formula

LIMIT = 10

EVERY_FILE = 1000
"""More than are ever proposed for a query."""

Answers = Mapping[str, Sequence[Hit]]


def ask(engines: Mapping[str, Engine], queries: Sequence[ndcg.Judged], mode: str, limit: int) -> Answers:
    """The explained answers to all queries, by the query's id."""
    return {
        query.id: engines[query.repo].search(query.text, limit=limit, mode=mode, wait_s=0.0, explain=True).hits
        for query in queries
    }


def without(hits: Sequence[Hit], signal: str) -> list[Hit]:
    """The files of an answer in the order that they have without what a signal adds to each."""

    def rest(hit: Hit) -> float:
        return hit.rank_value - sum(reason.value for reason in hit.reasons if reason.signal == signal)

    return sorted(hits, key=lambda hit: (-rest(hit), hit.path))


def run_of(answers: Answers) -> dict[str, ndcg.Answer]:
    """Answers as they are scored."""
    return {
        name: ndcg.Answer(tuple(ndcg.Place(hit.path, hit.start_line, hit.end_line) for hit in hits[:LIMIT]))
        for name, hits in answers.items()
    }


def by_repository(queries: Sequence[ndcg.Judged], run: Mapping[str, ndcg.Answer]) -> dict[str, float]:
    """The mean NDCG@10 of each repository."""
    found: dict[str, list[float]] = {}
    for query in queries:
        if query.has_rank:
            found.setdefault(query.repo, []).append(score(query, run.get(query.id)).ndcg)
    return {repo: fmean(values) for repo, values in found.items()}


def left_out(full: Mapping[str, float], less: Mapping[str, float]) -> str:
    """What a signal adds to repositories that did not decide on it, and how many are worse and better without it."""
    worth = {repo: full[repo] - less[repo] for repo in full}
    chosen = [
        own if sum(other for name, other in worth.items() if name != repo) > 0 else 0.0 for repo, own in worth.items()
    ]
    worse, better = (sum(sign * value > 1e-9 for value in worth.values()) for sign in (1, -1))
    return f"{fmean(chosen):+.4f} | {worse}, {better}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = asked.parser(__doc__)
    parser.add_argument("--mode", choices=MODES, default="auto")
    parser.add_argument("--ask-again", action="store_true", help="ask with each weight at zero, instead of sorting")
    options = parser.parse_args(arguments)
    queries = asked.queries(options)
    engines = {}
    for repo in sorted({query.repo for query in queries}):
        root = options.corpora / repo
        engines[repo] = Engine.open(root, root=root, cache=options.cache)
        engines[repo].index()
    answers = ask(engines, queries, options.mode, EVERY_FILE)
    full = run_of(answers)
    print("| without | NDCG@10 | difference | 95 % | left out | worse, better |\n|---|--:|--:|---|--:|---|")
    print(f"| nothing | {ndcg.evaluate(queries, full).all.ndcg.value:.4f} | | | | |")
    whole = by_repository(queries, full)
    weights = dict(formula.SIGNALS)
    used = {reason.signal for hits in answers.values() for hit in hits for reason in hit.reasons}
    rows = []
    for name, signal in weights.items():
        if name not in used:
            continue
        if options.ask_again:
            _weigh({**weights, name: formula.Signal(0.0, signal.words)})
            run = run_of(ask(engines, queries, options.mode, LIMIT))
        else:
            run = run_of({query: without(hits, name) for query, hits in answers.items()})
        found = ndcg.compare(queries, run, full).difference
        headline = ndcg.evaluate(queries, run).all.ndcg.value
        row = f"| {name} | {headline:.4f} | {found.value:+.4f} | [{found.low:+.4f}, {found.high:+.4f}] "
        row += f"| {left_out(whole, by_repository(queries, run))} |"
        rows.append((found.value, row))
    print("\n".join(row for _, row in sorted(rows)))
    _weigh(weights)
    for engine in engines.values():
        engine.close()
    return 0


def _weigh(signals: dict[str, formula.Signal]) -> None:
    formula.SIGNALS = signals
    formula.weights_in_use.cache_clear()


if __name__ == "__main__":
    sys.exit(main())

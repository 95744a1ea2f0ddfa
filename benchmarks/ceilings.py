"""What stands between the answers and the best there could be: how much would be won by knowing what nobody tells.

    ceilings.py CORPORA --queries QUERIES.jsonl [--cache] [--repos NAME ...]

For each set of queries NDCG@10 of places as they are shown; with the right place of each file that is right; with only
documents, or none, where all that was meant are documents, or none is; with what is right put first among all files
that were proposed; and the share of the targets' files that were proposed at all, which is no NDCG. Each column before
that one has what those to its left have.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import asked

from findling.engine import Engine
from findling.evaluation.judged import Answer, Judged, Place, answer_of
from findling.evaluation.run import corpora, nothing_above, run_line
from findling.evaluation.scoring import score
from findling.model.languages import language_of

PROPOSED = 1000
"""More than are ever proposed."""

COLUMNS = ("as shown", "right places", "kind known", "best order", "in the files proposed")


def ceilings(query: Judged, answer: Answer) -> tuple[float, ...]:
    """One number for each of `COLUMNS`. ``answer`` has all files that were proposed, in order."""
    wanted = {target.path for target in query.targets}
    whole = [Place(found.path) for found in answer.results]
    documents = {is_document(path) for path in wanted}
    alike = [found for found in whole if len(documents) > 1 or is_document(found.path) in documents]
    first = sorted(alike, key=lambda found: found.path not in wanted)
    proposed = {found.path for found in whole}
    return (
        score(query, answer).ndcg,
        *(score(query, Answer(tuple(results))).file_ndcg for results in (whole, alike, first)),
        len(wanted & proposed) / len(wanted),
    )


def is_document(path: str) -> bool:
    return language_of(path).kind == "docs"


def main(arguments: Sequence[str] | None = None) -> int:
    options = asked.parser(__doc__).parse_args(arguments)
    queries = [query for query in asked.queries(options) if query.targets]
    rows: dict[str, list[tuple[float, ...]]] = {}
    for corpus in corpora(options.corpora, queries):
        print(corpus.name, file=sys.stderr)
        with nothing_above(corpus.root), Engine.open(root=corpus.root, cache=options.cache) as engine:
            engine.index()
            for query in corpus.queries:
                answer = answer_of(run_line(query, engine.search(query.text, limit=PROPOSED, wait_s=0.0)))
                for group in ("all", *query.groups):
                    rows.setdefault(group, []).append(ceilings(query, answer))
    print(f"| NDCG@10 | queries | {' | '.join(COLUMNS)} |")
    print("|---|" + "--:|" * (1 + len(COLUMNS)))
    for group, found in sorted(rows.items()):
        means = [sum(column) / len(found) for column in zip(*found, strict=True)]
        print(f"| {group} | {len(found)} | {' | '.join(f'{mean:.3f}' for mean in means)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())

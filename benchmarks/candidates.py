"""What it costs that only the channels' best proposals are compared: beside an answer in which every file is.

    candidates.py CORPORA --queries QUERIES.jsonl [--cache] [--repos NAME ...]

Every query is asked twice in `auto` mode: as it is, and with all files of the index as candidates and every chunk that
has a word of it as evidence. Prints how often the first file is the same, how far the first ten overlap, and the
difference in NDCG@10.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import asked

from findling.engine import Engine
from findling.evaluation.judged import Answer, answer_of
from findling.evaluation.run import corpora, nothing_above, run_line
from findling.evaluation.scoring import compare, evaluate
from findling.search import searcher

DEPTH = 10
ALL = 1_000_000
LIMITS = ("CHUNK_CANDIDATES", "FILE_CANDIDATES", "KEYWORD_FILES", "NAME_FILES", "EXACT_FILES", "SYMBOL_FILES")


@contextmanager
def all_files() -> Iterator[None]:
    """While it lasts every file is a candidate."""
    before = {name: getattr(searcher, name) for name in LIMITS}
    near = searcher.Searcher._near

    def nearest(self: Any, channel: Any, vector: Any, scope: Any) -> dict[int, float]:
        cosines = channel.cosines(vector, [file.entry_id for file in self._reader.all_files()])
        return {entry: float(found.own.max(initial=-1.0)) for entry, found in cosines.items()}

    files, searcher.SEMANTIC_FILES = searcher.SEMANTIC_FILES, ALL
    searcher.Searcher._near = nearest  # type: ignore[method-assign]
    vars(searcher).update(dict.fromkeys(LIMITS, ALL))
    try:
        yield
    finally:
        vars(searcher).update(before)
        searcher.SEMANTIC_FILES = files
        searcher.Searcher._near = near  # type: ignore[method-assign]


def main(arguments: Sequence[str] | None = None) -> int:
    options = asked.parser(__doc__).parse_args(arguments)
    queries = asked.queries(options)
    runs: dict[str, dict[str, Answer]] = {"proposed": {}, "all": {}}
    for corpus in corpora(options.corpora, queries):
        print(corpus.name, file=sys.stderr)
        with nothing_above(corpus.root), Engine.open(root=corpus.root, cache=options.cache) as engine:
            engine.index()
            for query in corpus.queries:
                answer = engine.search(query.text, limit=DEPTH, wait_s=0.0)
                runs["proposed"][query.id] = answer_of(run_line(query, answer))
            with all_files():
                for query in corpus.queries:
                    answer = engine.search(query.text, limit=DEPTH, wait_s=0.0)
                    runs["all"][query.id] = answer_of(run_line(query, answer))
    firsts, overlaps = [], []
    for query in queries:
        ours, every = ([found.path for found in runs[name][query.id].results] for name in ("proposed", "all"))
        firsts.append(ours[:1] == every[:1])
        overlaps.append(len(set(ours) & set(every)) / max(1, len(every)))
    values = [evaluate(queries, runs[name], rounds=0).all.ndcg.value for name in ("proposed", "all")]
    difference = compare(queries, runs["proposed"], runs["all"]).difference
    print("| queries | same first file | first ten overlap | NDCG@10 | of all files | difference |")
    print("|--:|--:|--:|--:|--:|---|")
    shown = f"{difference.value:+.4f}"
    if difference.low is not None and difference.high is not None:  # of one query there is none
        shown += f" [{difference.low:+.4f}, {difference.high:+.4f}]"
    print(
        f"| {len(queries)} | {sum(firsts)} | {sum(overlaps) / len(overlaps):.1%} | {values[0]:.4f} | {values[1]:.4f} "
        f"| {shown} |"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""How well a model finds on its own, by judged questions and by pairs that were held out.

    python -m training evaluate MODEL --queries QUERIES --corpora CORPORA --run RUN
    python -m training evaluate MODEL --held-out WORK

MODEL is a folder that ``train`` or ``export`` wrote. The first form ranks the pieces of each corpus by cosine alone and
writes a run; its score is printed, and ``python benchmarks/ndcg.py QUERIES RUN --against OTHER`` compares two of them.
Pieces are the bare text of 750 characters as semble 0.7.0 cuts it (``pip install semble==0.7.0``), for figures beside
published ones; without it the first form does not run. The second form asks the first paragraph of a docstring or
comment for its code, among all such code of its repository, over the repositories that are never trained on.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from findling.embedding.bundled_files import META_FILE
from findling.evaluation.judged import load_queries, load_run
from findling.evaluation.run import corpora
from findling.evaluation.scoring import evaluate
from training.encoding import Encode, open_model
from training.pairs import read_pairs
from training.train import HELD_OUT

DEPTH = 20
MAX_FILE_BYTES = 1_000_000
HELD_OUT_PAIRS = 1500
"""Of each repository, so that each counts alike."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a file, by its lines (1-based, inclusive)."""

    path: str
    start_line: int
    end_line: int
    text: str


def semble_pieces(root: Path) -> Iterator[Piece]:
    """Cut as semble does: what its published figures are of."""
    from semble.chunking import chunk_source
    from semble.index.file_walker import walk_files
    from semble.index.files import detect_language, get_extensions, read_file_text
    from semble.types import ContentType

    for path in sorted(walk_files(root, get_extensions([ContentType.CODE]))):
        if path.stat().st_size > MAX_FILE_BYTES:
            continue
        relative = path.relative_to(root).as_posix()
        for chunk in chunk_source(read_file_text(path), relative, detect_language(path)):
            yield Piece(relative, chunk.start_line, chunk.end_line, chunk.content)


def run_lines(encode: Encode, queries: Path, folder: Path) -> Iterator[str]:
    """A run: for each query the pieces of its corpus with the highest cosines."""
    for corpus in corpora(folder, load_queries(queries)):
        pieces = list(semble_pieces(corpus.root))
        rows = encode([piece.text for piece in pieces])
        for query, cosines in zip(
            corpus.queries, encode([query.text for query in corpus.queries]) @ rows.T, strict=True
        ):
            found = [pieces[place] for place in np.argsort(-cosines, kind="stable")[:DEPTH]]
            results = [
                {"path": piece.path, "start_line": piece.start_line, "end_line": piece.end_line} for piece in found
            ]
            yield json.dumps({"repo": corpus.name, "query_id": query.id, "query": query.text, "results": results})


def held_out_ranks(encode: Encode, pairs: Path) -> dict[str, NDArray[np.int64]]:
    """Repository -> the rank of each comment's own code among all code of the repository that has a comment."""
    asked: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for name in sorted(HELD_OUT):
        path = pairs / f"{name.replace('/', '+')}.jsonl"
        found = [pair for pair in read_pairs(path) if pair.kind in ("comment", "docstring")] if path.exists() else []
        random.Random(name).shuffle(found)
        asked[name] = [(pair.query, pair.body) for pair in found[:HELD_OUT_PAIRS]]
    ranks = {}
    for name, both in asked.items():
        if both:
            cosines = encode([query for query, _ in both]) @ encode([body for _, body in both]).T
            ranks[name] = 1 + (cosines > np.diag(cosines)[:, np.newaxis]).sum(axis=1)
    return ranks


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="training evaluate", description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--queries", type=Path)
    parser.add_argument("--corpora", type=Path)
    parser.add_argument("--run", type=Path)
    parser.add_argument("--held-out", type=Path, metavar="WORK")
    args = parser.parse_args(argv)
    if not (args.queries or args.held_out):
        parser.error("say what to ask: --queries with --corpora and --run, or --held-out")
    if args.queries and not (args.corpora and args.run):
        parser.error("--queries needs --corpora, which are searched, and --run, a file to write")
    if args.queries and importlib.util.find_spec("semble") is None:
        parser.error("--queries cuts pieces as semble does, which is not installed: pip install semble==0.7.0")
    if not any((args.model / name).is_file() for name in ("table.npy", META_FILE)):
        parser.error(f"{args.model} is no model: it is a folder that train or export wrote")
    encode = open_model(args.model)
    if args.held_out:
        ranks = held_out_ranks(encode, args.held_out / "pairs")
        if not ranks:
            raise ValueError(
                f"none of the repositories that are held out have pairs in {args.held_out / 'pairs'}: mine one of "
                f"{', '.join(sorted(HELD_OUT))}"
            )
        for name, found in ranks.items():
            print(f"{name}: {len(found)} pairs, MRR {np.mean(1 / found):.3f}, first {np.mean(found == 1):.3f}")
        print(f"mean over repositories: MRR {np.mean([np.mean(1 / found) for found in ranks.values()]):.4f}")
    if args.queries:
        args.run.write_text("\n".join(run_lines(encode, args.queries, args.corpora)) + "\n", encoding="utf-8")
        report = evaluate(load_queries(args.queries), load_run(args.run))
        ndcg = report.all.ndcg
        print(f"NDCG@10 {ndcg.value:.4f} [{ndcg.low:.4f}, {ndcg.high:.4f}], {report.all.queries} queries")

"""Which similarity a cosine is: learned on judged questions about documents, asked through the product.

    python -m training calibrate CORPORA --queries QUERIES

QUERIES are of the *spans* form (benchmarks/README.md); the sets ``docs`` and ``no_answer`` are asked, as far as they
are in English, of the bundled model as it is installed: a new one is exported, with any exponent, and copied over
``src/findling/embedding/model`` first. Each question's ten nearest passages are relevant or not. The map is ``1 - (1 -
cosine) ** exponent``; its exponent puts 0.7 at the cosine that best tells the two, which keeps most of the relevant and
drops most of the irrelevant (the largest sum of both shares). Printed are the exponent for all questions, the one
without each repository in turn with what it does there, and precision and recall at thresholds.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from findling.contracts import Workspace, call
from findling.embedding import open_embedder
from findling.embedding.bundled_files import Calibration, calibration_of
from findling.evaluation.judged import NO_ANSWER, Judged, load_queries

USUAL_THRESHOLD = 0.7
THRESHOLDS = (0.5, 0.6, 0.7, 0.8)
NEAREST = 10
OTHER_LANGUAGES = ("de", "es", "ja", "zh", "fr")


@dataclass(frozen=True, slots=True)
class Near:
    """A passage that a question came near to; ``relevant`` as it was judged, never where no answer exists."""

    repo: str
    cosine: float
    relevant: bool


def exponent_of(near: Sequence[Near]) -> float:
    """The exponent that puts the usual threshold where relevant and irrelevant passages are told best, to one digit."""
    relevant = np.sort([each.cosine for each in near if each.relevant])
    others = np.sort([each.cosine for each in near if not each.relevant])
    if not len(relevant) or not len(others):
        raise ValueError("there must be relevant and irrelevant passages")
    at = np.unique(np.concatenate((relevant, others)))
    kept = 1 - np.searchsorted(relevant, at) / len(relevant)
    dropped = np.searchsorted(others, at) / len(others)
    best = float(np.clip(at[np.argmax(kept + dropped)], 0.01, 0.99))
    return round(max(1.0, math.log(1 - USUAL_THRESHOLD) / math.log(1 - best)), 1)


def shares(near: Sequence[Near], calibration: Calibration, threshold: float) -> tuple[float, float, float]:
    """Precision, recall, and the share of irrelevant passages that are dropped, at a similarity."""
    least = calibration.least_cosine(threshold)
    kept = [each for each in near if each.cosine >= least]
    right = sum(each.relevant for each in kept)
    relevant = sum(each.relevant for each in near)
    dropped = 1 - (len(kept) - right) / max(1, len(near) - relevant)
    return right / max(1, len(kept)), right / max(1, relevant), dropped


def ask(corpora: Path, queries: Iterable[Judged]) -> list[Near]:
    """The nearest passages of every question."""
    now = calibration_of(open_embedder().fingerprint)
    by_repo: dict[str, list[Judged]] = {}
    for query in queries:
        by_repo.setdefault(query.repo, []).append(query)
    found = []
    for repo, asked in sorted(by_repo.items()):
        root = (corpora / repo).resolve()
        with Workspace(root, root=root, cache=True) as workspace:
            workspace.engine.index()
            for query in asked:
                arguments = {"query": query.text, "threshold": 0, "limit": NEAREST}
                result = call("semantic_search", arguments, workspace)
                if result.is_error or result.structured is None:
                    raise RuntimeError(f"semantic_search failed on {query.id}: {result.structured}")
                for place in result.structured["results"]:
                    first, last = place["lineRange"]
                    relevant = any(
                        target.path == place["docPath"]
                        and first <= (target.end_line or 0)
                        and last >= (target.start_line or 0)
                        for target in query.targets
                    )
                    found.append(Near(repo, now.least_cosine(place["similarity"]), relevant))
    return found


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="training calibrate", description=__doc__)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--queries", type=Path, required=True)
    args = parser.parse_args(argv)
    asked = [
        query
        for query in load_queries(args.queries)
        if query.groups[0].removeprefix("set: ") in ("docs", NO_ANSWER)
        and not any(group.endswith("/" + language) for group in query.groups for language in OTHER_LANGUAGES)
    ]
    near = ask(args.corpora, asked)
    calibration = Calibration(exponent_of(near))
    relevant = sum(each.relevant for each in near)
    print(f"{len(asked)} questions, {relevant} relevant passages among {len(near)}; exponent {calibration.exponent}")
    print("threshold   precision   recall   irrelevant dropped")
    for threshold in THRESHOLDS:
        precision, recall, dropped = shares(near, calibration, threshold)
        print(f"{threshold:9.1f}   {precision:9.3f}   {recall:6.3f}   {dropped:18.3f}")
    for repo in sorted({each.repo for each in near}):
        without = Calibration(exponent_of([each for each in near if each.repo != repo]))
        precision, recall, dropped = shares([each for each in near if each.repo == repo], without, USUAL_THRESHOLD)
        figures = f"precision {precision:.3f}, recall {recall:.3f}, irrelevant dropped {dropped:.3f}"
        print(f"{repo}: exponent of the others {without.exponent}; at {USUAL_THRESHOLD} {figures}")

"""Where the right answer stands for judged questions about a small invented project, good or bad.

``golden/judgments.tsv`` says what is right; it is written from the files. ``golden/ranks.txt`` records what the
search makes of it: the rank of the right file and whether the place shown is the right one. A change that lowers any
of them fails here. After a change that is meant, record anew with

    FINDLING_RECORD_RANKS=1 pytest tests/search/test_golden.py

and look at the difference before it is committed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from findling import Engine
from findling.model.types import Hit

GOLDEN = Path(__file__).parent / "golden"
RANKS = GOLDEN / "ranks.txt"
DEEPEST = 50
PLACES = ("here", "near", "elsewhere", "missing")
"""The right line is in the range shown, in another range named under the hit, in neither; or the file is missing."""


@dataclass(frozen=True)
class Judgment:
    kind: str
    query: str
    path: str
    line: int


@dataclass(frozen=True)
class Outcome:
    """``rank`` of the right file, 0 when it is not in the answer."""

    rank: int
    place: str

    @property
    def reciprocal(self) -> float:
        return 1 / self.rank if self.rank else 0.0

    def worse_than(self, other: Outcome) -> bool:
        if self.reciprocal != other.reciprocal:
            return self.reciprocal < other.reciprocal
        return PLACES.index(self.place) > PLACES.index(other.place)


def judgments() -> list[Judgment]:
    found = []
    for row in (GOLDEN / "judgments.tsv").read_text(encoding="utf-8").splitlines():
        if row.startswith("#"):
            continue
        kind, query, path, text = row.split("\t")
        lines = (GOLDEN / "corpus" / path).read_text(encoding="utf-8").splitlines()
        (line,) = [number for number, said in enumerate(lines, 1) if text in said]
        found.append(Judgment(kind, query, path, line))
    return found


JUDGED = judgments()


def recorded() -> dict[str, Outcome]:
    found = {}
    for row in RANKS.read_text(encoding="utf-8").splitlines():
        if not row.startswith("#"):
            rank, place, query = row.split("\t")
            found[query] = Outcome(int(rank), place)
    return found


def outcome(hits: Iterable[Hit], judged: Judgment) -> Outcome:
    for rank, hit in enumerate(hits, 1):
        if hit.path == judged.path:
            if hit.start_line <= judged.line <= hit.end_line:
                return Outcome(rank, "here")
            near = any(span.start_line <= judged.line <= span.end_line for span in hit.others)
            return Outcome(rank, "near" if near else "elsewhere")
    return Outcome(0, "missing")


def hit_at_1(outcomes: Iterable[Outcome]) -> float:
    ranks = [found.rank == 1 for found in outcomes]
    return sum(ranks) / len(ranks)


def mean_reciprocal_rank(outcomes: Iterable[Outcome]) -> float:
    shares = [found.reciprocal for found in outcomes]
    return sum(shares) / len(shares)


def record(outcomes: Mapping[str, Outcome]) -> None:
    rows = [
        "# rank of the right file, whether the right place in it is shown, query; see tests/search/test_golden.py",
        f"# hit@1 {hit_at_1(outcomes.values()):.3f}, mean reciprocal rank "
        f"{mean_reciprocal_rank(outcomes.values()):.3f} over {len(outcomes)} queries",
    ]
    rows += [f"{found.rank}\t{found.place}\t{query}" for query, found in outcomes.items()]
    RANKS.write_text("\n".join(rows) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def measured(engine: Engine) -> dict[str, Outcome]:
    found = {judged.query: outcome(engine.search(judged.query, limit=DEEPEST).hits, judged) for judged in JUDGED}
    if os.environ.get("FINDLING_RECORD_RANKS"):
        record(found)
    return found


def test_every_question_is_asked_once_and_every_kind_is_there() -> None:
    assert len({judged.query for judged in JUDGED}) == len(JUDGED)
    assert {judged.kind for judged in JUDGED} == {
        "symbol", "path", "phrase", "error", "paraphrase", "docs", "tests", "mixed",
    }  # fmt: skip


@pytest.mark.parametrize("judged", JUDGED, ids=lambda judged: judged.query)
def test_no_rank_got_worse(measured: Mapping[str, Outcome], judged: Judgment) -> None:
    was = recorded().get(judged.query)
    assert was is not None, "a new question: record the ranks anew"
    now = measured[judged.query]
    assert not now.worse_than(was), f"was {was.rank} {was.place}, is {now.rank} {now.place}: {judged.path}"


def test_the_means_did_not_fall(measured: Mapping[str, Outcome]) -> None:
    was = recorded()
    assert set(was) == set(measured), "questions came or went: record the ranks anew"
    assert hit_at_1(measured.values()) >= hit_at_1(was.values())
    assert mean_reciprocal_rank(measured.values()) >= mean_reciprocal_rank(was.values()) - 1e-9


def test_a_worse_outcome_is_told_from_a_better_one() -> None:
    best, misplaced, second, missing = (
        Outcome(1, "here"), Outcome(1, "elsewhere"), Outcome(2, "here"), Outcome(0, "missing"),
    )  # fmt: skip
    order = [missing, second, misplaced, best]
    for at, lower in enumerate(order):
        assert not lower.worse_than(lower)
        assert all(lower.worse_than(higher) and not higher.worse_than(lower) for higher in order[at + 1 :])

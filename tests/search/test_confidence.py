"""How good an answer is said to be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.model.rows import FileRow
from findling.search.answer import TYPICAL_COSINE, judge
from findling.search.ranking.ranked_file import FileCosines, RankedFile

FILE = FileRow(1, 1, "a.py", "python", "code", 10, 1, False, 3, 1)
VECTORS = FileCosines(np.ones(1, np.float32), np.ones(1, np.float32))
SHARES = st.floats(0, 1)


def ranked(coverage: float, cosine: float | None = None, definition: float = 0.0) -> RankedFile:
    return RankedFile(
        FILE,
        {"definition": definition},
        rare_coverage=coverage,
        cosines=None if cosine is None else VECTORS,
        best_cosine=cosine or 0.0,
    )


def confidence(files: list[RankedFile]) -> float:
    return judge(files).value


def test_no_answer_has_none() -> None:
    assert confidence([]) == 0.0


@given(SHARES, st.floats(-1, 1), SHARES)
def test_it_is_a_share(coverage: float, cosine: float, definition: float) -> None:
    assert 0 < confidence([ranked(coverage, cosine, definition)]) < 1


@given(SHARES, SHARES, st.floats(-1, 1), st.floats(-1, 1), SHARES, SHARES)
def test_more_evidence_never_lowers_it(
    coverage: float, more_coverage: float, cosine: float, nearer: float, definition: float, stronger: float
) -> None:
    less = ranked(min(coverage, more_coverage), min(cosine, nearer), min(definition, stronger))
    more = ranked(max(coverage, more_coverage), max(cosine, nearer), max(definition, stronger))
    assert confidence([less]) <= confidence([more])


def test_a_definition_among_the_first_three_counts() -> None:
    plain, defines = ranked(0.3), ranked(0.0, definition=1.0)
    assert confidence([plain, plain, defines]) > confidence([plain, plain, plain])
    assert confidence([plain, plain, plain, defines]) == confidence([plain])


def test_without_vectors_a_typical_one_stands_in() -> None:
    assert confidence([ranked(0.5)]) == confidence([ranked(0.5, TYPICAL_COSINE)])


@pytest.mark.parametrize(
    ("first", "good"),
    [
        (ranked(1.0, 0.6), True),
        (ranked(1.0, definition=0.8), True),
        (ranked(0.2, 0.2), False),
        (ranked(0.0, 0.0), False),
        (ranked(0.1), False),
    ],
)
def test_what_counts_as_an_answer(first: RankedFile, good: bool) -> None:
    assert (confidence([first]) > 0.5) == good


def test_what_the_next_files_hold_counts_less_than_what_the_first_does() -> None:
    shares = ((0.5, 0.0, 0.0), (0.0, 0.5, 0.5), (0.5, 0.5, 0.5))
    alone, apart, followed = [confidence([ranked(share) for share in of_three]) for of_three in shares]
    assert apart < alone < followed
    assert confidence([ranked(0.5)] * 3 + [ranked(1.0)]) == followed

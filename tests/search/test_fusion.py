"""Fusing ranked lists: known cases, and what has to hold for any lists."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.search.fusion import Scored, fuse_weighted
from findling.search.lexical import RRF_K, reciprocal_rank_fusion

CASES = json.loads((Path(__file__).parent / "data" / "rrf_cases.json").read_text(encoding="utf-8"))
WEIGHTS = {"keyword": 0.4, "symbol": 0.3, "semantic": 0.3}


def ids(items: Sequence[Any]) -> list[str]:
    return [item if isinstance(item, str) else item[0] for item in items]


@pytest.mark.parametrize("case", CASES["cases"], ids=lambda case: case["name"])
def test_reciprocal_rank_fusion(case: Mapping[str, Any]) -> None:
    """D9: search_code's."""
    assert CASES["k"] == RRF_K
    scores = reciprocal_rank_fusion({name: ids(items) for name, items in case["lists"].items()}, case["weights"] or {})
    if "expect_first" in case:
        assert max(sorted(scores), key=scores.__getitem__) == case["expect_first"]
    if "expect_ids" in case:
        assert sorted(scores) == case["expect_ids"]
    for id, score in case.get("expect_scores", {}).items():
        assert scores[id] == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize("case", CASES["hybrid_ratio_cases"], ids=lambda case: f"ratio {case['ratio']}")
def test_a_ratio_weighs_the_two_lists(case: Mapping[str, Any]) -> None:
    ratio = case["ratio"]
    scores = reciprocal_rank_fusion(
        {"lexical": case["lexical"], "semantic": case["semantic"]}, {"lexical": 1 - ratio, "semantic": ratio}
    )
    order = sorted(scores, key=lambda id: (-scores[id], id))
    if "expect_order" in case:
        assert order == case["expect_order"]
    if "expect_first" in case:
        assert order[0] == case["expect_first"]


def test_a_line_inside_a_passage_is_one_result_with_both_sources() -> None:
    """S4-40, S4-24, S4-31: duplicates merge when lines overlap, and sources says who found the place."""
    merged = fuse_weighted(
        {"keyword": [Scored("a.py", 12, 12, 7.0)], "semantic": [Scored("a.py", 5, 40, 0.6)]}, WEIGHTS
    )
    assert [(place.path, place.sources) for place in merged] == [("a.py", ("keyword", "semantic"))]
    assert merged[0].score == pytest.approx(1.0)
    assert (merged[0].line_start, merged[0].line_end) == (12, 12)


def test_scores_are_weighted_over_the_backends_that_ran() -> None:
    """S4-40, S4-22, S4-23, S4-25, D9: each backend to [0, 1], weights .4 .3 .3, sorted by the sum."""
    lists = {
        "keyword": [Scored("a", 1, 1, 10.0), Scored("b", 1, 1, 5.0)],
        "symbol": [Scored("b", 1, 9, 1.0)],
        "semantic": [Scored("c", 1, 1, 0.5), Scored("b", 3, 3, 0.25)],
    }
    merged = {place.path: place for place in fuse_weighted(lists, WEIGHTS)}
    assert merged["a"].score == pytest.approx(0.4)
    assert merged["c"].score == pytest.approx(0.3)
    # lines 1-1 and 1-9 of b meet; line 3 meets 1-9 only if that is the kept place, which the better 1-9 is
    assert merged["b"].score == pytest.approx(0.4 * 0.5 + 0.3 * 1.0 + 0.3 * 0.5)
    assert merged["b"].sources == ("keyword", "symbol", "semantic")
    assert [place.path for place in fuse_weighted(lists, WEIGHTS)] == ["b", "a", "c"]


def test_without_vectors_the_rest_reaches_the_top() -> None:
    """S4-30, D9: keyword alone still scores from 0 to 1."""
    assert fuse_weighted({"keyword": [Scored("a", 1, 1, 3.0)]}, WEIGHTS)[0].score == pytest.approx(1.0)
    found_nothing = fuse_weighted({"keyword": [Scored("a", 1, 1, 3.0)], "symbol": []}, WEIGHTS)
    assert found_nothing[0].score == pytest.approx(0.4 / 0.7)


def test_overlaps_do_not_chain() -> None:
    lists = {"keyword": [Scored("a", 1, 10, 3.0), Scored("a", 8, 20, 2.0), Scored("a", 18, 30, 1.0)]}
    assert [(place.line_start, place.line_end) for place in fuse_weighted(lists, WEIGHTS)] == [(1, 10), (18, 30)]


PLACES = st.lists(
    st.builds(
        lambda path, start, length, score: Scored(path, start, start + length, score),
        st.sampled_from("abc"),
        st.integers(1, 30),
        st.integers(0, 20),
        st.floats(0, 100),
    ),
    max_size=12,
)


@given(st.fixed_dictionaries({"keyword": PLACES, "symbol": PLACES, "semantic": PLACES}))
def test_any_lists_give_disjoint_sorted_scores_in_bounds(lists: dict[str, list[Scored]]) -> None:
    merged = fuse_weighted(lists, WEIGHTS)
    assert [place.score for place in merged] == sorted((place.score for place in merged), reverse=True)
    assert all(0.0 <= place.score <= 1.0 + 1e-9 and place.sources for place in merged)
    assert bool(merged) == any(lists.values())
    for i, one in enumerate(merged):
        for other in merged[i + 1 :]:
            assert one.path != other.path or one.line_end < other.line_start or other.line_end < one.line_start

"""Searching by name alone: just the name first, then its other spellings, then names that are only like it."""

from __future__ import annotations

import pytest

from findling import Engine
from findling.model.types import Hit


def found(engine: Engine, query: str) -> list[Hit]:
    return list(engine.search(query, mode="symbol", limit=50, explain=True, wait_s=0.0).hits)


def named(hit: Hit) -> float:
    return sum(reason.value for reason in hit.reasons if reason.signal == "named")


def test_just_the_name_comes_before_names_that_contain_it(engine: Engine) -> None:
    hits = found(engine, "Reading")
    assert {hit.path for hit in hits if hit.name == "Reading"} == {
        "skerry/storage/readings.py",
        "skerry/generated/readings_pb2.py",
    }
    exact = [named(hit) > 0 for hit in hits]
    assert exact == sorted(exact, reverse=True)
    assert exact[0]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("Retry", "RetryPolicy"),
        ("Bucket", "TokenBucket"),
        ("bucket token", "TokenBucket"),
        ("ertificateReloade", "CertificateReloader"),
        ("certificatereloader", "CertificateReloader"),
    ],
    ids=["beginning", "word", "words in another order", "letters inside", "case"],
)
def test_without_the_very_name_what_is_like_it_is_found(engine: Engine, query: str, name: str) -> None:
    hits = found(engine, query)
    assert name in {hit.name for hit in hits[:2]}
    assert all(hit.sources == ("symbol",) for hit in hits)


def test_beginnings_come_before_letters_inside_a_word(engine: Engine) -> None:
    strengths = {
        hit.name: reason.value for hit in found(engine, "token") for reason in hit.reasons if reason.signal == "alike"
    }
    assert strengths["TokenBucket"] > 0
    (inside,) = [hit for hit in found(engine, "okenBucke") if hit.name == "TokenBucket"]
    assert 0 < next(reason.value for reason in inside.reasons if reason.signal == "alike") < strengths["TokenBucket"]


def test_the_other_modes_know_nothing_of_it(engine: Engine) -> None:
    for hit in engine.search("Retry", explain=True, limit=50, wait_s=0.0).hits:
        assert not {"named", "alike"} & {reason.signal for reason in hit.reasons}
    assert not found(engine, "zzqx")
    assert not found(engine, "?")

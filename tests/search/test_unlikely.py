"""Places that are no answer have no line in a default answer, and are counted."""

from __future__ import annotations

from findling import Engine, Query

QUESTION = "where is the tide table cached"


def test_what_shares_few_words_and_is_far_behind_is_counted_and_not_listed(engine: Engine) -> None:
    every = engine.ask(Query(QUESTION, bodies="none")).result
    told = engine.ask(Query(QUESTION)).result
    left_out = len(every.hits) - len(told.hits)
    assert left_out and told.total == every.total
    assert [hit.path for hit in told.hits] == [hit.path for hit in every.hits[: len(told.hits)]]
    assert told.notes == (f"{left_out} unlikely places not listed.",)
    assert len(engine.ask(Query(QUESTION, explain=True)).result.hits) == len(every.hits)
    assert engine.ask(Query(QUESTION, limit=1)).result.notes == ()  # nothing is left out but by the limit


def test_the_next_page_begins_with_what_was_left_out(engine: Engine) -> None:
    first = engine.ask(Query(QUESTION)).result
    every = engine.ask(Query(QUESTION, bodies="none")).result
    rest = engine.ask(Query(QUESTION, offset=len(first.hits))).result
    assert rest.hits[0].path == every.hits[len(first.hits)].path

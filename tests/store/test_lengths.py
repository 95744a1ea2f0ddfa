"""Mean lengths that are the same whatever else an index holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import tantivy
from hypothesis import given
from hypothesis import strategies as st

from findling import Engine
from findling.store import lengths
from findling.store.local.reader import IndexReader


@given(st.integers(0, 1 << 24))
def test_a_length_that_was_filled_up_is_kept_as_it_is(length: int) -> None:
    whole = lengths.filled_up(length)
    assert lengths.kept(whole) == whole >= length
    assert whole <= length * 1.125 + 1
    assert lengths.kept(length) <= length


@given(
    st.integers(1, 500),
    st.fixed_dictionaries(
        {"body": st.integers(0, 200_000), "context": st.integers(0, 9_000), "path": st.integers(0, 99)}
    ),
)
def test_what_is_added_brings_every_field_to_its_mean(documents: int, sums: dict[str, int]) -> None:
    added = lengths.filler(documents, sums)
    for field, mean in lengths.MEANS.items():
        own = [each[field] for each in added if field in each]
        assert all(lengths.kept(length) == length > 0 for length in own)
        assert sums[field] + sum(own) == mean * (documents + len(added))


def test_the_library_takes_these_means_whatever_was_written_and_deleted(tmp_path: Path) -> None:
    long = "alpha beta gamma delta " * 40
    for number in range(30):
        (tmp_path / f"mod{number}.py").write_text(f"def thing_{number}():\n    return '{long * (number % 5)}'\n")
    with Engine.open(root=tmp_path) as engine:
        engine.index()
        for number in range(12):
            (tmp_path / f"mod{number}.py").write_text(f"def other_{number}():\n    return {long.split()[:number]}\n")
            engine.index()
        (tmp_path / "mod20.py").unlink()
        engine.index()
        with _searcher(engine) as (searcher, schema):
            for field, term in (("body", "alpha"), ("context", "thing"), ("path", "mod")):
                query = tantivy.Query.term_query(schema, field, term, "freq")
                _, address = searcher.search(query, 1).hits[0]
                said = json.loads(query.explain(searcher, address).to_json())["details"][-1]["details"]
                [mean] = [each["value"] for each in said if each["description"].startswith("avgdl")]
                assert mean == pytest.approx(lengths.MEANS[field], rel=1e-6)


@contextmanager
def _searcher(engine: Engine) -> Iterator[tuple[tantivy.Searcher, tantivy.Schema]]:
    reader = IndexReader(engine.store_dir, str(engine.root))
    try:
        with reader.snapshot():
            yield reader.fulltext._searcher, reader.fulltext._schema
    finally:
        reader.close()


def test_an_answer_after_edit_and_restore_is_the_same_to_the_last_digit(tmp_path: Path) -> None:
    """Earlier versions stay in the index, for those who come back to them; nothing that is said comes of them."""
    for number in range(40):
        words = " ".join(f"word{(number * each) % 17} retry_{each % 5}" for each in range(number + 3))
        (tmp_path / f"mod{number}.py").write_text(f"def thing_{number}():\n    '''{words}'''\n")
    questions = ("retry word3", "thing 7 word11", "where is retry_2 done", "word5 word6")

    def answers(engine: Engine) -> list[object]:
        asked = [engine.search(question, limit=20, wait_s=None) for question in questions]
        return [[(hit.path, hit.start_line, round(hit.rank_value, 6)) for hit in answer.hits] for answer in asked]

    with Engine.open(root=tmp_path) as engine:
        engine.index()
        before = answers(engine)
        for number in (3, 17, 3, 31):
            path = tmp_path / f"mod{number}.py"
            text = path.read_text()
            path.write_text("retry = word3 = 1\n" * 60)
            assert answers(engine) != before
            path.write_text(text)
        assert answers(engine) == before

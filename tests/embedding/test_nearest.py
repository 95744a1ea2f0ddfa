"""The nearest chunks as the tools ask for them, beside every chunk's cosine computed by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from project import make

from findling.embedding import open_embedder
from findling.engine import Engine
from findling.model.types import Hit, Query
from tests.sizes import size

QUESTION = "the sum of all lines with tax"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make(tmp_path_factory.mktemp("near").resolve())
    long = [f"## Part {i}\n\n{'Lines are summed up here, ' * (i + 1)}and tax number {i}.\n" for i in range(12)]
    (root / "docs" / "long.md").write_text("# Long\n\n" + "\n".join(long), encoding="utf-8")
    for i in range(2):
        (root / "docs" / f"twin_{i}").mkdir()
        (root / "docs" / f"twin_{i}" / "same.md").write_text("# Same\n\nTax of twins.\n", encoding="utf-8")
    with Engine.open(root=root) as engine:
        engine.index()
    return root


@pytest.fixture(scope="module")
def engine(root: Path) -> Iterator[Engine]:
    with Engine.open(root=root) as opened:
        yield opened


def near(engine: Engine, text: str, limit: int) -> tuple[Hit, ...]:
    return engine.ask(Query(text, limit, "semantic", wait_s=0, weights={"semantic": 1.0})).result.hits


def by_hand(engine: Engine) -> list[tuple[float, str, int]]:
    """(cosine, path, first line) of every chunk, the nearest first."""
    query = open_embedder().encode_query(QUESTION)
    store = engine.store
    reader = store.reader
    found = []
    with reader.snapshot():
        channel = store.semantics.channel()
        assert channel is not None
        for file in reader.listing():
            for chunk, row in zip(reader.chunks(file.blob_id), channel.chunk_vectors(file.entry_id), strict=True):
                found.append((max(0.0, float(row @ query / np.linalg.norm(row))), file.path, chunk.start_line))
    return sorted(found, key=lambda each: (-each[0], *each[1:]))


@pytest.mark.parametrize("limit", [1, 3, 10, 1000])
def test_the_nearest_are_the_nearest(engine: Engine, limit: int) -> None:
    found, every = near(engine, QUESTION, limit), by_hand(engine)
    assert len(found) == min(limit, len(every))
    expected = {(path, line): cosine for cosine, path, line in every}
    cosines = [hit.score for hit in found]
    assert cosines == sorted(cosines, reverse=True)
    assert cosines == pytest.approx([cosine for cosine, *_ in every[:limit]], abs=0.01)
    assert all(expected[hit.path, hit.start_line] == pytest.approx(hit.score, abs=0.01) for hit in found)


def test_of_a_folder_only_its_own(root: Path, engine: Engine) -> None:
    with Engine.open(root / "docs", root=root) as below:
        found = near(below, QUESTION, 50)
    assert len(found) == len([path for _, path, _ in by_hand(engine) if path.startswith("docs/")])
    with Engine.open(root / "docs" / "long.md", root=root) as of_file:
        assert {hit.path for hit in near(of_file, QUESTION, 50)} == {"docs/long.md"}


def test_ties_are_in_the_order_of_paths(engine: Engine) -> None:
    found = [hit for hit in near(engine, "tax of twins", 50) if hit.path.endswith("same.md")]
    ordered = sorted(found, key=lambda hit: (-hit.score, hit.path))
    assert found == ordered and len(found) == 2


def test_a_long_life_finds_what_a_fresh_start_does(tmp_path: Path) -> None:
    root = make(tmp_path.resolve())
    crowd = [root / "docs" / f"tax_{i}.md" for i in range(60)]
    with Engine.open(root=root) as engine:
        engine.index()
        near(engine, QUESTION, 5)
        for number in range(size(3, 6)):
            for path in crowd:
                path.write_text(f"# {QUESTION}\n\nNumber {number} of {path.stem}.\n", encoding="utf-8")
            engine.sync()
            near(engine, QUESTION, 5)
        engine.embed(force=True)
        for path in crowd:
            path.unlink()
        for number in range(size(8, 20)):  # until what is gone is collected
            (root / "docs" / "other.md").write_text(f"# Other\n\nNothing of the kind, {number}.\n", encoding="utf-8")
            engine.sync()
            with Engine.open(root=root) as fresh:
                assert near(engine, QUESTION, 5) == near(fresh, QUESTION, 5)
            every = near(engine, QUESTION, 50)
            assert len({(hit.path, hit.start_line) for hit in every}) == len(every)
        assert len(near(engine, QUESTION, 5)) == 5

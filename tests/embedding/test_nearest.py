"""The nearest chunks as the tools ask for them, beside every chunk's cosine computed by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from project import make

from findling.embedding import open_embedder
from findling.engine import Engine
from findling.tools.index_view import IndexView, NearChunk

QUESTION = "the sum of all lines with tax"


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexView]:
    root = make(tmp_path_factory.mktemp("near").resolve())
    long = [f"## Part {i}\n\n{'Lines are summed up here, ' * (i + 1)}and tax number {i}.\n" for i in range(12)]
    (root / "docs" / "long.md").write_text("# Long\n\n" + "\n".join(long), encoding="utf-8")
    for i in range(2):
        (root / "docs" / f"twin_{i}").mkdir()
        (root / "docs" / f"twin_{i}" / "same.md").write_text("# Same\n\nTax of twins.\n", encoding="utf-8")
    with Engine.open(root=root) as engine:
        engine.index()
        opened = IndexView(engine.store_dir, root, engine.embedder_opener(), key=engine.manifest_key)
    yield opened
    opened.close()


def by_hand(view: IndexView) -> list[NearChunk]:
    query = open_embedder().encode_query(QUESTION)
    channel, reader = view.semantic, view.reader
    assert channel is not None and reader is not None
    found = []
    with reader.snapshot():
        for file in reader.listing():
            for chunk, row in zip(reader.chunks(file.blob_id), channel.chunk_vectors(file.entry_id), strict=True):
                cosine = float(row @ query / np.linalg.norm(row))
                found.append(NearChunk(file.path, chunk.start_line, chunk.end_line, max(0.0, cosine)))
    return sorted(found, key=lambda near: (-near.cosine, near.path, near.start_line))


@pytest.mark.parametrize("limit", [1, 3, 10, 1000])
def test_the_nearest_are_the_nearest(view: IndexView, limit: int) -> None:
    near, every = view.near(QUESTION, limit), by_hand(view)
    assert len(near) == min(limit, len(every))
    expected = {(item.path, item.start_line): item.cosine for item in every}
    cosines = [item.cosine for item in near]
    assert cosines == sorted(cosines, reverse=True)
    assert cosines == pytest.approx([item.cosine for item in every[:limit]], abs=0.01)
    assert all(expected[item.path, item.start_line] == pytest.approx(item.cosine, abs=0.01) for item in near)


def test_of_a_folder_only_its_own(view: IndexView) -> None:
    found = view.near(QUESTION, 50, folder="docs")
    assert len(found) == len([item for item in by_hand(view) if item.path.startswith("docs/")])
    assert {item.path for item in view.near(QUESTION, 50, folder="docs/long.md")} == {"docs/long.md"}


def test_ties_are_in_the_order_of_paths(view: IndexView) -> None:
    found = [item for item in view.near("tax of twins", 50) if item.path.endswith("same.md")]
    ordered = sorted(found, key=lambda item: (-item.cosine, item.path))
    assert found == ordered and len(found) == 2


def test_a_long_life_finds_what_a_fresh_start_does(tmp_path: Path) -> None:
    root = make(tmp_path.resolve())
    crowd = [root / "docs" / f"tax_{i}.md" for i in range(60)]
    with Engine.open(root=root) as engine:
        engine.index()
        view = IndexView(engine.store_dir, root, engine.embedder_opener(), key=engine.manifest_key)
        view.near(QUESTION, 5)
        for number in range(6):
            for path in crowd:
                path.write_text(f"# {QUESTION}\n\nNumber {number} of {path.stem}.\n", encoding="utf-8")
            engine.sync()
            view.near(QUESTION, 5)
        engine.embed(force=True)
        for path in crowd:
            path.unlink()
        for number in range(20):  # until what is gone is collected
            (root / "docs" / "other.md").write_text(f"# Other\n\nNothing of the kind, {number}.\n", encoding="utf-8")
            engine.sync()
            fresh = IndexView(engine.store_dir, root, engine.embedder_opener(), key=engine.manifest_key)
            assert view.near(QUESTION, 5) == fresh.near(QUESTION, 5)
            assert len({(item.path, item.start_line) for item in view.near(QUESTION, 50)}) == len(
                view.near(QUESTION, 50)
            )
            fresh.close()
        assert len(view.near(QUESTION, 5)) == 5
        view.close()

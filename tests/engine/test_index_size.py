"""What an index takes, and what it says of terms."""

from __future__ import annotations

from pathlib import Path

from indexes import make

from findling.engine import Engine
from findling.store.local.reader import IndexReader

CODE = "def retry(request):\n    return send(request)\n"


def test_an_index_of_one_file_takes_little_room(tmp_path: Path) -> None:
    with Engine.open(root=make(tmp_path / "project", {"a.py": CODE})) as engine:
        engine.index()
        store = engine.store_dir
    assert sum(path.stat().st_size for path in store.rglob("*")) < 160_000


def test_a_term_that_is_asked_for_twice_is_counted_once(tmp_path: Path) -> None:
    root = make(tmp_path / "project", {f"{name}.py": CODE for name in "abc"})
    with Engine.open(root=root) as engine:
        engine.index()
        reader = IndexReader(engine.store_dir, str(root))
        with reader.snapshot():
            [file, *_] = reader.listing()
            key = reader.terms([file.blob_id])[file.blob_id][0] >> 8
            assert reader.term_counts([key, key]) == {key: 3}
            assert reader.term_counts([key, 5]) == {key: 3, 5: 0}
        reader.close()

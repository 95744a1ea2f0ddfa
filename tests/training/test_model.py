"""Training and exporting: gradients, what a run learns, the package's files."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy", reason="training needs findling[training]")
sys.path.insert(0, str(Path(__file__).parents[2]))

from findling.embedding.bundled import BundledEmbedder
from training import export, train
from training.bag import bag, contrast
from training.dataset import SHARED_ROWS, dataset, save, vocabulary_words
from training.encoding import open_model
from training.pairs import Pair

SUBJECTS = (
    "door hinge",
    "bread oven",
    "river boat",
    "letter stamp",
    "garden spade",
    "piano key",
    "horse saddle",
    "snow sledge",
)


def pairs() -> list[Pair]:
    made = []
    for number in range(640):
        noun, tool = SUBJECTS[number % len(SUBJECTS)].split()
        query, body = f"how to mend a {noun}", f"def repair(): return {tool}.fix({number % 7})"
        made.append(Pair("comment", query, body, "repair", (), "src/shop.py", "python", f"some/repo{number % 2}"))
    return made


def test_the_gradient_is_that_of_the_loss() -> None:
    rng = np.random.default_rng(0)
    queries, passages = rng.standard_normal((2, 5, 8)).astype(np.float32)
    same = np.zeros((5, 5), bool)
    same[0, 1] = same[1, 0] = True
    found = contrast(queries, passages, 1.0, same)
    for gradient, part in ((found.queries, queries), (found.passages, passages)):
        for place in ((0, 0), (1, 3), (4, 7)):
            part[place] += 1e-2
            above = contrast(queries, passages, 1.0, same).loss
            part[place] -= 2e-2
            below = contrast(queries, passages, 1.0, same).loss
            part[place] += 1e-2
            assert gradient[place] == pytest.approx((above - below) / 2e-2, abs=2e-4)
    slope = (contrast(queries, passages, 1.01, same).loss - contrast(queries, passages, 0.99, same).loss) / 0.02
    assert found.scale == pytest.approx(slope, abs=2e-4)


def test_a_bag_weighs_repetitions_by_their_logarithm() -> None:
    made = bag(np.array([3, 3, 1, 0], np.int32), np.array([0, 0, 0, 2]), 3, 5).toarray()
    assert np.allclose(made, [[0, 1, 0, 1 + np.log(2), 0], [0] * 5, [1, 0, 0, 0, 0]])


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("work")
    (folder / "filtered.jsonl").write_text("".join(pair.line() + "\n" for pair in pairs()))
    arguments = ["--dimensions", "16", "--epochs", "20", "--batch", "64", "--rate", "0.02", "--rows", "300"]
    for name in ("first", "second"):
        train.main([str(folder), "--name", name, *arguments])
    return folder


def test_training_learns_what_belongs_together_and_is_repeatable(work: Path) -> None:
    first, second = (np.load(work / "models" / name / "table.npy") for name in ("first", "second"))
    assert np.allclose(first, second)
    encode = open_model(work / "models" / "first")
    asked = encode([f"how to mend a {subject.split()[0]}" for subject in SUBJECTS])
    found = encode([f"{subject.split()[1]}.fix()" for subject in SUBJECTS])
    assert (np.argmax(asked @ found.T, axis=1) == np.arange(len(SUBJECTS))).all()


def test_what_is_exported_opens_as_the_bundled_model(work: Path, tmp_path: Path) -> None:
    meta = export.export(work / "models" / "first", tmp_path, version="9", exponent=2.5)
    embedder = BundledEmbedder.open(tmp_path)
    texts = ["how to mend a door", "hinge.fix(3)", "snow 雪 xyzzy 12345"]
    assert np.abs(embedder.encode(texts) - open_model(work / "models" / "first")(texts)).max() < 0.03
    assert meta["similarity"]["exponent"] == 2.5 and json.loads((tmp_path / "meta.json").read_text()) == meta


def test_a_table_that_is_too_large_is_refused(work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "MAX_BYTES", 100)
    with pytest.raises(ValueError, match="train with fewer"):
        export.export(work / "models" / "first", tmp_path, version="9", exponent=1.0)


def test_pairs_of_repositories_held_out_are_not_trained_on(tmp_path: Path) -> None:
    made = pairs()
    name = sorted(train.HELD_OUT)[0]
    other = [Pair("comment", "zebra crossing over there", "white.stripes()", "", (), "a.py", "python", name)] * 128
    data = dataset([*made, *other])
    save(data, tmp_path / "data.npz")
    words = vocabulary_words(data, 300)
    settings = train.Settings(1, 8, len(words), 2.0, 64, 0.02)
    table, _ = train.train(data, words, settings)
    rows = train.as_rows(data, train.Vocabulary(words, SHARED_ROWS))
    start = train.first_table(rows, len(words) + SHARED_ROWS, 8, np.random.default_rng(1))
    assert np.array_equal(table[words.index("zebra")], start[words.index("zebra")])
    assert not np.array_equal(table[words.index("door")], start[words.index("door")])

"""Training and exporting: gradients, what a run learns, the package's files."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from findling.embedding.bundled import BundledEmbedder
from training import distil, evaluate, export, merge, teach, train
from training.__main__ import THREADS
from training.__main__ import main as training_main
from training.bag import bag, contrast, unit
from training.dataset import SHARED_ROWS, dataset, digest, open_dataset, save, vocabulary_words
from training.encoding import open_model
from training.pairs import Pair
from training.tables import evened, turned

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


@pytest.fixture(scope="module")
def taught(work: Path) -> Path:
    """A teacher that knows which tool belongs to which noun, and nothing else."""
    words = (work / "models" / "first" / "words.txt").read_text().split("\n")
    rng = np.random.default_rng(3)
    meanings = {word: rng.standard_normal(24) for word in words}
    for subject in SUBJECTS:
        noun, tool = subject.split()
        meanings[tool] = meanings[noun]
    texts = [f"the {word} of {subject}" for subject in SUBJECTS for word in subject.split()] * 80

    def vectors(said: list[str]) -> np.ndarray:
        sums = np.array([sum(meanings.get(word, np.zeros(24)) for word in text.split()) for text in said])
        return (sums / np.linalg.norm(sums, axis=1, keepdims=True)).astype(np.float32)

    made_of = digest(work / "filtered.jsonl")
    teach.save(teach.Lessons(words, vectors(words), texts, vectors(texts), made_of), work / "teacher.npz")
    distil.main([str(work), "--name", "general", "--dimensions", "16"])
    return work


def test_a_distilled_table_means_what_its_teacher_says(taught: Path) -> None:
    encode = open_model(taught / "models" / "general")
    nouns, tools = (encode([subject.split()[part] for subject in SUBJECTS]) for part in (0, 1))
    assert (np.argmax(nouns @ tools.T, axis=1) == np.arange(len(SUBJECTS))).all()


def test_lessons_come_back_as_they_were_kept(taught: Path) -> None:
    found = teach.load(taught / "teacher.npz")
    assert found.words == (taught / "models" / "first" / "words.txt").read_text().split("\n")
    assert len(found.texts) == len(found.text_vectors) and found.texts[0] == "the door of door hinge"
    assert np.allclose(np.linalg.norm(found.text_vectors, axis=1), 1, atol=1e-2)


def test_lessons_of_other_pairs_are_not_learned_from(taught: Path, tmp_path: Path) -> None:
    (tmp_path / "filtered.jsonl").write_text("".join(pair.line() + "\n" for pair in pairs()[:100]))
    (tmp_path / "teacher.npz").write_bytes((taught / "teacher.npz").read_bytes())
    with pytest.raises(ValueError, match="teach again"):
        distil.main([str(tmp_path), "--name", "general"])


def test_words_are_numbered_anew_when_the_pairs_are_others(tmp_path: Path) -> None:
    filtered, numbered = tmp_path / "filtered.jsonl", tmp_path / "dataset-1.npz"
    filtered.write_text("".join(pair.line() + "\n" for pair in pairs()[:40]))
    assert len(open_dataset(tmp_path, 1)) == 40
    before = numbered.stat().st_mtime_ns
    assert len(open_dataset(tmp_path, 1)) == 40 and numbered.stat().st_mtime_ns == before
    filtered.write_text("".join(pair.line() + "\n" for pair in pairs()[40:80]))  # of the same size
    assert len(open_dataset(tmp_path, 1)) == 40 and numbered.stat().st_mtime_ns > before
    save(dataset(pairs()[:7]), numbered)  # which says nothing of where it is from
    assert len(open_dataset(tmp_path, 1)) == 40
    filtered.unlink()
    with pytest.raises(ValueError, match="mine and filter first"):
        open_dataset(tmp_path, 1)


def test_every_step_computes_with_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in THREADS:
        monkeypatch.setenv(name, "7")
    monkeypatch.setattr(sys, "argv", ["training", "merge", "nowhere", "--name", "a", "--of", "nope"])
    with pytest.raises(SystemExit, match="training merge: there is no model 'nope' in nowhere/models"):
        training_main()
    assert {os.environ[name] for name in THREADS} == {"1"}


def test_too_few_pairs_for_a_batch_are_said(work: Path) -> None:
    with pytest.raises(ValueError, match="too few for batches"):
        train.main([str(work), "--name", "never", "--batch", "1024", "--rows", "300"])


def test_fewer_texts_than_a_batch_are_learned_from(taught: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distil, "BATCH", 10_000)
    distil.main([str(taught), "--name", "few", "--dimensions", "16"])
    assert np.isfinite(np.load(taught / "models" / "few" / "table.npy")).all()


def test_texts_for_the_teacher_are_none_of_those_held_out(tmp_path: Path) -> None:
    held_out = sorted(train.HELD_OUT)[0]
    made = [
        Pair("comment", f"what number {n} is for", "body()", "", (), "a.py", "python", name)
        for name in ("some/repo", held_out)
        for n in range(50 * (name == held_out), 50 * (name == held_out) + 50)
    ]
    made.append(Pair("heading", "How it is set up", "Write one line.", "", (), "a.md", "markdown", "some/repo"))
    (tmp_path / "pairs.jsonl").write_text("".join(pair.line() + "\n" for pair in made))
    texts = teach.chosen_texts(tmp_path / "pairs.jsonl", queries=40, passages=5, seed=1)
    assert len(set(texts)) == 26 and {"How it is set up", "Write one line."} <= set(texts)
    assert not any(f"number {n} " in text for text in texts for n in range(50, 100))


def test_training_can_start_from_a_table_and_runs_can_be_merged(taught: Path) -> None:
    arguments = ["--start", "general", "--epochs", "2", "--batch", "64", "--rate", "0.002"]
    for seed in ("1", "2"):
        train.main([str(taught), "--name", f"tuned-{seed}", "--seed", seed, *arguments])
    merge.main([str(taught), "--name", "final", "--of", "tuned-1", "--of", "tuned-2", "--of", "general=0.5"])
    start, tuned, final = (np.load(taught / "models" / name / "table.npy") for name in ("general", "tuned-1", "final"))
    assert start.shape == tuned.shape == final.shape and not np.allclose(tuned, start)
    encode = open_model(taught / "models" / "final")
    asked, found = (encode([subject.split()[part] for subject in SUBJECTS]) for part in (0, 1))
    assert (np.argmax(asked @ found.T, axis=1) == np.arange(len(SUBJECTS))).all()
    run = json.loads((taught / "models" / "final" / "run.json").read_text())
    assert [part["weight"] for part in run["of"]] == [1.0, 1.0, 0.5] and run["of"][0]["start"] == "general"


def test_tables_of_other_words_cannot_be_added_up(work: Path, tmp_path: Path) -> None:
    (work / "models" / "other").mkdir()
    for name in ("table.npy", "run.json"):
        (work / "models" / "other" / name).write_bytes((work / "models" / "first" / name).read_bytes())
    (work / "models" / "other" / "words.txt").write_text("a\nb")
    with pytest.raises(ValueError, match="same words"):
        merge.main([str(work), "--name", "never", "--of", "first", "--of", "other"])


def test_turning_keeps_cosines_where_nothing_is_cut() -> None:
    rng = np.random.default_rng(0)
    table = rng.standard_normal((50, 12)).astype(np.float32) @ rng.standard_normal((12, 30)).astype(np.float32)
    texts = bag(rng.integers(0, 50, 900).astype(np.int32), np.repeat(np.arange(90), 10), 90, 50)
    narrow, kept = turned(table, texts, 12)
    assert kept == pytest.approx(1.0, abs=1e-5) and narrow.shape == (50, 12)
    before, after = (unit(texts @ each)[0] for each in (table, narrow))
    assert np.allclose(before @ before.T, after @ after.T, atol=1e-4)


def test_evening_takes_away_what_all_texts_share_and_no_direction_stands_out() -> None:
    rng = np.random.default_rng(0)
    table = rng.standard_normal((500, 32)).astype(np.float32) * (0.8 ** np.arange(32)).astype(np.float32)
    own = table.copy()
    table[:, 5] = 50  # in every text
    own[:, 5] = 0
    texts = bag(rng.integers(0, 500, 900).astype(np.int32), np.repeat(np.arange(90), 10), 90, 500)
    even = evened(table, texts, seed=1)
    shared, left, without = (unit(texts @ each)[0] for each in (table, even, own))
    assert (shared @ shared.T).mean() > 0.9 > 0.1 > (left @ left.T).mean()
    assert np.corrcoef((left @ left.T).ravel(), (without @ without.T).ravel())[0, 1] > 0.95
    assert (even**2).mean(axis=0).max() < 6 * (even**2).mean() < (own**2).mean(axis=0).max()


def test_a_row_that_nothing_was_learned_for_gets_a_direction() -> None:
    rows = np.full((SHARED_ROWS + 4, 8), 3, np.int8)
    rows[-2] = 0
    filled = export.without_gaps(rows)
    assert np.array_equal(np.delete(filled, -2, axis=0), np.delete(rows, -2, axis=0))
    assert np.linalg.norm(filled[-2].astype(float)) == pytest.approx(3 * 8**0.5, rel=0.2)
    assert np.array_equal(export.without_gaps(rows), filled)


def test_what_is_exported_opens_as_the_bundled_model(work: Path, tmp_path: Path) -> None:
    meta = export.export(work / "models" / "first", tmp_path, version="9", exponent=2.5)
    embedder = BundledEmbedder.open(tmp_path)
    texts = ["how to mend a door", "hinge.fix(3)", "snow 雪 xyzzy 12345"]
    assert np.abs(embedder.encode(texts) - open_model(work / "models" / "first")(texts)).max() < 0.03
    assert meta["similarity"]["exponent"] == 2.5 and json.loads((tmp_path / "meta.json").read_text()) == meta


def test_a_table_that_is_too_large_is_refused(work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "MAX_BYTES", 100)
    with pytest.raises(ValueError, match="train with fewer"):
        export.export(work / "models" / "first", tmp_path / "out", version="9", exponent=1.0)
    assert not (tmp_path / "out").exists()


def test_what_a_table_is_made_from_is_listed_beside_it(work: Path, tmp_path: Path) -> None:
    held_out = sorted(train.HELD_OUT)[0]
    arguments = [str(work), "--name", "first", "--out", str(tmp_path), "--version", "9", "--exponent", "2"]
    with pytest.raises(ValueError, match=r"manifest\.json"):
        export.main(arguments)
    mined = [
        {"repository": name, "commit": f"c{pairs}", "licence": "MIT", "pairs": pairs}
        for name, pairs in (("some/repo0", 320), ("some/repo1", 7), (held_out, 4))
    ]
    (work / "manifest.json").write_text(json.dumps({"mined": mined}))
    leaked = [{"repository": name, "text_of": "a", "pairs": n} for name, n in (("some/repo0", 20), ("some/repo1", 7))]
    (work / "leaks.json").write_text(json.dumps({"from": leaked}))
    export.main(arguments)
    export.main([*arguments, "--sources", str(tmp_path / "other.tsv")])
    rows = [line.split("\t") for line in (tmp_path / "sources.tsv").read_text().splitlines()]
    assert rows[1:] == [["some/repo0", "c320", "MIT", "300", "trained on"], [held_out, "c4", "MIT", "4", "held out"]]
    assert rows[0] == ["repository", "commit", "licence", "pairs", "use"]
    assert (tmp_path / "other.tsv").read_bytes() == (tmp_path / "sources.tsv").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "say what to ask"),
        (["--queries", "q.jsonl"], "--queries needs --corpora"),
        (["--queries", "q.jsonl", "--corpora", "."], "--run, a file to write"),
        (["--held-out", "."], "is no model"),
    ],
)
def test_measuring_says_what_is_missing(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        evaluate.main([str(tmp_path), *arguments])
    assert message in capsys.readouterr().err


def test_a_run_goes_on_from_a_model_that_is_there_and_as_it_is(
    taught: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for wrong in (["--dimensions", "64"], ["--rows", "17"]):
        with pytest.raises(SystemExit):
            train.main([str(taught), "--name", "never", "--start", "general", *wrong])
        assert f"{wrong[0]} {wrong[1]}: the model 'general' to start from has" in capsys.readouterr().err
    with pytest.raises(ValueError, match=r"no model 'nope' in .*, but .*first.*general"):
        train.main([str(taught), "--name", "never", "--start", "nope"])
    with pytest.raises(SystemExit):
        merge.main([str(taught), "--name", "never", "--of", "first=much"])
    assert "'much' is no weight" in capsys.readouterr().err


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

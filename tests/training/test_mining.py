"""Making the bundled model, up to the numbers: mirrors, licences, pairs, leaks, vocabulary."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from findling.embedding.bundled_files import Vocabulary
from findling.model.tokenizer import words
from training import leaks, mine
from training.code_pairs import clean, code_pairs
from training.dataset import (
    LEAST_WORD_COUNT,
    SHARED_ROWS,
    dataset,
    in_rows,
    load,
    rows_of_words,
    save,
    vocabulary_words,
    word_counts,
)
from training.mirrors import find_mirrors
from training.pairs import read_pairs, worth_asking
from training.prose_pairs import prose_pairs

MIT = (
    "MIT License\n\nPermission is hereby granted, free of charge, to any person obtaining a copy\nof this software and "
    'associated documentation files (the "Software"), to deal'
)
GPL = "GNU GENERAL PUBLIC LICENSE\nVersion 3, 29 June 2007"

CODE = '''"""Opening hours of the public library in town."""
import time


# Waits a little longer after every failed attempt.
def back_off(attempt):
    delay = min(2 ** attempt, 60)
    time.sleep(delay)
    return delay


class Door:
    def open_slowly(self, hinge):
        """Turn the hinge until the door stands open."""
        while not hinge.wide_open():
            hinge.turn(1)
        return hinge.position_in_degrees()
'''

GUIDE = """# Guide

## How do I keep my bread fresh?

Wrap the loaf in linen and put it on the cut side. Never put it into the fridge, where it dries out within one day.
A clay pot with a lid keeps the crust for almost a week if you leave a small gap for the air to go in and out.
Some bakers say that a slice of apple in the same pot helps, which nobody has ever measured with any care.
Whoever bakes on Mondays and eats until Friday may as well freeze one half of the loaf while it is still a bit warm.
"""


def git(folder: Path, *args: str) -> None:
    author = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *author, *args], cwd=folder, check=True, capture_output=True)


def repository(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git(folder, "init")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "all of it")


@pytest.fixture(scope="module")
def mirrors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mirrors")
    files = {"src/town.py": CODE, "docs/guide.md": GUIDE, "vendor/town.py": CODE}
    repository(folder / "some+library", {"LICENSE": MIT, **files})
    repository(folder / "some" / "copyleft", {"COPYING": GPL, **files})
    repository(folder / "some" / "nothing", files)
    repository(folder / "pallets" / "click", {"LICENSE": MIT, **files})
    repository(folder / "a-fork-of" / "click", {"LICENSE": MIT, **files})
    return folder


@pytest.fixture(scope="module")
def work(mirrors: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("work")
    mine.main([str(mirrors), "--out", str(out)])
    return out


def test_mirrors_are_found_by_either_name(mirrors: Path) -> None:
    assert [mirror.name for mirror in find_mirrors(mirrors)] == [
        "a-fork-of/click", "pallets/click", "some/copyleft", "some/library", "some/nothing"
    ]  # fmt: skip


def test_the_manifest_says_what_was_taken_and_why_not(work: Path) -> None:
    manifest = json.loads((work / "manifest.json").read_text())
    (mined,) = manifest["mined"]
    assert mined["repository"] == "some/library" and mined["licence"] == "MIT" and len(mined["commit"]) == 40
    assert mined["pairs"] == manifest["pairs"] == len((work / "pairs" / "some+library.jsonl").read_text().splitlines())
    why = {record["repository"]: record["left_out"] for record in manifest["left_out"]}
    assert why["some/copyleft"] == why["some/nothing"] == "its licence files do not say that it is permissive"
    assert "judged" in why["pallets/click"] and "judged" in why["a-fork-of/click"]


def test_comments_docstrings_headings_and_sentences_become_pairs(work: Path) -> None:
    pairs = {(pair.kind, pair.query): pair for pair in read_pairs(work / "pairs" / "some+library.jsonl")}
    commented = pairs["comment", "Waits a little longer after every failed attempt."]
    assert commented.body.startswith("def back_off") and commented.body.endswith("return delay")
    assert commented.name == "back_off" and commented.path == "src/town.py"
    documented = pairs["docstring", "Turn the hinge until the door stands open."]
    assert "Turn the hinge" not in documented.body and "hinge.turn(1)" in documented.body
    assert documented.context == ("Door",)
    answered = pairs["question", "How do I keep my bread fresh?"]
    assert answered.body.startswith("Wrap the loaf") and answered.context == ("Guide",)
    (cloze,) = [pair for pair in pairs.values() if pair.kind == "cloze"]
    assert cloze.query not in cloze.body
    assert not any(path.startswith("vendor/") for path in {pair.path for pair in pairs.values()})


def test_mining_twice_gives_the_same_bytes(mirrors: Path, work: Path, tmp_path: Path) -> None:
    mine.main([str(mirrors), "--out", str(tmp_path)])
    for name in ("manifest.json", "pairs/some+library.jsonl"):
        assert (tmp_path / name).read_bytes() == (work / name).read_bytes()


def test_text_of_judged_corpora_is_left_out_and_counted(work: Path, tmp_path: Path) -> None:
    judged = tmp_path / "judged" / "bakery"
    judged.mkdir(parents=True)
    # Indented otherwise, behind comment marks: still the same lines.
    (judged / "README").write_text("\n".join(f"  // {line}" for line in GUIDE.splitlines()))
    leaks.main([str(work), "--against", str(tmp_path / "judged")])
    report = json.loads((work / "leaks.json").read_text())
    kept = list(read_pairs(work / "filtered.jsonl"))
    everything = list(read_pairs(work / "pairs" / "some+library.jsonl"))
    assert report["pairs"] == len(everything) and report["left_out"] == len(everything) - len(kept) == 2
    assert report["from"] == [{"repository": "some/library", "text_of": "bakery", "pairs": 2}]
    assert {pair.path for pair in everything} - {pair.path for pair in kept} == {"docs/guide.md"}


@pytest.mark.parametrize(
    ("language", "text", "query", "begins"),
    [
        ("rust", "/// Splits a line at its first blank.\n///\n/// # Panics\n/// Never.\n#[inline]\nfn split_line(line: &str) -> (&str, &str) {\n    let at = line.find(' ').unwrap_or(line.len());\n    line.split_at(at)\n}\n", "Splits a line at its first blank.", "#[inline]\nfn split_line"),  # noqa: E501
        ("typescript", "describe('a door', () => {\n  it('opens when the bell was rung twice', async () => {\n    const door = await ringTheBell(2)\n    expect(door.isOpen()).toBe(true)\n  })\n})\n", "opens when the bell was rung twice", "    const door"),  # noqa: E501
        ("elixir", 'defmodule Door do\n  @doc """\n  Opens the door for whoever rings.\n  """\n  @spec open(t) :: t\n  def open(door) do\n    door |> Map.put(:open, true) |> Map.put(:rung, false) |> notify_everybody_inside()\n  end\nend\n', "Opens the door for whoever rings.", "  def open"),  # noqa: E501
        ("c", "/*\n * Count the bits that are set in a word.\n */\nstatic int\ncount_bits(unsigned word)\n{\n    int found = 0;\n    for (; word; word &= word - 1)\n        found++;\n    return found;\n}\n", "Count the bits that are set in a word.", "static int\ncount_bits"),  # noqa: E501
    ],
)  # fmt: skip
def test_code_in_other_languages(language: str, text: str, query: str, begins: str) -> None:
    found = {pair.query: pair for pair in code_pairs(text, language)}
    assert found[query].body.startswith(begins)


def test_a_comment_says_its_first_paragraph() -> None:
    lines = ["/**", " * Opens a {@link Door}.", " *", " * Second paragraph.", " * @param door which", " */"]
    assert clean(lines) == "Opens a Door. Second paragraph."
    assert clean([*lines[:2], " * It goes on a while.", *lines[2:]]) == "Opens a Door. It goes on a while."


@pytest.mark.parametrize(
    "text", ["TODO: all of this", "x = y[0] + (z * 2)", "one", "Copyright 2020 by somebody", "======"]
)
def test_what_nobody_asks_is_no_query(text: str) -> None:
    assert not worth_asking(text)


def test_a_question_may_be_in_chinese() -> None:
    assert worth_asking("如何安装这个软件包")


def test_short_headings_take_their_parents_along() -> None:
    text = f"# Baking bread\n\n## Options\n\n{GUIDE}"
    assert "Baking bread Options" not in {pair.query for pair in prose_pairs(text, "markdown")}  # nothing below it
    text = text.replace("# Guide\n\n## How do I keep my bread fresh?\n\n", "")
    assert "Baking bread Options" in {pair.query for pair in prose_pairs(text, "markdown")}


def test_numbers_of_words_survive_and_become_rows(work: Path, tmp_path: Path) -> None:
    pairs = list(read_pairs(work / "pairs" / "some+library.jsonl"))
    data = dataset(pairs)
    save(data, tmp_path / "data.npz")
    again = load(tmp_path / "data.npz")
    assert again.words == data.words and again.kinds == data.kinds and (again.bodies.flat == data.bodies.flat).all()
    known = vocabulary_words(data, 500)
    assert known == vocabulary_words(again, 500) and len(known) == len(set(known)) <= 500
    assert "posit" not in known  # of "position", which is met once
    vocabulary = Vocabulary(known, SHARED_ROWS)
    rows = in_rows(data.queries, rows_of_words(vocabulary, data), 4)
    assert len(rows) == len(pairs) and max(rows.ends[1:] - rows.ends[:-1]) == 4
    counts = dict(zip(data.words, word_counts(data).tolist(), strict=True))
    said = [word for word in words(pairs[0].query) if counts[word] >= LEAST_WORD_COUNT]
    assert rows.flat[: rows.ends[1]].tolist() == [row for word in said for row in vocabulary.rows(word)][:4]

"""Leaving out what stands in judged text: what counts as judged, and which pairs leak."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from training import leaks
from training.code_pairs import code_pairs
from training.judged import judged_text, line_keys, query_key
from training.pairs import Pair, read_pairs

CODE = """# Waits a little longer after every failed attempt.
def back_off(attempt):
    delay_in_seconds = min(2 ** attempt, 60)
    time.sleep(delay_in_seconds + random.random())
    return delay_in_seconds
"""

GUIDE = """# Guide

Wrap the loaf in linen and put it on the cut side. Never put it into the fridge, where it dries out within one day.
A clay pot with a lid keeps the crust for almost a week if you leave a small gap for the air to go in and out.
Some bakers say that a slice of apple in the same pot helps, which nobody has ever measured with any care.
"""


def git(folder: Path, *args: str) -> None:
    author = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *author, *args], cwd=folder, check=True, capture_output=True)


def repository(folder: Path, text: str) -> None:
    folder.mkdir(parents=True)
    (folder / "guide.md").write_text(text)
    git(folder, "init")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "all of it")


def judged_pair(body: str, query: str = "an unlike question", path: str = "a.py") -> Pair:
    return Pair("comment", query, body, "", (), path, "python", "x/y")


def test_of_a_folder_of_mirrors_those_count_that_may_not_be_mined(tmp_path: Path) -> None:
    repository(tmp_path / "a-fork-of" / "click", GUIDE)
    repository(tmp_path / "some+library", GUIDE.replace("bread", "cheese"))
    (tmp_path / "fetch.sh").write_text("# brings everything that is listed here to this machine\n")
    judged = judged_text([tmp_path])
    assert judged.folders[0]["mirrors"] == 1 and judged.folders[0]["of_mirrors"] == 2
    copied = leaks.suspect(judged_pair(GUIDE), 0, judged)
    assert copied and copied.why(frozenset())[0] == "lines"
    assert judged.source_of(copied.lines[0]) == "a-fork-of/click"
    assert leaks.suspect(judged_pair("def nothing_of_this():\n    return 'is judged'"), 0, judged) is None


def test_plain_corpora_count_beside_mirrors(tmp_path: Path) -> None:
    plain = tmp_path / "judged" / "town" / "src" / "town.py"
    plain.parent.mkdir(parents=True)
    plain.write_text(CODE)
    repository(tmp_path / "judged" / "clone", GUIDE)
    repository(tmp_path / "judged" / "town" / "nested", GUIDE.replace("the", "a"))
    judged = judged_text([tmp_path / "judged"])
    assert sorted(judged.corpora) == ["clone", "town", "town/nested"]
    for body in (GUIDE, CODE):
        found = leaks.suspect(judged_pair(body), 0, judged)
        assert found and found.why(frozenset())[0] == "lines"


def test_a_folder_without_judged_text_is_an_error(tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "pairs").mkdir(parents=True)
    (work / "pairs" / "x+y.jsonl").write_text(judged_pair(GUIDE).line() + "\n")
    (tmp_path / "judged").mkdir()
    (tmp_path / "judged" / "town.py").write_text(CODE)
    (tmp_path / "empty").mkdir()
    with pytest.raises(SystemExit, match=f"no judged text is in {tmp_path / 'empty'}"):
        leaks.main([str(work), "--against", str(tmp_path / "judged"), "--against", str(tmp_path / "empty")])
    with pytest.raises(SystemExit, match="is no folder"):
        leaks.main([str(work), "--against", str(tmp_path / "nowhere")])
    assert not (work / "filtered.jsonl").exists()


def test_a_judged_mirror_without_a_commit_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "pallets" / "click").mkdir(parents=True)
    git(tmp_path / "pallets" / "click", "init")
    with pytest.raises(ValueError, match=r"pallets/click cannot be read: it has no commit"):
        judged_text([tmp_path])


SHORT_LINES = """# Adds what is due on a shelf of the library
# to the fines of everybody who has a card.
def add(shelf, cards):
    for card in cards:
        due = shelf.due(card)
        if due > 0:
            card.fine += due
    return cards
"""


def test_short_copies_leak_by_their_query_or_their_whole_passage(tmp_path: Path) -> None:
    (tmp_path / "library.py").write_text(SHORT_LINES)
    judged = judged_text([tmp_path])
    (found,) = code_pairs(SHORT_LINES, "python")
    assert "shelf of the library to the fines" in found.query
    for body, query, why in (("pass", found.query, "query"), (found.body, "another", "passage")):
        suspect = leaks.suspect(judged_pair(body, query), 0, judged)
        assert suspect and suspect.why(frozenset())[0] == why
    assert leaks.suspect(judged_pair(found.body.replace("due", "owed"), "another"), 0, judged) is None


@pytest.mark.parametrize(
    "line",
    [
        "{-# LANGUAGE ScopedTypeVariables, OverloadedStrings #-}", "import qualified Data.Map.Strict as Map (insert)",
        "from findling.model.tokenizer import words_of_everything", "#include <some/very/long/header_name_of_all.h>",
        'import { something, otherThing } from "./over/there"', "use Symfony\\Component\\Console\\InputInterface;",
        "// Copyright 2019 by the authors of this program", "package org.example.library.of.the.whole.town;",
        "Licensed under the Apache License, Version 2.0 (the",
    ],
)  # fmt: skip
def test_lines_that_everybody_has_say_nothing(line: str) -> None:
    assert line_keys(f"    {line}\n") == [] and query_key(line) == 0


@pytest.mark.parametrize(
    "line",
    ["# use the following function where it is slow", "import this only when somebody asks for it, never before"],
)
def test_sentences_that_begin_like_an_import_are_lines(line: str) -> None:
    assert len(line_keys(line)) == 1


def test_a_file_of_which_a_third_leaks_is_left_out_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "pairs").mkdir()
    (tmp_path / "judged").mkdir()
    bodies = [f"def turn_{n}(wheel):\n    return wheel.turned_by_so_many_degrees({n})\n" * 2 for n in range(9)]
    (tmp_path / "judged" / "wheel.py").write_text("".join(bodies[:3]))
    everywhere = "We pledge to make our community a welcome place for everybody who wants it."
    (tmp_path / "judged" / "pledge.md").write_text(everywhere)
    made = [judged_pair(body, path=path) for path, few in (("copy.py", bodies), ("own.py", bodies[2:])) for body in few]
    made = [replace(pair, query=f"number {n} of them") for n, pair in enumerate(made)]
    (tmp_path / "pairs" / "x+y.jsonl").write_text("".join(pair.line() + "\n" for pair in made))
    for n in range(leaks.COMMON_REPOSITORIES + 1):
        pledge = replace(judged_pair("We do.", everywhere), repo=f"some/repo{n}")
        (tmp_path / "pairs" / f"some+repo{n}.jsonl").write_text(pledge.line() + "\n")
    leaks.main([str(tmp_path), "--against", str(tmp_path / "judged")])
    report = json.loads((tmp_path / "leaks.json").read_text())
    kept = [pair for pair in read_pairs(tmp_path / "filtered.jsonl") if pair.repo == "x/y"]
    assert {pair.path for pair in kept} == {"own.py"} and len(kept) == 6  # one of seven leaks there
    assert report["why"] == {"lines": 4, "rest of a copied file": 6} and report["left_out"] == 10
    assert report["copies"] == [{"repository": "x/y", "path": "copy.py", "pairs": 9}]
    assert report["common"] == 1 and report["pairs"] - report["left_out"] - len(kept) == leaks.COMMON_REPOSITORIES + 1

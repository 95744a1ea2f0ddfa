"""``findling grep`` prints what ripgrep prints: recorded answers of ripgrep (`benchmarks/grep_letters.py --record`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import grep_tree
from findling.faces.cli.main import main

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "grep_letters.json").read_text())


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("letters").resolve()
    grep_tree.lay_out(root)
    return root


def test_every_question_was_recorded() -> None:
    assert [answer["words"] for answer in RECORDED["answers"]] == grep_tree.QUESTIONS


@pytest.mark.parametrize("answer", RECORDED["answers"], ids=lambda answer: " ".join(answer["words"]))
def test_a_letter_means_what_it_means_to_ripgrep(
    answer: dict[str, Any], tree: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tree)
    # Lines around matches stand below their path otherwise.
    status = main(["grep", "--no-heading", *answer["words"]])
    assert (capfd.readouterr().out, status) == (answer["out"], answer["status"])
    assert not (tree / ".findling").exists()

"""What findling prints about itself, for reports that are given: plain, on a terminal, as JSON."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from findling.faces.cli.terminal.json import JsonView
from findling.faces.cli.terminal.lines import Places
from findling.faces.cli.terminal.plain import PlainView
from findling.model.reports import (
    Change,
    Check,
    Compared,
    Comparison,
    Diagnosis,
    Estimate,
    Evaluation,
    Explanation,
    FlagScores,
    Latency,
    Reliability,
    Report,
    Scores,
)

ROOT = Path("/repo")
EXPLAINED = Explanation(
    path="src/\x1b]0;x\x07y.py",
    kind="file",
    indexed=False,
    in_index=True,
    root="/repo",
    reason="ignored",
    detail="*.py (.gitignore line 2)",
    remedy="Remove that line.",
)
FOLDER = Explanation(
    path="src", kind="folder", indexed=True, in_index=True, root="/repo", files=1200, waiting=2, left_out={"binary": 3}
)
DIAGNOSIS = Diagnosis(
    False,
    (
        Check("ollama", "off", "not detected (semantic search disabled)"),
        Check("sqlite", "broken", "no\nlog", "pip install x"),
        Check("git", "ok", "2.40.0"),
    ),
)
SURE = Estimate(0.5, 0.25, 0.75)
SCORES = Scores(3, SURE, SURE, SURE, SURE, Estimate(1.0, 1.0, 1.0), SURE)
ALONE = Scores(1, *[Estimate(1.0, None, None)] * 6)
EVALUATION = Evaluation(
    rule="spans",
    all=SCORES,
    groups={"set: docs": ALONE},
    repositories={"r": Scores(0, *[Estimate(None, None, None)] * 6)},
    without_a_line=0,
    flag=FlagScores(2, SURE, 1, SURE, None),
)
EVALUATED = Report("mode=auto", EVALUATION)


def plain(terminal: bool = False) -> tuple[PlainView, io.StringIO]:
    out = io.StringIO()
    return PlainView(out, Places(ROOT, ROOT), terminal=terminal), out


def test_an_explanation_is_keys_and_values() -> None:
    view, out = plain(terminal=True)
    view.explanation(EXPLAINED)
    assert out.getvalue() == (
        "file: src/␛]0;x␇y.py\nindexed: no\nreason: ignored\nbecause: *.py (.gitignore line 2)\n"
        "remedy: Remove that line.\nroot: /repo\n"
    )
    view, out = plain()
    view.explanation(FOLDER)
    assert out.getvalue() == (
        "folder: src\nindexed: yes\nfiles: 1,200 indexed; 2 not indexed yet; left out: 3 binary\nroot: /repo\n"
    )


@pytest.mark.parametrize(("state", "words"), [("ok", "running"), ("off", "not detected (semantic search disabled)")])
def test_the_line_about_ollama_is_fixed(state: str, words: str) -> None:
    from findling.faces.cli.terminal.pretty import PrettyView

    diagnosis = Diagnosis(True, (Check("ollama", state, words),))  # type: ignore[arg-type]
    expected = {"ok": "✓ ollama: running\n", "off": "○ ollama: not detected (semantic search disabled)\n"}[state]
    view, out = plain()
    view.diagnosis(diagnosis)
    assert out.getvalue() == expected
    styled = io.StringIO()
    PrettyView(styled, Places(ROOT, ROOT)).diagnosis(diagnosis)
    assert styled.getvalue() == expected


def test_remedies_stand_under_what_they_help() -> None:
    view, out = plain()
    view.diagnosis(DIAGNOSIS)
    assert out.getvalue().splitlines()[1:] == ["✗ sqlite: no␊log", "  pip install x", "✓ git: 2.40.0"]


def test_scores_are_a_table() -> None:
    view, out = plain()
    view.evaluation(EVALUATED)
    heading, everything, group, repository, _, flag = out.getvalue().splitlines()
    assert heading.split() == "queries NDCG@10 [95 %] files [95 %] MRR [95 %] recall@10 [95 %] hit@1".split()
    assert everything.split() == ["all", "3", *["0.5000", "[0.2500,", "0.7500]"] * 4, "1.0000"]
    assert group.split() == ["set:", "docs", "1", *["1.0000"] * 5]
    assert repository.split() == ["repository:", "r", "0", *["-"] * 5]
    assert flag.startswith(
        "low confidence: flagged 0.5000 [0.2500, 0.7500] of 2 queries without an answer, and wrongly"
    )
    assert flag.endswith("precision -")


def test_what_is_compared_and_stated_are_tables_of_their_own() -> None:
    evaluation = replace(
        EVALUATION, flag=None, latency=Latency(3.25, 17.5), reliability=(Reliability(0.5, 0.65, 3, 0.6, SURE, SURE),)
    )
    difference = Comparison(Estimate(-0.25, -0.5, 0.125), 1, 2, 3, (Change("q", "r", "text", 0.0, 1.0),))
    compared = Compared("mode=keyword", EVALUATION, difference)
    report = Report("mode=auto", evaluation, (compared,), ("out/run\n.jsonl",), ("commits: 3 of 9",))
    view, out = plain()
    view.evaluation(report)
    blocks = [block.splitlines() for block in out.getvalue().split("\n\n")]
    assert [len(block) for block in blocks] == [4, 2, 3, 2]
    assert blocks[1][1].split() == ["0.50", "to", "0.65", "3", "0.600", *["0.5000", "[0.2500,", "0.7500]"] * 2]
    assert blocks[2][1].split() == ["mode=auto", "0.5000", "[0.2500,", "0.7500]", "3.2", "ms", "17.5", "ms"]
    assert blocks[2][2].split() == ("mode=keyword 0.5000 [0.2500, 0.7500] -0.2500 [-0.5000, +0.1250] 1 2 3 - -".split())
    assert blocks[3] == ["commits: 3 of 9", "written: out/run␊.jsonl"]
    as_json = io.StringIO()
    JsonView(as_json, ROOT).evaluation(report)
    answer = json.loads(as_json.getvalue())
    assert answer["rule"] == "spans" and answer["compared"][0]["comparison"]["changes"][0]["query"] == "text"
    assert answer["latency"] == {"p50_ms": 3.25, "p95_ms": 17.5}


def test_a_terminal_shows_all_reports() -> None:
    from findling.faces.cli.terminal.pretty import PrettyView

    out = io.StringIO()
    view = PrettyView(out, Places(ROOT, ROOT))
    view.explanation(EXPLAINED)
    view.diagnosis(DIAGNOSIS)
    view.evaluation(EVALUATED)
    text = out.getvalue()
    assert "\x1b]0;x" not in text and "␛]0;x␇y.py" in text
    assert "✗ sqlite" in text and "0.5000 [0.2500, 0.7500]" in text


def test_reports_as_json() -> None:
    for name, report in (("explanation", EXPLAINED), ("diagnosis", DIAGNOSIS), ("evaluation", EVALUATED)):
        out = io.StringIO()
        getattr(JsonView(out, ROOT), name)(report)
        answer = json.loads(out.getvalue())
        assert answer["root"] == "/repo"
    assert answer["repositories"]["r"]["ndcg"] == {"value": None, "low": None, "high": None}

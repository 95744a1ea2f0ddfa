"""Judged queries from a real process: the run that is written, the numbers that are printed, and what can go wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_cli import FILES, findling, write

from findling.faces.cli import main as cli

Ran = subprocess.CompletedProcess[str]

CLIENT = {"path": "src/http/client.py", "start_line": None, "end_line": None}
BY_FILE: list[dict[str, Any]] = [
    {
        "query_id": "shop#0",
        "repo": "shop",
        "query": "retry_failed",
        "category": "symbol",
        "language": "python",
        "relevant": [CLIENT],
    },
    {
        "query_id": "notes#0",
        "repo": "notes",
        "query": "how long bread dough rests",
        "category": "semantic",
        "language": "markdown",
        "relevant": [{"path": "bread.md"}, {"path": "gone.md"}],
    },
    {
        "query_id": "shop#1",
        "repo": "shop",
        "query": "total_with_tax",
        "category": "semantic",
        "language": "python",
        "relevant": [{"path": "src/billing/invoice.py", "start_line": 6, "end_line": 9}],
    },
]
BY_SPAN: list[dict[str, Any]] = [
    {
        "id": "n1",
        "repo": "notes",
        "query": "how long bread dough rests",
        "set": "docs",
        "kind": "own",
        "relevant": [{"path": "bread.md", "start_line": 3, "end_line": 5}],
    },
    {
        "id": "n2",
        "repo": "notes",
        "query": "zzqx wvut",
        "set": "no_answer",
        "kind": "no_answer",
        "relevant": [],
    },
    {
        "id": "s1",
        "repo": "shop",
        "query": "emptyCart",
        "set": "code",
        "kind": "exact",
        "relevant": [{"path": "web/cart.ts", "start_line": 3, "end_line": 5}],
    },
]
NOTES = {
    "bread.md": "# Bread\n\n## Resting\n\nThe dough rests for two hours under a cloth.\n",
    "soup.md": "# Soup\n\nBoil the water, add salt.\n",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home").resolve()


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two repositories inside a repository that would leave out all that they have."""
    folder = tmp_path_factory.mktemp("judged").resolve()
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    write(folder, {".gitignore": "*.py\n*.md\n*.ts\n", "findling.toml": "[index]\nexclude = ['*']\n"})
    write(folder / "corpora/shop", FILES)
    write(folder / "corpora/notes", NOTES)
    return folder / "corpora"


def lines(path: Path, objects: list[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(item)}\n" for item in objects))
    return path


@pytest.fixture
def evaluate(corpora: Path, home: Path, tmp_path: Path) -> Callable[..., Ran]:
    def evaluate(queries: list[dict[str, Any]], *arguments: str) -> Ran:
        file = lines(tmp_path / "queries.jsonl", queries)
        command = ("eval", str(file), "--corpora", str(corpora), "--run", str(tmp_path / "run.jsonl"), *arguments)
        return findling(*command, cwd=tmp_path, home=home)

    return evaluate


def run_lines(tmp_path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]


def test_the_run_has_a_line_for_each_query(evaluate: Callable[..., Ran], corpora: Path, tmp_path: Path) -> None:
    ran = evaluate(BY_FILE)
    assert ran.returncode == 0, ran.stderr
    written = run_lines(tmp_path)
    assert [line["query_id"] for line in written] == ["shop#0", "shop#1", "notes#0"]  # repository by repository
    for line in written:
        assert line["id"] == line["query_id"] and line["low_confidence"] is False
        paths = [place["path"] for place in line["results"]]
        assert len(set(paths)) == len(paths)
        for place in line["results"]:
            assert {"path", "start_line", "end_line", "score"} <= set(place)
            assert 1 <= place["start_line"] <= place["end_line"] and 0 <= place["score"] <= 1
            assert (corpora / line["repo"] / place["path"]).is_file()
    assert written[0]["repo"] == "shop" and written[0]["query"] == "retry_failed"
    assert written[0]["results"][0]["path"] == "src/http/client.py"
    # On a slow machine there is progress as well.
    progress = re.compile(r"[A-Z][a-z]+: \d+ of \d+ (files?|queries)")
    told = [line for line in ran.stderr.splitlines() if not progress.fullmatch(line)]
    assert len(told) == 2
    for line, files in zip(told, ("shop: 6", "notes: 2"), strict=True):
        assert re.fullmatch(rf"{files} files, indexed in .*; \d quer(y|ies)", line)


@pytest.mark.parametrize("option", ["--run", "--corpora", "--plots"])
def test_a_path_that_no_system_takes_is_said_in_words(
    evaluate: Callable[..., Ran], tmp_path: Path, option: str
) -> None:
    ran = evaluate(BY_FILE, option, "x" * 300)
    assert ran.returncode == 2
    said = "There is no folder" if option == "--corpora" else "File name too long"
    assert said in ran.stderr and "unexpected" not in ran.stderr


def test_a_long_query_is_cut_and_told_of(evaluate: Callable[..., Ran], tmp_path: Path) -> None:
    long = {**BY_FILE[0], "query": "retry_failed " + "x" * 100_000}
    ran = evaluate([long, *BY_FILE[1:]])
    assert ran.returncode == 0, ran.stderr
    assert "note: only the first 100,000 characters of shop#0 were searched for\n" in ran.stderr
    assert run_lines(tmp_path)[0]["results"][0]["path"] == "src/http/client.py"
    assert "100,000" not in evaluate(BY_FILE).stderr


def test_the_table_is_worked_out_by_hand(evaluate: Callable[..., Ran]) -> None:
    rows = {re.split(r"  +", line)[0]: re.split(r"  +", line)[1:] for line in evaluate(BY_FILE).stdout.splitlines()}
    assert rows["repository: shop"] == [
        "2",
        "1.0000 [1.0000, 1.0000]",
        "1.0000 [1.0000, 1.0000]",
        "1.0000 [1.0000, 1.0000]",
        "1.0000",
    ]
    # One of two targets at the top: 1 / (1 + 1/log2(3)); the headline is the mean of both repositories.
    assert rows["repository: notes"] == ["1", "0.6131", "1.0000", "0.5000", "1.0000"]
    assert rows["all"][0] == "3" and rows["all"][1].startswith("0.8066 [") and rows["all"][3].startswith("0.7500 [")
    assert {"kind: symbol", "kind: semantic", "language: python", "language: markdown"} < set(rows)


def test_spans_and_queries_without_an_answer(evaluate: Callable[..., Ran], tmp_path: Path) -> None:
    ran = evaluate(BY_SPAN, "--json")
    assert ran.returncode == 0, ran.stderr
    numbers = json.loads(ran.stdout)
    assert numbers["rule"] == "spans" and numbers["all"]["queries"] == 2
    assert numbers["all"]["ndcg"] == {"value": 1.0, "low": 1.0, "high": 1.0}
    assert numbers["flag"]["no_answer"] == 1 and numbers["flag"]["recall"]["value"] == 1.0
    assert numbers["flag"]["false_alarm"]["value"] == 0.0
    assert {line["id"]: line["low_confidence"] for line in run_lines(tmp_path)} == {
        "n1": False,
        "n2": True,
        "s1": False,
    }
    plain = evaluate(BY_SPAN)
    assert "low confidence: flagged 1.0000 of 1 query without an answer" in plain.stdout


def test_options(evaluate: Callable[..., Ran], tmp_path: Path) -> None:
    ran = evaluate(BY_FILE, "--repo", "notes", "--mode", "keyword", "--limit", "30")
    assert ran.returncode == 0 and [line["repo"] for line in run_lines(tmp_path)] == ["notes"]
    ran = evaluate(BY_FILE, "--repo", "other")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == "findling: No query asks about 'other'. There are: notes, shop.\n"
    assert evaluate(BY_FILE, "--limit", "19").returncode == 2
    assert evaluate([]).returncode == 1


def test_a_setting_of_options_leaves_the_index_of_the_reported_one_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "work"))
    steps = [f"Wait {minute} minutes before the oven is opened.\n" for minute in range(40)]
    guide = "\n".join(["# Guide\n", *steps, "How long bread dough rests depends on the flour.\n", *steps])
    corpora = tmp_path / "corpora"
    write(corpora / "notes", {**NOTES, "guide.md": guide})
    lines(tmp_path / "q.jsonl", [BY_FILE[1]])
    command = ("eval", str(tmp_path / "q.jsonl"), "--corpora", str(corpora), "--run", "run.jsonl")

    def answers(name: str) -> list[dict[str, Any]]:
        return [{**json.loads(line), "took_ms": 0} for line in Path(name).read_text().splitlines()]

    def databases(folder: Path) -> dict[str, int]:
        return {path.parent.name: path.stat().st_ino for path in folder.rglob("index.db")}

    assert cli.main(command) == 0
    plain, index = answers("run.jsonl"), databases(corpora)
    settings = ("semantic.chunk_size=100,semantic.chunk_overlap=10", "semantic.enabled=false")
    compared = [part for setting in settings for part in ("--compare", setting)]
    assert cli.main([*command, *compared, "--plots", ".", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [row["name"] for row in printed["compared"]] == [*settings]
    assert all(setting in Path("latency.svg").read_text() for setting in settings)
    runs = [f"run.{setting}.jsonl" for setting in settings]
    assert answers("run.jsonl") == plain and all(answers(run) != plain for run in runs)
    assert {path.name for path in Path().iterdir()} == {
        *("run.jsonl", "latency.svg", "latency.png", "reliability.svg", "reliability.png"),
        *runs,
    }
    assert cli.main(command) == 0
    assert answers("run.jsonl") == plain and databases(corpora) == index and not databases(tmp_path / "cache")

    assert cli.main([*command, "--cache", *compared[:2]]) == 0
    kept = databases(tmp_path / "cache")
    assert len(kept) == 2
    assert cli.main([*command, "--cache", *compared[:2]]) == 0
    assert databases(tmp_path / "cache") == kept

    capsys.readouterr()
    for path in (*runs, "run.jsonl"):
        Path(path).unlink()
    assert cli.main([*command, "--compare", "mode=keyword", "--compare", "semantic.chunk_size=99"]) == 2
    assert "semantic.chunk_size is 99. It takes a whole number from 100" in capsys.readouterr().err
    assert not list(Path().glob("run*"))


def test_what_cannot_be_done_is_said_before_anything_is(
    evaluate: Callable[..., Ran], corpora: Path, home: Path, tmp_path: Path
) -> None:
    ran = evaluate([*BY_FILE, {**BY_FILE[0], "query_id": "x#0", "repo": "nowhere"}])
    assert ran.returncode == 2 and not (tmp_path / "run.jsonl").exists()
    assert ran.stderr.startswith(f"findling: {corpora} has no folder nowhere (queries about it: 1).")
    ran = evaluate([*BY_FILE, {**BY_FILE[0], "query_id": "x#0", "repo": "../corpora/shop"}])
    assert ran.returncode == 2 and "'../corpora/shop' is not the name of a folder" in ran.stderr
    ran = evaluate([BY_FILE[0], {**BY_FILE[1], "relevant": 3}])
    assert ran.returncode == 2 and "queries.jsonl line 2: Expected `array`, got `int`" in ran.stderr
    queries = lines(tmp_path / "q.jsonl", BY_FILE)
    for out, words in (
        (tmp_path / "none/run.jsonl", "cannot be written"),
        (tmp_path, "cannot be written"),
        (queries, "is the file of queries"),
    ):
        ran = findling("eval", str(queries), "--corpora", str(corpora), "--run", str(out), cwd=tmp_path, home=home)
        assert ran.returncode == 2 and words in ran.stderr
    assert len(queries.read_text().splitlines()) == 3
    ran = findling("eval", str(queries), "--corpora", str(tmp_path / "none"), "--run", "r", cwd=tmp_path, home=home)
    assert ran.returncode == 2 and "There is no folder" in ran.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_a_full_disk_is_an_error(corpora: Path, home: Path, tmp_path: Path) -> None:
    queries = lines(tmp_path / "q.jsonl", BY_FILE[:1])
    ran = findling("eval", str(queries), "--corpora", str(corpora), "--run", "/dev/full", cwd=tmp_path, home=home)
    assert ran.returncode == 2 and ran.stderr.endswith("findling: No room for /dev/full. Free some space.\n")


@pytest.mark.skipif(
    not os.environ.get("FINDLING_BENCH"), reason="set FINDLING_BENCH to the folder with score.py and score_own.py"
)
@pytest.mark.parametrize(("script", "queries"), [("score.py", BY_FILE), ("score_own.py", BY_SPAN)])
def test_the_judges_score_the_run_alike(
    evaluate: Callable[..., Ran], tmp_path: Path, script: str, queries: list[dict[str, Any]]
) -> None:
    ours = json.loads(evaluate(queries, "--json").stdout)["all"]
    out = tmp_path / "theirs.json"
    scorer = Path(os.environ["FINDLING_BENCH"]) / script
    command = [sys.executable, str(scorer), "run.jsonl", "--queries", "queries.jsonl", "--json", str(out)]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=60)
    theirs = json.loads(out.read_text())
    numbers = theirs["overall_repo_macro"] if script == "score.py" else theirs["all"]
    assert (ours["ndcg"]["value"], ours["mrr"]["value"]) == pytest.approx((numbers["ndcg"], numbers["mrr"]))
    if script == "score.py":
        assert ours["recall"]["value"] == pytest.approx(numbers["recall"])
    else:
        assert [ours["ndcg"]["low"], ours["ndcg"]["high"]] == pytest.approx(numbers["ndcg_ci"])

"""Everything about quality that is published for a release, measured anew and written down.

    release.py VERSION CORPORA --queries QUERIES.jsonl [--semble PEER/bin/python] [--rg rg] [--docs ../docs/ranking.md]

CORPORA and QUERIES as for ``quality.py``. Runs `quality.py` in three modes, the peers (`bm25_peer.py`,
`ripgrep_peer.py`, with ``--semble`` also `semble_peer.py` with our model), `ablation.py`, `tools_quality.py` and
`next_action.py`, one after another; an hour on a slow machine, a few minutes on a quick one. Writes
results/VERSION-quality.md, beside it the numbers as .json and the pictures as .svg. In ``--docs`` the tables between
``<!-- NAME: benchmarks/release.py -->`` and ``<!-- end -->`` are put in place of the older ones. ``--work`` keeps what
each step gave, and ``--resume`` goes on from there.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import ablation
import bm25_peer
import ndcg
import next_action
import quality
import ripgrep_peer
import tools_quality
from msgspec import to_builtins
from msgspec.structs import replace

from findling.evaluation import plots

HERE = Path(__file__).parent
MODES = ("auto", "keyword", "semantic")
SEMBLE, BM25, RIPGREP = "semble with our model", "plain BM25", "ripgrep, all words"
SEMBLE_FILES = "semble, files"
SETTINGS = {
    "auto": "auto",
    "keyword": "text and paths only (`--mode keyword`)",
    "semantic": "vectors only (`--mode semantic`)",
    SEMBLE: f"{SEMBLE}, as it gives them",
    SEMBLE_FILES: f"{SEMBLE}, one entry per file",
    BM25: BM25,
    RIPGREP: RIPGREP,
}

_MARKED = re.compile(r"(<!-- ([\w-]+): benchmarks/release\.py -->\n).*?(<!-- end -->)", re.DOTALL)


def said(options: argparse.Namespace, name: str, step: Callable[[Sequence[str]], int], *arguments: str | Path) -> str:
    """What a script prints, kept in the folder of the runs; with ``--resume`` what it has printed."""
    kept: Path = options.work / f"{name}.md"
    if options.resume and kept.is_file():
        return kept.read_text(encoding="utf-8")
    print(name, *arguments, file=sys.stderr, flush=True)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = step([str(argument) for argument in arguments])
    if status:
        raise SystemExit(f"{name} ended with {status}")
    kept.write_text(out.getvalue().strip(), encoding="utf-8")
    return out.getvalue().strip()


def run_semble(python: str, arguments: Sequence[str]) -> int:
    """`semble_peer.py` in an environment of its own."""
    ran = subprocess.run(
        [python, str(HERE / "semble_peer.py"), *arguments], stdout=subprocess.PIPE, text=True, check=False
    )
    print(ran.stdout)
    return ran.returncode


def runs_of(options: argparse.Namespace) -> dict[str, Path]:
    """The file of answers of each setting and peer, made now."""
    about = (options.corpora, "--queries", options.queries)
    cache = ("--cache",) if options.cache else ()
    runs = {mode: options.work / f"{mode}.jsonl" for mode in MODES}
    for mode, run in runs.items():
        said(options, mode, quality.main, *about, "--run", run, "--mode", mode, *cache)
    if options.semble:
        runs[SEMBLE] = options.work / "semble.jsonl"
        said(
            options, "semble", partial(run_semble, options.semble), *about, "--run", runs[SEMBLE], "--model", "findling"
        )
    runs[BM25] = options.work / "bm25.jsonl"
    said(options, "bm25", bm25_peer.main, *about, "--run", runs[BM25])
    runs[RIPGREP] = options.work / "ripgrep.jsonl"
    said(options, "ripgrep", ripgrep_peer.main, *about, "--run", runs[RIPGREP], "--rg", options.rg)
    return runs


def one_per_file(answer: ndcg.Answer) -> ndcg.Answer:
    """The same without further places of a file: those use up ranks where targets are files."""
    first: dict[str, ndcg.Place] = {}
    for result in answer.results:
        first.setdefault(result.path, result)
    return replace(answer, results=tuple(first.values()))


def groups_table(reports: Mapping[str, Any]) -> str:
    """NDCG@10 of every setting by kind and language."""
    first = reports["auto"]
    head = ["NDCG@10", "questions", SETTINGS["auto"], "95 %", *(SETTINGS[name] for name in reports if name != "auto")]
    lines = [f"| {' | '.join(head)} |", f"|---|--:|--:|---|{'--:|' * (len(reports) - 1)}"]
    for name in ("all", *first.groups):
        scores = {of: report.all if name == "all" else report.groups[name] for of, report in reports.items()}
        own = scores.pop("auto")
        interval = "-" if own.ndcg.low is None else f"[{own.ndcg.low:.3f}, {own.ndcg.high:.3f}]"
        others = [f"{other.ndcg.value:.4f}" for other in scores.values()]
        lines.append(f"| {' | '.join([name, str(own.queries), f'{own.ndcg.value:.4f}', interval, *others])} |")
    return "\n".join(lines)


def differences(queries: Sequence[ndcg.Judged], runs: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """`auto` less each of the others, and the same as numbers, with the queries that it is better or worse on."""
    lines = ["| auto minus | difference | 95 % | better | equal | worse |", "|---|--:|---|--:|--:|--:|"]
    numbers = {}
    for name, run in runs.items():
        if name != "auto":
            found = ndcg.compare(queries, runs["auto"], run)
            numbers[name] = to_builtins(found)
            # The queries themselves are somebody else's, and are not committed.
            numbers[name]["changes"] = {change.id: [change.ndcg, change.other] for change in found.changes}
            apart = found.difference
            lines.append(
                f"| {SETTINGS[name]} | {apart.value:+.4f} | [{apart.low:+.4f}, {apart.high:+.4f}] "
                f"| {found.better} | {found.equal} | {found.worse} |"
            )
    return "\n".join(lines), numbers


def fill(document: Path, tables: Mapping[str, str]) -> None:
    """Put the tables where a document has marks for them."""
    text = document.read_text(encoding="utf-8")

    def filled(found: re.Match[str]) -> str:
        return f"{found[1]}{tables[found[2]]}\n{found[3]}" if found[2] in tables else found[0]

    document.write_text(_MARKED.sub(filled, text), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version", help="what the files of results are named after")
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--semble", help="the Python of an environment with semble; left out without")
    parser.add_argument("--rg", default="rg", help="the program ripgrep (rg)")
    parser.add_argument("--cache", action="store_true", help="keep the indexes in the user's cache folder")
    parser.add_argument(
        "--docs", type=Path, action="append", default=[], help="a document whose tables are put in place"
    )
    parser.add_argument("--work", type=Path, default=Path("release-runs"), help="the folder of the runs (release-runs)")
    parser.add_argument(
        "--resume", action="store_true", help="leave out what --work has from a run that was broken off"
    )
    parser.add_argument("--results", type=Path, default=HERE / "results", help="the folder that is written to")
    options = parser.parse_args(arguments)
    options.work.mkdir(parents=True, exist_ok=True)
    options.results.mkdir(parents=True, exist_ok=True)
    queries = ndcg.load_queries(options.queries)
    runs = {name: ndcg.load_run(path) for name, path in runs_of(options).items()}
    if SEMBLE in runs:
        runs[SEMBLE_FILES] = {name: one_per_file(answer) for name, answer in runs[SEMBLE].items()}
    runs = {name: runs[name] for name in SETTINGS if name in runs}
    reports = {name: ndcg.evaluate(queries, run) for name, run in runs.items()}
    apart, numbers = differences(queries, runs)
    about = (options.corpora, "--queries", options.queries, *(("--cache",) if options.cache else ()))
    tables = {
        "settings": groups_table(reports),
        "differences": apart,
        "reliability": ndcg.reliability(reports["auto"]),
        "ablation": said(options, "ablation", ablation.main, *about),
        "tools": said(options, "tools", tools_quality.main, *about),
        "next-action": said(
            options, "next-action", next_action.main, *about, "--json", options.work / "next_action.json"
        ),
    }
    name = options.results / f"{options.version}-quality"
    points = [
        plots.Point(of, report.latency.p50_ms, report.all.ndcg)
        for of, report in reports.items()
        if report.latency is not None and report.all.ndcg.value is not None
    ]
    pictures = {
        "reliability": plots.reliability(reports["auto"].reliability),
        "latency": plots.latency(points),
    }
    for of, picture in pictures.items():
        name.with_name(f"{name.name}-{of}.svg").write_bytes(picture[".svg"])
    told = {"settings": {of: to_builtins(report) for of, report in reports.items()}, "auto minus": numbers}
    name.with_name(f"{name.name}.json").write_text(json.dumps(told, ensure_ascii=False), encoding="utf-8")
    name.with_name(f"{name.name}.md").write_text(page(options, len(queries), reports, tables), encoding="utf-8")
    for document in options.docs:
        fill(document, tables)
    return 0


def page(options: argparse.Namespace, queries: int, reports: Mapping[str, Any], tables: Mapping[str, str]) -> str:
    """The file of results."""
    repositories = len(reports["auto"].repositories)
    picture = f"{options.version}-quality"
    return f"""# Quality at {options.version}

{queries} judged questions over {repositories} public repositories (the public benchmark of *semble*; file-level
targets, ten results). The signals and their round weights were chosen while looking at these questions, so expect
somewhat less on others. All of this by

    python benchmarks/release.py {options.version} CORPORA --queries QUERIES.jsonl --semble PEER/bin/python \\
        --docs docs/ranking.md

{tables["settings"]}

One entry per file; semble's list, which often has several of one file, is scored both as it gives it and cut down to
one.

{tables["differences"]}

Published on the same questions by others, for their own checkouts: 0.845 (semble: a 16M static model, BM25 and ranking
rules), 0.845 (a 137M transformer with the same rules), 0.690 (an earlier colgrep), 0.111 (ripgrep).

## What stated confidence is worth

{tables["reliability"]}

![Stated confidence and how often it is right]({picture}-reliability.svg)
![Quality and time of an answer]({picture}-latency.svg)

## One signal left out at a time

{tables["ablation"]}

## The tools beside it

The last line is S4-42: `hybrid_search` better than the keyword search alone. `search_keyword` takes the question for a
regular expression, which whole sentences seldom match; `hybrid_search` combines as its contract says, not as the
ranking does.

{tables["tools"]}

## Following the suggestion

What `search_code` suggests where it is not sure, followed to the letter by a program; found is a target's file among
the first five results.

{tables["next-action"]}
"""


if __name__ == "__main__":
    sys.exit(main())

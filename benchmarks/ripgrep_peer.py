"""ripgrep on the same folders and queries, as somebody uses it who has a question: its words, one after another.

    ripgrep_peer.py CORPORA --queries QUERIES.jsonl --run RUN.jsonl [--rg rg] [--as-typed]

Of each query the words that say something are looked for (whole text, any case); files come in the order of how many
different words they hold, then of how many matches, then by path. The place is the first line with the most words.
``--as-typed`` looks for the query to the letter instead, which is what ripgrep does by itself. Needs nothing of
findling but the list of words that say nothing.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ndcg

from findling.search.analysis import STOP_WORDS

LIMIT = 20
TIMEOUT_S = 60
MAX_MATCHES = 500
"""Of one word in one file; more says nothing more."""

_WORD = re.compile(r"\w+")


def wanted(text: str, *, as_typed: bool) -> list[str]:
    """What is looked for: the words that say something, or the whole as one."""
    if as_typed:
        return [text]
    words = list(dict.fromkeys(word.lower() for word in _WORD.findall(text)))
    return [word for word in words if word not in STOP_WORDS] or words


def matches(rg: str, root: Path, words: Sequence[str]) -> dict[str, dict[int, list[str]]]:
    """path -> line -> the words that it holds."""
    command = [rg, "--json", "--ignore-case", "--fixed-strings", "--no-config", f"--max-count={MAX_MATCHES}"]
    command += [argument for word in words for argument in ("-e", word)]
    ran = subprocess.run([*command, "--", "."], cwd=root, capture_output=True, timeout=TIMEOUT_S, check=False)
    if ran.returncode not in (0, 1):  # 2: a file could not be read; the others were
        print(ran.stderr.decode("utf-8", "replace").split("\n")[0][:200], file=sys.stderr)
    found: dict[str, dict[int, list[str]]] = defaultdict(dict)
    for line in ran.stdout.splitlines():
        said = json.loads(line)
        path = said["data"].get("path", {}).get("text") if said["type"] == "match" else None
        if path is not None:
            texts = [match["match"].get("text", "").lower() for match in said["data"]["submatches"]]
            found[path.removeprefix("./")][said["data"]["line_number"]] = texts
    return found


def answer(rg: str, root: Path, query: ndcg.Judged, *, as_typed: bool) -> dict[str, Any]:
    """A line of a run."""
    order = []
    for path, lines in matches(rg, root, wanted(query.text, as_typed=as_typed)).items():
        counts = Counter(text for texts in lines.values() for text in texts)
        place = min(lines, key=lambda line: (-len(set(lines[line])), line))
        order.append((len(counts), sum(counts.values()), path, place))
    order.sort(key=lambda row: (-row[0], -row[1], row[2]))
    results = [
        {"path": path, "start_line": place, "end_line": place, "score": float(words)}
        for words, _, path, place in order[:LIMIT]
    ]
    return {"repo": query.repo, "query_id": query.id, "id": query.id, "query": query.text, "results": results}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--run", type=Path, required=True, help="write the answers here")
    parser.add_argument("--rg", default="rg", help="the program (rg)")
    parser.add_argument("--as-typed", action="store_true", help="look for the query to the letter")
    options = parser.parse_args(arguments)
    queries = ndcg.load_queries(options.queries)
    with options.run.open("w", encoding="utf-8") as file:
        for query in queries:
            line = answer(options.rg, options.corpora / query.repo, query, as_typed=options.as_typed)
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    print(ndcg.table(ndcg.evaluate(queries, ndcg.load_run(options.run))))
    return 0


if __name__ == "__main__":
    sys.exit(main())

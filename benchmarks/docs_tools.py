"""How good the document tools are on judged questions: where the similarity threshold cuts, whether answers are from
the right passages, and whether similar documents are those that a document links to.

    docs_tools.py CORPORA --queries QUERIES [--text]

QUERIES are of the *spans* form (benchmarks/README.md); those of the sets ``docs`` and ``no_answer`` are asked, as far
as they are in English.
``--text``: answers without searching by meaning.
"""

from __future__ import annotations

import argparse
import json
import posixpath
import re
import statistics
from collections import defaultdict
from pathlib import Path
from typing import Any

from findling.contracts import Workspace, call
from findling.search.passages import DocumentScope

OTHER_LANGUAGES = frozenset(("de", "es", "ja", "zh"))
THRESHOLDS = (0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9)
SIMILAR = 5
_LINK = re.compile(r"\]\(([^)#\s]+)|:doc:`(?:[^`<]*<)?([^`>]+)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--text", action="store_true")
    args = parser.parse_args()
    asked: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in args.queries.read_text(encoding="utf-8").splitlines():
        judged = json.loads(line)
        if judged["set"] in ("docs", "no_answer") and judged["kind"] not in OTHER_LANGUAGES:
            asked[judged["repo"]].append(judged)
    found: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = []
    linked: list[float] = []
    for repo, questions in sorted(asked.items()):
        root = (args.corpora / repo).resolve()
        with Workspace(root, root=root, cache=True) as workspace:
            workspace.engine.index()
            for judged in questions:
                near = ask(workspace, "semantic_search", query=judged["query"], threshold=0, limit=10)
                answer = ask(workspace, "query_docs", query=judged["query"], preferSemantic=not args.text)
                found.append((judged, near, answer))
            linked += similar_are_linked(workspace, root)
    thresholds(found)
    answers(found)
    share = statistics.mean(linked)
    print(f"\nfind_similar: {len(linked)} documents with links, {share:.3f} of these in the first {SIMILAR}")


def ask(workspace: Workspace, tool: str, **arguments: Any) -> dict[str, Any]:
    result = call(tool, arguments, workspace)
    assert result.structured is not None and not result.is_error, result.structured
    return result.structured


def thresholds(found: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]) -> None:
    known = [(judged, near) for judged, near, _ in found if judged["set"] == "docs"]
    unknown = [near for judged, near, _ in found if judged["set"] == "no_answer"]
    print(f"{len(known)} questions with an answer, {len(unknown)} without\n")
    print("threshold   not empty   right one in ten   not empty without an answer")
    for threshold in THRESHOLDS:
        kept = [(judged, [r for r in near["results"] if r["similarity"] >= threshold]) for judged, near in known]
        full = statistics.mean(bool(results) for _, results in kept)
        right = statistics.mean(any(hits(judged, r["docPath"], r["lineRange"]) for r in rs) for judged, rs in kept)
        wrong = statistics.mean(near["meta"]["best_similarity"] >= threshold for near in unknown)
        print(f"{threshold:9.2f}   {full:9.3f}   {right:16.3f}   {wrong:27.3f}")


def answers(found: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]) -> None:
    known = [(judged, answer) for judged, _, answer in found if judged["set"] == "docs"]
    first = [any(hits(judged, s["path"], s["lineRange"]) for s in answer["sources"][:1]) for judged, answer in known]
    among = [any(hits(judged, s["path"], s["lineRange"]) for s in answer["sources"]) for judged, answer in known]
    chars = statistics.mean(len(answer["answer"]) for _, answer in known)
    shares = f"first source right {statistics.mean(first):.3f}, any {statistics.mean(among):.3f}"
    print(f"\nquery_docs: {shares}, {chars:.0f} characters")
    flags = {
        "answered, first right": [
            a["meta"]["low_confidence"] for (_, a), right in zip(known, first, strict=True) if right
        ],
        "no answer": [answer["meta"]["low_confidence"] for judged, _, answer in found if judged["set"] == "no_answer"],
    }
    for name, low in flags.items():
        print(f"  low confidence, {name}: {statistics.mean(low):.3f} of {len(low)}")


def hits(judged: dict[str, Any], path: str, lines: list[int]) -> bool:
    return any(
        target["path"] == path and lines[0] <= target["end_line"] and lines[1] >= target["start_line"]
        for target in judged["relevant"]
    )


def similar_are_linked(workspace: Workspace, root: Path) -> list[float]:
    """For each document with one to ten links to others the share of these among the first similar ones."""
    paths = workspace.engine.document_paths(DocumentScope())
    stems = {path.rsplit(".", 1)[0]: path for path in reversed(paths)}
    shares = []
    for path in paths:
        text = (root / path).read_text(encoding="utf-8", errors="replace")
        names = {next(filter(None, found)) for found in _LINK.findall(text)}
        places = (
            posixpath.normpath(posixpath.join(posixpath.dirname(path), name)) for name in names if ":" not in name
        )
        targets = {known for place in places for known in (place, stems.get(place, "")) if known in paths} - {path}
        if 1 <= len(targets) <= 10:
            similar = ask(workspace, "find_similar", docPath=path, limit=SIMILAR)["similar"]
            shares.append(len({item["docPath"] for item in similar} & targets) / min(SIMILAR, len(targets)))
    return shares


if __name__ == "__main__":
    main()

"""What every tool answers from an index that followed edits, and from one made from scratch, is the same."""

from __future__ import annotations

import json
import random
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from actors import edit, lay_out
from gits import git
from indexes import write

from findling.contracts import TOOLS, call
from findling.contracts.workspaces import Workspace

EDITS = 14

CHANGING = re.compile(
    r"(_ms|_at|_bytes|timestamp|time|latency|uptime_seconds|created|db_size|project_id|recent_jobs|generation)$",
    re.IGNORECASE,
)
"""Keys of facts that are a moment's or a store's own."""

BY_TEXT = frozenset(("search_code", "hybrid_search", "search_keyword", "query_docs", "search_documents"))
"""BM25's statistics know earlier versions of files until they are merged away, so near ties may stand in another order
and numbers differ a little: of these the files are compared."""

NOT_ASKED = frozenset(
    "index_repo sync_repo reindex_vectors fetch_repo fetch_file get_job_status list_active_jobs remove_file flush_all "
    "search_documents get_file_details".split()
)
"""They write, or are about the library."""


def questions(root: Path) -> list[tuple[str, dict[str, Any]]]:
    files = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.py") if ".findling" not in path.parts)
    some = files[:: max(1, len(files) // 4)]
    documents = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.md"))
    found: list[tuple[str, dict[str, Any]]] = [("index_status", {}), ("health_check", {})]
    for text in ("Thing3", "retry_2", "return"):
        found += [
            (name, {"query": text}) for name in ("search_code", "search_semantic", "search_keyword", "hybrid_search")
        ]
        found += [(name, {"query": text}) for name in ("semantic_search", "query_docs", "search_docs")]
    for name in ("Thing1", "act3", "VALUE_0"):
        found += [("find_symbol", {"name": name}), ("locate_symbol", {"name": name, "include_references": True})]
    for path in some:
        found += [
            ("get_file", {"path": path}),
            ("list_defs_in_file", {"path": path}),
            ("get_file_outline", {"path": path}),
        ]
    found += [("find_similar", {"docPath": path}) for path in documents]
    assert {name for name, _ in found} == set(TOOLS) - NOT_ASKED
    return found


def answer(workspace: Workspace, name: str, arguments: dict[str, Any], root: Path) -> Any:
    result = call(name, arguments, workspace)
    texts = [text.replace(str(root), "ROOT") for text in result.text_blocks]
    facts = [json.loads(text) if text.startswith(("{", "[")) else text for text in texts]
    return sorted(paths(facts)) if name in BY_TEXT else steady(facts)


def steady(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: steady(inner) for key, inner in value.items() if not CHANGING.search(key)}
    if isinstance(value, list):
        return [steady(inner) for inner in value]
    return round(value, 6) if isinstance(value, float) else value


def paths(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value[key] for key in ("path", "file", "filePath") if isinstance(value.get(key), str)}
        return own.union(*(paths(inner) for inner in value.values()))
    return set().union(*(paths(inner) for inner in value)) if isinstance(value, list) else set()


@pytest.mark.faults
@pytest.mark.parametrize("seed", [1])
def test_every_tool_answers_as_from_scratch(seed: int, tmp_path: Path) -> None:
    root = lay_out(tmp_path / "one" / "project")
    write(root, "docs/first.md", "# First\n\nA thing that fails is tried again.\n\n## Later\n\nSee Thing3.\n")
    chance = random.Random(seed)
    with Workspace(root, root=root) as grown:
        grown.engine.index()
        for number in range(EDITS):
            edit(root, chance)
            if number % 3 == 0:
                call("search_code", {"query": "Thing5", "freshness_policy": "strict"}, grown)
            elif number % 3 == 1:
                grown.engine.sync()
        grown.engine.index()
        copy = tmp_path / "two" / "project"
        shutil.copytree(root, copy, symlinks=True, ignore=shutil.ignore_patterns(".findling"))
        with Workspace(copy, root=copy) as scratch:
            scratch.engine.index()
            refs = [None, "feature" if git(root, "branch", "--show-current") == "main" else "main"]
            told = 0
            for ref in refs:
                if ref is not None:
                    grown.engine.at(ref).index()
                    scratch.engine.at(ref).index()
                for name, arguments in questions(root):
                    asked = (
                        {**arguments, "ref": ref} if ref and "ref" in TOOLS[name].schema["properties"] else arguments
                    )
                    mine, theirs = answer(grown, name, asked, root), answer(scratch, name, asked, copy)
                    told += bool(mine)
                    assert mine == theirs, (name, asked)
            assert told > 0.8 * len(refs) * len(questions(root)), "most of them have an answer"

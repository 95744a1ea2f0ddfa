"""What every tool answers from an index that followed edits, beside what it answers from one made from scratch."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from findling.contracts import TOOLS

CHANGING = re.compile(
    r"(_ms|_at|_bytes|timestamp|time|latency|uptime_seconds|created|db_size|project_id|recent_jobs|generation|cursor|jobs?|watching)$",
    re.IGNORECASE,
)
"""Keys of facts that are a moment's, a process's or a store's own."""

BY_TEXT = frozenset(("search_code", "hybrid_search", "search_keyword", "query_docs", "search_documents"))
"""BM25's statistics know earlier versions of files until they are merged away, so near ties may stand in another order
and numbers differ a little: of these the files are compared, all that are found, for words that few files have. Which
of very many alike are looked at hangs on such numbers."""

ALL = {"limit": 100, "top_k": 100, "max_tokens": 1_000_000}

NOT_ASKED = frozenset(
    "index_repo sync_repo reindex_vectors fetch_repo fetch_file get_job_status list_active_jobs remove_file flush_all "
    "search_documents get_file_details".split()
)
"""They write, or are about the library."""


def questions(folders: Mapping[str, Path]) -> list[tuple[str, dict[str, Any]]]:
    """Calls of all tools that answer something of these roots, by name; paths begin with the root's name."""
    files = _paths(folders, "*.py")
    some = files[:: max(1, len(files) // 4)]
    found: list[tuple[str, dict[str, Any]]] = [("index_status", {}), ("health_check", {})]
    for text in ("Thing3", "retry_2", "act11"):
        found += [
            (name, {"query": text}) for name in ("search_code", "search_semantic", "search_keyword", "hybrid_search")
        ]
        found += [(name, {"query": text}) for name in ("semantic_search", "query_docs", "search_docs")]
    for name in ("Thing1", "act3", "VALUE_0"):
        found += [("find_symbol", {"name": name}), ("locate_symbol", {"name": name, "include_references": True})]
        found += [("impact", {"name": name})]
    found += [("explore", {"query": _name_in(folders, files[0])})]  # by text it shows the best eight places alone
    for path in some:
        found += [(name, {"path": path}) for name in ("get_file", "list_defs_in_file", "get_file_outline")]
    found += [("find_similar", {"docPath": path}) for path in _paths(folders, "*.md")]
    assert {name for name, _ in found} == set(TOOLS) - NOT_ASKED
    return [(name, {**_whole(name), **arguments}) for name, arguments in found]


def _whole(name: str) -> dict[str, int]:
    """What makes a tool that orders by text tell all that it finds: in which order they come near is not the same."""
    taken = TOOLS[name].schema["properties"] if name in BY_TEXT else {}
    return {argument: most for argument, most in ALL.items() if argument in taken}


def _name_in(folders: Mapping[str, Path], path: str) -> str:
    """A class that a file defines."""
    name, _, below = path.partition("/")
    defined = re.search(r"class (\w+)|def (\w+)", (folders[name] / below).read_text())
    assert defined is not None, path
    return defined[1] or defined[2]


def _paths(folders: Mapping[str, Path], pattern: str) -> list[str]:
    return sorted(
        f"{name}/{path.relative_to(folder).as_posix()}"
        for name, folder in folders.items()
        for path in folder.rglob(pattern)
        if ".findling" not in path.parts
    )


def told(name: str, texts: Sequence[str], base: Path) -> Any:
    """What an answer says that does not depend on when, how fast and where below ``base`` it was given."""
    plain = [text.replace(str(base), "BASE") for text in texts]
    facts = [json.loads(text) if text.startswith(("{", "[")) else text for text in plain]
    return sorted(_files(facts)) if name in BY_TEXT else _steady(facts)


def _steady(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _steady(inner) for key, inner in value.items() if not CHANGING.search(key)}
    if isinstance(value, list):
        return [_steady(inner) for inner in value]
    return round(value, 6) if isinstance(value, float) else value


def _files(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value[key] for key in ("path", "file", "filePath") if isinstance(value.get(key), str)}
        return own.union(*(_files(inner) for inner in value.values()))
    return set().union(*(_files(inner) for inner in value)) if isinstance(value, list) else set()

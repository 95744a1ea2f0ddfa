"""How large indexes are, part by part, beside the text that is indexed.

    disk.py FOLDER... [--json OUT.json]

FOLDER is a folder of files, whose index is brought up to date in the user's cache folder first, or the folder of an
index. The text is the files in the index, in bytes; the size is that of every file in the index's folder, which by
SQLite's tables and by kinds of the text index's files is told apart. Bytes that a table's pages have and do not use are
shown in brackets. The last lines are those of all folders together.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw

from findling.engine import Engine
from findling.store.local.layout import DATABASE, FULLTEXT

# Parts that are less than this share of the text are shown together.
LEAST_SHARE = 0.002


def measure(store: Path) -> dict[str, Any]:
    """Bytes of the indexed text, of the index, of its parts, and of its parts' unused room."""
    parts: Counter[str] = Counter()
    unused: Counter[str] = Counter()
    for folder, _, names in os.walk(store):
        for name in names:
            path = Path(folder, name)
            parts[part_of(path.relative_to(store))] += path.lstat().st_size
    total = parts.total()
    uri = f"file:{store / DATABASE}?mode=ro"
    database = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    for table, size, free in database.execute("SELECT name, sum(pgsize), sum(unused) FROM dbstat GROUP BY name"):
        parts[f"{DATABASE}: {table}"], unused[f"{DATABASE}: {table}"] = size, free
        parts[DATABASE] -= size
    live = "SELECT manifest_id FROM manifests WHERE ref='live' ORDER BY synced_at DESC LIMIT 1"
    files, text = database.execute(
        f"SELECT count(*), total(size) FROM manifest_files WHERE manifest_id=({live})"
    ).fetchone() or (0, 0)
    database.close()
    return {"files": files, "text": int(text), "size": total, "parts": dict(parts), "unused": dict(unused)}


def part_of(path: Path) -> str:
    """What a file of the index counts as."""
    if path.parts[0] == FULLTEXT:
        return f"{FULLTEXT}: {path.suffix or path.name}"
    return path.name


def show(name: str, told: dict[str, Any]) -> None:
    text = max(1, told["text"])
    ratio = told["size"] / text
    print(f"{name}: {told['size']:,} bytes for {told['text']:,} of text in {told['files']:,} files: {ratio:.3f}")
    rest = 0
    for part, size in sorted(told["parts"].items(), key=lambda item: -item[1]):
        if size < LEAST_SHARE * text:
            rest += size
            continue
        free = f"  ({told['unused'][part]:,})" if told["unused"].get(part) else ""
        print(f"  {part:34} {size:12,} {size / text:7.3f}{free}")
    print(f"  {'all else':34} {rest:12,} {rest / text:7.3f}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--json", type=Path, metavar="OUT.json")
    given = parser.parse_args(arguments)
    found: dict[str, dict[str, Any]] = {}
    for folder in given.folders:
        store = folder
        if not (folder / DATABASE).is_file():
            with Engine.open(folder, root=folder, cache=True) as engine:
                engine.index()
                store = engine.store_dir
        found[str(folder)] = measure(store)
    if len(found) > 1:
        found["all"] = joined(list(found.values()))
    for name, told in found.items():
        show(name, told)
    if given.json:
        given.json.write_text(json.dumps(found, indent=1))
    return 0


def joined(every: Sequence[dict[str, Any]]) -> dict[str, Any]:
    told: dict[str, Any] = {key: sum(one[key] for one in every) for key in ("files", "text", "size")}
    for key in ("parts", "unused"):
        sums: Counter[str] = Counter()
        for one in every:
            sums.update(one[key])
        told[key] = dict(sums)
    return told


if __name__ == "__main__":
    sys.exit(main())

"""A trained table as the package's files: whole numbers of eight bits, the words, and what is known of them.

    python -m training export WORK --name base --out DIR --version 0.2.0 [--exponent 3.4]

Writes ``emb.int8.npy``, ``vocab.txt`` and ``meta.json``, together at most 8 MB. ``--exponent`` is what ``calibrate``
printed. Copied over ``src/findling/embedding/model`` they are the bundled model.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from findling.embedding.bundled_files import FORMAT, META_FILE, TABLE_FILE, WORDS_FILE
from training.dataset import SHARED_ROWS

NAME = "findling-static"

MAX_BYTES = 8_000_000
CLIPPED_SHARE = 1e-5
"""Of the numbers, the largest: they end at 127, so that the others have finer steps."""


def whole_numbers(table: NDArray[np.float32]) -> NDArray[np.int8]:
    """All rows in one unit, because they are added up."""
    peak = np.quantile(np.abs(table), 1 - CLIPPED_SHARE)
    clipped: NDArray[np.int8] = np.clip(np.rint(table * (127 / peak)), -127, 127).astype(np.int8)
    return clipped


def export(source: Path, out: Path, *, version: str, exponent: float) -> dict[str, Any]:
    """Write the three files and give back the last one's content. Raises ValueError when they are too large."""
    words = (source / "words.txt").read_text(encoding="utf-8").split("\n")
    out.mkdir(parents=True, exist_ok=True)
    np.save(out / TABLE_FILE, whole_numbers(np.load(source / "table.npy")))
    (out / WORDS_FILE).write_bytes("\n".join(words).encode())
    files = {}
    for name in (TABLE_FILE, WORDS_FILE):
        data = (out / name).read_bytes()
        files[name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    run = json.loads((source / "run.json").read_text(encoding="utf-8"))
    meta = {
        "format": FORMAT,
        "name": NAME,
        "version": version,
        "dimensions": run["dimensions"],
        "words": len(words),
        "shared_rows": SHARED_ROWS,
        "tokenizer": "findling.tokenizer parts, longest known pieces, shared rows for rare characters",
        "pooling": "sum (1+ln tf) * row, l2",
        "prefix_scheme": "none",
        "similarity": {"exponent": exponent},
        "training": run,
        "files": files,
    }
    (out / META_FILE).write_text(json.dumps(meta, indent=2) + "\n", encoding="utf-8")
    size = sum(path.stat().st_size for path in (out / TABLE_FILE, out / WORDS_FILE, out / META_FILE))
    if size > MAX_BYTES:
        raise ValueError(f"the model has {size:,} bytes, {MAX_BYTES:,} at most: train with fewer --rows")
    return meta


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="training export", description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--name", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--exponent", type=float, default=1.0)
    args = parser.parse_args(argv)
    meta = export(args.work / "models" / args.name, args.out, version=args.version, exponent=args.exponent)
    print(json.dumps(meta, indent=2))

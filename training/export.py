"""A trained table as the package's files: whole numbers of eight bits, the words, and what is known of them.

    python -m training export WORK --name base --out DIR --version 0.2.0 --exponent 2.5 [--sources FILE]

Writes ``emb.int8.npy``, ``vocab.txt`` and ``meta.json``, together at most 8 MB; nothing when they have more. Copied
over ``src/findling/embedding/model`` they are the bundled model. ``--exponent`` is what ``calibrate`` printed; any
number does until then. Beside them, or in FILE, ``sources.tsv`` says which repositories the table was made from.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from findling.embedding.bundled_files import FORMAT, META_FILE, TABLE_FILE, WORDS_FILE
from training.dataset import SHARED_ROWS
from training.train import HELD_OUT, model_folder

NAME = "findling-static"
SOURCES_FILE = "sources.tsv"

MAX_BYTES = 8_000_000
CLIPPED_SHARE = 1e-5
"""Of the numbers, the largest: they end at 127, so that the others have finer steps."""


def whole_numbers(table: NDArray[np.float32]) -> NDArray[np.int8]:
    """All rows in one unit, because they are added up."""
    peak = np.quantile(np.abs(table), 1 - CLIPPED_SHARE)
    clipped: NDArray[np.int8] = np.clip(np.rint(table * (127 / peak)), -127, 127).astype(np.int8)
    return clipped


def without_gaps(rows: NDArray[np.int8]) -> NDArray[np.int8]:
    """With a direction by chance in place of zeros, so that what is made of such rows alone has a vector: no training
    text may have had a character of a row that rare ones share."""
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1)
    length = np.median(lengths[-SHARED_ROWS:][lengths[-SHARED_ROWS:] > 0]) if lengths[-SHARED_ROWS:].any() else 127.0
    filled = rows.copy()
    for row in np.flatnonzero(lengths == 0):
        direction = np.random.default_rng(int(row)).standard_normal(rows.shape[1])
        filled[row] = np.clip(np.rint(direction * length / np.linalg.norm(direction)), -127, 127)
    return filled


def export(source: Path, out: Path, *, version: str, exponent: float) -> dict[str, Any]:
    """Write the three files and give back the last one's content. Raises ValueError when they are too large, and
    writes none of them."""
    words = (source / "words.txt").read_text(encoding="utf-8").split("\n")
    table = io.BytesIO()
    np.save(table, without_gaps(whole_numbers(np.load(source / "table.npy"))))
    made = {TABLE_FILE: table.getvalue(), WORDS_FILE: "\n".join(words).encode()}
    files = {name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in made.items()}
    run = json.loads((source / "run.json").read_text(encoding="utf-8"))
    meta = {
        "format": FORMAT,
        "name": NAME,
        "version": version,
        "dimensions": run["dimensions"],
        "words": len(words),
        "shared_rows": SHARED_ROWS,
        "tokenizer": "findling.model.tokenizer parts, longest known pieces, shared rows for rare characters",
        "pooling": "sum (1+ln tf) * row, l2",
        "prefix_scheme": "none",
        "similarity": {"exponent": exponent},
        "training": run,
        "files": files,
    }
    made[META_FILE] = (json.dumps(meta, indent=2) + "\n").encode()
    size = sum(map(len, made.values()))
    if size > MAX_BYTES:
        raise ValueError(f"the model has {size:,} bytes, {MAX_BYTES:,} at most: train with fewer --rows")
    out.mkdir(parents=True, exist_ok=True)
    for name, data in made.items():
        (out / name).write_bytes(data)
    return meta


def sources(work: Path) -> str:
    """A table of the repositories that pairs were kept of: repository, commit, licence, pairs that are kept, and
    whether they are held out. Raises ValueError when `mine` or `filter` did not run in ``work``."""
    try:
        manifest, leaks = (json.loads((work / name).read_bytes()) for name in ("manifest.json", "leaks.json"))
    except FileNotFoundError as error:
        raise ValueError(f"there is no {error.filename}, which says what the model is made from") from error
    leaked: Counter[str] = Counter()
    for found in leaks["from"]:
        leaked[found["repository"]] += found["pairs"]
    lines = ["repository\tcommit\tlicence\tpairs\tuse"]
    for mined in manifest["mined"]:
        name = mined["repository"]
        if kept := mined["pairs"] - leaked[name]:
            use = "held out" if name in HELD_OUT else "trained on"
            lines.append(f"{name}\t{mined['commit']}\t{mined['licence']}\t{kept}\t{use}")
    return "\n".join(lines) + "\n"


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="training export", description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--name", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--exponent", type=float, required=True, help="of the similarity, as calibrate printed it")
    parser.add_argument("--sources", type=Path, help=f"where the repositories are listed; {SOURCES_FILE} in --out")
    args = parser.parse_args(argv)
    made_from = sources(args.work)
    source = model_folder(args.work / "models", args.name)
    meta = export(source, args.out, version=args.version, exponent=args.exponent)
    (args.sources or args.out / SOURCES_FILE).write_text(made_from, encoding="utf-8")
    print(json.dumps(meta, indent=2))

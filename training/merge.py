"""Several tables to one: runs that differ by their seed only, and the table that they all started from.

    python -m training merge WORK --name final --of tuned-1=1 --of tuned-2=1 … --of general=2

Tables that were trained from one start keep its directions, so that their rows can be added up (Wortsman et al. 2022,
"Model soups" and "Robust fine-tuning of zero-shot models"): what the runs agree on stays, what one of them learned by
chance fades, and the start brings back what they forgot. Each is first brought to the same length of vectors. The sum
loses the direction that all texts share, and is turned so that all of its dimensions are about as strong.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from findling.embedding.bundled_files import Vocabulary
from training.bag import Floats
from training.dataset import SHARED_ROWS, open_dataset
from training.tables import evened, levelled, sampled
from training.train import as_rows, model_folder, write_model


def merged(models: Path, parts: Sequence[tuple[str, float]], work: Path, data_seed: int) -> tuple[Floats, str]:
    """The sum of the tables, and their words. Raises ValueError where they have different words or dimensions, or
    a part is no model."""
    folders = [model_folder(models, name) for name, _ in parts]
    texts = [(folder / "words.txt").read_text(encoding="utf-8") for folder in folders]
    tables = [np.load(folder / "table.npy") for folder in folders]
    if len(set(texts)) != 1 or len({table.shape for table in tables}) != 1:
        raise ValueError("only tables of the same words and dimensions can be added up")
    words = texts[0].split("\n")
    rows = as_rows(open_dataset(work, data_seed), Vocabulary(words, SHARED_ROWS))
    seen = sampled((rows.queries, rows.bodies), len(tables[0]), seed=1)
    table: Floats = sum(
        (np.float32(weight) * levelled(table, seen) for (_, weight), table in zip(parts, tables, strict=True)),
        np.zeros_like(tables[0]),
    )
    return evened(table, seen, seed=1), texts[0]


def _part(text: str) -> tuple[str, float]:
    name, _, weight = text.partition("=")
    try:
        return name, float(weight or 1)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{weight!r} is no weight, as 2 in {name}=2") from None


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="training merge", description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--name", required=True)
    parser.add_argument("--of", type=_part, action="append", required=True, metavar="MODEL=WEIGHT")
    parser.add_argument("--data-seed", type=int, default=1)
    args = parser.parse_args(argv)
    models = args.work / "models"
    table, words = merged(models, args.of, args.work, args.data_seed)
    runs = {name: json.loads((models / name / "run.json").read_text(encoding="utf-8")) for name, _ in args.of}
    write_model(
        models / args.name,
        table,
        words,
        {"dimensions": table.shape[1], "of": [{"weight": weight, **runs[name]} for name, weight in args.of]},
    )

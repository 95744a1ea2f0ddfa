"""From filtered pairs to a table of rows, one per piece of a word.

    python -m training train WORK --name tuned-1 --seed 1 [--start general] [--dimensions 256] [--epochs 0.8] …

Reads ``WORK/filtered.jsonl`` and writes ``WORK/models/NAME/`` (table.npy, words.txt, run.json). The words of all pairs
are numbered once and kept in ``WORK/dataset-SEED.npz`` until the pairs are others. On one core an epoch over a million
pairs takes some minutes.
Without ``--start`` the rows begin at random; with it as those of the model of that name, which has the same words.

Each query is told from the passages of its batch, of which half come in groups from one repository. A passage is seen
as its body alone or with the head that the product puts before it; at times without the words of the name it defines.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from findling.embedding.bundled_files import Vocabulary
from training import dataset as datasets
from training.bag import Floats, Table, bag, contrast, stacked, unit
from training.dataset import SHARED_ROWS, Dataset, Ragged, open_dataset
from training.tables import levelled, sampled

HELD_OUT = frozenset(
    (
        "psf/black",
        "hyperium/hyper",
        "doctrine/orm",
        "serilog/serilog",
        "onevcat/Kingfisher",
        "socketio/socket.io",
        "mitchellh/libxev",
        "caddyserver/caddy",
        "lewis6991/gitsigns.nvim",
        "elixir-tesla/tesla",
        "detekt/detekt",
        "nanomsg/nng",
        "pyenv/pyenv",
        "nats-io/nats.docs",
        "python-poetry/poetry",
    )
)
"""Never trained on: progress is read from these."""

DIMENSIONS = 256
"""With `datasets.ROWS` just under what the package may hold."""

QUERY_ROWS, BODY_ROWS, HEAD_ROWS = 96, 240, 40
"""Of a text at most: what stands behind adds time and little else. A chunk of 2,000 characters has about 350."""

UNTRAINED_KINDS = ("title",)
"""Pairs that only lend their words: tests' titles, which bring up tests where code is asked for."""

GROUP = 64
GROUPED_SHARE = 0.5
WARM_UP_STEPS = 60
LEAST_RATE = 0.02
SCALE_RATE = 1e-3
FIRST_SCALE = 20.0

HEAD_SHARE = 0.2
"""Of passages that are seen with their head."""

NAME_MASKED_SHARE = 0.3
NAME_ASKED_SHARE = 0.12
PATH_ASKED_SHARE = 0.1
"""Of queries that are the path and the name instead of the words, as somebody who knows them asks."""

QUERY_DROP, BODY_DROP = 0.1, 0.2
"""Share of rows left out, so that no single word decides."""

VALIDATED_PAIRS = 1500

FREQUENT = 1e-3
"""Share of all rows met from which on a row weighs half or less."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The texts of a data set as rows of the table."""

    queries: Ragged
    bodies: Ragged
    heads: Ragged
    names: Ragged


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run is repeated with."""

    seed: int
    dimensions: int
    rows: int
    epochs: float
    batch: int
    rate: float


def as_rows(data: Dataset, vocabulary: Vocabulary) -> Rows:
    made = datasets.rows_of_words(vocabulary, data)
    return Rows(
        datasets.in_rows(data.queries, made, QUERY_ROWS),
        datasets.in_rows(data.bodies, made, BODY_ROWS),
        datasets.in_rows(data.heads, made, HEAD_ROWS),
        datasets.in_rows(data.names, made, HEAD_ROWS),
    )


def rarity(rows: Rows, table_rows: int) -> Floats:
    """What each row weighs before anything is known of it but its frequency: (table_rows, 1), at most 1."""
    counts = np.bincount(rows.bodies.flat, minlength=table_rows) + 1.0
    weights: Floats = (FREQUENT / (FREQUENT + counts / counts.sum())).astype(np.float32)[:, np.newaxis]
    return weights


def first_table(rows: Rows, table_rows: int, dimensions: int, rng: np.random.Generator) -> Floats:
    """Random, and shorter for what is frequent."""
    noise = rng.standard_normal((table_rows, dimensions), np.float32) / np.float32(math.sqrt(dimensions))
    table: Floats = noise * rarity(rows, table_rows)
    return table


def started(start: Floats, rows: Rows, rng: np.random.Generator) -> Floats:
    """``start`` in the unit in which random rows begin, for which the rates were chosen."""
    seen = sampled((rows.bodies,), len(start), seed=1)
    length = np.median(np.linalg.norm(seen @ first_table(rows, len(start), start.shape[1], rng), axis=1))
    table: Floats = levelled(start, seen) * np.float32(length)
    return table


def batches(
    repo_of: NDArray[np.int32], trained: NDArray[np.int64], size: int, rng: np.random.Generator
) -> Iterator[NDArray[np.int64]]:
    """One epoch: half of the pairs in groups of one repository, the rest mixed."""
    groups: list[NDArray[np.int64]] = []
    alone: list[NDArray[np.int64]] = []
    order = rng.permutation(trained)
    order = order[np.argsort(repo_of[order], kind="stable")]
    for of_repo in np.split(order, np.flatnonzero(np.diff(repo_of[order])) + 1):
        grouped = int(len(of_repo) * GROUPED_SHARE) // GROUP * GROUP
        groups += np.split(of_repo[:grouped], grouped // GROUP) if grouped else []
        alone.append(of_repo[grouped:])
    mixed = rng.permutation(np.concatenate(alone))
    mixed = mixed[: len(mixed) // GROUP * GROUP]
    groups += np.split(mixed, len(mixed) // GROUP)
    each = size // GROUP
    shuffled = rng.permutation(len(groups))
    for start in range(0, len(groups) - each + 1, each):
        yield np.concatenate([groups[place] for place in shuffled[start : start + each]])


Piece = tuple[NDArray[np.int32], NDArray[np.int64]]


def _joined(*pieces: Piece) -> Piece:
    return np.concatenate([rows for rows, _ in pieces]), np.concatenate([owners for _, owners in pieces])


def _of_owners(piece: Piece, chosen: NDArray[np.bool_]) -> Piece:
    kept = chosen[piece[1]]
    return piece[0][kept], piece[1][kept]


def seen(rows: Rows, batch: NDArray[np.int64], table_rows: int, rng: np.random.Generator) -> tuple[Piece, Piece]:
    """The queries and passages of a batch as they are seen this time."""
    n = len(batch)
    queries, bodies, heads, names = (texts.of(batch) for texts in (rows.queries, rows.bodies, rows.heads, rows.names))
    named = np.bincount(names[1], minlength=n) > 0
    draw = rng.random(n)
    by_path = (draw < PATH_ASKED_SHARE) & named
    by_name = (draw >= PATH_ASKED_SHARE) & (draw < PATH_ASKED_SHARE + NAME_ASKED_SHARE) & named
    said = (queries[0], queries[1])
    keep = rng.random(len(said[0])) >= QUERY_DROP * rng.random(n)[said[1]]
    said = (said[0][keep], said[1][keep])
    asked = _joined(_of_owners(said, ~by_path), _of_owners(heads, by_path), _of_owners(names, by_name))
    masked = (rng.random(n) < NAME_MASKED_SHARE) & named
    of_names = np.unique(names[1] * table_rows + names[0])
    hidden = masked[bodies[1]] & np.isin(bodies[1] * table_rows + bodies[0], of_names)
    keep = ~hidden & (rng.random(len(hidden)) >= 2 * BODY_DROP * rng.random(n)[bodies[1]])
    with_head = (rng.random(n) < HEAD_SHARE) & ~masked & ~by_path
    return asked, _joined((bodies[0][keep], bodies[1][keep]), _of_owners(heads, with_head))


def validate(table: Floats, rows: Rows, data: Dataset) -> float:
    """Mean reciprocal rank of a query's body among those of its repository, over the repositories held out; NaN where
    none of them was mined."""
    scores = []
    for number, name in enumerate(data.repos):
        chosen = np.flatnonzero(data.repo_of == number)[:VALIDATED_PAIRS]
        if name not in HELD_OUT or not len(chosen):
            continue
        encoded = [
            unit(bag(*texts.of(chosen), len(chosen), len(table)) @ table)[0] for texts in (rows.queries, rows.bodies)
        ]
        cosines = encoded[0] @ encoded[1].T
        ranks = 1 + (cosines > np.diag(cosines)[:, np.newaxis]).sum(axis=1)
        scores.append(float(np.mean(1 / ranks)))
    return float(np.mean(scores)) if scores else math.nan


def train(data: Dataset, words: Sequence[str], settings: Settings, start: Floats | None = None) -> tuple[Floats, float]:
    """The table, and what `validate` says of it."""
    rng = np.random.default_rng(settings.seed)
    rows = as_rows(data, Vocabulary(words, SHARED_ROWS))
    table_rows = len(words) + SHARED_ROWS
    first = first_table(rows, table_rows, settings.dimensions, rng) if start is None else started(start, rows, rng)
    table = Table(first)
    held_out = np.array([repo in HELD_OUT for repo in data.repos])
    usable = (np.diff(rows.bodies.ends) > 0) & (np.diff(rows.queries.ends) > 0) & ~np.isin(data.kinds, UNTRAINED_KINDS)
    trained = np.flatnonzero(~held_out[data.repo_of] & usable)
    if len(trained) < 2 * settings.batch:  # half of them come in groups, of which some are left over
        raise ValueError(f"{len(trained):,} pairs are too few for batches of {settings.batch:,}")
    same_query = _numbered_queries(rows)
    steps = max(1, int(len(trained) / settings.batch * settings.epochs))
    log_scale, scale_moment, done, smooth, began = math.log(FIRST_SCALE), 0.0, 0, 0.0, time.monotonic()
    print(f"{len(trained):,} pairs, {steps} steps", flush=True)
    while done < steps:
        for batch in batches(data.repo_of, trained, settings.batch, rng):
            asked, passages = seen(rows, batch, table_rows, rng)
            asked_bag, passage_bag = (bag(*piece, len(batch), table_rows) for piece in (asked, passages))
            both = stacked(asked_bag, passage_bag)
            table.refresh(np.unique(both.indices))
            keys = same_query[batch]
            step = contrast(
                table.sums(asked_bag), table.sums(passage_bag), log_scale, keys[:, np.newaxis] == keys[np.newaxis, :]
            )
            rate = settings.rate * min(1.0, (done + 1) / WARM_UP_STEPS)
            rate *= max(LEAST_RATE, 0.5 * (1 + math.cos(math.pi * done / steps)))
            table.learn(both, np.concatenate((step.queries, step.passages)), rate)
            scale_moment = 0.9 * scale_moment + 0.1 * step.scale
            log_scale -= SCALE_RATE * float(np.sign(scale_moment))
            done += 1
            smooth = step.loss if done == 1 else 0.98 * smooth + 0.02 * step.loss
            if done % 200 == 0 or done == steps:
                took, scale = time.monotonic() - began, math.exp(log_scale)
                held = validate(table.finished(), rows, data)
                print(
                    f"{done}/{steps} loss {smooth:.3f} scale {scale:.1f} held out {held:.4f} {took:.0f} s", flush=True
                )
            if done >= steps:
                return table.finished(), validate(table.finished(), rows, data)
    return table.finished(), validate(table.finished(), rows, data)


def _numbered_queries(rows: Rows) -> NDArray[np.int64]:
    """A number per query, equal for equal queries."""
    known: dict[bytes, int] = {}
    texts = rows.queries
    return np.array(
        [
            known.setdefault(texts.flat[texts.ends[i] : texts.ends[i + 1]].tobytes(), len(known))
            for i in range(len(texts))
        ]
    )


def write_model(folder: Path, table: Floats, words: str, run: Mapping[str, Any]) -> None:
    """A model of ``WORK/models``: ``table.npy``, ``words.txt`` and how it was made (``run.json``)."""
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "table.npy", table.astype(np.float32))
    (folder / "words.txt").write_text(words, encoding="utf-8")
    (folder / "run.json").write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")


def model_folder(models: Path, name: str) -> Path:
    """Where a model of ``WORK/models`` lies. Raises ValueError when there is none of the name."""
    folder = models / name
    if not (folder / "table.npy").is_file():
        known = sorted(path.parent.name for path in models.glob("*/table.npy"))
        raise ValueError(f"there is no model {name!r} in {models}, but {', '.join(known) or 'none at all'}")
    return folder


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="training train", description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--name", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data-seed", type=int, default=1, help="which pairs of a frequent language are taken")
    parser.add_argument("--dimensions", type=int, help=f"{DIMENSIONS} unless told; those of --start with it")
    parser.add_argument("--start", default="", help="a model of WORK whose rows and words to begin with")
    rows_help = f"words; {datasets.ROWS:,} unless told, those of --start with it; rare characters share further rows"
    parser.add_argument("--rows", type=int, help=rows_help)
    parser.add_argument("--epochs", type=float, default=0.8)
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--rate", type=float, default=4e-3)
    args = parser.parse_args(argv)
    start: Floats | None = None
    words: list[str] = []
    dimensions = args.dimensions or DIMENSIONS
    if args.start:
        source = model_folder(args.work / "models", args.start)
        words = (source / "words.txt").read_text(encoding="utf-8").split("\n")
        start = np.load(source / "table.npy")
        dimensions = start.shape[1]
        for name, asked, there in (("dimensions", args.dimensions, dimensions), ("rows", args.rows, len(words))):
            if asked not in (None, there):
                parser.error(f"--{name} {asked}: the model {args.start!r} to start from has {there}")
    data = open_dataset(args.work, args.data_seed)
    words = words or datasets.vocabulary_words(data, args.rows or datasets.ROWS)
    settings = Settings(args.seed, dimensions, len(words), args.epochs, args.batch, args.rate)
    table, held = train(data, words, settings, start)
    run = {
        **asdict(settings),
        "data_seed": args.data_seed,
        "pairs": len(data),
        "held_out_mrr": None if math.isnan(held) else round(held, 4),
    }
    if args.start:
        run["start"] = args.start
    write_model(args.work / "models" / args.name, table, datasets.vocabulary_text(words), run)
    print(json.dumps(run))

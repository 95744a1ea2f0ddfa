"""A table that says of a text what the teacher says of it, as well as a sum of rows can.

    python -m training distil WORK --name general [--dimensions 256] [--seed 1]

Reads ``WORK/teacher.npz`` (`teach`). Two tables are joined: the teacher's vectors of the words alone, rarer words
weighing more (Arora et al. 2017, "A simple but tough-to-beat baseline for sentence embeddings"), and the same after
learning to give whole texts the teacher's vectors, by the cosine to them. Each knows what the other does not: the first
the rare words, the second how much a word says. They are turned into ``--dimensions`` and kept in
``WORK/models/NAME``, where `train --start` takes them up.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from findling.embedding.bundled_files import Vocabulary
from training import dataset as datasets
from training.bag import Floats, Table, unit
from training.dataset import SHARED_ROWS, digest, filtered_pairs, open_dataset
from training.encoding import bags
from training.tables import joined, levelled, sampled, turned
from training.teach import Lessons, load
from training.train import DIMENSIONS, Rows, as_rows, rarity, write_model

EPOCHS = 6.0
BATCH = 1024
RATE = 2e-3
WARM_UP_STEPS = 50
LEAST_RATE = 0.02
MOST_DROPPED = 0.2
"""Of a text's rows, so that no word relies on its neighbours."""


def of_words(lessons: Lessons, rows: Rows) -> Floats:
    """The words' own vectors about their mean; rows that belong to no word are zero."""
    table = np.zeros((len(lessons.words) + SHARED_ROWS, lessons.word_vectors.shape[1]), np.float32)
    table[: len(lessons.words)] = lessons.word_vectors - lessons.word_vectors.mean(axis=0)
    weighted: Floats = table * rarity(rows, len(table))
    return weighted


def of_texts(start: Floats, texts: sparse.csr_matrix, wanted: Floats, seed: int) -> Floats:
    """``start`` after learning to give the ``texts`` the directions that are ``wanted`` of them."""
    rng = np.random.default_rng(seed)
    table = Table(start / np.median(np.linalg.norm(texts @ start, axis=1)))
    batch = min(BATCH, texts.shape[0])
    steps, done, smooth = int(EPOCHS * texts.shape[0] / batch), 0, 0.0
    while done < steps:
        order = rng.permutation(texts.shape[0])
        for first in range(0, len(order) - batch + 1, batch):
            chosen = np.sort(order[first : first + batch])
            some = _thinned(texts[chosen], rng)
            table.refresh(np.unique(some.indices))
            directions, lengths = unit(table.sums(some))
            cosines = (directions * wanted[chosen]).sum(axis=1, keepdims=True)
            slope = (directions * cosines - wanted[chosen]) / lengths / len(chosen)
            rate = RATE * min(1.0, (done + 1) / WARM_UP_STEPS)
            table.learn(some, slope, rate * max(LEAST_RATE, 0.5 * (1 + math.cos(math.pi * done / steps))))
            smooth = float(cosines.mean()) if done == 0 else 0.98 * smooth + 0.02 * float(cosines.mean())
            done += 1
            if done >= steps:
                break
    print(f"{steps} steps over {texts.shape[0]:,} texts, cosine to the teacher {smooth:.3f}", flush=True)
    return table.finished()


def _thinned(texts: sparse.csr_matrix, rng: np.random.Generator) -> sparse.csr_matrix:
    of_text = np.repeat(rng.random(texts.shape[0]), np.diff(texts.indptr))
    kept = rng.random(len(texts.data)) >= MOST_DROPPED * of_text
    made = sparse.csr_matrix((texts.data * kept, texts.indices, texts.indptr), shape=texts.shape)
    made.eliminate_zeros()
    return made


def distil(lessons: Lessons, rows: Rows, dimensions: int, seed: int) -> Floats:
    """The joined table in ``dimensions``."""
    vocabulary = Vocabulary(lessons.words, SHARED_ROWS)
    texts = bags(lessons.texts, vocabulary, len(lessons.words) + SHARED_ROWS)
    known: NDArray[np.bool_] = np.diff(texts.indptr) > 0
    wanted, _ = unit(lessons.text_vectors - lessons.text_vectors.mean(axis=0))
    words = of_words(lessons, rows)
    learned = of_texts(words, texts[known].tocsr(), wanted[known], seed)
    seen = sampled((rows.queries, rows.bodies), len(words), seed)
    table, kept = turned(joined(((1.0, words), (1.0, learned)), seen), seen, dimensions)
    print(f"{dimensions} dimensions keep {kept:.3f}", flush=True)
    return levelled(table, seen)


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="training distil", description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--name", required=True)
    parser.add_argument("--dimensions", type=int, default=DIMENSIONS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data-seed", type=int, default=1)
    args = parser.parse_args(argv)
    lessons_file = args.work / "teacher.npz"
    if not lessons_file.exists():
        parser.error(f"there is no {lessons_file}: run the step teach first")
    lessons = load(lessons_file)
    if lessons.made_of != digest(filtered_pairs(args.work)):
        raise ValueError(f"{lessons_file} is of other pairs than those that lie there now: run the step teach again")
    rows = as_rows(open_dataset(args.work, args.data_seed), Vocabulary(lessons.words, SHARED_ROWS))
    table = distil(lessons, rows, args.dimensions, args.seed)
    run = {
        "dimensions": args.dimensions,
        "seed": args.seed,
        "texts": len(lessons.texts),
        "epochs": EPOCHS,
        "teacher": lessons.teacher,
        "pairs_sha256": lessons.made_of,
    }
    write_model(args.work / "models" / args.name, table, datasets.vocabulary_text(lessons.words), run)

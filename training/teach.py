"""What a sentence model says of the pairs' words and texts: the meaning that code and its comments teach too little of.

    python -m training teach WORK --model FOLDER [--rows 30000] [--queries 120000] [--passages 8000]

FOLDER holds a sentence model as ONNX (``model.onnx`` and ``tokenizer.json``), which the product's provider ``local``
opens; nothing is fetched. Its vectors of every word of the vocabulary, of questions and comments, and of the
beginnings of documents' sections go to ``WORK/teacher.npz``. A text is cut to what says its subject. All cores
are used; how many there are changes no vector.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from findling.config import Config
from findling.embedding import Embedder
from findling.embedding.providers.local import open_local
from training import dataset as datasets
from training.bag import Floats
from training.dataset import PROSE, digest, filtered_pairs, open_dataset
from training.pairs import read_pairs
from training.train import HELD_OUT, UNTRAINED_KINDS

MOST_CHARS = 300
QUERIES, PASSAGES = 120_000, 8_000
"""What takes some twenty minutes of two cores beside other work: 350 words or comments a second, far fewer sections."""

PROSE_SHARE = 0.4
"""Of the questions: headings, questions and sentences of documents; the rest are comments of code."""

BATCH_TEXTS = 64
"""Computed together. With 256 of them words take a quarter longer, for they leave the processor's cache."""

_BLOCK = 10_000


@dataclass(frozen=True, slots=True)
class Lessons:
    """Vectors (n, teacher's dimensions) of length 1: of the vocabulary's words in order, and of texts. ``made_of`` is
    the digest of the pairs that both are from (`training.dataset.digest`), ``teacher`` names the model's content."""

    words: list[str]
    word_vectors: Floats
    texts: list[str]
    text_vectors: Floats
    made_of: str = ""
    teacher: str = ""


def chosen_texts(path: Path, queries: int, passages: int, seed: int) -> list[str]:
    """Different questions and comments, then beginnings of sections, by chance; none of what is held out."""
    rng = random.Random(seed)
    prose: dict[str, None] = {}
    code: dict[str, None] = {}
    sections: list[str] = []
    for pair in read_pairs(path):
        if pair.repo in HELD_OUT or pair.kind in UNTRAINED_KINDS:
            continue
        (prose if pair.language in PROSE else code)[pair.query[:MOST_CHARS]] = None
        if pair.language in PROSE:
            sections.append(pair.body[:MOST_CHARS])
    parts = [
        rng.sample(found, min(wanted, len(found)))
        for found, wanted in (
            (list(prose), int(queries * PROSE_SHARE)),
            (list(code), queries - int(queries * PROSE_SHARE)),
            (sections, passages),
        )
    ]
    return [text for part in parts for text in part]


def vectors(teacher: Embedder, texts: Sequence[str]) -> Floats:
    """The teacher's vectors, with a line of progress now and then."""
    made = []
    for start in range(0, len(texts), _BLOCK):
        made.append(teacher.encode(texts[start : start + _BLOCK]).astype(np.float16))
        print(f"{min(start + _BLOCK, len(texts)):,} of {len(texts):,} texts", flush=True)
    together: Floats = np.concatenate(made).astype(np.float32)
    return together


def save(lessons: Lessons, path: Path) -> None:
    """As arrays; no pickles."""
    np.savez(
        path,
        allow_pickle=False,
        words=np.array("\n".join(lessons.words)),
        word_vectors=lessons.word_vectors.astype(np.float16),
        texts=np.array("\0".join(lessons.texts)),
        text_vectors=lessons.text_vectors.astype(np.float16),
        made_of=np.array(lessons.made_of),
        teacher=np.array(lessons.teacher),
    )


def load(path: Path) -> Lessons:
    """What `save` wrote."""
    with np.load(path, allow_pickle=False) as stored:
        return Lessons(
            str(stored["words"]).split("\n"),
            stored["word_vectors"].astype(np.float32),
            str(stored["texts"]).split("\0"),
            stored["text_vectors"].astype(np.float32),
            *(str(stored[name]) if name in stored else "" for name in ("made_of", "teacher")),
        )


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="training teach", description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=datasets.ROWS)
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--passages", type=int, default=PASSAGES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data-seed", type=int, default=1)
    args = parser.parse_args(argv)
    if not args.model.is_dir():
        parser.error(f"{args.model} is no folder: --model is one that holds a sentence model as ONNX")
    together = replace(Config().embedding, batch_size=BATCH_TEXTS)
    teacher = open_local(str(args.model.resolve()), replace(Config(), embedding=together), dimensions=None)
    pairs = filtered_pairs(args.work)
    words = datasets.vocabulary_words(open_dataset(args.work, args.data_seed), args.rows)
    texts = chosen_texts(pairs, args.queries, args.passages, args.seed)
    texts = [text.replace("\0", " ") for text in texts]
    began = time.monotonic()
    name = f"{args.model.resolve().name}, {teacher.fingerprint.version}"
    lessons = Lessons(words, vectors(teacher, words), texts, vectors(teacher, texts), digest(pairs), name)
    save(lessons, args.work / "teacher.npz")
    took = time.monotonic() - began
    print(f"{len(words):,} words and {len(texts):,} texts by {name} in {took:.0f} s")

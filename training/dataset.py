"""Pairs as numbers: every word of every text once, and a vocabulary of the words that are worth a row.

The words are the product's (`model.tokenizer`), the head of a passage is the one that the product puts before a
chunk. Which row a word has is decided by the product's own `Vocabulary`, so that training and asking cannot differ.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from findling.embedding.bundled_files import Vocabulary, model_terms
from findling.model.tokenizer import words
from training.pairs import Pair, read_pairs

PAIRS_PER_LANGUAGE = 110_000
"""More of one language is left out by chance: Python, TypeScript and English prose would outweigh the others."""

PROSE = frozenset(("markdown", "rst", "asciidoc"))
PROSE_PAIRS = 330_000
"""Of documents in all, for all natural languages and subjects together."""

LEAST_COUNT = 5
LEAST_WORD_COUNT = 2
"""What is met once, as it is written, teaches nothing; most of the different words are."""

QUERY_WEIGHT = 8
"""A query's word counts as often as so many of a passage: it is what people say."""

MOST_TERM_CHARS = 24
MOST_DIGITS = 4
SHARED_ROWS = 256
ROWS = 30_000
"""Words that have a row; with 256 dimensions just under the 8 MB that the package may hold."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_SINGLE_CHARACTER_COUNT = 60
"""A character of another script that is met this often is a piece of its own."""

Numbers = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Ragged:
    """Lists of numbers, one after the other: list ``i`` is ``flat[ends[i]:ends[i + 1]]``."""

    flat: Numbers
    ends: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ends) - 1

    def of(self, chosen: NDArray[np.int64]) -> tuple[Numbers, NDArray[np.int64]]:
        """The numbers of the chosen lists, and for each the place of its list in ``chosen``."""
        starts, lengths = self.ends[chosen], self.ends[chosen + 1] - self.ends[chosen]
        owners = np.repeat(np.arange(len(chosen)), lengths)
        offsets = np.arange(len(owners)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return self.flat[np.repeat(starts, lengths) + offsets], owners


@dataclass(frozen=True, slots=True)
class Dataset:
    """Pairs by their words' numbers. ``heads`` is what the product puts before a chunk, ``names`` what is defined."""

    words: list[str]
    queries: Ragged
    bodies: Ragged
    heads: Ragged
    names: Ragged
    repos: list[str]
    repo_of: NDArray[np.int32]
    kinds: list[str]
    languages: list[str]

    def __len__(self) -> int:
        return len(self.queries)


def chosen_pairs(path: Path, seed: int) -> list[Pair]:
    """The pairs of a file, at most `PAIRS_PER_LANGUAGE` of each language and `PROSE_PAIRS` of documents."""
    by_language: dict[str, list[Pair]] = {}
    for pair in read_pairs(path):
        by_language.setdefault("prose" if pair.language in PROSE else pair.language, []).append(pair)
    chosen: list[Pair] = []
    for language, pairs in sorted(by_language.items()):
        random.Random(seed).shuffle(pairs)
        chosen += pairs[: PROSE_PAIRS if language == "prose" else PAIRS_PER_LANGUAGE]
    return chosen


def head_of(pair: Pair) -> str:
    """What `findling.engine.embedding_pass.embedded_text` puts before a chunk: folders, stem twice, names."""
    *folders, name = pair.path.split("/")
    stem = name.split(".", 1)[0]
    return " ".join((*folders[-3:], stem, stem, *pair.context, pair.name))


def dataset(pairs: Sequence[Pair]) -> Dataset:
    """Number the words of all pairs."""
    numbers: dict[str, int] = {}

    def numbered(texts: Iterable[str]) -> Ragged:
        flat = [np.array([numbers.setdefault(word, len(numbers)) for word in words(text)], np.int32) for text in texts]
        ends = np.cumsum([0, *map(len, flat)], dtype=np.int64)
        return Ragged(np.concatenate(flat), ends)

    repos = sorted({pair.repo for pair in pairs})
    place = {repo: number for number, repo in enumerate(repos)}
    made = [
        numbered(texts)
        for texts in (
            (pair.query for pair in pairs),
            (pair.body for pair in pairs),
            (head_of(pair) for pair in pairs),
            (pair.name for pair in pairs),
        )
    ]
    return Dataset(
        list(numbers),
        made[0],
        made[1],
        made[2],
        made[3],
        repos,
        np.array([place[pair.repo] for pair in pairs], np.int32),
        [pair.kind for pair in pairs],
        [pair.language for pair in pairs],
    )


def word_counts(data: Dataset, query_weight: int = 1) -> NDArray[np.int64]:
    """How often each word is met."""
    counts = np.zeros(len(data.words), np.int64)
    for texts, weight in ((data.queries, query_weight), (data.bodies, 1), (data.heads, 1)):
        counts += weight * np.bincount(texts.flat, minlength=len(data.words))
    return counts


def vocabulary_words(data: Dataset, size: int) -> list[str]:
    """The terms worth a row, most frequent first: of the mined text alone."""
    counts = word_counts(data, QUERY_WEIGHT)
    terms: Counter[str] = Counter()
    characters: Counter[str] = Counter()
    for word, count in zip(data.words, counts.tolist(), strict=True):
        if count < LEAST_WORD_COUNT:
            continue
        for term in model_terms(word):
            terms[term] += count
            if not term.isascii():
                for character in term:
                    characters[character] += count
    chosen = dict.fromkeys(_LETTERS)
    chosen |= dict.fromkeys(
        character for character, count in characters.items() if count >= _SINGLE_CHARACTER_COUNT and character.isalnum()
    )
    for term, count in sorted(terms.items(), key=lambda item: (-item[1], item[0])):
        if len(chosen) >= size or count < LEAST_COUNT:
            break
        if len(term) <= MOST_TERM_CHARS and not (term.isdigit() and len(term) > MOST_DIGITS):
            chosen.setdefault(term)
    return list(chosen)[:size]


def vocabulary_text(words: Sequence[str]) -> str:
    """As a model's ``words.txt`` has them."""
    return "\n".join(words)


def in_rows(texts: Ragged, rows_of_word: Ragged, most: int) -> Ragged:
    """Words' numbers to rows of the table, at most ``most`` of each text."""
    lengths = np.diff(rows_of_word.ends)[texts.flat]
    flat, _ = rows_of_word.of(texts.flat.astype(np.int64))
    behind = np.concatenate(([0], np.cumsum(lengths)))[texts.ends]
    kept = np.minimum(np.diff(behind), most)
    ends = np.concatenate(([0], np.cumsum(kept)))
    places = np.arange(ends[-1]) - np.repeat(ends[:-1], kept) + np.repeat(behind[:-1], kept)
    return Ragged(flat[places], ends)


def rows_of_words(vocabulary: Vocabulary, data: Dataset) -> Ragged:
    """For each word the rows that it is made of; none for words that are met too seldom."""
    counts = word_counts(data).tolist()
    made = [
        vocabulary.rows(word) if count >= LEAST_WORD_COUNT else ()
        for word, count in zip(data.words, counts, strict=True)
    ]
    flat = np.fromiter((row for rows in made for row in rows), np.int32)
    return Ragged(flat, np.cumsum([0, *map(len, made)], dtype=np.int64))


def save(data: Dataset, path: Path, made_of: str = "") -> None:
    """As one uncompressed archive of arrays; no pickles. ``made_of``: the `digest` of the pairs."""
    arrays: dict[str, NDArray[Any]] = {"repo_of": data.repo_of, "made_of": np.array(made_of)}
    for name in ("queries", "bodies", "heads", "names"):
        arrays |= {f"{name}_{part}": getattr(getattr(data, name), part) for part in ("flat", "ends")}
    for name in ("words", "repos", "kinds", "languages"):
        arrays[name] = np.array("\n".join(getattr(data, name)))
    np.savez(path, allow_pickle=False, **arrays)


def load(path: Path) -> Dataset:
    """What `save` wrote."""
    with np.load(path, allow_pickle=False) as stored:
        ragged = [
            Ragged(stored[f"{name}_flat"], stored[f"{name}_ends"]) for name in ("queries", "bodies", "heads", "names")
        ]
        texts = {name: str(stored[name]).split("\n") for name in ("words", "repos", "kinds", "languages")}
        return Dataset(
            texts["words"],
            ragged[0],
            ragged[1],
            ragged[2],
            ragged[3],
            texts["repos"],
            stored["repo_of"],
            texts["kinds"],
            texts["languages"],
        )


def digest(path: Path) -> str:
    """Which pairs a file holds, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def open_dataset(work: Path, seed: int) -> Dataset:
    """The numbered words of ``WORK/filtered.jsonl``, made anew when it is another than the last time."""
    pairs, path = filtered_pairs(work), work / f"dataset-{seed}.npz"
    now = digest(pairs)
    if not path.exists() or _made_of(path) != now:
        print(f"numbering the words of {pairs}", flush=True)
        save(dataset(chosen_pairs(pairs, seed)), path, now)
    return load(path)


def filtered_pairs(work: Path) -> Path:
    """Where `filter` wrote the pairs. Raises ValueError when it did not."""
    path = work / "filtered.jsonl"
    if not path.exists():
        raise ValueError(f"there is no {path}: run the steps mine and filter first")
    return path


def _made_of(path: Path) -> str:
    with np.load(path, allow_pickle=False) as stored:
        return str(stored["made_of"]) if "made_of" in stored else ""

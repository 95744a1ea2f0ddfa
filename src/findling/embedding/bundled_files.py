"""Describes the bundled model without opening it: its files, fingerprint and similarities. Imports no numpy."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct

from findling.embedding.embedder import BUNDLED, Fingerprint
from findling.model.errors import EmbedderUnavailable
from findling.model.remembered import Remembered
from findling.model.tokenizer import MAX_WORD, parts, squash, term_key, terms_of, words

# --- bundled vocabulary -------------------------------------------------------------------------------------------
# Finds the rows of the bundled model's table that a word is made of. Pure; the same in training and in use.
#
# A word is split where `model.tokenizer` splits it, but its parts keep their endings, which are part of the meaning. A
# part in the vocabulary has a row. Any other part is split into the longest pieces that have rows. A character in none
# of them shares a row with other characters. So every word has rows.

MAX_PIECE_CHARS = 24
"""The longest piece that is looked for. The vocabulary has hardly any longer ones."""


def model_terms(word: str) -> Sequence[str]:
    """A word's parts, unstemmed. Words in other scripts, and overlong ones, are split as in the index."""
    if word.isascii() and len(word) <= MAX_WORD:
        return parts(word)
    terms = terms_of(word)
    return terms[:-1] if len(terms) > 1 and terms[-1] == squash(word) else terms


MAX_REMEMBERED_TERMS = 32_768
"""How many terms outside the vocabulary have their pieces remembered. About 7 MB when full; then all are forgotten."""


class Vocabulary:
    """The terms of the table's rows.

    ``words``: the terms in the order of their rows. After them come ``shared_rows`` rows, at least one, for characters
    that are in no term; a character's key says which.
    """

    def __init__(self, words: Sequence[str], shared_rows: int) -> None:
        self._rows: Mapping[str, int] = dict(zip(words, range(len(words)), strict=True))
        self._words = len(words)
        self._shared_rows = shared_rows
        self._pieces = Remembered[str, tuple[int, ...]](lambda term: tuple(self._cut(term)), MAX_REMEMBERED_TERMS)

    def __len__(self) -> int:
        """The number of different words."""
        return len(self._rows)

    def rows(self, word: str) -> tuple[int, ...]:
        """The rows of one word as `tokenizer.words` gives it; () where it holds neither letter nor digit."""
        known = self._rows.get
        found: list[int] = []
        for term in model_terms(word):
            row = known(term)
            if row is None:
                found += self._pieces[term]
            else:
                found.append(row)
        return tuple(found)

    def _cut(self, term: str) -> Iterator[int]:
        start = 0
        while start < len(term):
            for end in range(min(len(term), start + MAX_PIECE_CHARS), start, -1):
                row = self._rows.get(term[start:end])
                if row is not None:
                    yield row
                    start = end
                    break
            else:
                if term[start].isalnum():
                    yield self._words + term_key(term[start]) % self._shared_rows
                start += 1


MODEL_DIR = Path(__file__).parent / "model"
TABLE_FILE = "emb.int8.npy"
WORDS_FILE = "vocab.txt"
META_FILE = "meta.json"

# The format of the files. Files of another format are refused.
FORMAT = 2

# Part of the fingerprint: raise it when the same files would give other vectors.
ARITHMETIC_VERSION = 1

REMEDY = "Reinstall findling to restore its model files; searching by text and by name works without them."


class Described(NamedTuple):
    """A model as its ``meta.json`` has it. ``words``: how many are in the list; ``shared_rows``: rows of no word."""

    words: int
    shared_rows: int
    fingerprint: Fingerprint


def described(folder: Path, *, verify: bool) -> Described:
    """The description of the model in ``folder``, after its files' sizes are checked; with ``verify`` checksums too.

    Raises EmbedderUnavailable when a file is missing or damaged.
    """
    with reading(folder):
        meta = json.loads((folder / META_FILE).read_bytes())
        if meta["format"] != FORMAT:
            raise ValueError(f"its format is {meta['format']}, not {FORMAT}")
        digests = [_check(folder / name, meta["files"][name], verify) for name in (TABLE_FILE, WORDS_FILE)]
        content = hashlib.sha256("\0".join(digests).encode()).hexdigest()
        name, version, prefix_scheme = [str(meta[key]) for key in ("name", "version", "prefix_scheme")]
        return Described(
            words=int(meta["words"]),
            shared_rows=int(meta["shared_rows"]),
            fingerprint=Fingerprint(
                provider=BUNDLED,
                model=name,
                version=f"{version}+{content[:16]}.{ARITHMETIC_VERSION}",
                dimensions=int(meta["dimensions"]),
                prefix_scheme=prefix_scheme,
            ),
        )


def knows(text: str) -> bool:
    """Whether the bundled model's vocabulary has each part of each word of a text. It was made from many texts, so the
    real words of a language are in it. Raises `EmbedderUnavailable`."""
    with reading(MODEL_DIR):
        known = b"\n" + (MODEL_DIR / WORDS_FILE).read_bytes() + b"\n"
    return all(f"\n{part}\n".encode() in known for word in words(text) for part in model_terms(word))


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Turn failures in the block, which reads a model's files, into EmbedderUnavailable."""
    try:
        yield
    except FileNotFoundError as error:
        raise EmbedderUnavailable(
            f"The bundled embedding model is incomplete: {error.filename} is missing.", remedy=REMEDY
        ) from error
    except (OSError, ValueError, KeyError, TypeError, EOFError) as error:
        raise EmbedderUnavailable(
            f"The bundled embedding model cannot be read from {folder}: {error}.", remedy=REMEDY
        ) from error


def _check(path: Path, expected: Mapping[str, Any], verify: bool) -> str:
    """Compare a file with what ``meta.json`` says of it; returns the checksum from there."""
    size = path.stat().st_size
    if size != expected["bytes"]:
        raise ValueError(f"{path.name} has {size:,} bytes instead of {expected['bytes']:,}")
    digest = str(expected["sha256"])
    if verify:
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != digest:
                raise ValueError(f"{path.name} does not match its checksum")
    return digest


# --- from a cosine to a similarity that means the same for every model

NOT_MEASURED = 1.0


class Calibration(Struct, frozen=True):
    """A model's map from cosines to similarities: ``similarity = 1 - (1 - cosine) ** exponent``.

    The cosines of questions with their answers lie in another range for each model, and a threshold that a user sets
    should mean the same for all. 0 stays 0, 1 stays 1, and the order never changes. The exponent, at least 1, is
    measured and stored with the model: the usual threshold 0.7 then lies at the cosine that best tells questions with
    an answer from questions without one. A model without a measured exponent has 1, and its similarity is the cosine.
    """

    exponent: float = NOT_MEASURED

    def similarity(self, cosine: float) -> float:
        """The similarity, in [0, 1], of a cosine; 0 for cosines below 0."""
        return 1.0 - float((1.0 - min(1.0, max(0.0, cosine))) ** self.exponent)

    def least_cosine(self, similarity: float) -> float:
        """The lowest cosine with at least this similarity; for 0 that is every cosine."""
        return -1.0 if similarity <= 0 else 1.0 - float((1.0 - similarity) ** (1.0 / self.exponent))


def calibration_of(fingerprint: Fingerprint) -> Calibration:
    """The map of a model's cosines."""
    return _bundled() if fingerprint.provider == BUNDLED else Calibration()


@cache
def _bundled() -> Calibration:
    try:
        exponent = float(json.loads((MODEL_DIR / META_FILE).read_bytes())["similarity"]["exponent"])
    except (OSError, ValueError, KeyError, TypeError):
        return Calibration()  # a model without a measurement; one that is damaged is reported where it is opened
    return Calibration(max(NOT_MEASURED, exponent))

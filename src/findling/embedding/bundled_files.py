"""The bundled model's files, and what can be told of it without opening it: its fingerprint. Imports no numpy."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from findling.embedding.embedder import BUNDLED, Fingerprint
from findling.model.errors import EmbedderUnavailable

MODEL_DIR = Path(__file__).parent / "model"
TABLE_FILE = "emb.int8.npy"
WORDS_FILE = "vocab.txt"
META_FILE = "meta.json"

# How the files are to be read; no other format is.
FORMAT = 2

# Part of the fingerprint: raise it when the same files would give other vectors.
ARITHMETIC_VERSION = 1

REMEDY = "Reinstall findling to restore its model files; searching by text and by name works without them."


class Described(NamedTuple):
    """``words`` are those in the list; ``shared_rows`` of the table belong to none of them."""

    words: int
    shared_rows: int
    fingerprint: Fingerprint


def described(folder: Path, *, verify: bool) -> Described:
    """The model in ``folder``, its files' sizes checked, with ``verify`` their checksums too.

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


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """What goes wrong while a model's files are read leaves as EmbedderUnavailable."""
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
    """Compare the file with what ``meta.json`` says of it, and give back the checksum that it should have."""
    size = path.stat().st_size
    if size != expected["bytes"]:
        raise ValueError(f"{path.name} has {size:,} bytes instead of {expected['bytes']:,}")
    digest = str(expected["sha256"])
    if verify:
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != digest:
                raise ValueError(f"{path.name} does not match its checksum")
    return digest

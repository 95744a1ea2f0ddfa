"""How a collection is indexed: which of its files, cut how, by how many processes. From the configuration that holds
for its folder, so that it does not depend on the project that findling is called from.

An index lies in the library's data folder even where the folder has an index of its own: documents are cut smaller
here, other files may be wanted, the folder need not be writable, and what goes with a collection must be nobody else's.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from findling.config import load
from findling.engine import Recipe
from findling.engine.jobs.turns import Turns
from findling.engine.library.place import TURNS
from findling.reading.chunk_docs import DocLimits
from findling.sources.selection import DiscoveryOptions

if TYPE_CHECKING:
    from findling.config import Config
    from findling.engine.library.collections import Collection

_SPECIAL = re.compile(r"([\\*?\[\]! ])")


def recipe_for(collection: Collection, data_directory: Path) -> Recipe:
    """Raises `ConfigError` for a configuration that is wrong."""
    config = load(collection.root).config
    library = config.library
    turns = data_directory / TURNS
    return Recipe(
        wanted=_wanted(collection, config, data_directory),
        docs=DocLimits(library.chunk_size, library.overlap),
        workers=min(library.max_file_processing_concurrency, os.cpu_count() or 1),
        pages=True,
        turns={
            "runs": Turns(turns / "runs", library.max_directory_concurrency),
            "embedding": Turns(turns / "embedding", library.max_embedding_concurrency),
        },
    )


def _wanted(collection: Collection, config: Config, data_directory: Path) -> DiscoveryOptions:
    library, index = config.library, config.index
    if collection.kind == "file":
        return DiscoveryOptions(
            max_bytes=index.max_file_bytes,
            files=(Path(collection.path).name,),
            max_document_bytes=index.max_document_bytes,
            pages=True,
        )
    inside = _below(collection.root, data_directory)
    return DiscoveryOptions(
        hidden=index.hidden or collection.origin is not None,  # somebody chose what was fetched
        max_bytes=index.max_file_bytes,
        include=library.include_patterns or index.include,
        exclude=(
            *_only_types(library.file_types),
            *index.exclude,
            *library.exclude_patterns,
            *(f"/{_literal(path)}" for path in collection.removed),
            *((f"/{_literal(inside)}/",) if inside else ()),
        ),
        most_files=library.max_files,
        max_document_bytes=index.max_document_bytes,
        pages=True,
    )


def _only_types(file_types: tuple[str, ...]) -> tuple[str, ...]:
    """Rules that leave out every file whose name does not end so; nothing where all types are taken."""
    endings = [_literal(name.strip().removeprefix("*").removeprefix(".")) for name in file_types]
    kept = [f"!*.{ending}" for ending in endings if ending]
    return ("*", "!*/", *kept) if kept else ()


def _literal(path: str) -> str:
    """A path as a glob that matches nothing else."""
    return _SPECIAL.sub(r"\\\1", path)


def _below(root: Path, folder: Path) -> str:
    """``folder`` relative to ``root`` with ``/``, '' when it does not lie below it."""
    real = Path(os.path.realpath(folder))
    return real.relative_to(root).as_posix() if real != root and real.is_relative_to(root) else ""

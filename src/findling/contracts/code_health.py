"""Whether what the index rests on works: its files, their format, the grammars."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from findling import reading, store
from findling.model import errors

SchemaStatus = Literal["compatible", "not_indexed", "reindex_required", "corrupt_manifest"]

_OLDER = "older format"
"""How the store's own message speaks of an index that an earlier version wrote."""


def schema_status(store_dir: Path, *, indexed: bool) -> SchemaStatus:
    """Whether this version can read the index as it stands."""
    try:
        problem = store.soundness.problem(store_dir)
    except errors.IndexNewer:
        return "reindex_required"
    except errors.IndexUnavailable:
        return "corrupt_manifest"
    if problem:
        return "reindex_required" if _OLDER in problem else "corrupt_manifest"
    return "compatible" if indexed else "not_indexed"


def required_version() -> int:
    """The format of the index that this version reads and writes."""
    return store.FORMAT_VERSION


def store_problem(store_dir: Path) -> tuple[str, str]:
    """What is wrong with the tables and what with the text index, '' for nothing."""
    try:
        problem = store.soundness.problem(store_dir)
    except errors.FindlingError as error:
        return str(error), ""
    return ("", problem) if problem.startswith("The text index") else (problem, "")


def missing_folder(root: Path) -> errors.RootError | None:
    """What is wrong where the folder that is searched is not there any more."""
    if root.is_dir():
        return None
    return errors.RootError(f"There is no folder {str(root)!r} any more.", remedy="Check the path.")


def grammars() -> tuple[list[str], list[str]]:
    """Languages whose definitions can be read, and those whose grammar this installation lacks. Loads none."""
    languages, tables = reading.supported_languages(), reading.GRAMMARS
    missing = [name for name in languages if name in tables and not reading.has_grammar(tables[name].parser)]
    return [name for name in languages if name not in missing], missing

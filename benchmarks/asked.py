"""The command line of the scripts that ask judged queries of their repositories."""

from __future__ import annotations

import argparse
from pathlib import Path

from findling.evaluation.judged import Judged, load_queries


def parser(about: str | None) -> argparse.ArgumentParser:
    """``CORPORA --queries QUERIES.jsonl [--cache] [--repos NAME ...]``, told of by ``about``."""
    found = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("corpora", type=Path)
    found.add_argument("--queries", type=Path, required=True)
    found.add_argument("--cache", action="store_true", help="keep the indexes in the user's cache folder")
    found.add_argument("--repos", nargs="*", help="only these repositories")
    return found


def queries(options: argparse.Namespace) -> list[Judged]:
    """Those of the file, of the repositories that are named."""
    return [query for query in load_queries(options.queries) if not options.repos or query.repo in options.repos]

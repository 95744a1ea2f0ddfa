"""How large a shared store is and what it needs, from what was measured: the arithmetic of docs/team.md.

    python benchmarks/costs.py [--passages 100000 1000000] [--questions 1]

The constants are measured (docs/team.md says where); what is made of them is linear, and so a guess beyond a million.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

BYTES_A_PASSAGE = 7_000
"""In the database, postings with their indexes included; measured on an earlier layout of the tables."""

TEXT_SHARE = 0.1
POSTINGS_SHARE = 0.66
PASSAGES_A_FILE = 8.2
INDEXED_PASSAGES_A_SECOND = 207
"""By one worker with two busy cores, vectors of the bundled model included."""

STORE_MS_A_PASSAGE = 0.0057
"""Of the database's processor, for a question in words that is asked of all of them."""

WORKER_CORE_S = 0.058
"""Of a server's processor for ranking a question (95th percentile)."""

ROWS = ("passages", "files", "text", "database", "of which postings", "backup, uncompressed", "index anew, one worker")


def table(passages: Sequence[int], questions: float) -> Iterator[str]:
    """The lines of a table in Markdown."""
    columns = [_column(number, questions) for number in passages]
    names = [*ROWS, f"cores of the database at {questions:g} questions/s", "cores of servers"]
    yield "| | " + " | ".join(f"{number:,}" for number in passages) + " |"
    yield "|---|" + "--:|" * len(passages)
    for name, *values in zip(names[1:], *(column[1:] for column in columns), strict=True):
        yield f"| {name} | " + " | ".join(values) + " |"


def _column(passages: int, questions: float) -> list[str]:
    size = passages * BYTES_A_PASSAGE
    hours = passages / INDEXED_PASSAGES_A_SECOND / 3600
    return [
        f"{passages:,}",
        f"{passages / PASSAGES_A_FILE:,.0f}",
        _size(size * TEXT_SHARE),
        _size(size),
        _size(size * POSTINGS_SHARE),
        _size(size),
        f"{hours:.1f} h",
        f"{passages * STORE_MS_A_PASSAGE / 1000 * questions:.1f}",
        f"{WORKER_CORE_S * questions:.1f}",
    ]


def _size(number: float) -> str:
    return f"{number / 1e9:.1f} GB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--questions", type=float, default=1.0, help="a second")
    args = parser.parse_args()
    print("\n".join(table(args.passages, args.questions)))


if __name__ == "__main__":
    main()

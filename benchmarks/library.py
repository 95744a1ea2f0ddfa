"""How long the library takes to bring in documents, how much memory that takes, and whether a small collection is
found among large ones.

    library.py [--seed N] [DOCUMENT ...]

A repository of 300 Markdown files is fetched from git's own server on this machine, a PDF of 200 pages and a folder of
1,000 Markdown files are added, all made of the words of this repository's documentation; then each DOCUMENT by itself.
Times include vectors; memory is private (USS), summed over all processes. Nothing outside of a
temporary folder is touched. Linux only.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "library"))
sys.path.insert(0, str(HERE.parent / "tests" / "ingest"))

import office  # noqa: E402
import servers  # noqa: E402
from processes import MemorySampler  # noqa: E402

from findling.engine.jobs import RunningJob  # noqa: E402
from findling.engine.library import Library  # noqa: E402
from findling.engine.library.fetching.fetch_repo import RECEIVED  # noqa: E402
from findling.engine.library.fetching.fetch_requests import RepoRequest  # noqa: E402
from findling.engine.library.fetching.running import run_here  # noqa: E402

FILES, PAGES, DOCUMENTS = 300, 200, 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("documents", nargs="*", type=Path, metavar="DOCUMENT")
    args = parser.parse_args()
    dice = random.Random(args.seed)
    words = [word.strip("#`|*") for path in HERE.parent.glob("docs/*.md") for word in path.read_text().split()]

    def prose(count: int) -> str:
        return " ".join(dice.choice(words) for _ in range(count))

    def document(number: int) -> str:
        return f"# Document {number}\n\n" + "".join(f"## Part {part}\n\n{prose(120)}\n\n" for part in range(4))

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        settings = folder / "config" / "findling" / "config.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text('[fetch]\nallowed_hosts = ["127.0.0.1"]\n')
        os.environ["XDG_CONFIG_HOME"] = str(folder / "config")
        os.environ["FINDLING_DATA_DIR"] = str(folder / "data")
        repository = folder / "served" / "acme" / "docs"
        servers.commit(repository, {f"d{i % 20}/f{i}.md": document(i) for i in range(FILES)})
        pdf = folder / "pdf" / "long.pdf"
        pdf.parent.mkdir()
        pdf.write_bytes(
            office.pdf(["\n".join(prose(12) for _ in range(45)).encode("ascii", "ignore").decode()] * PAGES)
        )
        many = folder / "many"
        many.mkdir()
        for number in range(DOCUMENTS):
            (many / f"{number}.md").write_text(document(number))
        small = folder / "small"
        small.mkdir()
        (small / "one.md").write_text("# Marzipan\n\nAlmond paste with sugar, for cakes.\n")
        with Library.open() as library:
            with servers.git_server(folder / "served") as url, measured(f"repository of {FILES} files, fetched"):
                job = Watched(library.jobs.start("fetch", "fetch_repo"))
                result = run_here(library, RepoRequest(f"{url}/acme/docs/.git"), cast("RunningJob", job))
            after = time.monotonic() - job.received
            print(f"  searchable {after:.2f} s after git's end; indexing: {result['indexing']['processingTime']} ms")
            with measured(f"PDF of {PAGES} pages"):
                library.add(pdf)
            with measured(f"{DOCUMENTS} Markdown files"):
                library.add(many)
            library.add(small)
            found = library.search("almond paste for cakes", limit=5, min_score=0.0).passages
            print("collections of the best five for what only the smallest has:", [each.collection for each in found])
            for path in args.documents:
                with measured(path.name):
                    done = library.add(path)
                if done.report is not None:
                    left_out = [f"{file.reason}: {file.detail}" for file in (*done.report.skipped, *done.report.failed)]
                    print(f"  {done.report.chunks} passages {' '.join(left_out)}")


class Watched:
    """A job, and when git had brought everything."""

    def __init__(self, job: RunningJob) -> None:
        self._job = job
        self.received = 0.0

    def progress(self, percent: int) -> None:
        if percent >= RECEIVED and not self.received:
            self.received = time.monotonic()
        self._job.progress(percent)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._job, name)


@contextmanager
def measured(what: str) -> Iterator[None]:
    """Print the time of a block and the most private memory that this process and those below it had meanwhile."""
    sampler = MemorySampler(os.getpid(), None)
    began = time.monotonic()
    try:
        yield
    finally:
        took = time.monotonic() - began
        sampler.stop()
    print(f"{what}: {took:.2f} s, at most {sampler.peak / 1e6:.0f} MB")


if __name__ == "__main__":
    main()

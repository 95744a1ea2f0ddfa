"""How long the library takes to bring in documents, how much memory that takes, and whether a small collection is
found among large ones.

    library.py [--seed N]

A repository of 300 Markdown files is fetched from git's own server on this machine, a PDF of 200 pages and a folder of
1,000 Markdown files are added, all made of the words of this repository's documentation. Times include vectors; memory
is the sum over all processes. Nothing outside of a temporary folder is touched.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "library"))
sys.path.insert(0, str(HERE.parent / "tests" / "ingest"))

import office  # noqa: E402
import servers  # noqa: E402

from findling.library import Library  # noqa: E402
from findling.library.fetch_requests import RepoRequest  # noqa: E402
from findling.library.fetching import run_here  # noqa: E402

FILES, PAGES, DOCUMENTS = 300, 200, 1000
_LOOK_S = 0.05


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    dice = random.Random(parser.parse_args().seed)
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
                job = library.jobs.start("fetch_repo")
                result = run_here(library, RepoRequest(f"{url}/acme/docs/.git"), job)
            print(f"  of that indexing: {result['indexing']['processingTime']} ms")
            with measured(f"PDF of {PAGES} pages"):
                library.add(pdf)
            with measured(f"{DOCUMENTS} Markdown files"):
                library.add(many)
            library.add(small)
            found = library.search("almond paste for cakes", limit=5, min_score=0.0).passages
            print("collections of the best five for what only the smallest has:", [each.collection for each in found])


@contextmanager
def measured(what: str) -> Iterator[None]:
    """Print the time of a block and the most memory that this process and those below it had meanwhile."""
    done = threading.Event()
    peak = 0

    def watch() -> None:
        nonlocal peak
        while not done.wait(_LOOK_S):
            peak = max(peak, _memory())

    thread = threading.Thread(target=watch)
    thread.start()
    began = time.monotonic()
    try:
        yield
    finally:
        took = time.monotonic() - began
        done.set()
        thread.join()
    print(f"{what}: {took:.2f} s, at most {peak / 1e6:.0f} MB")


def _memory() -> int:
    """Resident bytes of this process and all below it; Linux only."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue  # it ended meanwhile
    ours = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    total = 0
    for pid in ours:
        try:
            total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, ValueError):
            continue
    return total


if __name__ == "__main__":
    main()

"""What is not searched takes no place from what is: deleted files, earlier versions, other branches."""

from __future__ import annotations

from pathlib import Path

import pytest
from gits import commit, git
from indexes import make, places, write

from findling import Engine

ASKED = "how are failed network requests retried"
MODES = ("auto", "keyword", "semantic")
SECTIONS = 350
"""More than any channel proposes."""

BOOK = "# Book\n\n" + "\n\n".join(
    f"## Retry {number}\n\nWhen a network request fails, retry it: failed requests are retried, number {number}."
    for number in range(SECTIONS)
)


def files() -> dict[str, str]:
    farms = {f"farm{number}.md": f"# Farm {number}\n\ntulip soil water seed harvest {number}\n" for number in range(30)}
    waits = "When a network request fails, the client waits and tries it again with a longer pause."
    return {**farms, "net.md": f"# Waiting\n\n{waits}\n", "cache.py": "def evict(entry):\n    '''Throw it away.'''\n"}


def answers(engine: Engine) -> dict[str, tuple[int, list[tuple[str, int, int]]]]:
    found = {mode: engine.search(ASKED, mode=mode, limit=20, wait_s=None) for mode in MODES}
    return {mode: (result.total, places(result)) for mode, result in found.items()}


def test_a_large_file_that_was_deleted_leaves_room(tmp_path: Path) -> None:
    for path, text in files().items():
        write(tmp_path, path, text)
    with Engine.open(root=tmp_path) as engine:
        engine.index()
        before = answers(engine)
        assert before["semantic"][1][0][0] == "net.md"
        write(tmp_path, "book.md", BOOK)
        engine.sync()
        beside = answers(engine)["semantic"][1]
        assert (beside[0][0], beside[1][0], len(beside)) == ("book.md", "net.md", 20), "one document is not all"
        (tmp_path / "book.md").unlink()
        engine.sync()
        assert answers(engine) == before


@pytest.mark.parametrize("how", ["searched", "switched to"])
def test_another_branch_leaves_room(tmp_path: Path, how: str) -> None:
    root = make(tmp_path / "project", files())
    git(root, "init", "-q", "-b", "main")
    commit(root, "farms")
    with Engine.open(root=root) as engine:
        engine.index()
        before = answers(engine)
        git(root, "checkout", "-q", "-b", "big")
        for number in range(3):
            write(root, f"book{number}.md", BOOK)
        commit(root, "books")
        if how == "switched to":
            engine.sync()
        git(root, "checkout", "-q", "main")
        if how == "searched":
            assert engine.search(ASKED, ref="big", wait_s=None).hits
        assert answers(engine) == before

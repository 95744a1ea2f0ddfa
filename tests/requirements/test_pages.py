"""What the pages for readers and the Makefile have to say, as far as the requirements name it."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from report import PROJECT

README = (PROJECT / "README.md").read_text(encoding="utf-8")
EMBEDDING = (PROJECT / "docs" / "embedding.md").read_text(encoding="utf-8")


def section(page: str, heading: str) -> str:
    """From a heading to the next one of its level, on one line."""
    (_, _, rest) = page.partition(f"\n{heading}\n")
    assert rest, heading
    return " ".join(rest.partition(f"\n{heading.partition(' ')[0]} ")[0].split())


def test_the_readme_says_what_stays_here_and_how_to_set_ollama_up() -> None:
    """S1-52, S4-51: local only, nothing of documents is sent; Ollama installed, a model pulled, named and used."""
    assert "on your own machine. It works offline" in " ".join(README.split())
    models = section(README, "## Other embedding models")
    for said in (
        "https://ollama.com/download",
        "ollama pull nomic-embed-text",
        'model = "nomic-embed-text"',
        "findling embed",
        "documents never",
        "docs/embedding.md",
        "findling doctor",
    ):
        assert said in models, said
    for tool in ("semantic_search", "find_similar", "query_docs", "search_semantic", "hybrid_search"):
        assert f"`{tool}`" in README, tool


def test_what_helps_when_something_is_not_right() -> None:
    """S1-54: Ollama not running, wrong dimensions, stale embeddings, slow indexing, the model changed."""
    setup = section(EMBEDDING, "## Ollama from the start")
    assert "ollama serve" in setup and "ollama pull" in setup
    rows = section(EMBEDDING, "## When something is not right")
    for seen in (
        "Is Ollama running?",
        "returns 768 dimensions",
        "new files are found by their words and not by meaning",
        "indexing is slow",
        "doesn't match stored embeddings",
    ):
        assert seen in rows, seen


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
@pytest.mark.parametrize(
    ("target", "command"), [("embed", "findling embed --force ."), ("doctor", "findling doctor --force")]
)
def test_targets_for_what_is_done_by_hand(target: str, command: str) -> None:
    """S4-37: make embed; S4-36: make doctor."""
    # `make test` is a make as well, and what it hands to a make below it would change what this one prints.
    alone = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    ran = subprocess.run(
        ["make", "--dry-run", target, "ARGS=--force"],
        cwd=PROJECT,
        env=alone,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.splitlines()[-1].endswith(command)

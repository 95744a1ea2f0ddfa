"""Exact search of a whole engine, file by file: the same answer, what is held, and what is said of the rest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from findling import Engine
from findling.model.types import SkippedFile

FILES = {
    ".gitignore": "build/\n",
    "build/made.py": "alpha = 1\n",
    "docs/notes.md": "# alpha\n",
    "src/a.py": "alpha = 1\nalpha = alpha + 1\n",
    "src/deep/b.py": "beta\nalpha\n",
    "src/deep/.env": "TOKEN=alpha\n",
    "web/picture.png": "\x89PNG\0\0",
    "web/.env": "TOKEN=alpha\n",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("stream").resolve()
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / ".git").mkdir()
    with Engine.open(root, root=root) as engine:
        engine.index(embed=False)
    return root


@pytest.fixture
def engine(root: Path) -> Iterator[Engine]:
    with Engine.open(root, root=root) as opened:
        yield opened


def left_out(files: tuple[SkippedFile, ...]) -> set[str]:
    return {file.path.rstrip("/") for file in files}


@pytest.mark.parametrize("options", [{}, {"context": 1}, {"limit": 2}, {"path_globs": ("src/**",)}, {"language": "go"}])
def test_the_stream_is_the_collected_answer(engine: Engine, options: dict[str, object]) -> None:
    whole = engine.grep("alpha", **options)  # type: ignore[arg-type]
    with engine.grep_stream("alpha", **options) as found:  # type: ignore[arg-type]
        files = tuple(found)
    assert replace(found.totals, files=files, took_ms=0.0) == replace(whole, took_ms=0.0)


def test_the_engine_may_be_asked_something_else_meanwhile(engine: Engine) -> None:
    with engine.grep_stream("alpha") as found:
        paths = [(file.path, engine.grep("beta").total_lines) for file in found]
    assert paths == [("docs/notes.md", 1), ("src/a.py", 1), ("src/deep/b.py", 1)]


def test_the_collected_answer_is_bounded_unless_asked_for_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "many.txt").write_text("hit\n" * 10_050)
    with Engine.open(tmp_path, root=tmp_path) as engine:
        some, whole = engine.grep("hit"), engine.grep("hit", limit=0)
    assert (len(some.files[0].lines), some.total_lines, some.truncated, some.counts_exact) == (
        10_000,
        10_050,
        True,
        True,
    )
    assert len(whole.files[0].lines) == 10_050 and not whole.truncated


def test_only_what_the_question_covers_is_said_to_be_left_out(root: Path, engine: Engine) -> None:
    assert left_out(engine.grep("alpha").skipped) >= {"src/deep/.env", "web/.env", "web/picture.png"}
    assert left_out(engine.grep("alpha", path_globs=("web/**",)).skipped) == {"web/.env", "web/picture.png"}
    assert left_out(engine.grep("alpha", path_globs=("!.env", "src/**")).skipped) == set()
    with Engine.open(root / "src") as inside:
        assert inside.root == root
        assert left_out(inside.grep("alpha").skipped) == {"src/deep/.env"}

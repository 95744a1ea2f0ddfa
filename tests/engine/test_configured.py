"""The engine indexes the files that the configuration wants."""

from __future__ import annotations

from pathlib import Path

import pytest

from findling import Engine, engine
from findling.config.files import PROJECT_FILES
from findling.errors import ConfigError


def paths(root: Path) -> set[str]:
    with Engine.open(root=root) as opened:
        return {hit.path for hit in opened.grep("needle", literal=True).files}


def test_the_engine_looks_for_the_files_that_the_configuration_reads() -> None:
    assert engine.CONFIG_FILES == PROJECT_FILES


def test_what_the_configuration_excludes_or_adds(tmp_path: Path) -> None:
    for name in ("a.py", "gen/b.py", ".hidden.py", "big.py"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("needle = 1\n" * (500 if name == "big.py" else 1))
    assert paths(tmp_path) == {"a.py", "gen/b.py", "big.py"}
    (tmp_path / "findling.toml").write_text(
        '[index]\nhidden = true\nexclude = ["gen"]\nmax_file_bytes = 2048\n', encoding="utf-8"
    )
    assert paths(tmp_path) == {"a.py", ".hidden.py"}


def test_a_wrong_configuration_is_an_error_that_names_the_key(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("needle = 1\n")
    (tmp_path / "findling.toml").write_text('[index]\nhidden = "perhaps"\n')
    with pytest.raises(ConfigError, match="hidden"):
        paths(tmp_path)

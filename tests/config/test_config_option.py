"""`--config FILE`: read by whatever command needs a configuration, and forgotten with it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from findling.faces.cli.arguments import COMMANDS, parse
from findling.faces.cli.main import main


@pytest.fixture
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    monkeypatch.delenv("FINDLING_CONFIG", raising=False)
    monkeypatch.delenv("FINDLING_DATA_DIR", raising=False)
    (tmp_path / "work" / "old").mkdir(parents=True)
    (tmp_path / "work" / "new.md").write_text("# Lighthouse\n")
    (tmp_path / "work" / "old" / "old.md").write_text("# Lighthouse\n")
    file = tmp_path / "named.toml"
    file.write_text('[index]\nexclude = ["old/"]\n[library]\ndata_dir = "shelf"\n')
    monkeypatch.chdir(tmp_path)
    return file


def test_every_command_takes_it() -> None:
    required = {"eval": ["--corpora", "c", "--run", "r"], "export": ["--sqlite", "f"]}
    for name, command in COMMANDS.items():
        words = [(operand.choices or [operand.name])[0] for operand in command.operands if operand.arity == "1"]
        typed = [*words, *required.get(name, []), "--config", "c.toml"]
        assert parse(name, typed).config == "c.toml", name


def test_it_is_obeyed_by_what_answers(named: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grep", "Lighthouse", "work", "-l", "--config", "named.toml"]) == 0
    assert capsys.readouterr().out == "work/new.md\n"
    assert main(["tool", "search_keyword", '{"query": "Lighthouse"}', "work", "--config", str(named)]) == 0
    assert [hit["path"] for hit in json.loads(capsys.readouterr().out)["results"]] == ["new.md"]
    assert main(["library", "list", "--json", "--config", "named.toml"]) == 1
    assert json.loads(capsys.readouterr().out)["library"] == str(named.parent / "shelf")
    assert "FINDLING_CONFIG" not in os.environ, "the next command of this process has its own"


def test_one_that_is_not_there_is_an_error(named: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["search", "x", "work"], ["library", "list"], ["index", "work"]):
        assert main([*command, "--config", "none.toml"]) == 2, command
        assert "none.toml' cannot be used: there is no such file" in "".join(capsys.readouterr()), command

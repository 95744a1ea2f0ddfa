"""What is shown: ``findling config``, and the page that is made from the definition."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from page import PAGE, configuration_page

import forked
from findling.config import EMBEDDING_KEY, OPTIONS


def findling(*arguments: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    variables = {"HOME": str(cwd.parent / "home"), "PATH": "", "LANG": "C.UTF-8", "PYTHONUTF8": "1", **environ}
    return forked.findling("config", *arguments, cwd=cwd, env=variables)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "project"
    (folder / ".git" / "objects").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "src").mkdir()
    return folder


def test_the_page_is_that_of_the_definition() -> None:
    """``make configuration`` writes it anew."""
    assert PAGE.read_text("utf-8") == configuration_page()


def test_the_page_has_every_option_with_every_spelling() -> None:
    """S1-53."""
    page = configuration_page()
    for option in OPTIONS.values():
        assert all(f"`{spelling}`" in page for spelling in option.spellings[1:])
        assert option.help in page and (not option.environment or f"`{option.environment}`" in page)
        assert option.default is not None or option.unset in page


def test_every_option_is_shown_with_its_origin(root: Path) -> None:
    """D12: useGPU as not used, among others."""
    (root / "findling.toml").write_text(
        '[semantic]\nmodel = "m"\nratio = 2.0\nratoi = 1\nexternal_provider_enabled = true\n'
    )
    ran = findling(
        "--set", "hybrid.symbolWeight=1", "src", cwd=root, FINDLING_LOG_LEVEL="error", **{EMBEDDING_KEY: "sk-1"}
    )
    assert ran.returncode == 0, ran.stderr
    rows = dict(line.split(": ", 1) for line in ran.stdout.splitlines())
    assert set(OPTIONS) <= set(rows)
    file = root / "findling.toml"
    assert rows["semantic.embedding.model"] == f'"m"  [{file}:2]'
    assert rows["semantic.embedding.provider"] == f'"ollama"  [follows from semantic.model, {file}:2]'
    assert rows["semantic.ratio"] == f"1.0  [{file}:3]"
    assert rows["semantic.external_provider_enabled"] == "false  [default]"
    assert rows["hybrid.symbol_weight"] == "1.0  [command line]"
    assert rows["log.level"] == '"error"  [FINDLING_LOG_LEVEL]'
    assert rows["semantic.mode"] == "(hybrid when semantic search is on, else off)  [default]"
    assert "not used" in rows["library.use_gpu"]
    assert rows[EMBEDDING_KEY].startswith("set, and never shown")
    assert [line.split(": ", 2)[2] for line in ran.stderr.splitlines()] == [
        "unknown option semantic.ratoi; did you mean semantic.ratio?",
        "semantic.ratio is 2.0; 1 is used, the nearest of 0 to 1.",
        "semantic.external_provider_enabled is ignored: a project's own file may only set it to false. "
        "Set it in your own configuration, in the environment or with --config.",
    ]
    assert "sk-1" not in ran.stdout + ran.stderr
    assert not (root / ".findling").exists()


def test_json_has_the_same(root: Path) -> None:
    (root / "findling.toml").write_text("[semantic]\n\nratio = 0.25\nratoi = 1\n")
    ran = findling("--json", str(root), cwd=root.parent, **{EMBEDDING_KEY: "sk-1"})
    shown = json.loads(ran.stdout)
    file = str(root / "findling.toml")
    assert list(shown["options"]) == list(OPTIONS)
    assert shown["root"] == str(root)
    assert shown["options"]["semantic.ratio"] == {"value": 0.25, "from": "project", "place": f"{file}:3", "line": 3}
    assert shown["options"]["index.include"] == {"value": [], "from": "default", "place": "default", "line": None}
    assert shown["keys"] == {EMBEDDING_KEY: True, "CODECOMPASS_RERANK_API_KEY": False}
    assert shown["files"] == [file]
    assert len(shown["warnings"]) == 1
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "sk-1" not in ran.stdout


def test_styles_show_every_option_too(root: Path) -> None:
    ran = findling("--set", "semantic.model=\x1b]0;x\x07", cwd=root, FORCE_COLOR="1")
    assert ran.returncode == 2
    assert "\x1b]" not in ran.stdout + ran.stderr
    ran = findling(cwd=root, FORCE_COLOR="1")
    assert ran.returncode == 0, ran.stderr
    assert all(key in ran.stdout for key in OPTIONS)


def test_an_error_is_one_line_with_key_and_place(root: Path) -> None:
    (root / "findling.toml").write_text('[semantic]\nmode = "sometimes"\n')
    ran = findling(cwd=root / "src")
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert ran.stderr.startswith(f"findling: {root / 'findling.toml'}:2: semantic.mode is 'sometimes'.")
    assert ran.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments", [["--set", "semantic.mode"], ["--set", "=x"], ["--config", "none.toml"]])
def test_wrong_arguments_are_refused(root: Path, arguments: list[str]) -> None:
    ran = findling(*arguments, cwd=root)
    assert ran.returncode == 2
    assert arguments[-1] in ran.stderr


def test_a_folder_that_is_not_indexed_has_a_configuration_all_the_same(root: Path) -> None:
    home = root.parent / "home"
    (home / ".config" / "findling").mkdir(parents=True)
    (home / ".config" / "findling" / "config.toml").write_text("[semantic]\nratio = 0.125\n")
    ran = findling(cwd=home, HOME=str(home))
    assert ran.returncode == 0, ran.stderr
    assert "semantic.ratio: 0.125  [" in ran.stdout


def test_importing_the_configuration_is_light() -> None:
    code = (
        "import sys; before = set(sys.modules); import findling.config; findling.config.load\n"
        "print(*sorted(m.partition('.')[0] for m in set(sys.modules) - before))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"numpy", "pydantic", "rich", "tantivy", "apsw", "regex", "tomllib", "difflib"}
    assert heavy.isdisjoint(ran.stdout.split())

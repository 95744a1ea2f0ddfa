"""What a process says of the embedding model: a server that starts (D7), `findling embed`, the doctor, the export."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from ollama_process import OllamaProcess
from project import FILES, configure, make

import forked
from findling.faces.cli.main import main
from findling.faces.cli.terminal.progress import ProgressLines
from tests.faces.served import COMMAND, start, stop

MODEL = "nomic-embed-text"


def findling(root: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return forked.findling(*arguments, cwd=root, env={**os.environ, **environment})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path.resolve() / "project")


# --- a server starts ---------------------------------------------------------------------------------------------


def test_other_dimensions_than_configured_end_the_start(root: Path, tmp_path: Path, ollama: OllamaProcess) -> None:
    """S0-20, S1-30, D7: whatever the transport, in any of several roots, and for the usual 768 as for a written one."""
    other = make(tmp_path.resolve() / "other")
    configure(root, ollamaUrl=ollama.url, model=MODEL, modelDim=512)
    for options in ((), ("--http", "127.0.0.1:0"), ("--root", str(other), "--root", str(root))):
        refused(findling(root, "serve", *options), 512, 768)
    ollama.behave(models={f"{MODEL}:latest": 384})
    configure(root, ollamaUrl=ollama.url, model=MODEL)
    refused(findling(root, "serve"), 768, 384)


def refused(ran: subprocess.CompletedProcess[str], configured: int, made: int) -> None:
    assert (ran.returncode, ran.stdout) == (2, "")
    assert f"semantic.modelDim is {configured}, but model '{MODEL}' returns {made} dimensions." in ran.stderr
    assert f"Set modelDim to {made} or choose another model." in ran.stderr


def test_nobody_there_is_a_warning(root: Path, ollama: OllamaProcess) -> None:
    """S1-3, S1-7, S1-36, D7: a line of JSON, as all that a server logs."""
    configure(root, enabled=True, ollamaUrl=ollama.url, model=MODEL, modelDim=512)
    ollama.stop()
    ran = findling(root, "serve")
    assert ran.returncode == 0, ran.stderr
    (warning,) = map(json.loads, ran.stderr.splitlines())
    assert warning["level"] == "warning"
    assert f"Cannot connect to Ollama at {ollama.url}. Is Ollama running?" in warning["message"]


def test_nobody_there_is_a_warning_where_only_the_index_names_the_model(root: Path, ollama: OllamaProcess) -> None:
    """S1-7, D32: the index was made with Ollama, and nothing is configured any more."""
    configure(root, ollamaUrl=ollama.url, model=MODEL)
    assert findling(root, "embed").returncode == 0
    (root / ".findling" / "config.json").unlink()
    server = start([*COMMAND, "--root", str(root)])
    try:
        assert server.says("Until then text and names are searched.")
        (warning,) = [json.loads(line) for line in server.said if "Until then" in line]
        assert warning["level"] == "warning" and "Ollama" in warning["message"]
    finally:
        stop(server)


def test_vectors_of_another_model_are_a_warning(root: Path, ollama: OllamaProcess) -> None:
    """S1-47, D7."""
    assert findling(root, "index").returncode == 0
    configure(root, ollamaUrl=ollama.url, model=MODEL)
    ran = findling(root, "serve")
    assert ran.returncode == 0, ran.stderr
    assert "(768 dim) doesn't match stored embeddings (256 dim). Run 'findling embed'" in ran.stderr


def test_switched_off_nobody_is_asked(root: Path, ollama: OllamaProcess) -> None:
    """S1-1."""
    configure(root, ollamaUrl=ollama.url, model=MODEL, modelDim=512, enabled=False)
    assert findling(root, "serve").returncode == 0
    assert ollama.requests() == []


# --- findling embed ----------------------------------------------------------------------------------------------


def test_embed_makes_what_is_missing_and_with_force_all(root: Path, ollama: OllamaProcess) -> None:
    """S4-32, S4-34, S4-46."""
    (root / ".gitignore").write_text("ignored/\n", encoding="utf-8")
    for folder in ("ignored", "node_modules"):  # the second one is ignored by default
        (root / folder).mkdir()
        (root / folder / "secret_plans.py").write_text("def secret_plan():\n    pass\n", encoding="utf-8")
    configure(root, ollamaUrl=ollama.url, model=MODEL)
    ran = findling(root, "embed")
    assert ran.returncode == 0, ran.stderr
    assert "embedded: 4 chunks of 4 files" in ran.stdout
    assert "model: ollama/nomic-embed-text/" in ran.stdout
    assert not any("secret" in text for request in ollama.requests() for text in request["texts"])
    again = findling(root, "embed", "--json")
    told = json.loads(again.stdout)
    assert (told["embedded"], told["files"], told["unchanged"], told["available"]) == (0, 0, 4, True)
    below = findling(root, "embed", "--force", "--json", "docs")
    assert json.loads(below.stdout)["embedded"] == 2
    (root / "docs" / "network.md").write_text("# Another thing\n\nEntirely.\n", encoding="utf-8")
    assert json.loads(findling(root, "embed", "--json", ".").stdout)["embedded"] == 1


def test_embed_says_on_stderr_how_far_it_is(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """S4-35, S4-47."""
    monkeypatch.setitem(ProgressLines.__init__.__kwdefaults__, "every_s", 0.0)  # such a short run shows none else
    assert main(["embed", str(root)]) == 0
    said = capsys.readouterr()
    assert "\nEmbedding: 4 of 4 files\n" in said.err
    assert "Embedding: " not in said.out


def test_embed_without_an_embedder_says_so_and_is_no_failure(root: Path, ollama: OllamaProcess) -> None:
    """S4-33."""
    configure(root, ollamaUrl=ollama.url, model=MODEL)
    ollama.stop()
    ran = findling(root, "embed")
    assert ran.returncode == 0
    assert "nothing: no embedding model works" in ran.stdout
    assert "Is Ollama running?" in ran.stderr


def test_embed_by_the_bundled_model(root: Path) -> None:
    assert "embedded: 4 chunks of 4 files" in findling(root, "embed").stdout


def test_the_export_has_a_line_for_each_chunk(root: Path, ollama: OllamaProcess) -> None:
    configure(root, ollamaUrl=ollama.url, model=MODEL)
    assert findling(root, "export-vectors").returncode == 1
    findling(root, "embed")
    ran = findling(root, "export-vectors", "--model", MODEL)
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    assert {row["path"] for row in rows} == set(FILES)
    assert all(len(row["embedding"]) == 768 for row in rows)
    assert findling(root, "export-vectors", "--model", "other").returncode == 1


# --- findling doctor ---------------------------------------------------------------------------------------------


def test_the_doctor_says_of_each_provider_what_works_and_what_helps(root: Path, ollama: OllamaProcess) -> None:
    """S4-36."""
    configure(root, ollamaUrl=ollama.url, model="bge-m3")
    ran = findling(root, "doctor", FINDLING_OLLAMA_URL=ollama.url)
    lines = ran.stdout.splitlines()
    assert lines[0] == "✓ ollama: running"
    assert any("bge-m3" in line and line.startswith("○ embedder") for line in lines)
    assert "  Run: ollama pull bge-m3" in lines
    by_name = {line[2:].partition(":")[0]: line for line in lines}
    for name in ("model2vec", "fastembed", "voyage", "openai", "cohere"):
        assert by_name[name][0] in "✓○"
    assert by_name["voyage"].startswith("○") and "nothing is sent" in by_name["voyage"]
    ollama.stop()
    ran = findling(root, "doctor", FINDLING_OLLAMA_URL=ollama.url)
    first, *others = ran.stdout.splitlines()
    assert first.startswith("✓ model: ") and "○ ollama: not detected (semantic search disabled)" in others
    assert "ollama serve" in ran.stdout
    assert ran.returncode == 0

"""Models of the hub: `findling embed` fetches them, by the libraries' own clients, and nothing else ever does."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from fake_hub import serving
from project import QUESTION, make
from test_local_models import needs, onnx_model, static_model

import forked

FASTEMBED_FILE = "model_optimized.onnx"
"""How the package for BGESmallENV15 calls the model."""


def findling(root: Path, home: Path, endpoint: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HF_ENDPOINT": endpoint, "HF_HOME": str(home / "hf"), "XDG_CONFIG_HOME": str(home)}
    environment |= {"FASTEMBED_CACHE_PATH": str(home / "fastembed"), "HF_HUB_DISABLE_XET": "1"}
    for name in ("http_proxy", "HTTP_PROXY", "HF_HUB_OFFLINE"):
        environment.pop(name, None)
    return forked.findling(*arguments, cwd=root, env=environment)


def choose(home: Path, model: str) -> None:
    (home / "findling").mkdir(parents=True)
    (home / "findling" / "config.toml").write_text(
        f'[semantic.embedding]\nprovider = "local"\nmodel = "{model}"\n', encoding="utf-8"
    )


def fetched_and_used(tmp_path: Path, model: str, hub_name: str, folder: Path, dimensions: int) -> None:
    root, home = make(tmp_path.resolve() / "project"), tmp_path / "home"
    choose(home, model)
    with serving({hub_name: folder}) as hub:
        searched = findling(root, home, hub.url, "search", "--wait", "all", QUESTION)
        assert searched.returncode == 0, searched.stderr
        assert hub.asked == [], "a question fetches nothing"
        assert "findling embed" in searched.stderr
        made = findling(root, home, hub.url, "embed", "--json")
        assert made.returncode == 0, made.stderr
        told = json.loads(made.stdout)
        assert (told["available"], told["embedded"]) == (True, 4), (told, made.stderr)
        assert any("/resolve/" in path for path in hub.asked)
        asked = len(hub.asked)
        again = findling(root, home, hub.url, "search", "--wait", "all", "--mode", "semantic", "--json", QUESTION)
        assert len(json.loads(again.stdout)["hits"]) == 4
        assert len(hub.asked) == asked, "what is here is not asked for again"
    status = json.loads(findling(root, home, "http://127.0.0.1:9", "status", "--json").stdout)
    assert status["model"].startswith(f"local/{model}/")
    doctor = findling(root, home, "http://127.0.0.1:9", "doctor")
    assert f"embedded a sentence in {dimensions} dimensions" in doctor.stdout


@needs("model2vec")
def test_a_static_model_is_fetched_when_asked_for(tmp_path: Path) -> None:
    fetched_and_used(tmp_path, "PotionBase8M", "minishlab/potion-base-8M", static_model(tmp_path / "static"), 24)


@needs("fastembed")
def test_an_onnx_model_is_fetched_when_asked_for(tmp_path: Path) -> None:
    folder = onnx_model(tmp_path / "onnx")
    shutil.move(folder / "model.onnx", folder / FASTEMBED_FILE)
    fetched_and_used(tmp_path, "BGESmallENV15", "Qdrant/bge-small-en-v1.5-onnx-Q", folder, 16)


@needs("model2vec")
def test_a_hub_without_the_model_is_told_of(tmp_path: Path) -> None:
    root, home = make(tmp_path.resolve() / "project"), tmp_path / "home"
    choose(home, "PotionBase8M")
    with serving({}) as hub:
        made = findling(root, home, hub.url, "embed")
    assert made.returncode == 0
    assert "The model 'PotionBase8M' cannot be fetched from the Hugging Face hub" in made.stderr
    assert findling(root, home, "http://127.0.0.1:9", "search", "--wait", "all", "failed request").stdout

"""Where a model's folder is looked for: beside the file that names it, whatever the current folder is."""

from __future__ import annotations

from pathlib import Path

import pytest

from findling.config import load
from findling.embedding import open_embedder
from findling.model.errors import EmbedderUnavailable


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    made = tmp_path / "project"
    for folder in (made / "models" / "small", made / "bundled", tmp_path / "elsewhere"):
        folder.mkdir(parents=True)
        (folder / "tokenizer.json").write_text("{}")
    return made


def model(root: Path, name: str) -> str | None:
    (root / "findling.toml").write_text(f'[semantic.embedding]\nprovider = "local"\nmodel = "{name}"\n')
    return load(root, environ={}).config.embedding.model


def test_a_folder_lies_beside_the_file_that_names_it(root: Path) -> None:
    assert model(root, "models/small") == str(root / "models" / "small")
    assert model(root, "./models/small") == str(root / "models" / "small")


@pytest.mark.parametrize("name", ["bundled", "nomic-embed-text", "minishlab/potion-code-16M"])
def test_names_of_models_stay_what_they_are(root: Path, name: str) -> None:
    assert model(root, name) == name


def test_a_link_out_of_the_project_is_no_folder_of_it(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "models" / "link").symlink_to(tmp_path / "elsewhere")
    assert model(root, "models/link") == "models/link"
    monkeypatch.chdir(root)
    with pytest.raises(EmbedderUnavailable) as raised:
        open_embedder("local", "models/link")
    assert "folder" not in raised.value.message  # a name of the hub, which is not here


def test_a_folder_of_the_current_one_stands_in_for_no_model_of_the_hub(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "BAAI" / "bge-small-en-v1.5").mkdir(parents=True)
    (root / "BAAI" / "bge-small-en-v1.5" / "tokenizer.json").write_text("{}")
    monkeypatch.chdir(root)
    chosen = {"FINDLING_EMBED_MODEL": "BAAI/bge-small-en-v1.5"}
    assert load(root, environ=chosen).config.embedding.model == "BAAI/bge-small-en-v1.5"
    with pytest.raises(EmbedderUnavailable) as raised:
        open_embedder("local", "BAAI/bge-small-en-v1.5")
    assert "folder" not in raised.value.message
    chosen = {"FINDLING_EMBED_MODEL": "./models/small"}
    assert load(root, environ=chosen).config.embedding.model == str(root / "models" / "small")


def test_the_users_own_file_may_name_any_folder(root: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('[semantic.embedding]\nprovider = "local"\nmodel = "./elsewhere"\n')
    assert load(root, environ={}, config_file=own).config.embedding.model == str(tmp_path / "elsewhere")

"""What is typed to compare with: told from a file, taken apart, checked by the loader, and named in a folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.config import OPTIONS
from findling.evaluation.run import DECIDES, Setting, configured, index_name, is_setting, parse
from findling.model.errors import ConfigError, FindlingError, InvalidInput

TYPED = st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=200)


def test_a_setting_is_told_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("mode=x", "semantic.enabled=false", "run.lr=3.jsonl"):
        (tmp_path / name).touch()
    for text in ("mode=x", "semantic.enabled=false", "semantic.chunkSize=3", "FINDLING_EMBED_MODEL=m", "typo=3"):
        assert is_setting(text), text
    for text in ("run.lr=3.jsonl", "./mode=x", "runs/a=b.jsonl", "run.jsonl", "mode", "semantic.enabled"):
        assert not is_setting(text), text


def test_a_comma_without_a_name_behind_it_belongs_to_the_value() -> None:
    found = parse("index.exclude=docs/,*.md, semantic.embedding.model=a=b,mode=hybrid", "auto")
    assert found.options == {"index.exclude": "docs/,*.md", "semantic.embedding.model": "a=b"}
    assert (found.mode, found.keys) == ("hybrid", {"index.exclude", "semantic.embedding.model"})
    assert parse("semantic.chunkSize=300", "keyword") == Setting(
        "semantic.chunkSize=300", "keyword", {"semantic.chunkSize": "300"}, frozenset({"semantic.chunk_size"})
    )
    assert parse("FINDLING_OLLAMA_URL=http://localhost:1", "auto").options == {
        "semantic.ollama_url": "http://localhost:1"
    }


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("semantic.chunk_sise=300", ConfigError, "did you mean semantic.chunk_size?"),
        ("semantic.chunk_size=s3cret", ConfigError, "is text. It takes a whole number from 100"),
        ("semantic.chunk_size=300,semantic.chunk_overlap=300", ConfigError, "must be less than"),
        ("semantic.api_key=s3cret", ConfigError, "keys come from the environment only"),
        ("semantic.embedding.provider=local,api-key=s3cret", ConfigError, "unknown option api-key"),
        ("CODECOMPASS_RERANK_API_KEY=s3cret", ConfigError, "keys come from the environment only"),
        ("semantic.ollama_url=http://me:s3cret@localhost", ConfigError, "without user name and password"),
        ("semantic.embedding.provider=voyage", ConfigError, "may not be called"),
        ("semantic.ratio=0.5", InvalidInput, "does not change the answers of 'findling search'"),
        ("library.use_gpu=true", InvalidInput, "no backend computes on a GPU"),
        ("semantic.chunk_size=300,semantic.chunkSize=400", InvalidInput, "given twice"),
        ("mode=best", InvalidInput, "There is no mode 'best'"),
    ],
)
def test_what_is_wrong_is_said_without_a_key(
    text: str, error: type[FindlingError], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    with pytest.raises(error) as raised:
        configured(parse(text, "auto"), tmp_path)
    assert words in str(raised.value) and "s3cret" not in str(raised.value)


def test_it_stands_on_top_of_the_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    (tmp_path / "findling.toml").write_text("[semantic]\nchunk_max_lines = 30\nchunk_size = 900\nnonsense = 1\n")
    config, warnings = configured(parse("semantic.chunk_size=150", "auto"), tmp_path)
    semantic = config.semantic
    assert (semantic.chunk_size, semantic.chunk_max_lines) == (150, 30)
    assert semantic.chunk_overlap == 30  # nobody wrote one, and the default does not fit
    assert warnings == []  # nonsense is told of without the setting, too
    same, _ = configured(parse("semantic.chunkSize=150,mode=keyword", "auto"), tmp_path)
    other, _ = configured(parse("semantic.chunk_size=151", "auto"), tmp_path)
    assert index_name(config) == index_name(same) != index_name(other)
    _, warnings = configured(
        parse("semantic.embedding.provider=ollama,semantic.ollama_url=http://192.0.2.1", "auto"), tmp_path
    )
    assert len(warnings) == 1 and "text is sent to http://192.0.2.1" in warnings[0]


def test_what_decides_are_options() -> None:
    assert set(OPTIONS) > DECIDES


@given(TYPED, TYPED, st.booleans())
def test_names_of_files_are_safe_and_tell_settings_apart(one: str, other: str, upper: bool) -> None:
    texts = (f"semantic.model={one}", f"semantic.model={one.upper() if upper else other}")
    parts = [Setting(text, "auto", {"semantic.model": text}).file_part for text in texts]
    for part in parts:
        assert part == Path(part).name and len(os.fsencode(part)) <= 80
        assert not set(part) - set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._,=-")
    assert (parts[0].casefold() == parts[1].casefold()) == (texts[0] == texts[1])


def test_names_of_modes_stay_short() -> None:
    assert parse("mode=keyword", "auto").file_part == "keyword"
    assert parse("semantic.chunk_size=300", "auto").file_part == "semantic.chunk_size=300"

"""Order of sources, checks with their places, and what a project's own file may not decide."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from findling.config import EMBEDDING_KEY, OPTIONS, RERANK_KEY, Config, Loaded, load
from findling.config.sources import NAMES, PROJECT_FILES, SECTIONS, lines_of
from findling.model.errors import ConfigError
from sizes import size

Flags = Mapping[str, object]


class Place:
    """A project and a home folder to write configuration files into."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.home = folder / "home"
        self.root.mkdir()
        self.home.mkdir()

    def project(self, text: str, name: str = "findling.toml") -> Path:
        return self._write(self.root / name, text)

    def user(self, text: str, name: str = "config.toml") -> Path:
        return self._write(self.home / ".config" / "findling" / name, text)

    def load(self, flags: Flags | None = None, config_file: Path | None = None, **environ: str) -> Loaded:
        return load(self.root, flags=flags or {}, environ={"HOME": str(self.home), **environ}, config_file=config_file)

    def config(self, **environ: str) -> Config:
        return self.load(**environ).config

    def error(self, **environ: str) -> ConfigError:
        with pytest.raises(ConfigError) as raised:
            self.load(**environ)
        return raised.value

    def _write(self, path: Path, text: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def in_format(name: str, batch_size: int) -> str:
    table = {"semantic": {"embedding": {"batch_size": batch_size}}}
    return json.dumps(table) if name.endswith(".json") else f"[semantic.embedding]\nbatch_size = {batch_size}\n"


# --- whatever is written --------------------------------------------------------------------------------------

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.lists(st.text(max_size=3))
TABLES = st.dictionaries(
    st.sampled_from(sorted(NAMES)) | st.sampled_from(sorted(SECTIONS)) | st.text(max_size=8),
    SCALARS | st.sampled_from([choice for option in OPTIONS.values() for choice in option.choices]),
    max_size=6,
)


@given(table=TABLES)
@settings(max_examples=size(75, 300), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_file_is_either_checked_or_refused_with_its_name(place: Place, table: dict[str, Any]) -> None:
    file = place.project(json.dumps(table), ".findling/config.json")
    try:
        loaded = place.load()
    except ConfigError as error:
        assert str(error).startswith(str(file)) or "follows from" in str(error)
        return
    for key, origin in loaded.origins.items():
        option = OPTIONS[key]
        if option.choices and origin.value is not None:
            assert origin.value in option.choices
        elif option.bounds is not None and origin.value is not None:
            assert isinstance(origin.value, int if option.kind == "whole" else float)
            low, high = option.bounds
            assert low <= origin.value <= high
        assert option.key not in HELD_BACK or origin.value == option.default or option.project.allows(origin.value)
    assert not loaded.config.semantic.gates_open


# --- order ----------------------------------------------------------------------------------------------------


def test_without_anything_every_value_is_the_default(place: Place) -> None:
    loaded = place.load()
    assert loaded.config == Config()
    assert {origin.place for origin in loaded.origins.values()} == {"default"}
    assert (loaded.warnings, loaded.files) == ((), ())
    assert {key: origin.value for key, origin in loaded.origins.items()} == {k: o.default for k, o in OPTIONS.items()}


def test_each_source_is_stronger_than_all_below(place: Place, tmp_path: Path) -> None:
    """From the weakest to the strongest, each added source decides."""
    expected = 100
    for name in ("config.json", "config.toml"):
        file = place.user(in_format(name, expected), name)
        assert place.load().origins["semantic.embedding.batch_size"].source.path == file
        assert place.config().embedding.batch_size == expected
        expected += 1
    for name in reversed(PROJECT_FILES):
        place.project(in_format(name, expected), name)
        assert place.config().embedding.batch_size == expected
        expected += 1
    by_variable = tmp_path / "variable.json"
    by_variable.write_text(in_format("x.json", expected))
    assert place.config(FINDLING_CONFIG=str(by_variable)).embedding.batch_size == expected
    named = tmp_path / "named.toml"
    named.write_text(in_format("x.toml", expected + 1))
    found = place.load(config_file=named, FINDLING_CONFIG=str(by_variable))
    assert found.config.embedding.batch_size == expected + 1
    assert by_variable not in found.files
    found = place.load({"semantic.embedding.batchSize": "7"}, config_file=named)
    assert found.config.embedding.batch_size == 7
    assert found.origins["semantic.embedding.batch_size"].place == "command line"


def test_flag_environment_file_in_this_order(place: Place) -> None:
    place.project('[semantic]\nmode = "off"\n')
    assert place.config().semantic.mode == "off"
    assert place.config(FINDLING_SEMANTIC_MODE="rerank_only").semantic.mode == "rerank_only"
    loaded = place.load({"semantic.mode": "hybrid"}, FINDLING_SEMANTIC_MODE="rerank_only")
    assert loaded.config.semantic.mode == "hybrid"
    assert place.config(FINDLING_SEMANTIC_MODE="").semantic.mode == "off"
    assert place.load({"semantic.mode": None}).config.semantic.mode == "off"


def test_every_variable_sets_its_option(place: Place) -> None:
    loaded = place.load(
        FINDLING_SEMANTIC_ENABLED="NO",
        FINDLING_SEMANTIC_MODE="Hybrid",
        FINDLING_OLLAMA_URL="http://127.0.0.1:9/",
        FINDLING_EMBED_MODEL="all-minilm",
        FINDLING_DATA_DIR="~/books",
        FINDLING_LOG_LEVEL="DEBUG",
    )
    config = loaded.config
    assert (config.semantic.enabled, config.semantic.mode) == (False, "hybrid")
    assert (config.semantic.ollama_url, config.embedding.model) == ("http://127.0.0.1:9", "all-minilm")
    assert (config.library.data_dir, config.log.level) == (str(place.home / "books"), "debug")
    assert loaded.origins["semantic.embedding.model"].place == "FINDLING_EMBED_MODEL"
    assert config.embedding.provider == "ollama"


def test_the_user_folder_follows_the_platform_variable(place: Place, tmp_path: Path) -> None:
    (tmp_path / "elsewhere" / "findling").mkdir(parents=True)
    (tmp_path / "elsewhere" / "findling" / "config.toml").write_text("[semantic]\nmax_retries = 1\n")
    place.user("[semantic]\nmax_retries = 2\n")
    assert place.config().semantic.max_retries == 2
    assert place.config(XDG_CONFIG_HOME=str(tmp_path / "elsewhere")).semantic.max_retries == 1
    assert place.config(XDG_CONFIG_HOME="relative").semantic.max_retries == 2


def test_zero_and_false_are_values(place: Place) -> None:
    place.user("[semantic]\nratio = 0.4\nmax_retries = 2\nauto_index = true\n")
    place.project("[semantic]\nratio = 0\nmax_retries = 0\nauto_index = false\n")
    semantic = place.config().semantic
    assert (semantic.ratio, semantic.max_retries, semantic.auto_index) == (0.0, 0, False)


def test_null_leaves_an_unset_option_unset(place: Place) -> None:
    place.project('{"semantic": {"modelDim": null}}', ".findling/config.json")
    assert place.config().embedding.dimensions is None
    place.project('{"semantic": {"enabled": null}}', ".findling/config.json")
    assert "semantic.enabled is null" in place.error().message


def test_a_byte_order_mark_and_an_empty_file_are_fine(place: Place) -> None:
    place.project("\ufeff[semantic]\nmax_retries = 1\n")
    place.project("", ".repo_search/config.json")
    assert place.config().semantic.max_retries == 1


# --- spellings ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("[semantic]\nollamaUrl = 'http://localhost:1'\ntimeoutMs = 200\nmodelDim = 3\n", "findling.toml"),
        ("[semantic]\nollama_url = 'http://localhost:1'\ntimeout_ms = 200\nmodel_dim = 3\n", "findling.toml"),
        (
            '{"semantic": {"ollama_url": "http://localhost:1", "timeoutMs": 200, "embedding": {"dimensions": 3}}}',
            ".findling/config.json",
        ),
        (
            '{"semantic.ollamaUrl": "http://localhost:1", "semantic.timeout_ms": 200, "semantic.modelDim": 3}',
            ".findling/config.json",
        ),
    ],
)
def test_every_spelling_in_either_format(place: Place, text: str, name: str) -> None:
    place.project(text, name)
    loaded = place.load()
    assert loaded.warnings == ()
    semantic = loaded.config.semantic
    assert (semantic.ollama_url, semantic.timeout_ms) == ("http://localhost:1", 200)
    assert loaded.config.embedding.dimensions == 3
    assert loaded.config.embedding.provider == "ollama"


def test_all_spellings_are_different_options_or_the_same_one(place: Place) -> None:
    seen: dict[str, str] = {}
    for option in OPTIONS.values():
        for name in option.names():
            assert seen.setdefault(name, option.key) == option.key


def test_two_spellings_that_differ_are_reported(place: Place) -> None:
    place.project("[semantic]\nchunkSize = 700\nchunk_size = 800\n")
    loaded = place.load()
    assert loaded.config.semantic.chunk_size == 800
    (warning,) = loaded.warnings
    assert "semantic.chunkSize" in warning and "semantic.chunk_size is used" in warning


def test_an_unknown_key_names_the_nearest_one_and_its_place(place: Place) -> None:
    file = place.project('\n[semantic]\nmax_retry = 3\n[semantic.embeding]\nmodel = "x"\n[unheard]\nof = 1\n')
    loaded = place.load()
    assert loaded.warnings == (
        f"{file}:3: unknown option semantic.max_retry; did you mean semantic.max_retries?",
        f"{file}:4: unknown option semantic.embeding; did you mean semantic.embedding?",
        f"{file}:6: unknown option unheard.",
    )
    assert loaded.config == Config()


def test_a_key_in_the_wrong_section_names_the_right_one(place: Place) -> None:
    place.project('{"modelDim": 3}', ".repo_search/config.json")
    (warning,) = place.load().warnings
    assert warning.endswith(":1: unknown option modelDim; did you mean semantic.modelDim?")


def test_a_foreign_file_does_not_flood_with_warnings(place: Place) -> None:
    place.project(json.dumps({f"key{number}": 1 for number in range(500)}), ".repo_search/config.json")
    warnings = place.load().warnings
    assert len(warnings) == 11
    assert "490 more" in warnings[-1]


def test_an_unknown_flag_is_an_error(place: Place) -> None:
    with pytest.raises(ConfigError, match=r"did you mean semantic\.mode\?"):
        place.load({"semantic.mood": "off"})


# --- checks ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('max_retries = "3"', "semantic.max_retries is text. It takes a whole number from 0 to 10."),
        ("max_retries = 3.0", "semantic.max_retries is a number with a decimal point."),
        ("max_retries = true", "semantic.max_retries is a switch"),
        ("max_retries = 11", "semantic.max_retries is 11."),
        ("timeoutMs = 99", "semantic.timeoutMs is 99."),
        ("similarityThreshold = 1.1", "semantic.similarityThreshold is 1.1."),
        ("similarity_threshold = nan", "semantic.similarity_threshold is nan."),
        ("ratio = inf", "semantic.ratio is inf."),
        (f"similarity_threshold = {'9' * 400}", "semantic.similarity_threshold is a very large number."),
        (f"similarity_threshold = -{'9' * 400}", "semantic.similarity_threshold is a very large number."),
        (f"model_dim = {'9' * 400}", "semantic.model_dim is a very large number."),
        ("model_dim = 1e400", "semantic.model_dim is a number with a decimal point."),
        ('ratio = "half"', "semantic.ratio is text."),
        ("enabled = 1", "semantic.enabled is a whole number."),
        ('enabled = "on"', "semantic.enabled is 'on'."),
        ("autoIndex = 0", "semantic.autoIndex is a whole number."),
        ('mode = "hybird"', 'semantic.mode is \'hybird\'. It takes "off", "rerank_only" or "hybrid".'),
        ("mode = ['off']", "semantic.mode is a list."),
        ("model = 5", "semantic.model is a whole number."),
        ("model = ' '", "semantic.model is empty."),
        ("modelDim = 0", "semantic.modelDim is 0."),
        ("chunkSize = 2024-01-01", "semantic.chunkSize is a date."),
        ("embedding = 5", "semantic.embedding must be a table."),
        ("ollamaUrl = 'localhost:11434'", "semantic.ollamaUrl must be an http or https URL."),
        ("ollamaUrl = 'file:///etc/passwd'", "semantic.ollamaUrl must be an http or https URL."),
        ("ollamaUrl = 'http://localhost:x'", "semantic.ollamaUrl must be an http or https URL."),
    ],
)
def test_a_wrong_value_names_key_and_place(place: Place, line: str, words: str) -> None:
    """S1-5, S1-43: types and bounds."""
    file = place.project(f"# a comment\n[semantic]\n\n{line}\n")
    error = place.error()
    assert str(error).startswith(f"{file}:4: {words}")
    assert error.remedy


@pytest.mark.parametrize(
    ("key", "low", "high"),
    [(o.key, *o.bounds) for o in OPTIONS.values() if o.bounds is not None and not o.clamped],
)
def test_every_bound_holds_and_is_part_of_the_range(place: Place, key: str, low: float, high: float) -> None:
    """S1-5, S0-23: every range, its ends included."""
    kind = int if OPTIONS[key].kind == "whole" else float
    for outside in (low - 1, high + 1):
        with pytest.raises(ConfigError, match=f"{key} is "):
            place.load({key: kind(outside)})
    for inside in (low, high):
        try:
            loaded = place.load({key: kind(inside)})
        except ConfigError as error:  # an overlap may reach its own bound and still be too long for the size
            assert "must be less than" in error.message
        else:
            assert loaded.origins[key].value == inside


@pytest.mark.parametrize("key", [option.key for option in OPTIONS.values() if option.clamped])
def test_ratios_are_moved_into_their_bounds_with_a_warning(place: Place, key: str) -> None:
    """D27: a start does not fail over 1.1."""
    for written, used in ((1.1, 1.0), (-3, 0.0), (1, 1.0)):
        loaded = place.load({key: written})
        assert loaded.origins[key].value == used
        assert len(loaded.warnings) == (written != used)
        assert all(f"{key} is {written}" in warning for warning in loaded.warnings)


def test_json_places_are_told_too(place: Place) -> None:
    file = place.project(
        '{\n  "semantic": {\n    "note": "maxRetries: {",\n    "maxRetries": 99\n  }\n}', PROJECT_FILES[2]
    )
    assert str(place.error()).startswith(f"{file}:4: semantic.maxRetries is 99.")


def test_places_in_multi_line_values(place: Place) -> None:
    file = place.project('[index]\n# include = [\ninclude = [\n  "include",\n  "b",\n]\nexclude = [\n  1,\n]\n')
    assert str(place.error()).startswith(f"{file}:7: index.exclude has a whole number in its list.")
    place.project('[index]\n# include = [\ninclude = [\n  "include",\n  "b",\n]\n')
    origin = place.load().origins["index.include"]
    assert (origin.value, origin.line) == (("include", "b"), 3)


def test_places_in_every_form_that_toml_has(place: Place) -> None:
    text = """\
semantic.\"max_retries\" = 1 # semantic.mode = "off"
semantic.embedding = { profile = 'fast_local', batch_size = 3 }
semantic.overrides = { symbol = {}, path = { ratio = 0.1 }, error = { ratio = 0.2 } }
library.include_patterns = [
  "a", # [index]
  '[hybrid]',
]
library.data_dir = '''
/x
[index]'''

[ hybrid ]
note = \"\"\"
symbol_weight = 1 \\\"\"\"\"
symbol_weight = 1
[[index.odd]]
hidden = true
[index]
hidden = true
[log]
level = "error\""""
    place.project(text)
    loaded_lines = {name: line for name, line in lines_of(text, is_json=False).items() if name in OPTIONS}
    assert loaded_lines == {
        "semantic.max_retries": 1,
        "semantic.embedding.profile": 2,
        "semantic.embedding.batch_size": 2,
        "semantic.overrides.path.ratio": 3,
        "semantic.overrides.error.ratio": 3,
        "library.include_patterns": 4,
        "library.data_dir": 8,
        "hybrid.symbol_weight": 15,
        "index.hidden": 19,
        "log.level": 21,
    }


def test_the_last_of_two_equal_json_keys_counts(place: Place) -> None:
    place.project('{"semantic": {"maxRetries": 1,\n"maxRetries": 2}}', PROJECT_FILES[2])
    origin = place.load().origins["semantic.max_retries"]
    assert (origin.value, origin.line) == (2, 2)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("[semantic\n", "findling.toml"),
        ("{'semantic': 1}", ".findling/config.json"),
        ('{"semantic": {"ratio": NaN}}', ".findling/config.json"),
        ("[1]", ".findling/config.json"),
        ("[" * 100_000, ".findling/config.json"),
        ("x = " + "[" * 20_000, "findling.toml"),
        ("x = " + "9" * 10_000, "findling.toml"),
    ],
)
def test_what_does_not_parse_is_an_error_with_the_file(place: Place, text: str, name: str) -> None:
    file = place.project(text, name)
    assert str(place.error()).startswith(str(file))


def test_variables_are_checked_and_named(place: Place) -> None:
    error = place.error(FINDLING_SEMANTIC_ENABLED="maybe")
    assert str(error) == "FINDLING_SEMANTIC_ENABLED: semantic.enabled is 'maybe'. It takes \"auto\", true or false."


def test_a_value_that_something_stronger_covers_is_checked_too(place: Place) -> None:
    place.user("[semantic]\nmax_retries = 'many'\n")
    place.project("[semantic]\nmax_retries = 1\n")
    assert "semantic.max_retries is text" in place.error().message


@pytest.mark.parametrize(
    "text",
    [
        "[semantic]\nchunkSize = 300\nchunkOverlap = 300\n",
        "[semantic]\nchunk_max_lines = 10\nchunk_overlap_lines = 11\n",
        "[library]\nchunkSize = 100\noverlap = 100\n",
    ],
)
def test_an_overlap_is_less_than_its_size(place: Place, text: str) -> None:
    file = place.project(text)
    error = place.error()
    assert str(error).startswith(f"{file}:3: ")
    assert "must be less than" in error.message


def test_an_overlap_that_nobody_wrote_gives_way(place: Place) -> None:
    place.project("[semantic]\nchunkSize = 150\nchunk_max_lines = 5\n[library]\nchunk_size = 201\n")
    loaded = place.load()
    assert (loaded.config.semantic.chunk_overlap, loaded.config.semantic.chunk_overlap_lines) == (30, 1)
    assert loaded.config.library.overlap == 200
    assert "follows from semantic.chunkSize" in loaded.origins["semantic.chunk_overlap"].place


def test_weights_are_not_all_zero(place: Place) -> None:
    place.project("[hybrid]\nkeyword_weight = 0\nsymbol_weight = 0.0\n")
    assert place.config().hybrid.semantic_weight == 0.3
    place.project("[hybrid]\nkeyword_weight = 0\nsymbol_weight = 0\nsemantic_weight = 0\n")
    assert "hybrid.keyword_weight must be above 0" in place.error().message


def test_a_ratio_alone_holds_for_questions(place: Place) -> None:
    """D26: an override comes before the ratio; one that nobody wrote does not cover a ratio that somebody did."""
    assert place.config().ratio_for("natural_language") == 0.5
    place.project("[semantic]\nratio = 0.2\n")
    config = place.config()
    assert (config.ratio_for("natural_language"), config.ratio_for("symbol")) == (0.2, 0.0)
    place.project("[semantic]\nratio = 0.2\n[semantic.overrides.natural_language]\nratio = 0.9\n")
    assert place.config().ratio_for("natural_language") == 0.9


@pytest.mark.parametrize(
    ("enabled", "mode", "works", "effective"),
    [
        ("auto", None, True, "hybrid"),
        ("auto", None, False, "off"),
        ("true", None, False, "hybrid"),
        ("false", None, True, "off"),
        ("false", "hybrid", True, "off"),
        ("auto", "off", True, "off"),
        ("true", "rerank_only", False, "rerank_only"),
    ],
)
def test_the_mode_of_search_code(place: Place, enabled: str, mode: str | None, works: bool, effective: str) -> None:
    """D2, S2-42."""
    semantic = place.load({"semantic.enabled": enabled, "semantic.mode": mode}).config.semantic
    assert semantic.effective_mode(embedder_works=works) == effective


# --- what a project may not decide ------------------------------------------------------------------------------

HELD_BACK: dict[str, Any] = {
    "semantic.ollama_url": "https://gpu.example.org",
    "semantic.external_provider_enabled": True,
    "semantic.allow_code_payload_to_external": True,
    "semantic.embedding.provider": "voyage",
    "semantic.embedding.profile": "external",
    "semantic.embedding.model": "models/../../elsewhere",
    "semantic.rerank.provider": "cohere",
    "library.data_dir": "/somewhere",
    "fetch.allowed_hosts": ["intranet"],
}


def as_json(settings: Mapping[str, Any]) -> str:
    return json.dumps(dict(settings))


@pytest.mark.parametrize("name", [name for name in PROJECT_FILES if name.endswith(".json")])
@pytest.mark.parametrize("key", HELD_BACK)
def test_a_project_does_not_decide_where_code_goes(place: Place, key: str, name: str) -> None:
    place.project(as_json({key: HELD_BACK[key]}), name)
    loaded = place.load()
    assert loaded.origins[key].value == OPTIONS[key].default
    (warning,) = loaded.warnings
    assert f"{key} is ignored: a project's own file may" in warning and name in warning
    assert key in loaded.config.refused


@pytest.mark.parametrize("key", HELD_BACK)
def test_the_user_decides_it(place: Place, key: str, tmp_path: Path) -> None:
    value = HELD_BACK[key]
    used = tuple(value) if isinstance(value, list) else value
    file = place.user(as_json({key: value}), "config.json")
    assert place.load().origins[key].value == used
    file.unlink()
    named = place.project(as_json({key: value}), "mine.json")
    assert place.load(config_file=named).origins[key].value == used
    assert place.load({key: value}).origins[key].value == used
    assert place.load({key: ",".join(value) if isinstance(value, list) else str(value)}).origins[key].value == used


def test_a_project_may_close_what_the_user_opened(place: Place) -> None:
    place.user("[semantic]\nexternal_provider_enabled = true\nallow_code_payload_to_external = true\n")
    assert place.config().semantic.gates_open
    place.project("[semantic]\nallow_code_payload_to_external = false\n[fetch]\nenabled = false\n")
    loaded = place.load()
    assert not loaded.config.semantic.gates_open
    assert not loaded.config.fetch.enabled
    assert loaded.warnings == ()
    place.user("[fetch]\nenabled = false\n")
    place.project("[fetch]\nenabled = true\n")
    assert not place.config().fetch.enabled


def test_a_project_does_not_use_the_users_keys_though_the_gates_are_open(place: Place) -> None:
    place.user("[semantic]\nexternal_provider_enabled = true\nallow_code_payload_to_external = true\n")
    place.project('[semantic.embedding]\nprovider = "openai"\nmodel = "text-embedding-3-small"\ndimensions = 1536\n')
    config = place.config(**{EMBEDDING_KEY: "k"})
    assert (config.embedding.provider, config.embedding.model, config.embedding.dimensions) == (None, None, None)
    assert config.embedder_blocked


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://localhost:11434", True),
        ("http://LOCALHOST./", True),
        ("http://127.1.2.3:1", True),
        ("http://[::1]:11434", True),
        ("http://localhost.example.org", False),
        ("http://127.0.0.1.example.org", False),
        ("http://0.0.0.0:11434", False),
        ("http://169.254.169.254", False),
        ("http://10.0.0.1", False),
        ("http://2130706433", False),
    ],
)
def test_a_projects_ollama_is_on_this_machine(place: Place, url: str, here: bool) -> None:
    place.project(as_json({"semantic.ollamaUrl": url}), PROJECT_FILES[2])
    loaded = place.load()
    assert (loaded.config.semantic.ollama_url == url.rstrip("/")) == here
    assert (loaded.warnings == ()) == here
    assert loaded.config.embedding.provider == ("ollama" if here else None)


def test_another_machine_of_the_users_is_warned_of(place: Place) -> None:
    place.user("[semantic]\nollamaUrl = 'http://gpu.example.org:11434'\n")
    (warning,) = place.load().warnings
    assert "text is sent to http://gpu.example.org:11434" in warning


def test_a_project_does_not_send_text_to_the_users_other_machine(place: Place) -> None:
    place.user("[semantic]\nollamaUrl = 'http://gpu.example.org'\n[semantic.embedding]\nprovider = 'local'\n")
    place.project('{"semantic": {"model": "nomic-embed-text"}}', PROJECT_FILES[3])
    loaded = place.load()
    assert (loaded.config.embedding.provider, loaded.config.embedding.model) == ("local", None)
    assert any("may not send text to http://gpu.example.org" in warning for warning in loaded.warnings)


@pytest.mark.parametrize(
    "url", ["http://me:hunter2@localhost:1", "http://hunter2@localhost", "http://localhost/?key=hunter2"]
)
def test_a_url_with_a_secret_is_refused_without_repeating_it(place: Place, url: str) -> None:
    place.user(as_json({"semantic.ollama_url": url}), "config.json")
    error = place.error()
    assert "semantic.ollama_url must be a URL without" in error.message
    assert "hunter2" not in str(error)


def test_closed_gates_are_told(place: Place) -> None:
    place.user("[semantic.embedding]\nprovider = 'voyage'\n[semantic.rerank]\nprovider = 'cohere'\n")
    loaded = place.load()
    assert loaded.config.embedder_blocked and loaded.config.reranker_blocked
    assert ["is not called" in warning for warning in loaded.warnings] == [True, True]
    place.user(
        "[semantic]\nexternal_provider_enabled = true\nallow_code_payload_to_external = true\n"
        "[semantic.embedding]\nprovider = 'voyage'\n[semantic.rerank]\nprovider = 'cohere'\n"
    )
    loaded = place.load()
    assert not loaded.config.embedder_blocked and not loaded.config.reranker_blocked
    assert loaded.warnings == ()


# --- keys -----------------------------------------------------------------------------------------------------


def test_keys_come_from_the_environment_and_are_shown_nowhere(place: Place) -> None:
    """S2-56."""
    loaded = place.load(**{EMBEDDING_KEY: "sk-one", RERANK_KEY: "sk-two"})
    keys = loaded.config.keys
    assert keys.embedding is not None and keys.embedding.reveal() == "sk-one"
    assert keys.rerank is not None and keys.rerank.reveal() == "sk-two"
    assert loaded.keys_set() == {EMBEDDING_KEY: True, RERANK_KEY: True}
    assert "sk-" not in f"{loaded!r} {loaded.config} {keys} {keys.embedding} {loaded.warnings} {loaded.origins}"
    for write in (pickle.dumps, json.dumps):
        with pytest.raises(TypeError):
            write(keys.embedding)
    assert place.load(**{EMBEDDING_KEY: " "}).keys_set() == {EMBEDDING_KEY: False, RERANK_KEY: False}


def test_a_key_in_a_file_is_reported_and_not_repeated(place: Place) -> None:
    place.user('[semantic.embedding]\napi_key = "sk-one"\n')
    (warning,) = place.load().warnings
    assert EMBEDDING_KEY in warning and "sk-one" not in warning


# --- files that are no files ------------------------------------------------------------------------------------


def test_a_link_out_of_the_project_is_not_followed(place: Place, tmp_path: Path) -> None:
    (tmp_path / "outside.toml").write_text("[semantic]\nmax_retries = 1\n")
    (place.root / "findling.toml").symlink_to(tmp_path / "outside.toml")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "config.toml").write_text("[semantic]\nmax_retries = 1\n")
    (place.root / ".findling").symlink_to(tmp_path / "folder")
    loaded = place.load()
    assert loaded.config.semantic.max_retries == 3
    assert ["leads out of the project" in warning for warning in loaded.warnings] == [True, True]


def test_a_link_inside_the_project_is_followed(place: Place) -> None:
    place.project("[semantic]\nmax_retries = 1\n", "settings/findling.toml")
    (place.root / "findling.toml").symlink_to(place.root / "settings" / "findling.toml")
    assert place.config().semantic.max_retries == 1


def test_pipes_folders_large_and_binary_files_are_reported(place: Place) -> None:
    os.mkfifo(place.root / "findling.toml")
    (place.root / ".findling" / "config.toml").mkdir(parents=True)
    place.project("# " + "x" * 300_000, ".findling/config.json")
    (place.root / ".repo_search").mkdir()
    (place.root / ".repo_search" / "config.json").write_bytes(b'{"a": "\xff"}')
    loaded = place.load()
    reasons = ("not a regular file", "not a regular file", "larger than", "not UTF-8")
    assert len(loaded.warnings) == 4
    assert all(reason in warning for reason, warning in zip(reasons, loaded.warnings, strict=True))
    assert loaded.config == Config()


def test_a_named_file_must_be_there(place: Place, tmp_path: Path) -> None:
    for found in ({"config_file": tmp_path / "none.toml"}, {"FINDLING_CONFIG": str(tmp_path / "none.toml")}):
        with pytest.raises(ConfigError, match=r"none\.toml"):
            place.load(**found)  # type: ignore[arg-type]


def test_a_folder_is_taken_from_the_file_that_names_it(place: Place) -> None:
    file = place.user('[library]\ndata_dir = "books/../shelf"\n')
    assert place.config().library.data_dir == str(file.parent / "shelf")

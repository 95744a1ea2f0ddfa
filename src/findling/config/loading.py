"""Merges all sources, in order, into one checked `Config` that knows where each value came from.

Every value that is written anywhere is checked, also one that a stronger source covers. What a project's own file may
not decide is reported and left out before the order is looked at.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from findling.config.option import NEVER, Value, check, in_snake_case, is_loopback, shown
from findling.config.options import (
    EMBEDDING_KEY,
    GROUPS,
    MILVUS_TOKEN,
    OPTIONS,
    OVERLAPS,
    RERANK_KEY,
    Config,
    Keys,
    Secret,
)
from findling.config.sources import Source, of_environment, of_files, of_flags
from findling.model.errors import ConfigError

_NOTHING: Final[Mapping[str, object]] = MappingProxyType({})
_PROVIDER: Final = "semantic.embedding.provider"
_PROFILE: Final = "semantic.embedding.profile"
_OF_THE_PROVIDER: Final = (
    "semantic.embedding.model",
    "semantic.embedding.dimensions",
    "semantic.embedding.model_version",
)
_URL: Final = "semantic.ollama_url"
_RATIO: Final = "semantic.ratio"
_QUESTIONS_RATIO: Final = "semantic.overrides.natural_language.ratio"
_WEIGHTS: Final = ("hybrid.keyword_weight", "hybrid.symbol_weight", "hybrid.semantic_weight")
# An overlap that nobody wrote and that does not fit becomes this part of its size, as in the defaults for code.
_FITTING_PART: Final = 5


class Origin(Struct, frozen=True):
    """A value and where it came from. ``name`` is the key as it was written there, "" for a default. ``derived``: the
    value follows from another option, whose key ``name`` then is."""

    value: Value
    source: Source
    name: str = ""
    derived: bool = False

    @property
    def line(self) -> int:
        """The 1-based line in the source's file; 0 without a file, or when it cannot be told."""
        return self.source.line(self.name) if self.name else 0

    @property
    def place(self) -> str:
        """Where, for people: ``FILE:LINE``, the variable's name, "command line", or "default"."""
        place = self.source.place(self.name) if self.name else self.source.kind
        return f"follows from {self.name}, {place}" if self.derived else place


class Loaded(Struct, frozen=True):
    """``origins`` has every option's key, in the order of the definition; ``warnings`` are sentences with places;
    ``files`` were read, the strongest first."""

    config: Config
    origins: Mapping[str, Origin]
    warnings: Sequence[str]
    files: Sequence[Path]

    def keys_set(self) -> Mapping[str, bool]:
        """The variables that keys are read from, and whether each is set."""
        keys = self.config.keys
        return {EMBEDDING_KEY: keys.embedding is not None, RERANK_KEY: keys.rerank is not None}


class _Said(NamedTuple):
    """A checked value of one source."""

    value: Value
    name: str


_All = Sequence[tuple[Source, Mapping[str, _Said]]]
"""What each source says, the strongest first."""


def load(
    root: Path,
    *,
    flags: Mapping[str, object] = _NOTHING,
    environ: Mapping[str, str] | None = None,
    config_file: Path | None = None,
) -> Loaded:
    """The configuration of ``root``: flags, environment, ``config_file``, the project's files, the user's, defaults.

    ``flags`` maps keys, in any spelling, to values or texts; None is not set. ``environ`` None is the process's.
    Raises ConfigError: a file that does not parse, a value of the wrong type or out of bounds, with key and place.
    """
    environment = os.environ if environ is None else environ
    sources = [of_flags(flags), of_environment(environment), *of_files(root, environment, config_file)]
    warnings = [warning for source in sources for warning in source.warnings]
    refused: dict[str, Value] = {}
    said = [(source, _checked(source, environment, warnings, refused)) for source in sources]
    origins = {key: _first(key, said) for key in OPTIONS}
    _choose_by_spelling(origins, said, warnings, refused)
    if not origins[_QUESTIONS_RATIO].name and origins[_RATIO].name:
        origins[_QUESTIONS_RATIO] = replace(origins[_RATIO], derived=True)
    _check_overlaps(origins)
    _check_weights(origins)
    config = _config(origins, refused, environment)
    warnings += _outward(config, origins)
    files = tuple(source.path for source in sources if source.path is not None)
    return Loaded(config, MappingProxyType(origins), tuple(warnings), files)


def _checked(
    source: Source, environ: Mapping[str, str], warnings: list[str], refused: dict[str, Value]
) -> dict[str, _Said]:
    """What a source says, value by value, without what it may not decide."""
    said: dict[str, _Said] = {}
    dropped: list[str] = []
    for option, name, written in source.settings.values():
        if not source.trusted and option.project is NEVER:
            refused.setdefault(option.key, None)
            warnings.append(_refusal(source, name, option.project.words))
            continue
        try:
            value, warning = check(option, written, name)
        except ConfigError as error:
            raise ConfigError(f"{source.place(name)}: {error.message}", remedy=error.remedy) from error
        if value is None:
            continue
        if not source.trusted and not option.project.allows(value):
            refused.setdefault(option.key, value)
            warnings.append(_refusal(source, name, option.project.words))
            if option.key in (_PROVIDER, _OF_THE_PROVIDER[0]):
                dropped += _OF_THE_PROVIDER
            continue
        if warning:
            warnings.append(f"{source.place(name)}: {warning}.")
        if option.kind == "path":
            value = _absolute(value, source, environ)
        elif option.key == _OF_THE_PROVIDER[0]:
            value = _model_folder(value, source, environ)
        said[option.key] = _Said(value, name)
    return {key: value for key, value in said.items() if key not in dropped}


def _refusal(source: Source, name: str, words: str) -> str:
    return (
        f"{source.place(name)}: {name} is ignored: a project's own file {words}. "
        "Set it in your own configuration, in the environment or with --config."
    )


def _absolute(value: Value, source: Source, environ: Mapping[str, str]) -> Value:
    """A folder as an absolute path: from the file that names it, else from the current folder; ``~`` is the home."""
    path = str(value)
    if path == "~" or path.startswith("~/"):
        home = environ.get("HOME") or os.path.expanduser("~")  # noqa: PTH111 - the Path method raises without a home
        path = home + path[1:]
    base = source.path.parent if source.path is not None else Path()
    return os.path.abspath(base / path)  # noqa: PTH100 - a Path would keep its ".."


def _model_folder(value: Value, source: Source, environ: Mapping[str, str]) -> Value:
    """A model's folder as an absolute path, where there is one of that name; a project's lies beside its file.

    Names of models without a slash are no folders, and those with one are only where a tokenizer lies. Outside of a
    file ``owner/name`` is none either: the current folder may be anybody's, and must not stand in for a model.
    """
    name = str(value)
    path = Path(str(_absolute(value, source, environ)))
    if "/" not in name or not os.path.isfile(path / "tokenizer.json"):  # noqa: PTH113
        return value
    if source.path is None and not (name.startswith((".", "~")) or Path(name).is_absolute()):
        return value
    beside = source.path.parent if source.path is not None else path
    return str(path) if source.trusted or path.resolve().is_relative_to(beside.resolve()) else value


def _first(key: str, said: _All) -> Origin:
    for source, values in said:
        if key in values:
            return Origin(values[key].value, source, values[key].name)
    return Origin(OPTIONS[key].default, _DEFAULT)


# --- the provider that a spelling chooses ----------------------------------------------------------------------


def _choose_by_spelling(origins: dict[str, Origin], said: _All, warnings: list[str], refused: dict[str, Value]) -> None:
    chosen = _provider(said)
    if chosen is None:
        return
    if chosen.value == "ollama" and not chosen.source.trusted and not is_loopback(str(origins[_URL].value)):
        # The user's own Ollama on another machine is for what the user sends there, not for what a project would.
        own = [(source, values) for source, values in said if source.trusted]
        chosen_by_user = _provider(own)
        if chosen_by_user is None or chosen_by_user.value != "ollama":
            refused.setdefault(_PROVIDER, "ollama")
            words = f"may not send text to {origins[_URL].value}"
            warnings.append(_refusal(chosen.source, chosen.name, words))
            for key in _OF_THE_PROVIDER:
                origins[key] = _first(key, own)
            chosen = chosen_by_user or Origin(OPTIONS[_PROVIDER].default, _DEFAULT)
    origins[_PROVIDER] = chosen


def _provider(said: _All) -> Origin | None:
    """The provider that is named, or that a spelling chooses; None when nothing does.

    A key that chooses Ollama by its spelling stands, in a file, for naming it there. On the command line and in the
    environment, where it may be meant for the provider that a file names, it comes after those.
    """
    by_variable: Origin | None = None
    by_model: Origin | None = None
    for source, values in said:
        if _PROVIDER in values:
            return Origin(values[_PROVIDER].value, source, values[_PROVIDER].name)
        for name, provider in _spelled(values.items()):
            found = Origin(provider, source, name, derived=True)
            if provider == "ollama" and source.path is not None:
                return found
            if provider == "ollama":
                by_variable = by_variable or found
            else:
                by_model = by_model or found
    return by_variable or by_model


def _spelled(values: Iterable[tuple[str, _Said]]) -> list[tuple[str, str]]:
    """The names among ``values`` that choose a provider by how they are spelled, and that provider; Ollama first."""
    found = [(said.name, OPTIONS[key].provider.get(in_snake_case(said.name), "")) for key, said in values]
    return sorted(((name, provider) for name, provider in found if provider), key=lambda pair: pair[1] != "ollama")


# --- what must hold between options ----------------------------------------------------------------------------


def _check_overlaps(origins: dict[str, Origin]) -> None:
    """An overlap that nobody wrote gives way to a small size that somebody did."""
    for overlap, size in OVERLAPS.items():
        part, whole = origins[overlap].value, origins[size].value
        assert isinstance(whole, int) and isinstance(part, int)
        if part >= whole and origins[overlap].name:
            raise _conflict(origins, overlap, f"must be less than {size}", (overlap, size))
        if part >= whole:
            origins[overlap] = replace(origins[size], value=whole // _FITTING_PART, derived=True)


def _check_weights(origins: Mapping[str, Origin]) -> None:
    if not any(origins[key].value for key in _WEIGHTS):
        written = next(key for key in _WEIGHTS if origins[key].name)
        raise _conflict(origins, written, "must be above 0 when the other two weights are 0", _WEIGHTS)


def _conflict(origins: Mapping[str, Origin], key: str, words: str, keys: Iterable[str]) -> ConfigError:
    values = ", ".join(f"{each} is {shown(origins[each].value)}" for each in keys)
    return ConfigError(f"{origins[key].place}: {key} {words}: {values}.", remedy="Change one of them.")


def _outward(config: Config, origins: Mapping[str, Origin]) -> list[str]:
    """Sentences about text leaving this machine, or being asked to and not doing so."""
    warnings = []
    provider, url = origins[_PROVIDER], origins[_URL]
    if provider.value == "ollama" and not is_loopback(config.semantic.ollama_url):
        warnings.append(f"{url.place}: text is sent to {config.semantic.ollama_url}, which is not this machine.")
    gates = "external_provider_enabled and allow_code_payload_to_external are not both true"
    for key in (_PROVIDER, "semantic.rerank.provider"):
        name = origins[key].value
        if name not in (None, "none", "local", "ollama") and not config.semantic.gates_open:
            warnings.append(f"{origins[key].place}: {key} {name} is not called: {gates}.")
    if config.embedding.profile == "external" and provider.value in (None, "local", "ollama"):
        warnings.append(f"{origins[_PROFILE].place}: the profile 'external' needs {_PROVIDER} = voyage or openai.")
    return warnings


def _config(origins: Mapping[str, Origin], refused: Mapping[str, Value], environ: Mapping[str, str]) -> Config:
    made = {
        group.name: group.made(
            **{
                option.attribute[1]: origins[option.key].value
                for option in OPTIONS.values()
                if option.attribute[0] == group.name
            }
        )
        for group in GROUPS
    }
    keys = Keys(_secret(environ, EMBEDDING_KEY), _secret(environ, RERANK_KEY), _secret(environ, MILVUS_TOKEN))
    return Config(
        **made,
        refused=MappingProxyType(dict(refused)),
        provider_by_spelling=origins[_PROVIDER].derived,
        keys=keys,
    )


def _secret(environ: Mapping[str, str], variable: str) -> Secret | None:
    text = environ.get(variable, "").strip()
    return Secret(text) if text else None


_DEFAULT: Final = Source("default")

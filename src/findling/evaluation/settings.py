"""Settings to compare, as they are typed: a mode and options on top of a repository's own configuration.

The configuration's loader checks names and values. Must not know how answers are made or scored.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from msgspec import Struct

from findling.config import OPTIONS, Config, find_root, load, make_store, store_location
from findling.config.option import Option
from findling.config.sources import NAMES, of_flags
from findling.engine import Engine, open_chosen
from findling.model.errors import ConfigError, InvalidInput
from findling.model.types import MODES

if TYPE_CHECKING:
    from findling.model.types import Mode

MODE: Final = "mode"

FILES: Final = "index."
"""How the names of options begin that say which files are indexed."""

_CUTS: Final = frozenset(
    f"semantic.{name}" for name in ("chunk_size", "chunk_overlap", "chunk_max_lines", "chunk_overlap_lines")
)
_BY_MEANING: Final = frozenset(
    {
        *("semantic.enabled", "semantic.ollama_url", "semantic.timeout_ms", "semantic.max_retries"),
        *("semantic.external_provider_enabled", "semantic.allow_code_payload_to_external"),
        *(key for key in OPTIONS if key.startswith("semantic.embedding.")),
    }
)
DECIDES: Final = _BY_MEANING | _CUTS | frozenset(key for key in OPTIONS if key.startswith(FILES))
"""The options that `Engine.search` obeys; the others are the tools', the library's or the server's."""

_BY_VARIABLE: Final = {option.environment: option.spellings[-1] for option in OPTIONS.values() if option.environment}
"""As the environment's are read: under the spelling that chooses a provider, where there is one."""

_KEY: Final = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_NEXT: Final = re.compile(rf",(?=\s*{_KEY.pattern}\s*=)", re.ASCII)
_PLAIN_NAME: Final = re.compile(r"[a-z0-9._,=-]+")
# Enough to recognise a setting in a list of files; those that are cut alike have other hashes.
_NAME_CHARS: Final = 60
_HASH_CHARS: Final = 8
_KEY_CHARS: Final = 16


class Setting(Struct, frozen=True):
    """``text`` is what was typed; ``options`` has values by the names that the loader knows, ``keys`` are the options
    that they mean. Without any it is another mode of what is reported."""

    text: str
    mode: Mode
    options: Mapping[str, str]
    keys: frozenset[str] = frozenset()

    @property
    def file_part(self) -> str:
        """The part of a file name that identifies its run: short, without separators, and unique for each text even on
        file systems that ignore case."""
        text = self.text.removeprefix(f"{MODE}=") if not self.options else self.text
        if len(text) <= _NAME_CHARS and _PLAIN_NAME.fullmatch(text):
            return text
        readable = re.sub(r"[^A-Za-z0-9._,=]+", "-", text)[:_NAME_CHARS].strip("-.")
        return f"{readable}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:_HASH_CHARS]}"


def is_setting(text: str) -> bool:
    """Whether ``text`` is no file's name: it begins with ``mode=`` or an option, or is KEY=VALUE and no file there."""
    key, equals, _ = text.partition("=")
    key = key.strip()
    if key == MODE or key in NAMES or key in _BY_VARIABLE:
        return bool(equals)
    return bool(equals) and _KEY.fullmatch(key) is not None and not os.path.lexists(text)


def parse(text: str, mode: Mode) -> Setting:
    """KEY=VALUE, or several with commas between; ``mode`` where none is typed. A comma that no KEY= follows belongs to
    the value, and so does a second ``=``.

    Raises ConfigError for a name that is no option; InvalidInput for a mode that there is none of, for one name twice,
    and for an option that changes no answer.
    """
    options: dict[str, str] = {}
    given: set[str] = set()
    for part in _NEXT.split(text):
        name, _, value = part.partition("=")
        name = name.strip()
        name = _BY_VARIABLE.get(name, name)
        key = NAMES[name].key if name in NAMES else name
        if key in given:
            raise InvalidInput(f"{name} is given twice.", remedy="Give --compare once for each setting.")
        given.add(key)
        if name != MODE:
            options[name] = value
        elif value not in MODES:
            raise InvalidInput(f"There is no mode {value!r}.", remedy=f"There are: {', '.join(MODES)}.")
        else:
            mode = cast("Mode", value)
    for option, name, _ in of_flags(options).settings.values():
        _check_decides(option, name)
    return Setting(text, mode, options, frozenset(given - {MODE}))


def _check_decides(option: Option, name: str) -> None:
    if option.unused:
        raise InvalidInput(f"{name} changes no answer: {option.unused}.")
    if option.key not in DECIDES:
        raise InvalidInput(
            f"{name} does not change the answers of 'findling search'.",
            remedy="These do: mode, index.*, semantic.chunk_*, semantic.enabled, semantic.embedding.*.",
        )


def configured(setting: Setting, root: Path) -> tuple[Config, list[str]]:
    """The configuration of ``root`` with the setting's options on top, as on a command line, and what the loader warns
    of that it does not without them.

    Raises ConfigError for a wrong value.
    """
    loaded = load(root, flags=setting.options)
    config = loaded.config
    if setting.keys & _BY_MEANING and config.semantic.enabled is not False and config.embedder_blocked:
        raise ConfigError(
            "command line: the external embedder may not be called.",
            remedy="semantic.external_provider_enabled and semantic.allow_code_payload_to_external have to be true.",
        )
    known = load(root).warnings
    return loaded.config, [warning for warning in loaded.warnings if warning not in known]


def check_embedder(setting: Setting, config: Config) -> None:
    """Raises EmbedderUnavailable where the setting is about the model and its model does not answer: what is asked
    without it would say nothing about it."""
    if setting.keys & _BY_MEANING and config.semantic.enabled is not False:
        open_chosen(config, None)


def index_name(config: Config) -> str:
    """The same for two configurations whose answers are the same."""
    attributes = {key: OPTIONS[key].attribute for key in DECIDES}
    values = {key: getattr(getattr(config, group), name) for key, (group, name) in attributes.items()}
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:_KEY_CHARS]


def kept_index(root: Path, config: Config) -> Path:
    """The folder in the user's cache for an index of ``root`` as ``config`` wants it, beside that of the reported
    setting; need not exist."""
    folder = store_location(find_root(None, root=root).root, cache=True, create=False).directory
    return folder.with_name(f"{folder.name}-{index_name(config)}")


def open_apart(root: Path, directory: Path, config: Config) -> Engine:
    """The engine for exactly ``root`` with an index of its own in ``directory``, which is made if need be."""
    make_store(directory)
    return Engine(find_root(None, root=root).root, "", directory, config=config)

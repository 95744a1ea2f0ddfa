"""The definition of every option, with its default, its bounds and its meaning.

The fields of the groups below are the options, with the types of the checked values and the defaults. What each means
and which values it takes is written in ``options.json``, by section and field. `Config` has all of them, and `OPTIONS`
is the table that the loader, ``findling config`` and the documentation are made from.

Every spelling is accepted in every file, TOML or JSON, in snake_case and camelCase.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from msgspec import Struct, field

from findling.config.option import ANY, NEVER, Option, ProjectRule, Value, is_loopback

EmbeddingProvider = Literal["local", "ollama", "voyage", "openai"]
SemanticMode = Literal["off", "rerank_only", "hybrid"]

EXTERNAL_EMBEDDERS: Final = ("voyage", "openai")
EXTERNAL_RERANKERS: Final = ("cohere", "voyage")
OLLAMA_MODEL: Final = "nomic-embed-text"
LOCAL_MODEL: Final = "NomicEmbedTextV15Q"
"""The model id that a local configuration names when it wants the hub's nomic model; never chosen by itself."""

KNOWN_DIMENSIONS: Final[Mapping[str, int]] = MappingProxyType({OLLAMA_MODEL: 768, LOCAL_MODEL: 768})

_RULES: Final[Mapping[str, ProjectRule]] = {
    "any": ANY,
    "never": NEVER,
    "only_false": ProjectRule(lambda value: value is False, "may only set it to false"),
    "on_this_machine": ProjectRule(
        lambda url: isinstance(url, str) and is_loopback(url),
        "may only name this machine (localhost, 127.0.0.1, ::1)",
    ),
    "not_external": ProjectRule(
        lambda name: name not in (*EXTERNAL_EMBEDDERS, *EXTERNAL_RERANKERS, "external"),
        "may not choose an external service",
    ),
    "no_folder_elsewhere": ProjectRule(
        lambda model: (
            isinstance(model, str)
            and not re.match(r"[/\\~]|[A-Za-z]:", model)
            and ".." not in re.split(r"[/\\]", model)
        ),
        "may not name a folder outside the project",
    ),
}
"""What a project's own file may decide, by the names in ``options.json``."""

_MIB: Final = 1 << 20


class Semantic(Struct, frozen=True, kw_only=True):
    """Search by meaning, its gates, and how text is cut for it."""

    enabled: bool | Literal["auto"] = "auto"
    mode: SemanticMode | None = None
    ollama_url: str = "http://localhost:11434"
    timeout_ms: int = 5000
    max_retries: int = 3
    chunk_size: int = 2000
    chunk_overlap: int = 200
    chunk_max_lines: int = 50
    chunk_overlap_lines: int = 10
    similarity_threshold: float = 0.7
    auto_index: bool = True
    index_on_startup: bool = False
    watch: bool = True
    ratio: float = 0.3
    lexical_short_circuit_threshold: float = 0.85
    confidence_threshold: float = 0.5
    profile_advisor_mode: Literal["off", "suggest"] = "off"
    external_provider_enabled: bool = False
    allow_code_payload_to_external: bool = False

    @property
    def gates_open(self) -> bool:
        return self.external_provider_enabled and self.allow_code_payload_to_external

    def effective_mode(self, *, embedder_works: bool) -> SemanticMode:
        """The mode of search_code. ``enabled = false`` is stronger than any mode."""
        if self.enabled is False:
            return "off"
        if self.mode is not None:
            return self.mode
        return "hybrid" if self.enabled is True or embedder_works else "off"


class Embedding(Struct, frozen=True, kw_only=True):
    """Which model turns text into vectors.

    ``provider`` None leaves it to `choose_provider`.
    """

    provider: EmbeddingProvider | None = None
    profile: Literal["fast_local", "code_quality", "high_quality", "external"] = "fast_local"
    model: str | None = None
    model_version: str = "fastembed-1"
    dimensions: int | None = None
    batch_size: int = 32


class Rerank(Struct, frozen=True, kw_only=True):
    """An external service that reorders results (both gates)."""

    provider: Literal["none", "cohere", "voyage"] = "none"
    timeout_ms: int = 5000


class Overrides(Struct, frozen=True, kw_only=True):
    """The ratio for each kind of query. That for questions follows ``semantic.ratio`` where only the latter is set."""

    natural_language: float = 0.5
    symbol: float = 0.0
    path: float = 0.0
    error: float = 0.0


class Hybrid(Struct, frozen=True, kw_only=True):
    """The weights of hybrid_search; at least one is above 0. What is missing is shared out among the others."""

    keyword_weight: float = 0.4
    symbol_weight: float = 0.3
    semantic_weight: float = 0.3


class Library(Struct, frozen=True, kw_only=True):
    """Folders, repositories and files that were added to the library."""

    data_dir: str | None = None
    chunk_size: int = 1000
    overlap: int = 200
    max_files: int | None = None
    file_types: tuple[str, ...] = ()
    include_patterns: tuple[str, ...] = ()
    exclude_patterns: tuple[str, ...] = ()
    use_gpu: bool = False
    max_file_processing_concurrency: int = 8
    max_directory_concurrency: int = 4
    max_embedding_concurrency: int = 1
    max_repository_concurrency: int = 2
    max_file_watcher_concurrency: int = 1


class Index(Struct, frozen=True, kw_only=True):
    """Which files of a root are indexed."""

    max_file_bytes: int = _MIB
    max_document_bytes: int = 32 * _MIB
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    background: bool = True
    max_total_bytes: int | None = None
    hidden: bool = False


class Grep(Struct, frozen=True, kw_only=True):
    """What one exact search may take: `findling grep`, `Engine.grep` and `search_keyword`."""

    cpu_seconds: float = 2.0
    max_total_bytes: int = 300_000_000


class Fetch(Struct, frozen=True, kw_only=True):
    """Downloads into the library."""

    enabled: bool = True
    allowed_hosts: tuple[str, ...] = ()
    credentials: str | None = None
    max_total_bytes: int = 10 * 1024 * _MIB


class Store(Struct, frozen=True, kw_only=True):
    """Where indexes are kept."""

    url: str | None = None
    collections: tuple[str, ...] = ()
    milvus: str | None = None


class Log(Struct, frozen=True, kw_only=True):
    """What is written to stderr."""

    level: Literal["debug", "info", "warning", "error"] = "warning"


# --- all of them together ----------------------------------------------------------------------------------------

EMBEDDING_KEY: Final = "CODECOMPASS_EMBEDDING_API_KEY"
RERANK_KEY: Final = "CODECOMPASS_RERANK_API_KEY"
MILVUS_TOKEN: Final = "FINDLING_MILVUS_TOKEN"  # noqa: S105 - where it stands


class Secret:
    """A provider's key. Neither ``str`` nor ``repr`` shows it, and it is no value that JSON knows."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The key itself, for the header of a request and nothing else."""
        return self._text

    def __repr__(self) -> str:
        return "Secret(***)"

    def __reduce__(self) -> str:
        raise TypeError("a key is not written anywhere")


class Keys(Struct, frozen=True):
    """The keys of external services, from the environment alone."""

    embedding: Secret | None = None
    rerank: Secret | None = None
    milvus: Secret | None = None


class Config(Struct, frozen=True, kw_only=True):
    """Everything that can be decided, decided and checked. `Config()` has all defaults.

    ``refused`` holds, by key, what a project's own file asked for and may not decide: asked for, but never done.
    ``person``: the user of a shared store for whom it is asked; '' for whoever the database's role is.
    ``provider_by_spelling``: nobody named ``embedding.provider``; a key that stands for it did.
    """

    semantic: Semantic = field(default_factory=Semantic)
    embedding: Embedding = field(default_factory=Embedding)
    rerank: Rerank = field(default_factory=Rerank)
    overrides: Overrides = field(default_factory=Overrides)
    hybrid: Hybrid = field(default_factory=Hybrid)
    library: Library = field(default_factory=Library)
    index: Index = field(default_factory=Index)
    grep: Grep = field(default_factory=Grep)
    fetch: Fetch = field(default_factory=Fetch)
    store: Store = field(default_factory=Store)
    log: Log = field(default_factory=Log)
    refused: Mapping[str, Value] = field(default_factory=lambda: MappingProxyType({}))
    provider_by_spelling: bool = False
    person: str = ""
    keys: Keys = field(default_factory=Keys)

    def ratio_for(self, intent: Literal["symbol", "path", "error", "natural_language"]) -> float:
        """The cap on the weight of meaning for a kind of query; a request's own ratio comes before it.

        An override holds before ``semantic.ratio``; the loader lets the latter stand for the override of questions
        that nobody wrote.
        """
        ratio: float = getattr(self.overrides, intent)
        return ratio

    @property
    def embedder_blocked(self) -> bool:
        """Whether an external embedder is asked for and may not be called."""
        asked = self.embedding.provider in EXTERNAL_EMBEDDERS or self.embedding.profile == "external"
        refused = "semantic.embedding.provider" in self.refused or "semantic.embedding.profile" in self.refused
        return refused or (asked and not self.semantic.gates_open)

    @property
    def reranker_blocked(self) -> bool:
        """Whether an external reranker is asked for and may not be called."""
        asked = self.rerank.provider != "none" and not self.semantic.gates_open
        return asked or "semantic.rerank.provider" in self.refused

    @property
    def external_blocked(self) -> bool:
        """Whether any external service is asked for and may not be called."""
        return self.embedder_blocked or self.reranker_blocked


class Group(NamedTuple):
    """An attribute of the Config, and where its options stand in a file."""

    name: str
    section: str
    made: type[Any]


GROUPS: Final = (
    Group("semantic", "semantic", Semantic),
    Group("embedding", "semantic.embedding", Embedding),
    Group("rerank", "semantic.rerank", Rerank),
    Group("overrides", "semantic.overrides", Overrides),
    Group("hybrid", "hybrid", Hybrid),
    Group("library", "library", Library),
    Group("index", "index", Index),
    Group("grep", "grep", Grep),
    Group("fetch", "fetch", Fetch),
    Group("store", "store", Store),
    Group("log", "log", Log),
)


def _options() -> Iterator[Option]:
    with open(f"{os.path.dirname(__file__)}/options.json", "rb") as file:  # noqa: PTH120, PTH123 - pathlib takes longer
        table = json.load(file)
    for name, section, made in GROUPS:
        defaults = dict(zip(made.__struct_fields__, made.__struct_defaults__, strict=True))
        for attribute, row in table[section].items():
            key = f"{section}.{row.pop('key', attribute)}"
            also, rule = row.pop("also", ()), _RULES[row.pop("project", "any")]
            choices = row.pop("choices", (True, False) if row["kind"] == "switch" else ())
            bounds = tuple(row.pop("bounds", ())) or None
            yield Option(
                key,
                (name, attribute),
                default=defaults.pop(attribute),
                spellings=(key, *also),
                choices=tuple(choices),
                bounds=bounds,
                project=rule,
                **row,
            )
        assert not defaults, f"what {', '.join(defaults)} of {section} means is not written"


OPTIONS: Final[Mapping[str, Option]] = MappingProxyType({option.key: option for option in _options()})


OVERLAPS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "semantic.chunk_overlap": "semantic.chunk_size",
        "semantic.chunk_overlap_lines": "semantic.chunk_max_lines",
        "library.overlap": "library.chunk_size",
    }
)
"""An overlap, and the size that it must stay below."""

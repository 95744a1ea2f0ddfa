"""The definition of every option, with its default, its bounds and its meaning.

The fields of the groups below are the options; their types are those of the checked values. `Config` has all of them,
and `OPTIONS` is the table that the loader, ``findling config`` and the documentation are made from.

Every spelling is accepted in every file, TOML or JSON, in snake_case and camelCase.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from msgspec import Struct, field

from findling.config.option import NEVER, ONLY_FALSE, Option, ProjectRule, Value, group, is_loopback, option, options_of

EmbeddingProvider = Literal["local", "ollama", "voyage", "openai"]
SemanticMode = Literal["off", "rerank_only", "hybrid"]

EXTERNAL_EMBEDDERS: Final = ("voyage", "openai")
EXTERNAL_RERANKERS: Final = ("cohere", "voyage")
OLLAMA_MODEL: Final = "nomic-embed-text"
LOCAL_MODEL: Final = "NomicEmbedTextV15Q"
"""The model id that a local configuration names when it wants the hub's nomic model; never chosen by itself."""

KNOWN_DIMENSIONS: Final[Mapping[str, int]] = MappingProxyType({OLLAMA_MODEL: 768, LOCAL_MODEL: 768})

_ON_THIS_MACHINE: Final = ProjectRule(
    lambda url: isinstance(url, str) and is_loopback(url), "may only name this machine (localhost, 127.0.0.1, ::1)"
)
_NOT_EXTERNAL: Final = ProjectRule(
    lambda name: name not in (*EXTERNAL_EMBEDDERS, *EXTERNAL_RERANKERS, "external"),
    "may not choose an external service",
)

_NO_FOLDER_ELSEWHERE: Final = ProjectRule(
    lambda model: (
        isinstance(model, str) and not re.match(r"[/\\~]|[A-Za-z]:", model) and ".." not in re.split(r"[/\\]", model)
    ),
    "may not name a folder outside the project",
)

# More parallel work than this is a mistake in the file, on any machine.
_MOST_WORKERS: Final = 256
_MIB: Final = 1 << 20


@group
class Semantic(Struct, frozen=True, kw_only=True):
    """Search by meaning, its gates, and how text is cut for it."""

    enabled: bool | Literal["auto"] = option(
        "auto",
        "Search by meaning. `auto`: on when an embedder works without leaving this machine. `false`: the docs tools "
        "answer `semantic_disabled`, search_code is lexical. `true`: on; an embedder that does not work is reported.",
        choices=("auto", True, False),
        environment="FINDLING_SEMANTIC_ENABLED",
    )
    mode: SemanticMode | None = option(
        None,
        "What search_code does with meaning: nothing, reorder lexical results without any vector, or mix both.",
        choices=("off", "rerank_only", "hybrid"),
        environment="FINDLING_SEMANTIC_MODE",
        unset="hybrid when semantic search is on, else off",
    )
    ollama_url: str = option(
        "http://localhost:11434",
        "Where Ollama listens. Setting it chooses Ollama, unless a provider is named.",
        kind="url",
        environment="FINDLING_OLLAMA_URL",
        project=_ON_THIS_MACHINE,
        provider={"semantic.ollama_url": "ollama"},
    )
    timeout_ms: int = option(
        5000,
        "How long one query may take at Ollama or an external service, in milliseconds; a batch of texts has six times "
        "that.",
        bounds=(100, 600_000),
    )
    max_retries: int = option(3, "How often one failed request is repeated at most.", bounds=(0, 10))
    chunk_size: int = option(
        2000,
        "The longest piece of a document, in characters. Changing this or one of the next three rebuilds the index.",
        bounds=(100, 20_000),
    )
    chunk_overlap: int = option(
        200,
        "How much of a document's piece the next one repeats, in characters; less than chunk_size.",
        bounds=(0, 20_000),
    )
    chunk_max_lines: int = option(
        50, "The most lines of a piece of code that has neither symbols nor blocks.", bounds=(5, 1000)
    )
    chunk_overlap_lines: int = option(
        10, "Lines that such a piece shares with the next; less than chunk_max_lines.", bounds=(0, 1000)
    )
    similarity_threshold: float = option(
        0.7, "The lowest similarity of a result of semantic_search and search_documents.", bounds=(0, 1)
    )
    auto_index: bool = option(
        True,
        "Whether a search first indexes new and changed files. `false`: it answers from what is indexed and says "
        "`stale`, and `findling index` or `sync` updates the index.",
    )
    index_on_startup: bool = option(
        False, "Bring the whole index up to date when the server starts, in the background."
    )
    watch: bool = option(
        True,
        "Whether a server indexes files as they are saved, where `auto_index` is true; of more than four folders the "
        "first four. `false`, and in the others: only searches look at the disk.",
    )
    ratio: float = option(
        0.3,
        "The largest weight of meaning in search_code, for kinds of query without a ratio of their own: 0 is text "
        "only, 1 is meaning only. Less is used when the text matches well.",
        bounds=(0, 1),
        clamped=True,
    )
    lexical_short_circuit_threshold: float = option(
        0.85, "From this lexical confidence on, search_code does not search by meaning.", bounds=(0, 1), clamped=True
    )
    confidence_threshold: float = option(
        0.5, "Below this confidence an answer of search_code says `low_confidence`.", bounds=(0, 1), clamped=True
    )
    profile_advisor_mode: Literal["off", "suggest"] = option(
        "off",
        "Whether the status recommends an embedding profile. Nothing is ever changed.",
        choices=("off", "suggest"),
    )
    external_provider_enabled: bool = option(
        False, "First gate: external services may be called at all.", project=ONLY_FALSE
    )
    allow_code_payload_to_external: bool = option(
        False,
        "Second gate: code may be sent to them. Without both, nothing is sent and no connection is opened. Documents "
        "are never sent.",
        project=ONLY_FALSE,
    )

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


@group
class Embedding(Struct, frozen=True, kw_only=True):
    """Which model turns text into vectors.

    ``provider`` None leaves it to `choose_provider`.
    """

    provider: EmbeddingProvider | None = option(
        None,
        "Who computes vectors: a model on this machine, Ollama, or an external service (both gates). One that cannot "
        "be used is reported, and search goes on by text and names.",
        choices=("local", "ollama", *EXTERNAL_EMBEDDERS),
        project=_NOT_EXTERNAL,
        unset="local: the model that the index was made with, else the bundled one",
    )
    profile: Literal["fast_local", "code_quality", "high_quality", "external"] = option(
        "fast_local",
        "Which local model is used when none is named: `fast_local` is the bundled one, `code_quality` "
        "JinaEmbeddingsV2BaseCode and `high_quality` MxbaiEmbedLargeV1, which fastembed computes.",
        choices=("fast_local", "code_quality", "high_quality", "external"),
        project=_NOT_EXTERNAL,
    )
    model: str | None = option(
        None,
        "The model's name at its provider; for local a name at the Hugging Face hub, an id such as NomicEmbedTextV15Q, "
        "or a folder. Written as `semantic.model` it chooses Ollama, unless a provider is named. "
        "A model that is not installed is reported, never replaced by another.",
        also=("semantic.model",),
        project=_NO_FOLDER_ELSEWHERE,
        environment="FINDLING_EMBED_MODEL",
        unset=f"the bundled model; with Ollama {OLLAMA_MODEL}",
        provider={"semantic.model": "ollama", "semantic.embedding.model": "local"},
    )
    model_version: str = option(
        "fastembed-1", "The version of a named local model. Vectors of different versions are never compared."
    )
    dimensions: int | None = option(
        None,
        "How many numbers a vector has. A model that returns another count is reported and not used, and a server does "
        "not start with it.",
        kind="whole",
        also=("semantic.modelDim",),
        bounds=(1, 8192),
        unset=f"768 for {' and '.join(KNOWN_DIMENSIONS)}, else what the model returns",
    )
    batch_size: int = option(
        32, "How many texts are embedded at once, by any model but the bundled one.", bounds=(1, 512)
    )


@group
class Rerank(Struct, frozen=True, kw_only=True):
    """An external service that reorders results (both gates)."""

    provider: Literal["none", "cohere", "voyage"] = option(
        "none",
        "Who reorders the results of search_code; `none` leaves it to findling. Where the service fails or may not be "
        "called, findling does it, and search_code says `rerank_fallback`.",
        choices=("none", *EXTERNAL_RERANKERS),
        project=_NOT_EXTERNAL,
    )
    timeout_ms: int = option(5000, "How long that may take, in milliseconds.", bounds=(100, 600_000))


@group
class Overrides(Struct, frozen=True, kw_only=True):
    """The ratio for each kind of query. That for questions follows ``semantic.ratio`` where only the latter is set."""

    natural_language: float = option(
        0.5, "The ratio for questions.", bounds=(0, 1), clamped=True, key="natural_language.ratio"
    )
    symbol: float = option(0.0, "The ratio for names.", bounds=(0, 1), clamped=True, key="symbol.ratio")
    path: float = option(0.0, "The ratio for paths.", bounds=(0, 1), clamped=True, key="path.ratio")
    error: float = option(0.0, "The ratio for error messages.", bounds=(0, 1), clamped=True, key="error.ratio")


@group
class Hybrid(Struct, frozen=True, kw_only=True):
    """The weights of hybrid_search; at least one is above 0. What is missing is shared out among the others."""

    keyword_weight: float = option(0.4, "The weight of full text.", bounds=(0, 1e6))
    symbol_weight: float = option(0.3, "The weight of symbol names.", bounds=(0, 1e6))
    semantic_weight: float = option(0.3, "The weight of meaning.", bounds=(0, 1e6))


@group
class Library(Struct, frozen=True, kw_only=True):
    """Folders, repositories and files that were added to the library."""

    data_dir: str | None = option(
        None,
        "The folder that holds the library: files, index, jobs.",
        kind="path",
        environment="FINDLING_DATA_DIR",
        project=NEVER,
        unset="the user's data folder, by the platform's convention",
    )
    chunk_size: int = option(1000, "The longest piece, in characters.", bounds=(100, 2000))
    overlap: int = option(200, "How much of a piece the next one repeats; less than chunk_size.", bounds=(0, 500))
    max_files: int | None = option(
        None, "The most files that one source may bring.", kind="whole", bounds=(1, 10_000_000), unset="no limit"
    )
    file_types: tuple[str, ...] = option((), "The file name extensions that are taken, such as `md`; empty takes all.")
    include_patterns: tuple[str, ...] = option(
        (), "Globs of the files that are taken; empty takes all. Without `/` a glob matches in every folder."
    )
    exclude_patterns: tuple[str, ...] = option(
        (), "Globs of the files that are left out, in addition to those always left out."
    )
    use_gpu: bool = option(
        False,
        "Accepted because older files have it.",
        also=("library.useGPU",),
        unused="no backend computes on a GPU",
    )
    max_file_processing_concurrency: int = option(8, "How many files are read at once.", bounds=(1, _MOST_WORKERS))
    max_directory_concurrency: int = option(
        4,
        "How many collections are updated at once by all processes together; the others wait.",
        bounds=(1, _MOST_WORKERS),
    )
    max_embedding_concurrency: int = option(
        1,
        "How many collections are embedded at once by all processes together; the others wait.",
        bounds=(1, _MOST_WORKERS),
    )
    max_repository_concurrency: int = option(2, "How many repositories are fetched at once.", bounds=(1, _MOST_WORKERS))
    max_file_watcher_concurrency: int = option(
        1,
        "How many watched folders a server updates at once.",
        bounds=(1, _MOST_WORKERS),
    )


@group
class Index(Struct, frozen=True, kw_only=True):
    """Which files of a root are indexed."""

    max_file_bytes: int = option(_MIB, "Larger files are left out and reported.", bounds=(1024, 256 * _MIB))
    max_document_bytes: int = option(
        32 * _MIB,
        "The same for documents that are converted to text first: PDF, Word, PowerPoint, Excel, EPUB.",
        bounds=(1024, 256 * _MIB),
    )
    include: tuple[str, ...] = option(
        (), "Globs as in an ignore file; if there are any, only what they match is indexed."
    )
    exclude: tuple[str, ...] = option((), "Globs as in an ignore file; what they match is left out.")
    background: bool = option(
        True,
        "Whether the first search of a folder starts a process that finishes the index in the background, at the "
        "lowest priority, and then ends. Never where CI is set in the environment.",
    )
    max_total_bytes: int | None = option(
        None,
        "The most that the indexes of all your folders may take together, in bytes. Indexing a folder then deletes the "
        "indexes that were written longest ago; the next search of those folders makes them anew.",
        bounds=(_MIB, 1024 * 1024 * _MIB),
        kind="whole",
        unset="no limit",
        project=NEVER,
    )
    hidden: bool = option(False, "Also index files that git does not track and whose name or folder starts with a dot.")


@group
class Grep(Struct, frozen=True, kw_only=True):
    """What one exact search may take: `findling grep`, `Engine.grep` and `search_keyword`."""

    cpu_seconds: float = option(
        2.0,
        "Processor time for one expression, beyond the 0.1 s per megabyte that going through the text takes. What was "
        "found until then is returned and marked as partial.",
        bounds=(1, 3600),
    )
    max_total_bytes: int = option(
        300_000_000,
        "The most text that is read, in bytes; files that the index rules out are not read.",
        bounds=(_MIB, 1024 * 1024 * _MIB),
    )


@group
class Fetch(Struct, frozen=True, kw_only=True):
    """Downloads into the library."""

    enabled: bool = option(True, "Whether anything may be fetched.", project=ONLY_FALSE)
    allowed_hosts: tuple[str, ...] = option(
        (),
        "Hosts (`name` or `name:port`) that may be fetched from although their address is private or this machine's, "
        "and on any port.",
        project=NEVER,
    )
    credentials: str | None = option(
        None,
        "A file of yours with lines `https://USER:PASSWORD@HOST`: what `findling worker` sends to code hosts; or a "
        "program, which is asked as git asks a credential helper. Others must not be able to read it.",
        kind="path",
        project=NEVER,
        unset="nothing is sent",
    )
    max_total_bytes: int = option(
        10 * 1024 * _MIB,
        "The most disk space for everything that is fetched, in bytes, without its index.",
        bounds=(_MIB, 1024 * 1024 * _MIB),
        project=NEVER,
    )


@group
class Store(Struct, frozen=True, kw_only=True):
    """Where indexes are kept."""

    url: str | None = option(
        None,
        "The address of a PostgreSQL database that many machines share, as `postgresql://USER@HOST:PORT/DATABASE`, "
        "instead of a folder beside the files. Its password comes from PGPASSFILE or PGPASSWORD.",
        kind="store",
        environment="FINDLING_STORE",
        project=NEVER,
        unset="an index on this machine",
    )
    collections: tuple[str, ...] = option(
        (),
        "Names under which the store has collections that everybody finds: these are searched, all of them for `*`, "
        "instead of your own view of the folder. `findling index --collection NAME` publishes a folder under one.",
        environment="FINDLING_COLLECTION",
        project=NEVER,
    )
    milvus: str | None = option(
        None,
        "The address of a Milvus server, as `http://HOST:19530`, which proposes for the store where PostgreSQL gets "
        "slow. FINDLING_MILVUS_TOKEN has its token, or `USER:PASSWORD`.",
        kind="url",
        environment="FINDLING_MILVUS",
        project=NEVER,
        unset="PostgreSQL proposes",
    )


@group
class Log(Struct, frozen=True, kw_only=True):
    """What is written to stderr."""

    level: Literal["debug", "info", "warning", "error"] = option(
        "warning",
        "The least important events that are logged, as JSON lines.",
        choices=("debug", "info", "warning", "error"),
        environment="FINDLING_LOG_LEVEL",
    )


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
    made: type


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

OPTIONS: Final[Mapping[str, Option]] = MappingProxyType(
    {made.key: made for name, section, options in GROUPS for made in options_of(name, section, options)}
)


OVERLAPS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "semantic.chunk_overlap": "semantic.chunk_size",
        "semantic.chunk_overlap_lines": "semantic.chunk_max_lines",
        "library.overlap": "library.chunk_size",
    }
)
"""An overlap, and the size that it must stay below."""

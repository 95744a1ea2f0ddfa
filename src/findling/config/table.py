"""All groups of options together: as one `Config`, and as the table `OPTIONS`. With what must hold between options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from findling.config.option import Option, Value, options_of
from findling.config.options import (
    EXTERNAL_EMBEDDERS,
    Embedding,
    Fetch,
    Grep,
    Hybrid,
    Index,
    Library,
    Log,
    Overrides,
    Rerank,
    Semantic,
)

EMBEDDING_KEY: Final = "CODECOMPASS_EMBEDDING_API_KEY"
RERANK_KEY: Final = "CODECOMPASS_RERANK_API_KEY"


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


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of external services, from the environment alone."""

    embedding: Secret | None = None
    rerank: Secret | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Everything that can be decided, decided and checked. `Config()` has all defaults.

    ``refused`` holds, by key, what a project's own file asked for and may not decide: asked for, but never done.
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
    log: Log = field(default_factory=Log)
    refused: Mapping[str, Value] = field(default_factory=lambda: MappingProxyType({}))
    provider_by_spelling: bool = False
    keys: Keys = field(default_factory=Keys, repr=False, compare=False)

    def ratio_for(self, intent: Literal["symbol", "path", "error", "natural_language"]) -> float:
        """The cap on the weight of meaning for a kind of query; a request's own ratio comes before it.

        An override holds before ``semantic.ratio``; the loader lets the latter stand for the override of questions
        that nobody wrote.
        """
        return {
            "symbol": self.overrides.symbol,
            "path": self.overrides.path,
            "error": self.overrides.error,
            "natural_language": self.overrides.natural_language,
        }[intent]

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
    Group("log", "log", Log),
)

OPTIONS: Final[Mapping[str, Option]] = MappingProxyType(
    {
        made.key: made
        for group in GROUPS
        for made in options_of(group.name, group.section, {f.name: f.metadata for f in fields(group.made)})
    }
)


class Condition(NamedTuple):
    """What must hold between options. The first key is the one that a message names."""

    keys: tuple[str, ...]
    holds: Callable[..., bool]
    words: str


OVERLAPS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "semantic.chunk_overlap": "semantic.chunk_size",
        "semantic.chunk_overlap_lines": "semantic.chunk_max_lines",
        "library.overlap": "library.chunk_size",
    }
)
"""An overlap, and the size that it must stay below."""

CONDITIONS: Final = (
    *(
        Condition((overlap, size), lambda part, whole: part < whole, f"must be less than {size}")
        for overlap, size in OVERLAPS.items()
    ),
    Condition(
        ("hybrid.keyword_weight", "hybrid.symbol_weight", "hybrid.semantic_weight"),
        lambda *weights: sum(weights) > 0,
        "must be above 0 when the other two weights are 0",
    ),
)

"""The embedder that a root's questions and vectors use, and the channel of its index. Opened when first needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from findling import config as settings
from findling import embedding
from findling.embedding import bundled_files
from findling.embedding.opening import LazyEmbedder
from findling.model import errors, types
from findling.model.types import EmbedderProblem

if TYPE_CHECKING:
    from findling.config import Config, ProviderChoice
    from findling.embedding import Embedder, Fingerprint
    from findling.engine.store import OpenStore
    from findling.search.semantic import SemanticChannel
    from findling.store.protocols import Index, KeptIndex

PATIENCE_MS: Final = 3000
"""How long a model at an address may take before the first question: a server has some ten seconds to start."""

_OFF = "Searching by meaning is off: semantic.enabled is false."


class Mismatch(NamedTuple):
    """A model that somebody chose, and an index whose vectors are all another's."""

    model: str
    dimensions: int
    stored_dimensions: int

    def __str__(self) -> str:
        return (
            f"Config model '{self.model}' ({self.dimensions} dim) doesn't match stored embeddings "
            f"({self.stored_dimensions} dim)."
        )


def choose(
    config: Config, stored: str | None, *, documents: bool = False, bundled_works: bool = True
) -> ProviderChoice:
    """Which embedder the configuration means. Opens none; asks for Ollama only where nothing else is left.

    ``stored``: the fingerprint's id of the index's vectors, None without any. ``documents``: for nothing but those.
    """

    def detected() -> bool:
        from findling.embedding.providers.ollama import available

        url = config.semantic.ollama_url
        return settings.is_loopback(url) and available(url)

    return settings.choose_provider(config, stored, detected, documents=documents, bundled_works=bundled_works)


def open_chosen(config: Config | None, stored: str | None, *, documents: bool = False) -> Embedder:
    """The embedder that the configuration chooses (None: nothing is configured); as `choose`.

    Raises `EmbedderUnavailable`; no other embedder is opened instead of one that somebody or the index chose.
    """
    if config is None and (stored is None or stored.startswith(f"{embedding.BUNDLED}/")):
        try:
            return embedding.open_embedder(verify=False)  # what would be chosen, without importing the configuration
        except errors.EmbedderUnavailable:
            if stored is not None:
                raise
    config = config or settings.Config()
    choice = choose(config, stored, documents=documents)
    try:
        return _opened(choice, config)
    except errors.EmbedderUnavailable:
        if choice.reason != "bundled":
            raise
        detected = choose(config, stored, documents=documents, bundled_works=False)
        if detected.provider is None:
            raise
    return _opened(detected, config)


def _opened(choice: ProviderChoice, config: Config) -> Embedder:
    if choice.provider is None:
        raise errors.EmbedderUnavailable(_OFF if choice.reason == "disabled" else "There is no embedding model.")
    return embedding.open_embedder(
        choice.provider, choice.model, dimensions=choice.dimensions, verify=False, config=config
    )


def fetch_chosen(config: Config | None, stored: str | None) -> str:
    """Bring the chosen model here where it comes from the hub and is not here yet; its name, '' for nothing to fetch.

    For commands that somebody gave: nothing else may use the network unasked. Raises `EmbedderUnavailable`.
    """
    if config is None:
        return ""
    choice = choose(config, stored)
    if choice.provider != "local":
        return ""
    try:
        open_chosen(config, stored)
    except errors.EmbedderUnavailable as error:
        if error.reason != "missing":
            return ""
        from findling.embedding.providers import local

        return local.fetch(choice.model, config)
    return ""


def mismatch_of(config: Config | None, reader: KeptIndex, fingerprint: Fingerprint) -> Mismatch | None:
    """Whether the index has vectors, none of which are of the embedder that somebody chose. Within a snapshot."""
    if config is None:
        return None
    latest = reader.models.latest(docs=embedding.takes_documents(fingerprint))
    stored = reader.models.get(latest) if latest is not None else None
    if stored is None or stored.fingerprint == fingerprint.id:
        return None
    choice = choose(config, stored.fingerprint)
    if not choice.named or reader.models.embedded_chunks(reader.models.id_of(fingerprint.id)):
        return None
    return Mismatch(choice.model or fingerprint.model, fingerprint.dimensions, stored.dimensions)


class Semantics:
    """The embedders of one store. ``problem``: why there is none, '' before one was needed and failed."""

    def __init__(self, store: OpenStore) -> None:
        self._store = store
        self._lazy = LazyEmbedder(self._open, self._stored)
        self._for_documents = LazyEmbedder(self._open_for_documents, self._stored)
        self._channel = KeptChannel()
        self._document_channel = KeptChannel()

    @property
    def enabled(self) -> bool:
        """False where the configuration wants no searching by meaning. Raises `ConfigError`."""
        return self._store.configuration.searches_by_meaning

    @property
    def problem(self) -> str:
        return str(self._lazy.failure or "")

    def embedder(self) -> Embedder | None:
        """None when none is wanted, or it does not answer; then `problem` says why. Opens the store."""
        return self._lazy.get()

    def expected(self) -> Fingerprint | None:
        """The fingerprint of what `embedder` would give; None where only opening it can tell. Imports no numpy."""
        if self._lazy.failure is not None:
            return None
        if self._lazy.opened is not None:
            return self._lazy.opened.fingerprint
        config, stored = self._store.configuration.config, self._stored()
        if config is not None:
            choice = choose(config, stored, documents=self._store.configuration.recipe is not None)
            if choice.provider != embedding.BUNDLED or choice.dimensions is not None:
                return None
        elif stored is not None and not stored.startswith(f"{embedding.BUNDLED}/"):
            return None
        try:
            return bundled_files.described(bundled_files.MODEL_DIR, verify=False).fingerprint
        except errors.EmbedderUnavailable:
            return None  # which another may stand in for

    def at_once(self) -> Embedder | None:
        """The bundled model where it is in use: it embeds some files in a moment, without asking a server."""
        embedder = self._lazy.get()
        return embedder if embedder is not None and embedder.fingerprint.provider == embedding.BUNDLED else None

    def required(self) -> Embedder:
        """As `embedder`, but raises `EmbedderUnavailable` where there is none."""
        embedder = self._lazy.get()
        if embedder is None:
            failure = self._lazy.failure
            raise errors.EmbedderUnavailable(_OFF) if failure is None else failure.with_traceback(None)
        return embedder

    @property
    def documents_apart(self) -> bool:
        """Whether documents have another embedder than code, because that is a service which no document is sent to.
        Raises `ConfigError`."""
        configuration = self._store.configuration
        config = configuration.config
        if config is None or config.semantic.enabled is False or configuration.recipe is not None:
            return False
        return config.embedding.provider in settings.EXTERNAL_EMBEDDERS and not config.embedder_blocked

    def for_documents(self) -> Embedder | None:
        """The embedder of documents where these have their own; None where they have not, or it does not work."""
        return self._for_documents.get() if self.documents_apart else None

    def document_embedder(self) -> Embedder | None:
        """The embedder of questions to documents alone; None when none answers, then `document_failure` says why."""
        return self.for_documents() if self.documents_apart else self.embedder()

    @property
    def document_failure(self) -> errors.EmbedderUnavailable | None:
        return self._for_documents.failure if self.documents_apart else self._lazy.failure

    def document_channel(self) -> SemanticChannel | None:
        """As `channel`, for questions to documents alone."""
        if not self.documents_apart or self._store.first_answer is not None:
            return self.channel()
        embedder, reader = self.for_documents(), self._store.reader
        return self._document_channel.of(reader, embedder, reader.models.id_of) if embedder is not None else None

    def _open_for_documents(self, stored: str | None) -> Embedder:
        return open_chosen(self._store.configuration.config, stored, documents=True)

    def _open(self, stored: str | None) -> Embedder:
        configuration = self._store.configuration
        # What is indexed by a recipe are documents of the library.
        return open_chosen(configuration.config, stored, documents=configuration.recipe is not None)

    def _stored(self) -> str | None:
        """The id of the model of the index's newest vectors; of an index that cannot be read there are none."""
        if not self.enabled or not self._store.exists:
            return None
        try:
            return self._store.reader.latest_fingerprint()
        except errors.IndexUnavailable:
            return None

    def mismatch(self) -> Mismatch | None:
        """What keeps questions from being answered by meaning until vectors are made on demand."""
        config = self._store.configuration.config
        if config is None or not self._store.exists:
            return None
        embedder = self.embedder()
        if embedder is None:
            return None
        reader = self._store.reader
        with reader.snapshot():
            return mismatch_of(config, reader, embedder.fingerprint)

    def trouble(self) -> EmbedderProblem | None:
        """What keeps questions from being answered by meaning; None when nothing does. May open the embedder."""
        if self.embedder() is not None:
            mismatch = self.mismatch()
            return types.EmbedderProblem("mismatch", str(mismatch)) if mismatch else None
        choice = choose(self._store.configuration.effective, self._stored())
        if choice.provider in (None, embedding.BUNDLED) and not choice.named:
            return types.EmbedderProblem("none", self.problem)  # nobody chose one, and none is there
        slow = self._lazy.failure is not None and self._lazy.failure.reason == "timeout"
        return types.EmbedderProblem("slow" if slow else "down", self.problem)

    def check(self) -> list[str]:
        """Before the first question: warnings that the model which somebody chose, or else the stored index names, does
        not answer now, or has not made the index's vectors.

        Raises `EmbedderUnavailable` where the configured dimensions are provably not the model's, and `ConfigError`.
        """
        config = self._store.configuration.effective
        if config.semantic.enabled is False:
            return []
        stored = self._stored()
        choice = choose(config, stored)
        if not choice.named and choice.reason != "stored":
            return []
        if choice.provider is None or choice.provider in settings.EXTERNAL_EMBEDDERS:
            return []
        hurried = replace(
            config,
            semantic=replace(config.semantic, timeout_ms=min(config.semantic.timeout_ms, PATIENCE_MS), max_retries=0),
        )
        at_address = choice.provider == "ollama"
        try:
            embedder = embedding.open_embedder(
                choice.provider, choice.model, dimensions=choice.dimensions, verify=at_address, config=hurried
            )
        except errors.EmbedderUnavailable as error:
            if error.reason == "dimensions":
                raise
            return [f"{error} Until then text and names are searched."]
        if stored is None:
            return []
        reader = self._store.reader
        with reader.snapshot():
            mismatch = mismatch_of(config, reader, embedder.fingerprint)
        return [f"{mismatch} Run 'findling embed', or reindex_vectors with force: true."] if mismatch else []

    @property
    def opened(self) -> Fingerprint | None:
        """Of the embedder that answers, as far as one was opened."""
        opened = self._lazy.opened
        return opened.fingerprint if opened is not None and self._lazy.failure is None else None

    def channel(self) -> SemanticChannel | None:
        """None without an embedder or without vectors of it."""
        embedder = self.embedder()
        if embedder is None:
            return None
        if (first := self._store.first_answer) is not None:
            return first.channel()
        reader = self._store.reader
        return self._channel.of(reader, embedder, reader.models.id_of)

    def model_of_vectors(self) -> int | None:
        """The model whose vectors count, within the reader's snapshot.

        Opens no embedder, as a text search must not: what there is of the last one's vectors is what there is.
        """
        reader = self._store.reader
        opened = self._lazy.opened
        return reader.models.id_of(opened.fingerprint.id) if opened else reader.models.latest()

    def forget_opened(self) -> None:
        """Drop what depends on a reader that was closed, and embedders that are quickly opened again."""
        self._channel.forget()
        self._document_channel.forget()
        self._lazy.let_go()
        self._for_documents.let_go()


class KeptChannel:
    """The semantic channel of the open reader, kept between questions until `forget`."""

    def __init__(self) -> None:
        self._channel: SemanticChannel | None = None
        self._reader: Index | None = None
        self._fingerprint = ""

    def of(self, reader: Index, embedder: Embedder, model_id: Callable[[str], int | None]) -> SemanticChannel | None:
        """The channel, made anew for another reader or embedder; None without vectors of the embedder. ``model_id``:
        the number that the index has for a fingerprint's id."""
        fingerprint = embedder.fingerprint.id
        if self._channel is None or self._reader is not reader or self._fingerprint != fingerprint:
            number = model_id(fingerprint)
            if number is None:
                return None
            from findling.search.semantic import SemanticChannel

            self._channel = SemanticChannel(reader, embedder, number)
            self._reader, self._fingerprint = reader, fingerprint
        return self._channel

    def forget(self) -> None:
        self._channel = self._reader = None

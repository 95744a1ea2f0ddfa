"""Makes embedders of Ollama's models: adds prefixes, fingerprint and remembered queries to `OllamaClient`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from findling.embedding.embedder import Batch, Fingerprint, wrong_dimensions
from findling.embedding.providers.vectors import Malformed, OtherDimensions, ProvidedEmbedder, prefixes_of, unit_rows
from findling.model import plurals
from findling.model.errors import EmbedderUnavailable
from findling.outbound import events
from findling.outbound.http import BUSY, HttpAnswer, HttpFailure, get, post_json, unless_busy

if TYPE_CHECKING:
    from findling.config import Config


# --- ollama client ------------------------------------------------------------------------------------------------
# Asks a model of an Ollama server for vectors, and deals with every way to fail.
#
# Servers since 0.2 take many texts at once (``/api/embed``), all or nothing; older ones take one (``/api/embeddings``).
# A request that is too slow is repeated once, in halves; a busy server (429, 503) is asked up to three times more,
# after growing pauses; what is refused or malformed is not repeated. A bad text costs no other text its vector.

SEEN_S: Final = 30.0
"""How long the server's list of models, or its silence, is believed."""

BATCH_TEXTS: Final = 32
BATCH_FACTOR: Final = 6
"""A batch may take this many times as long as a query."""

SLOW_RETRIES: Final = 1

FIRST_TEXTS: Final = 4
"""Texts in the first request when time is short. Its duration says how many the next one may have."""

CONTEXT_TOKENS: Final = 2048
"""The context length that every request asks for: enough for the longest chunk. It is always the same, because another
value makes the server load the model again. The server takes less where the model has less."""

LEAST_CHARS: Final = 64
"""A text that is refused as too long is not cut below this: then its length is not the cause."""

FAILED_IN_A_ROW: Final = 32
"""After this many failures without a single vector between them, the model is at fault, not the texts."""

DETECT_TIMEOUT_S: Final = 1.0
"""How long a server may take to list its models. One on this machine takes milliseconds, unless it just starts."""

_MAX_LIST_BYTES: Final = 4 << 20
"""The longest list of models: thousands, a kilobyte each."""

_MAX_ANSWER_BYTES: Final = 64 << 20
"""The longest answer: 512 vectors of 8192 numbers, 16 characters each."""

_Answer = TypeVar("_Answer")

_TOO_LONG: Final = ("context length", "too large to process")
_LOGGED_CHARS: Final = 500


class _Rejected(Exception):
    """The server does not take these texts: one of them may be at fault. ``too_long``: it says so itself."""

    def __init__(self, words: str, *, too_long: bool) -> None:
        super().__init__(words)
        self.too_long = too_long


class _TooSlow(Exception):
    pass


class _NoTime(Exception):
    """The caller's deadline came before the server's answer."""


class _Seen(Struct, frozen=True):
    """What a server answered, and when. ``models``: name -> digest; None when nothing answered."""

    at: float
    models: dict[str, str] | None
    why: str = ""


_seen: dict[str, _Seen] = {}
"""Address -> what was seen there, for the whole process, so that threads share it."""


def forget_availability() -> None:
    """Forget which servers answer; they are asked again when needed."""
    _seen.clear()


def models_at(
    url: str, *, elsewhere: bool = False, timeout_s: float = DETECT_TIMEOUT_S, anew: bool = False
) -> dict[str, str]:
    """The models of the Ollama at ``url``, name to digest; the answer is believed for `SEEN_S`, except ``anew``.

    Raises EmbedderUnavailable when nothing answers there, or no Ollama does.
    """
    known = None if anew else _seen.get(url)
    if known is None or time.monotonic() - known.at >= SEEN_S:
        known = _seen[url] = _look(url, elsewhere, timeout_s)
    if known.models is None:
        raise unreachable(url)
    return known.models


def _look(url: str, elsewhere: bool, timeout_s: float) -> _Seen:
    try:
        answer = get(f"{url}/api/tags", timeout_s=timeout_s, max_bytes=_MAX_LIST_BYTES, elsewhere=elsewhere)
        listed = json.loads(answer.body)["models"]
        if answer.status != 200:
            raise ValueError(f"status {answer.status}")
        models = {str(model["name"]): str(model.get("digest", "")) for model in listed}
    except (HttpFailure, ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        return _Seen(time.monotonic(), None, str(error))  # nothing answers there, or no Ollama does
    return _Seen(time.monotonic(), models)


def unreachable(url: str) -> EmbedderUnavailable:
    return EmbedderUnavailable(
        f"Cannot connect to Ollama at {url}. Is Ollama running?",
        remedy="Start it with: ollama serve. Or take the bundled model: in semantic.embedding, provider local "
        "and model bundled.",
        reason="unreachable",
    )


class OllamaClient:
    """One model of one server. ``url`` has no path of the API; ``elsewhere``: it may be another machine's.

    ``dimensions``: how long vectors must be, None until the first answer says it. ``timeout_s`` is for one query.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        dimensions: int | None = None,
        timeout_s: float = 5.0,
        max_retries: int = 3,
        batch_texts: int = BATCH_TEXTS,
        elsewhere: bool = False,
    ) -> None:
        self.url = url.rstrip("/")
        self.model = model
        self.dimensions = dimensions
        self._timeout_s = timeout_s
        self._max_retries = max_retries
        self._batch_texts = batch_texts
        self._elsewhere = elsewhere
        self._one_at_a_time = False
        self._failed_in_a_row = 0
        self._problem: tuple[float, EmbedderUnavailable] | None = None

    @property
    def problem(self) -> EmbedderUnavailable | None:
        """The last failure of the server, as long as it is believed."""
        if self._problem is not None and time.monotonic() - self._problem[0] >= SEEN_S:
            self._problem = None
        return self._problem[1] if self._problem else None

    def digest(self) -> str:
        """Names the content of the model: a model that is pulled anew has another. Raises EmbedderUnavailable."""
        models = models_at(self.url, elsewhere=self._elsewhere)
        name = self.model if ":" in self.model.rpartition("/")[2] else f"{self.model}:latest"
        found = models.get(name, models.get(self.model))
        if found is None:
            raise self._no_model()
        return found

    def embed(self, text: str) -> NDArray[np.float32]:
        """The unit vector of one text, within the time of one query. Raises EmbedderUnavailable."""
        [row] = self._guarded(lambda: self._vectors([text], self._timeout_s, None))
        if isinstance(row, str):
            raise EmbedderUnavailable(f"Ollama's {self.model} cannot embed this text: {row}.")
        return row

    def embed_batch(self, texts: Sequence[str], *, deadline: float | None = None) -> Batch:
        """The unit vectors of many texts, in requests of `BATCH_TEXTS`. Raises EmbedderUnavailable."""
        found: list[NDArray[np.float32] | str] = []

        def ask() -> None:
            size = self._batch_texts if deadline is None else min(FIRST_TEXTS, self._batch_texts)
            while len(found) < len(texts):
                began = time.monotonic()
                if deadline is not None and began >= deadline:
                    return
                part = texts[len(found) : len(found) + size]
                try:
                    found.extend(self._vectors(part, self._timeout_s * BATCH_FACTOR, deadline))
                except _NoTime:
                    return
                if deadline is not None:
                    now = time.monotonic()
                    fitting = int((deadline - now) / max((now - began) / len(part), 1e-6))
                    size = min(self._batch_texts, max(1, min(fitting, 2 * size)))

        self._guarded(ask)
        rows = np.zeros((len(found), self.dimensions or 0), np.float32)
        failed = {}
        for place, row in enumerate(found):
            if isinstance(row, str):
                failed[place] = row
            else:
                rows[place] = row
        return Batch(rows, failed)

    # --- failures -------------------------------------------------------------------------------------------

    def _guarded(self, ask: Callable[[], _Answer]) -> _Answer:
        """The result of ``ask``. A failure is remembered, so that the next question need not wait for it."""
        try:
            return ask()
        except EmbedderUnavailable as error:
            self._problem = (time.monotonic(), error)
            raise

    def _vectors(
        self, texts: Sequence[str], limit_s: float, deadline: float | None, *, last_try: bool = False
    ) -> list[NDArray[np.float32] | str]:
        """A row for each text, or why it has none."""
        try:
            found = self._counted(self._ask(texts, limit_s, deadline))
        except _TooSlow:
            if last_try or self._max_retries < SLOW_RETRIES:
                if limit_s <= self._timeout_s:  # a query, which has no report of failed texts
                    raise EmbedderUnavailable(
                        f"Ollama at {self.url} takes longer than {limit_s:g} s to embed a text with {self.model}.",
                        remedy="Raise semantic.timeout_ms, or choose a smaller model.",
                        reason="timeout",
                    ) from None
                words = f"no answer within {limit_s:g} s"
                self._tell("timeout", f"{words} for {plurals.count(len(texts), 'text')}")
                return self._counted([words] * len(texts))
            return self._halves(texts, limit_s, deadline, last_try=True)
        except _Rejected as error:
            if len(texts) > 1:
                return self._halves(texts, limit_s, deadline, last_try=last_try)
            if error.too_long and len(texts[0]) > LEAST_CHARS:
                return self._vectors([texts[0][: len(texts[0]) // 2]], limit_s, deadline, last_try=last_try)
            self._tell("rejected", str(error))
            return self._counted([str(error)])
        except Malformed as error:
            return self._counted([str(error)] * len(texts))
        return found

    def _halves(
        self, texts: Sequence[str], limit_s: float, deadline: float | None, *, last_try: bool
    ) -> list[NDArray[np.float32] | str]:
        middle = (len(texts) + 1) // 2
        parts = [part for part in (texts[:middle], texts[middle:]) if part]
        return [row for part in parts for row in self._vectors(part, limit_s, deadline, last_try=last_try)]

    def _counted(self, found: Sequence[NDArray[np.float32] | str]) -> list[NDArray[np.float32] | str]:
        """``found``, with its failures counted. Raises EmbedderUnavailable when too many texts fail in a row."""
        for row in found:
            self._failed_in_a_row = self._failed_in_a_row + 1 if isinstance(row, str) else 0
            if self._failed_in_a_row >= FAILED_IN_A_ROW:
                self._failed_in_a_row = 0
                late = isinstance(row, str) and row.startswith("no answer")
                raise EmbedderUnavailable(
                    f"Ollama's {self.model} no longer embeds any text: {row}.",
                    remedy="See Ollama's own log.",
                    reason="timeout" if late else "other",
                )
        return list(found)

    def _tell(self, error_type: str, words: str) -> None:
        """Log a failure because of which texts get no vectors."""
        events.semantic_error(operation="embed", error_type=error_type, message=words)

    def _no_model(self) -> EmbedderUnavailable:
        return EmbedderUnavailable(
            f"Ollama at {self.url} has no model {self.model!r}.",
            remedy=f"Run: ollama pull {self.model}",
            reason="missing",
        )

    # --- requests -------------------------------------------------------------------------------------------

    def _ask(self, texts: Sequence[str], limit_s: float, deadline: float | None) -> Sequence[NDArray[np.float32] | str]:
        if not self._one_at_a_time:
            value = {"model": self.model, "input": list(texts), "options": {"num_ctx": CONTEXT_TOKENS}}
            answer = self._post("/api/embed", value, limit_s, deadline)
            if answer is not None:
                return self._rows(answer, "embeddings", len(texts))
            self._one_at_a_time = True  # the server is older than that
        found: list[NDArray[np.float32] | str] = []
        for text in texts:
            value = {"model": self.model, "prompt": text, "options": {"num_ctx": CONTEXT_TOKENS}}
            answer = self._post("/api/embeddings", value, limit_s, deadline)
            if answer is None:
                raise unreachable(self.url)  # it has neither: this is no Ollama
            found += self._rows(answer, "embedding", 1)
        return found

    def _rows(self, answer: HttpAnswer, key: str, texts: int) -> list[NDArray[np.float32] | str]:
        try:
            value = json.loads(answer.body)
            found = value.get(key) if isinstance(value, dict) else None
            rows, failed = unit_rows([found] if key == "embedding" else found, texts, self.dimensions)
        except OtherDimensions as error:
            raise wrong_dimensions(self.model, self.dimensions or 0, error.returned) from error
        except (Malformed, ValueError, RecursionError) as error:
            words = str(error) if isinstance(error, Malformed) else "an answer that is not JSON"
            body = answer.body[:_LOGGED_CHARS].decode("utf-8", "replace")
            self._tell("malformed_answer", f"{words}: {body}")
            raise Malformed(words) from error
        self.dimensions = rows.shape[1]
        return [failed.get(place, row) for place, row in enumerate(rows)]

    def _post(self, path: str, value: object, limit_s: float, deadline: float | None) -> HttpAnswer | None:
        """The server's answer with status 200; None when it does not know the path."""
        answer = unless_busy(lambda: self._send(path, value, limit_s, deadline), self._max_retries)
        if answer.status == 200:
            return answer
        words = _error_of(answer)
        if answer.status in (404, 405):
            if "model" in words:
                raise self._no_model()
            return None
        if answer.status in BUSY:
            raise EmbedderUnavailable(
                f"Ollama at {self.url} is busy: {words}.", remedy="Try again later.", reason="unreachable"
            )
        if answer.status == 403:
            raise EmbedderUnavailable(f"Ollama at {self.url} refuses to answer: {words}.")
        raise _Rejected(words, too_long=any(sign in words for sign in _TOO_LONG))

    def _send(self, path: str, value: object, limit_s: float, deadline: float | None) -> HttpAnswer:
        allowed = limit_s
        if deadline is not None:
            allowed = min(limit_s, deadline - time.monotonic())
            if allowed <= 0:
                raise _NoTime
        try:
            return post_json(
                f"{self.url}{path}", value, timeout_s=allowed, max_bytes=_MAX_ANSWER_BYTES, elsewhere=self._elsewhere
            )
        except HttpFailure as failure:
            if failure.reason == "timeout":
                raise (_NoTime if allowed < limit_s else _TooSlow) from failure
            if failure.reason == "unreachable":
                _seen[self.url] = _Seen(time.monotonic(), None, str(failure))
                raise unreachable(self.url) from failure
            if _look(self.url, self._elsewhere, DETECT_TIMEOUT_S).models is None:
                _seen[self.url] = _Seen(time.monotonic(), None, str(failure))
                raise unreachable(self.url) from failure  # it broke off because it went away
            raise Malformed(str(failure).rstrip(".")) from failure


def _error_of(answer: HttpAnswer) -> str:
    """The message in an error's body, on one line and bounded."""
    text = answer.body[: 4 * _LOGGED_CHARS].decode("utf-8", "replace")
    try:
        value = json.loads(text)
        said = str(value["error"]) if isinstance(value, dict) and "error" in value else text
    except (ValueError, RecursionError):
        said = text
    return " ".join(said.split())[:_LOGGED_CHARS].rstrip(".") or f"status {answer.status}"


_PROBE: Final = "a text"

_opened: dict[tuple[object, ...], OllamaEmbedder] = {}
"""Options -> embedder, for the whole process, so that threads share what they learn of a server."""


def forget() -> None:
    """Forget what was learned of servers; they are asked again when needed."""
    forget_availability()
    _opened.clear()


def available(url: str, *, timeout_s: float = DETECT_TIMEOUT_S) -> bool:
    """Whether an Ollama answers at ``url``, its address without a path of the API.

    Opens a connection: callers ask for this machine only, unless the user named another one.
    """
    try:
        models_at(url.rstrip("/"), elsewhere=True, timeout_s=timeout_s, anew=True)
    except EmbedderUnavailable:
        return False
    return True


def open_ollama(model: str, config: Config, *, dimensions: int | None, verify: bool) -> OllamaEmbedder:
    """The model at the configured address. Raises EmbedderUnavailable when it is not there, or does not fit."""
    semantic = config.semantic
    options = (semantic.ollama_url, model, dimensions, semantic.timeout_ms, semantic.max_retries)
    known = _opened.get((*options, config.embedding.batch_size))
    client = OllamaClient(
        semantic.ollama_url,
        model,
        dimensions=dimensions,
        timeout_s=semantic.timeout_ms / 1000,
        max_retries=semantic.max_retries,
        batch_texts=config.embedding.batch_size,
        elsewhere=True,  # the configuration takes another machine's address from its owner alone
    )
    digest = client.digest()
    if known is not None and known.fingerprint.version == digest and not verify:
        return known
    if client.dimensions is None or verify or config.embedding.dimensions is not None:
        client.embed(prefixes_of(model).document + _PROBE)
    made = _opened[(*options, config.embedding.batch_size)] = OllamaEmbedder(client, digest)
    return made


class OllamaEmbedder(ProvidedEmbedder):
    """A model whose digest and dimensions are known."""

    def __init__(self, client: OllamaClient, digest: str) -> None:
        super().__init__()
        assert client.dimensions is not None
        self._client = client
        self._prefixes = prefixes_of(client.model)
        self.fingerprint = Fingerprint(
            "ollama", client.model, digest, client.dimensions, prefix_scheme=self._prefixes.scheme
        )

    @property
    def problem(self) -> EmbedderUnavailable | None:
        """See Embedder."""
        return self._client.problem

    def _query(self, text: str) -> NDArray[np.float32]:
        return self._client.embed(self._prefixes.query + text)

    def embed_batch(self, texts: Sequence[str], *, deadline: float | None = None) -> Batch:
        """See Embedder. A blank text is not sent."""
        places = [place for place, text in enumerate(texts) if text.strip()]
        sent = [self._prefixes.document + texts[place] for place in places]
        made = self._client.embed_batch(sent, deadline=deadline)
        done = len(texts) if len(made.rows) == len(sent) else places[len(made.rows)]
        rows = np.zeros((done, self.fingerprint.dimensions), np.float32)
        rows[places[: len(made.rows)]] = made.rows
        return Batch(rows, {places[place]: why for place, why in made.failed.items()})

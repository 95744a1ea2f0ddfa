"""Makes embedders of external services: Voyage and OpenAI. Opened only if the user has given both permissions (gates).
Documents are never sent. If a service's number of dimensions is unknown, one vector is requested when it is opened.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from findling.embedding.embedder import Batch, Fingerprint, wrong_dimensions
from findling.embedding.providers.vectors import Malformed, OtherDimensions, ProvidedEmbedder, unit_rows
from findling.model.errors import EmbedderUnavailable
from findling.outbound.http import ServiceFailure, ask

if TYPE_CHECKING:
    from findling.config import Config, Secret

BELIEVED_S: Final = 30.0
"""Seconds after a failure in which the service is not asked again."""

BATCH_FACTOR: Final = 6
"""A batch may take this many times as long as a query."""


class Service(Struct, frozen=True):
    """A service. ``model``: its default model. ``dimensions``: model -> number of dimensions, if known.
    ``input_types``: how a request marks a document and a query; '' where it does not."""

    name: str
    url: str
    model: str
    dimensions: dict[str, int]
    input_types: tuple[str, str] = ("", "")
    dimensions_key: str = "dimensions"


SERVICES: Final = msgspec.json.decode(Path(__file__).with_name("services.json").read_bytes(), type=dict[str, Service])
"""Provider -> its service."""


def open_external(provider: str, model: str, config: Config, *, dimensions: int | None) -> ExternalEmbedder:
    """The embedder of a service. Raises EmbedderUnavailable when a gate is closed or there is no key."""
    service = SERVICES[provider]
    if not config.semantic.gates_open:
        raise EmbedderUnavailable(
            f"{service.name} may not be called.",
            remedy="Set semantic.external_provider_enabled and semantic.allow_code_payload_to_external to true.",
        )
    if config.keys.embedding is None:
        raise EmbedderUnavailable(
            f"{service.name} needs an API key.", remedy="Set CODECOMPASS_EMBEDDING_API_KEY.", reason="missing"
        )
    return ExternalEmbedder(provider, service, model or service.model, config, config.keys.embedding, dimensions)


class ExternalEmbedder(ProvidedEmbedder):
    def __init__(
        self, provider: str, service: Service, model: str, config: Config, key: Secret, dimensions: int | None
    ) -> None:
        super().__init__()
        self._service = service
        self._model = model
        self._key = key
        self._timeout_s = config.semantic.timeout_ms / 1000
        self._max_retries = config.semantic.max_retries
        self._batch_texts = config.embedding.batch_size
        self._asked_dimensions = dimensions
        self._problem: tuple[float, EmbedderUnavailable] | None = None
        made = dimensions or service.dimensions.get(model)
        self._dimensions: int | None = made
        if made is None:
            made = self._vectors(["a text"], query=False, limit_s=self._timeout_s)[0].shape[1]
            self._dimensions = made
        scheme = "/".join(service.input_types) if all(service.input_types) else "none"
        self.fingerprint = Fingerprint(provider, model, config.embedding.model_version, made, scheme)

    @property
    def problem(self) -> EmbedderUnavailable | None:
        """See Embedder."""
        known = self._problem
        return known[1] if known is not None and time.monotonic() - known[0] < BELIEVED_S else None

    def _query(self, text: str) -> NDArray[np.float32]:
        row: NDArray[np.float32] = self._vectors([text], query=True, limit_s=self._timeout_s)[0][0]
        return row

    def embed_batch(self, texts: Sequence[str], *, deadline: float | None = None) -> Batch:
        """See Embedder. Waits for a running request even beyond the deadline, because it is paid for."""
        rows = [np.zeros((0, self.fingerprint.dimensions), np.float32)]
        failed: dict[int, str] = {}
        for start in range(0, len(texts), self._batch_texts):
            if deadline is not None and time.monotonic() >= deadline:
                break
            part = [text if text.strip() else "-" for text in texts[start : start + self._batch_texts]]
            made, problems = self._vectors(part, query=False, limit_s=self._timeout_s * BATCH_FACTOR)
            failed |= {start + place: why for place, why in problems.items()}
            rows.append(made)
        return Batch(np.concatenate(rows), failed)

    def _vectors(
        self, texts: Sequence[str], *, query: bool, limit_s: float
    ) -> tuple[NDArray[np.float32], dict[int, str]]:
        value: dict[str, object] = {"model": self._model, "input": list(texts)}
        if input_type := self._service.input_types[query]:
            value["input_type"] = input_type
        if self._asked_dimensions is not None:
            value[self._service.dimensions_key] = self._asked_dimensions
        name = self._service.name
        try:
            found = ask(
                name, self._service.url, value, self._key, timeout_s=limit_s, max_retries=self._max_retries
            ).get("data")
            if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
                raise Malformed("no list of vectors")
            ordered = sorted(found, key=lambda item: int(item.get("index", 0)))
            return unit_rows([item.get("embedding") for item in ordered], len(texts), self._dimensions)
        except OtherDimensions as error:
            failure = wrong_dimensions(self._model, self._dimensions or 0, error.returned)
        except (Malformed, TypeError, ValueError, OverflowError):
            failure = EmbedderUnavailable(f"{name} does not answer as it should.")
        except ServiceFailure as error:
            failure = EmbedderUnavailable(f"{error}.", reason="timeout" if error.reason == "timeout" else "other")
        self._problem = (time.monotonic(), failure)
        raise failure

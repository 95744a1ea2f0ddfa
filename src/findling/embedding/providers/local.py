"""Makes embedders of models from the Hugging Face hub or a folder, computed in this process by optional libraries.

model2vec computes static models, fastembed ONNX models; each is imported only when it is needed. Opening never touches
the network: `fetch` brings a model of the hub to this machine when the user asks for it.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from findling.embedding.embedder import Batch, Fingerprint, wrong_dimensions
from findling.embedding.providers.vectors import (
    Malformed,
    OtherDimensions,
    Prefixes,
    ProvidedEmbedder,
    prefixes_of,
    unit_rows,
)
from findling.model.errors import EmbedderUnavailable
from findling.model.installing import install_command

if TYPE_CHECKING:
    from findling.config import Config


# --- in process ---------------------------------------------------------------------------------------------------
# Makes an embedder of a function that computes vectors in this process: adds prefixes, checks and time limits.

_PROBE = "a text"

BATCH_CHARS: Final = 8_000
"""The most characters of a batch, counting each text as long as the longest, as ONNX models compute them. Batches of 32
long texts take 4.5 GB, and three times as long."""

FAILED_IN_A_ROW: Final = 32
"""After this many failures without a single vector between them, the model is at fault, not the texts."""


class InProcessEmbedder(ProvidedEmbedder):
    """``compute`` gives a vector of any length above 0 for each text, or raises whatever it raises."""

    problem = None

    def __init__(
        self,
        model: str,
        version: str,
        compute: Callable[[Sequence[str]], Any],
        *,
        dimensions: int | None,
        batch_texts: int,
    ) -> None:
        super().__init__()
        self._model = model
        self._compute = compute
        self._batch_texts = batch_texts
        self._prefixes: Prefixes = prefixes_of(model)
        self._dimensions: int | None = None
        self._failed_in_a_row = 0
        made = self._vectors([self._prefixes.document + _PROBE])[0].shape[1]
        if dimensions not in (None, made):
            raise wrong_dimensions(model, dimensions or 0, made)
        self._dimensions = made
        self.fingerprint = Fingerprint("local", model, version, made, prefix_scheme=self._prefixes.scheme)

    def _query(self, text: str) -> NDArray[np.float32]:
        row: NDArray[np.float32] = self._vectors([self._prefixes.query + text])[0][0]
        return row

    def embed_batch(self, texts: Sequence[str], *, deadline: float | None = None) -> Batch:
        """See Embedder. Without a deadline texts of like length are computed together."""
        order = list(range(len(texts)))
        if deadline is None:
            order.sort(key=lambda place: len(texts[place]))
        rows = np.zeros((len(texts), self.fingerprint.dimensions), np.float32)
        failed: dict[int, str] = {}
        done = 0
        while done < len(order) and (deadline is None or time.monotonic() < deadline):
            part = self._batch(texts, order[done : done + self._batch_texts])
            rows[part], problems = self._each([self._prefixes.document + texts[place] for place in part])
            failed |= {part[place]: why for place, why in problems.items()}
            done += len(part)
        return Batch(rows[:done], failed)

    @staticmethod
    def _batch(texts: Sequence[str], places: list[int]) -> list[int]:
        """The first places, as many as may be computed together, at least one."""
        longest = 0
        for count, place in enumerate(places):
            longest = max(longest, len(texts[place]))
            if count and (count + 1) * longest > BATCH_CHARS:
                return places[:count]
        return places

    def _each(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], dict[int, str]]:
        """As `_vectors`, but where the model fails it is asked by halves: a bad text costs no other its vector."""
        try:
            found = self._vectors(texts)
        except EmbedderUnavailable as error:
            if len(texts) == 1:
                self._failed_in_a_row += 1
                if self._failed_in_a_row >= FAILED_IN_A_ROW:
                    raise
                return np.zeros((1, self.fingerprint.dimensions), np.float32), {0: error.message}
            middle = len(texts) // 2
            (first, problems), (second, more) = self._each(texts[:middle]), self._each(texts[middle:])
            return np.concatenate((first, second)), problems | {middle + place: why for place, why in more.items()}
        self._failed_in_a_row = 0
        return found

    def _vectors(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], dict[int, str]]:
        try:
            return unit_rows(self._compute(texts), len(texts), self._dimensions)
        except (Malformed, OtherDimensions) as error:
            raise EmbedderUnavailable(f"The model {self._model!r} returns {error}.") from error
        except Exception as error:
            raise EmbedderUnavailable(f"The model {self._model!r} failed: {type(error).__name__}: {error}.") from error


_NAMES = msgspec.json.decode(Path(__file__).with_name("models.json").read_bytes(), type=dict[str, dict[str, str]])

PROFILES: Final = _NAMES["profiles"]
"""Profile -> model; `fast_local` is the bundled model."""

IDS: Final = _NAMES["ids"]
"""Short ids of models, as other programs use them -> names at the hub. Names at the hub are accepted, too."""

_STATIC_OWNERS: Final = ("minishlab/",)
_STATIC_FILES: Final = ("model.safetensors", "tokenizer.json", "config.json")
_ONNX_FILES: Final = ("onnx/model_quantized.onnx", "model_quantized.onnx", "onnx/model.onnx", "model.onnx")
"""Where a folder's ONNX model is looked for, the smallest first."""

_VERSION_CHARS: Final = 16


def open_local(model: str, config: Config, *, dimensions: int | None) -> InProcessEmbedder:
    """The model that a name, an id, a folder's absolute path or (where it is '') the profile means.

    Raises EmbedderUnavailable.
    """
    name = model or PROFILES.get(config.embedding.profile, "")
    if not name:
        raise EmbedderUnavailable("No local model is named.", remedy="Set semantic.embedding.model.", reason="missing")
    if (folder := _folder(name)) is not None:
        opened = _open_folder(folder)
    elif name in IDS or "/" in name:
        opened = _open_hub(name, IDS.get(name, name))
    else:
        raise EmbedderUnavailable(
            f"There is no local embedding model {name!r}, and no folder of that name.",
            remedy=f"Name a folder, a model of the Hugging Face hub (owner/name), or one of {', '.join(IDS)}.",
            reason="missing",
        )
    compute, content = opened
    return InProcessEmbedder(
        name,
        f"{config.embedding.model_version}+{content[:_VERSION_CHARS]}",
        compute,
        dimensions=dimensions,
        batch_texts=config.embedding.batch_size,
    )


def fetch(model: str, config: Config) -> str:
    """Bring a model of the hub to this machine, and say which; '' where it is a folder or none is named.

    Raises EmbedderUnavailable: the library is missing, the hub does not answer or has no such model.
    """
    name = model or PROFILES.get(config.embedding.profile, "")
    hub = IDS.get(name, name)
    if not name or _folder(name) is not None or "/" not in hub:
        return ""
    try:
        if _is_static(hub):
            _library("model2vec", name)
            importlib.import_module("huggingface_hub").snapshot_download(hub, allow_patterns=list(_STATIC_FILES))
        else:
            _library("fastembed", name).TextEmbedding(model_name=hub, cache_dir=str(_cache()))
    except EmbedderUnavailable:
        raise
    except Exception as error:
        raise EmbedderUnavailable(
            f"The model {name!r} cannot be fetched from the Hugging Face hub: {type(error).__name__}.",
            remedy="Check the name and the connection, or name a folder that holds the model.",
            reason="missing",
        ) from error
    return hub


# --- opening ---------------------------------------------------------------------------------------------------

_Opened = tuple[Any, str]
"""The function that computes vectors, and an id of the model's content."""


def _folder(name: str) -> Path | None:
    """The folder of that name, None without one. Only an absolute name counts: a folder in the current one, which may
    be anybody's, must not replace a model of the hub."""
    path = Path(name)
    return path if path.is_absolute() and path.is_dir() else None


def _open_folder(folder: Path) -> _Opened:
    if all((folder / file).is_file() for file in _STATIC_FILES[:2]):
        return _static(folder, str(folder)), _digest(folder / file for file in _STATIC_FILES[:2])
    for file in _ONNX_FILES:
        if (folder / file).is_file():
            content = _digest((folder / file, *folder.glob("tokenizer.json")))
            return _onnx_folder(folder, file, content), content
    raise EmbedderUnavailable(
        f"The folder {str(folder)!r} holds no embedding model.",
        remedy=f"It needs model.safetensors and tokenizer.json (model2vec), or {_ONNX_FILES[-1]} (ONNX).",
        reason="missing",
    )


def _open_hub(name: str, hub: str) -> _Opened:
    static = _is_static(hub)
    library = _library("model2vec" if static else "fastembed", name)
    try:
        if static:
            get = importlib.import_module("huggingface_hub").snapshot_download
            folder = Path(get(hub, allow_patterns=list(_STATIC_FILES), local_files_only=True))
            return _static(folder, name), folder.name
        model = library.TextEmbedding(model_name=hub, cache_dir=str(_cache()), local_files_only=True)
        revision = Path(str(getattr(model.model, "_model_dir", hub))).name
        return lambda texts: list(model.embed(list(texts), batch_size=len(texts))), revision
    except Exception as error:
        raise EmbedderUnavailable(
            f"The model {name!r} is not on this machine.",
            remedy="Run: findling embed  (it fetches the model from the Hugging Face hub)",
            reason="missing",
        ) from error


def _static(folder: Path, name: str) -> Any:
    library = _library("model2vec", name)
    try:
        model = library.StaticModel.from_pretrained(str(folder))
    except Exception as error:
        raise _damaged(name, error) from error
    return lambda texts: model.encode(list(texts), use_multiprocessing=False)


def _onnx_folder(folder: Path, file: str, content: str) -> Any:
    library = _library("fastembed", str(folder))
    description = importlib.import_module("fastembed.common.model_description")
    name = f"findling/{content}"
    pooling = description.PoolingType.CLS if _pools_by_first(folder) else description.PoolingType.MEAN
    try:
        if name not in {model["model"] for model in library.TextEmbedding.list_supported_models()}:
            library.TextEmbedding.add_custom_model(
                model=name,
                pooling=pooling,
                normalization=True,
                sources=description.ModelSource(hf=name),
                dim=0,  # nobody asks: vectors say it themselves
                model_file=file,
            )
        model = library.TextEmbedding(model_name=name, specific_model_path=str(folder), local_files_only=True)
    except Exception as error:
        raise _damaged(str(folder), error) from error
    return lambda texts: list(model.embed(list(texts), batch_size=len(texts)))


def _pools_by_first(folder: Path) -> bool:
    """Whether the folder says that a text's vector is that of its first token. Otherwise it is the mean of all."""
    try:
        return bool(json.loads((folder / "1_Pooling" / "config.json").read_bytes()).get("pooling_mode_cls_token"))
    except (OSError, ValueError, AttributeError):
        return False


def _library(name: str, model: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise EmbedderUnavailable(
            f"The model {model!r} needs {name}, which is not installed.",
            remedy=f"Run: {install_command(f'findling[{name}]')}",
            reason="missing",
        ) from error


def _damaged(name: str, error: Exception) -> EmbedderUnavailable:
    return EmbedderUnavailable(f"The model {name!r} cannot be read: {type(error).__name__}: {error}.")


def _is_static(hub: str) -> bool:
    return hub.startswith(_STATIC_OWNERS)


def _digest(files: Iterable[Path]) -> str:
    total = hashlib.sha256()
    for path in sorted(files):
        with path.open("rb") as file:
            total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()


def _cache() -> Path:
    """Where fastembed keeps what it fetched; its own default is the system's temporary folder."""
    import platformdirs

    chosen = os.environ.get("FASTEMBED_CACHE_PATH")
    return Path(chosen) if chosen else Path(platformdirs.user_cache_dir("findling")) / "models"

"""A view of an index in a thread of its own, to which it belongs. Must not know what it is asked."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from findling.engine import Engine
    from findling.tools.index_view import IndexView

_Answer = TypeVar("_Answer")


class ViewThread:
    """The view is opened when it is first asked, and anew when the engine's index lies elsewhere by then."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="findling-view")
        self._view: IndexView | None = None

    def ask(self, engine: Engine, question: Callable[[IndexView], _Answer]) -> Future[_Answer]:
        """Of the engine only plain values are used in the thread."""
        store_dir, root, open_embedder = engine.store_dir, engine.root, engine.embedder_opener()
        config, key = engine.config, engine.manifest_key
        for_documents = engine.embedder_opener(documents=True) if engine.documents_apart else None

        def ask() -> _Answer:
            if self._view is None or self._view.store_dir != store_dir:
                from findling.tools.index_view import IndexView

                self._close()
                self._view = IndexView(store_dir, root, open_embedder, config, key, for_documents)
            return question(self._view)

        return self._thread.submit(ask)

    def close(self) -> None:
        self._thread.submit(self._close).result()
        self._thread.shutdown()

    def _close(self) -> None:
        if self._view is not None:
            self._view.close()
            self._view = None

"""When an embedder is opened, and when it is looked at again."""

from __future__ import annotations

import pytest

from findling.embedding import Embedder, open_embedder, opening
from findling.embedding.opening import LazyEmbedder
from findling.model.errors import EmbedderUnavailable


def test_one_that_did_not_open_is_tried_again_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str | None] = []

    def fails_once(stored: str | None) -> Embedder:
        opened.append(stored)
        if len(opened) == 1:
            raise EmbedderUnavailable("not yet")
        return open_embedder()

    found = LazyEmbedder(fails_once, lambda: "stored")
    assert found.get() is None and found.get() is None
    assert str(found.failure) == "not yet"
    assert opened == ["stored"]
    monkeypatch.setattr(opening, "BELIEVED_S", 0.0)
    embedder = found.get()
    assert embedder is not None and found.failure is None
    assert found.get() is embedder
    assert len(opened) == 2  # one in this process stays as it is

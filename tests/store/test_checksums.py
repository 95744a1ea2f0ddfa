"""Checksums of pages: for findling's own databases alone, and never half of them."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from findling.model.errors import IndexUnavailable
from findling.store.local import checksums, connections

pytestmark = pytest.mark.skipif(not checksums.available(), reason="this apsw comes without cksumvfs")


def test_nobody_else_in_the_process_gets_them(tmp_path: Path) -> None:
    connections.connect(tmp_path / "index.db").close()
    other = apsw.Connection(str(tmp_path / "other.db"))
    other.execute("CREATE TABLE t(a)")
    assert other.open_vfs != "cksmvfs"
    assert other.reserve_bytes() == 0
    other.close()
    connection = connections.connect(tmp_path / "index.db")
    assert (connection.open_vfs, connection.reserve_bytes()) == ("cksmvfs", 8)
    connection.close()


def test_who_cannot_write_them_leaves_the_index_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "index.db"
    connections.connect(path).close()
    before = path.read_bytes()
    monkeypatch.setattr(checksums, "available", lambda: False)
    with pytest.raises(IndexUnavailable, match="cksumvfs"):
        connections.connect(path)
    assert path.read_bytes() == before
    connections.connect(tmp_path / "plain.db").close()
    monkeypatch.undo()
    connections.connect(tmp_path / "plain.db").close()

"""A text index that fails: what a thread of it died of, and files that are not its latest."""

from __future__ import annotations

from pathlib import Path

import pytest

from findling.model import errors
from findling.store.local import fulltext, fulltext_files
from findling.store.local.schema import IndexDamaged

resource = pytest.importorskip("resource")

IDENTITY = b"\1" * 16
ADDS = 300_000
"""Of so many documents something has to be written long before the last."""


def test_a_full_disk_is_told_where_a_thread_met_it(tmp_path: Path) -> None:
    """Files that may not grow: their writing fails as on a full disk, everything else works."""
    directory = tmp_path / "fulltext"
    fulltext.create(directory, IDENTITY)
    writer = fulltext.FulltextWriter(directory, IDENTITY, large=False)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        with pytest.raises(errors.StorageFull):
            for number in range(ADDS):
                writer.add(number, (), number << 12, "a", b"")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        writer.close()


def test_an_earlier_list_of_its_segments_is_noticed(tmp_path: Path) -> None:
    """Put back from a copy, say: all files that it names are whole, and what was written since is missing."""
    directory = tmp_path / "fulltext"
    fulltext.create(directory, IDENTITY)
    writer = fulltext.FulltextWriter(directory, IDENTITY, large=False)
    states = []
    for number in (1, 2):
        writer.add(number, (), number << 12, "a", b"")
        writer.commit()
        states.append((directory / "meta.json").read_bytes())
    writer.close()
    assert fulltext_files.usable(directory, IDENTITY)
    (directory / "meta.json").write_bytes(states[0])
    assert not fulltext_files.usable(directory, IDENTITY)
    (directory / "meta.json").write_bytes(states[1])
    assert fulltext_files.usable(directory, IDENTITY)


@pytest.mark.parametrize(
    "said",
    ["An IO error occurred: 'Input/output error (os error 5)'", 'Os { code: 5, kind: Uncategorized, message: "..." }'],
)
def test_a_disk_that_fails_is_no_damage(said: str, tmp_path: Path) -> None:
    """What the library says of it in either form; damage would cost the whole index."""
    found = fulltext._map_error(ValueError(said), tmp_path, IDENTITY)
    assert isinstance(found, errors.IndexUnavailable) and not isinstance(found, IndexDamaged)
    assert "Input/output error" in str(found)

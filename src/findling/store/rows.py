"""The statements that give rows of files and manifests (`model.rows`), and what makes rows of what they give."""

from __future__ import annotations

from typing import Any

from findling.model.rows import FileRow, ManifestRow
from findling.model.text_encodings import UTF8

FILE_SQL = (
    "SELECT m.entry_id, e.blob_id, e.path, b.language, b.kind, b.size, b.lines, b.generated, "
    f"b.body_terms, b.name_terms, nullif(b.encoding, '{UTF8}') "
    "FROM manifest_files m CROSS JOIN entries e USING (entry_id) JOIN blobs b USING (blob_id) "
)
"""Gives what `file_row` takes."""

FILE_FROM_ENTRY_SQL = FILE_SQL.replace(
    "FROM manifest_files m CROSS JOIN entries e USING (entry_id)",
    # CROSS: from the few entries of a content or a path, not from the manifest's many files
    "FROM entries e CROSS JOIN manifest_files m USING (entry_id)",
)

MANIFEST_SQL = (
    "SELECT manifest_id, complete, pending, synced_at, files, chunks, "
    "body_terms, name_terms, counts, wanted FROM manifests WHERE root=? AND ref=?"
)
"""Gives what `manifest_row` takes."""


def file_row(row: Any) -> FileRow:
    values: list[Any] = [*row]
    values[7] = bool(values[7])
    return FileRow(*values)


def manifest_row(row: Any) -> ManifestRow:
    return ManifestRow(row[0], bool(row[1]), *row[2:])

"""The index in three older shapes, as views that any plain SQLite from 3.40 on reads: no functions of ours.

* ``embeddings``: every chunk with its vector as a JSON array.
* ``doc_embeddings`` and ``vec_documents``: the documents' chunks with their text, and their vectors by ``rowid``.

They show the folder that was brought up to date last; where several models made vectors, ``embeddings`` those of all,
the other two those of the model that made some last. ``content_hash`` is the SHA-256 of a chunk's own text. A vector is
what the index keeps of it (`vector_codes`), of a length of about 1; picking one apart takes some milliseconds, so these
are for looking at, not for searching.
"""

from __future__ import annotations

# Each chunk's number in its file comes of a JSON array with as many zeros as there are chunks.
_LIVE = """
SELECT v.vector_id << {bits} | o.key AS vec_rowid, e.path, e.docs, o.key AS ordinal,
  e.blob_id << {bits} | o.key AS chunk_id,
  v.model_id, v.created_at, d.name AS model, d.dimensions, d.coding,
  hex(substr(v.data, o.key * d.row_bytes + 1, d.row_bytes)) AS digits,
  hex(substr(c.lines, o.key * (length(c.lines) / b.chunks) + 1, length(c.lines) / b.chunks)) AS lines,
  coalesce(s.content_hash, substr(c.hashes, o.key * 32 + 1, 32)) AS content_hash
FROM manifest_files m JOIN entries e USING (entry_id) JOIN blobs b USING (blob_id) JOIN vectors v USING (entry_id)
JOIN models d USING (model_id) JOIN chunks c USING (blob_id)
JOIN json_each('[' || substr(replace(hex(zeroblob(b.chunks)), '00', ',0'), 2) || ']') o
LEFT JOIN sections s ON s.chunk_id = e.blob_id << {bits} | o.key
WHERE m.manifest_id = (
  SELECT manifest_id FROM manifests WHERE ref = 'live' ORDER BY synced_at DESC, manifest_id LIMIT 1
)
"""

_LATEST = """
SELECT * FROM live_chunks WHERE model_id = (
  SELECT model_id FROM vectors JOIN models USING (model_id) WHERE docs ORDER BY vector_id DESC LIMIT 1
)
"""

_FOUR_BITS = """(
  WITH RECURSIVE place(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM place WHERE i < l.dimensions)
  SELECT '[' || group_concat(value, ',') || ']' FROM (
    SELECT CASE ltrim(l.digits, '0') WHEN '' THEN 0.0 ELSE s.value END AS value
    FROM place CROSS JOIN vector_levels s ON s.model_id = l.model_id AND s.digit = substr(l.digits, i, 1)
    ORDER BY i
  )
)"""


def _digit(place: str) -> str:
    return f"instr('123456789ABCDEF', substr(l.digits, {place}, 1))"


# A half-precision number: a sign, five bits of exponent, ten of fraction; its lower byte comes first.
_FLOAT16 = f"""(
  WITH RECURSIVE place(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM place WHERE i < l.dimensions),
  word(i, w) AS (
    SELECT i,
      4096 * {_digit("4 * i - 1")} + 256 * {_digit("4 * i")} + 16 * {_digit("4 * i - 3")} + {_digit("4 * i - 2")}
    FROM place
  ),
  number(i, sign, exponent, fraction) AS (SELECT i, 1 - (w >> 15) * 2, w >> 10 & 31, w & 1023 FROM word)
  SELECT '[' || group_concat(value, ',') || ']' FROM (
    SELECT round(sign * CASE exponent
      WHEN 0 THEN fraction / 16777216.0 ELSE (1 << exponent) * (1024 + fraction) / 33554432.0
    END, 7) AS value
    FROM number ORDER BY i
  )
)"""

# A byte of a coded text stands for a piece, but that after a zero for itself.
_TEXT = """CASE k.coded WHEN 0 THEN k.text ELSE (
  WITH RECURSIVE part(i, size) AS (
    SELECT 1, 1 + (substr(k.text, 1, 1) = x'00')
    UNION ALL
    SELECT i + size, 1 + (substr(k.text, i + size, 1) = x'00') FROM part WHERE i + size <= length(k.text)
  )
  SELECT CAST(group_concat(piece, '') AS BLOB) FROM (
    SELECT CAST(CASE size WHEN 2 THEN substr(k.text, i + 1, 1)
      ELSE (SELECT text FROM text_codes WHERE code = substr(k.text, i, 1)) END AS TEXT) AS piece
    FROM part ORDER BY i
  )
) END"""


def _line(which: int) -> str:
    """A chunk's first or last line (0, 1) of the digits of both."""
    width = "length(l.lines) / 2"
    digits = f"substr('0000' || substr(l.lines, 1 + {which} * {width}, {width}), -8)"
    places = (f"(instr('123456789ABCDEF', substr({digits}, {place}, 1)) << {32 - 4 * place})" for place in range(1, 9))
    return f"({' + '.join(places)})"


_VECTOR = f"CASE l.coding WHEN 'four_bits' THEN {_FOUR_BITS} ELSE {_FLOAT16} END"

_NEAREST_HEADING = "nullif(replace(k.headings, rtrim(k.headings, replace(k.headings, char(10), '')), ''), '')"

_VIEWS = f"""
CREATE VIEW live_chunks AS {_LIVE};
CREATE VIEW live_of_latest AS {_LATEST};
CREATE VIEW embeddings AS
SELECT l.vec_rowid AS id, l.path, {_line(0)} AS start_line, {_line(1)} AS end_line,
  lower(hex(l.content_hash)) AS content_hash,
  {_VECTOR} AS embedding, l.model, l.created_at
FROM live_chunks l;
CREATE VIEW coded_sections AS
SELECT s.chunk_id, s.headings, s.skip, s.size, s.coded, substr(t.texts, s.place + 1, s.length) AS text
FROM sections s JOIN doc_texts t ON t.blob_id = s.chunk_id >> {{bits}};
CREATE VIEW doc_embeddings AS
SELECT l.vec_rowid AS id, l.path AS doc_path, l.ordinal AS chunk_index,
  CAST(substr({_TEXT}, k.skip + 1, k.size) AS TEXT) AS chunk_text,
  {_NEAREST_HEADING} AS chunk_header, lower(hex(l.content_hash)) AS content_hash, l.model AS model_name,
  l.dimensions AS model_dim, l.vec_rowid, datetime(l.created_at, 'unixepoch') AS created_at
FROM live_of_latest l JOIN coded_sections k ON k.chunk_id = l.chunk_id;
CREATE VIEW vec_documents AS
SELECT l.vec_rowid AS rowid, {_VECTOR} AS embedding FROM live_of_latest l WHERE l.docs;
"""


def statements(chunk_bits: int) -> str:
    """What makes the views. ``chunk_bits``: of a chunk id, those that hold its place in its file."""
    return _VIEWS.format(bits=chunk_bits)

"""The index in three older shapes, as views that any plain SQLite from 3.40 on reads: no functions of ours.

* ``embeddings``: every chunk with its vector as a JSON array.
* ``doc_embeddings`` and ``vec_documents``: the documents' chunks with their text, and their vectors by ``rowid``.

They show the folder that was brought up to date last; where several models made vectors, ``embeddings`` those of all,
the other two those of the model that made some last. ``content_hash`` is the SHA-256 of a chunk's own text. A vector is
what the index keeps of it (`vector_codes`), of a length of about 1; picking one apart takes some milliseconds, so these
are for looking at, not for searching. SQLite keeps the statements as they are written, so what two
views need stands in a third, and what few indexes need is added to those that do.
"""

from __future__ import annotations

# Each chunk's number in its file comes of a JSON array with as many zeros as there are chunks.
_LIVE = """
SELECT v.vector_id << {bits} | o.key AS vec_rowid, e.path, e.docs, o.key AS ordinal, v.model_id, v.created_at,
d.name AS model, d.dimensions, d.coding, d.levels, hex(substr(v.data, o.key * d.row_bytes + 1, d.row_bytes)) AS digits,
length(c.lines) / b.chunks / 2 AS width, c.lines, substr(c.hashes, o.key * 32 + 1, 32) AS hash, c.sections, c.texts
FROM manifest_files m JOIN entries e USING (entry_id) JOIN blobs b USING (blob_id) JOIN vectors v USING (entry_id)
JOIN models d USING (model_id) JOIN contents c USING (blob_id)
JOIN json_each('[' || substr(replace(hex(zeroblob(b.chunks)), '00', ',0'), 2) || ']') o
WHERE m.manifest_id = (
SELECT manifest_id FROM manifests WHERE ref = 'live' ORDER BY synced_at DESC, manifest_id LIMIT 1)
"""

_LATEST = """
SELECT * FROM live_vectors WHERE model_id = (
SELECT model_id FROM vectors JOIN models USING (model_id) WHERE docs ORDER BY vector_id DESC LIMIT 1)
"""


def _number(digits: str) -> str:
    """What hexadecimal digits say."""
    return (
        f"(WITH RECURSIVE n(d, v) AS (SELECT {digits}, 0 UNION ALL SELECT substr(d, 2), v * 16 + "
        "instr('123456789ABCDEF', substr(d, 1, 1)) FROM n WHERE d <> '') SELECT v FROM n WHERE d = '')"
    )


_PLACES = "WITH RECURSIVE p(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM p WHERE i < l.dimensions)"

_LIST = "SELECT '[' || group_concat(v, ',') || ']' FROM"

_FOUR_BITS = f"""({_PLACES} {_LIST} (SELECT CASE ltrim(l.digits, '0') WHEN '' THEN 0.0 ELSE
json_extract(l.levels, '$[' || instr('123456789ABCDEF', substr(l.digits, i, 1)) || ']') END AS v FROM p ORDER BY i))"""

# A half-precision number: a sign, five bits of exponent, ten of fraction; its lower byte comes first.
_WORD = _number("substr(l.digits, 4 * i - 1, 2) || substr(l.digits, 4 * i - 3, 2)")
_FLOAT16 = f"""({_PLACES}, w(i, x) AS (SELECT i, {_WORD} FROM p) {_LIST} (
SELECT round((1 - (x >> 15) * 2) * CASE x >> 10 & 31 WHEN 0 THEN (x & 1023) / 16777216.0
ELSE (1 << (x >> 10 & 31)) * (1024 + (x & 1023)) / 33554432.0 END, 7) AS v FROM w ORDER BY i))"""


def _value(bits: int) -> str:
    """The number that so many bits from ``p`` on tell, the first the highest."""
    return "(" + " + ".join(f"substr(f, p + {bit}, 1) * {1 << bits - 1 - bit}" for bit in range(bits)) + ")"


def _reversed(bits: str) -> str:
    """The same of a number of bits that is only known by then, the first the lowest."""
    return (
        f"(WITH RECURSIVE z(x, v) AS (SELECT CAST(substr(f, p, {bits}) AS TEXT), 0 UNION ALL "
        "SELECT substr(x, 1, length(x) - 1), v * 2 + substr(x, -1) FROM z WHERE x <> '') SELECT v FROM z WHERE x = '')"
    )


# Of each nibble the lowest bit first.
_NIBBLES = "".join(f"{nibble:04b}"[::-1] for nibble in range(16))
_LOWER, _UPPER = (
    f"substr('{_NIBBLES}', 4 * instr('123456789ABCDEF', substr(h, {place}, 1)) + 1, 4)" for place in (2, 1)
)

# How many more bits tell a length, and a distance.
_LENGTH_BITS = "CASE WHEN c BETWEEN 8 AND 27 THEN (c >> 2) - 1 ELSE 0 END"
_DISTANCE_BITS = "CASE WHEN c < 4 THEN 0 ELSE (c >> 1) - 1 END"

_DICTIONARY = "(SELECT value FROM meta WHERE key = 'dictionary')"

# Deflate (RFC 1951) with its fixed codes, whose bits come highest first, all others lowest first. Of a row of ``r``,
# ``f`` are the bits in order, ``p`` the place of the next one, ``o`` the dictionary with what was read so far, ``m``
# what comes next (0: a literal or a length, 1: what its code ``c`` says, 2: the bits that a length has besides, 3: a
# distance, 4: those that it has besides, 5: nothing), ``k`` a length.
_TEXT = f"""CASE WHEN coded = 0 OR text = x'' THEN text ELSE (
WITH RECURSIVE b(t, i, h) AS (SELECT text, 0, '' UNION ALL
SELECT t, i + 1, hex(substr(t, i + 1, 1)) FROM b WHERE i < length(t)),
r(f, p, o, m, c, k) AS (SELECT (SELECT CAST(group_concat(n, '') AS BLOB) FROM (
SELECT {_LOWER} || {_UPPER} AS n FROM b WHERE i ORDER BY i)), 4, {_DICTIONARY}, 0, 0, 0 UNION ALL SELECT f,
p + CASE m WHEN 1 THEN CASE WHEN c < 96 THEN 7 WHEN c < 400 THEN 8 ELSE 9 END
WHEN 2 THEN {_LENGTH_BITS} WHEN 3 THEN 5 WHEN 4 THEN {_DISTANCE_BITS} ELSE 0 END,
CASE WHEN m = 1 AND c >= 96 AND (c < 384 OR c >= 400)
THEN o || substr(CAST(o AS BLOB), CASE WHEN c < 384 THEN (c >> 1) - 47 ELSE c - 255 END, 1)
WHEN m = 4 THEN o || (SELECT substr(CAST(replace(hex(zeroblob(k / a + 1)), '00',
substr(CAST(o AS BLOB), -a, min(a, k))) AS BLOB), 1, k) FROM (SELECT CASE WHEN c < 4 THEN c + 1 ELSE
((2 + (c & 1)) << (c >> 1) - 1) + 1 + {_reversed(_DISTANCE_BITS)}
END AS a)) ELSE o END,
CASE m WHEN 1 THEN CASE WHEN c < 4 THEN 5 WHEN c < 96 OR c BETWEEN 384 AND 399 THEN 2 ELSE 0 END
WHEN 4 THEN 0 ELSE m + 1 END,
CASE m WHEN 0 THEN {_value(9)} WHEN 1 THEN CASE WHEN c < 96 THEN (c >> 2) - 1 ELSE (c >> 1) - 169 END
WHEN 3 THEN {_value(5)} ELSE c END,
CASE m WHEN 2 THEN CASE WHEN c < 8 THEN c + 3 WHEN c = 28 THEN 258 ELSE (4 + (c & 3) << (c >> 2) - 1) + 3 +
{_reversed(_LENGTH_BITS)} END ELSE k END
FROM r WHERE m < 5)
SELECT substr(CAST(o AS BLOB), length({_DICTIONARY}) + 1) FROM r WHERE m = 5) END"""

# The last line of what the headings are, or of what they have that those before do not.
_HEADING = """(SELECT nullif(replace(h, rtrim(h, replace(h, char(10), '')), ''), '') FROM (
SELECT CASE type WHEN 'array' THEN json_extract(value, '$[1]') ELSE value END AS h
FROM json_each(l.sections, '$.headings') WHERE key <= l.ordinal AND type <> 'null' ORDER BY key DESC LIMIT 1))"""


def _line(which: str) -> str:
    """A chunk's first or last line of the lines of all."""
    return _number(f"hex(substr(l.lines, (2 * l.ordinal + {which}) * l.width + 1, l.width))")


def _told(place: str) -> str:
    return f"json_extract(l.sections, '$.{place}')"


def _piece(place: str) -> str:
    """A number of a document's pieces."""
    return f"json_extract(l.sections, '$.pieces[' || (2 * l.ordinal + {place}) || ']')"


_VIEWS = f"""
CREATE VIEW live_chunks AS {_LIVE};
CREATE VIEW live_vectors AS SELECT l.*, {_FOUR_BITS} AS embedding FROM live_chunks l;
CREATE VIEW live_of_latest AS {_LATEST};
CREATE VIEW embeddings AS
SELECT l.vec_rowid AS id, l.path, {_line("0")} AS start_line, {_line("1")} AS end_line,
lower(hex(l.hash)) AS content_hash, l.embedding, l.model, l.created_at FROM live_vectors l;
CREATE VIEW vec_documents AS SELECT l.vec_rowid AS rowid, l.embedding FROM live_of_latest l WHERE l.docs;
CREATE VIEW doc_embeddings AS
SELECT 0 AS id, 0 AS doc_path, 0 AS chunk_index, 0 AS chunk_text, 0 AS chunk_header, 0 AS content_hash, 0 AS model_name,
0 AS model_dim, 0 AS vec_rowid, 0 AS created_at WHERE 0;
"""

_OF_DOCUMENTS = f"""
DROP VIEW doc_embeddings;
CREATE VIEW doc_pieces AS
SELECT l.*, {_told("coded")} AS coded, CASE l.ordinal WHEN 0 THEN {_told("skip")} ELSE 0 END AS skip,
{_piece("1")} AS size, substr(l.texts, {_piece("0")} + 1, {_piece("2")} - {_piece("0")}) AS text
FROM live_of_latest l WHERE l.sections IS NOT NULL;
CREATE VIEW doc_embeddings AS
SELECT l.vec_rowid AS id, l.path AS doc_path, l.ordinal AS chunk_index,
CAST(substr({_TEXT}, skip + 1, size) AS TEXT) AS chunk_text, {_HEADING} AS chunk_header,
lower(hex(l.hash)) AS content_hash, l.model AS model_name, l.dimensions AS model_dim, l.vec_rowid,
datetime(l.created_at, 'unixepoch') AS created_at FROM doc_pieces l;
"""

_OF_HALVES = f"""
DROP VIEW live_vectors;
CREATE VIEW live_vectors AS
SELECT l.*, CASE l.coding WHEN 'four_bits' THEN {_FOUR_BITS} ELSE {_FLOAT16} END AS embedding FROM live_chunks l;
"""


def statements(chunk_bits: int) -> str:
    """What makes the views of an index without documents. ``chunk_bits``: of a chunk id, those that hold its place in
    its file."""
    return _VIEWS.replace("{bits}", str(chunk_bits))


def of_documents() -> str:
    """What makes those that the first document needs besides."""
    return _OF_DOCUMENTS


def of_halves() -> str:
    """What makes them read vectors of half-precision numbers, too."""
    return _OF_HALVES

"""How a shared store grows: passages generated to the distribution of a collection that is there, loaded, and asked.

    python benchmarks/curve.py postgresql://USER@HOST/DATABASE [--rows 250000 500000] [--questions 40] [--to FILE]

DATABASE has one collection, whose tables the generated ones are drawn from, and is left as it is but for the schema
`curve`, which is made anew and dropped. A generated content takes the terms of a real one, each with the text of its
term or, where the term is rare, of a new rare one, so that the number of different terms grows as it does in real text
(by the power .6), and the bits of its vectors are those of real ones with 30 of 256 turned. Fifty tenants have the same
share each. Asked are the words of random passages, 23 in two fields, of all tenants and of one; the vectors likewise.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import time
from pathlib import Path
from typing import Any

import psycopg

from findling.store.postgresql.reader import best_units

TENANTS = 50

MAKE = """
DROP SCHEMA IF EXISTS curve CASCADE;
CREATE SCHEMA curve;
CREATE TABLE curve.postings (tenant int, term text COLLATE "C", field smallint, content_id bigint,
  ordinals smallint[], parts float8[]);
CREATE TABLE curve.bits (tenant int, entry_id bigint, ordinal smallint, bits bit varying);
CREATE TABLE curve.real AS SELECT row_number() OVER () AS n, content_id FROM findling.contents WHERE chunk_count > 0;
CREATE TABLE curve.rare AS SELECT term FROM findling.frequencies WHERE field < 2 GROUP BY 1 HAVING sum(units) <= 20;
CREATE UNIQUE INDEX ON curve.rare (term);
ANALYZE curve.real; ANALYZE curve.rare;
"""

FILL = """
INSERT INTO curve.postings
SELECT (c.copy + p.content_id) %% %(tenants)s::int,
  CASE WHEN r.term IS NULL OR abs(hashtext(p.term || c.copy::text)) %% 1000 < %(kept)s::int THEN p.term
    ELSE p.term || '~' || c.copy END,
  p.field, c.copy::bigint * 10000000 + p.content_id, p.ordinals, p.parts
FROM generate_series(1, %(copies)s::int) AS c(copy)
JOIN findling.postings p ON p.content_id IN (SELECT content_id FROM curve.real)
LEFT JOIN curve.rare r ON r.term = p.term
"""

FILL_BITS = """
INSERT INTO curve.bits
SELECT (c.copy + b.entry_id) %% %(tenants)s::int, c.copy::bigint * 10000000 + b.entry_id, b.ordinal,
  b.bits # (
    SELECT bit_or(set_bit(repeat('0', 256)::bit(256), abs(hashtext(concat_ws(':', c.copy, b.entry_id, i))) %% 256, 1))
    FROM generate_series(1, 30) AS i
  )::varbit
FROM generate_series(1, %(copies)s::int) AS c(copy) CROSS JOIN findling.bits b
"""

SORT = """
CREATE TABLE curve.sorted AS SELECT * FROM curve.postings ORDER BY tenant, term, field, content_id;
DROP TABLE curve.postings;
ALTER TABLE curve.sorted RENAME TO postings;
ALTER TABLE curve.postings ADD PRIMARY KEY (tenant, term, field, content_id);
CREATE INDEX ON curve.bits (tenant);
ANALYZE curve.postings; ANALYZE curve.bits;
"""

WORDS = (
    best_units("curve.postings", "p.tenant = ANY(%s)")
    + " SELECT content_id, ordinal, score FROM best ORDER BY score DESC, content_id, ordinal"
)

NEAREST = """
SELECT entry_id, ordinal, bit_count(bits # %s::varbit) FROM curve.bits WHERE tenant = ANY(%s) ORDER BY 3, 1, 2 LIMIT 301
"""


def spread(values: list[float]) -> tuple[float, float]:
    ordered = sorted(values)
    return statistics.median(ordered), ordered[int(len(ordered) * 0.95)]


def questions(db: psycopg.Connection[Any], count: int) -> list[tuple[list[str], list[float], str]]:
    """Words with their idf, and bits, of random passages of the real collection."""
    dice = random.Random(4)
    units = db.execute("SELECT sum(files + chunks) FROM findling.views").fetchone()[0]  # type: ignore[index]
    contents = [row[0] for row in db.execute("SELECT content_id FROM curve.real ORDER BY n")]
    bits = [row[0] for row in db.execute("SELECT bits::text FROM findling.bits ORDER BY entry_id, ordinal LIMIT 2000")]
    found = []
    while len(found) < count:
        rows = db.execute(
            "SELECT p.term, max(f.units) FROM findling.postings p JOIN findling.frequencies f "
            "USING (view_id, term, field) WHERE p.content_id = %s AND p.field = 0 GROUP BY 1",
            (dice.choice(contents),),
        ).fetchall()
        if len(rows) >= 10:
            chosen = dice.sample(rows, min(10, len(rows)))
            words = [row[0] for row in chosen]
            found.append((words, [math.log(1 + float(units) / row[1]) for row in chosen], dice.choice(bits)))
    return found


def measured(db: psycopg.Connection[Any], asked: list[tuple[list[str], list[float], str]]) -> dict[str, Any]:
    """p50 and p95 in milliseconds of each kind of question."""
    found: dict[str, Any] = {}
    for name, tenants in (("all", list(range(TENANTS))), ("one", [3])):
        for what in ("words", "nearest"):
            times = []
            for words, weights, bits in asked:
                began = time.perf_counter()
                if what == "words":
                    two = [*words, *words]
                    fields = [0] * len(words) + [1] * len(words)
                    weighed = [*weights, *(weight * 0.6 for weight in weights)]
                    db.execute(WORDS, (fields, two, weighed, tenants, 201, 201, 201)).fetchall()
                else:
                    db.execute(NEAREST, (bits, tenants)).fetchall()
                times.append((time.perf_counter() - began) * 1000)
            found[f"{what}, {name}"] = [round(value, 1) for value in spread(times)]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--rows", nargs="*", type=int, default=[250_000, 500_000])
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--to", type=Path)
    args = parser.parse_args()
    found: list[dict[str, Any]] = []
    with psycopg.connect(args.url, autocommit=True) as db:
        db.execute("SET jit = off")
        db.execute("SET work_mem = '64MB'")
        for rows in args.rows:
            db.execute(MAKE.encode())
            real = db.execute("SELECT sum(chunk_count) FROM findling.contents").fetchone()[0]  # type: ignore[index]
            copies = math.ceil(rows / real)
            # kept, of rare terms: the number of different terms shall grow by the power .6 of the copies
            kept = max(0, 1000 - round(1000 * (copies**0.6 - 1) / max(1, copies - 1)))
            began = time.perf_counter()
            values = {"tenants": TENANTS, "kept": kept, "copies": copies}
            db.execute(FILL, values)
            db.execute(FILL_BITS, values)
            db.execute(SORT.encode())
            load_s = time.perf_counter() - began
            size = db.execute(
                "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace "
                "WHERE nspname = 'curve' AND relname IN ('postings', 'bits')"
            ).fetchone()[0]  # type: ignore[index]
            asked = questions(db, args.questions)
            measured(db, asked[:5])  # what is read once
            row = {
                "passages": int(copies * real),
                "load_s": round(load_s, 1),
                "mb": round(int(size) / 1e6),
                **measured(db, asked),
            }
            print(json.dumps(row), flush=True)
            found.append(row)
        db.execute("DROP SCHEMA curve CASCADE")
    if len(found) > 1:
        first, last = found[0], found[-1]
        grown = math.log(last["passages"] / first["passages"])
        for key in ("load_s", "mb", "words, all", "words, one", "nearest, all", "nearest, one"):
            one, other = ((row[key][0] if isinstance(row[key], list) else row[key]) for row in (first, last))
            print(f"{key}: grows by the power {math.log(other / one) / grown:.2f}")
    if args.to:
        args.to.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

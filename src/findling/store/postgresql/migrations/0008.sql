-- In each posting the unit that its term adds most to comes first, as in what is published from now on: a question in
-- words judges a file by it (`best_units` in reader.py).
LOCK TABLE postings IN ACCESS EXCLUSIVE MODE;  -- first, so that nothing is done twice, and nobody adds to it
UPDATE postings p SET ordinals = sorted.ordinals, parts = sorted.parts
FROM (
  SELECT view_id, term, field, content_id, array_agg(ordinal ORDER BY part DESC, ordinal) AS ordinals,
    array_agg(part ORDER BY part DESC, ordinal) AS parts
  FROM (
    SELECT view_id, term, field, content_id, unnest(ordinals) AS ordinal, unnest(parts) AS part FROM postings
    WHERE cardinality(parts) > 1
  ) AS unit
  GROUP BY 1, 2, 3, 4
) AS sorted
WHERE (p.view_id, p.term, p.field, p.content_id) = (sorted.view_id, sorted.term, sorted.field, sorted.content_id)
  AND p.parts[1] < sorted.parts[1];
CLUSTER postings USING postings_pkey;

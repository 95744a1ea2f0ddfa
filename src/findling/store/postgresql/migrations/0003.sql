-- Who may search what. The role that owns these tables sees everything; every other role sees, for the user that is set
-- in a transaction (findling.user), the views of that transaction (findling.scope) that the user's groups are allowed.
-- FORCE: no policy, no rows, for the owner too.

CREATE TABLE persons (name text PRIMARY KEY, added_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE teams (name text PRIMARY KEY, added_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE members (
  person text NOT NULL REFERENCES persons ON DELETE CASCADE,
  team text NOT NULL REFERENCES teams ON DELETE CASCADE,
  PRIMARY KEY (person, team)
);
CREATE TABLE rights (
  team text NOT NULL REFERENCES teams ON DELETE CASCADE,
  collection text NOT NULL,             -- '*': every one
  allowed boolean NOT NULL,             -- what one group is denied, no other group allows
  PRIMARY KEY (team, collection)
);
CREATE TABLE tokens (
  hash bytea PRIMARY KEY,               -- SHA-256 of 32 random bytes
  person text NOT NULL REFERENCES persons ON DELETE CASCADE,
  added_at timestamptz NOT NULL DEFAULT now()
);

-- Whether whoever is connected may see everything: as the owner's role, or a member of it.
CREATE FUNCTION trusted() RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER SET search_path = findling, pg_temp AS $$
  SELECT pg_has_role(session_user, nspowner, 'USAGE') FROM pg_namespace WHERE nspname = 'findling'
$$;

CREATE FUNCTION sees(person text, collection text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = findling, pg_temp AS $$
  SELECT coalesce(bool_and(r.allowed), false) FROM members m JOIN rights r USING (team)
  WHERE m.person = sees.person AND r.collection IN (sees.collection, '*')
$$;

-- The views by name that the transaction's user may see. Each name is judged, whether or not there is such a view: how
-- long it takes must not tell.
CREATE FUNCTION visible(owners text[], collections text[], refs text[]) RETURNS SETOF views
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = findling, pg_temp AS $$
  WITH asked AS MATERIALIZED (
    SELECT a.*, sees(current_setting('findling.user', true), a.collection) AS seen
    FROM unnest(owners, collections, refs) AS a(owner, collection, ref)
  ), allowed AS MATERIALIZED (
    SELECT * FROM asked WHERE (SELECT trusted()) OR (seen AND owner = '')
  )
  SELECT v.* FROM allowed JOIN views v USING (owner, collection, ref)
$$;

-- The names of the published collections that the transaction's user may see.
CREATE FUNCTION collections() RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = findling, pg_temp AS $$
  SELECT DISTINCT collection FROM views WHERE owner = '' AND generation > 0
  AND ((SELECT trusted()) OR sees(current_setting('findling.user', true), collection))
$$;

CREATE FUNCTION scope() RETURNS SETOF bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = findling, pg_temp AS $$
  SELECT v.view_id FROM views v
  WHERE v.view_id = ANY(coalesce(nullif(current_setting('findling.scope', true), ''), '{}')::bigint[])
  AND v.owner = '' AND sees(current_setting('findling.user', true), v.collection)
$$;

CREATE FUNCTION person_of(token bytea) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = findling, pg_temp AS $$
  SELECT person FROM tokens WHERE hash = token
$$;

-- Row security keeps conditions away from an index whose operators could tell of rows that are not seen. These two look
-- there themselves, and give nothing but what is in the scope.
CREATE FUNCTION holding(views bigint[], codes int[], every_one boolean) RETURNS SETOF bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = findling, pg_temp AS $$
BEGIN
  IF NOT trusted() THEN
    views := ARRAY(SELECT scope() INTERSECT SELECT unnest(views));
  END IF;
  IF every_one THEN
    RETURN QUERY SELECT content_id FROM contents WHERE view_id = ANY(views) AND trigrams @> codes;
  ELSE
    RETURN QUERY SELECT content_id FROM contents WHERE view_id = ANY(views) AND trigrams && codes;
  END IF;
END
$$;

CREATE FUNCTION ending(views bigint[], low text, high text) RETURNS SETOF bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = findling, pg_temp AS $$
BEGIN
  IF NOT trusted() THEN
    views := ARRAY(SELECT scope() INTERSECT SELECT unnest(views));
  END IF;
  RETURN QUERY SELECT entry_id FROM entries WHERE view_id = ANY(views)
    AND reverse(path) COLLATE "C" >= low AND reverse(path) COLLATE "C" < high;
END
$$;

DO $$
DECLARE name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['views', 'contents', 'entries', 'skipped', 'postings', 'path_postings', 'definitions',
    'frequencies', 'term_counts', 'vectors', 'bits', 'embedded'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY owners ON %I TO CURRENT_USER USING (true)', name);
    EXECUTE format('CREATE POLICY readers ON %I FOR SELECT USING (view_id IN (SELECT scope()))', name);
  END LOOP;
END
$$;

-- What an engine beside this store has of each view, so that it proposes where it has all of it.
ALTER TABLE views
  ADD COLUMN proposed bigint,                            -- the generation that it has; NULL: it was never told of it
  ADD COLUMN proposed_content bigint NOT NULL DEFAULT 0, -- the highest ids that it has
  ADD COLUMN proposed_entry bigint NOT NULL DEFAULT 0;

-- What it has, and the store has no more. A question that began before may still need it for a moment.
CREATE TABLE unproposed (
  item bigint NOT NULL,
  is_entry boolean NOT NULL,                             -- else it is a content
  gone_at timestamptz NOT NULL DEFAULT now()
);

CREATE FUNCTION note_unproposed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = findling, pg_temp AS $$
BEGIN
  IF TG_TABLE_NAME = 'entries' THEN
    INSERT INTO unproposed (item, is_entry)
      SELECT g.entry_id, true FROM gone g JOIN views USING (view_id) WHERE proposed IS NOT NULL;
  ELSE
    INSERT INTO unproposed (item, is_entry)
      SELECT g.content_id, false FROM gone g JOIN views USING (view_id) WHERE proposed IS NOT NULL;
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER unproposed AFTER DELETE ON entries REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION note_unproposed();
CREATE TRIGGER unproposed AFTER DELETE ON contents REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION note_unproposed();

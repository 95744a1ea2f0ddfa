-- What workers keep up to date: a collection with where its files come from. A row is its own job: it waits while
-- due_at has passed, one worker has it until lease_until, and it is parked once it has failed too often.

CREATE TABLE sources (
  collection text PRIMARY KEY,
  source text NOT NULL,                 -- the address of a repository, or a folder that the workers see
  branch text NOT NULL DEFAULT '',
  every interval,                       -- NULL: once
  added_at timestamptz NOT NULL DEFAULT now(),
  due_at timestamptz DEFAULT now(),     -- NULL: nothing to do
  worker text NOT NULL DEFAULT '',      -- who has it, '' for nobody
  taken_at timestamptz,
  lease_until timestamptz,
  attempts int NOT NULL DEFAULT 0,      -- since it last ended well
  problem text NOT NULL DEFAULT '',     -- why the last attempt failed
  parked_at timestamptz,
  done_at timestamptz,
  done_count bigint NOT NULL DEFAULT 0,
  commit text NOT NULL DEFAULT ''       -- what was published
);
CREATE INDEX sources_due ON sources (due_at) WHERE parked_at IS NULL;

-- A content that some collection has is copied, not read again.
CREATE INDEX contents_hash ON contents (hash);

-- A ref of a collection is a job of its own.
ALTER TABLE sources ADD COLUMN ref text NOT NULL DEFAULT '';  -- the branch, tag or commit that it is found by; '': none
ALTER TABLE sources DROP CONSTRAINT sources_pkey, ADD PRIMARY KEY (collection, ref);

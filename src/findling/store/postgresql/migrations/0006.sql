-- What a job published, so that a commit counts as known only while that is what questions find.
ALTER TABLE sources
  ADD COLUMN published text NOT NULL DEFAULT '',   -- the views with their generations
  ADD COLUMN how text NOT NULL DEFAULT '';         -- which files, how they were read, and the model of their vectors

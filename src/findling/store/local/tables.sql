CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE blobs (
  blob_id INTEGER PRIMARY KEY, hash BLOB NOT NULL, language TEXT NOT NULL, kind TEXT NOT NULL,
  size INTEGER NOT NULL, lines INTEGER NOT NULL, chunks INTEGER NOT NULL, symbols INTEGER NOT NULL,
  encoding TEXT NOT NULL, generated INTEGER NOT NULL,
  body_terms INTEGER NOT NULL, name_terms INTEGER NOT NULL,
  problem TEXT NOT NULL DEFAULT '', git_id BLOB
);
CREATE INDEX blobs_hash ON blobs(hash);
CREATE TABLE readings (
  blob_id INTEGER PRIMARY KEY, terms BLOB NOT NULL, symbols BLOB NOT NULL, uses BLOB NOT NULL, chunks BLOB NOT NULL,
  text BLOB
);
CREATE TABLE definitions (
  squashed TEXT NOT NULL, blob_id INTEGER NOT NULL, PRIMARY KEY (squashed, blob_id)
) WITHOUT ROWID;
CREATE TABLE term_counts (
  counted_under INTEGER NOT NULL, term INTEGER NOT NULL, files INTEGER NOT NULL, PRIMARY KEY (counted_under, term)
) WITHOUT ROWID;
CREATE TABLE entries (
  entry_id INTEGER PRIMARY KEY, blob_id INTEGER NOT NULL, docs INTEGER NOT NULL, path TEXT NOT NULL
);
CREATE INDEX entries_path ON entries(path);
CREATE INDEX entries_blob ON entries(blob_id);
CREATE TABLE manifests (
  manifest_id INTEGER PRIMARY KEY, root TEXT NOT NULL, ref TEXT NOT NULL,
  complete INTEGER NOT NULL DEFAULT 0, pending INTEGER NOT NULL DEFAULT 0, synced_at TEXT NOT NULL DEFAULT '',
  files INTEGER NOT NULL DEFAULT 0, chunks INTEGER NOT NULL DEFAULT 0, body_terms INTEGER NOT NULL DEFAULT 0,
  name_terms INTEGER NOT NULL DEFAULT 0, counts INTEGER NOT NULL DEFAULT 0, wanted TEXT NOT NULL DEFAULT ''
);
CREATE TABLE manifest_files (
  manifest_id INTEGER NOT NULL, entry_id INTEGER NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
  PRIMARY KEY (manifest_id, entry_id)
) WITHOUT ROWID;
CREATE TABLE skipped_files (
  manifest_id INTEGER NOT NULL, path TEXT NOT NULL, reason TEXT NOT NULL, detail TEXT NOT NULL,
  size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, PRIMARY KEY (manifest_id, path)
) WITHOUT ROWID;
CREATE TABLE models (
  model_id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL, name TEXT NOT NULL, dimensions INTEGER NOT NULL,
  coding TEXT NOT NULL, row_bytes INTEGER NOT NULL, docs INTEGER NOT NULL
);
CREATE TABLE vectors (
  vector_id INTEGER PRIMARY KEY, entry_id INTEGER NOT NULL, model_id INTEGER NOT NULL,
  created_at INTEGER NOT NULL, text_hashes BLOB NOT NULL, data BLOB NOT NULL
);
CREATE UNIQUE INDEX vectors_entry ON vectors(entry_id, model_id);

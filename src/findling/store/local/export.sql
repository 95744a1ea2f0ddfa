CREATE TABLE embeddings (
  id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
  content_hash TEXT NOT NULL, embedding TEXT NOT NULL, model TEXT NOT NULL, created_at INTEGER NOT NULL,
  UNIQUE(path, start_line, end_line, model)
);
CREATE TABLE vec_documents (rowid INTEGER PRIMARY KEY, embedding TEXT NOT NULL);
CREATE TABLE doc_embeddings (
  id INTEGER PRIMARY KEY, doc_path TEXT NOT NULL, chunk_index INTEGER NOT NULL, chunk_text TEXT NOT NULL,
  chunk_header TEXT, content_hash TEXT NOT NULL, model_name TEXT NOT NULL, model_dim INTEGER NOT NULL,
  vec_rowid INTEGER NOT NULL, created_at TEXT DEFAULT CURRENT_TIMESTAMP, UNIQUE(doc_path, chunk_index)
);

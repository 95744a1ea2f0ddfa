CREATE INDEX idx_embeddings_path ON embeddings(path);
CREATE INDEX idx_embeddings_hash ON embeddings(content_hash);
CREATE INDEX idx_doc_path ON doc_embeddings(doc_path);
CREATE INDEX idx_model ON doc_embeddings(model_name);
CREATE INDEX idx_content_hash ON doc_embeddings(content_hash);

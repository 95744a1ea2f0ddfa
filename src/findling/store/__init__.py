"""Where an index is kept, and what it proposes for a question."""

"""The index on disk: the tables, the text, trigram and vector indexes derived with them."""

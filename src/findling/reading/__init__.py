"""A file being indexed: which files, what is in them, how they are cut and prepared for the store."""

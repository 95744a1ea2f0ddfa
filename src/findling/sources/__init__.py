"""What is there: the files of a folder or of a git ref, why others are left out, and what of them changed."""

"""A question travelling: understood, proposed for, ranked, placed and judged."""

"""Evidence to order: candidates in, the same files in their order out.

Useful for: one list from what the channels proposed. Not useful for: finding candidates, reading files.
"""

"""Ranking: candidates with their evidence in, the same files in order out. It makes one list of what the channels
proposed, and neither finds candidates nor reads files.
"""

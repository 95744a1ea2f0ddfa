"""Evidence to order: candidates in, the same files in their order out.

Useful for: one list from what the channels proposed. Not useful for: finding candidates, reading files.
"""

from findling.search.ranking.ranked_file import RankedFile
from findling.search.ranking.ranker import Evidence, rank

__all__ = ["Evidence", "RankedFile", "rank"]

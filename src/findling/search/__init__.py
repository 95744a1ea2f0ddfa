"""A query travelling: analysis, channels, candidates, ranking, places, confidence."""

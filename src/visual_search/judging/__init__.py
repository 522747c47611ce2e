"""Judging: people's marks of what answers a query -> relevance, with who marked what."""

"""Ranking x relevance to numbers."""

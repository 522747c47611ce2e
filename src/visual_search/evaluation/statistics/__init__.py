"""Intervals and paired tests over independent groups."""

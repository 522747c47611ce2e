"""Stored results in a folder, as a table to look through, with notes and pins."""

"""Measures, one family a file; each is a frozen value with a canonical text."""

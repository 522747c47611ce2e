"""Measures: frozen values, one family a file, each a function of positions."""

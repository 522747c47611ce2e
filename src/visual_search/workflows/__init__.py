"""Whole pieces of work: what the command line and the pages call."""
